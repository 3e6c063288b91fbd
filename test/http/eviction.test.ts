import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { writeOption } from '../../src/storage/rows/options.ts';
import { asStored } from '../../src/wordpress/php/serialized.ts';
import { type CacheObserver, observeCache } from '../support/cache-observer.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';

const ENV = { CACHE_FRESHNESS_MS: '60000', SHARED_WITH_WORDPRESS: 'off', SITE_URL: 'https://calendar.test' };
const ALL = 'start_date=2019-01-01&end_date=2035-12-31&per_page=50';
/** Paths of requests, by the subject of their answers. */
const PATHS = {
  event: `${ROOT}/events/44`,
  'the event by its slug': `${ROOT}/events/by-slug/new-year-concert`,
  'another event': `${ROOT}/events/38`,
  events: `${ROOT}/events?${ALL}`,
  'events of a category': `${ROOT}/events?${ALL}&categories=3`,
  'events at a venue': `${ROOT}/events?${ALL}&venue=12`,
  'events near': `${ROOT}/events?${ALL}&geoloc=1&geoloc_lat=46&geoloc_lng=11`,
  'its venue': `${ROOT}/venues/12`,
  'another venue': `${ROOT}/venues/13`,
  venues: `${ROOT}/venues`,
  'venues with events': `${ROOT}/venues?has_events=true`,
  'its organizer': `${ROOT}/organizers/24`,
  organizers: `${ROOT}/organizers`,
  'its category': `${ROOT}/categories/3`,
  categories: `${ROOT}/categories?per_page=50`,
  tags: `${ROOT}/tags`,
} as const;
type Name = keyof typeof PATHS;

