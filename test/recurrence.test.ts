import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ICAL from 'ical.js';
import { listWindow } from '../src/calendar/window.ts';
import type { Condition } from '../src/kinds/condition.ts';
import { eventRecord } from '../src/kinds/events/shape.ts';
import { postKind } from '../src/kinds/index.ts';
import { datesOfEvents } from '../src/records/recurrences.ts';
import { restorePost } from '../src/records/writes/post-writes.ts';
import { auditRecurrences, repairRecurrence } from '../src/storage/audit/recurrence-audit.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { insertRows } from '../src/storage/engine/insert.ts';
import { reindexEvents } from '../src/storage/index/event-index-rebuild.ts';
import { findPostIds } from '../src/storage/lists/post-list.ts';
import { serializedMembers } from '../src/wordpress/php/serialized.ts';
import { parseSearch } from '../src/wordpress/search.ts';
import { addDays, textFromUnix, unixFromText } from '../src/wordpress/time.ts';
import { callerOf } from './exchange/sites.ts';
import { countDates } from './support/count-dates.ts';
import { countQueries } from './support/count-queries.ts';
import { describeDatabases } from './support/databases.ts';
import { EXPECTED_DATES, type ExpectedDate, loadRecurringSite } from './support/recurring-site.ts';
import { type Answer, type RunningSite, serveDatabase } from './support/running-site.ts';
import { serveRecurringSite } from './support/served-recurring-site.ts';

/* Recurring events of the calendar's paid extension: the fixture has 65 occurrences in the tables and 10 as posts. */

const TINY = readFileSync(new URL('fixtures/uploads/2026/11/tiny.png', import.meta.url));

const NOW = new Date('2030-12-31T12:00:00Z');
let now = NOW;
/** Advances the clock by one second. */
const tick = () => {
  now = new Date(now.getTime() + 1000);
};
const EVENTS = '/wp-json/tribe/events/v1/events';
const VISIBLE = { viewer: 0, all: ['publish'], others: [], own: [] } as const;
/** The parts of a query for all published events. */
const PUBLIC_EVENTS = {
  kind: { postType: 'tribe_events', hasDates: true },
  visible: VISIBLE,
  visibleEvents: VISIBLE,
  opened: { password: undefined, editable: undefined },
} as const;

const IN_TABLES = EXPECTED_DATES.filter(({ form }) => form === 'tables');

/** The id of a date in lists: an event with a single date has the id of its post. */
const SINGLE = 513;
const idOf = ({ post_id: post, provisional_id: id }: ExpectedDate): number => (post === SINGLE ? post : (id ?? post));
const pathOf = (date: ExpectedDate): string => (date.post_id === SINGLE ? `/event/${date.slug}/` : date.path);

/** Start and end of a date, as times or as days; an event of whole days ends on the day after the last one. */
const shownDate = ({ all_day: allDay, start_date: start, end_date: end, ...utc }: ExpectedDate): [string, string] =>
  allDay
    ? [start.slice(0, 10), addDays(end, 1).slice(0, 10)]
    : [`${utc.utc_start_date.replace(' ', 'T')}Z`, `${utc.utc_end_date.replace(' ', 'T')}Z`];

/** The dates of the only event of a calendar, as read by a library, up to `most`. */
function datesIn(text: string, most: number): [string, string][] {
  const calendar = new ICAL.Component(ICAL.parse(text));
  for (const zone of calendar.getAllSubcomponents('vtimezone')) ICAL.TimezoneService.register(zone);
  const [master, ...exceptions] = calendar.getAllSubcomponents('vevent').map((component) => new ICAL.Event(component));
  for (const one of exceptions) master!.relateException(one);
  const shown = (time: ICAL.Time) => (time.isDate ? time.toString() : time.toJSDate().toISOString().replace('.000', ''));
  const found: [string, string][] = [];
  const dates = master!.iterator();
  for (let next = dates.next(); next && found.length < most; next = dates.next()) {
    const { startDate, endDate } = master!.getOccurrenceDetails(next);
    found.push([shown(startDate), shown(endDate)]);
  }
  return found.sort();
}

