import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { readDate, readTime } from '../../src/exchange/csv/dates.ts';
import { mapHeaders } from '../../src/exchange/csv/layout.ts';
import { openCsv } from '../../src/exchange/csv/read.ts';
import { writeCsv } from '../../src/exchange/csv/write.ts';
import { exportEntries, itemsOf } from '../../src/exchange/exporter.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import { type Item, isItem, isPostItem, type PostItem } from '../../src/exchange/items/items.ts';
import type { PostKindName } from '../../src/kinds/kind.ts';
import type { Caller } from '../../src/records/caller.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { text } from './arbitrary.ts';
import { allOf, bareFixture, callerOf, placeless, siteOf, streamOf, textOfAll } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-csv-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const WHERE = { file: 'x.csv', line: 2, column: 'start_date' };

describe('a date in a CSV file', () => {
  it.each([
    ['2026-03-04', undefined, '2026-03-04'],
    ['2026/3/4', 'dmy', '2026-03-04'],
    ['03/04/2026', 'dmy', '2026-04-03'],
    ['03/04/2026', 'mdy', '2026-03-04'],
    ['25.12.2026', 'dmy', '2026-12-25'],
    ['2026-03-04 20:00:00', undefined, '2026-03-04'],
    ['', 'dmy', undefined],
  ] as const)('%j in the order %s is %s', (cell, order, date) => expect(readDate(cell, order, WHERE)).toBe(date));
  it.each([
    ['25/12/2026', undefined, 'csv-date-order'],
    ['25/12/2026', 'ymd', 'csv-date-order'],
    ['25/12/2026', 'mdy', 'csv-date'],
    ['29/02/2026', 'dmy', 'csv-date'],
    ['1/2/26', 'dmy', 'csv-date'],
    ['tomorrow', 'dmy', 'csv-date'],
  ] as const)('%j in the order %s is refused', (cell, order, fault) =>
    expect(() => readDate(cell, order, WHERE)).toThrow(expect.objectContaining({ fault })),
  );
});

describe('a time in a CSV file', () => {
  it.each([
    ['20:30', '20:30:00'],
    ['8:30 PM', '20:30:00'],
    ['8pm', '20:00:00'],
    ['12:00 am', '00:00:00'],
    ['12 p.m.', '12:00:00'],
    ['00:00:59', '00:00:59'],
    ['', undefined],
  ])('%j is %s', (cell, time) => expect(readTime(cell, WHERE)).toBe(time));
  it.each(['8', '24:00', '13 pm', '0 am', '20:60', 'noon'])('%j is refused', (cell) =>
    expect(() => readTime(cell, WHERE)).toThrow(expect.objectContaining({ fault: 'csv-time' })),
  );
});

describe('the headings of a CSV file', () => {
  const columns = (...headers: string[]) => {
    const mapped = mapHeaders(headers);
    return mapped && [mapped.kind, ...mapped.columns.map(({ column }) => column)];
  };
  it.each([
    [
      ['Event Name', 'Event Start Date', 'Event Organizer Name(s) or ID(s)'],
      ['event', 'name', 'start_date', 'organizers'],
    ],
    [
      ['EVENT NAME', 'TIMEZONE', 'ALL DAY EVENT', 'HIDE FROM EVENT LISTINGS', 'EVENT ISO CURRENCY CODE'],
      ['event', 'name', 'timezone', 'all_day', 'hide', 'currency_code'],
    ],
    [
      ['Venue Name', 'Venue State/Province', 'Show Map?'],
      ['venue', 'name', 'state', 'show_map'],
    ],
    [
      ['Organizer Name', 'Organizer Email', 'Colour'],
      ['organizer', 'name', 'email', undefined],
    ],
    [
      ['Event Name', 'Event Name'],
      ['event', 'name', undefined],
    ],
    [['Colour', 'Size'], undefined],
  ])('%j are %j', (headers, expected) => expect(columns(...headers)).toEqual(expected));
});

