import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

/*
 * MySQL 8 reserves words that MariaDB and SQLite allow as names, so tests on these databases miss them. Such names must
 * be quoted: https://dev.mysql.com/doc/refman/8.4/en/keywords.html
 */

const RESERVED =
  'cube cume_dist dense_rank empty except first_value function grouping groups intersect json_table lag last_value lateral lead library ' +
  'manual nth_value ntile of over parallel percent_rank qualify rank recursive row rows row_number system tablesample window';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const files = ['src', 'migrations'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);

/** Matches a statement or a part of one. Sentences for people have these words in lower case. */
const IS_SQL = /\b(SELECT|UPDATE|INSERT INTO|DELETE FROM|JOIN|WHERE|ORDER BY|GROUP BY|SUM\(|COUNT\()/;
/** Matches a reserved word used as a name, that is, neither quoted nor followed by arguments like a function. */
const NAMED = new RegExp(`\\b(?:AS|BY|SELECT|ON|AND|OR|,|\\.)\\s*(${RESERVED.replaceAll(' ', '|')})\\b(?!\\s*\\()`, 'gi');

/** String literals of a source file, with their interpolated expressions replaced by `?`. */
const textsIn = (source: string): string[] => source.match(/`[^`]*`|'[^'\n]*'/g)?.map((text) => text.replace(/\$\{[^{}]*\}/g, '?')) ?? [];

it('SQL in the source uses no reserved word of MySQL 8 as an unquoted name', () => {
  expect(files.length).toBeGreaterThan(500);
  const taken = files.flatMap((file) =>
    textsIn(readFileSync(join(ROOT, file), 'utf8'))
      .filter((text) => IS_SQL.test(text))
      .flatMap((text) => [...text.matchAll(NAMED)].map(([found]) => `${file}: ${found}`)),
  );
  expect(taken).toEqual([]);
});
