import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { feedRows } from '../../src/cli/feeds-page.ts';
import { readConfig } from '../../src/config/config.ts';
import { feedAddress } from '../../src/http/feeds/address.ts';
import { parseQuery } from '../../src/http/input.ts';

const nginx = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find((path) => existsSync(path));

/** Returns the example of the guide with the test's ports. */
function example(ports: { proxy: number; wordpress: number; fasti: number }): string {
  const [, block = ''] = /```nginx\n([\s\S]*?)```/.exec(readFileSync(new URL('../../docs/migrating.md', import.meta.url), 'utf8')) ?? [];
  return block
    .replace('listen 80;', `listen 127.0.0.1:${ports.proxy};`)
    .replace('127.0.0.1:8000', `127.0.0.1:${ports.wordpress}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${ports.fasti}`);
}

/**
 * Returns the example of a server for a whole site with its commented-out WordPress lines enabled, with the test's
 * ports and without TLS.
 */
function wholeServer(ports: { proxy: number; wordpress: number; fasti: number }): string {
  const text = readFileSync(new URL('../../docs/examples/nginx.conf', import.meta.url), 'utf8');
  return text
    .replaceAll(/^( *)# (?=error_page|location @| {2}|\})/gm, '$1')
    .replace('listen 80;', `listen 127.0.0.1:${ports.proxy};`)
    .replace('return 301 https://$host$request_uri;', 'return 404;')
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${ports.proxy} default_server;`)
    .replaceAll(/^ *ssl_.*\n/gm, '')
    .replace('127.0.0.1:8000', `127.0.0.1:${ports.wordpress}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${ports.fasti}`);
}

async function freePort(): Promise<number> {
  const free = createServer();
  await new Promise<void>((listening) => free.listen(0, '127.0.0.1', listening));
  const { port } = free.address() as AddressInfo;
  await new Promise((closed) => free.close(closed));
  return port;
}

/** Starts nginx with this text inside `http`, and waits until it answers on the port. */
async function startNginx(inside: string, port: number): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'fasti-proxy-'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${paths} map_hash_bucket_size 256; ${inside} }`,
  );
  const child = spawn(nginx!, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  for (let tries = 0; tries < 100; tries += 1) {
    if (await fetch(`http://127.0.0.1:${port}`).catch(() => undefined)) break;
    await sleep(50);
  }
  return async () => {
    child.kill();
    await ended;
  };
}

(nginx ? describe : describe.skip)('nginx example of the migration guide', () => {
  const servers: http.Server[] = [];
  let base = '';
  let stop = async (): Promise<void> => undefined;
  const serve = async (name: string): Promise<number> => {
    const server = http.createServer((req, res) => res.end(`${name} ${req.headers.host} ${String(req.headers['x-forwarded-proto'])}`));
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return (server.address() as AddressInfo).port;
  };
  beforeAll(async () => {
    const [wordpress, fasti] = [await serve('wordpress'), await serve('fasti')];
    const proxy = await freePort();
    base = `http://127.0.0.1:${proxy}`;
    stop = await startNginx(example({ proxy, wordpress, fasti }), proxy);
  });
  afterAll(async () => {
    await stop();
    for (const server of servers) server.close();
  });

  const target = async (path: string, method = 'GET') => (await fetch(base + path, { method })).text();

  const FEEDS = feedRows().map(([address]) => address);
  it.each([
    '/wp-json/tribe/events/v1/events?page=2',
    '/wp-json/calendar/events/v1',
    '/it/wp-json/calendar/events/v1/venues/3',
    '/index.php/wp-json/tribe/events/v1/tags',
    '/?rest_route=/tribe/events/v1/events',
    '/index.php?rest_route=%2Ftribe%2Fevents%2Fv1%2Fevents',
    '/wp-json/tec/v1/events',
    ...FEEDS.filter((address) => !address.startsWith('/tag/') || !address.includes('feed')),
    '/event/concert?ical=1',
    '/events/ical',
    '/events/?utm_source=x&ical=0',
    '/events/?outlook-ical',
    '/events/category/music/feed',
    '/it/events/feed/',
    '/it/event/concert/?format=jsonld',
    '/index.php/events/?ical=1',
  ])('sends %s to Fasti', async (path) => expect(await target(path)).toBe('fasti 127.0.0.1 http'));

  it.each([
    '/',
    '/events/',
    '/events/list/',
    '/event/concert/',
    '/event/concert/feed/',
    '/venue/old-cinema/?ical=1',
    '/events/week/?ical=1',
    '/events/photo/?ical=1',
    '/a-page/?ical=1',
    '/a-page/?tropical=1',
    '/events/?mechanical=1',
    '/wp-json/wp/v2/posts',
    '/wp-json/tribe/tickets/v1',
    '/pt-br/wp-json/tribe/events/v1/events',
    '/fr/wp-json/tribe/events/v1/events',
    '/feed/',
    '/tag/outdoor/feed/',
    '/?feed=rss2',
    '/?feed=atom&post_type=product',
    '/wp-admin/',
  ])('sends %s to WordPress', async (path) => expect(await target(path)).toBe('wordpress 127.0.0.1 http'));

  it('sends exactly the feed addresses to Fasti', async () => {
    const place = { base: '', languages: ['en', 'it'], slugs: { events: ['events'], event: ['event'], tag: ['tag'] } };
    const paths = [
      '/',
      '/events/',
      '/events/list/',
      '/events/2030-06/',
      '/events/2030-06-01/',
      '/events/2030/',
      '/events/category/a/b/month/',
      '/event/x/',
      '/x/',
    ];
    const ends = [
      '',
      'ical/',
      'feed/',
      'feed/atom/',
      'atom/',
      '?ical=1',
      '?feed=rdf',
      '?feed=json',
      '?x=1&post_type=tribe_events&feed=rss2',
    ];
    for (const address of paths.flatMap((path) => ends.map((end) => path + end))) {
      const [path = '', query = ''] = address.split('?');
      const isFeed = feedAddress(path, parseQuery(query), place)?.format !== undefined;
      expect([address, await target(address)]).toEqual([address, `${isFeed ? 'fasti' : 'wordpress'} 127.0.0.1 http`]);
    }
  });

  it("routes the editors' area and <fasti-events> once their line has no # before it", async () => {
    const port = await freePort();
    const [wordpress, fasti] = servers.map((server) => (server.address() as AddressInfo).port) as [number, number];
    const whole = example({ proxy: port, wordpress, fasti }).replace('  # "~', '  "~');
    const end = await startNginx(whole, port);
    const answered = async (path: string) => (await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).split(' ')[0];
    for (const path of ['/admin', '/admin/events?page=2', '/_fasti/fasti-events.js'])
      expect([path, await answered(path), (await target(path)).split(' ')[0]]).toEqual([path, 'fasti', 'wordpress']);
    expect(await answered('/administration/')).toBe('wordpress');
    await end();
  });

  it('routes a site in a folder where the folder comes first in each line, as the guide says', async () => {
    const port = await freePort();
    const [wordpress, fasti] = servers.map((server) => (server.address() as AddressInfo).port) as [number, number];
    const inside = example({ proxy: port, wordpress, fasti }).replaceAll('"~^', '"~^/two');
    const end = await startNginx(inside, port);
    const answered = async (path: string) => (await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).split(' ')[0];
    for (const path of ['/wp-json/tribe/events/v1/events', '/it/events/?ical=1', '/?rest_route=/tribe/events/v1/events', '/event/x/ical/'])
      expect([path, await answered(`/two${path}`), await answered(path)]).toEqual([path, 'fasti', 'wordpress']);
    expect(await answered('/two/events/')).toBe('wordpress');
    await end();
  });

  it('allows uploads of the same size as the server', async () => {
    const size = Number(/client_max_body_size (\d+)m/.exec(example({ proxy: 0, wordpress: 0, fasti: 0 }))?.[1]) * 1024 * 1024;
    expect(size).toBe(readConfig({}).uploadLimit);
  });

  it('sends reads, but not writes, to WordPress while Fasti is not running', async () => {
    const fasti = servers[1]!;
    await new Promise((closed) => {
      fasti.close(closed);
      fasti.closeAllConnections();
    });
    expect(await target('/events/?ical=1')).toBe('wordpress 127.0.0.1 http');
    expect((await fetch(`${base}/wp-json/tribe/events/v1/events`, { method: 'POST' })).status).toBe(502);
  });
});

(nginx ? it : it.skip)(
  'the nginx example for a whole server sends reads, but not writes, to WordPress if Fasti does not respond',
  async () => {
    const seen: string[] = [];
    const wordpress = http.createServer((req, res) => {
      seen.push(`${req.method} ${req.headers['x-forwarded-proto']} ${req.headers['x-forwarded-for']}`);
      res.end('wordpress');
    });
    // This server closes the connection without a response.
    const fasti = http.createServer((req) => req.socket.destroy());
    for (const server of [wordpress, fasti]) await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const portOf = (server: http.Server) => (server.address() as AddressInfo).port;
    const proxy = await freePort();
    const stop = await startNginx(wholeServer({ proxy, wordpress: portOf(wordpress), fasti: portOf(fasti) }), proxy);
    const address = `http://127.0.0.1:${proxy}/wp-json/tribe/events/v1/events`;
    seen.splice(0);
    expect((await fetch(address, { method: 'POST', body: 'title=Once' })).status).toBe(502);
    expect(seen).toEqual([]);
    expect(await (await fetch(address)).text()).toBe('wordpress');
    expect(seen).toEqual(['GET http 127.0.0.1']);
    await stop();
    for (const server of [wordpress, fasti]) server.close();
  },
);