describeDatabases('recurring events', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await loadRecurringSite(await open());
  });

  it('have their dates in order when a list is in the order of distance, also dates with the same start', async () => {
    const event = IN_TABLES.find(({ post_id }) => post_id !== SINGLE)!.post_id;
    const rows = () => db.from('tec_occurrences').where('post_id', event).orderBy('start_date');
    const [first, second, third] = await rows();
    await db
      .transaction(async (trx) => {
        await trx.from('postmeta').insert({ post_id: event, meta_key: '_EventVenueID', meta_value: '12' });
        for (const [row, end_date] of [
          [first, '2040-01-01 12:00:00'],
          [second, '2040-01-01 11:00:00'],
          [third, '2040-01-01 13:00:00'],
        ] as const)
          await trx
            .from('tec_occurrences')
            .where({ post_id: row!.post_id, occurrence_id: row!.occurrence_id })
            .update({ start_date: '2040-01-01 10:00:00', end_date });
        const query = {
          ...PUBLIC_EVENTS,
          conditions: [{ by: 'moment', column: 'start_date', utc: false, op: '>=', value: '2040-01-01 00:00:00' }],
          distances: { link: '_EventVenueID', km: [[12, 1]] },
          limit: 50,
          offset: 0,
          occurrences: true,
          recurrence: { base: 0, each: 'occurrence' },
        } as const;
        const inOrder = [second, first, third].map((row) => row!.occurrence_id);
        for (const descending of [false, true]) {
          const page = await findPostIds(trx, { ...query, order: { by: 'id', descending } });
          expect(page.ids).toEqual(descending ? inOrder.toReversed() : inOrder);
        }
        throw new Error('undone');
      })
      .catch((error: Error) => expect(error.message).toBe('undone'));
  });

  it('are listed once at the place of their first matching date, page by page, without reading all dates', async () => {
    const base = 10_000_000;
    const posts = new Map(IN_TABLES.map(({ post_id: post, provisional_id: id }) => [id ?? 0, post]));
    const query = {
      ...PUBLIC_EVENTS,
      occurrences: true,
    };
    const since = { by: 'moment', column: 'end_date', utc: false, op: '>=', value: '2031-02-10 00:00:00' } as const;
    const conditionLists: (readonly Condition[])[] = [
      [since],
      [{ by: 'words', columns: ['post_title'], terms: parseSearch('o'), metas: [], together: false }],
      [{ by: 'id', ids: [10_000_320, 501, 10_000_308, 39, 509] }],
    ];
    const orders = ['start', 'end', 'date', 'id', 'title', 'menu', 'slug', 'include'] as const;
    const statements: string[] = [];
    for (const conditions of conditionLists)
      for (const by of orders)
        for (const descending of [false, true]) {
          const list = { ...query, conditions, order: { by, descending } };
          const dates = await findPostIds(db, { ...list, limit: 1000, offset: 0, recurrence: { base, each: 'occurrence' } });
          const expected = [...new Set(dates.ids.map((id) => posts.get(id) ?? id))];
          expect([by, expected.length > 3]).toEqual([by, true]);
          const removeListener = db.driver.listen(({ sql }) => void statements.push(sql));
          const shown: number[] = [];
          for (let offset = 0; offset <= expected.length + 2; offset += 3) {
            const page = await findPostIds(db, { ...list, limit: 3, offset, recurrence: { base, each: 'event' } });
            expect([by, descending, offset, page.total]).toEqual([by, descending, offset, expected.length]);
            shown.push(...page.ids);
          }
          removeListener();
          expect([by, descending, shown]).toEqual([by, descending, expected]);
        }
    expect(statements.filter((sql) => !/ group by |^select count/i.test(sql))).toEqual([]);
  });

  it('are found in the list index without a scan of all dates for each event', async () => {
    const venue = { meta_key: '_EventVenueID', meta_value: '12' };
    const posts = [...new Set(IN_TABLES.map(({ post_id }) => post_id))].filter((post_id) => post_id !== SINGLE);
    const { meta_id: last } = (await db.from('postmeta').orderBy('meta_id', 'desc').first())!;
    await insertRows(
      db,
      'postmeta',
      posts.map((post_id) => ({ post_id, ...venue })),
    );
    await reindexEvents(db, () => NOW, { marksComplete: true });
    const visible = { viewer: 0, all: ['publish'], others: [], own: [] };
    const found = await findPostIds(db, {
      kind: { postType: 'tribe_events', hasDates: true },
      visible,
      visibleEvents: visible,
      opened: { password: undefined, editable: undefined },
      conditions: [],
      order: { by: 'start', descending: true },
      limit: 50,
      offset: 0,
      occurrences: true,
      recurrence: { base: 10_000_000, each: 'occurrence' },
      indexed: true,
    });
    await db.from('postmeta').where('meta_id', '>', last).delete();
    expect(found.span).toBeDefined();
    expect(found.ids.filter((id) => id > 10_000_000).length).toBeGreaterThan(20);
    expect(found.linked.length).toBeLessThan(found.ids.length);
  });

  describe.each([
    ['with the list index', 'off'],
    ['beside a WordPress that writes', 'on'],
  ])('%s', (_, shared) => {
    let running: RunningSite;
    beforeAll(async () => {
      running = await serveDatabase(db, { env: { SHARED_WITH_WORDPRESS: shared, MAX_PER_PAGE: '100' }, clock: () => now });
      if (shared === 'off') expect((await reindexEvents(running.site.db, () => NOW, { marksComplete: true })).unindexable).toEqual([]);
    });
    afterAll(() => running?.close());

    const get = (path: string) => running.send('GET', path);
    // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
    const listed = async (query: string): Promise<{ events: any[]; total: number }> => {
      const { status, body } = await get(`${EVENTS}?${query}`);
      expect([query, status]).toEqual([query, 200]);
      return body;
    };
    // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
    const walked = async (query: string, size: number): Promise<any[]> => {
      const all = [];
      for (let page = 1; ; page += 1) {
        const { events, total } = await listed(`${query}&per_page=${size}&page=${page}`);
        all.push(...events);
        if (events.length === 0 || all.length >= total) {
          expect(all).toHaveLength(total);
          return all;
        }
      }
    };

    it('are listed once for each occurrence, with its dates, id and address', async () => {
      const all = await walked('start_date=2031-01-01&end_date=2034-12-31', 50);
      const ours = all.filter(({ id }) => id === SINGLE || id > 10_000_000);
      const shown = ours.map(({ id, slug, url, start_date, end_date, utc_start_date, utc_end_date, timezone, all_day, rest_url }) => ({
        id,
        slug,
        path: new URL(url).pathname,
        start_date,
        end_date,
        utc_start_date,
        utc_end_date,
        timezone,
        all_day,
        rest: rest_url.replace(/.*\//, ''),
      }));
      const expected = IN_TABLES.map((date) => {
        const { slug, start_date, end_date, utc_start_date, utc_end_date, timezone, all_day } = date;
        return {
          id: idOf(date),
          slug,
          path: pathOf(date),
          start_date,
          end_date,
          utc_start_date,
          utc_end_date,
          timezone,
          all_day,
          rest: String(idOf(date)),
        };
      });
      const byId = (one: { id: number }, other: { id: number }) => one.id - other.id;
      expect(shown.sort(byId)).toEqual(expected.sort(byId));
    });

    it('are found once by the search of the whole site', async () => {
      const { body, headers } = await get('/wp-json/wp/v2/search?subtype=tribe_events&per_page=100');
      const ids = body.map(({ id }: { id: number }) => id);
      expect(ids.length).toBeGreaterThan(1);
      expect(ids).toEqual([...new Set(ids)]);
      expect(headers['x-wp-total']).toBe(String(ids.length));
    });

    it('are read by the id of an occurrence and by that of the post', async () => {
      for (const date of IN_TABLES.filter(({ post_id: post }) => post !== SINGLE)) {
        const { body } = await get(`${EVENTS}/${date.provisional_id}`);
        expect([body.id, body.start_date, body.utc_end_date, new URL(body.url).pathname, body.json_ld.url]).toEqual([
          date.provisional_id,
          date.start_date,
          date.utc_end_date,
          date.path,
          body.url,
        ]);
        expect(body.global_id).toMatch(new RegExp(`id=${date.provisional_id}$`));
      }
      const { body } = await get(`${EVENTS}/502`);
      expect([body.id, body.start_date, new URL(body.url).pathname]).toEqual([
        502,
        '2031-01-14 18:30:00',
        '/event/choir-tuesdays-and-thursdays/',
      ]);
      const bySlug = await get(`${EVENTS}/by-slug/choir-tuesdays-and-thursdays`);
      expect(bySlug.body.id).toBe(502);
      expect((await get(`${EVENTS}/10000999`)).status).toBe(404);
    });

    it('show their rule on request, under either id', async () => {
      for (const path of ['502', '10000308', 'by-slug/choir-tuesdays-and-thursdays']) {
        const { body } = await get(`${EVENTS}/${path}?recurrence=true`);
        expect(body.recurrence).toEqual({
          post_id: 502,
          dtstart: '2031-01-14 18:30:00',
          rrule: 'FREQ=WEEKLY;INTERVAL=1;UNTIL=20310228T225959Z;WKST=SU;BYDAY=TU,TH',
          rdate: [],
          exdate: ['2031-01-30 18:30:00'],
          first: '2031-01-14 18:30:00',
          count: 13,
          series: { id: 520, title: 'Music in the square', slug: 'music-in-the-square' },
        });
        expect((await get(`${EVENTS}/${path}`)).body).not.toHaveProperty('recurrence');
      }
      const rules = await Promise.all(
        [506, 509, 511, 514, SINGLE, 531].map(async (id) => (await get(`${EVENTS}/${id}?recurrence=1`)).body),
      );
      expect(rules.map(({ recurrence }) => recurrence && [recurrence.dtstart, recurrence.rdate, recurrence.exdate])).toEqual([
        ['2031-03-05 21:00:00', ['2031-03-29 15:00:00'], ['2031-04-02 21:00:00']],
        ['2031-06-05 09:00:00', ['2031-06-12 09:00:00', '2031-06-20 14:30:00'], []],
        ['2031-04-09 17:00:00', ['2031-04-07 17:00:00'], []],
        ['2031-11-07 20:00:00', [], ['2031-11-14 20:00:00']],
        null,
        null,
      ]);
    });

    it('do not name a series that is not published', async () => {
      await db.from('posts').where('ID', 520).update({ post_status: 'private' });
      tick();
      expect((await get(`${EVENTS}/502?recurrence=true`)).body.recurrence.series).toBeNull();
      await db.from('posts').where('ID', 520).update({ post_status: 'publish' });
      tick();
    });

    it('have a description of the parameter and the member', async () => {
      const { body } = await get('/wp-json/tribe/events/v1/doc');
      for (const path of ['/events/{id}', '/events/by-slug/{slug}'])
        expect(body.paths[path].get.parameters.map(({ name }: { name: string }) => name)).toContain('recurrence');
      const { body: answer } = await get(`${EVENTS}/10000308?recurrence=true`);
      expect(eventRecord.safeParse(answer).error).toBeUndefined();
    });

    it('show a changed rule even if nothing else has changed', async () => {
      const rule = async () => (await get(`${EVENTS}/510?recurrence=true`)).body.recurrence.rrule;
      const { rset = '' } = (await db.from('tec_events').where('post_id', 510).first())!;
      expect(await rule()).toBe('FREQ=WEEKLY;INTERVAL=1;WKST=SU;BYDAY=MO');
      await db
        .from('tec_events')
        .where('post_id', 510)
        .update({ rset: rset!.replace('WKST=SU;', '') });
      tick();
      expect(await rule()).toBe('FREQ=WEEKLY;INTERVAL=1;BYDAY=MO');
      await db.from('tec_events').where('post_id', 510).update({ rset });
      tick();
    });

    it('show the abbreviation of the time zone at the time of each occurrence', async () => {
      const { body } = await get(`${EVENTS}/10000342`);
      const { body: later } = await get(`${EVENTS}/10000343`);
      expect([body.timezone_abbr, later.timezone_abbr]).toEqual(['CEST', 'CET']);
    });

    it('are included by either id', async () => {
      const { events, total } = await listed('include=10000303,504,10000362&per_page=50&orderby=include');
      expect(total).toBe(8);
      expect(events.map(({ id }) => id)).toEqual([10000303, ...[325, 326, 327, 328, 329, 330].map((id) => 10_000_000 + id), 10000362]);
    });

    it('are found by filters and searches, once for each matching occurrence', async () => {
      const { events, total } = await listed('search=Last+Friday+jam&start_date=2031-01-01&end_date=2031-12-31&per_page=4');
      expect(total).toBe(6);
      expect(events.map(({ id }) => id)).toEqual([325, 326, 327, 328].map((id) => 10_000_000 + id));
    });

    it('have no gaps or repetitions in the pages of lists of any order', async () => {
      for (const order of ['title', 'id', 'modified', 'date', 'slug']) {
        const all = await walked(`start_date=2031-01-01&end_date=2034-12-31&orderby=${order}`, 7);
        expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
      }
    });

    it('are counted in the total of any window, which contains the same dates as a simple filter', async () => {
      const day = fc.integer({ min: 0, max: 360 }).map((n) => new Date(Date.UTC(2031, 0, 1 + n)).toISOString().slice(0, 10));
      const everything = await walked('start_date=2029-01-01&end_date=2036-12-31', 50);
      await fc.assert(
        fc.asyncProperty(day, day, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (one, other, size, descending) => {
          const [from, to] = [one, other].sort() as [string, string];
          const found = await walked(`start_date=${from}&end_date=${to}&order=${descending ? 'desc' : 'asc'}`, size);
          const ids = found.map(({ id }) => id);
          const settings = await running.site.settings();
          const { filters } = listWindow(
            { start_date: from, end_date: to },
            { siteZone: settings.zone, cutoff: settings.calendar.cutoff, now: NOW, mode: 'event' },
          );
          const byHand = everything.filter((event) =>
            filters.every(({ column, op, value }) => (op.startsWith('>') ? event[column] >= value : event[column] <= value)),
          );
          expect([...ids].sort()).toEqual(byHand.map(({ id }) => id).sort());
          const starts = found.map(({ start_date }) => start_date);
          expect(starts).toEqual(descending ? [...starts].sort().reverse() : [...starts].sort());
        }),
        { numRuns: 12 },
      );
    });

    it('have a calendar for each date, under the address given in lists', async () => {
      for (const date of EXPECTED_DATES.filter(({ post_id: post, form }) => form === 'tables' && post !== SINGLE)) {
        const { text, status } = await get(`${date.path}?ical=1`);
        expect([date.path, status]).toEqual([date.path, 200]);
        expect(text.match(/BEGIN:VEVENT/g)).toHaveLength(1);
        expect(text).toMatch(new RegExp(`UID:${date.provisional_id}-`));
      }
      expect((await get('/event/tower-open-daily/2031-01-25/?ical=1')).status).toBe(404);
      expect((await get('/event/two-tours-a-day/2031-07-10/3/?ical=1')).status).toBe(404);
    });

    it('have one calendar event with their rule under the address of the event, with the dates given in lists', async () => {
      for (const slug of new Set(IN_TABLES.map((date) => date.slug))) {
        const dates = IN_TABLES.filter((date) => date.slug === slug);
        const { text } = await get(`/event/${slug}/?ical=1`);
        // A rule without an end continues after the last row; any other gives no further date.
        const isEndless = /BEGIN:VEVENT[\s\S]*\nRRULE:(?!.*(COUNT|UNTIL)=)/.test(text);
        const most = isEndless ? dates.length : dates.length + 1;
        expect([slug, datesIn(text, most)]).toEqual([slug, dates.map(shownDate)]);
      }
    });

    it('are in a calendar of named events with their rule, or with the one date that is named', async () => {
      const [choir, market] = ['choir-tuesdays-and-thursdays', 'market-weekends'];
      const eventsOf = (text: string) => text.match(/BEGIN:VEVENT[\s\S]*?END:VEVENT/g) ?? [];
      const alone = await Promise.all([choir, market].map(async (slug) => eventsOf((await get(`/event/${slug}/?ical=1`)).text)));
      expect(eventsOf((await get('/?event_ids=502,507&ical=1')).text)).toEqual(alone.flat());
      const [date] = eventsOf((await get('/?event_ids=10000308&ical=1')).text);
      expect(date).toMatch(/UID:10000308-/);
      expect(date).not.toContain('RRULE');
      const others = Array.from({ length: 60 }, (_, at) => 38 + at);
      const events = eventsOf((await get(`/?event_ids=${[...others, 502]}&per_page=1000&ical=1`)).text);
      expect(events.length).toBeGreaterThan(30);
      expect(events.at(-1)).toMatch(/UID:502-[\s\S]*RRULE/);
    });

    it('have their dates up to a number of recurring events, in the order in which they are named', async () => {
      const events = [38, 507, 39, 502, 510].map((id) => ({ id, timezone: 'Europe/Rome' }));
      const settings = await running.site.settings();
      const dates = await Promise.all([2, 3, 5].map((limit) => datesOfEvents(running.site, { settings }, events, limit)));
      expect(dates.map((found) => [...found.keys()])).toEqual([
        [507, 502],
        [507, 502, 510],
        [507, 502, 510],
      ]);
    });

    it('have their rule in the syntax of calendars', async () => {
      const lines = async (slug: string) => {
        const { text } = await get(`/event/${slug}/?ical=1`);
        const events = text.split('BEGIN:VEVENT').slice(1).join('');
        return events.match(/^(DTSTART|DTEND|RRULE|RDATE|EXDATE|RECURRENCE-ID|UID).*$/gm)!.map((line) => line.trimEnd());
      };
      expect(await lines('choir-tuesdays-and-thursdays')).toEqual([
        expect.stringMatching(/^UID:502-/),
        'DTSTART;TZID=Europe/Rome:20310114T183000',
        'DTEND;TZID=Europe/Rome:20310114T200000',
        'RRULE:FREQ=WEEKLY;INTERVAL=1;WKST=SU;BYDAY=TU,TH;UNTIL=20310228T225959Z',
        'EXDATE;TZID=Europe/Rome:20310130T183000',
      ]);
      expect(await lines('market-weekends')).toEqual([
        expect.stringMatching(/^UID:507-/),
        'DTSTART;VALUE=DATE:20310503',
        'DTEND;VALUE=DATE:20310505',
        'RRULE:FREQ=WEEKLY;INTERVAL=1;COUNT=3;WKST=SU;BYDAY=SA',
      ]);
    });

    it('are in feeds with a UID for each date', async () => {
      const { text } = await get('/events/?ical=1&tribe-bar-date=2031-01-01&per_page=1000');
      const uids = [...text.matchAll(/^UID:(.*)/gm)].map(([, uid]) => uid!.split('-')[0]);
      expect(uids.length).toBeGreaterThan(IN_TABLES.length - 1);
      expect(new Set(uids).size).toBe(uids.length);
      expect(uids).toEqual(expect.arrayContaining(IN_TABLES.map((date) => String(idOf(date)))));
    });

    it('are read by the id of a date through wp/v2 and tec/v1', async () => {
      const { body: core } = await get('/wp-json/wp/v2/tribe_events/10000308?_embed');
      expect([core.id, new URL(core.link).pathname, core.meta._EventStartDate, core._links.self[0].href.replace(/.*\//, '')]).toEqual([
        10000308,
        '/event/choir-tuesdays-and-thursdays/2031-01-21/',
        '2031-01-21 18:30:00',
        '10000308',
      ]);
      const tec = await running.send('GET', '/wp-json/tec/v1/events/10000308', { headers: { 'X-TEC-EEA': 'yes' } });
      expect([tec.body.id, tec.body.start_date, new URL(tec.body.link).pathname]).toEqual([
        10000308,
        '2031-01-21 18:30:00',
        new URL(core.link).pathname,
      ]);
      const { body: whole } = await get('/wp-json/wp/v2/tribe_events/502');
      expect([whole.id, new URL(whole.link).pathname]).toEqual([502, '/event/choir-tuesdays-and-thursdays/']);
      expect((await get('/wp-json/wp/v2/tribe_events/10000999')).status).toBe(404);
      expect((await get('/wp-json/wp/v2/tribe_venue/10000308')).status).toBe(404);
    });

    it('may be named by the id of a date in a parameter for an event', async () => {
      await db.from('postmeta').insert({ post_id: 502, meta_key: '_EventVenueID', meta_value: '12' });
      await db.from('term_relationships').insert({ object_id: 502, term_taxonomy_id: 3, term_order: 0 });
      for (const path of ['tribe/events/v1/venues?event=', 'tribe/events/v1/categories?event=', 'wp/v2/tribe_events_cat?post=']) {
        const [byPost, byDate, unknown] = await Promise.all(['502', '10000308', '10000999'].map((id) => get(`/wp-json/${path}${id}`)));
        const idsIn = ({ body }: typeof byPost & {}) => (body.venues ?? body.categories ?? body).map(({ id }: { id: number }) => id);
        expect([path, idsIn(byDate!).length, idsIn(byDate!)]).toEqual([path, 1, idsIn(byPost!)]);
        expect([path, unknown!.status >= 400]).toEqual([path, true]);
      }
      await db.from('postmeta').where({ post_id: 502, meta_key: '_EventVenueID', meta_value: '12' }).delete();
      await db.from('term_relationships').where({ object_id: 502, term_taxonomy_id: 3 }).delete();
    });

    it('may be named by the id of a date where a file is attached to an event', async () => {
      const media = '/wp-json/wp/v2/media';
      const upload = (post: number) =>
        running.send('POST', `${media}?post=${post}`, {
          as: 'admin',
          body: TINY,
          headers: { 'Content-Type': 'image/png', 'Content-Disposition': 'attachment; filename="choir.png"' },
        });
      const [byDate, byPost, unknown] = [await upload(10000308), await upload(502), await upload(10000999)];
      expect([byDate.status, byDate.body.post, unknown.status]).toEqual([201, 502, 403]);
      const folderOf = ({ body }: Answer) => body.source_url.replace(/[^/]*$/, '');
      expect(folderOf(byDate)).toBe(folderOf(byPost));
      const ids = [byDate, byPost].map(({ body }) => body.id).sort();
      for (const query of ['parent=502', 'parent=10000308', 'parent=10000309,10000308']) {
        const { body: files } = await running.send('GET', `${media}?${query}&orderby=id&order=asc`, { as: 'admin' });
        expect([query, files.map(({ id }: { id: number }) => id)]).toEqual([query, ids]);
      }
      const { body: others } = await running.send('GET', `${media}?parent_exclude=10000308&per_page=100`, { as: 'admin' });
      expect(others.filter(({ id }: { id: number }) => ids.includes(id))).toEqual([]);
      await running.send('PATCH', `${media}/${ids[0]}`, { as: 'admin', body: { post: 0 } });
      const change = await running.send('PATCH', `${media}/${ids[0]}`, { as: 'admin', body: { post: 10000309 } });
      expect([change.status, change.body.post]).toEqual([200, 502]);
      for (const id of ids) expect((await running.send('DELETE', `${media}/${id}?force=true`, { as: 'admin' })).status).toBe(200);
    });

    it('are one record each in the lists of posts', async () => {
      const { body: posts, headers } = await get('/wp-json/wp/v2/tribe_events?per_page=100&include=501,502,509');
      expect([posts.map(({ id }: { id: number }) => id).sort(), headers['x-wp-total']]).toEqual([[501, 502, 509], '3']);
      const { body: named } = await get('/wp-json/wp/v2/tribe_events?include=10000320,10000308,501,502&orderby=include');
      expect(named.map(({ id }: { id: number }) => id)).toEqual([503, 502, 501]);
      const { body: others } = await get('/wp-json/wp/v2/tribe_events?per_page=100&exclude=501,10000308');
      const kept = others.map(({ id }: { id: number }) => id);
      // Excluding one date leaves the other dates of its event.
      expect([501, 502, 503].map((id) => kept.includes(id))).toEqual([false, true, true]);
      const { body: fewer } = await get(
        '/wp-json/wp/v2/tribe_events?per_page=100&exclude=10000306,10000307,10000308,10000309,10000310,501',
      );
      expect(fewer).toHaveLength(kept.length);
      const all = IN_TABLES.filter(({ post_id: post }) => post === 512).map(({ provisional_id: id }) => id);
      const { body: without } = await get(`/wp-json/wp/v2/tribe_events?per_page=100&exclude=${all.join()}`);
      expect([kept.includes(512), without.some(({ id }: { id: number }) => id === 512)]).toEqual([true, false]);
      for (const path of ['/wp-json/wp/v2/tribe_events?per_page=100', '/wp-json/tec/v1/events?per_page=100']) {
        const { body, headers } = await running.send('GET', path, { headers: { 'X-TEC-EEA': 'yes' } });
        const ids = body.map(({ id }: { id: number }) => id);
        expect([path, ids.includes(501), new Set(ids).size, headers['x-wp-total']]).toEqual([path, true, ids.length, String(ids.length)]);
      }
    });
  });
});

