import type { TableDefinition } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';
import { utcFromDate } from '../src/wordpress/time.ts';

/** Our own tables next to WordPress's; each has a primary key. */
export const ownTables: Migration = {
  name: '002-own-tables',
  tables: () => TABLES,
  up: async ({ knex, dialect, prefix }) => {
    for (const definition of TABLES) {
      for (const statement of dialect.createTable(definition, prefix)) await knex.schema.raw(statement);
    }
    await knex(`${prefix}fasti_changes`)
      .insert({ id: 1, counter: 1, changed_at: utcFromDate(new Date()) })
      .onConflict('id')
      .ignore();
  },
};

const TABLES: readonly TableDefinition[] = [
  // A single row with the number of all changes and the time of the last one (UTC); used by caches and validators.
  {
    name: 'fasti_changes',
    columns: { id: 'int NOT NULL', counter: 'bigint NOT NULL DEFAULT 0', changed_at: 'varchar(19) NOT NULL' },
    primary: ['id'],
  },
  // Rows that serve as locks while a name is assigned to a record.
  { name: 'fasti_locks', columns: { name: 'varchar(191) NOT NULL', touched: 'bigint NOT NULL DEFAULT 0' }, primary: ['name'] },
];
