import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { pagesOf } from '../engine/pages.ts';
import type { TableName, Tables } from '../engine/tables.ts';

/*
 * A table whose dump was loaded only in part has no primary key, and all its new rows have the number 0. WordPress goes
 * on with such tables. So a statement never names a row by its number alone, but also by the record that it belongs to.
 */

/** Whether no two of these rows have the same number, so that each can be named by its number and its record. */
export const haveOwnNumbers = <Column extends string>(rows: readonly Readonly<Record<Column, number>>[], column: Column): boolean =>
  new Set(rows.map((row) => row[column])).size === rows.length;

/** Number of rows that one statement deletes. */
const BATCH_SIZE = 500;

/** Deletes the rows that have the values of one of these; besides its number, each names the record of the row. */
export async function removeRows<Name extends TableName>(db: Database, table: Name, rows: readonly Partial<Tables[Name]>[]): Promise<void> {
  for (const batch of pagesOf(rows, BATCH_SIZE)) {
    const query: QueryBuilder = db.from(table);
    await query
      .where((any: QueryBuilder) => {
        for (const row of batch) any.orWhere(row);
      })
      .delete();
  }
}
