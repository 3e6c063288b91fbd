import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const source = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => readFileSync(FOLDER + file, 'utf8'))
  .join('\n');
/** Titles of all tests up to the first quotation mark, as written after `it(` or the table of `it.each(`. */
const names = [...source.matchAll(/(?:\bit|\))\(\s*['"`]((?:D\d+|Addition) [^'"`]*)/g)].map((match) => match[1]!);

const LAST = 55;
const ADDITIONS = [
  'translation_language',
  'validators',
  '%s_after and %s_before',
  'order and orderby',
  'city, country and state',
  'both namespaces',
  '/index.php/wp-json',
  'namespace parameter',
  'offset',
];

describe('the tests of the decisions', () => {
  it.each(Array.from({ length: LAST }, (_, index) => `D${index + 1}`))('include one for %s', (number) => {
    expect(names.filter((name) => name.startsWith(`${number} `)).length).toBeGreaterThan(0);
  });
  it.each(ADDITIONS)('include one for the addition of %s', (addition) => {
    expect(names.filter((name) => name.startsWith(`Addition ${addition}`)).length).toBeGreaterThan(0);
  });
  it('mention no unknown decision', () => {
    const numbers = names.flatMap((name) => [...name.matchAll(/^D(\d+) /g)].map((match) => Number(match[1])));
    expect(numbers.filter((number) => number < 1 || number > LAST)).toEqual([]);
  });
});
