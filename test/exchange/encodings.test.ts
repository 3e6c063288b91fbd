/** Whatever format it is in, a text that is not in UTF-8 has the letters that Windows shows. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { textOfTable } from '../../src/exchange/csv/encoding.ts';
import { calendarLines } from '../../src/exchange/ical/lines.ts';
import { decodedAs } from '../../src/exchange/items/windows-1252.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-encodings-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Each letter that Windows-1252 has between 0x80 and 0x9f, and one of Latin-1. */
const LETTERS = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸé';
const BYTES = Buffer.from('8082838485868788898a8b8c8e9192939495969798999a9b9c9e9fe9', 'hex');

it('a calendar', async () => {
  const pieces = (async function* () {
    yield BYTES;
  })();
  const lines = [];
  for await (const some of calendarLines(pieces, 'a.ics')) lines.push(...some);
  expect(lines).toEqual([{ line: 1, text: LETTERS, encoding: 'windows-1252' }]);
});

it('a table', async () => {
  const path = join(folder, 'a.csv');
  writeFileSync(path, BYTES);
  const table = textOfTable(path);
  let text = '';
  for await (const piece of table.pieces) text += piece;
  expect([text, table.encoding()]).toEqual([LETTERS, 'windows-1252']);
});

it.each(['windows-1252', 'iso-8859-1', 'latin1', 'us-ascii', 'cp1252'])('a page whose answer says %s', (label) => {
  expect(decodedAs(label, BYTES)).toBe(LETTERS);
});

it.each([
  ['windows-1250', Buffer.from([0x8a, 0xb9]), 'Šą'],
  ['utf-8', Buffer.from('€'), '€'],
])('a page in %s', (label, bytes, text) => {
  expect(decodedAs(label, bytes)).toBe(text);
});
