import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import supertest from 'supertest';
import { readConfig } from '../src/config/config.ts';
import { createApp } from '../src/http/app.ts';
import { PAGE_PARAM_NAMES } from '../src/kinds/feed-pages.ts';
import { openSite, type Site } from '../src/site.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { describeDatabases, urlOf } from './support/databases.ts';
import { servedRoutes } from './support/outside-texts.ts';
import { type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite, setOptions } from './support/site.ts';
import { SUITE_TIME } from './support/site-client.ts';

/** Maximum age, in milliseconds, of an answer made from data that another process has changed since. */
const FRESHNESS_MS = 100;
const EVENT = 44;
const URLS = {
  one: `/wp-json/calendar/events/v1/events/${EVENT}`,
  list: '/wp-json/calendar/events/v1/events?start_date=2030-01-01&end_date=2031-12-31&per_page=50',
  slug: '/wp-json/calendar/events/v1/events/by-slug/new-year-concert',
};
const DRAFT = 'Draft event';
/** Parameters that no route declares, but which affect answers. */
const PROTOCOL = [
  '_fields',
  '_envelope',
  '_jsonp',
  '_pretty',
  '_embed',
  '_method',
  '_locale',
  'lang',
  'wpml_language',
  'rest_route',
  ...PAGE_PARAM_NAMES,
];

