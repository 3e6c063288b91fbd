import type { RawSql } from '../src/storage/engine/builder.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * Adds the counts of days by months, under negative days, so that a total over years reads only some tens of rows. A
 * complete index stays complete in the new layout.
 */
export const months: Migration = {
  name: '006-months',
  tables: () => [],
  up: async ({ knex, prefix }) => {
    const days = `${prefix}fasti_days`;
    await knex(days).where('day', '<', 0).delete();
    const month = knex.raw('-FLOOR(?? / 100) - 1', ['day']) as RawSql<number>;
    await knex(knex.raw('?? (facet, day, n, running)', [days])).insert(
      knex(days).where('day', '>=', 0).where('n', '>', 0).groupBy('facet', month).select('facet', month, knex.raw('SUM(n)'), knex.raw('0')),
    );
    const options = `${prefix}options`;
    if (!(await knex.schema.hasTable(options))) return;
    await knex(options).where({ option_name: 'fasti_index', option_value: '1' }).update({ option_value: '2' });
  },
};
