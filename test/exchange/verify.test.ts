import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { findSite, type RequestOptions } from '../../src/exchange/live/site-client.ts';
import { type Finding, type VerifySummary, verifySites } from '../../src/exchange/verify/verify.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadLanguages } from '../support/languages.ts';
import { type Answer, passwordOf, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite, resetSite, setOptions } from '../support/site.ts';
import { SUITE_TIME } from '../support/site-client.ts';

const FAST: RequestOptions = { rate: 100_000, concurrency: 4, firstPauseMs: 1 };

/** Compares two addresses and returns the findings, their descriptions and the summary. */
async function verified(
  before: string,
  after: string,
  { sample, filters = true, asking = FAST }: { sample?: number; filters?: boolean; asking?: RequestOptions } = {},
) {
  const findings: Finding[] = [];
  const sites = [await findSite(before, asking), await findSite(after, asking)] as const;
  const summary = await verifySites(...sites, { sample, filters, concurrency: 4, onFinding: (finding) => findings.push(finding) });
  return { findings, summary, told: findings.map(({ decision, route, path }) => `${decision ?? '!'} ${route} ${path}`) };
}

/** Starts a server in front of a site that changes its responses, as another implementation would answer. */
async function standIn(site: () => RunningSite, change: (path: string, body: Answer['body'], status: number) => unknown) {
  const seen: string[] = [];
  const server = http.createServer((req, res) => {
    seen.push(req.url!);
    const headers = { host: '127.0.0.1:8081', ...(req.headers.authorization ? { authorization: req.headers.authorization } : {}) };
    void site()
      .send('GET', req.url!, { headers })
      .then(({ status, body, text }) => {
        const changed = change(decodeURIComponent(req.url!), body, status);
        res.statusCode =
          changed !== null && typeof changed === 'object' && 'status' in changed && 'body' in changed ? Number(changed.status) : status;
        const content =
          changed !== null && typeof changed === 'object' && 'status' in changed && 'body' in changed ? changed.body : changed;
        res.setHeader('Content-Type', 'application/json');
        res.end(content === undefined ? text : JSON.stringify(content));
      });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const close = () =>
    new Promise((closed) => {
      server.closeAllConnections();
      server.close(closed);
    });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close, seen };
}

describeDatabases('comparison of two sites', (open, engine) => {
  const dbs: Database[] = [];
  const sites: RunningSite[] = [];
  let dirty = false;
  beforeAll(async () => {
    for (const home of [undefined, 'https://calendar.example.org']) {
      const db = await loadSite(await open());
      dbs.push(db);
      const env: Record<string, string> = home === undefined ? {} : { SITE_URL: home };
      sites.push(await serveDatabase(db, { clock: () => new Date(SUITE_TIME), env, uncompressed: true }));
    }
  });
  beforeEach(async () => {
    if (dirty) for (const db of dbs) await resetSite(db);
    dirty = false;
  });
  afterAll(() => Promise.all(sites.map((site) => site.close())));
  const rows = async (work: (db: Database) => PromiseLike<unknown>) => {
    dirty = true;
    await work(dbs[1]!);
    await dbs[1]!.from('fasti_changes').increment('counter');
  };

  describe('finds nothing', () => {
    it('between a site and its copy under another address, in all lists, records and filters', async () => {
      const { findings, summary } = await verified(sites[0]!.base, sites[1]!.base);
      expect(findings).toEqual([]);
      expect(summary).toMatchObject({ differences: 0, requests: 0, deliberate: {} });
      expect(summary.records).toEqual({
        events: { old: 44, new: 44 },
        venues: { old: 9, new: 9 },
        organizers: { old: 6, new: 6 },
        categories: { old: 9, new: 9 },
        tags: { old: 8, new: 8 },
      });
      expect(summary.compared).toBeGreaterThan(350);
    });
    it('for an administrator', async () => {
      const asking = { ...FAST, credentials: { login: 'admin', password: passwordOf('admin') } };
      const { findings, summary } = await verified(sites[0]!.base, sites[1]!.base, { filters: false, asking });
      expect([findings, summary.records.events]).toEqual([[], { old: 50, new: 50 }]);
    });
    it('between the two namespaces', async () => {
      const sites_ = [
        await findSite(sites[0]!.base, { ...FAST, namespace: 'tribe/events/v1' }),
        await findSite(`${sites[1]!.base}/wp-json/calendar/events/v1`, FAST),
      ] as const;
      expect(sites_.map(({ namespace }) => namespace)).toEqual(['tribe/events/v1', 'calendar/events/v1']);
      const findings: Finding[] = [];
      await verifySites(...sites_, { filters: true, sample: 5, concurrency: 4, onFinding: (finding) => findings.push(finding) });
      expect(findings).toEqual([]);
    });
  });

  describe('finds', () => {
    const told = async (work: (db: Database) => PromiseLike<unknown>) => {
      await rows(work);
      return verified(sites[0]!.base, sites[1]!.base, { filters: false });
    };
    it('a changed text, in the list and in the record, by ID and by slug', async () => {
      const {
        told: lines,
        findings,
        summary,
      } = await told((db) => db.from('postmeta').where({ post_id: 12, meta_key: '_VenueCity' }).update({ meta_value: 'Elsewhere' }));
      expect(lines).toEqual(
        expect.arrayContaining([
          '! venues/12 $.city',
          '! venues/by-slug/teatro-rossi $.city',
          '! venues/12 $.json_ld.address.addressLocality',
        ]),
      );
      expect(findings.find(({ path }) => path === '$.city')).toMatchObject({
        new: 'Elsewhere',
        record: { route: 'venues/12', name: 'Teatro Rossi', member: 'city' },
      });
      expect(new Set(findings.map(({ record }) => `${record?.route} ${record?.member}`)).size).toBeLessThan(findings.length);
      expect(summary.differences).toBe(lines.length);
    });
    it('the count of a tag, as a difference of the tag in all events that have it', async () => {
      const { findings } = await told((db) => db.from('term_taxonomy').where('term_taxonomy_id', 11).increment('count', 3));
      const places = findings.map(({ record }) => `${record?.route} ${record?.member}`);
      expect([findings.length > 3, [...new Set(places)]]).toEqual([true, ['tags/11 count']]);
    });
    it('a missing record', async () => {
      const { told: lines, summary } = await told((db) => db.from('posts').where('ID', 44).update({ post_status: 'draft' }));
      expect(lines).toEqual(expect.arrayContaining(['! events/44 $', '! events/44 status']));
      expect(summary.records.events).toEqual({ old: 44, new: 43 });
    });
    it('an additional record', async () => {
      dirty = true;
      await dbs[0]!.from('posts').where('ID', 44).update({ post_status: 'draft' });
      await dbs[0]!.from('fasti_changes').increment('counter');
      expect((await verified(sites[0]!.base, sites[1]!.base, { filters: false })).summary.records.events).toEqual({ old: 43, new: 44 });
    });
    it('a missing term of an event', async () => {
      const { told: lines } = await told((db) => db.from('term_relationships').where({ term_taxonomy_id: 5 }).delete());
      expect(lines.some((line) => /! events\/\d+ \$\.categories\[5\]/.test(line))).toBe(true);
    });
    it('a moved event by its place in the list', async () => {
      const { told: lines } = await told(async (db) => {
        await db.from('tec_occurrences').where('post_id', 39).update({ start_date: '2027-01-01 10:00:00' });
      });
      expect(lines).toEqual(['! events $.sequence']);
    });
    it('filters with different results', async () => {
      await rows((db) => db.from('postmeta').where({ meta_key: '_tribe_featured' }).delete());
      const { told: lines } = await verified(sites[0]!.base, sites[1]!.base, { sample: 0 });
      expect(lines).toEqual(expect.arrayContaining(['! events $.events[62]', '! events $.total']));
    });
    it('settings that change responses', async () => {
      dirty = true;
      await setOptions(dbs[1]!, { posts_per_page: 7, tribe_events_calendar_options: { posts_per_page: '7' } });
      expect((await verified(sites[0]!.base, sites[1]!.base, { sample: 0 })).told).toContain('! venues $.total_pages');
    });
  });

  // Responses of the old site are changed by a proxy, so the database engine makes no difference.
  const meantDifferences = () => {
    /** Responses of the old site by path. They are the same for all tests, so each request is sent only once. */
    const answers = new Map<string, Promise<Answer>>();
    const remembering = (): RunningSite => ({
      ...sites[0]!,
      send: (method, path, options) => {
        const answer = answers.get(path) ?? sites[0]!.send(method, path, options);
        answers.set(path, answer);
        return answer;
      },
    });
    const meant = async (change: Parameters<typeof standIn>[1], filters = false) => {
      const old = await standIn(remembering, change);
      try {
        return await verified(old.base, sites[1]!.base, { sample: 20, filters });
      } finally {
        await old.close();
      }
    };
    const meantInFilters = (change: Parameters<typeof standIn>[1]) => meant(change, true);
    const onlyMeant = ({ told, summary }: { told: string[]; summary: VerifySummary }, row: string) => {
      expect([...new Set(told.map((line) => line.split(' ')[0]))]).toEqual([row]);
      expect(summary.deliberate[row]).toBeGreaterThan(0);
      expect(summary.differences).toBe(0);
    };
    const without = (url: string, name: string) => url.replace(new RegExp(`([?&])${name}=[^&]*&?`), '$1').replace(/[?&]$/, '');

    it('D21: list URLs that lack filters', async () =>
      onlyMeant(
        await meantInFilters((_, body) =>
          body?.events && body.rest_url
            ? {
                ...body,
                rest_url: without(without(body.rest_url, 'categories'), 'tags'),
                ...(body.next_rest_url ? { next_rest_url: without(body.next_rest_url, 'categories') } : {}),
              }
            : undefined,
        ),
        'D21',
      ));
    it('D18: the name of a protected venue', async () => {
      const blanked = (event: Answer['body']) => (event?.venue?.id === 22 ? { ...event, venue: { ...event.venue, venue: [] } } : event);
      const { summary } = await meant((path, body) =>
        body?.events ? { ...body, events: body.events.map(blanked) } : path.includes('/events/') ? blanked(body) : undefined,
      );
      expect(summary).toMatchObject({ differences: 0, deliberate: { D18: expect.any(Number) } });
    });
    it('D15: a draft venue in a public event', async () => {
      const draft = { id: 18, status: 'draft', venue: 'Draft venue' };
      const added = (event: Answer['body']) =>
        event?.id === 67
          ? { ...event, venue: draft, ...(event.json_ld ? { json_ld: { ...event.json_ld, location: { name: 'Draft venue' } } } : {}) }
          : event;
      onlyMeant(await meant((_, body) => (body?.events ? { ...body, events: body.events.map(added) } : added(body))), 'D15');
    });
    it('D37: a cost that is shown differently', async () =>
      onlyMeant(await meant((_, body) => (/\d/.test(body?.cost) ? { ...body, cost: `${body.cost} – Free` } : undefined)), 'D37'));
    it('D37: several amounts without a currency, and a word among amounts', async () => {
      const misread = (event: Answer['body']) => {
        if (event?.id === 58) return { ...event, cost: '$7.50' };
        if (event?.id !== 54) return event;
        return { ...event, cost_details: { ...event.cost_details, currency_symbol: '', currency_position: '' } };
      };
      const { told, summary } = await meant((_, body) => (body?.events ? { ...body, events: body.events.map(misread) } : misread(body)));
      expect(told.filter((line) => line.startsWith('D37') && line.includes('currency_symbol')).length).toBeGreaterThan(0);
      expect([summary.differences, Object.keys(summary.deliberate)]).toEqual([0, ['D37']]);
    });
    it('D37, but not a missing currency', async () => {
      const lost = (event: Answer['body']) =>
        event?.id === 44 ? { ...event, cost_details: { ...event.cost_details, currency_symbol: '' } } : event;
      const { summary } = await meant((_, body) => (body?.events ? { ...body, events: body.events.map(lost) } : lost(body)));
      expect([summary.deliberate.D37, summary.differences > 0]).toEqual([undefined, true]);
    });
    it('D37, but not a missing cost', async () => {
      const { summary } = await meant((_, body) => (body?.cost ? { ...body, cost: '' } : undefined));
      expect(summary.differences).toBeGreaterThan(0);
    });
    it('D37, but not another currency', async () => {
      const { summary } = await meant((_, body) => (body?.cost ? { ...body, cost: body.cost.replace(/\p{Sc}/gu, '¤') } : undefined));
      expect([summary.deliberate.D37, summary.differences > 0]).toEqual([undefined, true]);
    });
    it('D37, but not another price', async () => {
      const dearer = (event: Answer['body']) =>
        event?.cost_details && {
          ...event,
          ...JSON.parse(
            JSON.stringify({ cost: event.cost, cost_details: event.cost_details, json_ld: event.json_ld }).replace(
              /("(?:cost|price)":"[^"]*"|"values":\[[^\]]*\])/g,
              (member) => member.replace(/\d+/g, (amount) => String(Number(amount) + 5)),
            ),
          ),
        };
      const { summary } = await meant((_, body) => (body?.events ? { ...body, events: body.events.map(dearer) } : dearer(body)));
      expect([summary.deliberate.D37, summary.differences > 0]).toEqual([undefined, true]);
    });
    it('D23: a default window that begins a day earlier', async () =>
      onlyMeant(
        await meantInFilters((path, body) =>
          body?.events && !/start|ends|include/.test(path)
            ? { ...body, rest_url: body.rest_url.replace('2026-11-20', '2026-11-19'), total: body.total + 1 }
            : undefined,
        ),
        'D23',
      ));
    it('D22: totals of a search for venues', async () =>
      onlyMeant(
        await meantInFilters((path, body) =>
          /venues\/?\?.*search/.test(path) && body?.total !== undefined ? { ...body, total: 99 } : undefined,
        ),
        'D22',
      ));
    it('D20: events with two tags', async () =>
      onlyMeant(
        await meantInFilters((path, body) =>
          /tags=\d+,\d+/.test(path) && body?.events ? { ...body, events: body.events.slice(1), total: body.total - 1 } : undefined,
        ),
        'D20',
      ));
    it('D24: the order of events that start at the same time', async () =>
      onlyMeant(
        await meant((path, body) => {
          if (!body?.events || !/start_date=1001-01-01&end_date=2999-12-31&per_page=50&page=1$/.test(path)) return undefined;
          const events = [...body.events];
          const place = events.findIndex((event, at) => event.start_date === events[at + 1]?.start_date);
          events.splice(place, 2, events[place + 1], events[place]);
          return { ...body, events };
        }),
        'D24',
      ));
    /** Returns a description of a site without these parameters. */
    const withoutParams = (body: Answer['body'], params: Readonly<Record<string, undefined>>) => {
      const withoutIn = (route: Answer['body']) => ({
        ...route,
        endpoints: route.endpoints.map((endpoint: Answer['body']) => ({ ...endpoint, args: { ...endpoint.args, ...params } })),
      });
      const routes = Object.entries(body.routes as Record<string, Answer['body']>);
      return { ...body, routes: Object.fromEntries(routes.map(([name, route]) => [name, withoutIn(route)])) };
    };
    const isDescription = (path: string, body: Answer['body']) => /tribe\/events\/v1$/.test(path) && body?.routes;
    const unplaced = { geo_lat: undefined, geo_lng: undefined };
    const withoutPlace = (path: string, body: Answer['body']) =>
      /venues\/13$/.test(path) && body?.geo_lat ? { ...body, ...unplaced } : undefined;
    it('D27: coordinates of venues that one site does not know', async () => {
      const { told, summary } = await meant((path, body) =>
        isDescription(path, body) ? withoutParams(body, unplaced) : withoutPlace(path, body),
      );
      expect([...new Set(told.map((line) => line.split(' ')[0]))].sort()).toEqual(['D27', 'additions']);
      expect(summary.differences).toBe(0);
    });
    it('but not coordinates that a site has lost', async () => {
      const { summary } = await meant(withoutPlace);
      expect([summary.differences > 0, summary.deliberate]).toEqual([true, {}]);
    });
    it('additions: parameters that only one site describes', async () =>
      onlyMeant(
        await meant((path, body) =>
          isDescription(path, body) ? withoutParams(body, { translation_language: undefined, modified_after: undefined }) : undefined,
        ),
        'additions',
      ));
  };
  if (engine === 'SQLite') describe('recognizes deliberate differences', meantDifferences);

  describe('address of a site', () => {
    it('is recognized as home, REST root or namespace, with and without permalinks', async () => {
      for (const path of ['', '/', '/wp-json', '/wp-json/', '/wp-json/tribe/events/v1', '/wp-json/tribe/events/v1/'])
        expect((await findSite(sites[0]!.base + path, FAST)).home).toBe('http://127.0.0.1:8081');
      const plain = await standIn(
        () => sites[0]!,
        (path, body, status) => (path.includes('/wp-json') ? { status: 404, body: {} } : { status, body }),
      );
      const site = await findSite(plain.base, FAST);
      expect((await site.get('events/39')).body).toMatchObject({ id: 39 });
      expect(plain.seen.at(-1)).toContain('rest_route=');
      await plain.close();
    });
    it('is rejected with the reason if there is no API, the password is wrong, or the site has moved', async () => {
      const nothing = await standIn(
        () => sites[0]!,
        () => ({ status: 404, body: {} }),
      );
      await expect(findSite(nothing.base, FAST)).rejects.toMatchObject({ fault: 'site-no-interface' });
      await nothing.close();
      await expect(findSite(sites[0]!.base, { ...FAST, credentials: { login: 'admin', password: 'wrong' } })).rejects.toMatchObject({
        fault: 'site-refused',
        values: { code: 'incorrect_password' },
      });
      const moved = http.createServer((_, res) => res.writeHead(301, { Location: 'https://elsewhere.example/x' }).end());
      await new Promise<void>((listening) => moved.listen(0, '127.0.0.1', listening));
      await expect(findSite(`http://127.0.0.1:${(moved.address() as AddressInfo).port}`, FAST)).rejects.toMatchObject({
        fault: 'site-moved',
        values: { target: 'https://elsewhere.example' },
      });
      moved.close();
      await expect(findSite('http://127.0.0.1:1', FAST)).rejects.toMatchObject({ fault: 'site-unreachable' });
    });
    it('is rejected if neither site shows its lists, since nothing would be compared', async () => {
      const closed = () =>
        standIn(
          () => sites[0]!,
          (path, body, status) => (path.includes('/events?') ? { status: 403, body: { code: 'rest_forbidden' } } : { status, body }),
        );
      const [one, other] = [await closed(), await closed()];
      await expect(verified(one.base, other.base, { filters: false, sample: 1 })).rejects.toMatchObject({
        fault: 'site-refused',
        values: { status: 403, code: 'rest_forbidden' },
      });
      await Promise.all([one.close(), other.close()]);
    });
    it('is requested again after Retry-After if the site is busy', async () => {
      let refusals = 2;
      const times: number[] = [];
      const busy = http.createServer((_, res) => {
        times.push(performance.now());
        if (refusals > 0) {
          refusals -= 1;
          res.writeHead(503, { 'Retry-After': '1' }).end();
        } else res.end(JSON.stringify({ namespaces: ['tribe/events/v1'], home: 'http://x.example' }));
      });
      await new Promise<void>((listening) => busy.listen(0, '127.0.0.1', listening));
      expect((await findSite(`http://127.0.0.1:${(busy.address() as AddressInfo).port}`, FAST)).home).toBe('http://x.example');
      expect(times).toHaveLength(3);
      expect(times[2]! - times[0]!).toBeGreaterThan(1900);
      busy.close();
    });
    it('is requested at most at the configured rate', async () => {
      const site = await findSite(sites[0]!.base, { ...FAST, rate: 50 });
      const begun = performance.now();
      await Promise.all(Array.from({ length: 11 }, () => site.get('tags')));
      expect(performance.now() - begun).toBeGreaterThan(190);
    });
  });
});

for (const form of ['polylang', 'wpml'] as const) {
  describeDatabases(`comparison of two sites with languages, stored by ${form}`, (open) => {
    const dbs: Database[] = [];
    const sites: RunningSite[] = [];
    beforeAll(async () => {
      for (let site = 0; site < 2; site += 1) {
        const db = await loadLanguages(await open(), form);
        dbs.push(db);
        sites.push(await serveDatabase(db, { clock: () => new Date(SUITE_TIME), uncompressed: true }));
      }
    });
    afterAll(() => Promise.all(sites.map((site) => site.close())));

    it('finds nothing in any language, and filters by each', async () => {
      const copy = await standIn(
        () => sites[1]!,
        () => undefined,
      );
      const { findings, summary } = await verified(sites[0]!.base, copy.base, { sample: 3 });
      expect(findings).toEqual([]);
      const all = await sites[0]!.send('GET', '/wp-json/tribe/events/v1/venues?translation_language=all');
      expect(summary.records.venues?.old).toBe(all.body.total);
      for (const list of ['events', 'venues', 'organizers', 'categories', 'tags'])
        for (const code of ['all', 'en', 'it'])
          expect(copy.seen.some((url) => new RegExp(`/${list}\\?.*(wpml|translation)_language=${code}`).test(url))).toBe(true);
      await copy.close();
    });
    it('finds texts that differ in another language than the default one', async () => {
      const [db, lists] = [dbs[1]!, '/wp-json/tribe/events/v1'];
      const inItalian = 'translation_language=it&per_page=1';
      const events = await sites[1]!.send('GET', `${lists}/events?${inItalian}&start_date=2000-01-01&end_date=2100-01-01`);
      const categories = await sites[1]!.send('GET', `${lists}/categories?${inItalian}`);
      const [event, category] = [events.body.events[0].id, categories.body.categories[0].id];
      await db.from('posts').where('ID', event).update({ post_title: 'Altro titolo' });
      await db.from('terms').where('term_id', category).update({ name: 'Altro nome' });
      await db.from('fasti_changes').increment('counter');
      const { told } = await verified(sites[0]!.base, sites[1]!.base, { filters: false });
      expect(told).toEqual(expect.arrayContaining([`! events/${event} $.title`, `! categories/${category} $.name`]));
    });
  });
}
