import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * Adds the occurrences of recurring events to the list index. If there may be any, the index has to be rebuilt;
 * otherwise a complete index stays complete.
 */
export const occurrences: Migration = {
  name: '008-occurrences',
  tables: () => [],
  up: async ({ knex, dialect, prefix, columns }) => {
    const entries = `${prefix}fasti_entries`;
    if (!(await columns(entries)).includes('occurrence_id')) {
      await knex.schema.raw(dialect.addColumn(entries, 'occurrence_id', 'bigint(20) unsigned NOT NULL DEFAULT 0'));
    }
    const [dates, options] = [`${prefix}tec_occurrences`, `${prefix}options`];
    const recurs = (await columns(dates)).includes('has_recurrence');
    if (recurs && (await knex.schema.hasTable(options))) await knex(options).where('option_name', 'fasti_index').delete();
  },
};
