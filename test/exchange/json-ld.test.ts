import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Entry, isItem, type PostItem } from '../../src/exchange/items/items.ts';
import { datesOf } from '../../src/exchange/json-ld/dates.ts';
import { eventEntries, findEvents } from '../../src/exchange/json-ld/read.ts';
import { openJsonLdSite } from '../../src/exchange/json-ld/source.ts';
import { fetchOptionsFor } from '../../src/exchange/live/named-address.ts';
import type { Caller } from '../../src/records/caller.ts';
import { parseZone } from '../../src/wordpress/zones.ts';
import { commandIn } from '../cli/command.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { loadSite, setOptions } from '../support/site.ts';
import { bareFixture, bareSite, callerOf } from './sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'fasti-jsonld-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = (value: unknown) =>
  `<script type="application/ld+json">${typeof value === 'string' ? value : JSON.stringify(value).replaceAll('</', '<\\/')}</script>`;
const page = (...values: unknown[]) =>
  `<!doctype html><html><head><title>x</title>${values.map(script).join('\n')}</head><body>y</body></html>`;
const concert = { '@context': 'https://schema.org', '@type': 'MusicEvent', name: 'Concert', startDate: '2027-05-01T20:00' };

describe('datesOf', () => {
  const rome = parseZone('Europe/Rome')!;
  it.each([
    [
      ['2027-05-01T20:00', '2027-05-01T22:00:00', ''],
      ['2027-05-01 20:00:00', '2027-05-01 22:00:00', 'Europe/Rome', false],
    ],
    [
      ['2027-05-01T20:00:00+02:00', '', 'PT1H30M'],
      ['2027-05-01 20:00:00', '2027-05-01 21:30:00', 'Europe/Rome', false],
    ],
    [
      ['2027-05-01T20:00:00-0400', '', ''],
      ['2027-05-01 20:00:00', '2027-05-01 20:00:00', 'UTC-4', false],
    ],
    [
      ['2027-05-01T18:00:00.000Z', '', ''],
      ['2027-05-01 20:00:00', '2027-05-01 20:00:00', 'Europe/Rome', false],
    ],
    [
      ['20270501T200000+0200', '20270501T2200+02', ''],
      ['2027-05-01 20:00:00', '2027-05-01 22:00:00', 'Europe/Rome', false],
    ],
    [
      ['20270501', '20270503', ''],
      ['2027-05-01 00:00:00', '2027-05-03 23:59:59', 'Europe/Rome', true],
    ],
    [
      ['2027-05-01', '', ''],
      ['2027-05-01 00:00:00', '2027-05-01 23:59:59', 'Europe/Rome', true],
    ],
    [
      ['2027-05-01', '2027-05-03', ''],
      ['2027-05-01 00:00:00', '2027-05-03 23:59:59', 'Europe/Rome', true],
    ],
    [
      ['2027-05-01 20:00', '2027-05-03', ''],
      ['2027-05-01 20:00:00', '2027-05-03 23:59:59', 'Europe/Rome', false],
    ],
    [
      ['2027-05-01T20:00', '2027-05-01T24:00', ''],
      ['2027-05-01 20:00:00', '2027-05-02 00:00:00', 'Europe/Rome', false],
    ],
    [
      ['20270430T240000+0200', '2027-05-01T02:00+02:00', ''],
      ['2027-05-01 00:00:00', '2027-05-01 02:00:00', 'Europe/Rome', false],
    ],
  ])('reads %j', ([start, end, duration], expected) => {
    const dates = datesOf(start!, end!, duration!, rome);
    expect(dates && [dates.start_date, dates.end_date, dates.timezone, dates.all_day]).toEqual(expected);
  });
  it('returns undefined for an invalid start', () => {
    for (const start of ['', 'soon', '2027-02-31', '2027-05-01T25:00', '2027-02-30T24:00', '2027-05-01T24:01', '0000-00-00'])
      expect(datesOf(start, '2027-05-01', '', rome)).toBeUndefined();
  });
  it('swaps start and end if the end is on an earlier day', () =>
    expect(datesOf('2027-05-02T20:00', '2027-05-01T19:00', '', rome)).toMatchObject({
      start_date: '2027-05-01 19:00:00',
      correction: 'end-before-start',
    }));
  it.each([
    ['2027-05-01T22:00', '2027-05-01T02:00', '2027-05-01 22:00:00', '2027-05-02 02:00:00'],
    ['2027-05-01T22:00', '2027-05-01T00:00', '2027-05-01 22:00:00', '2027-05-02 00:00:00'],
    ['2027-05-01T22:00:00-04:00', '2027-05-01T02:00:00-04:00', '2027-05-01 22:00:00', '2027-05-02 02:00:00'],
    // This night is an hour shorter.
    ['2027-03-27T22:00', '2027-03-27T05:00', '2027-03-27 22:00:00', '2027-03-28 05:00:00'],
  ])('moves the end to the next day if its time on the same day precedes the start: %s to %s', (start, end, first, last) =>
    expect(datesOf(start, end, '', rome)).toMatchObject({ start_date: first, end_date: last, correction: 'end-next-day' }),
  );
  it.each([
    ['2027-03-28T02:30', '2027-03-28T03:00', '2027-03-28 03:30:00', '2027-03-28 04:00:00'],
    ['2027-03-28T02:00', '2027-03-28T03:00', '2027-03-28 03:00:00', '2027-03-28 04:00:00'],
    ['2027-03-28T02:30', '2027-03-28T04:00', '2027-03-28 03:30:00', '2027-03-28 04:00:00'],
  ])('keeps the length of an event whose start the clock skips, if nothing would remain of it: %s to %s', (start, end, first, last) =>
    expect(datesOf(start, end, '', rome)).toMatchObject({ start_date: first, end_date: last, correction: undefined }),
  );
  it.each([
    ['2027-05-05T20:00-04:00', '2027-05-05', '2027-05-05 20:00:00', '2027-05-05 23:59:59', 'UTC-4'],
    ['2027-05-05T20:00-04:00', '2027-05-05T22:00', '2027-05-05 20:00:00', '2027-05-05 22:00:00', 'UTC-4'],
    ['2027-05-05', '2027-05-05T22:00-04:00', '2027-05-05 00:00:00', '2027-05-05 23:59:59', 'Europe/Rome'],
  ])('reads the end in the form of the start: %s to %s', (start, end, first, last, timezone) =>
    expect(datesOf(start, end, '', rome)).toEqual({
      start_date: first,
      end_date: last,
      timezone,
      all_day: timezone === 'Europe/Rome',
      correction: undefined,
    }),
  );
});

