import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * Notes in the list index in which languages an event replaces a missing translation. If content has languages, the
 * index is rebuilt before it is used again (`indexLayout`); otherwise a complete index stays complete.
 */
export const standIns: Migration = {
  name: '013-stand-ins',
  tables: () => [],
  up: async ({ knex, dialect, prefix, columns }) => {
    const entries = `${prefix}fasti_entries`;
    if ((await columns(entries)).includes('stands_in')) return;
    await knex.schema.raw(
      dialect.addColumn(entries, 'stands_in', "varchar(2000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''"),
    );
  },
};