describeDatabases('the caches of two processes', (open) => {
  let db: Database;
  let sites: [RunningSite, RunningSite];

  beforeAll(async () => {
    db = await loadSite(await open());
    await setOptions(db, { active_plugins: 'a:0:{}' });
    const env = { CACHE_FRESHNESS_MS: String(FRESHNESS_MS) };
    sites = [await serveDatabase(db, { env }), await serveDatabase(db, { env })];
  });
  afterAll(() => Promise.all(sites.map((site) => site.close())));

  const titleIn = (way: keyof typeof URLS, body: { title?: string; events?: { id: number; title: string }[] }) =>
    way === 'list' ? body.events?.find(({ id }) => id === EVENT)?.title : body.title;

  it('never give an answer older than allowed, or one caller’s answer to another', async () => {
    /** Titles in the order in which they were written, each with the time at which it was known to be replaced. */
    const history: { title: string; writer: number; until: number }[] = [{ title: 'Start', writer: 0, until: Number.POSITIVE_INFINITY }];
    await sites[0].send('PATCH', URLS.one, { as: 'admin', body: { title: 'Start' } });
    let number = 0;

    const write = async (process: 0 | 1) => {
      number += 1;
      const title = `Title ${number}`;
      const answer = await sites[process].send('PATCH', URLS.one, { as: 'admin', body: { title } });
      expect(answer.status).toBe(200);
      history.at(-1)!.until = performance.now();
      history.push({ title, writer: process, until: Number.POSITIVE_INFINITY });
    };
    const read = async (process: 0 | 1, way: keyof typeof URLS) => {
      const asked = performance.now();
      const answer = await sites[process].send('GET', URLS[way]);
      const found = history.findIndex(({ title }) => title === titleIn(way, answer.body));
      expect(found).toBeGreaterThanOrEqual(0);
      expect(history[found]!.until).toBeGreaterThan(asked - FRESHNESS_MS);
      const own = history.findLastIndex(({ writer }) => writer === process);
      expect(found).toBeGreaterThanOrEqual(own);
    };
    const peek = async (process: 0 | 1) => {
      const url = `${URLS.list}&search=Draft+event`;
      const [theirs, mine] = await Promise.all([sites[process].send('GET', url, { as: 'admin' }), sites[process].send('GET', url)]);
      expect(theirs.text).toContain(DRAFT);
      expect(theirs.headers['cache-control']).toMatch(/private/);
      expect(mine.text).not.toContain(DRAFT);
    };

    const process = fc.constantFrom<0 | 1>(0, 1);
    const step = fc.oneof(
      { weight: 2, arbitrary: process.map((one) => () => write(one)) },
      {
        weight: 6,
        arbitrary: fc.tuple(process, fc.constantFrom<keyof typeof URLS>('one', 'list', 'slug')).map(
          ([one, way]) =>
            () =>
              read(one, way),
        ),
      },
      { weight: 1, arbitrary: process.map((one) => () => peek(one)) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 120 }).map((pause) => () => new Promise<void>((done) => setTimeout(done, pause))) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        for (const run of steps) await run();
      }),
      { numRuns: 15 },
    );
  });

  it('answer a conditional request with 304 until something is written', async () => {
    // A process sees its own writes at once, together with the earlier writes of the other process.
    await sites[0].send('PATCH', URLS.one, { as: 'admin', body: { title: 'Something' } });
    const first = await sites[0].send('GET', URLS.one);
    const tag = String(first.headers.etag);
    expect(tag).toMatch(/^"[^"]+"$/);
    const again = await sites[0].send('GET', URLS.one, { headers: { 'If-None-Match': tag } });
    expect([again.status, again.text]).toEqual([304, '']);
    await sites[0].send('PATCH', URLS.one, { as: 'admin', body: { title: 'Something else' } });
    expect((await sites[0].send('GET', URLS.one, { headers: { 'If-None-Match': tag } })).status).toBe(200);
  });

  it('give the compressed body an ETag of its own', async () => {
    const plain = await sites[0].send('GET', URLS.list);
    const zipped = await sites[0].send('GET', URLS.list, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(zipped.headers.etag).not.toBe(plain.headers.etag);
    expect(zipped.headers.vary).toMatch(/Accept-Encoding/);
  });

  it('allow the origin of each request, even if the answer is cached', async () => {
    for (const origin of ['https://a.test', 'https://b.test']) {
      expect((await sites[0].send('GET', URLS.one, { headers: { Origin: origin } })).headers['access-control-allow-origin']).toBe(origin);
    }
    expect((await sites[0].send('GET', URLS.one)).headers['access-control-allow-origin']).toBeUndefined();
  });

  it.each([
    [
      '/wp-json/calendar/events/v1/events?start_date=2030-01-01&per_page=3',
      '/wp-json/calendar/events/v1/events?per_page=3&x=1&start_date=2030-01-01&utm_source=a',
    ],
    ['/wp-json/calendar/events/v1/venues?search=a', '/wp-json/calendar/events/v1/venues?_=5&search=a'],
    ['/wp-json/calendar/events/v1/doc', '/wp-json/calendar/events/v1/doc?x=1'],
    ['/events/ical/?start_date=2026-01-01', '/events/ical/?nothing=9&start_date=2026-01-01'],
    ['/events/feed/?start_date=2026-01-01&per_page=3', '/events/feed/?per_page=3&fbclid=9&start_date=2026-01-01'],
    // Pairs with the same meaning: values above the maximum, below the minimum, ignored by the list, or spelled
    // differently.
    ['/events/list/?ical=1&per_page=1001', '/events/list/?ical=1&per_page=1002'],
    ['/events/list/?ical=1&per_page=1', '/events/list/?ical=1&per_page=007'],
    ['/?event_ids=44,45&ical=1&per_page=1001', '/?event_ids=44,45&ical=1&per_page=2000'],
    ['/events/list/?ical=1&paged=2', '/events/list/?ical=1&paged=02'],
    ['/events/list/?ical=1&paged=0', '/events/list/?ical=1&paged=x'],
    ['/events/feed/?per_page=4', '/events/feed/?per_page=5'],
    ['/events/feed/?paged=1', '/events/feed/?paged=01'],
    ['/events/list/?per_page=4', '/events/list/?per_page=5'],
    ['/wp-json/calendar/events/v1/events?per_page=1001', '/wp-json/calendar/events/v1/events?per_page=2002'],
    ['/wp-json/calendar/events/v1/events?per_page=3', '/wp-json/calendar/events/v1/events?per_page=3.0'],
    ['/wp-json/calendar/events/v1/categories?per_page=1001', '/wp-json/calendar/events/v1/categories?per_page=2002'],
    ['/wp-json/calendar/events/v1/changes?limit=1001', '/wp-json/calendar/events/v1/changes?limit=2002'],
  ])('compute %s once, whichever spelling is requested', async (one, other) => {
    // The data behind an answer may change with the minute.
    const { site, send, close } = await serveDatabase(db, {
      env: { CACHE_FRESHNESS_MS: '60000', PAGES: 'on' },
      clock: () => new Date(SUITE_TIME),
    });
    const first = await send('GET', one);
    const before = site.db.queries();
    const second = await send('GET', other);
    const queries = site.db.queries() - before;
    await close();
    expect({ status: second.status, text: second.text, queries }).toEqual({ status: 200, text: first.text, queries: 0 });
  });

  it('distinguish every parameter that an answer depends on', async () => {
    // Some URLs in answers contain the time in seconds.
    const clock = () => new Date(SUITE_TIME);
    const [remembering, plain] = await Promise.all(['on', 'off'].map((CACHE) => serveDatabase(db, { env: { CACHE }, clock })));
    const faults: string[] = [];
    const values = ['1', 'it', '2030-01-01', 'edit'];
    const names = new Set([
      ...servedRoutes()
        .get('calendar/events/v1')!
        .flatMap(({ endpoints }) => endpoints.flatMap(({ params, unlistedParams: unlisted }) => Object.keys({ ...params, ...unlisted }))),
      ...PROTOCOL,
    ]);
    for (const path of [
      '/wp-json/calendar/events/v1/events',
      '/wp-json/calendar/events/v1/tags',
      '/wp-json/calendar/events/v1/tags/11',
      '/events/ical/',
      '/events/feed/',
    ]) {
      await remembering!.send('GET', path);
      for (const name of names)
        for (const value of values) {
          const [kept, fresh] = await Promise.all([remembering, plain].map((server) => server!.send('GET', `${path}?${name}=${value}`)));
          const same = (text: string) => text.replaceAll(/127\.0\.0\.1:\d+|"request_id":"[^"]*"/g, '');
          if (kept!.status !== fresh!.status || same(kept!.text) !== same(fresh!.text)) faults.push(`${path}?${name}=${value}`);
        }
    }
    await Promise.all([remembering, plain].map((server) => server!.close()));
    expect(faults).toEqual([]);
  });

  it('keep the answers of different languages apart', async () => {
    const url = '/wp-json/calendar/events/v1/events?per_page=x';
    const texts = await Promise.all(
      ['en', 'it'].map(async (language) => (await sites[0].send('GET', url, { headers: { 'Accept-Language': language } })).text),
    );
    expect(texts[0]).not.toBe(texts[1]);
  });

  it('keep the root of the API and the home page apart', async () => {
    const asked = ['/', '/wp-json/', '/it/wp-json/', '/it/', '/?rest_route=/'];
    const typesIn = async (site: RunningSite, paths: readonly string[]) => {
      const answers: string[] = [];
      for (const path of paths) answers.push(`${path} ${String((await site.send('GET', path)).headers['content-type']).split(';')[0]}`);
      return answers.sort();
    };
    const right = asked.map((path) => `${path} ${/wp-json|rest_route/.test(path) ? 'application/json' : 'text/html'}`).sort();
    // Each twice: when the answer is made, and from the cache.
    for (const paths of [asked, asked, asked.toReversed()]) expect(await typesIn(sites[0], paths)).toEqual(right);
    expect(await typesIn(sites[1], asked.toReversed())).toEqual(right);
  });

  it('name the records of an answer in Surrogate-Key, for a CDN', async () => {
    const { headers } = await sites[0].send('GET', URLS.one);
    expect(String(headers['surrogate-key']).split(' ')).toEqual(
      expect.arrayContaining([`event-${EVENT}`, 'venue-12', 'organizer-24', 'category-3']),
    );
    expect(String((await sites[0].send('GET', URLS.list)).headers['cache-tag']).split(',')).toEqual(
      expect.arrayContaining(['events', `event-${EVENT}`]),
    );
  });

  it('name in Surrogate-Key the records that the newer interfaces refer to by id, and the category of an empty page', async () => {
    const event = await sites[0].send('GET', URLS.one);
    const [{ id: category }] = event.body.categories;
    const of = async (path: string) => {
      const { headers, body } = await sites[0].send('GET', path, { headers: { 'X-TEC-EEA': 'yes' } });
      return { keys: String(headers['surrogate-key']).split(' '), body };
    };
    const terms = [`category-${category}`, ...event.body.tags.map(({ id }: { id: number }) => `tag-${id}`)];
    expect((await of(`/wp-json/wp/v2/tribe_events/${EVENT}?_embed`)).keys).toEqual(expect.arrayContaining([`event-${EVENT}`, ...terms]));
    expect((await of(`/wp-json/tec/v1/events/${EVENT}`)).keys).toEqual(
      expect.arrayContaining([`event-${EVENT}`, 'venue-12', 'organizer-24', ...terms]),
    );
    expect((await of('/events/category/music/?ical=1&tribe-bar-date=2099-01-01')).keys).toEqual(['category-2', 'events']);
  });
});