describeDatabases('answer cache after a write', (open) => {
  let running: RunningSite;
  let memory: CacheObserver;
  beforeAll(async () => {
    running = await serveDatabase(await loadSite(await open()), { env: ENV });
    memory = observeCache(running);
    // The first write creates rows that later writes reuse.
    await running.send('PATCH', PATHS.event, { as: 'admin', body: { title: 'First' } });
  });
  afterAll(() => running.close());

  /** Names of the answers that are computed again after a write. */
  async function evictedBy(method: string, path: string, body: object): Promise<Name[]> {
    const names = Object.keys(PATHS) as Name[];
    await memory.warm(...Object.values(PATHS));
    const written = await running.send(method, path, { as: 'admin', body });
    expect(written.status).toBeLessThan(300);
    const asked: [Name, boolean][] = [];
    for (const name of names) asked.push([name, (await memory.request(PATHS[name])).remembered]);
    return asked.filter(([, remembered]) => !remembered).map(([name]) => name);
  }

  it.each<[string, string, string, object, readonly Name[]]>([
    [
      'an event',
      'PATCH',
      PATHS.event,
      { title: 'Other title' },
      ['event', 'the event by its slug', 'events', 'events of a category', 'events at a venue', 'events near'],
    ],
    [
      'a venue',
      'PATCH',
      PATHS['its venue'],
      { city: 'Elsewhere' },
      [
        'event',
        'the event by its slug',
        'events',
        'events of a category',
        'events at a venue',
        'events near',
        'its venue',
        'venues',
        'venues with events',
      ],
    ],
  ])('evicts only answers that contain %s', async (_, method, path, body, evicted) => {
    const found = await evictedBy(method, path, body);
    expect(found.filter((name) => !evicted.includes(name))).toEqual([]);
    // All answers that certainly show it; an answer that was built from records loaded for another may stay.
    expect(found).toEqual(expect.arrayContaining(evicted.filter((name) => !/^(another|events (at|near|of)|venues with)/.test(name))));
  });

  it('keeps venues, organizers and tags when a category is written', async () => {
    const found = await evictedBy('PUT', PATHS['its category'], { name: 'Renamed' });
    expect(found).toEqual(expect.arrayContaining(['event', 'events', 'its category', 'categories']));
    for (const name of ['its venue', 'venues', 'its organizer', 'tags'] as const) expect(found).not.toContain(name);
  });

  it('rebuilds a list from cached records and loads only the changed one', async () => {
    await memory.warm(PATHS.events, `${PATHS.events}&page=1`);
    const loaded: number[] = [];
    const listening = { on: false };
    running.site.db.driver.listen(({ sql }: { sql: string }) => {
      const list = /_posts` WHERE ID IN \(([?, ]+)\)/.exec(sql)?.[1];
      if (listening.on && list) loaded.push(list.split(',').length);
    });
    await running.send('PATCH', PATHS.event, { as: 'admin', body: { title: 'Changed alone' } });
    listening.on = true;
    const { answer, remembered } = await memory.request(PATHS.events);
    listening.on = false;
    expect([remembered, answer.body.events.length > 15]).toEqual([false, true]);
    expect(answer.body.events.map(({ title }: { title: string }) => title)).toContain('Changed alone');
    // The second one has a gallery, which is not cached. Their venues, organizers and images come from the cache.
    expect(loaded).toEqual([2]);
  });

  it('evicts everything when an option is written', async () => {
    expect(await evictedBy('PATCH', PATHS.event, { title: 'Once more' })).not.toContain('venues');
    await memory.warm(...Object.values(PATHS));
    await running.site.db.transaction((db) => writeOption(db, 'something', asStored('else'), 'auto'));
    for (const path of Object.values(PATHS)) expect([path, (await memory.request(path)).remembered]).toEqual([path, false]);
  });
});

describeDatabases('processes with and without an answer cache', (open) => {
  const sites: RunningSite[] = [];
  beforeAll(async () => {
    const db = await loadSite(await open());
    const clock = () => new Date('2026-11-20T12:00:00Z');
    // Two processes with a cache, one of which learns of the other's writes from the journal.
    for (const env of [{ CACHE: 'off' }, ENV, { ...ENV, CACHE_FRESHNESS_MS: '0' }])
      sites.push(await serveDatabase(db, { env: { ...ENV, ...env }, clock }));
  });
  afterAll(() => Promise.all(sites.map((site) => site.close())));

  const made = { event: [38, 40, 44], venue: [12, 13], organizer: [24], term: [3] };
  const id = (...ids: number[]) => fc.constantFrom(...ids);
  const text = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' });
  const write = fc.oneof(
    fc.record({ path: id(...made.event).map((one) => `events/${one}`), body: fc.record({ title: text }) }),
    fc.record({
      path: id(...made.event).map((one) => `events/${one}`),
      body: fc.record({ venue: fc.constantFrom(12, 13, 14), organizer: id(24, 25) }),
    }),
    fc.record({ path: id(...made.event).map((one) => `events/${one}`), body: fc.record({ status: fc.constantFrom('publish', 'draft') }) }),
    fc.record({
      path: id(...made.event).map((one) => `events/${one}`),
      body: fc.record({ categories: fc.subarray([3, 4, 5]), tags: fc.subarray([11]) }),
    }),
    fc.record({ path: id(...made.venue).map((one) => `venues/${one}`), body: fc.record({ city: text, venue: text }) }),
    fc.record({ path: id(...made.venue).map((one) => `venues/${one}`), body: fc.record({ status: fc.constantFrom('publish', 'draft') }) }),
    fc.record({ path: id(...made.organizer).map((one) => `organizers/${one}`), body: fc.record({ organizer: text }) }),
    fc.record({ path: id(...made.term).map((one) => `categories/${one}`), body: fc.record({ name: text }) }),
    fc.record({
      path: fc.constant('events'),
      body: fc.record({ title: text, start_date: fc.constant('2030-01-01 10:00:00'), end_date: fc.constant('2030-01-01 11:00:00') }),
    }),
  );
  const feeds = ['/events/?ical=1', '/events/feed/', '/wp-json/wp/v2/tribe_events?_embed', '/wp-json/wp/v2/tribe_venue'];
  const read = fc.constantFrom(...Object.values(PATHS), ...feeds);

  it('return the same responses after random writes', async () => {
    const step = fc.oneof(
      { weight: 1, arbitrary: fc.tuple(write, fc.constantFrom(1, 2)).map(([what, place]) => ({ ...what, place })) },
      { weight: 4, arbitrary: read },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        for (const one of steps) {
          if (typeof one === 'string') {
            const [expected, ...found] = await Promise.all([sites[0]!, sites[2]!].map((site) => site.send('GET', one)));
            for (const answer of found) expect([one, answer.status, answer.text]).toEqual([one, expected!.status, expected!.text]);
          } else {
            const method = one.path === 'events' ? 'POST' : 'PATCH';
            await sites[one.place]!.send(method, `${ROOT}/${one.path}`, { as: 'admin', body: one.body });
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  describe('in the writing process', () => {
    it('return the same responses after random writes, too', async () => {
      await fc.assert(
        fc.asyncProperty(write, fc.array(read, { minLength: 3, maxLength: 8 }), async ({ path, body }, paths) => {
          for (const one of paths) await sites[1]!.send('GET', one);
          await sites[1]!.send(path === 'events' ? 'POST' : 'PATCH', `${ROOT}/${path}`, { as: 'admin', body });
          for (const one of paths) {
            const [expected, found] = await Promise.all([sites[0]!, sites[1]!].map((site) => site.send('GET', one)));
            expect([one, found!.status, found!.text]).toEqual([one, expected!.status, expected!.text]);
          }
        }),
        { numRuns: 40 },
      );
    });
  });
});
