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

/** The example of the guide, on ports of our own. */
function example(ports: { proxy: number; wordpress: number; fasti: number }): string {
  const [, block = ''] = /```nginx\n([\s\S]*?)```/.exec(readFileSync(new URL('../../docs/migrating.md', import.meta.url), 'utf8')) ?? [];
  return block
    .replace('listen 80;', `listen 127.0.0.1:${ports.proxy};`)
    .replace('127.0.0.1:8000', `127.0.0.1:${ports.wordpress}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${ports.fasti}`);
}

(nginx ? describe : describe.skip)('the proxy of the guide', () => {
  const servers: http.Server[] = [];
  let base = '';
  let ended: Promise<unknown>;
  let stop = () => {};
  const serve = async (name: string): Promise<number> => {
    const server = http.createServer((req, res) => res.end(`${name} ${req.headers.host} ${String(req.headers['x-forwarded-proto'])}`));
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return (server.address() as AddressInfo).port;
  };
  beforeAll(async () => {
    const [wordpress, fasti] = [await serve('wordpress'), await serve('fasti')];
    const free = createServer();
    await new Promise<void>((listening) => free.listen(0, '127.0.0.1', listening));
    const { port: proxy } = free.address() as AddressInfo;
    await new Promise((closed) => free.close(closed));
    const folder = mkdtempSync(join(tmpdir(), 'fasti-proxy-'));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${paths} map_hash_bucket_size 256; ${example({ proxy, wordpress, fasti })} }`,
    );
    const child = spawn(nginx!, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
    ended = new Promise((done) => child.once('exit', done));
    stop = () => child.kill();
    base = `http://127.0.0.1:${proxy}`;
    for (let tries = 0; tries < 100; tries += 1) {
      if ((await fetch(base).catch(() => undefined))?.ok) break;
      await sleep(50);
    }
  });
  afterAll(async () => {
    stop();
    await ended;
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
  ])('leaves %s to WordPress', async (path) => expect(await target(path)).toBe('wordpress 127.0.0.1 http'));

  it('routes what is a feed, and nothing else', async () => {
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
      const isFeed = feedAddress(path, parseQuery(query), place)?.form !== undefined;
      expect([address, await target(address)]).toEqual([address, `${isFeed ? 'fasti' : 'wordpress'} 127.0.0.1 http`]);
    }
  });

  it('takes uploads as large as the server does by itself', async () => {
    const size = Number(/client_max_body_size (\d+)m/.exec(example({ proxy: 0, wordpress: 0, fasti: 0 }))?.[1]) * 1024 * 1024;
    expect(size).toBe(readConfig({}).uploadLimit);
  });

  it('has WordPress answer reads, and no writes, while Fasti does not run', async () => {
    const fasti = servers[1]!;
    await new Promise((closed) => {
      fasti.close(closed);
      fasti.closeAllConnections();
    });
    expect(await target('/events/?ical=1')).toBe('wordpress 127.0.0.1 http');
    expect((await fetch(`${base}/wp-json/tribe/events/v1/events`, { method: 'POST' })).status).toBe(502);
  });
});
