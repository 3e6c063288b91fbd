import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { reindexEvents } from '../../src/storage/index/event-index-rebuild.ts';
import type { JournalEntry } from '../../src/storage/journal/entries.ts';
import { type CacheObserver, observeCache } from '../support/cache-observer.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadRecurringSite } from '../support/recurring-site.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';

/*
 * A cached list stays in memory only as long as no write concerns it: whatever this or another process writes, a
 * response from memory equals the response that is computed without it.
 */

const ENV = { CACHE_FRESHNESS_MS: '0', SHARED_WITH_WORDPRESS: 'off', SITE_URL: 'https://calendar.test', PAGES: 'on' };
const WIDE = 'start_date=2019-01-01&end_date=2035-12-31';
const clock = () => new Date('2026-11-20T12:00:00Z');

// ------------------------------------------------------------------------------------------------- requests
const EVENTS = [38, 39, 40, 41, 44, 54, 62, 73, 80] as const;
const CATEGORIES = [2, 3, 4, 5] as const;
const TAGS = [11, 13] as const;
const VENUES = [12, 13, 14] as const;
const ORGANIZERS = [24, 25] as const;
const MOMENTS = [
  '2027-04-10',
  '2027-06-01 12:00:00',
  '2027-07-01 21:00:00',
  '2027-10-03',
  '2027-12-20',
  '2028-03-01',
  '2030-01-01',
  '2030-06-10 10:00:00',
  '2030-09-01',
] as const;

const some = <T>(values: readonly T[]) => fc.constantFrom(...values);
const moment = some(MOMENTS);
const queryOf = (params: Readonly<Record<string, unknown>>): string =>
  Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');
const asked = (path: string, params: Parameters<typeof fc.record>[0]) =>
  fc.record(params, { requiredKeys: [] }).map((values) => `${path}?${queryOf(values as Record<string, unknown>)}`);

const page = fc.integer({ min: 1, max: 3 });
const perPage = fc.integer({ min: 1, max: 6 });
const order = some(['asc', 'desc']);
/** Lists that the list index can answer. */
const windows = asked(`${ROOT}/events`, {
  start_date: moment,
  end_date: moment,
  starts_after: moment,
  ends_before: moment,
  ends_after: moment,
  per_page: perPage,
  page,
  order,
  categories: some(CATEGORIES),
  tags: some(TAGS),
  venue: some(VENUES),
  organizer: some(ORGANIZERS),
  featured: fc.boolean(),
});
const pages = fc.record({ per_page: perPage, page, order }).map((values) => `${ROOT}/events?${WIDE}&${queryOf(values)}`);
/** Lists that are read from WordPress's tables. */
const others = asked(`${ROOT}/events`, {
  start_date: fc.constant('2019-01-01'),
  end_date: fc.constant('2035-12-31'),
  per_page: perPage,
  orderby: some(['title', 'date', 'modified', 'event_date', 'id']),
  order,
  search: some(['a', 'e', 'concert', 'Changed']),
  include: fc.subarray([...EVENTS], { minLength: 1 }),
  modified_after: some(['2026-11-01', '2026-11-20']),
  city: some(['Bolzano', 'Elsewhere']),
  geoloc: fc.boolean(),
  categories: fc.subarray([...CATEGORIES], { minLength: 1 }).map((ids) => ids.join()),
});
const linked = fc.oneof(
  asked(`${ROOT}/venues`, {
    has_events: fc.boolean(),
    only_with_upcoming: fc.boolean(),
    orderby: some(['title', 'date', 'id']),
    search: some(['a', 'Rossi']),
    event: some(EVENTS),
    per_page: perPage,
  }),
  asked(`${ROOT}/organizers`, { has_events: fc.boolean(), only_with_upcoming: fc.boolean(), orderby: some(['title']), per_page: perPage }),
  asked(`${ROOT}/categories`, { hide_empty: fc.boolean(), event: some(EVENTS), orderby: some(['count', 'name']) }),
  asked(`${ROOT}/tags`, { hide_empty: fc.boolean() }),
);
const elsewhere = fc.oneof(
  asked('/wp-json/wp/v2/tribe_events', { orderby: some(['date', 'title', 'modified', 'slug']), order, per_page: perPage, page }),
  asked('/wp-json/tec/v1/events', { per_page: perPage, page, start_date: moment }),
  some([
    '/wp-json/wp/v2/tribe_venue',
    '/events/?ical=1',
    '/events/feed/',
    '/events/list/?ical=1',
    '/events/month/2027-12/',
    '/events/list/',
    '/events/',
    '/venue/teatro-rossi/',
    '/sitemap.xml',
  ]),
);
const one = fc.oneof(
  some(EVENTS).map((id) => `${ROOT}/events/${id}`),
  some(['new-year-concert', 'changed']).map((slug) => `${ROOT}/events/by-slug/${slug}`),
);
const reading = fc.oneof(
  { weight: 3, arbitrary: windows },
  { weight: 3, arbitrary: pages },
  { weight: 3, arbitrary: others },
  { weight: 2, arbitrary: linked },
  { weight: 2, arbitrary: elsewhere },
  { weight: 1, arbitrary: one },
);

