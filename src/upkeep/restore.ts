import { noteApplicationPasswords, PASSWORDS_KEY, parsePasswords } from '../accounts/stored-passwords.ts';
import { type Site, withinTransaction } from '../site.ts';
import { columnsOf, emptySite, RECURRENCE_TABLE, type Row, setNextId } from '../storage/audit/snapshot.ts';
import type { Database } from '../storage/engine/database.ts';
import { insertRows } from '../storage/engine/insert.ts';
import type { TableName } from '../storage/engine/tables.ts';
import { lockChanges } from '../storage/freshness/foreign-changes.ts';
import { disableIndex, isIndexOutdated } from '../storage/index/event-index.ts';
import { reportEverything } from '../storage/journal/reported-changes.ts';
import { continueCounting, highestNumber, lockLastSave } from '../storage/rows/changes.ts';
import { pauseHooks } from '../storage/rows/hooks.ts';
import { isNetwork, lockOption } from '../storage/rows/options.ts';
import { removeMetaOfUsers } from '../storage/rows/users.ts';
import { completeSchema, createTables } from '../storage/schema/migrate.ts';
import { createRecurrenceTables } from '../storage/schema/recurrence-tables.ts';
import { createWpmlTables, wpmlTables } from '../storage/schema/wpml-tables.ts';
import { utcFromDate } from '../wordpress/time.ts';
import type { Backup } from './backup-read.ts';

interface RestoreOptions {
  /** Pauses the webhooks of the backup, so that a copy of the site does not write to the receivers of the original. */
  readonly pauseWebhooks?: boolean | undefined;
  /** Whether the database may contain sites with other table prefixes. */
  readonly besideOthers?: boolean | undefined;
  /** Throws if the contents must not be replaced. Called after other writers of Fasti have been locked out. */
  readonly check?: ((db: Database) => Promise<void>) | undefined;
  /** Called with the number of rows restored so far. */
  readonly onProgress?: (rows: number) => void;
}

/**
 * Replaces the contents of a database by a backup, in one transaction: until it is committed, others see the previous
 * contents, and if it fails nothing changes. Missing tables are created; unknown tables and columns are left out.
 * Returns the number of rows.
 */
export async function restore(
  site: Site,
  backup: Backup,
  { pauseWebhooks = false, besideOthers, check, onProgress }: RestoreOptions = {},
): Promise<number> {
  await completeSchema(site.db, { besideOthers });
  await createTables(site.db, backup.names);
  // Outside of the transaction, since MySQL commits at each change of a table.
  if (backup.names.has(RECURRENCE_TABLE)) await createRecurrenceTables(site.db);
  if (wpmlTables().some((name) => backup.names.has(name))) await createWpmlTables(site.db);
  return site.db.transaction(async (db) => {
    // A site that is being created holds this lock from its first row on.
    if (check) await lockOption(db, 'siteurl');
    // Every writer of Fasti writes these rows at its end, in this order. Those that are under way either have finished
    // before anything is deleted, or run again afterwards.
    await lockChanges(db);
    await lockLastSave(db);
    await check?.(db);
    const previousNumber = await highestNumber(db);
    await emptySite(db);
    let count = 0;
    const withPasswords = new Set<number>();
    const spammers = new Set<number>();
    // A single site ignores the mark.
    const isSpammer = (await isNetwork(db)) ? () => false : isMarkedAsSpam;
    for await (const { name: tableName, last, rows } of backup.tables()) {
      // The reader of backups skips tables that are not ours.
      const name = tableName as TableName;
      const columns = await columnsOf(db, name);
      await setNextId(db, name, last);
      for await (const batch of splitIntoBatches(rows)) {
        const convertedRows = batch.flatMap((row) => {
          const isOfSpammer = name === 'users' && isSpammer(row);
          if (isOfSpammer) spammers.add(Number(row.ID));
          if (name === 'usermeta' && isApplicationPassword(row)) withPasswords.add(Number(row.user_id));
          return withPrefix(name, pickColumns(isOfSpammer ? withoutPassword(row) : row, columns), backup.prefix, db.prefix);
        });
        await insertRows(db, name, convertedRows);
        count += convertedRows.length;
        onProgress?.(count);
      }
    }
    // The metas of a user may come before or after the user.
    const lost = [...withPasswords].filter((id) => spammers.has(id));
    count -= await removeMetaOfUsers(db, lost, PASSWORDS_KEY);
    // A network notes this for all of its sites, in a table that is not part of a site.
    if (withPasswords.size > lost.length) await noteApplicationPasswords(db);
    if (pauseWebhooks) await pauseHooks(db);
    // WordPress may have written before the backup what the index in it lacks.
    if ((await withinTransaction(site, db).settings()).shared || (await isIndexOutdated(db))) await disableIndex(db);
    await continueCounting(db, previousNumber, utcFromDate(site.clock()));
    reportEverything(db);
    return count;
  });
}

const MAX_BATCH_ROWS = 200;
const MAX_BATCH_CHARACTERS = 2 ** 20;

/** Splits rows into batches for one statement each. */
async function* splitIntoBatches(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  let size = 0;
  for await (const row of rows) {
    batch.push(row);
    for (const value of Object.values(row)) size += typeof value === 'string' ? value.length : 8;
    if (batch.length < MAX_BATCH_ROWS && size < MAX_BATCH_CHARACTERS) continue;
    yield batch;
    [batch, size] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

const pickColumns = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(columns.filter((column) => column in row).map((column) => [column, row[column]!]));

/** Whether a network has marked a user as spam, so that the user could not sign in. */
const isMarkedAsSpam = (row: Row): boolean => Number(row.spam ?? 0) === 1;

/** Returns the row of a user without password and link for a new one. */
const withoutPassword = (row: Row): Row => ({ ...row, user_pass: '*', user_activation_key: '' });

const isApplicationPassword = ({ meta_key: key, meta_value: value }: Row): boolean =>
  key === PASSWORDS_KEY && typeof value === 'string' && parsePasswords(value).length > 0;

/**
 * User options that WordPress stores for each site (`update_user_option`), under names with the table prefix. Other
 * names may begin with the same letters, and with an empty prefix all do; they stay unchanged.
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
 * Replaces the table prefix in names that contain it: the roles, their assignment, and user preferences. Rows that have
 * the new name already are remains of another prefix; they were not in effect, would be now, and are dropped.
 */
function withPrefix(table: string, row: Row, before: string, after: string): Row[] {
  const [column, names] = table === 'options' ? ['option_name', ROLES] : ['meta_key', table === 'usermeta' ? USER_OPTIONS : []];
  if (before === after || names.length === 0) return [row];
  const findName = (prefix: string) => names.find((name) => row[column] === prefix + name);
  const bareName = findName(before);
  if (bareName !== undefined) return [{ ...row, [column]: after + bareName }];
  return findName(after) === undefined ? [row] : [];
}

/** The option that defines roles and their capabilities. */
const ROLES: readonly string[] = ['user_roles'];
