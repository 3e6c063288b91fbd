import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * Imports remember which of their runs made a record, so that the last one can be taken back. Records of imports from
 * before count as made by none.
 */
export const importMakers: Migration = {
  name: '012-import-makers',
  tables: () => [],
  up: async ({ knex, dialect, prefix, columns }) => {
    const ids = `${prefix}fasti_import_ids`;
    if ((await columns(ids)).includes('made')) return;
    await knex.schema.raw(dialect.addColumn(ids, 'made', 'int NOT NULL DEFAULT 0'));
  },
};
