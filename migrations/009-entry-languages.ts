import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * Adds the languages of events to the list index. If there are any, it is rebuilt before it is used again
 * (`indexLayout`); otherwise a complete index stays complete.
 */
export const entryLanguages: Migration = {
  name: '009-entry-languages',
  tables: () => [],
  up: async ({ knex, dialect, prefix, columns }) => {
    const entries = `${prefix}fasti_entries`;
    if ((await columns(entries)).includes('language')) return;
    await knex.schema.raw(dialect.addColumn(entries, 'language', 'bigint(20) unsigned NOT NULL DEFAULT 0'));
  },
};
