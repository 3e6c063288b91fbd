import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

/*
 * MySQL 8 takes words for its own that MariaDB and SQLite let anybody use, so that tests on these miss them. As names
 * they stand in quotes: https://dev.mysql.com/doc/refman/8.4/en/keywords.html
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

/** A statement, or a piece of one; a sentence for people has its words in small letters. */
const IS_SQL = /\b(SELECT|UPDATE|INSERT INTO|DELETE FROM|JOIN|WHERE|ORDER BY|GROUP BY|SUM\(|COUNT\()/;
/** The word as a name: neither in quotes nor with an argument, as the functions are written. */
const NAMED = new RegExp(`\\b(?:AS|BY|SELECT|ON|AND|OR|,|\\.)\\s*(${RESERVED.replaceAll(' ', '|')})\\b(?!\\s*\\()`, 'gi');

/** The texts of a file without what is put into them. */
const textsIn = (source: string): string[] => source.match(/`[^`]*`|'[^'\n]*'/g)?.map((text) => text.replace(/\$\{[^{}]*\}/g, '?')) ?? [];

it('names nothing in a statement by a word that MySQL 8 keeps for itself', () => {
  expect(files.length).toBeGreaterThan(500);
  const taken = files.flatMap((file) =>
    textsIn(readFileSync(join(ROOT, file), 'utf8'))
      .filter((text) => IS_SQL.test(text))
      .flatMap((text) => [...text.matchAll(NAMED)].map(([found]) => `${file}: ${found}`)),
  );
  expect(taken).toEqual([]);
});
