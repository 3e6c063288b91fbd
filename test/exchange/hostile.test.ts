import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  createWriteStream,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { runCli } from '../../src/cli/program.ts';
import { openCsv } from '../../src/exchange/csv/read.ts';
import { linesIn } from '../../src/exchange/items/file-text.ts';
import { type Item, isItem, SourceFault } from '../../src/exchange/items/items.ts';
import { openJsonLines, writeJsonLines } from '../../src/exchange/items/json-lines.ts';
import { type Source, surveySource } from '../../src/exchange/items/source.ts';
import { findSite } from '../../src/exchange/live/site-client.ts';
import { openWxr } from '../../src/exchange/wxr/read.ts';
import { writeWxr } from '../../src/exchange/wxr/write.ts';
import type { Caller } from '../../src/records/caller.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { loadTexts } from '../../src/texts.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { calendar } from './arbitrary.ts';
import { allOf, bareSite, calendarOf, callerOf, NOW, placeless, streamOf, textOfAll } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, content: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

/**
 * Creates a named pipe that delivers half a gigabyte while it is read. `taken`: number of bytes written when the reader
 * closed it.
 */
function endless(head: string, more: string): { path: string; taken: Promise<number> } {
  const path = join(folder, `endless-${randomUUID()}.csv`);
  execFileSync('mkfifo', [path]);
  const piece = more.repeat(2 ** 16 / more.length);
  const pieces = function* () {
    yield head;
    for (let bytes = 0; bytes < 2 ** 29; bytes += piece.length) yield piece;
  };
  const pipe = createWriteStream(path);
  const taken = pipeline(pieces(), pipe).then(
    () => pipe.bytesWritten,
    () => pipe.bytesWritten,
  );
  return { path, taken };
}

/** Returns a WXR file with these elements in its channel. */
const wxr = (elements: string, before = ''): string => `<?xml version="1.0" encoding="UTF-8" ?>
${before}<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/"><channel>
<wp:wxr_version>1.2</wp:wxr_version>
<wp:base_blog_url>https://old.example.org</wp:base_blog_url>
${elements}
</channel></rss>`;

const item = (inner: string, type = 'tribe_events'): string =>
  `<item><title>An event</title><wp:post_id>500</wp:post_id><wp:post_type>${type}</wp:post_type><wp:status>publish</wp:status>${inner}</item>`;

const items = async (source: Source): Promise<Item[]> => placeless((await allOf(source.entries())).filter(isItem));
const fault = async (source: Source): Promise<{ fault: string; values: Record<string, unknown> }> => {
  const error = await surveySource(source).catch((thrown: unknown) => thrown);
  if (!(error instanceof SourceFault)) throw error;
  return { fault: error.fault, values: error.values };
};

