import { readdirSync } from 'node:fs';
import { beforeAll, expect, it } from '@jest/globals';
import { indexState } from '../../src/storage/audit/audit.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import type { Migration } from '../../src/storage/schema/migration.ts';
import { describeDatabases } from '../support/databases.ts';
import { insertAll } from '../support/insert-all.ts';
import { loadSite } from '../support/site.ts';

const NOW = new Date('2026-11-20T12:00:00Z');

const folder = new URL('../../migrations/', import.meta.url);
const steps: readonly Migration[] = await Promise.all(
  readdirSync(folder)
    .sort()
    .map(async (file) => Object.values<Migration>(await import(new URL(file, folder).href))[0]!),
);
const names = steps.map(({ name }) => name);
/** Tables whose rows differ from those of a new database, because a step or a migration has written them. */
const WRITTEN_BY_STEPS = ['fasti_migrations', 'fasti_migrations_lock', 'fasti_changes'];

describeDatabases('a database of an earlier schema', (open, engine) => {
  let fresh: Awaited<ReturnType<typeof schemaOf>>;
  beforeAll(async () => {
    fresh = await schemaOf(await open());
  });

  /** Columns of all tables, in no order, with their types and defaults; and the keys of Fasti's tables. */
  async function schemaOf(db: Database) {
    const sql =
      engine === 'MySQL'
        ? `SELECT CONCAT_WS(' ', TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME, IS_NULLABLE, COLUMN_DEFAULT, COLUMN_KEY, EXTRA) AS line
           FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()`
        : `SELECT t.name || ' ' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || COALESCE(c.dflt_value, 'NULL') || ' ' || c.pk AS line
           FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`;
    const tables = (await db.dialect.tables(db)).filter((name) => name.startsWith('wp_'));
    const { keys } = await db.dialect.inspect(db, tables);
    return {
      columns: (await db.ask<{ line: string }>(sql)).map(({ line }) => line).sort(),
      keys: new Map([...keys].sort().map(([table, of]) => [table, of.map((key) => key.join()).sort()])),
    };
  }

  /** Reads a row with a statement of its own, since SQLite's driver keeps the columns of a statement that has run. */
  const onlyRow = async (db: Database, name: string): Promise<object> => (await db.ask<object>(`SELECT * FROM wp_${name} LIMIT 1`))[0]!;

  /** One row for each of Fasti's tables, with a value in each column that has no default. */
  async function fill(db: Database): Promise<Map<string, object>> {
    const rows = new Map<string, object>();
    for (const definition of steps.flatMap(({ tables }) => tables())) {
      const { name, columns } = definition;
      const isOwn = name.startsWith('fasti_') && !WRITTEN_BY_STEPS.includes(name);
      if (!isOwn || (await db.dialect.columns(db, db.table(name))).length === 0) continue;
      const required = Object.entries(columns).filter(([, type]) => !type.includes('DEFAULT') && !type.includes('AUTO_INCREMENT'));
      // Moments are 14 digits in the index; all other numbers may be as long.
      const row = Object.fromEntries(required.map(([column, type]) => [column, /char|text|enum/.test(type) ? 'x' : 1]));
      await insertAll(db, name as 'posts', [row], 1);
      rows.set(name, await onlyRow(db, name));
    }
    return rows;
  }

  it.each(names.slice(0, -1).map((name, index) => [name, index + 1] as const))(
    'gets the schema of a new one and keeps its rows, from %s on',
    async (_, count) => {
      const db = await open({ migrated: false });
      expect(await migrate(db, { steps: steps.slice(0, count) })).toEqual(names.slice(0, count));
      const before = await fill(db);
      expect(await migrate(db)).toEqual(names.slice(count));
      expect(await schemaOf(db)).toEqual(fresh);
      for (const [name, row] of before) expect([name, await onlyRow(db, name)]).toMatchObject([name, row]);
      await loadSite(db);
      await reindexEvents(db, () => NOW, { marksComplete: true });
      expect(await indexState(db, undefined)).toBe('trusted');
    },
  );
});
