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
export async function pendingMigrations(db: Database): Promise<string[]> {
  const done = (await hasTable(db, 'fasti_migrations')) ? await appliedMigrations(db) : [];
  return MIGRATIONS.map(({ name }) => name).filter((name) => !done.includes(name));
}

const appliedMigrations = async (db: Database): Promise<string[]> =>
  (await db.from('fasti_migrations').orderBy('id').select('name')).map(({ name }) => name ?? '');

/**
 * Brings the schema up to date. Two processes may do so at once; the second waits for the first.
 *
 * @returns the names of the steps that were applied now
 * @throws DatabaseUnavailable, or the driver's error when the user of the database may not create tables
 */
export async function migrate(db: Database): Promise<string[]> {
  // The usual start: one look at the steps that were applied, and no right to create anything is needed.
  if ((await pendingMigrations(db)).length === 0) return [];
  await createStepTables(db);
  for (let waited = 0; ; waited += PAUSE_MS) {
    try {
      return await applyPending(db);
    } catch (error) {
      if (!isLocked(error)) throw error;
      // A process that holds the lock for this long has died with it. The steps are safe to run twice.
      if (waited >= PATIENCE_MS) await unlock(db);
      await sleep(PAUSE_MS);
    }
  }
}

const PAUSE_MS = 200;
const PATIENCE_MS = 15_000;

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
 * transaction: the lock stands for good then and is given back at the end, whatever that is.
 *
 * @throws SchemaLocked while another process has the lock
 */
async function applyPending(db: Database): Promise<string[]> {
  let held = false;
  try {
    return await db.transaction(async (tx) => {
      const taken = await tx.from('fasti_migrations_lock').where('is_locked', 0).update({ is_locked: 1 });
      if (taken === 0 && !held) throw new SchemaLocked();
      held = true;
      const names = await applyAll(tx);
      await unlock(tx);
      return names;
    });
  } catch (error) {
    // What went wrong first is what counts.
    if (held) await unlock(db).catch(() => undefined);
    throw error;
  }
}

async function applyAll(db: Database): Promise<string[]> {
  const { dialect, prefix } = db;
  const done = await appliedMigrations(db);
  const pending = MIGRATIONS.filter(({ name }) => !done.includes(name));
  const last = await db.from('fasti_migrations').max({ batch: 'batch' }).first();
  const batch = Number(last?.batch ?? 0) + 1;
  for (const { name, up } of pending) {
    await up({ knex: db.knex, dialect, prefix, columns: (table) => dialect.columns(db, table) });
    await insertRows(db, 'fasti_migrations', [{ name, batch, migration_time: nowUtc(new Date()) }]);
  }
  return pending.map(({ name }) => name);
}

const unlock = (db: Database): Promise<number> => db.from('fasti_migrations_lock').update({ is_locked: 0 });

/** Our own lock, or the database's while another process holds it. */
const isLocked = (error: unknown): boolean =>
  error instanceof SchemaLocked || (error instanceof DatabaseUnavailable && error.reason === 'busy');
