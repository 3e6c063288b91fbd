/** In every format, text that is not UTF-8 is decoded as Windows-1252. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { textOfTable } from '../../src/exchange/csv/encoding.ts';
import { calendarLines } from '../../src/exchange/ical/lines.ts';
import { decoderFor } from '../../src/exchange/items/encoding.ts';
import type { Entry } from '../../src/exchange/items/items.ts';
import { openJsonLines } from '../../src/exchange/items/json-lines.ts';
import { openWxr } from '../../src/exchange/wxr/read.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-encodings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, bytes: Buffer): string => {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
};
const allOf = async (entries: AsyncIterable<Entry>): Promise<Entry[]> => {
  const all: Entry[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
};
const lossesIn = (entries: readonly Entry[]): string[] => entries.flatMap((entry) => (entry.kind === 'loss' ? [entry.loss.reason] : []));

/** All characters of Windows-1252 between 0x80 and 0x9f, and one of Latin-1. */
const LETTERS = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸé';
const BYTES = Buffer.from('8082838485868788898a8b8c8e9192939495969798999a9b9c9e9fe9', 'hex');

it('an iCalendar file is decoded as Windows-1252', async () => {
  const pieces = (async function* () {
    yield BYTES;
  })();
  const lines = [];
  for await (const some of calendarLines(pieces, 'a.ics')) lines.push(...some);
  expect(lines).toEqual([{ line: 1, text: LETTERS, encoding: 'windows-1252' }]);
});

it('a CSV file is decoded as Windows-1252', async () => {
  const path = join(folder, 'a.csv');
  writeFileSync(path, BYTES);
  const table = textOfTable(path);
  let text = '';
  for await (const piece of table.chunks) text += piece;
  expect([text, table.encoding()]).toEqual([LETTERS, 'windows-1252']);
});

/** Decodes bytes that declare an encoding. */
const decodedAs = (label: string, bytes: Buffer): string => {
  const decode = decoderFor('a', bytes, () => undefined, label);
  return decode(bytes) + decode(undefined);
};

it.each(['windows-1252', 'iso-8859-1', 'latin1', 'us-ascii', 'cp1252', '', 'no-such-encoding'])(
  'a page that declares %j is decoded as Windows-1252',
  (label) => {
    expect(decodedAs(label, BYTES)).toBe(LETTERS);
  },
);

it.each([
  ['windows-1250', Buffer.from([0x8a, 0xb9]), 'Šą'],
  ['utf-8', Buffer.from('€'), '€'],
  ['iso-8859-1', Buffer.from('\ufeff€'), '€'],
  ['utf-16', Buffer.from('€'), '€'],
])('a page in %s is decoded, with its mark taking precedence', (label, bytes, text) => {
  expect(decodedAs(label, bytes)).toBe(text);
});

it.each(['utf-16le', 'utf-16be'])(
  'a page in %s without a byte order mark is recognized, even if most characters are not Latin',
  (encoding) => {
    const text = `T\u4e00${'\u304b'.repeat(600)}`;
    const bytes = Buffer.from(text, 'utf16le');
    const decode = decoderFor('a', encoding === 'utf-16le' ? bytes : bytes.swap16(), () => undefined);
    expect(decode(bytes) + decode(undefined)).toBe(text);
  },
);

describe('WordPress export file', () => {
  const wxr = (declaration: string) =>
    `${declaration}<rss><channel><wp:wxr_version>1.2</wp:wxr_version>\n<item><title>Citt\xe0</title><wp:post_id>1</wp:post_id><wp:post_type>tribe_events</wp:post_type></item></channel></rss>`;
  it.each([
    ['ISO-8859-1', '<?xml version="1.0" encoding="ISO-8859-1"?>', []],
    ['nothing', '<?xml version="1.0"?>', ['encoding-assumed']],
  ])('is decoded if it declares %s', async (_, declaration, told) => {
    const entries = await allOf(openWxr([write('latin.xml', Buffer.from(wxr(declaration), 'latin1'))]).entries());
    expect(entries.flatMap((entry) => (entry.kind === 'event' ? [entry.columns.post_title] : []))).toEqual(['Città']);
    expect(lossesIn(entries)).toEqual(told);
  });
  it('is refused with line and byte if it declares UTF-8 but has other bytes', async () => {
    const bytes = Buffer.from(wxr('<?xml version="1.0" encoding="UTF-8"?>'), 'latin1');
    await expect(allOf(openWxr([write('not.xml', bytes)]).entries())).rejects.toMatchObject({
      fault: 'not-utf8',
      values: { file: 'not.xml', line: 2, byte: bytes.indexOf(0xe0) },
    });
  });
});

describe('JSON lines', () => {
  const lines = (text: string) => Buffer.from(`{"format":"fasti","version":1,"home":"http://a.example"}\n${text}`);
  const event = (title: string) => JSON.stringify({ kind: 'event', sourceId: title, columns: {}, metas: [], links: [], complete: true });
  it.each([
    ['a letter of another encoding', Buffer.concat([lines(`${event('è\ufffd')}\n"Citt`), Buffer.from('\xe0"\n', 'latin1')])],
    [
      'a letter of another encoding far into the file',
      Buffer.concat([lines(`${event('à'.repeat(70_001))}\n"Citt`), Buffer.from('\xe0"\n', 'latin1')]),
    ],
    ['a letter that is cut off', Buffer.concat([lines(`${event('à')}\n"Citt`), Buffer.from([0xe2, 0x82])])],
  ])('are refused with line and byte for %s', async (_, bytes) => {
    await expect(allOf(openJsonLines([write('a.jsonl', bytes)]).entries())).rejects.toMatchObject({
      fault: 'not-utf8',
      values: { file: 'a.jsonl', line: 3, byte: bytes.lastIndexOf('Citt') + 4 },
    });
  });
});
