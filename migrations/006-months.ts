import type { RawSql } from '../src/storage/engine/builder.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * The counts of days are summed up by months too, under days below zero, so that a total over years reads some tens of
 * rows. An index that was complete is complete in the new layout.
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
