import type { TableDefinition } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/**
 * Tables of the list index, from which lists of events are read without scanning all events
 * (`src/storage/index/event-index.ts`). Filled by writes and by `fasti reindex`.
 */
export const listIndex: Migration = {
  name: '004-list-index',
  tables: () => TABLES,
  up: async ({ knex, dialect, prefix }) => {
    for (const definition of TABLES) {
      for (const statement of dialect.createTable(definition, prefix)) await knex.schema.raw(statement);
    }
  },
};

/** A moment as a number of 14 digits, `YYYYMMDDHHMMSS`, which sorts like the text. */
const MOMENT = 'bigint NOT NULL DEFAULT 0';
const FLAG = 'tinyint NOT NULL DEFAULT 0';

const TABLES: readonly TableDefinition[] = [
  // One row for each occurrence of an event under each of its facets (all events, a category, a tag, a venue ...), in
  // the order of lists.
  {
    name: 'fasti_entries',
    columns: {
      facet: 'bigint NOT NULL',
      start_at: MOMENT,
      posted_at: MOMENT,
      post_id: 'bigint(20) unsigned NOT NULL',
      end_at: MOMENT,
      status: FLAG,
      hidden: FLAG,
      locked: FLAG,
      featured: FLAG,
    },
    primary: ['facet', 'start_at', 'posted_at', 'post_id', 'end_at'],
    keys: { post_id: ['post_id'] },
    clustered: true,
  },
  // The number of public occurrences that begin on each day, and of those that continue past its midnight.
  {
    name: 'fasti_days',
    columns: { facet: 'bigint NOT NULL', day: 'int NOT NULL', n: 'int NOT NULL DEFAULT 0', running: 'int NOT NULL DEFAULT 0' },
    primary: ['facet', 'day'],
    clustered: true,
  },
];
