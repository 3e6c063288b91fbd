import { beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { DatabaseUnavailable } from '../../src/storage/engine/dialect.ts';
import { withoutQuoted } from '../../src/storage/engine/driver.ts';
import { describeDatabases } from '../support/databases.ts';

/*
 * The log entry of a database error contains the reason, the error code of the database and the place in the program,
 * but nothing of the statement.
 */

const SECRET = "it's a secret";

/** The complete log line of an error. */
function logged(error: unknown): string {
  const lines: string[] = [];
  createLog({ logLevel: 'info' }, { write: (line) => lines.push(line) }).error({ err: error }, 'failed');
  return lines.join('');
}

describeDatabases('log entry of a database error', (open, engine) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
    await db.knex.raw(`CREATE TABLE ${db.prefix}hush (number INT PRIMARY KEY, label VARCHAR(99) NOT NULL UNIQUE)`);
  });
  const failing: readonly [string, (db: Database) => Promise<unknown>, string][] = [
    [
      'a table that is not there',
      (at) => at.knex.raw(`SELECT label FROM ${db.prefix}hush_nowhere WHERE label = ?`, [SECRET]),
      'ER_NO_SUCH_TABLE',
    ],
    [
      'a column that is not there',
      (at) => at.knex.raw(`SELECT hush_nowhere FROM ${db.prefix}hush WHERE label = ?`, [SECRET]),
      'ER_BAD_FIELD_ERROR',
    ],
    ['a statement that is none', (at) => at.knex.raw(`SELECT FRM FROM hush WHERE WHERE '${SECRET.replace("'", "''")}'`), 'ER_PARSE_ERROR'],
    ['a value that is there already', (at) => twice(at), 'ER_DUP_ENTRY'],
    ['a value that is missing', (at) => at.knex.raw(`INSERT INTO ${db.prefix}hush (number, label) VALUES (7, NULL)`), 'ER_BAD_NULL_ERROR'],
  ];
  const twice = async (at: Database) => {
    for (let time = 0; time < 2; time += 1) await at.knex.raw(`INSERT INTO ${db.prefix}hush (number, label) VALUES (?, ?)`, [time, SECRET]);
  };
  const failureOf = (run: (at: Database) => Promise<unknown>, at: Database) =>
    run(at).then(
      () => undefined,
      (error: unknown) => error,
    );

  it.each(failing)('about %s contains the error code and the reason but not the statement', async (_what, run, code) => {
    const failure = await failureOf(run, db);
    for (const error of [failure, new DatabaseUnavailable('busy', failure)]) {
      const line = logged(error);
      expect(line).not.toMatch(/hush|secret|SELECT|INSERT|VALUES|WHERE|"sql"|sqlMessage/);
      expect(line).toContain(engine === 'SQLite' ? 'SQLITE_' : code);
      if (engine === 'MySQL') expect(line).toMatch(/"errno":\d+,"sqlState":"\w{5}"/);
      expect(line).toContain('errors-in-log.test');
    }
  });
});

describe('withoutQuoted', () => {
  it.each([
    ["Table 'shop.wp_posts' doesn't exist", "Table '…' doesn't exist"],
    ["Duplicate entry 'it's 5 o'clock' for key 'wp_posts.PRIMARY'", "Duplicate entry '…'"],
    ["SELECT command denied to user 'ed'@'localhost' for table `shop`.`wp_posts`", "SELECT command denied to user '…'"],
    ['near "FRM": syntax error', "near '…': syntax error"],
    ["Can't connect", "Can't connect"],
    ['database is locked', 'database is locked'],
  ])('turns %s into %s', (message, without) => expect(withoutQuoted(message)).toBe(without));
});
