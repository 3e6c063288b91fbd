import type { TableDefinition } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/** The journal of changes (`src/storage/journal/`), and the inbox through which the WordPress plugin writes to it. */
export const journal: Migration = {
  name: '010-journal',
  tables: () => TABLES,
  up: async ({ knex, dialect, prefix }) => {
    for (const definition of TABLES) {
      for (const statement of dialect.createTable(definition, prefix)) await knex.schema.raw(statement);
    }
  },
};

const ID = 'bigint(20) unsigned NOT NULL DEFAULT 0';
const FLAG = 'tinyint NOT NULL DEFAULT 0';
const WORD = 'varchar(10) NOT NULL';

/** Columns that describe a change, the same in both tables. */
const CHANGE = {
  at: 'varchar(19) NOT NULL',
  kind: WORD,
  type: "varchar(191) NOT NULL DEFAULT ''",
  object: ID,
  what: WORD,
  user: ID,
  was_public: FLAG,
  is_public: FLAG,
};

const TABLES: readonly TableDefinition[] = [
  // One row for each change, numbered in the order of commits.
  {
    name: 'fasti_journal',
    columns: { number: 'bigint NOT NULL', writer: WORD, ...CHANGE },
    primary: ['number'],
    clustered: true,
  },
  // Notes of the WordPress plugin that no process of ours has taken over yet. Their ids have no meaning.
  {
    name: 'fasti_journal_inbox',
    columns: { id: 'bigint(20) unsigned NOT NULL AUTO_INCREMENT', ...CHANGE },
    primary: ['id'],
  },
  // Used next to a WordPress: the last known state of each object, by which foreign changes are detected.
  {
    name: 'fasti_prints',
    columns: {
      kind: WORD,
      object: ID,
      type: "varchar(32) NOT NULL DEFAULT ''",
      term: ID,
      parent: ID,
      is_public: FLAG,
      digest: "varchar(191) NOT NULL DEFAULT ''",
    },
    primary: ['kind', 'object'],
    clustered: true,
  },
];
