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

/** What changed: the same columns in both tables. */
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
  // One row for each change, numbered in the order in which transactions were committed.
  {
    name: 'fasti_journal',
    columns: { number: 'bigint NOT NULL', writer: WORD, ...CHANGE },
    primary: ['number'],
    clustered: true,
  },
  // What the WordPress plugin has noted and no process of ours has taken over yet. These numbers mean nothing.
  {
    name: 'fasti_journal_inbox',
    columns: { id: 'bigint(20) unsigned NOT NULL AUTO_INCREMENT', ...CHANGE },
    primary: ['id'],
  },
  // Beside a WordPress: what was last seen of each object, so that what it changes can be found.
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