// ------------------------------------------------------------------------------------------------- writes
interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: object | null;
}
const text = fc.oneof(some(['Changed', 'concert', 'Zebra']), fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme-ascii' }));
const status = some(['publish', 'draft', 'private', 'pending']);
const change = (path: fc.Arbitrary<string>, ...bodies: fc.Arbitrary<object>[]): fc.Arbitrary<Write> =>
  fc.record({ method: fc.constant('PATCH'), path, body: fc.oneof(...bodies) });
const dates = moment.chain((start) =>
  some(['2027-06-02 12:00:00', '2028-03-01 12:00:00', '2031-01-01']).map((end) => ({ start_date: start, end_date: end })),
);
const eventPath = some(EVENTS).map((id) => `${ROOT}/events/${id}`);
const changes = change(
  eventPath,
  fc.record({ title: text }),
  fc.record({ description: text }),
  fc.record({ slug: some(['changed', 'new-year-concert', 'other']) }),
  dates,
  fc.record({ status }),
  fc.record({ password: some(['', 'secret']) }),
  fc.record({ featured: fc.boolean() }),
  fc.record({ sticky: fc.boolean() }),
  fc.record({ hide_from_listings: fc.boolean() }),
  fc.record({ categories: fc.subarray([...CATEGORIES]) }),
  fc.record({ tags: fc.subarray([...TAGS]) }),
  fc.record({ venue: some(VENUES) }),
  fc.record({ organizer: fc.subarray([...ORGANIZERS]) }),
  fc.record({ cost: some(['', '5', '0']) }),
  fc.record({ date: some(['2026-01-01 10:00:00', '2026-11-19 08:00:00', '2027-02-01 08:00:00']) }),
  fc.record({ author: some([1, 2]) }),
);
const linkedChanges = fc.oneof(
  change(
    some(VENUES).map((id) => `${ROOT}/venues/${id}`),
    fc.record({ venue: text }),
    fc.record({ city: some(['Bolzano', 'Elsewhere', '']) }),
    fc.record({ status }),
    fc.record({ geo_lat: some([46, 47]), geo_lng: some([11, 12]) }),
  ),
  change(
    some(ORGANIZERS).map((id) => `${ROOT}/organizers/${id}`),
    fc.record({ organizer: text }),
    fc.record({ status }),
  ),
  change(
    some(CATEGORIES).map((id) => `${ROOT}/categories/${id}`),
    fc.record({ name: text }),
    fc.record({ parent: some([0, 2, 3]) }),
    fc.record({ slug: some(['changed', 'other']) }),
  ),
);
const rest: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    method: fc.constant('POST'),
    path: fc.constant(`${ROOT}/events`),
    body: fc
      .tuple(fc.record({ title: text, status, categories: fc.subarray([...CATEGORIES]) }), dates)
      .map(([more, when]) => ({ ...more, ...when })),
  }),
  fc.record({ method: fc.constant('DELETE'), path: eventPath, body: fc.constant(null) }),
  change(eventPath, fc.record({ status: fc.constant('publish') })),
);
const writing = fc.oneof({ weight: 6, arbitrary: changes }, { weight: 2, arbitrary: linkedChanges }, { weight: 2, arbitrary: rest });

