import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * The list index knows in which languages an event stands for a translation that is missing. Where content has
 * languages, it is rebuilt before it is used again (`indexLayout`); elsewhere an index that was complete stays so.
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
