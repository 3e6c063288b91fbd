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
import { nowUtc } from '../../wordpress/time.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { DatabaseUnavailable, type TableDefinition } from '../engine/dialect.ts';
import { insertMissing, insertRows } from '../engine/insert.ts';
import type { Migration } from './migration.ts';

/**
 * All steps in their order, listed here so that they are there after the build as well. A step that was published is
 * never changed.
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
];

/** Every table as it is made in an empty database. */
export const tableDefinitions = (): TableDefinition[] => MIGRATIONS.flatMap(({ tables }) => tables());

/** Names of steps that were not applied yet. */
export const pendingMigrations = (db: Database): Promise<string[]> => pendingSteps(db, MIGRATIONS);

/** Makes tables of these names, as they are in an empty database, where they are missing. */
export async function makeTables(db: Database, names: ReadonlySet<string>): Promise<void> {
  const missing = (await missingTables(db)).map((name) => name.slice(db.prefix.length));
  for (const definition of tableDefinitions().filter(({ name }) => names.has(name) && missing.includes(name)))
    for (const statement of db.dialect.createTable(definition, db.prefix)) await db.ask(statement);
}

/**
 * Brings the schema up to date, and makes tables of ours that are missing although their steps were applied: then all
 * steps are taken again, which leave alone what is there.
 *
 * @throws what `migrate` throws
 */
export async function makeMissing(db: Database): Promise<void> {
  await migrate(db);
  if ((await missingTables(db)).length === 0) return;
  await db.from('fasti_migrations').delete();
  await migrate(db);
}

/** Tables of ours and of WordPress that are not there. */
export async function missingTables(db: Database): Promise<string[]> {
  const missing: string[] = [];
  for (const { name } of tableDefinitions()) if (!(await hasTable(db, name))) missing.push(db.prefix + name);
  return missing;
}

async function pendingSteps(db: Database, steps: readonly Migration[]): Promise<string[]> {
  const done = (await hasTable(db, 'fasti_migrations')) ? await appliedMigrations(db) : [];
  return steps.map(({ name }) => name).filter((name) => !done.includes(name));
}

const appliedMigrations = async (db: Database): Promise<string[]> =>
  (await db.from('fasti_migrations').orderBy('id').select('name')).map(({ name }) => name ?? '');

/** What tests give otherwise. */
export interface MigrateOptions {
  readonly steps?: readonly Migration[];
  /** How long the lock may stand without a sign of life of whoever holds it. */
  readonly patienceMs?: number;
}

/**
 * Brings the schema up to date. Several processes may do so at once; one of them works, however long that takes, and
 * the others wait for it.
 *
 * @returns the names of the steps that were applied now
 * @throws DatabaseUnavailable, or the driver's error when the user of the database may not create tables
 */
export async function migrate(db: Database, { steps = MIGRATIONS, patienceMs = PATIENCE_MS }: MigrateOptions = {}): Promise<string[]> {
  // The usual start: one look at the steps that were applied, and no right to create anything is needed.
  if ((await pendingSteps(db, steps)).length === 0) return [];
  const begun = Date.now();
  const releaseDead = watchLock(db, patienceMs);
  for (;;) {
    try {
      await createStepTables(db);
      await releaseDead();
      return await applyPending(db, steps, patienceMs / BEATS);
    } catch (error) {
      if (!isLocked(error) || Date.now() - begun > LONGEST_WAIT_MS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

const PAUSE_MS = 200;
const PATIENCE_MS = 15_000;
/** Signs of life within the time after which their lack counts. */
const BEATS = 5;
/** Whoever has waited for so long gives up, and can be started again. */
const LONGEST_WAIT_MS = 600_000;

/**
 * Watches the lock: the number in it grows as long as whoever holds it lives. Once it has stood still for too long,
 * they have died, and the lock is free again; the steps are safe to run twice. No clock but that of this process
 * counts.
 */
function watchLock(db: Database, patienceMs: number): () => Promise<void> {
  let [seen, since] = [0, 0];
  return async () => {
    const now = Number((await db.from('fasti_migrations_lock').first('is_locked'))?.is_locked ?? 0);
    if (now !== seen) [seen, since] = [now, Date.now()];
    else if (now !== 0 && Date.now() - since >= patienceMs)
      await db.from('fasti_migrations_lock').where('is_locked', now).update({ is_locked: 0 });
  };
}

/** Our two tables for the steps themselves. Two processes may make them at the same moment. */
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

/** Another process is changing the schema. */
class SchemaLocked extends Error {
  override readonly name = 'SchemaLocked';
}

/**
 * Applies what is pending, as one transaction where the database has such for tables. On MySQL each CREATE ends the
 * transaction: the lock stands for good then, shows others that its holder lives, and is given back at the end,
 * whatever that is.
 *
 * @throws SchemaLocked while another process has the lock
 */
async function applyPending(db: Database, steps: readonly Migration[], beatMs: number): Promise<string[]> {
  const lock = createLock();
  // With one writer the transaction itself is the lock: nobody sees the other one before it ends.
  const beating = db.dialect.writers === 1 ? undefined : setInterval(() => void lock.keep(db).catch(() => false), beatMs);
  try {
    return await db.transaction(async (tx) => {
      if (!(await lock.take(tx))) throw new SchemaLocked();
      const names = await applyAll(tx, steps, () => lock.isHeld(tx));
      await lock.release(tx);
      return names;
    });
  } catch (error) {
    // What went wrong first is what counts.
    await lock.release(db).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(beating);
  }
}

/** The lock as one process holds it: with a number of its own, which grows as long as it lives. */
function createLock() {
  let number = 0;
  // What was written last may have got there though nobody said so.
  const own = () => [number, number + 1];
  const set = async (db: Database, from: readonly number[], to: number): Promise<boolean> => {
    const changed = await db.from('fasti_migrations_lock').whereIn('is_locked', from).update({ is_locked: to });
    if (changed > 0) number = to;
    return changed > 0;
  };
  return {
    take: (db: Database) => set(db, number === 0 ? [0] : [0, ...own()], number + randomInt(1, MOST_FIRST)),
    keep: async (db: Database) => number !== 0 && set(db, own(), number + 1),
    release: async (db: Database) => number !== 0 && set(db, own(), 0),
    isHeld: async (db: Database) => (await db.from('fasti_migrations_lock').whereIn('is_locked', own()).first('is_locked')) !== undefined,
  };
}

/** Leaves room to grow in the column. */
const MOST_FIRST = 2 ** 29;

/** @throws SchemaLocked once another process has taken the lock */
async function applyAll(db: Database, steps: readonly Migration[], isHeld: () => Promise<boolean>): Promise<string[]> {
  const { dialect, prefix } = db;
  const done = await appliedMigrations(db);
  const pending = steps.filter(({ name }) => !done.includes(name));
  const last = await db.from('fasti_migrations').max({ batch: 'batch' }).first();
  const batch = Number(last?.batch ?? 0) + 1;
  for (const { name, up } of pending) {
    if (!(await isHeld())) throw new SchemaLocked();
    await up({ knex: db.knex, dialect, prefix, columns: (table) => dialect.columns(db, table) });
    await insertRows(db, 'fasti_migrations', [{ name, batch, migration_time: nowUtc(new Date()) }]);
  }
  return pending.map(({ name }) => name);
}

/** Our own lock, or the database's while another process holds it. */
const isLocked = (error: unknown): boolean =>
  error instanceof SchemaLocked || (error instanceof DatabaseUnavailable && error.reason === 'busy');