// ------------------------------------------------------------------------------------------------- tests
describeDatabases('cached lists', (open) => {
  let [plain, remembering, other]: RunningSite[] = [];
  let memory: CacheObserver;
  beforeAll(async () => {
    const db = await loadRecurringSite(await open());
    await reindexEvents(db, clock, { marksComplete: true });
    plain = await serveDatabase(db, { env: { ...ENV, CACHE: 'off' }, clock });
    remembering = await serveDatabase(db, { env: ENV, clock });
    other = await serveDatabase(db, { env: ENV, clock });
    memory = observeCache(remembering);
  });
  afterAll(() => Promise.all([plain, remembering, other].map((site) => site?.close())));

  async function compare(paths: readonly string[]): Promise<number> {
    let kept = 0;
    for (const path of paths) {
      const expected = await plain!.send('GET', path);
      const { answer, remembered } = await memory.request(path);
      expect([path, answer.status, answer.text]).toEqual([path, expected.status, expected.text]);
      if (remembered && answer.status === 200) kept += 1;
    }
    return kept;
  }

  it('are asked for at addresses that are answered', async () => {
    const lists = fc.oneof(windows, pages, others, linked, elsewhere);
    const places = new Set(fc.sample(lists, { numRuns: 200, seed: 1 }).map((path) => path.split('?')[0]!));
    const refused: string[] = [];
    for (const place of places) {
      const { status } = await plain!.send('GET', place);
      if (status !== 200) refused.push(`${status} ${place}`);
    }
    expect(refused).toEqual([]);
    expect(places).toContain('/wp-json/tec/v1/events');
  });

  it('stay cached if an event outside the page changes in a field that the list does not use', async () => {
    const near = `${ROOT}/events?start_date=2027-04-01&end_date=2027-12-31&per_page=2`;
    const far = `${ROOT}/events?start_date=2030-11-10&end_date=2030-12-31`;
    const made = await remembering!.send('POST', `${ROOT}/events`, {
      as: 'admin',
      body: { title: 'Far away', start_date: '2030-11-20 10:00:00', end_date: '2030-11-20 11:00:00' },
    });
    const id = made.body.id as number;
    const all = `${ROOT}/events?${WIDE}&per_page=3`;
    const venues = `${ROOT}/venues?has_events=true`;
    const byTitle = `${ROOT}/events?${WIDE}&orderby=title&per_page=1`;
    const write = async (body: object): Promise<string[]> => {
      await memory.warm(near, far, all, venues, byTitle);
      expect((await remembering!.send('PATCH', `${ROOT}/events/${id}`, { as: 'admin', body })).status).toBe(200);
      const kept: string[] = [];
      for (const path of [near, far, all, venues, byTitle]) if ((await memory.request(path)).remembered) kept.push(path);
      return kept;
    };
    expect(await write({ description: 'Other text' })).toEqual([near, all, venues, byTitle]);
    expect(await write({ title: 'ZZ' })).toEqual([near, all, venues]);
    expect(await write({ start_date: '2030-12-01 10:00:00', end_date: '2030-12-01 11:00:00' })).toEqual([near, all]);
    expect(await write({ status: 'draft' })).toEqual([near]);
  });

  it('equal the computed lists after random writes by this or another process', async () => {
    let kept = 0;
    const step = fc.record({ write: writing, byOther: fc.integer({ min: 0, max: 4 }).map((number) => number === 0) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(reading, { minLength: 6, maxLength: 14 }),
        fc.array(step, { minLength: 1, maxLength: 4 }),
        async (paths, steps) => {
          for (const path of paths) await remembering!.send('GET', path);
          for (const { write, byOther } of steps) {
            const writer = byOther ? other! : remembering!;
            await writer.send(write.method, write.path, { as: 'admin', body: write.body });
            kept += await compare(paths);
          }
        },
      ),
      { numRuns: 20 },
    );
    // Otherwise the comparison would prove nothing.
    expect(kept).toBeGreaterThan(30);
  });
});

describeDatabases('record of an own change', (open) => {
  it.each<[string, string, boolean]>([
    ['is known without a WordPress', 'off', true],
    ['is unknown beside a WordPress, which may have written to the same event', 'on', false],
  ])('%s', async (_, shared, isKnown) => {
    const db = await loadSite(await open());
    await reindexEvents(db, clock, { marksComplete: true });
    const running = await serveDatabase(db, { env: { ...ENV, SHARED_WITH_WORDPRESS: shared } });
    try {
      running.site.startFollowing();
      const path = `${ROOT}/events/44`;
      // With a shared WordPress, values are cached only once all its changes have been taken over.
      await observeCache(running).warm(path);
      const entries: JournalEntry[] = [];
      running.site.journal.subscribe((some) => void entries.push(...some));
      await running.send('PATCH', path, { as: 'admin', body: { description: 'Other text' } });
      await running.send('GET', path);
      const change = entries.find(({ kind, object, writer }) => kind === 'post' && object === 44 && writer === 'fasti');
      expect(change?.ownChange).toBeDefined();
      expect(change?.ownChange?.parts?.has('post_content')).toBe(isKnown ? true : undefined);
      expect(change?.ownChange?.parts?.has('post_title')).toBe(isKnown ? false : undefined);
      expect(change?.ownChange?.indexChange).toEqual({ deleted: [], inserted: [] });
    } finally {
      await running.close();
    }
  });
});
