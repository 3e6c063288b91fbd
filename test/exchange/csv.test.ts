import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { readMoment, readTime } from '../../src/exchange/csv/dates.ts';
import { mapHeaders } from '../../src/exchange/csv/layout.ts';
import { readMoments, readTimes } from '../../src/exchange/csv/ranges.ts';
import { openCsv } from '../../src/exchange/csv/read.ts';
import { writeRejected } from '../../src/exchange/csv/rejected.ts';
import { writeCsv } from '../../src/exchange/csv/write.ts';
import { exportEntries, itemsOf } from '../../src/exchange/exporter.ts';
import { importItems } from '../../src/exchange/import/importer.ts';
import { type Item, isItem, isPostItem, type PostItem } from '../../src/exchange/items/items.ts';
import { withOverrides } from '../../src/exchange/items/overrides.ts';
import type { PostKindName } from '../../src/kinds/kind-names.ts';
import type { Caller } from '../../src/records/caller.ts';
import type { Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { setSiteOptions } from '../../src/upkeep/site-options.ts';
import { countQueries } from '../support/count-queries.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';
import { text } from './arbitrary.ts';
import { allOf, bareFixture, callerOf, emptySite, metaRows, placeless, siteOf, storeFormerDigests, streamOf, textOfAll } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-csv-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const WHERE = { file: 'x.csv', line: 2, column: 'start_date' };

describe('date in a CSV file', () => {
  it.each([
    ['2026-03-04', undefined, '2026-03-04'],
    ['2026/3/4', 'dmy', '2026-03-04'],
    ['20260304', undefined, '2026-03-04'],
    ['03/04/2026', 'dmy', '2026-04-03'],
    ['03/04/2026', 'mdy', '2026-03-04'],
    ['25.12.2026', 'dmy', '2026-12-25'],
    ['25 12 2026', 'dmy', '2026-12-25'],
    ['11/19/14', 'mdy', '2014-11-19'],
    ['19-11-14', 'dmy', '2014-11-19'],
    ['14-11-19', 'ymd', '2014-11-19'],
    ['1/2/69', 'dmy', '2069-02-01'],
    ['1/2/70', 'dmy', '1970-02-01'],
    ['Sat 4/3/2026', 'mdy', '2026-04-03'],
    ['April 19, 2027', undefined, '2027-04-19'],
    ['apr 19, 2016', undefined, '2016-04-19'],
    ['19 Apr 2016', undefined, '2016-04-19'],
    ['19-Apr-2016', undefined, '2016-04-19'],
    ['2016 April 19', undefined, '2016-04-19'],
    ['Saturday, April 19th, 2027', undefined, '2027-04-19'],
    ['the 1st of May 2027', undefined, '2027-05-01'],
    ['Sept. 3 2027', undefined, '2027-09-03'],
    ['19 aprile 2027', undefined, '2027-04-19'],
    ['1° maggio 2027', undefined, '2027-05-01'],
    ['1º Gennaio 2027', undefined, '2027-01-01'],
    ['lunedì 19 aprile 2027', undefined, '2027-04-19'],
    ['mar. 20 apr. 2027', undefined, '2027-04-20'],
    ['mar 3 mar 2027', undefined, undefined],
    ['24. Dezember 2026', undefined, '2026-12-24'],
    ['Do., 1. Jänner 2026', undefined, '2026-01-01'],
    ['Sa 5. März 2027', undefined, '2027-03-05'],
    ['19-apr-16', 'dmy', '2016-04-19'],
    ['46085', undefined, '2026-03-04'],
    ['', 'dmy', undefined],
  ] as const)('is read from %j in the order %s as %s', (cell, order, date) => {
    if (date === undefined && cell !== '') expect(() => readMoment(cell, order, WHERE)).toThrow();
    else expect(readMoment(cell, order, WHERE)?.day).toBe(date);
  });
  it.each([
    ['2026-03-04 20:00:00', '20:00:00'],
    ['2026-03-04T20:00', '20:00:00'],
    ['March 4, 2026 8:00 PM', '20:00:00'],
    ['4 marzo 2026 alle 20:30', '20:30:00'],
    ['mer 4 mar 2026 ore 20.30', '20:30:00'],
    ['4 marzo 2026 alle ore 21', '21:00:00'],
    ['4 marzo 2026, h 20.30', '20:30:00'],
    ['2026-03-04 20.30', '20:30:00'],
    ['4 marzo 2026 20.30', '20:30:00'],
    ['mer 4 mar 2026, 9.05', '09:05:00'],
    ['2026-03-04 20.30.00', '20:30:00'],
    ['46085.8125', '19:30:00'],
    ['46085,5', '12:00:00'],
    ['4. März 2026, 20.30 Uhr', '20:30:00'],
    ['4. März 2026 um 21 Uhr', '21:00:00'],
    ['2026-03-04', undefined],
  ])('includes the time if %j has one: %s', (cell, time) =>
    expect(readMoment(cell, undefined, WHERE)).toEqual({ day: '2026-03-04', time }),
  );
  it('may be followed by a time with a dot if the order of the numbers is known', () => {
    expect(readMoment('05/02/2027 20.30', 'dmy', WHERE)).toEqual({ day: '2027-02-05', time: '20:30:00' });
    expect(readMoment('05.02.27 20.30', 'dmy', WHERE)).toEqual({ day: '2027-02-05', time: '20:30:00' });
  });
  it.each([
    ['25/12/2026', undefined, 'csv-date-order'],
    ['25/12/2026', 'ymd', 'csv-date-order'],
    ['1/2/26', undefined, 'csv-date-order'],
    ['19-Apr-16', undefined, 'csv-date-order'],
    ['25/12/2026', 'mdy', 'csv-date'],
    ['29/02/2026', 'dmy', 'csv-date'],
    ['31 June 2027', undefined, 'csv-date'],
    ['April 2027', undefined, 'csv-date'],
    ['April May 2027', undefined, 'csv-date'],
    ['April 19 20 2027', undefined, 'csv-date'],
    ['1/2/3/2026', 'dmy', 'csv-date'],
    ['99999', undefined, 'csv-date'],
    ['05/02/2027 20.30', undefined, 'csv-date-order'],
    ['05/02/2027 24.30', 'dmy', 'csv-time'],
    ['4 marzo 20.26', 'dmy', 'csv-date'],
    ['tomorrow', 'dmy', 'csv-date'],
    ['2026-03-04 29:00', undefined, 'csv-time'],
    ['2026-03-04T20:00:00+02:00', undefined, 'csv-date'],
  ] as const)('is refused for %j in the order %s', (cell, order, fault) =>
    expect(() => readMoment(cell, order, WHERE)).toThrow(expect.objectContaining({ fault })),
  );
});

describe('time in a CSV file', () => {
  it.each([
    ['20:30', '20:30:00'],
    ['8:30 PM', '20:30:00'],
    ['8pm', '20:00:00'],
    ['06:00:PM', '18:00:00'],
    ['noon', '12:00:00'],
    ['Mezzanotte', '00:00:00'],
    ['12:00 am', '00:00:00'],
    ['12 p.m.', '12:00:00'],
    ['00:00:59', '00:00:59'],
    ['20.30', '20:30:00'],
    ['20h30', '20:30:00'],
    ['21h', '21:00:00'],
    ['ore 21', '21:00:00'],
    ['21', '21:00:00'],
    ['alle 20.30', '20:30:00'],
    ['20:30 Uhr', '20:30:00'],
    ['9 Uhr', '09:00:00'],
    ['0.8125', '19:30:00'],
    ['0,5', '12:00:00'],
    ['46085.8125', '19:30:00'],
    ['0.999999999', '23:59:59'],
    ['24:00', '24:00:00'],
    ['24', '24:00:00'],
    ['24 Uhr', '24:00:00'],
    ['', undefined],
  ])('is read from %j as %s', (cell, time) => expect(readTime(cell, WHERE)).toBe(time));
  it.each(['8', '12', '25', '24:30', '24:00:01', '24 pm', '13 pm', '0 am', '20:60', 'soon', '0.25', '1.8125'])(
    'is refused for %j',
    (cell) => expect(() => readTime(cell, WHERE)).toThrow(expect.objectContaining({ fault: 'csv-time' })),
  );
});

describe('range in a CSV cell', () => {
  const days = (cell: string, order?: 'dmy') => {
    const { from, to } = readMoments(cell, order, WHERE)!;
    return [from.day, to?.day];
  };
  it.each([
    ['5-7 dicembre 2026', '2026-12-05', '2026-12-07'],
    ['5–7 dicembre 2026', '2026-12-05', '2026-12-07'],
    ['5/7 dicembre 2026', '2026-12-05', '2026-12-07'],
    ['dal 5 al 7 dicembre 2026', '2026-12-05', '2026-12-07'],
    ['dal 30 novembre al 2 dicembre 2026', '2026-11-30', '2026-12-02'],
    ['dall’8 all’11 dicembre 2026', '2026-12-08', '2026-12-11'],
    ['da sabato 5 a domenica 6 dicembre 2026', '2026-12-05', '2026-12-06'],
    ['28 dicembre 2026 - 3 gennaio 2027', '2026-12-28', '2027-01-03'],
    ['from December 5 to December 7, 2026', '2026-12-05', '2026-12-07'],
    ['December 5 - 7, 2026', '2026-12-05', '2026-12-07'],
    ['2026-12-05 - 2026-12-07', '2026-12-05', '2026-12-07'],
    ['2026-12-05 to 2026-12-07', '2026-12-05', '2026-12-07'],
    ['5 e 6 febbraio 2027', '2027-02-05', '2027-02-06'],
    ['sabato 27 e domenica 28 febbraio 2027', '2027-02-27', '2027-02-28'],
    ['31 gennaio e 1 febbraio 2027', '2027-01-31', '2027-02-01'],
    ['February 5 and 6, 2027', '2027-02-05', '2027-02-06'],
    ['5 dicembre 2026', '2026-12-05', undefined],
    ['2026-12-05', '2026-12-05', undefined],
    ['vom 30. November bis 2. Dezember 2026', '2026-11-30', '2026-12-02'],
    ['5. und 6. Dezember 2026', '2026-12-05', '2026-12-06'],
  ])('is read from %j as %s to %s', (cell, from, to) => expect(days(cell)).toEqual([from, to]));
  it('may have numeric dates if their order is known', () => {
    expect(days('5/12/2026 - 7/12/2026', 'dmy')).toEqual(['2026-12-05', '2026-12-07']);
    expect(() => days('5/12/2026 - 7/12/2026')).toThrow(expect.objectContaining({ fault: 'csv-date-order' }));
    for (const cell of ['1/3 - 3/3/2027', '1/3-3/3/2027', 'dal 1/3 al 3/3/2027', '1.3. - 3.3.2027', '1.3–3.3.2027', '1/3/2027-3/3/2027'])
      expect([cell, ...days(cell, 'dmy')]).toEqual([cell, '2027-03-01', '2027-03-03']);
    expect(() => days('1/3 - 3/3/2027')).toThrow(expect.objectContaining({ fault: 'csv-date-order' }));
  });
  it.each([
    '7-5 dicembre 2026',
    '28 dicembre - 3 gennaio 2027',
    '5-7',
    '5-6-7 dicembre 2026',
    'dal 5 dicembre 2026',
    '5 e 12 febbraio 2027',
    '5, 6 e 7 febbraio 2027',
    '1/3 - 3/3',
    '5 - 40 dicembre 2026',
    `5${' '.repeat(200)}- 7 dicembre 2026`,
  ])('is refused for the dates %j', (cell) =>
    expect(() => readMoments(cell, 'dmy', WHERE)).toThrow(expect.objectContaining({ fault: 'csv-date' })),
  );

  it.each([
    ['20.30 - 23.00', '20:30:00', '23:00:00'],
    ['20:30-23', '20:30:00', '23:00:00'],
    ['dalle 21 alle 23.30', '21:00:00', '23:30:00'],
    ['dalle ore 21 alle ore 1', '21:00:00', '01:00:00'],
    ['from 9 to 17', '09:00:00', '17:00:00'],
    ['7-9 pm', '19:00:00', '21:00:00'],
    ['7 – 9:30 p.m.', '19:00:00', '21:30:00'],
    ['11-1 pm', '11:00:00', '13:00:00'],
    ['10-1 am', '22:00:00', '01:00:00'],
    ['10 am - 1 pm', '10:00:00', '13:00:00'],
    ['21:00', '21:00:00', undefined],
    ['von 9 bis 17 Uhr', '09:00:00', '17:00:00'],
    ['16:00 - 21:30 Uhr', '16:00:00', '21:30:00'],
    ['20-24', '20:00:00', '24:00:00'],
    ['20.30 - 24.00 Uhr', '20:30:00', '24:00:00'],
  ])('is read from the times %j as %s to %s', (cell, from, to) => expect(readTimes(cell, WHERE)).toEqual({ from, ...(to ? { to } : {}) }));
  it.each(['8', '20-25', '20 - 21 - 22', '7-13 pm', 'sera - notte'])('is refused for the times %j', (cell) =>
    expect(() => readTimes(cell, WHERE)).toThrow(expect.objectContaining({ fault: 'csv-time' })),
  );
  it('is undefined for an empty cell', () =>
    expect([readMoments(' ', 'dmy', WHERE), readTimes('', WHERE)]).toEqual([undefined, undefined]));
});

describe('headings of a CSV file', () => {
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
      ['Event Name', 'Start Date', 'Start Time', 'Venue Name', 'Venue City'],
      ['event', 'name', 'start_date', 'start_time', 'venue', undefined],
    ],
    [
      ['Title', 'Description', 'Start Date', 'Start Time', 'End Date', 'End Time', 'Venue Name', 'Cost'],
      ['event', 'name', 'description', 'start_date', 'start_time', 'end_date', 'end_time', 'venue', 'cost'],
    ],
    [
      ['Name', 'Date', 'Time', 'Organizer Name', 'Organizer Email'],
      ['event', 'name', 'start_date', 'start_time', 'organizers', undefined],
    ],
    [
      ['name', 'start date', 'start time', 'end time', 'venue name'],
      ['event', 'name', 'start_date', 'start_time', 'end_time', 'venue'],
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
    [
      ['Titolo', 'Data inizio', 'Ora inizio', 'Luogo', 'Prezzo', 'Tutto il giorno'],
      ['event', 'name', 'start_date', 'start_time', 'venue', 'cost', 'all_day'],
    ],
    [
      ['Nome luogo', 'Città', 'CAP', 'Paese'],
      ['venue', 'name', 'city', 'zip', 'country'],
    ],
    [
      ['Organizzatore', 'E-mail', 'Telefono'],
      ['organizer', 'name', 'email', 'phone'],
    ],
    [
      ['Subject', 'Start Date', 'Start Time', 'End Date', 'End Time', 'All Day Event', 'Location', 'Private'],
      ['event', 'name', 'start_date', 'start_time', 'end_date', 'end_time', 'all_day', 'venue', 'private'],
    ],
    [
      ['Oggetto', 'Data di inizio', 'Ora di inizio', 'Giornata intera', 'Organizzatore riunione', 'Categorie', 'Luogo', 'Privato'],
      ['event', 'name', 'start_date', 'start_time', 'all_day', 'organizers', 'categories', 'venue', 'private'],
    ],
    [
      [
        'Betreff',
        'Beginnt am',
        'Beginnt um',
        'Endet am',
        'Endet um',
        'Ganztägiges Ereignis',
        'Kategorien',
        'Ort',
        'Beschreibung',
        'Privat',
      ],
      ['event', 'name', 'start_date', 'start_time', 'end_date', 'end_time', 'all_day', 'categories', 'venue', 'description', 'private'],
    ],
    [
      ['Titel', 'Startdatum', 'Startzeit', 'Veranstaltungsort', 'Veranstalter', 'Preis'],
      ['event', 'name', 'start_date', 'start_time', 'venue', 'organizers', 'cost'],
    ],
    [
      ['Veranstaltungsort', 'Straße', 'PLZ', 'Ort', 'Telefon'],
      ['venue', 'name', 'address', 'zip', 'city', 'phone'],
    ],
    [
      ['Veranstalter', 'E-Mail', 'Telefon'],
      ['organizer', 'name', 'email', 'phone'],
    ],
    [['Colour', 'Size'], undefined],
  ])('are mapped to columns: %j as %j', (headers, expected) => expect(columns(...headers)).toEqual(expected));
});

