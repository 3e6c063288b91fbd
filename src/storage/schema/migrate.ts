import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { wordpressTables } from '../../../migrations/001-wordpress-tables.ts';
import { ownTables } from '../../../migrations/002-own-tables.ts';
import { importTables } from '../../../migrations/003-imports.ts';
import { listIndex } from '../../../migrations/004-list-index.ts';
import { shapes } from '../../../migrations/005-shapes.ts';
import { months } from '../../../migrations/006-months.ts';
import { keptAnswers } from '../../../migrations/007-kept-answers.ts';
import { occurrences } from '../../../migrations/008-occurrences.ts';
import { entryLanguages } from '../../../migrations/009-entry-languages.ts';
import { journal } from '../../../migrations/010-journal.ts';
import { webhooks } from '../../../migrations/011-webhooks.ts';
import { importMakers } from '../../../migrations/012-import-makers.ts';
import { standIns } from '../../../migrations/013-stand-ins.ts';
import { importedRecordKeys } from '../../../migrations/014-imported-records.ts';
import { INDEX_OPTION } from '../../calendar/settings.ts';
import { groupedBy } from '../../grouped-by.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { DatabaseUnavailable, type TableDefinition } from '../engine/dialect.ts';
import { insertMissing, insertRows } from '../engine/insert.ts';
import { deleteOption } from '../rows/options.ts';
import { refuseBesideOthers } from './installation.ts';
import type { Migration } from './migration.ts';

/**
 * All steps in order. They are imported explicitly, so that the build includes them. A published step is never changed.
 */
const MIGRATIONS: readonly Migration[] = [
  wordpressTables,
  ownTables,
  importTables,
  listIndex,
  shapes,
  months,
  keptAnswers,
  occurrences,
  entryLanguages,
  journal,
  webhooks,
  importMakers,
  standIns,
  importedRecordKeys,
];

/** Returns the definitions of all tables, with the keys that later steps have added. */
export function tableDefinitions(): TableDefinition[] {
  const added = groupedBy(
    MIGRATIONS.flatMap(({ keys }) => keys?.() ?? []),
    ({ name }) => name,
  );
  return MIGRATIONS.flatMap(({ tables }) => tables()).map((definition) => ({
    ...definition,
    keys: Object.assign({}, definition.keys, ...(added.get(definition.name) ?? []).map(({ keys }) => keys)),
  }));
}

/** Returns the names of steps that have not been applied yet. */
export const pendingMigrations = (db: Database): Promise<string[]> => pendingSteps(db, MIGRATIONS);

/** Creates those of these tables that are missing, as in an empty database. */
export async function createTables(db: Database, names: ReadonlySet<string>): Promise<void> {
  const missingNames = await missingTables(db);
  for (const definition of tableDefinitions().filter(({ name }) => names.has(name) && missingNames.includes(db.table(name))))
    for (const statement of db.dialect.createTable(definition, db.prefixOf(definition.name))) await db.ask(statement);
}

/**
 * Brings the schema up to date, and creates tables that are missing although their steps were applied. In that case all
 * steps run again; they leave existing tables unchanged.
 *
 * @throws the errors of `migrate`
 */
export async function completeSchema(db: Database, options: MigrateOptions = {}): Promise<void> {
  await migrate(db, options);
  if ((await missingTables(db)).length > 0) await migrate(db, { ...options, repeatsAll: true });
}

/** Returns the missing tables of Fasti and of WordPress, with the prefix. */
export async function missingTables(db: Database): Promise<string[]> {
  const names: string[] = [];
  for (const { name } of tableDefinitions()) if (!(await hasTable(db, name))) names.push(db.table(name));
  return names;
}

async function pendingSteps(db: Database, steps: readonly Migration[]): Promise<string[]> {
  const appliedNames = (await hasTable(db, 'fasti_migrations')) ? await appliedMigrations(db) : [];
  return steps.map(({ name }) => name).filter((name) => !appliedNames.includes(name));
}

const appliedMigrations = async (db: Database): Promise<string[]> =>
  (await db.from('fasti_migrations').orderBy('id').select('name')).map(({ name }) => name ?? '');

