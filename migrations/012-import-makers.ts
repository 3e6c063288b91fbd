import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * Notes which run of an import created a record, so that the last run can be undone. Records of earlier imports count
 * as created by none.
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
