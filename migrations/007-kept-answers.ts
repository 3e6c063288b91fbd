import type { TableDefinition } from '../src/storage/engine/dialect.ts';
import type { Migration } from '../src/storage/schema/migration.ts';

/** Responses to writes with an `Idempotency-Key`, so that a repeated request gets the same response. */
export const keptAnswers: Migration = {
  name: '007-kept-answers',
  tables: () => [ANSWERS],
  up: async ({ knex, dialect, prefix }) => {
    for (const statement of dialect.createTable(ANSWERS, prefix)) await knex.schema.raw(statement);
  },
};

/** SHA-256 in 43 characters, compared byte by byte. */
const DIGEST = 'varchar(43) CHARACTER SET ascii COLLATE ascii_bin NOT NULL';

const ANSWERS: TableDefinition = {
  name: 'fasti_answers',
  columns: { id: DIGEST, fingerprint: DIGEST, made_at: 'varchar(19) NOT NULL', answer: 'longtext NOT NULL' },
  primary: ['id'],
  keys: { made_at: ['made_at'] },
};
