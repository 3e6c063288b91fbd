import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { SiteSettings } from '../../src/calendar/settings.ts';
import { readConfig } from '../../src/config/config.ts';
import { withTimeout } from '../../src/host/timeout.ts';
import { createMetrics, type MetricValues, metricsPage } from '../../src/http/metrics.ts';
import { metricsListener } from '../../src/http/metrics-server.ts';
import type { FinishedRequest } from '../../src/http/request-notes.ts';
import { openSite } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { basic, serveDatabase } from '../support/running-site.ts';
import { type Serving, startServing } from '../support/serving.ts';
import { loadSite } from '../support/site.ts';

const LIST = '/wp-json/tribe/events/v1/events';
const TOKEN = 'a-token-of-sixteen-letters';

/** Metrics of a process that has served no request. */
async function measuredNowhere(): Promise<MetricValues> {
  const site = await openSite(readConfig({ DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'silent' }));
  try {
    return await createMetrics(site, { phase: () => 'starting' }, '0.0.0').collect();
  } finally {
    await site.close();
  }
}

/** The value of a series in the text format of Prometheus. */
const seriesIn = (page: string, series: string): number =>
  Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1),
  );

/** Requests a URL on a new connection, which goes to the next worker. */
const read = (url: string, token?: string): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    get(url, { agent: false, headers }, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
    }).on('error', reject);
  });

describeDatabases('metrics', (open) => {
  let db: Database;
  let server: Serving | undefined;
  beforeAll(async () => {
    db = await loadSite(await open());
  });
  afterEach(async () => {
    await server?.stop('SIGKILL');
    server = undefined;
  });

  it('cover all workers, on a separate port and on the main one, with the token only', async () => {
    server = await startServing(urlOf(db), { WORKERS: '2', METRICS_PORT: '0', METRICS_TOKEN: TOKEN });
    await server.waitForLog('serving metrics');
    for (let asked = 0; asked < 6; asked += 1) expect((await read(`${server.base}${LIST}`)).status).toBe(200);
    await read(`${server.base}${LIST}/999999`);
    const port = server.entries.map((entry) => entry as { msg: string; port?: number }).find(({ msg }) => msg === 'serving metrics')?.port;

    // The port opens as soon as the first worker is ready.
    const processes = async () => seriesIn((await read(`http://127.0.0.1:${port}/metrics`, TOKEN)).body, 'fasti_processes');
    while ((await processes()) < 2) await sleep(50);

    for (const base of [`http://127.0.0.1:${port}`, server.base]) {
      expect((await read(`${base}/metrics`)).status).toBe(401);
      expect((await read(`${base}/metrics`, 'another-token-of-that-length')).status).toBe(401);
      const { status, body } = await read(`${base}/metrics`, TOKEN);
      expect(status).toBe(200);
      const route = '/tribe/events/v1/events';
      expect(seriesIn(body, `fasti_http_requests_total{method="GET",route="${route}",status="200"}`)).toBe(6);
      expect(seriesIn(body, `fasti_http_requests_total{method="GET",route="${route}/{id}",status="404"}`)).toBe(1);
      expect(seriesIn(body, `fasti_http_request_duration_seconds_count{route="${route}"}`)).toBe(6);
      expect(seriesIn(body, `fasti_http_response_bytes_total{route="${route}"}`)).toBeGreaterThan(1000);
      const remembered = ['hit', 'miss'].map((result) => seriesIn(body, `fasti_memory_requests_total{result="${result}"}`) || 0);
      expect(remembered[0]! + remembered[1]!).toBe(7);
      expect(seriesIn(body, 'fasti_processes')).toBe(2);
      for (const part of ['serving', 'reading', 'writing'])
        expect([part, seriesIn(body, `fasti_ready{part="${part}"}`)]).toEqual([part, 1]);
      // The index is built in the background.
      expect([0, 1]).toContain(seriesIn(body, 'fasti_index_in_use'));
      expect(seriesIn(body, 'fasti_database_queries_total')).toBeGreaterThan(4);
      expect(seriesIn(body, 'fasti_database_connections{state="waiting"}')).toBeGreaterThanOrEqual(0);
      expect(seriesIn(body, 'process_resident_memory_bytes')).toBeGreaterThan(2 ** 20);
    }
    expect((await read(`http://127.0.0.1:${port}/anything`, TOKEN)).status).toBe(404);

    for (let asked = 0; asked < 4; asked += 1) await read(`${server.base}${LIST}`);
    server.child.kill('SIGHUP');
    await server.waitForLog('the workers have been replaced');
    const { body } = await read(`http://127.0.0.1:${port}/metrics`, TOKEN);
    expect(seriesIn(body, 'fasti_http_requests_total{method="GET",route="/tribe/events/v1/events",status="200"}')).toBe(10);
  });

  it('return 404 unless they are configured', async () => {
    server = await startServing(urlOf(db));
    expect((await read(`${server.base}/metrics`)).status).toBe(404);
  });
});

