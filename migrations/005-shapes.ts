import type { TableStatistics } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * Statistics of the tables of a large calendar. Without them, SQLite considers the type of a post as selective as its
 * id, and would scan all events to find ten of them.
 */
export const shapes: Migration = {
  name: '005-shapes',
  tables: () => [],
  up: async ({ knex, dialect, prefix }) => {
    for (const statement of dialect.storeStatistics(SHAPES, prefix)) await knex.schema.raw(statement);
  },
};

/**
 * Statistics for a million events. Query plans only depend on which key finds few rows and which finds many; small
 * calendars are fast either way.
 */
const SHAPES: TableStatistics = {
  posts: {
    type_status_date: [1_000_000, 150_000, 100_000, 1, 1],
    type_status_author: [1_000_000, 150_000, 100_000, 50_000],
    post_author: [1_000_000, 100_000],
    post_parent: [1_000_000, 500_000],
    post_name: [1_000_000, 1],
  },
  postmeta: { meta_key: [14_000_000, 350_000], post_id: [14_000_000, 14] },
  terms: { slug: [200, 1], name: [200, 1] },
  term_taxonomy: { taxonomy: [200, 50], term_id_taxonomy: [200, 1, 1] },
  term_relationships: { primary: [3_000_000, 3, 1], term_taxonomy_id: [3_000_000, 50_000] },
  tec_events: { post_id: [1_000_000, 1] },
  tec_occurrences: {
    hash: [1_000_000, 1],
    event_id: [1_000_000, 1],
    'idx_{prefix}tec_occurrences_post_id_dates': [1_000_000, 1, 1, 1],
    'idx_{prefix}tec_occurrences_post_id_dates_utc': [1_000_000, 1, 1, 1],
  },
  fasti_entries: { primary: [7_000_000, 65_000, 2, 1, 1, 1], post_id: [7_000_000, 7] },
  fasti_days: { primary: [400_000, 3600, 1] },
};