describe('WordPress export file', () => {
  it.each([
    ['a document type, however harmless', wxr(item(''), '<!DOCTYPE rss>'), 'doctype', 2],
    ['an entity bomb', wxr(item(''), '<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'), 'doctype', 2],
    ['an external entity', wxr(item(''), '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), 'doctype', 2],
    ['an entity that nobody declared', wxr(item('<content:encoded>&x;</content:encoded>')), 'not-xml', 5],
    ['elements that are crossed', wxr(item('<a><b></a></b>')), 'not-xml', 5],
    ['a depth that no export has', wxr(item('<a>'.repeat(50) + '</a>'.repeat(50))), 'too-deep', 5],
    ['another document', '<html><body>Not found</body></html>', 'not-wxr', 1],
    ['a feed of another kind', '<rss version="2.0"><channel><item><title>x</title></item></channel></rss>', 'not-wxr', 1],
    ['text instead of XML', 'Fatal error: Allowed memory size exhausted', 'not-xml', 1],
    ['an end that is missing', wxr(item('')).slice(0, -40), 'truncated', 5],
    ['something after the end', `${wxr(item(''))}<rss/>`, 'not-xml', 6],
  ])('is refused with its line for %s', async (_what, content, expected, line) => {
    expect(await fault(openWxr([file('bad.xml', content)]))).toMatchObject({ fault: expected, values: { file: 'bad.xml', line } });
  });

  it('is refused for bytes that are not UTF-8', async () => {
    expect(
      await fault(openWxr([file('latin.xml', Buffer.from(wxr(item('<content:encoded>caf\u00e9</content:encoded>')), 'latin1'))])),
    ).toMatchObject({ fault: 'not-utf8' });
  });

  it('is refused if it is empty, absent or a folder', async () => {
    expect(await fault(openWxr([file('empty.xml', '')]))).toEqual({ fault: 'empty', values: { file: 'empty.xml' } });
    expect(await fault(openWxr([join(folder, 'absent.xml')]))).toMatchObject({ fault: 'unreadable', values: { what: 'ENOENT' } });
    expect(await fault(openWxr([folder]))).toMatchObject({ fault: 'unreadable', values: { what: 'EISDIR' } });
  });

  it('is refused for an endless text before the memory is full', async () => {
    const path = join(folder, 'huge.xml');
    const handle = openSync(path, 'w');
    writeSync(handle, wxr('').replace('</channel></rss>', '<item><title><![CDATA['));
    // A sparse file of a gigabyte, which uses almost no room on the disk. The reader removes NUL characters, so the
    // limit must be reached by the letters.
    writeSync(handle, Buffer.alloc(12 * 2 ** 20, 'a'));
    ftruncateSync(handle, 2 ** 30);
    closeSync(handle);
    const before = process.memoryUsage.rss();
    expect((await fault(openWxr([path]))).fault).toBe('too-long');
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 2 ** 20);
    truncateSync(path);
  });

  it('is refused for a record with too many parts', async () => {
    expect(
      (await fault(openWxr([file('many.xml', wxr(item('<wp:postmeta><wp:meta_key>k</wp:meta_key></wp:postmeta>'.repeat(150_000))))])))
        .fault,
    ).toBe('too-long');
  });

  it('is read without characters that XML forbids, and their number is reported', async () => {
    const entries = await allOf(
      openWxr([file('control.xml', wxr(item('<content:encoded><![CDATA[a\x0b\x00b]]></content:encoded>')))]).entries(),
    );
    expect(entries).toMatchObject([
      { columns: { post_content: 'ab' } },
      { kind: 'loss', loss: { reason: 'control-characters', detail: '2' } },
    ]);
  });

  it('is read with texts in several CDATA sections, in indented lines and with character references', async () => {
    const content = '\n   <![CDATA[one ]]]]><![CDATA[> two]]>&#13;<![CDATA[\nthree]]>\n  ';
    const [read] = await items(
      openWxr([
        file('cdata.xml', wxr(item(`<content:encoded>${content}</content:encoded><excerpt:encoded>a &lt;b&gt; &amp; c</excerpt:encoded>`))),
      ]),
    );
    expect(read).toMatchObject({ columns: { post_content: 'one ]]> two\r\nthree', post_excerpt: 'a <b> & c' } });
  });

  it('is read from overlapping files, but refused for files of several sites', async () => {
    const one = file('one.xml', wxr(item('')));
    const other = file('other.xml', wxr(item('')).replace('old.example', 'other.example'));
    expect(await items(openWxr([one, one]))).toHaveLength(2);
    expect(await fault(openWxr([one, other]))).toMatchObject({
      fault: 'several-sites',
      values: { file: 'other.xml', one: 'old.example.org', other: 'other.example.org' },
    });
  });

  it('is read with serialized values as text, separate links, and a count of skipped parts', async () => {
    const meta = (key: string, value: string) =>
      `<wp:postmeta><wp:meta_key><![CDATA[${key}]]></wp:meta_key><wp:meta_value><![CDATA[${value}]]></wp:meta_value></wp:postmeta>`;
    const inner = meta('_EventVenueID', '77') + meta('_EventOrganizerID', '') + meta('x', 'O:8:"stdClass":0:{}') + meta('__proto__', 'y');
    const source = openWxr([
      file('metas.xml', wxr(item(`${inner}<wp:comment><wp:comment_id>1</wp:comment_id></wp:comment>`) + item('', 'page'))),
    ]);
    expect(await allOf(source.entries())).toMatchObject([
      {
        links: [{ key: '_EventVenueID', kind: 'venue', sourceId: '77' }],
        metas: [
          ['_EventOrganizerID', ''],
          ['x', 'O:8:"stdClass":0:{}'],
          ['__proto__', 'y'],
        ],
      },
      { kind: 'skipped', what: 'comment', count: 1 },
      { kind: 'skipped', what: 'page', count: 1 },
    ]);
  });
});

describe('JSON lines file', () => {
  const DAY = '2026-12-31 00:00:00';
  const head = '{"format":"fasti","version":1,"home":"https://old.example.org"}\n';
  const tag = '{"kind":"tag","sourceId":"a","name":"A","slug":"a","description":""}\n';
  it.each([
    ['another file', '{"hello":"world"}\n', 'not-json-lines', 1],
    ['a line that is no JSON', `${head}{"kind":\n`, 'not-json', 2],
    ['a line that is no record', `${head}{"kind":"poem"}\n`, 'no-item', 2],
    ['a member that nobody knows', `${head}${tag.replace('{', '{"__proto__x":1,')}`, 'no-item', 2],
    [
      'a column that is not the file’s to set',
      `${head}{"kind":"event","sourceId":"1","columns":{"ID":"1"},"metas":[],"links":[],"complete":true}\n`,
      'no-item',
      2,
    ],
    ['nesting without end', `${head}${'['.repeat(200_000)}\n`, 'too-deep', 2],
    ['nesting that ends', `${head}${'['.repeat(200_000)}${']'.repeat(200_000)}\n`, 'too-deep', 2],
    ['values without number', `${head}[${'"a",'.repeat(200_000)}1]\n`, 'too-long', 2],
    ['an end that is missing', head + tag, 'truncated', 2],
    ['a number that is wrong', `${head}${tag}{"end":true,"items":2}\n`, 'wrong-number', 3],
    ['something after the end', `${head}${tag}{"end":true,"items":1}\n${tag}`, 'after-end', 4],
    ['a line without end', `${head}"${'a'.repeat(9 * 2 ** 20)}`, 'too-long', 2],
  ])('is refused with its line for %s', async (_what, content, expected, line) => {
    expect(await fault(openJsonLines([file('bad.jsonl', content)]))).toMatchObject({
      fault: expected,
      values: { file: 'bad.jsonl', line },
    });
  });

  const LATER = '2031-01-02 00:00:00';
  const date = { id: 1, start: DAY, end: DAY, startUtc: DAY, endUtc: DAY, duration: 0, sequence: 0, listed: false };
  const recurring = (...dates: object[]) =>
    `{"kind":"event","sourceId":"1","columns":{},"metas":[],"links":[],"complete":true,"recurrence":{"recurs":true,"rule":"","base":1,"dates":${JSON.stringify(dates)}}}`;
  it.each([
    ['', '{"kind":"poem"}', 'kind'],
    ['that is missing', tag.replace('"slug":"a",', ''), 'slug'],
    ['that nobody knows', tag.replace('"slug"', '"colour":"red","slug"'), 'colour'],
    [
      'that nobody knows, of a part',
      '{"kind":"event","sourceId":"1","columns":{"titel":"A"},"metas":[],"links":[],"complete":true}',
      'columns.titel',
    ],
    ['that is a date of no calendar', recurring({ ...date, start: '2026-13-40 00:00:00' }), 'recurrence.dates.0.start'],
    ['that has the same date twice', recurring(date, { ...date, id: 2, sequence: 2 }), 'recurrence.dates'],
    [
      'that has two dates of one id',
      recurring(date, { ...date, start: LATER, end: LATER, startUtc: LATER, endUtc: LATER }),
      'recurrence.dates',
    ],
  ])('is refused with the name of the member %s', async (_what, line, what) => {
    expect(await fault(openJsonLines([file('bad.jsonl', `${head}${line.trim()}\n`)]))).toMatchObject({
      fault: 'no-item',
      values: { what },
    });
  });
});

describe('response of another site', () => {
  it.each([
    ['nested without end', '['.repeat(2 ** 20)],
    ['nested', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`],
    ['of values without number', `[${'1,'.repeat(1_000_000)}1]`],
  ])('is refused before it is parsed: %s', async (_, body) => {
    const server = createServer((_req, res) => res.setHeader('Content-Type', 'application/json').end(body));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const error: unknown = await findSite(`http://127.0.0.1:${port}`, { rate: 100, concurrency: 1 }).catch((thrown: unknown) => thrown);
    server.close();
    expect(error).toMatchObject({ fault: 'site-answer-too-complex', values: { site: `http://127.0.0.1:${port}` } });
  });
});

describe('linesIn', () => {
  const tooLong = (line: number) => new Error(`line ${line}`);
  const lines = async (pieces: readonly string[], most = 100) => {
    const texts: string[] = [];
    for await (const { line, text } of linesIn(Readable.from(pieces), most, tooLong)) {
      expect(line).toBe(texts.length + 1);
      texts.push(text);
    }
    return texts;
  };

  it('returns the same lines for any chunks of a text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'bc', '\n', '\r\n', 'é😀', '\n\n')),
        fc.infiniteStream(fc.nat(3)),
        async (parts, cuts) => {
          const text = parts.join('');
          const pieces: string[] = [];
          for (let at = 0; at < text.length; ) {
            const length = 1 + (cuts.next().value as number);
            pieces.push(text.slice(at, at + length));
            at += length;
          }
          const expected = text.split('\n');
          if (expected.at(-1) === '') expected.pop();
          expect(await lines(pieces)).toEqual(expected);
        },
      ),
    );
  });

  it('throws if a line grows too long', async () => {
    await expect(lines(['a\nb', 'bbb', 'bbb'], 6)).rejects.toThrow('line 2');
    expect(await lines(['a\nb', 'bbb', 'bb\n'], 6)).toEqual(['a', 'bbbbbb']);
  });
});