it.each([
  ['does not answer', () => new Promise<never>(() => undefined)],
  ['fails', () => Promise.reject(new Error('gone'))],
])('metrics are available while the database %s', async (_what, upToDate) => {
  const site = await openSite(readConfig({ DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'silent' }));
  try {
    const shared = { occurrenceTables: true, shared: true } as SiteSettings;
    for (const broken of [{ settings: async () => shared, takenOverSince: upToDate }, { settings: upToDate }]) {
      const metrics = createMetrics({ ...site, ...broken }, { phase: () => 'serving' }, '0.0.0');
      const page = await metricsPage([await withTimeout(3000, metrics.collect())]);
      expect(seriesIn(page, 'fasti_ready{part="serving"}')).toBe(1);
    }
  } finally {
    await site.close();
  }
});

it('count a request that ends while the state of the service is measured', async () => {
  const site = await openSite(readConfig({ DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'silent' }));
  try {
    let measure = (): void => undefined;
    const measured = new Promise<void>((resolve) => {
      measure = resolve;
    });
    const ask = () => measured.then(() => Promise.reject(new Error('gone')));
    const metrics = createMetrics({ ...site, db: { ...site.db, ask } }, { phase: () => 'serving' }, '0.0.0');
    const collected = metrics.collect();
    await nextTurn();
    const request = { method: 'GET', route: 'events', status: 200, ms: 1, bytes: 2, isComplete: true };
    metrics.observe(request as FinishedRequest);
    measure();
    const page = await metricsPage([await collected]);
    expect(seriesIn(page, 'fasti_http_requests_total{method="GET",route="events",status="200"}')).toBe(1);
  } finally {
    await site.close();
  }
});

it('metrics require a bearer token and allow only GET and HEAD', async () => {
  const server = createServer(metricsListener(TOKEN, async () => 'up 1\n'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
    const answers = await Promise.all([
      fetch(url, { headers: { authorization: `bearer  ${TOKEN}` } }),
      fetch(url, { headers: { authorization: `Basic ${TOKEN}` } }),
      fetch(url, { method: 'POST' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 405]);
    expect(answers[2]!.headers.get('allow')).toBe('GET, HEAD');
    expect(await read(url, TOKEN)).toEqual({ status: 200, body: 'up 1\n' });
    const { hostname, port } = new URL(url);
    const whole = await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      get({ hostname, port, path: `${url}?a=b`, agent: false, headers }, (answer) => resolve(answer.resume().statusCode)).on(
        'error',
        reject,
      );
    });
    expect(whole).toBe(200);
  } finally {
    server.close();
  }
});

describeDatabases('the known position in the journal', (open) => {
  it('is not that of a process that has not looked for changes yet', async () => {
    const { site, send, close } = await serveDatabase(await loadSite(await open()), { env: { CACHE: 'on' } });
    try {
      await send('POST', LIST, { as: 'admin', body: { title: 'New', start_date: '2030-01-01 10:00', end_date: '2030-01-01 11:00' } });
      await send('GET', LIST);
      expect(site.journal.position()).toBeGreaterThan(0);
      const parts = [await createMetrics(site, { phase: () => 'serving' }, '0.0.0').collect(), await measuredNowhere()];
      expect(seriesIn(await metricsPage(parts), 'fasti_journal_position')).toBe(site.journal.position());
    } finally {
      await close();
    }
  });
});

it('the Grafana dashboard uses only metrics that exist', async () => {
  const dashboard = readFileSync(new URL('../../docs/grafana.json', import.meta.url), 'utf8');
  const asked = new Set([...dashboard.matchAll(/\b((?:fasti|process|nodejs)_[a-z0-9_]+)[{),]/g)].map(([, name = '']) => name));
  const page = await metricsPage([await measuredNowhere()]);
  const series = new Set(
    [...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) => (type === 'histogram' ? [`${name}_bucket`] : [name])),
  );
  expect(asked.size).toBeGreaterThan(12);
  expect([...asked].filter((name) => !series.has(name))).toEqual([]);
});

describeDatabases('detailed health report', (open) => {
  it.each([
    [{ SHARED_WITH_WORDPRESS: 'off' }, 'missing'],
    [{ SHARED_WITH_WORDPRESS: 'off', CUSTOM_TABLES: 'off' }, 'none'],
    [{ SHARED_WITH_WORDPRESS: 'on', CUSTOM_TABLES: 'off' }, 'none'],
    [{ SHARED_WITH_WORDPRESS: 'on', FOLLOW_WORDPRESS: 'off' }, 'shared with WordPress'],
  ])('says why lists do not use the index: %j', async (env, index) => {
    const running = await serveDatabase(await loadSite(await open()), { env });
    try {
      const { body } = await running.send('GET', '/health/ready', { headers: { authorization: basic('admin') } });
      expect(body.parts.index).toBe(index);
    } finally {
      await running.close();
    }
  });

  it('is returned only to authenticated administrators', async () => {
    const running = await serveDatabase(await loadSite(await open()));
    const ready = async (headers: Record<string, string> = {}) => running.send('GET', '/health/ready', { headers });
    try {
      expect((await ready()).body).toEqual({ status: 'ready' });
      expect((await ready({ authorization: basic('contrib') })).body).toEqual({ status: 'ready' });
      expect((await ready({ authorization: `Basic ${Buffer.from('admin:wrong').toString('base64')}` })).status).toBe(401);
      const { body } = await ready({ authorization: basic('admin') });
      expect(body.parts).toMatchObject({
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        database: { kind: running.site.db.dialect.name, reading: 'ok', writing: 'ok', connections: { waiting: 0 } },
        index: 'shared with WordPress',
        uploads: 'ok',
      });
    } finally {
      await running.close();
    }
  });
});