describeDatabases('writing to recurring events', (open) => {
  let db: Database;
  let running: RunningSite;
  let putBack: () => Promise<void>;
  beforeAll(async () => {
    ({ db, running, putBack } = await serveRecurringSite(await open(), NOW));
  });
  beforeEach(() => putBack());
  afterAll(() => running.close());

  const send = (method: string, id: number, body?: object) =>
    running.send(method, `${EVENTS}/${id}`, { as: 'admin', ...(body ? { body } : {}) });
  /** All stored data about the dates of events. */
  const datesStored = async () => ({
    metas: await db.from('postmeta').where('meta_key', 'like', '\\_Event%').orderBy('meta_id'),
    events: await db.from('tec_events').orderBy('event_id'),
    occurrences: await db.from('tec_occurrences').orderBy('occurrence_id'),
    posts: await db.from('posts').orderBy('ID').select('ID', 'post_status', 'post_title'),
  });

  it.each([502, 10_000_308])('changes texts of all dates, whichever id is given (%s), and answers with that id', async (id) => {
    const before = await datesStored();
    const { status, body } = await send('POST', id, { title: 'Choir practice', website: 'https://example.com/' });
    expect([status, body.id, body.title]).toEqual([200, id, 'Choir practice']);
    const { body: other } = await send('GET', 10_000_317);
    expect([other.title, other.start_date]).toEqual(['Choir practice', '2031-02-25 18:30:00']);
    const after = await datesStored();
    expect([after.events, after.occurrences]).toEqual([before.events, before.occurrences]);
  });

  it.each<[number, object]>([
    [502, { start_date: '2031-01-14 19:30:00', end_date: '2031-01-14 21:00:00' }],
    [10_000_308, { start_date: '2031-01-21 19:30:00' }],
    [10_000_308, { start_date: '2031-01-14 18:30:00', end_date: '2031-01-14 20:00:00' }],
    [502, { timezone: 'America/New_York' }],
    [10_000_308, { all_day: true }],
  ])('refuses other dates (%s %j) and writes nothing', async (id, change) => {
    const before = await datesStored();
    const { status, body } = await send('POST', id, { title: 'Moved', ...change });
    expect([status, body.code]).toEqual([409, 'rest_recurring_event_dates']);
    expect(await datesStored()).toEqual(before);
  });

  it.each([502, 10_000_308])('accepts a record as it was read (%s)', async (id) => {
    const { body: read } = await send('GET', id);
    const before = await datesStored();
    const { start_date, end_date, timezone, all_day } = read;
    const { status, body } = await send('POST', id, { start_date, end_date, timezone, all_day, title: 'Sent back' });
    expect([status, body.start_date, body.title]).toEqual([200, start_date, 'Sent back']);
    const after = await datesStored();
    expect([after.metas, after.occurrences]).toEqual([before.metas, before.occurrences]);
  });

  it.each([
    ['_EventStartDateUTC', '2031-01-01 00:00:00'],
    ['_EventEndDateUTC', undefined],
    ['_EventTimezone', undefined],
  ])('accepts a record as it was read if another program has spoiled its dates: %s %s', async (key, text) => {
    const meta = () => running.site.db.from('postmeta').where({ post_id: 502, meta_key: key });
    await (text === undefined ? meta().delete() : meta().update({ meta_value: text }));
    await running.site.db.from('fasti_changes').increment('counter');
    for (const [id, scope] of [
      [502, {}],
      [10_000_308, {}],
      [10_000_308, { scope: 'date' }],
    ] as const) {
      const { body: read } = await send('GET', id);
      const { status, body } = await send('POST', id, { ...read, ...scope });
      expect([status, body.start_date, body.end_date]).toEqual([200, read.start_date, read.end_date]);
    }
    const { status } = await send('POST', 502, { start_date: '2031-01-14 19:30:00', end_date: '2031-01-14 21:00:00' });
    expect(status).toBe(409);
  });

  it('refuses to delete one date, and deletes the event with all its dates', async () => {
    const before = await datesStored();
    const { status, body } = await send('DELETE', 10_000_308);
    expect([status, body.code]).toEqual([409, 'rest_recurring_event_date']);
    expect(await datesStored()).toEqual(before);
    expect((await send('DELETE', 502)).status).toBe(200);
    expect((await send('GET', 10_000_308)).status).toBe(403);
    const { body: list } = await running.send('GET', `${EVENTS}?search=choir,&start_date=2031-01-01&end_date=2031-12-31`);
    expect(list.events).toEqual([]);
  });

  it('restores the event from the trash by the id of a date, too', async () => {
    expect((await send('DELETE', 502)).status).toBe(200);
    const { site } = running;
    await restorePost(site, await callerOf(site), postKind('event'), 10_000_307);
    expect((await running.send('GET', `${EVENTS}/10000307`)).body.start_date).toBe('2031-01-16 18:30:00');
  });

  it('refuses to delete one date through wp/v2 and tec/v1, and deletes the event with all its dates', async () => {
    const before = await datesStored();
    for (const path of ['wp/v2/tribe_events/10000308', 'wp/v2/tribe_events/10000308?force=true', 'tec/v1/events/10000308']) {
      const options = { as: 'admin', headers: { 'X-TEC-EEA': 'yes' } } as const;
      const { status, body } = await running.send('DELETE', `/wp-json/${path}`, options);
      expect([path, status, body.code]).toEqual([path, 409, 'rest_recurring_event_date']);
    }
    expect(await datesStored()).toEqual(before);
    const changed = await running.send('POST', '/wp-json/wp/v2/tribe_events/10000308', { as: 'admin', body: { title: 'Choir practice' } });
    expect([changed.status, changed.body.id, changed.body.title.raw]).toEqual([200, 10000308, 'Choir practice']);
    const { body: moved, status } = await running.send('POST', '/wp-json/wp/v2/tribe_events/10000308', {
      as: 'admin',
      body: { meta: { _EventStartDate: '2031-01-21 19:30:00' } },
    });
    expect([status, moved.code]).toEqual([409, 'rest_recurring_event_dates']);
  });

  describe('a single date', () => {
    const shownDates = async (search: string): Promise<[number, string, string][]> => {
      const { body } = await running.send('GET', `${EVENTS}?search=${search}&start_date=2031-01-01&end_date=2031-12-31&per_page=50`);
      return body.events.map(({ id, start_date: start, end_date: end }: Record<string, string>) => [id, start, end]);
    };
    const setOf = async (post: number) => {
      const [row] = await db.rows<{ rset: string }>`SELECT rset FROM {tec_events} WHERE post_id = ${post}`;
      const [meta] = await db.rows<{ meta_value: string }>`
        SELECT meta_value FROM {postmeta} WHERE post_id = ${post} AND meta_key = '_EventRecurrence'`;
      return { lines: row!.rset.split('\n'), rules: serializedMembers(meta!.meta_value) as { rules: object[]; exclusions: object[] } };
    };
    /** The faults that doctor finds in an event. */
    const faultsOf = async (post: number): Promise<string[]> => {
      const faults = [];
      for await (const finding of auditRecurrences(db, '2030-12-31 12:00:00')) if (finding.post === post) faults.push(finding.fault);
      return faults;
    };

    it('is removed if it comes from the rule', async () => {
      const before = await shownDates('choir,');
      const { status, body } = await send('DELETE', 10_000_308, { scope: 'date' });
      expect([status, body.id, body.start_date]).toEqual([200, 10_000_308, '2031-01-21 18:30:00']);
      expect(await shownDates('choir,')).toEqual(before.filter(([id]) => id !== 10_000_308));
      expect((await running.send('GET', `${EVENTS}/10000308`)).status).toBe(404);
      const { lines, rules } = await setOf(502);
      expect(lines.slice(-2)).toEqual(['EXDATE:20310130T183000', 'EXDATE:20310121T183000']);
      expect([rules.rules.length, rules.exclusions.length]).toEqual([1, 2]);
      expect(await faultsOf(502)).toEqual([]);
    });

    it('is removed if its time does not exist in spring, and doctor finds no fault', async () => {
      // Every day at half past two in Rome, five times; on 30 March this is half past three.
      const dates: [string, string][] = [
        ['2031-03-29 02:30:00', '2031-03-29 01:30:00'],
        ['2031-03-30 03:30:00', '2031-03-30 01:30:00'],
        ['2031-03-31 02:30:00', '2031-03-31 00:30:00'],
        ['2031-04-01 02:30:00', '2031-04-01 00:30:00'],
        ['2031-04-02 02:30:00', '2031-04-02 00:30:00'],
      ];
      const rowOf = ([start, startUtc]: [string, string]) => {
        const [end, endUtc] = [start, startUtc].map((time) => textFromUnix(unixFromText(time) + 3600));
        return { start_date: start, end_date: end!, start_date_utc: startUtc, end_date_utc: endUtc!, duration: 3600 };
      };
      const rset = 'DTSTART;TZID=Europe/Rome:20310329T023000\nDTEND;TZID=Europe/Rome:20310329T033000\nRRULE:FREQ=DAILY;INTERVAL=1;COUNT=5';
      await db
        .from('tec_events')
        .where('post_id', 501)
        .update({ rset, ...rowOf(dates[0]!) });
      for (const [place, date] of dates.entries())
        await db
          .from('tec_occurrences')
          .where('occurrence_id', 301 + place)
          .update(rowOf(date));
      expect(await faultsOf(501)).toEqual([]);
      expect((await send('DELETE', 10_000_302, { scope: 'date' })).status).toBe(200);
      expect((await setOf(501)).lines.at(-1)).toBe('EXDATE:20310330T023000');
      const left = await db.from('tec_occurrences').where('post_id', 501).orderBy('start_date');
      expect(left.map((row) => row.start_date)).toEqual(dates.filter((_, place) => place !== 1).map(([start]) => start));
      expect(await faultsOf(501)).toEqual([]);
    });

    it('is changed without rewriting the rows of the other dates', async () => {
      const rset =
        'DTSTART;TZID=Europe/Rome:20310113T100000\nDTEND;TZID=Europe/Rome:20310113T110000\nRRULE:FREQ=DAILY;INTERVAL=1;COUNT=300';
      const meta = { post_id: 501, meta_key: '_EventRecurrence' };
      const rules = (await db.from('postmeta').where(meta).first())!.meta_value!;
      await db.from('tec_events').where('post_id', 501).update({ rset });
      await db
        .from('postmeta')
        .where(meta)
        .update({ meta_value: rules.replace('s:1:"5"', 's:3:"300"') });
      await db.transaction((trx) => repairRecurrence(trx, 501, '2030-12-31 12:00:00'));
      expect(await faultsOf(501)).toEqual([]);
      const { result, queries } = await countQueries(running.site, () => send('DELETE', 10_000_303, { scope: 'date' }));
      expect(result.status).toBe(200);
      expect(queries).toBeLessThan(100);
      expect((await db.from('tec_occurrences').where('post_id', 501)).length).toBe(299);
      expect(await faultsOf(501)).toEqual([]);
    });

    it('is removed if it comes from a list', async () => {
      const before = await shownDates('course');
      const [, second] = before;
      expect((await send('DELETE', second![0], { scope: 'date' })).status).toBe(200);
      expect(await shownDates('course')).toEqual(before.filter((date) => date !== second));
      const { lines, rules } = await setOf(509);
      expect([lines.length, lines.some((line) => line.includes('20310612')), rules.rules.length]).toEqual([3, false, 1]);
      expect(await faultsOf(509)).toEqual([]);
    });

    it('is moved if it comes from a list, and keeps its id', async () => {
      const [first, [id], third] = (await shownDates('course')) as [[number, string, string], [number], [number, string, string]];
      const span = { start_date: '2031-06-13 18:00:00', end_date: '2031-06-13 19:00:00' };
      const { status, body } = await send('POST', id, { scope: 'date', ...span });
      expect([status, body.id, body.start_date, body.end_date]).toEqual([200, id, '2031-06-13 18:00:00', '2031-06-13 19:00:00']);
      expect(await shownDates('course')).toEqual([first, [id, '2031-06-13 18:00:00', '2031-06-13 19:00:00'], third]);
      const { lines, rules } = await setOf(509);
      expect(lines[2]).toBe('RDATE;TZID=Europe/Rome;VALUE=PERIOD:20310613T180000/20310613T190000');
      expect(rules.rules[1]).toMatchObject({
        custom: { date: { date: '2031-06-13' }, 'same-time': 'no', 'start-time': '6:00pm', 'end-time': '7:00pm', 'end-day': 'same-day' },
      });
      expect(await faultsOf(509)).toEqual([]);
    });

    /** The columns and terms of the event with listed dates, except for the time of its last change. */
    const postStored = async () => {
      const { post_modified: _, post_modified_gmt: __, ...columns } = (await db.from('posts').where('ID', 509).first())!;
      return {
        columns,
        terms: await db.from('term_relationships').where('object_id', 509),
        count: (await db.from('posts').where('post_type', '<>', 'revision')).length,
      };
    };

    it('is moved by a request with the whole record as it was read', async () => {
      const category = 9001;
      await insertRows(db, 'terms', [{ term_id: category, name: 'Food & drink', slug: 'food-drink' }]);
      await insertRows(db, 'term_taxonomy', [{ term_taxonomy_id: category, term_id: category, taxonomy: 'tribe_events_cat', count: 1 }]);
      await insertRows(db, 'term_relationships', [{ object_id: 509, term_taxonomy_id: category }]);
      await insertRows(
        db,
        'postmeta',
        Object.entries({ _EventVenueID: '12', _EventCost: '10', _EventCurrencySymbol: '€', _EventURL: 'https://example.org/?a=1&b=2' }).map(
          ([meta_key, meta_value]) => ({ post_id: 509, meta_key, meta_value }),
        ),
      );
      await db.from('posts').where('ID', 509).update({ post_title: 'Course & "more"', post_content: 'One.\n\nTwo.' });
      const [, [id]] = (await shownDates('course')) as [unknown, [number]];
      const { body: read } = await running.send('GET', `${EVENTS}/${id}`, { as: 'admin' });
      expect([read.title, read.categories.length]).toEqual(['Course &#038; &#8220;more&#8221;', 1]);
      const before = await postStored();
      const span = { start_date: '2031-06-13 18:00:00', end_date: '2031-06-13 19:00:00' };
      const { status, body } = await send('POST', id, { ...read, scope: 'date', ...span });
      expect([status, body.start_date, body.title]).toEqual([200, span.start_date, read.title]);
      const byTitle = { title: 'Course & "more"', description: 'One.\n\nTwo.', cost: '€10', categories: ['Food & drink'], venue: [12] };
      const asStored = await send('POST', id, { ...byTitle, scope: 'date', end_date: '2031-06-13 20:00:00' });
      expect([asStored.status, asStored.body.data?.params]).toEqual([200, undefined]);
      expect(await postStored()).toEqual(before);
    });

    it.each<[string, object]>([
      ['title', { title: 'only that' }],
      ['description', { description: 'only that' }],
      ['status', { status: 'draft' }],
      ['slug', { slug: 'only-that' }],
      ['date', { date: '2030-01-01 10:00:00' }],
      ['cost', { cost: '0' }],
      ['website', { website: 'https://example.org/other' }],
      ['featured', { featured: true }],
      ['categories', { categories: ['New'] }],
      ['tags', { tags: [4] }],
      ['venue', { venue: 12 }],
      ['organizer', { organizer: { organizer: 'New' } }],
      ['external_id', { external_id: 'other' }],
    ])('is not changed by a request that names another %s, which belongs to the event', async (name, values) => {
      const [, [id]] = (await shownDates('course')) as [unknown, [number]];
      const span = { start_date: '2031-06-13 18:00:00', end_date: '2031-06-13 19:00:00' };
      const stored = async () => [await postStored(), await datesStored()];
      const before = await stored();
      const { status, body } = await send('POST', id, { scope: 'date', ...values, ...span });
      expect([status, body.code, Object.keys(body.data.params)]).toEqual([400, 'rest_invalid_param', [name]]);
      expect(await stored()).toEqual(before);
      expect((await send('POST', id, { scope: 'date', ...values })).status).toBe(400);
    });

    it.each([
      [502, 'choir,', '2031-01-18 10:00:00', '2031-01-18 12:00:00'],
      [509, 'course', '2031-07-01 21:00:00', '2031-07-02 01:00:00'],
      [512, 'two', '2031-07-12 10:00:00', '2031-07-12 11:00:00'],
    ])('is added to %s', async (post, search, start, end) => {
      const before = await shownDates(search);
      const path = `${EVENTS}/${post}/dates`;
      const { status, body } = await running.send('POST', path, { as: 'admin', body: { start_date: start, end_date: end } });
      expect([status, body.start_date, body.end_date]).toEqual([201, start, end]);
      expect(eventRecord.safeParse(body).error).toBeUndefined();
      expect(before.some(([id]) => id === body.id)).toBe(false);
      const after = await shownDates(search);
      expect(new Set(after)).toEqual(new Set([...before, [body.id, start, end]]));
      expect(await faultsOf(post)).toEqual([]);
    });

    it('keeps its length if it is moved to a time that the clock skips', async () => {
      const { body: added } = await running.send('POST', `${EVENTS}/502/dates`, {
        as: 'admin',
        body: { start_date: '2031-01-24 02:15:00', end_date: '2031-01-24 03:15:00' },
      });
      const span = { start_date: '2031-03-30 02:15:00', end_date: '2031-03-30 03:15:00' };
      const { status, body } = await send('POST', added.id, { scope: 'date', ...span });
      expect([status, body.start_date, body.end_date]).toEqual([200, '2031-03-30 03:15:00', '2031-03-30 04:15:00']);
      expect(await faultsOf(502)).toEqual([]);
    });

    it.each([502, 507, 509, 512])('is no fault if it is the latest that the API accepts (%s), and doctor keeps it', async (post) => {
      const span = { start_date: '9999-12-30 10:00:00', end_date: '9999-12-31 12:00:00' };
      const { status, body } = await running.send('POST', `${EVENTS}/${post}/dates`, { as: 'admin', body: span });
      expect([status, body.start_date.slice(0, 10)]).toEqual([201, '9999-12-30']);
      expect(await faultsOf(post)).toEqual([]);
      await db.transaction((trx) => repairRecurrence(trx, post, '2030-12-31 12:00:00'));
      const [row] = await db.from('tec_occurrences').where('post_id', post).orderBy('start_date_utc', 'desc');
      expect([row!.start_date, row!.end_date]).toEqual([body.start_date, body.end_date]);
    });

    it('is refused if its end cannot be stored in UTC', async () => {
      const span = { start_date: '9999-12-31 10:00:00', end_date: '9999-12-31 22:00:00' };
      const { status, body } = await running.send('POST', `${EVENTS}/504/dates`, { as: 'admin', body: span });
      expect([status, Object.keys(body.data.params)]).toEqual([400, ['end_date']]);
    });

    it.each([
      ['far after the rows of its rule', '9998-11-30'],
      ['on the last day that can be stored', '9999-12-31'],
    ])('is added and removed %s without computing the dates in between', async (_, day) => {
      const span = { start_date: `${day} 10:00:00`, end_date: `${day} 11:00:00` };
      const before = await setOf(510);
      const steps = await countDates(async () => {
        const { status, body } = await running.send('POST', `${EVENTS}/510/dates`, { as: 'admin', body: span });
        expect([status, body.start_date, body.end_date]).toEqual([201, span.start_date, span.end_date]);
        expect(await faultsOf(510)).toEqual([]);
        await db.transaction((trx) => repairRecurrence(trx, 510, '2030-12-31 12:00:00'));
        expect((await running.send('GET', `${EVENTS}/${body.id}`)).body.start_date).toBe(span.start_date);
        const { body: event } = await running.send('GET', `${EVENTS}/510?recurrence=true`);
        expect(event.recurrence.rdate).toContain(span.start_date);
        expect((await running.send('GET', `/event/${event.slug}/?ical=1`)).status).toBe(200);
        expect((await send('DELETE', body.id, { scope: 'date' })).status).toBe(200);
      });
      expect(steps).toBeLessThan(20_000);
      expect(await setOf(510)).toEqual(before);
    });

    it('is moved by each of several concurrent requests, and removed by only one', async () => {
      const spans = [24, 25, 22].map((day) => ({ start_date: `2031-01-${day} 10:00:00`, end_date: `2031-01-${day} 11:00:00` }));
      const { body: added } = await running.send('POST', `${EVENTS}/502/dates`, { as: 'admin', body: spans[2]! });
      const moved = await Promise.all(spans.map((span) => send('POST', added.id, { scope: 'date', ...span })));
      expect(moved.map(({ status }) => status)).toEqual([200, 200, 200]);
      const last = await running.send('GET', `${EVENTS}/${added.id}`);
      expect(spans.map((span) => span.start_date)).toContain(last.body.start_date);
      expect(await faultsOf(502)).toEqual([]);
      const left = await Promise.all(spans.map(() => send('DELETE', added.id, { scope: 'date' })));
      expect(left.map(({ status }) => (status === 400 ? 404 : status)).sort()).toEqual([200, 404, 404]);
      expect(await faultsOf(502)).toEqual([]);
    });

    it('is added once by requests with the same key, and only if the event is as it was read', async () => {
      const add = (headers: Record<string, string>) =>
        running.send('POST', `${EVENTS}/509/dates`, {
          as: 'admin',
          body: { start_date: '2031-07-01 21:00:00', end_date: '2031-07-01 23:00:00' },
          headers,
        });
      const { headers } = await running.send('GET', `${EVENTS}/509`, { as: 'admin' });
      expect((await add({ 'If-Match': '"other"' })).status).toBe(412);
      const first = await add({ 'If-Match': String(headers.etag), 'Idempotency-Key': 'once' });
      const second = await add({ 'If-Match': String(headers.etag), 'Idempotency-Key': 'once' });
      expect([first.status, second.status, second.headers['idempotency-replayed']]).toEqual([201, 201, 'true']);
      expect(second.body).toEqual(first.body);
      expect((await add({ 'If-Match': String(headers.etag) })).status).toBe(412);
      expect(await shownDates('course')).toHaveLength(4);
    });

    it('leaves the recurrence unchanged, byte for byte, when it is added and removed again', async () => {
      const before = await setOf(509);
      const span = { start_date: '2031-07-01 21:00:00', end_date: '2031-07-02 01:00:00' };
      const { body } = await running.send('POST', `${EVENTS}/509/dates`, { as: 'admin', body: span });
      await send('DELETE', body.id, { scope: 'date' });
      expect(await setOf(509)).toEqual(before);
    });

    it('leaves the recurrence unchanged, byte for byte, when it is removed and added again', async () => {
      const before = [await setOf(502), (await shownDates('choir,')).map(([, ...span]) => span)];
      await send('DELETE', 10_000_308, { scope: 'date' });
      const span = { start_date: '2031-01-21 18:30:00', end_date: '2031-01-21 20:00:00' };
      const { status, body } = await running.send('POST', `${EVENTS}/502/dates`, { as: 'admin', body: span });
      expect([status, body.start_date]).toEqual([201, '2031-01-21 18:30:00']);
      expect([await setOf(502), (await shownDates('choir,')).map(([, ...shown]) => shown)]).toEqual(before);
      expect(await faultsOf(502)).toEqual([]);
      // The date comes from the rule again, so it cannot be moved.
      const moved = { scope: 'date', start_date: '2031-01-22 18:30:00', end_date: '2031-01-22 20:00:00' };
      expect((await send('POST', body.id, moved)).status).toBe(409);
    });

    it('is added at another time on the day of a removed one', async () => {
      await send('DELETE', 10_000_308, { scope: 'date' });
      const span = { start_date: '2031-01-21 20:30:00', end_date: '2031-01-21 22:00:00' };
      expect((await running.send('POST', `${EVENTS}/502/dates`, { as: 'admin', body: span })).status).toBe(201);
      expect(await faultsOf(502)).toEqual([]);
    });

    it.each<[string, string, string, object, number, string]>([
      ['the first date, left out', 'DELETE', '/10000306', { scope: 'date' }, 409, 'rest_recurring_event_date'],
      [
        'a date that the rule gives, moved',
        'POST',
        '/10000308',
        { scope: 'date', start_date: '2031-01-22 18:30:00', end_date: '2031-01-22 20:00:00' },
        409,
        'rest_recurring_event_dates',
      ],
      ['another zone', 'POST', '/10000308', { scope: 'date', timezone: 'America/New_York' }, 409, 'rest_recurring_event_dates'],
      [
        'an added date before the first',
        'POST',
        '/509/dates',
        { start_date: '2031-06-01 09:00:00', end_date: '2031-06-01 10:00:00' },
        409,
        'rest_recurring_event_dates',
      ],
      [
        'an added date on the day of another',
        'POST',
        '/509/dates',
        { start_date: '2031-06-12 18:00:00', end_date: '2031-06-12 19:00:00' },
        409,
        'rest_recurring_event_dates',
      ],
      [
        'an added date of an event that takes place once',
        'POST',
        '/513/dates',
        { start_date: '2031-12-01 18:00:00', end_date: '2031-12-01 19:00:00' },
        409,
        'rest_recurring_event_dates',
      ],
      [
        'an added date that ends before it starts',
        'POST',
        '/509/dates',
        { start_date: '2031-07-01 18:00:00', end_date: '2031-07-01 17:00:00' },
        400,
        'rest_invalid_param',
      ],
      ['the event itself', 'DELETE', '/502', { scope: 'date' }, 400, 'rest_invalid_param'],
      ['an unknown scope', 'DELETE', '/10000308', { scope: 'series' }, 400, 'rest_invalid_param'],
    ])('is not written by a request for %s, which is refused', async (_, method, path, body, status, code) => {
      const before = await datesStored();
      const answer = await running.send(method, EVENTS + path, { as: 'admin', body });
      expect([answer.status, answer.body.code]).toEqual([status, code]);
      expect(await datesStored()).toEqual(before);
    });

    it('is refused for an event that takes place once with a message that says so', async () => {
      const body = { start_date: '2031-12-01 18:00:00', end_date: '2031-12-01 19:00:00' };
      const answer = await running.send('POST', `${EVENTS}/513/dates`, { as: 'admin', body });
      expect(answer.body.message).toBe('This event takes place once. Dates can only be added to recurring events.');
    });

    it('is not changed if the block editor keeps its own copy of the rules', async () => {
      await db.change`INSERT INTO {postmeta} (post_id, meta_key, meta_value) VALUES (502, '_tribe_blocks_recurrence_rules', '[{"type":"weekly"}]')`;
      const { status, body } = await send('DELETE', 10_000_308, { scope: 'date' });
      expect([status, body.code]).toEqual([409, 'rest_recurring_event_date']);
    });
  });

  it('gives dates stored as posts different slugs once the first of them is in the trash', async () => {
    const pathOf = async () => new URL((await running.send('GET', `${EVENTS}/532`)).body.url).pathname;
    expect(await pathOf()).toBe('/event/old-weekly-course/2031-09-09/');
    expect((await send('DELETE', 531)).status).toBe(200);
    expect(await pathOf()).toBe('/event/old-weekly-course-2031-09-09/2031-09-09/');
  });

  it('reports dates stored as posts as changed if their URLs change with that of the first', async () => {
    const changesAfter = async (write: () => Promise<unknown>): Promise<string[]> => {
      const [last] = await db.from('fasti_journal').orderBy('number', 'desc').limit(1);
      await write();
      const entries = await db
        .from('fasti_journal')
        .where('number', '>', last?.number ?? 0)
        .where('kind', 'post')
        .orderBy('object');
      return entries.map(({ object, what }) => `${what} ${object}`);
    };
    const all = [531, 532, 533, 534].map((id) => `changed ${id}`);
    expect(await changesAfter(() => send('POST', 531, { title: 'Other' }))).toEqual(['changed 531']);
    expect(await changesAfter(() => send('POST', 531, { slug: 'another' }))).toEqual(all);
    expect(await changesAfter(() => send('DELETE', 531))).toEqual(all);
    expect(await changesAfter(() => send('POST', 531, { status: 'publish' }))).toEqual(all);
    const path = '/wp-json/wp/v2/tribe_events/531?force=true';
    expect(await changesAfter(() => running.send('DELETE', path, { as: 'admin' }))).toEqual(['removed 531', ...all.slice(1)]);
  });

  it('leaves no trace of an event that is deleted permanently', async () => {
    const path = '/wp-json/wp/v2/tribe_events/502?force=true';
    expect((await running.send('DELETE', path, { as: 'admin' })).status).toBe(200);
    expect(await db.from('tec_occurrences').where('post_id', 502)).toEqual([]);
    expect(await db.from('tec_series_relationships').where('event_post_id', 502)).toEqual([]);
    expect(await db.from('fasti_entries').where('post_id', 502)).toEqual([]);
  });

  it('keeps the stored first and last date of the calendar up to date with all dates of an event', async () => {
    expect((await send('POST', 505, { title: 'Fair' })).status).toBe(200);
    const { calendar } = await running.site.settings();
    expect(calendar.edges.last >= '2034-10-04 15:00:00').toBe(true);
  });
});