describeDatabases('JSON-LD import', (open) => {
  let caller: Caller;
  let base: string;
  let server: http.Server;
  let pages: Record<string, string | Buffer> = {};
  let contentType: string | undefined;
  let target: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    target = await open();
    const site = await bareSite(target);
    caller = await callerOf(site);
    await site.close();
    server = http.createServer((req, res) => {
      const body = pages[req.url ?? ''];
      if (typeof body === 'string' && body.startsWith('to ')) res.writeHead(302, { location: body.slice(3) }).end();
      else if (body === undefined) res.writeHead(404).end();
      else res.writeHead(200, contentType === undefined ? {} : { 'content-type': contentType }).end(body);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
  });
  beforeEach(() => loadSite(target, bareFixture()));

  const fasti = (...args: string[]) => commandIn({ DATABASE_URL: urlOf(target), LOG_LEVEL: 'silent', UPLOADS_DIR: folder })(...args);
  const read = (text: string): { entries: Entry[]; events: PostItem[] } => {
    const { events, losses } = findEvents({ url: 'https://x.example/page/', place: 'page', text });
    const entries = [...losses, ...eventEntries(events, { ...caller, now: new Date('2026-11-20T12:00:00Z') })];
    return { entries, events: entries.filter((entry): entry is PostItem => isItem(entry) && entry.kind === 'event') };
  };
  const titles = (text: string) => read(text).events.map(({ columns }) => columns.post_title);

  it.each<[string, string]>([
    ['one object', page(concert)],
    ['a list', page([concert])],
    ['a graph', page({ '@context': 'https://schema.org', '@graph': [{ '@type': 'WebPage', name: 'Page' }, concert] })],
    ['a list of items', page({ '@type': 'ItemList', itemListElement: [{ '@type': 'ListItem', item: concert }] })],
    ['a type by its address', page({ ...concert, '@type': ['http://schema.org/TheaterEvent', 'Thing'] })],
    ['a festival', page({ ...concert, '@type': 'Festival' })],
    ['a comment around it', page(`<!-- ${JSON.stringify(concert)} -->`)],
    ['a line end inside of a text', page(JSON.stringify({ ...concert, description: '@' }).replace('@', 'one\ntwo'))],
    ['another type of script beside it', `<script>{"@type":"Event"}</script>${page(concert)}`],
    ['JSON alone', JSON.stringify(concert)],
  ])('finds an event in %s', (_, text) => expect(titles(text)).toEqual(['Concert']));
  it('keeps quotes in names unescaped', () => {
    const { entries } = read(page({ ...concert, name: `Festa dell'Unità & "Co"`, location: "Bar dell'Arco", organizer: "D'Amico" }));
    const names = entries.flatMap((entry) => ('columns' in entry && entry.columns ? [entry.columns.post_title] : []));
    expect(names.sort()).toEqual(["Bar dell'Arco", "D'Amico", `Festa dell'Unità &amp; "Co"`]);
  });
  it('reads the subEvents of an event, and no series without dates', () =>
    expect(titles(page({ '@type': 'EventSeries', name: 'Season', subEvent: [concert, { ...concert, name: 'Other' }] }))).toEqual([
      'Concert',
      'Other',
    ]));
  const weekly = { '@type': 'Schedule', startDate: '2026-12-01', startTime: '19:30', endTime: '21:00', repeatFrequency: 'P1W' };
  const times = (schedule: unknown, event: Record<string, unknown> = {}) => {
    const { entries, events } = read(page({ '@type': 'MusicEvent', name: 'Jam', ...event, eventSchedule: schedule }));
    const losses = entries.flatMap((entry) => (entry.kind === 'loss' ? [entry.loss.reason] : []));
    const told = events.map(({ metas }) => {
      const stored = new Map(metas);
      return [stored.get('_EventStartDateUTC'), stored.get('_EventEndDateUTC')!.slice(11), stored.get('_EventAllDay') ?? '']
        .join(' ')
        .trim();
    });
    return { told, losses };
  };
  it.each<[string, unknown, string[]]>([
    ['a count', { ...weekly, repeatCount: 2 }, ['2026-12-01 18:30:00 20:00:00', '2026-12-08 18:30:00 20:00:00']],
    ['an end', { ...weekly, endDate: '2026-12-08' }, ['2026-12-01 18:30:00 20:00:00', '2026-12-08 18:30:00 20:00:00']],
    [
      'days of the week',
      { ...weekly, byDay: ['https://schema.org/Tuesday', 'Friday'], repeatCount: 3 },
      ['2026-12-01 18:30:00 20:00:00', '2026-12-04 18:30:00 20:00:00', '2026-12-08 18:30:00 20:00:00'],
    ],
    [
      'a weekday of each month',
      { ...weekly, repeatFrequency: 'P1M', byDay: 'Tuesday', byMonthWeek: 1, repeatCount: 2 },
      ['2026-12-01 18:30:00 20:00:00', '2027-01-05 18:30:00 20:00:00'],
    ],
    ['a date left out', { ...weekly, repeatCount: 2, exceptDate: '2026-12-08' }, ['2026-12-01 18:30:00 20:00:00']],
    ['a time left out', { ...weekly, repeatCount: 2, exceptDate: '2026-12-08T19:30:00' }, ['2026-12-01 18:30:00 20:00:00']],
    ['a zone', { ...weekly, scheduleTimezone: 'America/New_York', repeatCount: 1 }, ['2026-12-02 00:30:00 02:00:00']],
    ['a length', { ...weekly, endTime: undefined, duration: 'PT45M', repeatCount: 1 }, ['2026-12-01 18:30:00 19:15:00']],
    ['an end after midnight', { ...weekly, endTime: '01:00', repeatCount: 1 }, ['2026-12-01 18:30:00 00:00:00']],
    ['a word', { ...weekly, repeatFrequency: 'daily', repeatCount: 2 }, ['2026-12-01 18:30:00 20:00:00', '2026-12-02 18:30:00 20:00:00']],
    [
      'whole days',
      { startDate: '2026-12-01', repeatFrequency: 'P1Y', repeatCount: 2 },
      ['2026-11-30 23:00:00 22:59:59 1', '2027-11-30 23:00:00 22:59:59 1'],
    ],
    [
      'two schedules',
      [
        { ...weekly, repeatCount: 1 },
        { ...weekly, startTime: '10:00', endTime: '11:00', repeatCount: 1 },
      ],
      ['2026-12-01 09:00:00 10:00:00', '2026-12-01 18:30:00 20:00:00'],
    ],
  ])('imports each occurrence of a schedule with %s', (_, schedule, expected) =>
    expect(times(schedule)).toEqual({ told: expected, losses: [] }),
  );
  const later = { repeatFrequency: 'P1W', repeatCount: 2 };
  it.each<[string, Record<string, unknown>, Record<string, unknown>, string[]]>([
    ['the offset of its start', { startDate: '2027-01-04T20:00:00-05:00' }, {}, ['2027-01-05 01:00:00', '2027-01-12 01:00:00']],
    [
      'the offset of the start of its schedule',
      {},
      { startDate: '2027-01-04T20:00:00-05:00' },
      ['2027-01-05 01:00:00', '2027-01-12 01:00:00'],
    ],
    [
      'the offset of its time on the clock',
      {},
      { startDate: '2027-01-04', startTime: '20:00-05:00' },
      ['2027-01-05 01:00:00', '2027-01-12 01:00:00'],
    ],
    [
      'the offset of the day beside its time',
      { startDate: '2027-01-04T20:00:00-05:00' },
      { startDate: '2027-01-04', startTime: '20:00' },
      ['2027-01-05 01:00:00', '2027-01-12 01:00:00'],
    ],
    ['UTC', { startDate: '2027-03-22T20:00:00Z' }, {}, ['2027-03-22 20:00:00', '2027-03-29 20:00:00']],
    // The clock of the site changes between the two dates.
    ["the site's own offset", { startDate: '2027-03-22T20:00:00+01:00' }, {}, ['2027-03-22 19:00:00', '2027-03-29 18:00:00']],
    [
      'UTC in the day beside its time',
      { startDate: '2027-01-04T19:00:00Z' },
      { startTime: '20:00' },
      ['2027-01-04 19:00:00', '2027-01-11 19:00:00'],
    ],
    [
      'a zone by its name, which counts more',
      { startDate: '2027-01-04T20:00:00-05:00' },
      { scheduleTimezone: 'Europe/Rome' },
      ['2027-01-04 19:00:00', '2027-01-11 19:00:00'],
    ],
  ])('reads a schedule in %s', (_, event, schedule, expected) => {
    const { told } = times({ ...later, ...schedule }, event);
    expect(told.map((time) => time.slice(0, 19))).toEqual(expected);
  });
  const evenings = { startDate: '2027-05-04', startTime: '20:00', repeatFrequency: 'P1W', scheduleTimezone: 'Europe/Rome' };
  it.each<[string, Record<string, unknown>, string[]]>([
    ['a moment in UTC as exception', { repeatCount: 2, exceptDate: '2027-05-04T18:00:00Z' }, ['2027-05-11 18:00']],
    ['a moment at another offset as exception', { repeatCount: 2, exceptDate: '2027-05-04T14:00:00-04:00' }, ['2027-05-11 18:00']],
    ['a moment that is no start', { repeatCount: 2, exceptDate: '2027-05-04T20:00:00Z' }, ['2027-05-04 18:00', '2027-05-11 18:00']],
    ['midnight in UTC as exception', { repeatCount: 2, exceptDate: '2027-05-04T00:00:00.000Z' }, ['2027-05-11 18:00']],
    ['midnight as exception', { repeatCount: 2, exceptDate: ['2027-05-04T00:00:00', '2027-05-10T22:00:00Z'] }, []],
    ['a late moment in UTC as end', { startTime: '22:30', endDate: '2027-05-11T21:59:59Z' }, ['2027-05-04 20:30', '2027-05-11 20:30']],
    ['an earlier moment in UTC as end', { endDate: '2027-05-11T17:59:59Z' }, ['2027-05-04 18:00']],
    ['midnight in UTC as end', { endDate: '2027-05-11T00:00:00Z' }, ['2027-05-04 18:00', '2027-05-11 18:00']],
    ['a moment in UTC as start', { repeatCount: 1, startTime: undefined, startDate: '2027-05-04T18:00:00Z' }, ['2027-05-04 18:00']],
    ['the day of a moment in UTC as start', { repeatCount: 1, startDate: '2027-05-03T22:00:00Z' }, ['2027-05-04 18:00']],
    [
      'midnight in UTC as start',
      { repeatCount: 1, startDate: '2027-05-04T00:00:00Z', scheduleTimezone: 'America/New_York' },
      ['2027-05-05 00:00'],
    ],
    [
      'an exception at the offset of the start, though the zone has another',
      { repeatCount: 2, startTime: undefined, startDate: '2027-05-04T20:00:00+01:00', exceptDate: '2027-05-11T20:00:00+01:00' },
      ['2027-05-04 18:00'],
    ],
    [
      'midnight as exception among dates at all hours',
      { startTime: '22:00', repeatFrequency: 'PT1H', repeatCount: 4, exceptDate: '2027-05-05T00:00:00' },
      ['2027-05-04 20:00', '2027-05-04 21:00', '2027-05-04 23:00'],
    ],
  ])('reads %s of a schedule by the clock of its zone', (_, schedule, expected) => {
    const { told, losses } = times({ ...evenings, ...schedule });
    expect([told.map((time) => time.slice(0, 16)), losses]).toEqual([expected, expected.length === 0 ? expect.anything() : []]);
  });
  it('measures the length of a date between moments at two offsets', () =>
    expect(
      times({ repeatFrequency: 'P1W', repeatCount: 1 }, { startDate: '2027-05-04T20:00:00+02:00', endDate: '2027-05-04T20:00:00Z' }).told,
    ).toEqual(['2027-05-04 18:00:00 20:00:00']));
  it.each([
    ['2027-05-04T18:00', '2027-05-04T20:00:00+02:00'],
    ['2027-05-04T18:00:00+02:00', '2027-05-04T20:00'],
  ])('measures it between two times of one clock, of which only one states its offset: %s to %s', (startDate, endDate) => {
    const [first = ''] = times({ repeatFrequency: 'P1W', repeatCount: 1 }, { startDate, endDate }).told;
    const [hour, endHour] = [first.slice(11, 13), first.slice(20, 22)].map(Number);
    expect(endHour! - hour!).toBe(2);
  });
  it.each(['2027-02-30', '0000-00-00'])('imports nothing from a schedule that starts on the impossible day %s', (startDate) =>
    expect(times({ ...weekly, startDate, repeatCount: 1 }).told).toEqual([]),
  );
  it('limits an endless schedule to two years ahead and to a maximum number', () => {
    expect(times({ ...weekly, startDate: '2001-01-02' }).told.length).toBeGreaterThan(150);
    expect(times({ ...weekly, repeatFrequency: 'PT1H', startDate: '2001-01-02' })).toMatchObject({
      told: { length: 2000 },
      losses: ['jsonld-schedule-cut'],
    });
  });
  it('imports the first occurrences of several schedules, each once', () => {
    const hourly = { startDate: '2026-12-01', startTime: '00:00', repeatFrequency: 'PT1H' };
    const quarters = ['00:45', '00:15', '00:30', '00:00'].map((startTime) => ({ ...hourly, startTime }));
    const { told, losses } = times([...quarters, ...quarters]);
    expect(losses).toEqual(['jsonld-schedule-cut']);
    expect([told.length, told[0], told[3], told.at(-1)]).toEqual([
      2000,
      '2026-11-30 23:00:00 23:00:00',
      '2026-11-30 23:45:00 23:45:00',
      '2026-12-21 18:45:00 18:45:00',
    ]);
  });
  it('imports the occurrences of the first hundred schedules, and reports the others', () => {
    const schedules = Array.from({ length: 102 }, (_, at) => ({
      ...weekly,
      startDate: `2027-01-${10 + (at % 20)}`,
      startTime: `1${Math.floor(at / 20)}:00`,
      endTime: undefined,
      repeatCount: 1,
    }));
    const { told, losses } = times(schedules);
    expect([told.length, losses]).toEqual([100, ['jsonld-schedules-cut']]);
  });
  it('imports only the first occurrence once the total limit is reached', () => {
    const hourly = { ...weekly, repeatFrequency: 'PT1H' };
    const many = Array.from({ length: 102 }, (_, at) => ({ '@type': 'Event', name: `Jam ${at}`, eventSchedule: hourly }));
    const details: unknown[] = [];
    const { events } = findEvents({ url: '', place: 'page', text: page(many) });
    for (const entry of eventEntries(events, caller)) {
      if (entry.kind !== 'loss') break;
      details.push(entry.loss.detail);
    }
    expect(details).toHaveLength(102);
    expect(details.slice(99)).toEqual(['2027-02-23T02:30:00+01:00', '2026-12-01T19:30:00+01:00', '2026-12-01T19:30:00+01:00']);
  });
  it('imports an event with an unreadable schedule once, and reports it', () => {
    const event = { startDate: '2026-12-01T19:30:00', endDate: '2026-12-01T21:00:00' };
    for (const repeatFrequency of ['now and then', 'P1M1D', '', 'P0D'])
      expect(times({ ...weekly, repeatFrequency }, event)).toEqual({ told: ['2026-12-01 18:30:00 20:00:00'], losses: ['jsonld-schedule'] });
    expect(times({ ...weekly, scheduleTimezone: 'Atlantis' }, event).losses).toEqual(['jsonld-schedule']);
  });

  it('reports an unreadable schedule among others and imports the occurrences of the others', () => {
    const schedules = [
      { ...weekly, repeatFrequency: 'now and then' },
      { ...weekly, ...later, startDate: '2026-12-03' },
    ];
    expect(times(schedules, { startDate: '2026-12-01T19:30:00' })).toEqual({
      told: ['2026-12-03 18:30:00 20:00:00', '2026-12-10 18:30:00 20:00:00'],
      losses: ['jsonld-schedule-lost'],
    });
    expect(times({ ...weekly, repeatFrequency: 'now and then' })).toEqual({ told: [], losses: ['jsonld-schedule-lost', 'jsonld-no-date'] });
  });
  it('limits the places of an event, and reports the others', () => {
    const location = Array.from({ length: 102 }, (_, at) => ({ '@type': 'Place', name: `Hall ${at}` }));
    const { entries, events } = read(page({ ...concert, location }));
    expect(events[0]!.links).toHaveLength(100);
    expect(entries.flatMap((entry) => (entry.kind === 'loss' ? [[entry.loss.reason, entry.loss.detail]] : []))).toEqual([
      ['jsonld-parts-cut', '2'],
    ]);
  });
  it('imports the first of several starts, and reports the others', () => {
    const { entries, events } = read(page({ ...concert, startDate: ['2027-05-01T20:00', '2027-05-08T20:00', '2027-05-01T20:00'] }));
    expect(events).toHaveLength(1);
    expect(entries.flatMap((entry) => (entry.kind === 'loss' ? [[entry.loss.reason, entry.loss.detail]] : []))).toEqual([
      ['jsonld-several-starts', '2027-05-08T20:00'],
    ]);
  });

  it('reports invalid JSON and events without a date', () => {
    const { entries, events } = read(`${page('{"@type": "Event",')}\n${page({ '@type': 'Event', name: 'When?' })}`);
    expect([events, entries.map((entry) => entry.kind === 'loss' && [entry.loss.reason, entry.loss.place])]).toEqual([
      [],
      [
        ['jsonld-unreadable', 'page:1'],
        ['jsonld-no-date', 'page'],
      ],
    ]);
    expect(entries.map((entry) => entry.kind === 'loss' && entry.isWhole)).toEqual([undefined, true]);
  });

  describe('nodes with the same @id', () => {
    const one = { ...concert, '@id': '#event', url: '/agenda/' };
    const datesIn = (...values: unknown[]) =>
      read(page(...values)).events.map(({ columns, metas, sourceId }) => [
        columns.post_title,
        Object.fromEntries(metas)._EventStartDate,
        Object.fromEntries(metas)._EventCost,
        sourceId,
      ]);
    const first = ['Concert', '2027-05-01 20:00:00', undefined, 'https://x.example/page/#event'];

    it('are separate events if each has name and start', () =>
      expect(
        datesIn(
          one,
          { ...one, startDate: '2027-05-02T20:00' },
          { ...one, name: 'Fair', startDate: '2027-05-03' },
          { ...one, startDate: '2027-05-02' },
        ),
      ).toEqual([
        [...first.slice(0, 3), 'https://x.example/page/#event#2027-05-01T20:00'],
        ['Concert', '2027-05-02 20:00:00', undefined, 'https://x.example/page/#event#2027-05-02T20:00'],
        ['Fair', '2027-05-03 00:00:00', undefined, 'https://x.example/page/#event#2027-05-03'],
      ]));
    it.each([
      ['the same start in another zone', { ...one, startDate: '2027-05-01T18:00Z' }],
      ['its day alone', { ...one, startDate: '2027-05-01' }],
      ['no name', { '@id': '#event', '@type': 'Event', startDate: '2027-05-01T20:00' }],
      ['no start', { '@id': '#event', '@type': 'Event', name: 'Concert' }],
    ])('are one event if the other has %s', (_what, other) =>
      expect(datesIn(other, { ...one, startDate: '2027-05-01T20:00+02:00' })).toEqual([first]),
    );
    it('complete each event with data that applies to all', () =>
      expect(
        datesIn(one, { '@id': '#event', offers: { price: '5' } }, { ...one, startDate: '2027-05-02T20:00', offers: { price: '7' } }).map(
          ([, start, cost]) => [start, cost],
        ),
      ).toEqual([
        ['2027-05-01 20:00:00', '5'],
        ['2027-05-02 20:00:00', '7'],
      ]));
    it('are separate places if each has a name', () => {
      const at = (day: string, name: string) => ({ ...concert, startDate: day, location: { '@id': '#place', '@type': 'Place', name } });
      const { entries } = read(page(at('2027-05-01', 'Hall'), at('2027-05-02', 'Park'), { '@id': '#place', telephone: '1' }));
      const venues = entries.filter((entry): entry is PostItem => isItem(entry) && entry.kind === 'venue');
      expect(venues.map(({ columns, metas }) => [columns.post_title, Object.fromEntries(metas)._VenuePhone])).toEqual([
        ['Hall', '1'],
        ['Park', '1'],
      ]);
    });
  });

  it('imports all data for which the plugin has fields', () => {
    const { entries, events } = read(
      page({
        '@graph': [
          {
            ...concert,
            name: 'Rock &amp; Roll <b>',
            description: '&lt;p&gt;Hello&lt;/p&gt;<script>x()</script>',
            url: '/concert/',
            eventStatus: 'https://schema.org/EventCancelled',
            location: [{ '@type': 'VirtualLocation', url: 'https://v.example/' }, { '@id': '#hall' }],
            organizer: [{ '@type': 'Person', name: 'Anna', email: 'a@x.example' }, 'Club'],
            offers: [
              { '@type': 'Offer', price: '10.50', priceCurrency: 'EUR' },
              { '@type': 'AggregateOffer', lowPrice: 5, highPrice: 20 },
            ],
            image: [{ '@type': 'ImageObject', url: '/a.png' }],
            keywords: 'jazz, open air',
          },
          {
            '@id': '#hall',
            '@type': 'Place',
            name: 'Hall',
            address: {
              streetAddress: 'Via Roma 1',
              addressLocality: 'Pisa',
              postalCode: '56100',
              addressRegion: 'PI',
              addressCountry: 'IT',
            },
            geo: { latitude: '43.7', longitude: 10.4 },
          },
        ],
      }),
    );
    const [item] = events;
    expect(item!.columns).toMatchObject({ post_title: 'Rock &amp; Roll &lt;b&gt;', post_content: expect.stringMatching(/^<p>Hello<\/p>/) });
    expect(item!.columns.post_content).not.toContain('<script');
    expect(Object.fromEntries(item!.metas)).toMatchObject({
      _EventURL: 'https://x.example/concert/',
      _tribe_events_status: 'canceled',
      _EventCost: '20',
      _EventCurrencySymbol: '€',
      _EventCurrencyCode: 'EUR',
      _EventStartDate: '2027-05-01 20:00:00',
    });
    expect(item!.metas.filter(([key]) => key === '_EventCost').map(([, cost]) => cost)).toEqual(['5', '20']);
    expect(item!.terms).toMatchObject([{ name: 'jazz' }, { name: 'open air' }]);
    const others = entries.filter((entry): entry is PostItem => isItem(entry) && 'links' in entry && entry.kind !== 'event');
    expect(others.map(({ kind, columns, url }) => [kind, columns.post_title, url])).toEqual([
      ['venue', 'Hall', undefined],
      ['organizer', 'Anna', undefined],
      ['organizer', 'Club', undefined],
      ['attachment', 'a', 'https://x.example/a.png'],
    ]);
    expect(Object.fromEntries(others[0]!.metas)).toMatchObject({
      _VenueAddress: 'Via Roma 1',
      _VenueCity: 'Pisa',
      _VenueCountry: 'Italy',
      _VenueProvince: 'PI',
      _VenueZip: '56100',
      _VenueLat: '43.7',
      _VenueLng: '10.4',
    });
    expect(item!.links.map(({ key }) => key)).toEqual(['_EventVenueID', '_EventOrganizerID', '_EventOrganizerID', '_thumbnail_id']);
  });
  describe('reads prices', () => {
    const readPrices = (...offers: object[]) => {
      const { entries, events } = read(page({ ...concert, offers }));
      const costs = events[0]!.metas.filter(([key]) => key === '_EventCost').map(([, cost]) => cost);
      return [costs, entries.flatMap((entry) => (entry.kind === 'loss' ? [[entry.loss.reason, entry.loss.detail]] : []))];
    };
    it.each<[unknown, string[]]>([
      ['10.50', ['10.5']],
      ['10,50', ['10.5']],
      ['1,250', ['1250']],
      ['1.250', ['1250']],
      ['1.250,00', ['1250']],
      [1.25, ['1.25']],
      [12.345, ['12.3450']],
      [0.1 + 0.2, ['0.3']],
      ['€ 15', ['15']],
      ['15 €', ['15']],
      ['From 15 €', ['15']],
      ['10 – 20', ['10', '20']],
      ['07,50', ['7.5']],
      ['free', ['0']],
      ['Free – 20', ['0', '20']],
      ['', []],
      [null, []],
    ])('%j', (price, costs) => expect(readPrices({ price })).toEqual([costs, []]));
    it('of a currency with three decimals', () => expect(readPrices({ price: '2.500', priceCurrency: 'KWD' })).toEqual([['2.5'], []]));
    it.each<[string, object[], unknown[]]>([
      ['of a text', [{ price: '$ 15' }], [['15'], '$', '']],
      ['of texts that name it in different ways', [{ lowPrice: '15 EUR', highPrice: '20 €' }], [['15', '20'], '€', 'EUR']],
      ['of words for it', [{ lowPrice: '10 euro', highPrice: '20 €' }], [['10', '20'], '€', 'EUR']],
      ['of a code in small letters', [{ lowPrice: '10 eur', highPrice: '12 €' }], [['10', '12'], '€', 'EUR']],
      ['of an offer, whatever a text names', [{ price: '$ 15', priceCurrency: 'EUR' }], [['15'], '€', 'EUR']],
      ['of no text', [{ price: '15' }], [['15'], undefined, undefined]],
      ['of several texts that differ', [{ price: '$ 15' }, { price: '10 €' }], [[], undefined, undefined]],
    ])('in the currency %s', (_, offers, expected) => {
      const { events } = read(page({ ...concert, offers }));
      const metas = new Map(events[0]!.metas);
      expect([readPrices(...offers)[0], metas.get('_EventCurrencySymbol'), metas.get('_EventCurrencyCode')]).toEqual(expected);
    });
    it.each(['on request', 'call 0575 123456', '0575123456', '055 123 456', '06/12345678', '055.123456', '-5', '2000000000'])(
      'and reports what is no price: %s',
      (price) => expect(readPrices({ price }, { price: '7' })).toEqual([['7'], [['value-refused', `cost: ${price}`]]]),
    );
    it('and leaves those of a record if the page states some that cannot be read', async () => {
      const costs = async () => (await target.from('postmeta').where('meta_key', '_EventCost')).map(({ meta_value: cost }) => cost);
      const costsAfter = async (offers: object | undefined) => {
        pages = { '/e/': page({ ...concert, url: '/e/', offers }) };
        await fasti('import', `${base}/e/`, '--as=jsonld');
        return costs();
      };
      expect(await costsAfter({ price: '7', priceCurrency: 'EUR' })).toEqual(['7']);
      expect(await costsAfter({ price: 'on request', priceCurrency: 'EUR' })).toEqual(['7']);
      expect(await costsAfter(undefined)).toEqual([]);
    });
    it('and shows the currency where the site or an editor has it', async () => {
      const positions = async () =>
        (await target.from('postmeta').where('meta_key', '_EventCurrencyPosition')).map(({ meta_value: position }) => position);
      const take = async (price: string) => {
        pages = { '/e/': page({ ...concert, url: '/e/', offers: { price, priceCurrency: 'EUR' } }) };
        await fasti('import', `${base}/e/`, '--as=jsonld');
        return positions();
      };
      await setOptions(target, { tribe_events_calendar_options: { reverseCurrencyPosition: true } });
      expect(await take('7')).toEqual(['postfix']);
      await target.from('postmeta').where('meta_key', '_EventCurrencyPosition').update({ meta_value: 'prefix' });
      expect(await take('8')).toEqual(['prefix']);
    });
    it('and shows a currency that a page states later where the site has it', async () => {
      await setOptions(target, { tribe_events_calendar_options: { reverseCurrencyPosition: true } });
      const take = async (offers: object) => {
        pages = { '/e/': page({ ...concert, url: '/e/', offers }) };
        await fasti('import', `${base}/e/`, '--as=jsonld');
      };
      await take({ price: '7' });
      await take({ price: '7', priceCurrency: 'EUR' });
      const metas = await target.from('postmeta').where('meta_key', 'like', '_EventCurrency%').orderBy('meta_key');
      expect(metas.map(({ meta_value: value }) => value)).toEqual(['EUR', 'postfix', '€']);
    });
  });
  it.each<[unknown, string[]]>([
    ['Town hall', ['Town hall']],
    [{ '@type': 'Place', address: 'Via Roma 1' }, ['Via Roma 1']],
    [{ '@type': 'PostalAddress', streetAddress: 'Via Roma 1', addressLocality: 'Pisa' }, ['Via Roma 1']],
    [{ '@type': 'VirtualLocation', url: 'https://v.example/' }, []],
    ['https://v.example/', []],
  ])('imports the venue of the location %j', (location, expected) => {
    const { entries } = read(page({ ...concert, location }));
    expect(
      entries.flatMap((entry) => (isItem(entry) && entry.kind === 'venue' && 'columns' in entry ? [entry.columns.post_title] : [])),
    ).toEqual(expected);
  });

  it('previews, imports and updates a page', async () => {
    pages = { '/e/': page({ ...concert, '@id': '/e/#event', location: 'Hall' }) };
    const args = ['import', `${base}/e/`, '--as=jsonld', '--format=json'];
    const [rehearsal, done] = [await fasti(...args, '--dry-run'), await fasti(...args)];
    expect(JSON.parse(rehearsal.out)).toEqual({ ...JSON.parse(done.out), dryRun: true });
    expect([done.code, JSON.parse(done.out).created]).toEqual([0, { venue: 1, event: 1 }]);
    expect(JSON.parse((await fasti(...args)).out)).toMatchObject({ created: {}, updated: {}, unchanged: { venue: 1, event: 1 } });
    pages = { '/e/': page({ ...concert, '@id': '/e/#event', location: 'Hall', startDate: '2027-05-02T20:00' }) };
    expect(JSON.parse((await fasti(...args)).out)).toMatchObject({ created: {}, updated: { event: 1 } });
  });
  describe('keeps the identity of an event', () => {
    const path = join(folder, 'nights.html');
    const night = (day: string, more: object = {}) => ({ '@type': 'Event', name: 'Open mic', startDate: `2027-03-${day}T20:00`, ...more });
    const takeIn = async (...events: object[]) => {
      writeFileSync(path, page(events));
      const { out } = await fasti('import', path, '--format=json');
      return JSON.parse(out);
    };
    const starts = async () => JSON.parse((await fasti('event', 'list', '--start_date=2027-03-01', '--format=json')).out);
    const days = async () => (await starts()).map(({ start_date }: { start_date: string }) => start_date.slice(8, 10));
    it.each([
      ['without an address', {}],
      ['with an address that several share', { url: 'https://x.example/open-mic/' }],
    ])('%s', async (_, more) => {
      const together = [night('08', more), night('15', more)] as const;
      await takeIn(together[0]);
      expect(await takeIn(...together)).toMatchObject({ created: { event: 1 } });
      expect(await takeIn(together[1])).toMatchObject({ created: {} });
      expect(await days()).toEqual(['08', '15']);
    });
    it('if the only event at its URL moves', async () => {
      const more = { url: 'https://x.example/open-mic/' };
      await takeIn(night('08', more));
      expect(await takeIn(night('08', more))).toMatchObject({ created: {}, updated: {}, unchanged: { event: 1 } });
      expect(await takeIn(night('09', more))).toMatchObject({ created: {}, updated: { event: 1 } });
      expect(await days()).toEqual(['09']);
    });
  });
  it('imports all pages of a sitemap except those of other hosts', async () => {
    const list = (...urls: string[]) =>
      `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`;
    pages = {
      '/sitemap.xml': `<sitemapindex><sitemap><loc>${base}/events.xml.gz</loc></sitemap><sitemap><loc>${base}/sitemap.xml</loc></sitemap></sitemapindex>`,
      '/events.xml.gz': gzipSync(list(`${base}/1`, `${base}/2`, `${base}/gone`, 'http://other.example/3')),
      '/1': page(concert, { ...concert, name: 'Second', url: `${base}/shared` }),
      '/2': page({ ...concert, name: 'Second', url: `${base}/shared` }),
    };
    const { out, code } = await fasti('import', base, '--sitemap', '--rate=1000', '--format=json');
    expect([code, JSON.parse(out)]).toMatchObject([
      3,
      { created: { event: 2 }, skipped: { 'page of another host': 1 }, losses: [{ reason: 'page-not-fetched', count: 1 }] },
    ]);
  });
  it('imports what it can of a sitemap that lists missing files, other hosts and relative URLs, and reports the rest', async () => {
    const locs = (name: string, ...urls: string[]) => urls.map((url) => `<${name}><loc>${url}</loc></${name}>`).join('');
    const listed = ['gone.xml', 'page.xml', 'broken.xml', 'events.xml', 'http://other.example/sitemap.xml'];
    pages = {
      '/maps/sitemap.xml': `<sitemapindex>${locs('sitemap', ...listed)}</sitemapindex>`,
      '/maps/page.xml': page(concert),
      '/maps/broken.xml': Buffer.from([0x1f, 0x8b, 0, 0]),
      '/maps/events.xml': `<urlset>${locs('url', '/1', '/1#tickets', '../1')}</urlset>`,
      '/1': page(concert),
    };
    const { out, code } = await fasti('import', `${base}/maps/sitemap.xml`, '--sitemap', '--rate=1000', '--format=json');
    const report = JSON.parse(out);
    expect([code, report.created, report.skipped]).toEqual([3, { event: 1 }, { 'sitemap of another host': 1 }]);
    expect(report.losses.map(({ reason, count }: { reason: string; count: number }) => [reason, count])).toEqual([
      ['page-not-fetched', 1],
      ['sitemap-unreadable', 2],
    ]);
  });
  describe('reports a sitemap that is read in part', () => {
    const cuts = async (reasons = ['sitemap-cut']) => {
      const fetching = await fetchOptionsFor(base);
      const source = await openJsonLdSite(base, { caller, sitemap: true, rate: 1e6, fetching });
      const losses: unknown[] = [];
      for await (const entry of source.entries()) {
        if (entry.kind !== 'loss') break;
        if (reasons.includes(entry.loss.reason)) losses.push([entry.loss.of, entry.loss.detail]);
      }
      return losses;
    };
    it('because more pages follow after 50,000 events', async () => {
      const undated = page(Array.from({ length: 25_000 }, () => ({ '@type': 'Event' })));
      const locs = ['/1', '/2', '/2#tickets', '/3'].map((path) => `<url><loc>${path}</loc></url>`);
      const listed = '<sitemap><loc>/pages.xml</loc></sitemap><sitemap><loc>/missing.xml</loc></sitemap>';
      pages = { '/pages.xml': `<urlset>${locs.join('')}</urlset>`, '/1': undated, '/2': undated, '/3': page(concert) };
      pages['/sitemap.xml'] = `<sitemapindex>${listed}</sitemapindex>`;
      // The missing one is not fetched.
      expect(await cuts(['sitemap-cut', 'page-not-fetched'])).toEqual([[`${base}/sitemap.xml`, '2']]);
    });
    it('because it lists more than a hundred others', async () => {
      const listed = Array.from({ length: 100 }, (_, at) => `<sitemap><loc>/${at}.xml</loc></sitemap>`);
      pages = { '/sitemap.xml': `<sitemapindex>${listed.join('')}</sitemapindex>` };
      expect(await cuts()).toEqual([[`${base}/sitemap.xml`, '0']]);
    });
  });
  it('refuses a file that is no sitemap', async () => {
    pages = { '/sitemap.xml': page(concert) };
    const { code, err } = await fasti('import', base, '--sitemap', '--rate=1000');
    expect([code, err]).toEqual([1, expect.stringContaining(`${base}/sitemap.xml is not a sitemap: it contains neither`)]);
  });
  it('imports a saved page or a JSON file', async () => {
    writeFileSync(join(folder, 'saved.html'), page(concert));
    writeFileSync(join(folder, 'events.json'), JSON.stringify([{ ...concert, name: 'Other' }]));
    expect(JSON.parse((await fasti('import', join(folder, 'saved.html'), '--format=json')).out).created).toEqual({ event: 1 });
    expect(JSON.parse((await fasti('import', join(folder, 'events.json'), '--as=jsonld', '--format=json')).out).created).toEqual({
      event: 1,
    });
  });
  describe('decodes text according to', () => {
    const latin = (meta: string, letters = 'latin1' as BufferEncoding) =>
      Buffer.from(page({ ...concert, name: 'Città' }).replace('<head>', `<head>${meta}`), letters);
    const titlesOf = async () => JSON.parse((await fasti('event', 'list', '--start_date=2027-01-01', '--format=json')).out);
    const imported = async (...args: string[]) => {
      const { code, out, err } = await fasti('import', ...args, '--format=json');
      if (out === '') return { code, err };
      const events = await titlesOf();
      return {
        code,
        title: events[0]?.title,
        told: JSON.parse(out).losses.map(({ reason }: { reason: string }) => reason),
      };
    };
    it.each<[string, Buffer, string[]]>([
      ['a `meta`', latin('<meta charset="iso-8859-1">'), []],
      ['an older `meta`', latin('<META http-equiv=Content-Type content="text/html; charset=windows-1252">'), []],
      ['a declaration', Buffer.concat([Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>'), latin('')]), []],
      ['nobody', latin(''), ['encoding-assumed']],
      [
        'a `meta`, not by other texts',
        latin('<!-- <meta charset="koi8-r"> --><meta name="keywords" content="charset=koi8-r"><meta charset=" iso-8859-1 ">'),
        [],
      ],
      ['UTF-8', latin('', 'utf8'), []],
    ])('%s, in a saved page and on the web', async (_, bytes, told) => {
      writeFileSync(join(folder, 'latin.html'), bytes);
      pages = { '/e/': bytes };
      expect(await imported(join(folder, 'latin.html'))).toEqual({ code: 0, title: 'Città', told });
      await loadSite(target, bareFixture());
      expect(await imported(`${base}/e/`, '--as=jsonld')).toEqual({ code: 0, title: 'Città', told });
    });
    it('the Content-Type header before the page', async () => {
      pages = { '/e/': latin('<meta charset="iso-8859-1">', 'utf8') };
      contentType = 'text/html; charset=UTF-8';
      expect(await imported(`${base}/e/`, '--as=jsonld').finally(() => (contentType = undefined))).toMatchObject({ title: 'Città' });
    });
    it('UTF-8 if it is declared: refuses a saved page with other bytes, and reports a page on the web', async () => {
      const bytes = latin('<meta charset="utf-8">');
      writeFileSync(join(folder, 'latin.html'), bytes);
      writeFileSync(join(folder, 'latin.jsonld'), Buffer.from(JSON.stringify({ ...concert, name: 'Città' }), 'latin1'));
      pages = { '/e/': bytes };
      const byte = bytes.indexOf(0xe0);
      expect(await imported(join(folder, 'latin.html'))).toEqual({
        code: 1,
        err: `Error: latin.html, line 1 (byte ${byte} of the file): this is not UTF-8 text.\n`,
      });
      expect(await imported(join(folder, 'latin.jsonld'))).toMatchObject({ code: 1, err: expect.stringContaining('line 1') });
      expect(await imported(`${base}/e/`, '--as=jsonld')).toEqual({ code: 3, title: 'Citt\ufffd', told: ['jsonld-characters'] });
    });
  });
  it('keeps events of saved pages apart by their sites if the pages name these', () => {
    const saved = (...heads: string[]) => {
      const files = heads.map((head, at) => ({ url: '', place: `${at}.html`, text: `${head}${page(concert)}` }));
      const entries = [
        ...eventEntries(
          files.flatMap((file) => findEvents(file).events),
          caller,
        ),
      ];
      return entries.filter((entry) => isItem(entry) && entry.kind === 'event').length;
    };
    const canonical = (url: string) => `<link rel="canonical" href="${url}">`;
    expect(saved(canonical('https://a.example/may'), canonical('https://b.example/may'))).toBe(2);
    expect(saved('<base href="http://a.example/">', '<meta property="og:url" content="https://b.example/">')).toBe(2);
    expect(saved(canonical('https://a.example/may'), canonical('https://a.example/june'))).toBe(1);
    expect(saved('', canonical('/relative'))).toBe(1);
  });
  it('takes events of one title and start from two sites for two events, and those of one site for one', async () => {
    const other = http.createServer((_req, res) => res.writeHead(200).end(page(concert)));
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    try {
      pages = { '/e/': page(concert), '/f/': page(concert) };
      // The posts of the other tests had the same ids.
      await target.from('fasti_import_ids').delete();
      const otherBase = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      const count = async () => (await target.from('posts').where('post_type', 'tribe_events')).length;
      const before = await count();
      const counts: number[] = [];
      for (const address of [`${base}/e/`, `${base}/f/`, `${otherBase}/`, `${otherBase}/g/`, `${base}/e/`, `${otherBase}/`]) {
        expect((await fasti('import', address, '--as=jsonld')).code).toBe(0);
        counts.push((await count()) - before);
      }
      expect(counts).toEqual([1, 1, 2, 2, 2, 2]);
      const file = join(folder, 'concert.html');
      writeFileSync(file, page(concert));
      await fasti('import', file);
      expect((await count()) - before).toBe(2);
    } finally {
      other.close();
    }
  });
  it('reports a page without events', async () => {
    pages = { '/e/': '<html></html>' };
    const { code, out } = await fasti('import', `${base}/e/`, '--as=jsonld', '--format=json');
    expect([code, JSON.parse(out).losses]).toMatchObject([3, [{ reason: 'jsonld-none', count: 1 }]]);
  });
  it('follows no redirect to an address that is not public', async () => {
    pages = { '/e/': `to http://127.0.0.2:${new URL(base).port}/e/` };
    expect(await fasti('import', `${base}/e/`, '--as=jsonld')).toMatchObject({
      code: 1,
      err: `Error: ${base}/e/ could not be fetched: it is in a private network.\n`,
    });
  });
});