describeDatabases('CSV', (open) => {
  let db: Database;
  let site: Site;
  let caller: Caller;
  beforeAll(async () => {
    db = await open();
    await loadSite(db, bareFixture());
    site = await siteOf(db);
  });
  beforeEach(async () => {
    await loadSite(db, bareFixture());
    for (const table of ['fasti_imports', 'fasti_import_ids', 'fasti_import_waiting'] as const) await db.from(table).del();
    caller = await callerOf(site);
  });
  afterAll(() => site.close());

  const file = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const imported = (paths: readonly string[], status = 'publish') => {
    const source = openCsv(paths, { caller, status });
    return importItems(site, caller, source.entries(), { source: source.name() });
  };
  const out = async (kind: PostKindName): Promise<string> => {
    const items = itemsOf(exportEntries(site, caller, { kinds: [kind], statuses: ['publish'] }), () => undefined);
    return textOfAll(writeCsv(kind, items));
  };
  const post = async (title: string) => (await db.from('posts').where('post_title', title).whereNot('post_type', 'revision'))[0]!;
  const metas = async (id: number) =>
    new Map((await db.from('postmeta').where('post_id', id)).map((row) => [row.meta_key, row.meta_value]));

  it('brings venues, organizers and events that name them, whatever file comes first', async () => {
    const events = file(
      'events.csv',
      [
        'Event Name,Event Start Date,Event Start Time,Event End Date,Event End Time,Event Time Zone,Event Venue Name,Event Organizer Name(s) or ID(s),Event Category,Event Tags,Event Cost,Event Currency Symbol,All Day Event,Feature Event',
        'Concert,2031-05-01,8:00 PM,2031-05-01,10:30 PM,America/New_York,Teatro,"Anna, Bruno","Music, Jazz",free,10-20,€,no,yes',
        'Fair,2031-06-01,,2031-06-02,,,teatro,,Music,,,,TRUE,',
      ].join('\n'),
    );
    const report = await imported([
      events,
      file('venues.csv', 'Venue Name;Venue City;Venue Phone\nTeatro;Roma;+39 06'),
      file('organizers.csv', 'Organizer Name,Organizer Email\nAnna,anna@example.org\nBruno,\n'),
    ]);
    expect(report).toMatchObject({ created: { event: 2, venue: 1, organizer: 2, category: 2, tag: 1 }, losses: [] });
    const concert = await post('Concert');
    const of = await metas(concert.ID);
    expect(Object.fromEntries(['_EventStartDate', '_EventEndDateUTC', '_EventTimezone', '_EventDuration', '_tribe_featured', '_EventCurrencySymbol'].map((key) => [key, of.get(key)]))).toEqual({
      _EventStartDate: '2031-05-01 20:00:00', _EventEndDateUTC: '2031-05-02 02:30:00', _EventTimezone: 'America/New_York', _EventDuration: '9000', _tribe_featured: '1', _EventCurrencySymbol: '€',
    }); // biome-ignore format: short
    expect(
      (await db.from('postmeta').where({ post_id: concert.ID, meta_key: '_EventOrganizerID' }).orderBy('meta_id')).map((row) =>
        Number(row.meta_value),
      ),
    ).toEqual([(await post('Anna')).ID, (await post('Bruno')).ID]);
    const fair = await metas((await post('Fair')).ID);
    expect([fair.get('_EventVenueID'), fair.get('_EventAllDay'), fair.get('_EventEndDate')]).toEqual([
      String((await post('Teatro')).ID),
      '1',
      '2031-06-02 23:59:59',
    ]);
    expect(concert.post_status).toBe('publish');
    expect(concert.guid).toContain('/event/concert/');
  });

  it('changes an event of the same name and start, and finds what was missing the first time', async () => {
    const row = (cost: string) =>
      file('events.csv', `Event Name,Event Start Date,Event Venue Name,Event Cost\nConcert,2031-05-01,Teatro,${cost}\n`);
    const first = await imported([row('10')]);
    expect(first.losses.map(({ reason, examples }) => [reason, examples[0]?.detail])).toEqual([['link-missing', '_EventVenueID: Teatro']]);
    await imported([file('venues.csv', 'Venue Name\nTeatro\n')]);
    expect(await imported([row('10')])).toMatchObject({ created: {}, updated: { event: 1 }, losses: [] });
    expect(await imported([row('12')])).toMatchObject({ created: {}, updated: { event: 1 } });
    expect(await db.from('posts').where('post_type', 'tribe_events')).toHaveLength(1);
    const of = await metas((await post('Concert')).ID);
    expect([of.get('_EventCost'), of.get('_EventVenueID')]).toEqual(['12', String((await post('Teatro')).ID)]);
  });

  it('takes for the same what was here before under that name', async () => {
    await imported([file('a.csv', 'Event Name,Event Start Date\nConcert,2031-05-01\n')]);
    for (const table of ['fasti_imports', 'fasti_import_ids'] as const) await db.from(table).del();
    expect(
      await imported([file('b.csv', 'Event Name,Event Start Date,Event Excerpt\nCONCERT,2031-05-01,New\nConcert,2031-05-02,Another\n')]),
    ).toMatchObject({ created: { event: 1 }, updated: { event: 1 } });
  });

  it('tells what it can’t take, row by row', async () => {
    const content = [
      'Event Name,Event Start Date,Event End Date,Event Website,Event Time Zone',
      ',2031-01-01,,,',
      'Backwards,2031-01-02,2031-01-01,,',
      'Odd,2031-01-03,,javascript:alert(1),Europe/Nowhere',
      'Twice,2031-01-04,,,',
      'twice,2031-01-04,,,',
    ].join('\n');
    const report = await imported([file('odd.csv', content)]);
    expect(report.created).toEqual({ event: 2 });
    expect(
      Object.fromEntries(
        report.losses.map(({ reason, examples }) => [
          reason,
          examples.map(({ place, detail }) => [place, detail].filter(Boolean).join(' ')),
        ]),
      ),
    ).toEqual({
      'no-name': ['odd.csv:2'],
      'value-refused': [
        'odd.csv:3 end_date: 2031-01-01 00:00:00',
        'odd.csv:4 timezone: Europe/Nowhere',
        'odd.csv:4 website: javascript:alert(1)',
      ],
      'row-lost': ['odd.csv:3'],
      'row-twice': ['odd.csv:6'],
    });
  });

  it('writes nothing that a spreadsheet computes, and reads its own apostrophes back', async () => {
    const formulas = ['=1+1', '+39 06', '-5', '@SUM(A1)', '\t=1', "'=quoted", '＝1', 'plain'];
    const items = formulas.map((title, place): PostItem => ({
      kind: 'organizer', sourceId: String(place), id: place + 1, columns: { post_title: 'x', post_content: title }, metas: [['_OrganizerPhone', title]], links: [], complete: true,
    })); // biome-ignore format: short
    const written = await textOfAll(writeCsv('organizer', streamOf<Item>(items)));
    const cells = (parse(written, { bom: true, columns: true }) as Record<string, string>[]).map((row) => row['Organizer Description']);
    expect(cells.filter((cell) => /^[=+\-@\t\r＝]/.test(cell ?? ''))).toEqual([]);
    const renamed = written.replace(/\r\nx,/g, () => `\r\nx${Math.random()},`);
    const back = placeless((await allOf(openCsv([file('back.csv', renamed)], { caller }).entries())).filter(isItem)).filter(isPostItem);
    expect(back.map(({ columns }) => columns.post_content)).toEqual(formulas);
  });

  it('comes out as it went in, but for what its columns don’t say', async () => {
    const name = text().map((rest) => `n${rest}`.replace(/[,\s<>&]+/g, ' ').trim());
    const row = fc.record({ name, description: text(), city: name, zip: fc.stringMatching(/^[0-9]{0,5}$/), phone: name });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(row, { minLength: 1, maxLength: 5, selector: ({ name: title }) => title.normalize('NFKD').toLowerCase() }),
        async (rows) => {
          await loadSite(db, bareFixture());
          for (const table of ['fasti_imports', 'fasti_import_ids'] as const) await db.from(table).del();
          const items = rows.map(({ name: title, description, city, zip, phone }, place): PostItem => ({
          kind: 'venue', sourceId: String(place), columns: { post_title: title, post_content: description, post_status: 'publish' }, metas: [['_VenueCity', city], ['_VenueZip', zip], ['_VenuePhone', phone]], links: [], complete: true,
        })); // biome-ignore format: short
          await importItems(site, caller, streamOf(items), { source: 'rows' });
          const first = await out('venue');
          await loadSite(db, bareFixture());
          for (const table of ['fasti_imports', 'fasti_import_ids'] as const) await db.from(table).del();
          await imported([file('law.csv', first)]);
          const again = await out('venue');
          expect(shown(again)).toEqual(shown(first));
        },
      ),
      { numRuns: 20, endOnFailure: true },
    );
  });
});

/** Cells as people read them: texts are trimmed and their blanks made one where the interface does so; the maps are shown unless the file says no. */
function shown(csv: string): unknown[] {
  return (parse(csv, { bom: true, columns: true }) as Record<string, string>[]).map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([header]) => !header.startsWith('Venue Show Map'))
        .map(([header, cell]) => [header, cell.replace(/\s+/g, ' ').trim()]),
    ),
  );
}