describeDatabases('a list that begins today', (open) => {
  it('moves on when the day ends in the time zone of the site, and back with the clock', async () => {
    const db = await loadSite(await open());
    let now = new Date('2026-11-20T22:59:58Z');
    const running = await serveDatabase(db, { clock: () => now, env: { CACHE_FRESHNESS_MS: '60000', SHARED_WITH_WORDPRESS: 'off' } });
    try {
      const start = async () =>
        new URL((await running.send('GET', '/wp-json/calendar/events/v1/events')).body.rest_url).searchParams.get('start_date');
      expect(await start()).toBe('2026-11-20 00:00:00');
      expect(await start()).toBe('2026-11-20 00:00:00');
      now = new Date('2026-11-20T23:00:01Z');
      expect(await start()).toBe('2026-11-21 00:00:00');
      expect(await start()).toBe('2026-11-21 00:00:00');
      // A clock that was ahead is set right.
      now = new Date('2026-11-20T22:59:59Z');
      expect(await start()).toBe('2026-11-20 00:00:00');
    } finally {
      await running.close();
    }
  });
});

describeDatabases('a database that WordPress writes to as well', (open) => {
  it('is checked for changes that the cache was not told of', async () => {
    const db = await loadSite(await open());
    const running = await serveDatabase(db, { env: { CACHE_FRESHNESS_MS: '50', SHARED_WITH_WORDPRESS: 'on' } });
    try {
      const title = async () => (await running.send('GET', URLS.one)).body.title;
      for (const word of ['First', 'Second', 'Third']) {
        await db.from('posts').where('ID', EVENT).update({ post_title: word });
        await new Promise((done) => setTimeout(done, 60));
        expect(await title()).toBe(word);
        expect(await title()).toBe(word);
      }
    } finally {
      await running.close();
    }
  });
});

