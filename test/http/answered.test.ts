import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLog } from '../../src/log.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';

type Entry = Readonly<Record<string, unknown>>;

const ROUTE = '/calendar/events/v1';
/** Members that every log entry has, and members that only some entries have. */
const ALWAYS = ['agent', 'bytes', 'from', 'id', 'level', 'method', 'ms', 'msg', 'pid', 'status', 'time', 'url'];
const SOMETIMES = ['memory', 'refusal', 'route', 'user'];

describeDatabases('log entry of a request', (open) => {
  const entries: Entry[] = [];
  let running: RunningSite;
  beforeAll(async () => {
    const log = createLog({ logLevel: 'debug' }, { write: (line) => entries.push(JSON.parse(line) as Entry) });
    const env = { CACHE_FRESHNESS_MS: '60000', SHARED_WITH_WORDPRESS: 'off', TRUST_PROXY: 'loopback' };
    running = await serveDatabase(await loadSite(await open()), { log, env });
  });
  beforeEach(() => {
    entries.length = 0;
  });
  afterAll(() => running.close());

  const completed = () => entries.filter(({ msg }) => String(msg).startsWith('request '));
  /** Sends a request and returns its response and its log entry. */
  async function told(...[method, path, options = {}]: Parameters<RunningSite['send']>) {
    const before = completed().length;
    const headers = { 'User-Agent': 'told/1.0', ...options.headers };
    const answer = await running.send(method, path, { ...options, headers });
    for (let turns = 0; completed().length === before && turns < 1000; turns += 1) await new Promise((next) => setImmediate(next));
    expect(completed().length).toBe(before + 1);
    return { answer, entry: completed().at(-1)! };
  }

  it.each([
    ['an event', 'GET', `${ROOT}/events/44`, 200, `${ROUTE}/events/{id}`, 'miss'],
    ['the same from memory', 'GET', `${ROOT}/events/44`, 200, `${ROUTE}/events/{id}`, 'hit'],
    ['a list', 'GET', `${ROOT}/events?per_page=2`, 200, `${ROUTE}/events`, 'miss'],
    ['a list that nobody may see', 'GET', '/wp-json/wp/v2/users?context=edit', 401, '/wp/v2/users', 'miss'],
    ['an event that is not there', 'GET', `${ROOT}/events/999999`, 404, `${ROUTE}/events/{id}`, 'miss'],
    ['the index', 'GET', '/wp-json/', 200, '/', 'miss'],
    ['a route that is not there', 'GET', '/wp-json/none/v1', 404, undefined, 'miss'],
    ['a feed', 'GET', '/events/?ical=1', 200, 'feeds/ical', 'miss'],
    ['the feed from memory', 'GET', '/events/?ical=1', 200, 'feeds/ical', 'hit'],
    ['a page', 'GET', '/nothing', 404, undefined, undefined],
    ['an upload', 'GET', '/wp-content/uploads/none.png', 404, 'uploads', undefined],
    ['health', 'GET', '/health/live', 200, 'health', undefined],
    ['a write that is refused', 'DELETE', `${ROOT}/events/44`, 401, `${ROUTE}/events/{id}`, undefined],
  ])('describes the response and carries its id: %s', async (_, method, url, status, route, memory) => {
    const { answer, entry } = await told(method, url);
    expect(answer.status).toBe(status);
    expect(answer.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    expect(entry).toMatchObject({
      id: answer.headers['x-request-id'],
      method,
      url,
      status,
      bytes: Buffer.byteLength(answer.text),
      agent: 'told/1.0',
    });
    expect([entry.route, entry.memory]).toEqual([route, memory]);
    expect(
      Object.keys(entry)
        .filter((name) => !SOMETIMES.includes(name))
        .sort(),
    ).toEqual(ALWAYS);
    expect(new Date(String(entry.time)).toISOString()).toBe(entry.time);
  });

  it('contains the id of the user', async () => {
    expect((await told('GET', `${ROOT}/events/44`, { as: 'admin' })).entry.user).toBe(1);
    expect((await told('GET', `${ROOT}/events/44?anonymous`)).entry.user).toBe(0);
  });

  it('contains the client address given by a trusted proxy', async () => {
    const headers = { 'X-Forwarded-For': '192.0.2.7' };
    for (const memory of ['miss', 'hit'])
      expect((await told('GET', `${ROOT}/venues?per_page=1`, { headers })).entry).toMatchObject({ from: '192.0.2.7', memory });
  });

  it('contains the number of body bytes sent', async () => {
    const url = `${ROOT}/events?per_page=7`;
    const whole = await told('GET', url);
    const tag = String(whole.answer.headers.etag);
    for (const _memory of ['not yet', 'compressed']) {
      const { answer, entry } = await told('GET', url, { headers: { 'Accept-Encoding': 'gzip' } });
      expect(entry.bytes).toBe(Number(answer.headers['content-length']));
    }
    expect((await told('HEAD', url)).entry).toMatchObject({ bytes: 0, status: 200 });
    expect((await told('GET', url, { headers: { 'If-None-Match': tag } })).entry).toMatchObject({ bytes: 0, status: 304 });
  });

  it('has the level debug for health checks and info for API requests', async () => {
    expect((await told('GET', '/health/live')).entry.level).toBe('debug');
    expect((await told('GET', `${ROOT}/events/44`)).entry.level).toBe('info');
  });

  it('is "request aborted" if the client disconnects', async () => {
    const { hostname, port } = new URL(running.base);
    const socket = connect(Number(port), hostname);
    const head = [`POST ${ROOT}/venues HTTP/1.1`, `Host: ${hostname}`, 'Expect: 100-continue', 'Content-Length: 500'];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    while (completed().length === 0) await new Promise((next) => setImmediate(next));
    expect(completed().map(({ msg, method }) => [method, msg])).toEqual([['POST', 'request aborted']]);
  });

  describe('has the id of the X-Request-Id header', () => {
    it.each([
      '7f3a9c',
      'Root=1-67891233-abcdef012345678912345678',
      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'x'.repeat(128),
    ])('%s', async (id) => {
      for (const _memory of ['miss', 'hit']) {
        const { answer, entry } = await told('GET', `${ROOT}/categories?x=${id.length}`, { headers: { 'X-Request-Id': id } });
        expect([answer.headers['x-request-id'], entry.id]).toEqual([id, id]);
      }
    });

    it.each(['', ' ', 'a b', 'a,b', '"a"', '<a>', 'a\tb', 'é', 'x'.repeat(129)])('unless it is not valid: %j', async (id) => {
      const { answer, entry } = await told('GET', `${ROOT}/events/44`, { headers: { 'X-Request-Id': id } });
      expect(answer.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
      expect(entry.id).toBe(answer.headers['x-request-id']);
    });
  });
});
