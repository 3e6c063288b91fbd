import type { Site } from '../site.ts';
import { columnsOf, emptySite, numberOn, RECURRENCE_TABLE, type Row } from '../storage/audit/snapshot.ts';
import { insertRows } from '../storage/engine/insert.ts';
import type { TableName } from '../storage/engine/tables.ts';
import { everythingTouched } from '../storage/journal/touched.ts';
import { changeCount, countOn } from '../storage/rows/changes.ts';
import { makeMissing, makeTables } from '../storage/schema/migrate.ts';
import { createRecurrenceTables } from '../storage/schema/recurrence-tables.ts';
import { createWpmlTables, wpmlTables } from '../storage/schema/wpml-tables.ts';
import { nowUtc } from '../wordpress/time.ts';
import type { Backup } from './backup-read.ts';

/**
 * Puts a backup in the place of what a database holds, in one transaction: until its end the others see what was there
 * before, and if it fails nothing has changed. Tables that are missing are made; tables and columns that are not known
 * here are left out. Gives the number of rows.
 */
export async function restore(site: Site, backup: Backup, onProgress: (rows: number) => void = () => undefined): Promise<number> {
  await makeMissing(site.db);
  await makeTables(site.db, backup.names);
  // Outside the transaction, which MySQL would end with each change of a table.
  if (backup.names.has(RECURRENCE_TABLE)) await createRecurrenceTables(site.db);
  if (wpmlTables().some((name) => backup.names.has(name))) await createWpmlTables(site.db);
  return site.db.transaction(async (db) => {
    const before = await changeCount(db);
    await emptySite(db);
    let count = 0;
    for await (const { name: named, last, rows } of backup.tables()) {
      // Whoever reads the backup passes over tables that are not ours.
      const name = named as TableName;
      const columns = await columnsOf(db, name);
      await numberOn(db, name, last);
      for await (const some of pieces(rows)) {
        const own = some.flatMap((row) => withPrefix(name, fitting(row, columns), backup.prefix, db.prefix));
        await insertRows(db, name, own);
        count += own.length;
        onProgress(count);
      }
    }
    await countOn(db, before, nowUtc(site.clock()));
    everythingTouched(db);
    return count;
  });
}

const ROWS = 200;
const CHARACTERS = 2 ** 20;

/** Rows in pieces that one statement takes. */
async function* pieces(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let piece: Row[] = [];
  let size = 0;
  for await (const row of rows) {
    piece.push(row);
    for (const value of Object.values(row)) size += typeof value === 'string' ? value.length : 8;
    if (piece.length < ROWS && size < CHARACTERS) continue;
    yield piece;
    [piece, size] = [[], 0];
  }
  if (piece.length > 0) yield piece;
}

const fitting = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(columns.filter((column) => column in row).map((column) => [column, row[column]!]));

/**
 * What WordPress keeps of a user for each site (`update_user_option`), under names that begin with the prefix of its
 * tables. Other names may begin with the same letters, and all of them do with an empty prefix: they stay.
 */
const USER_OPTIONS: readonly string[] = [
  'capabilities',
  'user_level',
  'user-settings',
  'user-settings-time',
  'dashboard_quick_press_last_post_id',
  'media_library_mode',
  'persisted_preferences',
];

/**
 * Some names begin with the prefix of the tables: the roles, who has which, and what users prefer. What has the new
 * name already is left over from another prefix: it was not in force, and would be now.
 */
function withPrefix(table: string, row: Row, before: string, after: string): Row[] {
  const [column, names] = table === 'options' ? ['option_name', ROLES] : ['meta_key', table === 'usermeta' ? USER_OPTIONS : []];
  if (before === after || names.length === 0) return [row];
  const named = (prefix: string) => names.find((name) => row[column] === prefix + name);
  const own = named(before);
  if (own !== undefined) return [{ ...row, [column]: after + own }];
  return named(after) === undefined ? [row] : [];
}

/** The option that says which roles there are and what they may do. */
const ROLES: readonly string[] = ['user_roles'];