describeDatabases('settings that change while a request comes in', (open) => {
  it('belong to the same version as the answer that is cached', async () => {
    const db = await loadSite(await open());
    const freshness = 200;
    const site = await openSite(
      readConfig({
        DATABASE_URL: urlOf(db),
        TABLE_PREFIX: db.prefix,
        LOG_LEVEL: 'silent',
        CACHE_FRESHNESS_MS: String(freshness),
        SHARED_WITH_WORDPRESS: 'off',
      }),
    );
    let moved = false;
    const version = async () => {
      // Runs between reading the settings and reading the version.
      if (!moved) {
        moved = true;
        await setOptions(db, { home: 'https://moved.test' });
        await new Promise((done) => setTimeout(done, freshness));
      }
      return site.freshness.version();
    };
    const moving: Site = { ...site, freshness: { ...site.freshness, version }, forAnonymousReads: () => moving };
    const app = createApp(moving);
    try {
      for (const path of [URLS.one, '/events/?ical=1']) {
        moved = false;
        await setOptions(db, { home: 'http://127.0.0.1:8081' });
        await new Promise((done) => setTimeout(done, freshness));
        await site.settings();
        await supertest(app).get(path).buffer(true);
        const { text } = await supertest(app).get(path).buffer(true);
        expect(text.includes('moved.test')).toBe(true);
        expect(text.includes('127.0.0.1:8081/event')).toBe(false);
      }
    } finally {
      await site.close();
    }
  });
});
