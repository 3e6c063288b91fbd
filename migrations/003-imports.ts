import type { TableDefinition } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * Tables of imports: which record of a source became which record here, and which records still wait for others to
 * come.
 */
export const importTables: Migration = {
  name: '003-imports',
  tables: () => TABLES,
  up: async ({ knex, dialect, prefix }) => {
    for (const definition of TABLES) {
      for (const statement of dialect.createTable(definition, prefix)) await knex.schema.raw(statement);
    }
  },
};

/** Names of a source as short digests, compared byte by byte. */
const DIGEST = 'varchar(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL';

const TABLES: readonly TableDefinition[] = [
  // One row for each source: the number of its last run, its progress, and its report.
  {
    name: 'fasti_imports',
    columns: {
      id: 'bigint(20) unsigned NOT NULL AUTO_INCREMENT',
      source: 'varchar(191) NOT NULL',
      run: 'int NOT NULL DEFAULT 0',
      open: 'int NOT NULL DEFAULT 0',
      done: 'bigint NOT NULL DEFAULT 0',
      report: 'longtext NOT NULL',
      touched_at: 'varchar(19) NOT NULL',
    },
    primary: ['id'],
    unique: { source: ['source'] },
  },
  // One row for each imported record of a source.
  {
    name: 'fasti_import_ids',
    columns: {
      import_id: 'bigint(20) unsigned NOT NULL DEFAULT 0',
      item: DIGEST,
      kind: 'varchar(20) NOT NULL',
      target: 'bigint(20) unsigned NOT NULL DEFAULT 0',
      digest: DIGEST,
      run: 'int NOT NULL DEFAULT 0',
    },
    primary: ['import_id', 'item'],
  },
  // Records that reference others which have not come yet.
  {
    name: 'fasti_import_waiting',
    columns: {
      import_id: 'bigint(20) unsigned NOT NULL DEFAULT 0',
      item: DIGEST,
      kind: 'varchar(20) NOT NULL',
      target: 'bigint(20) unsigned NOT NULL DEFAULT 0',
      wants: 'longtext NOT NULL',
    },
    primary: ['import_id', 'item'],
  },
];
