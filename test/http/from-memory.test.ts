import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import express from 'express';
import { createLog } from '../../src/log.ts';
import { describeDatabases } from '../support/databases.ts';
import { finiteRoutes } from '../support/finite-routes.ts';
import { type Answer, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';

const PATHS = [
  `${ROOT}/events?start_date=2020-01-01&per_page=20`,
  `${ROOT}/events/44`,
  `${ROOT}/events/by-slug/new-year-concert`,
  `${ROOT}/venues`,
  `${ROOT}/categories/3`,
  `${ROOT}/doc`,
  '/wp-json/',
  '/wp-json/wp/v2/tribe_events?_embed',
  '/?rest_route=/calendar/events/v1/tags',
  '/events/?ical=1',
  '/events/feed/',
];
const HEADERS: Readonly<Record<string, string>>[] = [
  {},
  { 'Accept-Encoding': 'gzip, br' },
  { 'Accept-Encoding': 'gzip;q=0' },
  { Origin: 'https://a.test' },
  { Origin: 'https://b.test', 'Accept-Encoding': 'gzip' },
  { 'Accept-Language': 'it' },
  { 'If-None-Match': '*' },
  { 'If-None-Match': '*', Origin: 'https://c.test', 'Accept-Encoding': 'gzip' },
  { 'If-None-Match': '"other"' },
];

/** Counts the requests that reach Express by wrapping `handle`, which its types do not declare. */
function followApp() {
  const app = express.application as unknown as { handle: (...args: unknown[]) => void };
  const { handle } = app;
  const passed = {
    count: 0,
    restore: () => {
      app.handle = handle;
    },
  };
  app.handle = function (...args) {
    passed.count += 1;
    handle.apply(this, args);
  };
  return passed;
}

/** Paths whose responses are the same for all callers and headers. */
const OPEN = ['/doc', '/it/doc', '/robots.txt', '/sitemap.xml'];
/** Paths that anonymous callers may read and whose responses do not repeat the query. */
const MEANT = [
  '/wp-json/',
  '/',
  '/events/',
  '/events/?ical=1',
  '/events/feed/',
  ...finiteRoutes().flatMap(({ pattern, endpoints }) =>
    !pattern.includes('(?P<') && endpoints.some(({ methods, allow }) => methods.includes('GET') && allow === 'anyone')
      ? [ROOT + pattern]
      : [],
  ),
];

describeDatabases('cached response', (open) => {
  let running: RunningSite;
  const lines: string[] = [];
  beforeAll(async () => {
    const db = await loadSite(await open());
    const env = { CACHE_FRESHNESS_MS: '60000', SHARED_WITH_WORDPRESS: 'off', SITE_URL: 'https://calendar.test' };
    const log = createLog({ logLevel: 'info' }, { write: (line) => void lines.push(line) });
    running = await serveDatabase(db, { env, log, clock: () => new Date('2026-11-20T12:00:00Z') });
  });
  afterAll(() => running.close());

  const memoryOf = async (path: string, headers: Record<string, string> = {}) => {
    lines.length = 0;
    expect([path, (await running.send('GET', path, { headers })).status]).toEqual([path, 200]);
    return lines.map((line) => JSON.parse(line).memory);
  };

  it.each([...OPEN, ...MEANT])('is also served for a query with unknown parameters: %s', async (path) => {
    const sign = path.includes('?') ? '&' : '?';
    await memoryOf(`${path}${sign}nothing=1`);
    expect(await memoryOf(`${path}${sign}nothing=2`)).toEqual(['hit']);
  });

  it('is also served for a path with further slashes', async () => {
    for (const path of ['/doc', '/it/doc']) {
      await memoryOf(path);
      for (const slashes of [`/${path}`, `//${path}`, `${path}/`, path.replace('doc', '/doc/')])
        expect(await memoryOf(slashes)).toEqual(['hit']);
    }
  });

  it.each(OPEN)('is also served for credentials that the path ignores: %s', async (path) => {
    await memoryOf(path);
    for (const headers of [{ Authorization: 'Bearer x' }, { Cookie: 'wordpress_logged_in_x=1' }, { 'X-WP-Nonce': 'x' }] as Record<
      string,
      string
    >[])
      expect(await memoryOf(path, headers)).toEqual(['hit']);
  });
});

describeDatabases('response from memory', (open) => {
  let passed: ReturnType<typeof followApp>;
  let running: RunningSite;
  let without: RunningSite;
  const clock = () => new Date('2026-11-20T12:00:00Z');

  beforeAll(async () => {
    const db = await loadSite(await open());
    passed = followApp();
    const env = { CACHE_FRESHNESS_MS: '60000', SHARED_WITH_WORDPRESS: 'off', SITE_URL: 'https://calendar.test' };
    running = await serveDatabase(db, { env, clock });
    without = await serveDatabase(db, { env: { ...env, CACHE: 'off' }, clock });
  });
  afterAll(async () => {
    passed.restore();
    await Promise.all([running.close(), without.close()]);
  });

  /**
   * The parts of a response that must be equal: without those that depend on the time, the connection or the last
   * change of the database.
   */
  const seen = ({ status, headers, text: body }: Answer) => {
    const { date: _date, 'x-request-id': _id, connection: _connection, 'keep-alive': _keep, 'last-modified': _last, ...others } = headers;
    return { status, headers: others, body };
  };

  it.each(PATHS)('for %s equals the computed one and does not pass through Express', async (path) => {
    for (const method of ['GET', 'HEAD'])
      for (const headers of HEADERS) {
        const expected = seen(await without.send(method, path, { headers }));
        // The first is computed, the second has its URL cached, the third may have to be compressed.
        for (let time = 0; time < 3; time += 1) expect(seen(await running.send(method, path, { headers }))).toEqual(expected);
        passed.count = 0;
        expect(seen(await running.send(method, path, { headers }))).toEqual(expected);
        expect([method, headers, passed.count]).toEqual([method, headers, 0]);
      }
  });

  it.each<[string, string, Record<string, string>]>([
    ['whoever signs in', 'GET', { Authorization: 'Basic YWRtaW46bm8=' }],
    ['a login cookie', 'GET', { Cookie: 'wordpress_logged_in_x=y' }],
    ['a nonce', 'GET', { 'X-WP-Nonce': 'abc' }],
    ['another method', 'OPTIONS', {}],
    ['a body', 'GET', { 'Content-Length': '2' }],
  ])('is not served to %s', async (_, method, headers) => {
    for (let time = 0; time < 3; time += 1) await running.send('GET', PATHS[1]!);
    passed.count = 0;
    await running.send(method, PATHS[1]!, { headers, body: headers['Content-Length'] ? '{}' : null });
    expect(passed.count).toBe(1);
  });

  it('is kept separately for requests with and without X-TEC-EEA', async () => {
    const path = '/wp-json/tec/v1/events?_envelope=1&_fields=id';
    for (const header of ['', 'yes', '', 'yes']) {
      const { body } = await running.send('GET', path, { headers: { 'X-TEC-EEA': header } });
      expect([header, body.status]).toEqual([header, header === '' ? 400 : 200]);
    }
  });

  it('is not served to a request with two Host headers', async () => {
    for (let time = 0; time < 3; time += 1) await running.send('GET', PATHS[1]!);
    const { hostname, port } = new URL(running.base);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(`GET ${PATHS[1]} HTTP/1.1\r\nHost: a.test\r\nhost: b.test\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });
});