describeDatabases('CSV import and export', (open, engine) => {
  let db: Database;
  let site: Site;
  let caller: Caller;
  beforeAll(async () => {
    db = await open();
    await loadSite(db, bareFixture());
    site = await siteOf(db);
  });
  beforeEach(async () => {
    await emptySite(db);
    caller = await callerOf(site);
  });
  afterAll(() => site.close());

  const file = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const imported = (paths: readonly string[], status = 'publish') => {
    const source = withOverrides(openCsv(paths, { caller }), { status });
    return importItems(site, caller, source.entries(), { source: source.name() });
  };
  const out = async (kind: PostKindName): Promise<string> => {
    const items = itemsOf(exportEntries(site, caller, { kinds: [kind], statuses: ['publish'] }), () => undefined);
    return textOfAll(writeCsv(kind, items));
  };
  const post = async (title: string) => (await db.from('posts').where('post_title', title).whereNot('post_type', 'revision'))[0]!;
  const metas = async (id: number) =>
    new Map((await db.from('postmeta').where('post_id', id)).map((row) => [row.meta_key, row.meta_value]));

  it('imports venues, organizers and events that refer to them, from files in any order', async () => {
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

  it('reads a typical Italian table', async () => {
    const table = [
      'Titolo;Data inizio;Ora inizio;Data fine;Ora fine;Prezzo;Descrizione',
      'Sagra del tartufo;19/04/2027;20:30;19/04/2027;23:00;€ 10,50;"Due righe\nqui"',
      'Mostra;lunedì 19 aprile 2027;9.30;mar 20 apr 2027;18.30;5 euro;',
      'Gita;19 aprile 2027;ore 21;;;gratis;',
    ];
    const source = withOverrides(openCsv([file('sagre.csv', table.join('\r\n'))], { caller, dateOrder: 'dmy' }), { status: 'publish' });
    await importItems(site, caller, source.entries(), { source: source.name() });
    const dates = async (title: string) => {
      const stored = await metas((await post(title)).ID);
      return ['_EventStartDate', '_EventEndDate', '_EventCost'].map((key) => stored.get(key));
    };
    expect(await dates('Sagra del tartufo')).toEqual(['2027-04-19 20:30:00', '2027-04-19 23:00:00', '€ 10,50']);
    expect(await dates('Mostra')).toEqual(['2027-04-19 09:30:00', '2027-04-20 18:30:00', '5 euro']);
    expect((await dates('Gita')).slice(0, 2)).toEqual(['2027-04-19 21:00:00', '2027-04-19 21:00:00']);
  });

  it('reads tables from other calendars and programs', async () => {
    const table = [
      'event_name,When,end,location_name,Time zone,all day',
      'Call,2027-03-04T20:00:00+01:00,2027-03-04T21:00:00.000+01:00,,,',
      'Zulu,2027-07-04T20:00:00Z,2027-07-04T22:00Z,,,',
      'Gala,2027-03-05 00:30:00Z,2027-03-05T04:30:00Z,Plaza,America/New_York,',
      'Day,3/5/2027 12:00 AM,3/6/2027 12:00 AM,,,TRUE',
      'Days,3/5/2027 12:00 AM,3/8/2027 12:00 AM,,,TRUE',
      'None,2027-02-30T20:00:00Z,,,,',
      'Zero,0000-00-00T00:00:00Z,,,,',
    ];
    const source = openCsv([file('others.csv', table.join('\r\n'))], { caller, dateOrder: 'mdy', skipBadRows: true });
    const { losses } = await importItems(site, caller, source.entries(), { source: source.name() });
    const dates = async (title: string) => {
      const stored = await metas((await post(title)).ID);
      return ['_EventStartDate', '_EventEndDate', '_EventTimezone'].map((key) => stored.get(key));
    };
    expect(await dates('Call')).toEqual(['2027-03-04 20:00:00', '2027-03-04 21:00:00', 'Europe/Rome']);
    expect(await dates('Zulu')).toEqual(['2027-07-04 22:00:00', '2027-07-05 00:00:00', 'Europe/Rome']);
    expect(await dates('Gala')).toEqual(['2027-03-04 19:30:00', '2027-03-04 23:30:00', 'America/New_York']);
    // Microsoft's calendars end all-day events at the following midnight.
    expect((await dates('Day')).slice(0, 2)).toEqual(['2027-03-05 00:00:00', '2027-03-05 23:59:59']);
    expect((await dates('Days')).slice(0, 2)).toEqual(['2027-03-05 00:00:00', '2027-03-07 23:59:59']);
    for (const line of [7, 8]) expect(JSON.stringify(losses)).toContain(`others.csv:${line}`);
    expect(JSON.stringify(losses)).toContain('0000-00-00T00:00:00Z');
  });

  it.each([
    [20, 1],
    [21, 0],
  ])('looks for the heading below up to 20 lines of titles: %d', async (count, found) => {
    const titles = Array.from({ length: count }, (_, at) => `Programma, parte ${at}`);
    const table = [...titles, 'Titolo;Data inizio;Ora inizio', 'Sotto i titoli;5/12/2031;10'];
    const source = openCsv([file('titoli.csv', table.join('\n'))], { caller, dateOrder: 'dmy', skipBadRows: true });
    const entries = async () => {
      let events = 0;
      for await (const entry of source.entries()) if (JSON.stringify(entry).includes('Sotto i titoli')) events += 1;
      return events;
    };
    expect(await entries().catch(() => 0)).toBe(found);
  });

  it('reads tables below a title, and ranges of dates and times in one cell', async () => {
    const table = [
      'Programma, inverno 2026;;;',
      '',
      'aggiornato il 25/11/2026;;;',
      'Titolo;Data inizio;Ora inizio;Luogo',
      'Fiera;5-7 dicembre 2031;10 - 19;',
      'Veglione;31 dicembre 2031;dalle 21 alle 2;',
      'Storta;7-5 dicembre 2031;;',
    ];
    const source = openCsv([file('programma.csv', table.join('\r\n'))], { caller, dateOrder: 'dmy', skipBadRows: true });
    const { losses } = await importItems(site, caller, source.entries(), { source: source.name() });
    const dates = async (title: string) => {
      const stored = await metas((await post(title)).ID);
      return ['_EventStartDate', '_EventEndDate'].map((key) => stored.get(key));
    };
    expect(await dates('Fiera')).toEqual(['2031-12-05 10:00:00', '2031-12-07 19:00:00']);
    expect(await dates('Veglione')).toEqual(['2031-12-31 21:00:00', '2032-01-01 02:00:00']);
    expect(JSON.stringify(losses)).toContain('programma.csv:7');
  });

  it('makes an event all-day if it has only dates and its all-day column does not deny it', async () => {
    const table = [
      'Titolo;Data inizio;Ora inizio;Data fine;Tutto il giorno',
      'Sagra di paese;dal 3 al 5 settembre 2031;;;',
      'Mercatino;4 settembre 2031;;;',
      'Palio;4 settembre 2031;;6 settembre 2031;',
      'Notte;4 settembre 2031;0:00;;',
      'Ritiro;4 settembre 2031;;6 settembre 2031;no',
    ];
    await importItems(site, caller, openCsv([file('giorni.csv', table.join('\n'))], { caller }).entries(), { source: 'csv' });
    const dates = async (title: string) => {
      const stored = await metas((await post(title)).ID);
      return ['_EventStartDate', '_EventEndDate', '_EventAllDay'].map((key) => stored.get(key));
    };
    expect(await dates('Sagra di paese')).toEqual(['2031-09-03 00:00:00', '2031-09-05 23:59:59', '1']);
    expect(await dates('Mercatino')).toEqual(['2031-09-04 00:00:00', '2031-09-04 23:59:59', '1']);
    expect(await dates('Palio')).toEqual(['2031-09-04 00:00:00', '2031-09-06 23:59:59', '1']);
    expect(await dates('Notte')).toEqual(['2031-09-04 00:00:00', '2031-09-04 00:00:00', undefined]);
    expect(await dates('Ritiro')).toEqual(['2031-09-04 00:00:00', '2031-09-06 00:00:00', undefined]);
  });

  it('reads Italian exports of Microsoft calendars and keeps private events private', async () => {
    const table = [
      'Oggetto;Data di inizio;Ora di inizio;Data di fine;Ora di fine;Giornata intera;Categorie;Descrizione;Privato;Sito',
      'Cena;24/12/2026;20:30:00;24/12/2026;22:00:00;Falso;Cibo;;Vero;',
      'Festa "grande" di piazza;24/12/2026;;24/12/2026;;Vero;Cibo;;Falso;www.example.it/festa',
      ';;;;;;;;;',
    ];
    const source = withOverrides(openCsv([file('calendario.csv', table.join('\r\n'))], { caller, dateOrder: 'dmy' }), {
      status: 'publish',
    });
    const { losses } = await importItems(site, caller, source.entries(), { source: source.name() });
    const stored = await Promise.all(['Cena', 'Festa "grande" di piazza'].map(post));
    const websites = await Promise.all(stored.map(async ({ ID }) => (await metas(ID)).get('_EventURL')));
    expect([losses, stored.map(({ post_status }) => post_status), websites]).toEqual([
      [],
      ['private', 'publish'],
      [undefined, 'https://www.example.it/festa'],
    ]);
  });

  it('updates an event of the same name and start, and links a venue that was missing the first time', async () => {
    const row = (cost: string) =>
      file('events.csv', `Event Name,Event Start Date,Event Venue Name,Event Cost\nConcert,2031-05-01,Teatro,${cost}\n`);
    const first = await imported([row('10')]);
    expect(first.losses.map(({ reason, examples }) => [reason, examples[0]?.detail])).toEqual([['link-missing', 'Teatro']]);
    await imported([file('venues.csv', 'Venue Name\nTeatro\n')]);
    expect(await imported([row('10')])).toMatchObject({ created: {}, updated: { event: 1 }, losses: [] });
    expect(await imported([row('12')])).toMatchObject({ created: {}, updated: { event: 1 } });
    expect(await db.from('posts').where('post_type', 'tribe_events')).toHaveLength(1);
    const of = await metas((await post('Concert')).ID);
    expect([of.get('_EventCost'), of.get('_EventVenueID')]).toEqual(['12', String((await post('Teatro')).ID)]);
  });

  it('recognizes a record by its external ID, even if its name and date change', async () => {
    const rows = (...lines: string[]) => file('crm.csv', ['Event Name,Event Start Date,External ID', ...lines, ''].join('\n'));
    const stored = async () =>
      (await db.from('posts').where('post_type', 'tribe_events').orderBy('ID').select('post_title')).map((row) => row.post_title);
    // The event was imported before it had an external ID.
    await imported([file('crm.csv', 'Event Name,Event Start Date\nConcert,2031-05-01\n')]);
    expect(await imported([rows('Concert,2031-05-01,crm 1')])).toMatchObject({ created: {}, updated: { event: 1 } });
    for (const name of ['Matinée', 'Concert'])
      expect(await imported([rows(`${name},2031-05-02,crm 1`)])).toMatchObject({ created: {}, updated: { event: 1 }, losses: [] });
    expect(await stored()).toEqual(['Concert']);
    // Two IDs with the same name are two records. A repeated ID is reported.
    const report = await imported([
      rows('Concert,2031-05-02,crm 2', 'Concert,2031-05-02,crm 1', 'Late,2031-05-03,crm 1', 'Concert,2031-05-02,crm 2'),
    ]);
    expect(report).toMatchObject({ created: { event: 2 }, unchanged: { event: 1 } });
    expect(report.losses.map(({ reason, examples }) => [reason, examples[0]?.place])).toEqual([
      ['row-twice', 'crm.csv:5'],
      ['external-id-taken', 'crm.csv:4'],
    ]);
    expect(await stored()).toEqual(['Concert', 'Concert', 'Late']);
  });

  const HEAD = 'External ID,Event Name,Event Start Date,Event Start Time,Event End Date,Event End Time,Event Description';
  const NEW_YORK = {
    _EventTimezone: 'America/New_York',
    _EventTimezoneAbbr: 'EDT',
    _EventStartDateUTC: '2031-05-01 22:00:00',
    _EventEndDateUTC: '2031-05-02 00:00:00',
    _EventShowMap: '1',
    _EventShowMapLink: '1',
    _EventOrigin: 'ical',
  };
  /** Imports an event from a table without zone and map flags, and sets those as an editor would. */
  const editedInNewYork = async (row: string): Promise<number> => {
    await imported([file('crm.csv', `${HEAD}\n${row}\n`)]);
    const { ID: id } = await post('Concert');
    for (const [meta_key, meta_value] of Object.entries(NEW_YORK))
      await db.from('postmeta').where({ post_id: id, meta_key }).update({ meta_value });
    return id;
  };

  it('keeps the map flags and the zone of an event if the table does not state them', async () => {
    const id = await editedInNewYork('1,Concert,2031-05-01,18:00,2031-05-01,20:00,First');
    const again = (row: string) => imported([file('crm.csv', `${HEAD}\n${row}\n`)]);
    expect(await again('1,Concert,2031-05-01,18:00,2031-05-01,20:00,Second')).toMatchObject({ updated: { event: 1 }, losses: [] });
    expect(Object.fromEntries(await metas(id))).toMatchObject({ ...NEW_YORK, _EventStartDate: '2031-05-01 18:00:00' });
    expect((await post('Concert')).post_content).toBe('Second');
    // A new time is one of the event's zone.
    expect(await again('1,Concert,2031-12-01,19:00,2031-12-01,22:00,Second')).toMatchObject({ updated: { event: 1 }, losses: [] });
    expect(Object.fromEntries(await metas(id))).toMatchObject({
      ...NEW_YORK,
      _EventTimezoneAbbr: 'EST',
      _EventStartDate: '2031-12-01 19:00:00',
      _EventStartDateUTC: '2031-12-02 00:00:00',
      _EventEndDateUTC: '2031-12-02 03:00:00',
      _EventDuration: '10800',
    });
    expect(await db.from('tec_occurrences').where('post_id', id).first()).toMatchObject({
      start_date_utc: '2031-12-02 00:00:00',
      duration: 10800,
    });
    // An all-day event stays all-day.
    await again('1,Concert,2031-05-01,,2031-05-02,,Second');
    expect(Object.fromEntries(await metas(id))).toMatchObject({
      _EventAllDay: '1',
      _EventStartDate: '2031-05-01 00:00:00',
      _EventStartDateUTC: '2031-05-01 04:00:00',
      _EventEndDateUTC: '2031-05-03 03:59:59',
    });
    expect((await metas(id)).has('_EventDuration')).toBe(false);
    await imported([
      file('crm.csv', `${HEAD},Event Time Zone,Event Show Map\n1,Concert,2031-05-01,18:00,2031-05-01,20:00,Second,Asia/Tokyo,no\n`),
    ]);
    expect(Object.fromEntries(await metas(id))).toMatchObject({
      _EventTimezone: 'Asia/Tokyo',
      _EventStartDateUTC: '2031-05-01 09:00:00',
      _EventShowMap: '',
    });
  });

  it('does not move an event whose zone editors have changed if the table states its time with an offset', async () => {
    const row = '1,Concert,2031-05-01T22:00:00Z,,2031-05-02T00:00:00Z,';
    const id = await editedInNewYork(`${row},First`);
    await db.from('postmeta').where({ post_id: id, meta_key: '_EventStartDate' }).update({ meta_value: '2031-05-01 18:00:00' });
    await db.from('postmeta').where({ post_id: id, meta_key: '_EventEndDate' }).update({ meta_value: '2031-05-01 20:00:00' });
    await imported([file('crm.csv', `${HEAD}\n${row},Second\n`)]);
    expect((await post('Concert')).post_content).toBe('Second');
    expect(Object.fromEntries(await metas(id))).toMatchObject({
      ...NEW_YORK,
      _EventStartDate: '2031-05-01 18:00:00',
      _EventEndDate: '2031-05-01 20:00:00',
      _EventDuration: '7200',
    });
  });

  it('keeps what editors have changed in an event with an offset that an earlier version imported', async () => {
    const path = file('crm.csv', `${HEAD}\n1,Concert,2031-05-01T22:00:00Z,,2031-05-02T00:00:00Z,,First\n`);
    await imported([path]);
    const source = withOverrides(openCsv([path], { caller }), { status: 'publish' });
    const [item] = (await allOf(source.entries())).filter(isItem).filter(isPostItem);
    expect(item?.statesMoments).toBe(true);
    await storeFormerDigests(site, [item!], () => ({ statesMoments: undefined }));
    await db.from('posts').where('post_title', 'Concert').update({ post_content: 'Edited here' });
    expect(await imported([path])).toMatchObject({ unchanged: { event: 1 }, updated: {} });
    expect((await post('Concert')).post_content).toBe('Edited here');
  });

  it('moves an event whose zone editors have changed to a new moment of the table, as its zone shows it', async () => {
    const id = await editedInNewYork('1,Concert,2031-05-01T22:00:00Z,,2031-05-02T00:00:00Z,,First');
    const shown = async () => {
      const stored = await metas(id);
      return ['_EventStartDate', '_EventStartDateUTC', '_EventEndDate', '_EventEndDateUTC', '_EventTimezone'].map((key) => stored.get(key));
    };
    for (const row of ['2031-05-01T23:00:00Z,,2031-05-02T01:00:00Z', '2031-05-02 01:00:00+02:00,,2031-05-02T01:00Z']) {
      await imported([file('crm.csv', `${HEAD}\n1,Concert,${row},,Second\n`)]);
      expect(await shown()).toEqual([
        ...['2031-05-01 19:00:00', '2031-05-01 23:00:00', '2031-05-01 21:00:00', '2031-05-02 01:00:00'],
        'America/New_York',
      ]);
    }
    // A time in its own column is a local time, and so is one without an offset.
    await imported([file('crm.csv', `${HEAD}\n1,Concert,2031-05-01T22:00:00Z,18:30,2031-05-02,20:00,Second\n`)]);
    expect((await shown()).slice(0, 2)).toEqual(['2031-05-02 18:30:00', '2031-05-02 22:30:00']);
  });

  it('moves an event whose zone editors have changed to a new local time that is the same moment in the zone of the site', async () => {
    const id = await editedInNewYork('1,Concert,2031-05-01,14:00,2031-05-01,16:00,First');
    await db.from('postmeta').where({ post_id: id, meta_key: '_EventStartDateUTC' }).update({ meta_value: '2031-05-01 18:00:00' });
    await db.from('postmeta').where({ post_id: id, meta_key: '_EventEndDateUTC' }).update({ meta_value: '2031-05-01 20:00:00' });
    await imported([file('crm.csv', `${HEAD}\n1,Concert,2031-05-01,20:00,2031-05-01,22:00,First\n`)]);
    expect(Object.fromEntries(await metas(id))).toMatchObject({
      _EventStartDate: '2031-05-01 20:00:00',
      _EventStartDateUTC: '2031-05-02 00:00:00',
      _EventEndDate: '2031-05-01 22:00:00',
      _EventEndDateUTC: '2031-05-02 02:00:00',
    });
  });

  it('keeps the status that editors have given a record that came as a draft', async () => {
    const table = (text: string) => file('crm.csv', `${HEAD}\n1,Concert,2031-05-01,18:00,2031-05-01,20:00,${text}\n`);
    await imported([table('First')], 'draft');
    expect((await post('Concert')).post_status).toBe('draft');
    await db.from('posts').where('post_title', 'Concert').update({ post_status: 'publish' });
    await imported([table('Second')], 'draft');
    expect(await post('Concert')).toMatchObject({ post_status: 'publish', post_content: 'Second' });
  });

  it('writes that maps are shown if records do not say so, as their answers do', async () => {
    const metasOfEvent = metaRows([['_EventStartDate', '2031-05-01 20:00:00'], ['_EventEndDate', '2031-05-01 21:00:00']]); // biome-ignore format: short
    const one = (kind: PostItem['kind'], itemMetas: PostItem['metas']): PostItem => ({
      kind, sourceId: kind, columns: { post_title: kind, post_status: 'publish' }, metas: itemMetas, links: [], complete: true,
    }); // biome-ignore format: short
    await importItems(site, caller, streamOf([one('venue', []), one('event', metasOfEvent)]), { source: 'maps' });
    for (const [kind, name] of [['event', 'Event'], ['venue', 'Venue']] as const) {
      const [row] = parse(await out(kind), { bom: true, columns: true }) as Record<string, string>[];
      expect([row?.[`${name} Show Map`], row?.[`${name} Show Map Link`]]).toEqual(['yes', 'yes']);
    } // biome-ignore format: short
  });

  it('updates an existing record of the same name', async () => {
    await imported([file('a.csv', 'Event Name,Event Start Date\nConcert,2031-05-01\n')]);
    for (const table of ['fasti_imports', 'fasti_import_ids'] as const) await db.from(table).del();
    expect(
      await imported([file('b.csv', 'Event Name,Event Start Date,Event Excerpt\nCONCERT,2031-05-01,New\nConcert,2031-05-02,Another\n')]),
    ).toMatchObject({ created: { event: 1 }, updated: { event: 1 } });
  });

  it('creates a record of its own beside a draft of somebody else with the same name or external ID', async () => {
    const forget = async () => {
      for (const table of ['fasti_imports', 'fasti_import_ids'] as const) await db.from(table).del();
    };
    const venues = file('venues.csv', 'Venue Name\nBarn\nMill\n');
    const events = (name: string) =>
      file(
        'events.csv',
        `Event Name,Event Start Date,Event Venue Name,External ID\nConcert,2031-05-01,Barn,crm 1\n${name},2031-05-02,Mill,\n`,
      );
    await imported([venues]);
    await imported([events('Dance')]);
    await forget();
    await db.from('posts').update({ post_status: 'draft', post_author: 4 });
    const missing = await imported([events('Dance')]);
    expect(missing).toMatchObject({ created: { event: 2 }, updated: {} });
    expect(missing.losses.map(({ reason, count }) => [reason, count]).sort()).toEqual([
      ['external-id-taken', 1],
      ['link-missing', 2],
    ]);
    await forget();
    expect(await imported([venues])).toMatchObject({ created: { venue: 2 }, updated: {} });
    expect(await imported([events('Play')])).toMatchObject({ created: { event: 1 }, updated: { event: 1 } });
    const drafts = await db.from('posts').where('post_author', 4).orderBy('ID');
    expect(drafts.map((row) => [row.post_status, row.post_title])).toEqual(
      ['Barn', 'Mill', 'Concert', 'Dance'].map((title) => ['draft', title]),
    );
    const linked = await metas((await db.from('posts').where({ post_title: 'Play' }).first())!.ID);
    expect(linked.get('_EventVenueID')).toBe(
      String((await db.from('posts').where({ post_title: 'Mill' }).whereNot({ post_author: 4 }).first())!.ID),
    );
    await forget();
    expect((await imported([events('Play')])).created).toEqual({});
  });

  it('finds a record of somebody else in the trash that was published, by its external ID', async () => {
    const events = file('events.csv', 'Event Name,Event Start Date,External ID\nConcert,2031-05-01,crm 1\n');
    await imported([events]);
    for (const table of ['fasti_imports', 'fasti_import_ids'] as const) await db.from(table).del();
    const { ID } = await post('Concert');
    await db.from('posts').where({ ID }).update({ post_status: 'trash', post_author: 2 });
    await db.from('postmeta').insert({ post_id: ID, meta_key: '_wp_trash_meta_status', meta_value: 'publish' });
    expect(await imported([events])).toMatchObject({ created: {}, losses: [] });
    expect(await db.from('posts').where('post_title', 'Concert').select('ID', 'post_status')).toEqual([{ ID, post_status: 'trash' }]);
  });

  it('links the venues of a table that somebody else has imported as drafts', async () => {
    const venues = file('venues.csv', 'Venue Name,Venue City\nBarn,Rome\nMill,Rome\n');
    const events = (name: string) => file('events.csv', `Event Name,Event Start Date,Event Venue Name\n${name},2031-05-01,Barn\n`);
    await imported([venues, events('Dance')], 'draft');
    await db.from('posts').update({ post_author: 2 });
    expect(await imported([venues, events('Play')], 'draft')).toMatchObject({ created: { event: 1 }, losses: [] });
    expect((await metas((await post('Play')).ID)).get('_EventVenueID')).toBe(String((await post('Barn')).ID));
    // A row that is new in the table, such as one with another spelling, may be a record that it has brought.
    const renamed = file('venues.csv', 'Venue Name,Venue City\nBARN,Rome\nMill,Rome\n');
    expect((await imported([renamed, events('Play')], 'draft')).created).toEqual({});
  });

  it('links any number of venues by name with the same number of queries', async () => {
    const venues = Array.from({ length: 40 }, (_, place) => `Barn ${place}`);
    await imported([file('venues.csv', `Venue Name\n${venues.join('\n')}\n`)]);
    await db.from('posts').whereIn('post_title', venues.slice(0, 20)).update({ post_status: 'draft' });
    const queriesFor = async (count: number) => {
      const rows = venues.map((venue, place) => `Concert ${place} of ${count},2031-05-01,${place < count ? venue : ''}`);
      const path = file(`${count}.csv`, `Event Name,Event Start Date,Event Venue Name\n${rows.join('\n')}\n`);
      return (await countQueries(site, () => imported([path]))).queries;
    };
    await queriesFor(1);
    expect(await queriesFor(40)).toBe(await queriesFor(2));
  });

  it('reports values that it cannot accept, row by row', async () => {
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
        'odd.csv:3 end_date: 2031-01-01 23:59:59',
        'odd.csv:4 timezone: Europe/Nowhere',
        'odd.csv:4 website: javascript:alert(1)',
      ],
      'row-lost': ['odd.csv:3'],
      'row-twice': ['odd.csv:6'],
    });
    expect(report.lost).toEqual({ event: 2 });
  });

  it('pads short rows and reports cells beyond the heading', async () => {
    const content =
      'Event Name,Event Start Date,Event Cost,Event Category\nShort,2031-01-01\n,,,\nEven,2031-01-02,5,Music,,\nLong,2031-01-03,7,Jazz,x,y\n';
    const report = await imported([file('ragged.csv', content)]);
    expect(report.created).toEqual({ event: 3, category: 2 });
    expect(report.losses.map(({ reason, examples }) => [reason, examples.map(({ place, detail }) => [place, detail])])).toEqual([
      ['row-long', [['ragged.csv:5', 'x, y']]],
    ]);
  });

  it('skips bad rows with skipBadRows, and writes them unchanged to a file next to the source', async () => {
    const rows = [
      'Titel;Event Start Date;Event Cost',
      '"Good; one";2031-01-01;5',
      '"Bad; ""one""";tomorrow;6',
      ';2031-01-01;',
      'Late;2031-01-05;8',
    ];
    const path = file(`mixed-${engine}.csv`, rows.join('\n'));
    const map = new Map([['titel', 'Event Name']]);
    await expect(allOf(openCsv([path], { caller, map }).entries())).rejects.toMatchObject({ fault: 'csv-date', values: { line: 3 } });
    const source = openCsv([path], { caller, map, skipBadRows: true });
    const rehearsal = await importItems(site, caller, source.entries(), { source: source.name(), dryRun: true });
    const report = await importItems(site, caller, source.entries(), { source: source.name() });
    expect([report.created, report.lost]).toEqual([{ event: 2 }, { event: 2 }]);
    expect({ ...rehearsal, dryRun: false }).toEqual(report);
    expect(report.losses.map(({ reason, examples }) => [reason, examples[0]?.place, examples[0]?.detail])).toEqual([
      ['row-unreadable', `mixed-${engine}.csv:3`, 'start_date: tomorrow'],
      ['no-name', `mixed-${engine}.csv:4`, undefined],
    ]);
    const beside = join(folder, `mixed-${engine}.rejected.csv`);
    expect(await writeRejected(source)).toEqual([{ path: beside, rows: 2 }]);
    expect(readFileSync(beside, 'utf8')).toBe(`\ufeff${[rows[0], rows[2], rows[3], ''].join('\r\n')}`);
    // An existing file may have been edited, so another one is created.
    expect(await writeRejected(source)).toEqual([{ path: join(folder, `mixed-${engine}.rejected-2.csv`), rows: 2 }]);
    expect(await writeRejected(openCsv([file('sound.csv', 'Event Name,Event Start Date\nA,2031-01-01\n')], { caller }))).toEqual([]);
  });

  it('leaves no file with rejected rows behind if one of them cannot be written', async () => {
    const [one, other] = ['one', 'other'].map((name) => file(`${name}-${engine}.csv`, 'Event Name,Event Start Date\nA,tomorrow\n'));
    const source = openCsv([one!, other!], { caller, skipBadRows: true });
    await allOf(source.entries());
    const tooLong = join(folder, `${'a'.repeat(250)}.csv`);
    const written = writeRejected(source, (path) => (path === other ? tooLong : path));
    await expect(written).rejects.toMatchObject({ fault: 'unwritable', values: { what: 'ENAMETOOLONG' } });
    expect(readdirSync(folder).filter((name) => name.startsWith(`one-${engine}.rejected`))).toEqual([]);
  });

  it.each<[string, readonly string[], readonly (readonly [string, string])[], unknown]>([
    ['by their heading and by the name of a field', ['Titolo', 'Quando', 'Note'], [['titolo', 'name'], ['Quando', 'Event Start Date']], ['event', 'name', 'start_date', undefined]],
    ['to nothing, so that they are left out', ['Event Name', 'Event Cost', 'Event Start Date'], [['Event Cost', '']], ['event', 'name', undefined, 'start_date']],
    ['before their headings are recognized', ['Event Name', 'Titolo', 'Event Start Date'], [['Titolo', 'name']], ['event', undefined, 'name', 'start_date']],
    ['to fields that only one layout has', ['Nome', 'Posta'], [['Nome', 'name'], ['Posta', 'email']], ['organizer', 'name', 'email']],
  ])('maps columns %s', (_what, headers, map, expected) => {
    const mapped = mapHeaders(headers, { map: new Map(map) });
    expect([mapped?.kind, ...(mapped?.columns.map(({ column }) => column) ?? [])]).toEqual(expected);
  }); // biome-ignore format: a table

  it('refuses a map with unknown columns or fields', async () => {
    const path = file('mapped.csv', 'Event Name,Event Start Date\nA,2031-01-01\n');
    const read = (map: readonly (readonly [string, string])[]) => allOf(openCsv([path], { caller, map: new Map(map) }).entries());
    await expect(read([['Titolo', 'name']])).rejects.toMatchObject({ fault: 'csv-map-column', values: { column: 'Titolo' } });
    await expect(read([['Event Start Date', 'whenever']])).rejects.toMatchObject({ fault: 'csv-map-field', values: { field: 'whenever' } });
    // This also applies to the name column: the error is about the field, not about a missing name.
    await expect(read([['Event Name', 'caption']])).rejects.toMatchObject({
      fault: 'csv-map-field',
      values: { field: 'caption', kind: 'event' },
    });
  });

  const LETTERS = 'Event Name;Event Start Date\r\nCaffè – così;2031-01-01\r\n';
  const wide = Buffer.from(LETTERS, 'utf16le');
  it.each<[string, Buffer]>([
    ['UTF-8', Buffer.from(LETTERS)],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${LETTERS}`)],
    ['UTF-8 that says its separator', Buffer.from(`sep=;\r\n${LETTERS}`)],
    ['UTF-16', wide],
    ['UTF-16 with its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), wide])],
    ['UTF-16 the other way round', Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(wide).swap16()])],
    ['tabs', Buffer.from(LETTERS.replaceAll(';', '\t'))],
    ['vertical bars', Buffer.from(LETTERS.replaceAll(';', '|'))],
    [
      'a comma within a heading',
      Buffer.from(LETTERS.replace('Event Name', '"Event, Name, all"').replace('"Event, Name, all"', '"Event Name,,,"')),
    ],
    ['Windows-1252', Buffer.from(LETTERS.replaceAll('–', '\x96'), 'latin1')],
    [
      'Windows-1252 far into the file',
      Buffer.from(`${LETTERS.replace('\r\n', `;${'x'.repeat(70_000)}\r\n`)}`.replaceAll('–', '\x96'), 'latin1'),
    ],
  ])('reads %s', async (name, bytes) => {
    const path = join(folder, 'letters.csv');
    writeFileSync(path, bytes);
    const entries = await allOf(openCsv([path], { caller }).entries());
    expect(
      entries
        .filter(isItem)
        .filter(isPostItem)
        .map(({ columns }) => columns.post_title),
    ).toEqual(['Caffè – così']);
    const told = entries.flatMap((entry) => (entry.kind === 'loss' ? [entry.loss.reason] : []));
    expect(told).toEqual(name.startsWith('Windows') ? ['encoding-assumed'] : []);
  });
  it.each<[string, Buffer, string]>([
    [
      'letters of two encodings',
      Buffer.concat([Buffer.from('Event Name,Event Start Date\nCaffè,2031-01-01\nCaff'), Buffer.from([0xe8, 0x0a])]),
      'not-utf8',
    ],
    [
      'a letter cut off',
      Buffer.concat([Buffer.from('Event Name,Event Start Date\nCaffè,2031-01-01\nCaff'), Buffer.from([0xc3])]),
      'not-utf8',
    ],
    ['a workbook', Buffer.from('PK\x03\x04 and more'), 'csv-workbook'],
    ['nothing', Buffer.alloc(0), 'empty'],
  ])('refuses %s', async (_what, bytes, fault) => {
    const path = join(folder, 'damaged.csv');
    writeFileSync(path, bytes);
    await expect(allOf(openCsv([path], { caller }).entries())).rejects.toMatchObject({ fault });
  });
  it('decodes characters that are split between chunks of a file', async () => {
    for (const shift of [0, 1, 2, 3]) {
      const path = file(
        'pieces.csv',
        `Event Name,Event Start Date,Event Description\nA,2031-01-01,${'x'.repeat(shift)}${'€'.repeat(60_000)}\n`,
      );
      const [item] = (await allOf(openCsv([path], { caller }).entries())).filter(isItem).filter(isPostItem);
      expect(item?.columns.post_content).toBe(`${'x'.repeat(shift)}${'€'.repeat(60_000)}`);
    }
  });

  it('reads times in date cells, ends after midnight, several IDs, and images by ID', async () => {
    const content = [
      'Event Name,Event Start Date,Event Start Time,Event End Date,Event End Time,Event Organizer Name,Event Featured Image',
      'Night,2031-01-01 22:00,,,01:30,1 2,9999',
      'Serial,47849.75,,47850,0.8125,,attachment.png',
    ].join('\n');
    const entries = await allOf(openCsv([file('times.csv', content)], { caller }).entries());
    const [night, serial] = entries.filter(isItem).filter(isPostItem);
    const of = (item: PostItem | undefined, key: string) => item?.metas.find(([name]) => name === key)?.[1];
    expect([of(night, '_EventStartDate'), of(night, '_EventEndDate')]).toEqual(['2031-01-01 22:00:00', '2031-01-02 01:30:00']);
    expect([of(serial, '_EventStartDate'), of(serial, '_EventEndDate')]).toEqual(['2031-01-01 18:00:00', '2031-01-02 19:30:00']);
    expect(night?.links.map((link) => 'name' in link && link.name)).toEqual(['9999', '1', '2']);
    expect(entries.flatMap((entry) => (entry.kind === 'loss' ? [entry.loss.detail] : []))).toEqual(['image: attachment.png']);
    const report = await imported([file('times.csv', content)]);
    expect(report.losses.flatMap(({ examples }) => examples.map(({ detail }) => detail)).sort()).toEqual([
      '1', '2', '9999', 'image: attachment.png',
    ]); // biome-ignore format: a list
  });

  it('reads 24:00 as the midnight at which the day ends', async () => {
    const rows = [
      'Event Name,Event Start Date,Event Start Time,Event End Date,Event End Time,All Day Event',
      'Evening,2031-01-31,20:00,2031-01-31,24:00,',
      'Evening without a day,2031-01-31,20-24,,,',
      'In the cell of the date,2031-01-31 24:00,,2031-02-01 02:00,,',
      'Whole day,2031-01-31,00:00,2031-01-31,24:00,yes',
    ];
    const entries = await allOf(openCsv([file('midnight.csv', rows.join('\n'))], { caller }).entries());
    const events = entries.filter(isItem).filter(isPostItem).map((item) => new Map(item.metas)); // biome-ignore format: a chain
    expect(events.map((metas) => [metas.get('_EventStartDate'), metas.get('_EventEndDate')])).toEqual([
      ['2031-01-31 20:00:00', '2031-02-01 00:00:00'],
      ['2031-01-31 20:00:00', '2031-02-01 00:00:00'],
      ['2031-02-01 00:00:00', '2031-02-01 02:00:00'],
      ['2031-01-31 00:00:00', '2031-01-31 23:59:59'],
    ]);
  });

  it('keeps the length of all-day events on a site whose day begins after midnight', async () => {
    const beginAt = async (time: string) => {
      await setSiteOptions(site, { day_begins: time });
      caller = await callerOf(site);
    };
    await beginAt('04:00');
    const head = 'Event Name,Event Start Date,Event End Date,All Day Event';
    await imported([file('days.csv', `${head}\nOne day,2031-05-01,2031-05-01,yes\nTwo days,2031-05-01,2031-05-02,yes\n`)]);
    const ends = async () =>
      Promise.all(['One day', 'Two days'].map(async (title) => (await metas((await post(title)).ID)).get('_EventEndDate')));
    expect(await ends()).toEqual(['2031-05-02 03:59:59', '2031-05-03 03:59:59']);
    const written = file('days-again.csv', await out('event'));
    expect(readFileSync(written, 'utf8')).toContain('2031-05-01,04:00:00,2031-05-02,23:59:59');
    await loadSite(db, bareFixture());
    await beginAt('04:00');
    await imported([written]);
    expect(await ends()).toEqual(['2031-05-02 03:59:59', '2031-05-03 03:59:59']);
    await beginAt('00:00');
  });

  it('writes no cell that a spreadsheet would compute, and reads back its own apostrophes', async () => {
    const formulas = ['=1+1', '+39 06', '-5', '@SUM(A1)', '\t=1', "'=quoted", '＝1', 'plain'];
    const items = formulas.map((title, place): PostItem => ({
      kind: 'organizer', sourceId: String(place), id: place + 1, columns: { post_title: 'x', post_content: title }, metas: metaRows([['_OrganizerPhone', title]]), links: [], complete: true,
    })); // biome-ignore format: short
    const written = await textOfAll(writeCsv('organizer', streamOf<Item>(items)));
    const cells = (parse(written, { bom: true, columns: true }) as Record<string, string>[]).map((row) => row['Organizer Description']);
    expect(cells.filter((cell) => /^[=+\-@\t\r＝]/.test(cell ?? ''))).toEqual([]);
    const renamed = written.replace(/\r\nx,/g, () => `\r\nx${Math.random()},`);
    const back = placeless((await allOf(openCsv([file('back.csv', renamed)], { caller }).entries())).filter(isItem)).filter(isPostItem);
    expect(back.map(({ columns }) => columns.post_content)).toEqual(formulas);
  });

  it('writes and rejects cells with any line break in quotes, so that every reader finds the same rows', async () => {
    const texts = ['one\ntwo', 'one\rtwo', 'one\r\ntwo', '\n', 'one', ''];
    const outsideQuotes = (table: string) => table.replace(/"(?:[^"]|"")*"/g, 'quoted').split('\r\n');
    const items = texts.map((content, place): PostItem => ({
      kind: 'organizer', sourceId: String(place), id: place + 1, columns: { post_title: 'x', post_content: content }, metas: [], links: [], complete: true,
    })); // biome-ignore format: short
    const lines = outsideQuotes(await textOfAll(writeCsv('organizer', streamOf<Item>(items))));
    expect(lines).toHaveLength(1 + texts.length + 1);
    expect(lines.filter((line) => /[\r\n]/.test(line))).toEqual([]);
    const path = file(`breaks-${engine}.csv`, ['Event Name,Event Start Date', '"Bad\none",never', '"Bad\rtwo",never', ''].join('\r\n'));
    const source = openCsv([path], { caller, skipBadRows: true });
    await importItems(site, caller, source.entries(), { source: source.name() });
    const [rejected] = await writeRejected(source);
    expect(outsideQuotes(readFileSync(rejected!.path, 'utf8').slice(1)).slice(1)).toEqual(['quoted,never', 'quoted,never', '']);
  });

  it('preserves names with commas, semicolons or only digits when importing to a site with other IDs', async () => {
    const named = (kind: PostItem['kind'], title: string): PostItem => ({
      kind, sourceId: title, columns: { post_title: title }, metas: [], links: [], complete: true,
    }); // biome-ignore format: short
    const organizers = ['Rossi, Bianchi & C.', '5; 6', '7 8', '"Ladies, only"', '42'];
    const categories = ['Food, Wine', 'Talks; Walks', 'Music'];
    const event: PostItem = {
      ...named('event', 'Party'),
      metas: metaRows([['_EventStartDate', '2031-05-01 20:00:00'], ['_EventEndDate', '2031-05-01 21:00:00']]),
      links: [
        { key: '_EventVenueID', kind: 'venue', sourceId: '123' },
        ...organizers.map((title) => ({ key: '_EventOrganizerID', kind: 'organizer', sourceId: title }) as const),
      ],
      terms: categories.map((name) => ({ kind: 'category', sourceId: name, name })),
    }; // biome-ignore format: short
    const items = [named('venue', '123'), ...organizers.map((title) => named('organizer', title)), event];
    await importItems(site, caller, streamOf(items), { source: 'names' });
    const files = [];
    for (const kind of ['event', 'organizer', 'venue'] as const) files.push(file(`names-${kind}.csv`, await out(kind)));
    await loadSite(db, bareFixture());
    for (const table of ['fasti_imports', 'fasti_import_ids'] as const) await db.from(table).del();
    // The old IDs belong to other records on this site.
    const others = Array.from({ length: 12 }, (_, place) => named('organizer', `Other ${place}`));
    await importItems(site, caller, streamOf(others), { source: 'others' });
    expect(await imported(files)).toMatchObject({ created: { category: 3, organizer: 5, venue: 1, event: 1 }, losses: [] });
    const links = await db
      .from('postmeta')
      .where({ post_id: (await post('Party')).ID, meta_key: '_EventOrganizerID' })
      .orderBy('meta_id');
    const titles = await Promise.all(
      links.map(async ({ meta_value: id }) => (await db.from('posts').where('ID', Number(id)))[0]!.post_title),
    );
    expect(titles).toEqual(organizers);
    expect((await metas((await post('Party')).ID)).get('_EventVenueID')).toBe(String((await post('123')).ID));
    const terms = await db.from('terms').whereIn('name', categories);
    expect(terms.map(({ name }) => name).sort()).toEqual([...categories].sort());
  });

  it('exports the same values after an import of random venues', async () => {
    const name = text().map((rest) => `n${rest}`.replace(/[,\s<>&]+/g, ' ').trim());
    const row = fc.record({ name, description: text(), city: name, zip: fc.stringMatching(/^[0-9]{0,5}$/), phone: name });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(row, { minLength: 1, maxLength: 5, selector: ({ name: title }) => title.normalize('NFKD').toLowerCase() }),
        async (rows) => {
          await loadSite(db, bareFixture());
          for (const table of ['fasti_imports', 'fasti_import_ids'] as const) await db.from(table).del();
          const items = rows.map(({ name: title, description, city, zip, phone }, place): PostItem => ({
          kind: 'venue', sourceId: String(place), columns: { post_title: title, post_content: description, post_status: 'publish' }, metas: metaRows([['_VenueCity', city], ['_VenueZip', zip], ['_VenuePhone', phone]]), links: [], complete: true,
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

/**
 * Returns the cells as people read them. Whitespace is trimmed and collapsed, as the API does with some texts.
 */
function shown(csv: string): unknown[] {
  return (parse(csv, { bom: true, columns: true }) as Record<string, string>[]).map((row) =>
    Object.fromEntries(Object.entries(row).map(([header, cell]) => [header, cell.replace(/\s+/g, ' ').trim()])),
  );
}
