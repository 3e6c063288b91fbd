import type { TableDefinition } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';
import { nowUtc } from '../src/wordpress/time.ts';

/** Our own tables, each with a primary key, beside WordPress's. */
export const ownTables: Migration = {
  name: '002-own-tables',
  tables: () => TABLES,
  up: async ({ knex, dialect, prefix }) => {
    for (const definition of TABLES) {
      for (const statement of dialect.createTable(definition, prefix)) await knex.schema.raw(statement);
    }
    await knex(`${prefix}fasti_changes`)
      .insert({ id: 1, counter: 1, changed_at: nowUtc(new Date()) })
      .onConflict('id')
      .ignore();
  },
};

const TABLES: readonly TableDefinition[] = [
  // One row that counts all changes and holds the time of the last (UTC); caches and validators go by it.
  {
    name: 'fasti_changes',
    columns: { id: 'int NOT NULL', counter: 'bigint NOT NULL DEFAULT 0', changed_at: 'varchar(19) NOT NULL' },
    primary: ['id'],
  },
  // Rows to wait at while a name is given to a record.
  { name: 'fasti_locks', columns: { name: 'varchar(191) NOT NULL', touched: 'bigint NOT NULL DEFAULT 0' }, primary: ['name'] },
];