export interface MigrateOptions {
  /** Whether the tables of a new site may be created beside those of sites with other prefixes. */
  readonly besideOthers?: boolean | undefined;
  /** Whether steps that were applied before run again. They count as applied also if that fails. */
  readonly repeatsAll?: boolean;
  /** For tests, as the next one. */
  readonly steps?: readonly Migration[];
  /** Time for which the lock is respected without a sign of life from its holder. */
  readonly lockTimeoutMs?: number;
}

/**
 * Brings the schema up to date. Several processes may call this at the same time: one of them does the work, however
 * long that takes, and the others wait for it.
 *
 * @returns the names of the steps that this call has run
 * @throws DatabaseUnavailable, the driver's error if the database user may not create tables, OtherSites if
 *   there are only sites with other prefixes, or an error if the network has no such site
 */
export async function migrate(
  db: Database,
  { besideOthers = false, repeatsAll = false, steps = MIGRATIONS, lockTimeoutMs = LOCK_TIMEOUT_MS }: MigrateOptions = {},
): Promise<string[]> {
  // At a normal start, reading the applied steps is enough, and no right to create tables is needed.
  if (!repeatsAll && (await pendingSteps(db, steps)).length === 0) return [];
  const hadIndex = await hasTable(db, 'fasti_entries');
  await refuseOtherNetworkTables(db);
  if (!besideOthers) await refuseBesideOthers(db);
  const startedAt = performance.now();
  const releaseDead = watchLock(db, lockTimeoutMs);
  const applied: string[] = [];
  for (;;) {
    try {
      await createStepTables(db);
      await releaseDead();
      // Another process may lock the database after the steps: they are not applied again, but count.
      applied.push(...(await applyLocked(db, { steps, repeatsAll }, lockTimeoutMs / HEARTBEATS_PER_TIMEOUT)));
      // Our tables may have been dropped, while WordPress's still say that the index is complete.
      if (!hadIndex && applied.includes(listIndex.name) && (await hasTable(db, 'options'))) await deleteOption(db, INDEX_OPTION);
      return applied;
    } catch (error) {
      if (!isLocked(error) || performance.now() - startedAt > MAX_WAIT_MS) throw error;
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

/**
 * Only WordPress creates sites in a network, and these have no users of their own.
 *
 * @throws Error if the network has no such site, or if the prefix is that of one of its sites
 */
async function refuseOtherNetworkTables(db: Database): Promise<void> {
  const hasPosts = await hasTable(db, 'posts');
  if (db.prefixOf('users') !== db.prefix) {
    if (hasPosts) return;
    throw new Error(`there is no table ${db.table('posts')}: the network has no such site (TABLE_PREFIX, NETWORK_SITE)`);
  }
  const [, prefix = '', site = ''] = /^(.*?_)([1-9]\d*)_$/.exec(db.prefix) ?? [];
  if (site === '' || !hasPosts || (await hasTable(db, 'users'))) return;
  if ((await db.dialect.columns(db, `${prefix}users`)).length > 0)
    throw new Error(`the tables ${db.prefix}… are those of a site of a network: set TABLE_PREFIX=${prefix} and NETWORK_SITE=${site}`);
}

const POLL_INTERVAL_MS = 200;
const LOCK_TIMEOUT_MS = 15_000;
/** Number of signs of life within the time after which the holder of the lock counts as dead. */
const HEARTBEATS_PER_TIMEOUT = 5;
/** A process that has waited for this long gives up, and can be restarted. */
const MAX_WAIT_MS = 600_000;

/**
 * Watches the lock. The number in it increases as long as its holder is alive. If it has not changed for too long, the
 * holder has died, and the lock is released; the steps are safe to run twice. Only the clock of this process is used.
 */
function watchLock(db: Database, lockTimeoutMs: number): () => Promise<void> {
  let [lastNumber, since] = [0, 0];
  return async () => {
    const now = Number((await db.from('fasti_migrations_lock').first('is_locked'))?.is_locked ?? 0);
    if (now !== lastNumber) [lastNumber, since] = [now, performance.now()];
    else if (now !== 0 && performance.now() - since >= lockTimeoutMs)
      await db.from('fasti_migrations_lock').where('is_locked', now).update({ is_locked: 0 });
  };
}

/** Creates the two tables for the steps themselves. Two processes may do this at the same moment. */
async function createStepTables(db: Database): Promise<void> {
  const tables: TableDefinition[] = [
    {
      name: 'fasti_migrations',
      columns: {
        id: 'int unsigned NOT NULL AUTO_INCREMENT',
        name: 'varchar(255) NULL',
        batch: 'int NULL',
        migration_time: 'timestamp NULL',
      },
      primary: ['id'],
    },
    {
      name: 'fasti_migrations_lock',
      columns: { index: 'int unsigned NOT NULL AUTO_INCREMENT', is_locked: 'int NULL' },
      primary: ['index'],
    },
  ];
  for (const statement of tables.flatMap((table) => db.dialect.createTable(table, db.prefix))) await db.ask(statement);
  await insertMissing(db, 'fasti_migrations_lock', [{ index: 1, is_locked: 0 }], ['index']);
}

/** Thrown if another process is changing the schema. */
class SchemaLocked extends Error {
  override readonly name = 'SchemaLocked';
}

/** The steps to run: those that have not been applied yet, or all. */
type Plan = Required<Pick<MigrateOptions, 'steps' | 'repeatsAll'>>;

/**
 * Runs the steps, in one transaction if the database supports that for tables. On MySQL each CREATE ends the
 * transaction. The lock is then committed, shows other processes that its holder is alive, and is released at the end,
 * even after an error.
 *
 * @throws SchemaLocked while another process has the lock
 */
async function applyLocked(db: Database, plan: Plan, beatMs: number): Promise<string[]> {
  const lock = createLock();
  // With a single writer, the transaction itself is the lock: other processes do not see its writes before it ends.
  const heartbeat = db.dialect.maxWriters === 1 ? undefined : setInterval(() => void lock.keep(db).catch(() => false), beatMs);
  try {
    return await db.transaction(async (tx) => {
      if (!(await lock.take(tx))) throw new SchemaLocked();
      const names = await applyAll(tx, plan, () => lock.isHeld(tx));
      await lock.release(tx);
      return names;
    });
  } catch (error) {
    // An error of the release must not hide the first error.
    await lock.release(db).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

/** The lock as held by one process: a random number, which increases as long as the process is alive. */
function createLock() {
  let number = 0;
  // The last write may have succeeded even if its response was lost.
  const ownNumbers = () => [number, number + 1];
  const set = async (db: Database, from: readonly number[], to: number): Promise<boolean> => {
    const rowCount = await db.from('fasti_migrations_lock').whereIn('is_locked', from).update({ is_locked: to });
    if (rowCount > 0) number = to;
    return rowCount > 0;
  };
  return {
    take: (db: Database) => set(db, number === 0 ? [0] : [0, ...ownNumbers()], number + randomInt(1, MAX_FIRST_NUMBER)),
    keep: async (db: Database) => number !== 0 && set(db, ownNumbers(), number + 1),
    release: async (db: Database) => number !== 0 && set(db, ownNumbers(), 0),
    isHeld: async (db: Database) =>
      (await db.from('fasti_migrations_lock').whereIn('is_locked', ownNumbers()).first('is_locked')) !== undefined,
  };
}

/** Largest first number, which leaves room to increase within the column. */
const MAX_FIRST_NUMBER = 2 ** 29;

/**
 * Runs the steps, and adds the new ones to those that were applied.
 *
 * @throws SchemaLocked if another process has taken the lock
 */
async function applyAll(db: Database, { steps, repeatsAll }: Plan, isHeld: () => Promise<boolean>): Promise<string[]> {
  const { dialect, prefix } = db;
  const appliedNames = await appliedMigrations(db);
  const planned = repeatsAll ? steps : steps.filter(({ name }) => !appliedNames.includes(name));
  const last = await db.from('fasti_migrations').max({ batch: 'batch' }).first();
  const batch = Number(last?.batch ?? 0) + 1;
  for (const { name, up } of planned) {
    if (!(await isHeld())) throw new SchemaLocked();
    await up({
      knex: db.knex,
      dialect,
      prefix,
      columns: (table) => dialect.columns(db, table),
      keys: async (table) => (await dialect.inspect(db, [table])).keys.get(table) ?? [],
    });
    if (!appliedNames.includes(name)) await insertRows(db, 'fasti_migrations', [{ name, batch, migration_time: utcFromDate(new Date()) }]);
  }
  return planned.map(({ name }) => name);
}

/** Whether another process holds our own lock or the database's lock. */
const isLocked = (error: unknown): boolean =>
  error instanceof SchemaLocked || (error instanceof DatabaseUnavailable && error.reason === 'busy');