describe('truncated or corrupted file', () => {
  it('is refused with its name, or read if only a character was replaced', async () => {
    const [sample] = fc.sample(calendar, { numRuns: 1, seed: 3 });
    const forms = [
      {
        name: 'cut.xml',
        text: await textOfAll(
          writeWxr({ home: 'https://old.example.org', title: '', description: '', language: 'en', now: NOW }, streamOf(sample!)),
        ),
        open: openWxr,
      },
      { name: 'cut.jsonl', text: await textOfAll(writeJsonLines('https://old.example.org', streamOf(sample!))), open: openJsonLines },
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...forms),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.option(fc.constantFrom('<', '>', '&', ']]>', '\0', '"', '{'), { nil: undefined }),
        async ({ name, text, open }, part, sign) => {
          const at = Math.floor(text.length * part);
          const broken = sign === undefined ? text.slice(0, at) : text.slice(0, at) + sign + text.slice(at + 1);
          const source = open([file(name, broken)]);
          const error = await surveySource(source).catch((thrown: unknown) => thrown);
          if (error instanceof SourceFault) expect(error.values.file).toBe(name);
          else expect(sign).toBeDefined();
        },
      ),
      { numRuns: 150 },
    );
  });
});

describeDatabases('file with an error near its end', (open) => {
  let db: Database;
  let site: Site;
  let caller: Caller;
  beforeAll(async () => {
    db = await open();
    site = await bareSite(db);
    caller = await callerOf(site);
  });
  afterAll(() => site.close());

  it.each([
    ['broken.xml', wxr(item('').repeat(3)).slice(0, -30), 'Error: broken.xml, line 5: the file is truncated here.\n'],
    [
      'bomb.xml',
      wxr(item(''), '<!DOCTYPE a [<!ENTITY b "c">]>'),
      'Error: bomb.xml, line 2: document type declarations are not accepted.\n',
    ],
    [
      'broken.csv',
      'Event Name,Event Start Date\nA,2026-01-01\nB,03/04/2026\n',
      'Error: broken.csv, line 3: the order of day, month and year in "03/04/2026" (column start_date) has to be given; add --date-order=dmy or --date-order=mdy.\n',
    ],
    [
      'broken.jsonl',
      '{"format":"fasti","version":1,"home":"x"}\n{"kind":"tag","sourceId":"a","name":"A","slug":"a","description":""}\n',
      'Error: broken.jsonl, line 2: the file is truncated here.\n',
    ],
    ['calendar.pdf', 'x', 'Error: The format of calendar.pdf cannot be told from its name; the extension should be one of'],
  ])('ends the import with one clear line and writes nothing (%s)', async (name, content, line) => {
    const before = await calendarOf(db);
    const said: string[] = [];
    const env = { DATABASE_URL: urlOf(db), LOG_LEVEL: 'silent' };
    const code = await runCli(['import', file(name, content)], {
      env,
      out: () => undefined,
      err: (text) => said.push(text),
      isTerminal: false,
      serve: async () => undefined,
    });
    expect(said.join('')).toContain(line);
    expect(said.join('').trim().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
    expect(await calendarOf(db)).toEqual(before);
    expect(await db.from('fasti_imports')).toEqual([]);
  });

  it('is reported with file and line in CSV', async () => {
    const told = (content: string, dateOrder?: 'dmy' | 'mdy') => fault(openCsv([file('bad.csv', content)], { caller, dateOrder }));
    expect(await told('Event Name,Event Start Date\nA,2026-01-01\nB\n')).toMatchObject({ fault: 'csv-no-date', values: { line: 3 } });
    expect(await told('City,Street\nA,B\n')).toMatchObject({ fault: 'csv-headers', values: { line: 1, headers: 'City, Street' } });
    expect(await told('Event Name,Event Start Date\n"A,2026-01-01\nB,2026-01-01\n')).toMatchObject({
      fault: 'csv-quote',
      values: { line: 2 },
    });
    expect(await told('Event Name,Event Start Date\r\n"A\r\nB\r\nC",2026-01-01\r\nA\r\n')).toMatchObject({
      fault: 'csv-no-date',
      values: { line: 5 },
    });
    expect(await told('Event Name,Event Start Date\nA,\n')).toMatchObject({ fault: 'csv-no-date', values: { line: 2 } });
    expect(await told('Event Name,Event Start Date\nA,30/02/2026\n', 'dmy')).toMatchObject({
      fault: 'csv-date',
      values: { line: 2, value: '30/02/2026' },
    });
    expect(await told('Event Name,Event Start Date,Event Start Time\nA,2026-01-01,25:00\n')).toMatchObject({
      fault: 'csv-time',
      values: { value: '25:00' },
    });
    expect(await told('')).toMatchObject({ fault: 'empty' });
  });

  it.each([
    ['a cell that never ends', 'Event Name,Event Start Date\nA,2026-01-01\n"', 'a\r\n', 3],
    ['a heading that never ends', '"', 'a', 1],
    ['a row that never ends', 'Event Name,Event Start Date\n', ',', 2],
  ])('is read in CSV only up to the maximum length of a row (%s)', async (_what, head, more, line) => {
    const { path, taken } = endless(head, more);
    expect(await fault(openCsv([path], { caller }))).toEqual({ fault: 'too-long', values: { file: basename(path), line } });
    expect(await taken).toBeLessThan(4 * 2 ** 20);
  });
});

describe('texts of faults and losses', () => {
  it('exist for every fault and loss in the code', async () => {
    const texts = await loadTexts(['en', 'it']);
    const { readdirSync, readFileSync } = await import('node:fs');
    const code = ['exchange', 'upkeep']
      .map((room) => new URL(`../../src/${room}/`, import.meta.url))
      .flatMap((root) =>
        readdirSync(root, { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.ts') && !name.startsWith('verify/'))
          .map((name) => readFileSync(new URL(name, root), 'utf8')),
      )
      .join('\n');
    const faults = [...code.matchAll(/new SourceFault\('([\w-]+)'/g)].map(([, name]) => `exchange:faults.${name}`);
    const losses = [...code.matchAll(/(?:reason: '|lose\('|missing\('|loss\(item, ')([\w-]+)'/g)].map(
      ([, name]) => `exchange:losses.${name}`,
    );
    expect(faults.length).toBeGreaterThan(20);
    expect(losses.length).toBeGreaterThan(20);
    expect([...faults, ...losses].filter((key) => !texts.has('en', key))).toEqual([]);
  });
});
