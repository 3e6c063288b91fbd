import type { TableDefinition } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/** The key by which the imports of a record are found. */
const importedRecords: TableDefinition = {
  name: 'fasti_import_ids',
  columns: {},
  primary: [],
  keys: { target: ['target'] },
};

/** Lets imports find what they and others have noted about a record, without reading all that was ever imported. */
export const importedRecordKeys: Migration = {
  name: '014-imported-records',
  tables: () => [],
  keys: () => [importedRecords],
  up: async ({ knex, dialect, prefix, keys }) => {
    const { name } = importedRecords;
    if ((await keys(prefix + name)).some(([first]) => first === 'target')) return;
    await knex.schema.raw(dialect.addKey(importedRecords, 'target', prefix));
  },
};
