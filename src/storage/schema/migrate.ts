import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { wordpressTables } from '../../../migrations/001-wordpress-tables.ts';
import { ownTables } from '../../../migrations/002-own-tables.ts';
import { importTables } from '../../../migrations/003-imports.ts';
import { listIndex } from '../../../migrations/004-list-index.ts';
import { shapes } from '../../../migrations/005-shapes.ts';
import { months } from '../../../migrations/006-months.ts';
import { keptAnswers } from '../../../migrations/007-kept-answers.ts';
import { occurrences } from '../../../migrations/008-occurrences.ts';
import type { Database } from '../engine/database.ts';
import { DatabaseUnavailable, type TableDefinition } from '../engine/dialect.ts';
import type { Migration } from './migration.ts';

/** All steps in their order, listed here so that they are there after the build as well. A step that was published is never changed. */
const MIGRATIONS: readonly Migration[] = [wordpressTables, ownTables, importTables, listIndex, shapes, months, keptAnswers, occurrences];

/** Every table as it is made in an empty database. */
export const tableDefinitions = (): TableDefinition[] => MIGRATIONS.flatMap(({ tables }) => tables());

/** Names of steps that were not applied yet. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const done: unknown[] = (await db.knex.schema.hasTable(journal(db))) ? await db.knex(journal(db)).pluck('name') : [];
  return MIGRATIONS.map(({ name }) => name).filter((name) => !done.includes(name));
}

/**
 * Brings the schema up to date. Two processes may do so at once; the second waits for the first.
 *
 * @returns the names of the steps that were applied now
 * @throws DatabaseUnavailable, or the driver's error when the user of the database may not create tables
 */
export async function migrate(db: Database): Promise<string[]> {
  // The usual start: one look into the journal, and no right to create anything is needed.
  if ((await pendingMigrations(db)).length === 0) return [];
  await createJournal(db);
  for (let waited = 0; ; waited += PAUSE_MS) {
    try {
      const [, applied]: [number, string[]] = await db.knex.migrate.latest({ migrationSource: sourceFor(db), tableName: journal(db) });
      return applied;
    } catch (error) {
      if (!isLocked(error)) throw error;
      // Whoever holds the lock for so long has died with it. The steps are safe to run twice.
      if (waited >= PATIENCE_MS) await db.knex(`${journal(db)}_lock`).update({ is_locked: 0 });
      await sleep(PAUSE_MS);
    }
  }
}

const PAUSE_MS = 200;
const PATIENCE_MS = 15_000;

const journal = (db: Database): string => `${db.prefix}fasti_migrations`;

/** knex's two tables under our prefix. knex makes them itself, but not when two processes do so at the same moment. */
async function createJournal(db: Database): Promise<void> {
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
  for (const statement of tables.flatMap((table) => db.dialect.createTable(table, db.prefix))) await db.knex.schema.raw(statement);
  await db
    .knex(`${journal(db)}_lock`)
    .insert({ index: 1, is_locked: 0 })
    .onConflict('index')
    .ignore();
}

function sourceFor({ dialect, prefix }: Database): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...MIGRATIONS],
    getMigrationName: ({ name }) => name,
    getMigration: async ({ name, up }) => ({
      up: (knex) => up({ knex, dialect, prefix }),
      down: async () => {
        throw new Error(`${name} is not taken back`);
      },
    }),
  };
}

/** knex's own lock, or the database's while another process holds it. */
function isLocked(error: unknown): boolean {
  return (error instanceof Error && error.name === 'MigrationLocked') || (error instanceof DatabaseUnavailable && error.reason === 'busy');
}
