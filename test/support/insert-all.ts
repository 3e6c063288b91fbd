import type { Database } from '../../src/storage/engine/database.ts';
import { pagesOf } from '../../src/storage/engine/pages.ts';
import type { TableName } from '../../src/storage/engine/tables.ts';

/** Inserts rows, which may have different columns, `size` at a time. */
export async function insertAll(db: Database, table: TableName, rows: readonly object[], size: number): Promise<void> {
  for (const page of pagesOf(rows, size)) await db.from(table as 'posts').insert(page);
}
