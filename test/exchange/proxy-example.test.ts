import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

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

  it.each([
    ['/wp-json/tribe/events/v1/events?page=2', 'fasti'],
    ['/wp-json/calendar/events/v1', 'fasti'],
    ['/it/wp-json/calendar/events/v1/venues/3', 'fasti'],
    ['/index.php/wp-json/tribe/events/v1/tags', 'fasti'],
    ['/?rest_route=/tribe/events/v1/events', 'fasti'],
    ['/index.php?rest_route=%2Ftribe%2Fevents%2Fv1%2Fevents', 'fasti'],
    ['/wp-json/tec/v1/events', 'fasti'],
    ['/events/?ical=1', 'fasti'],
    ['/event/concert/?ical=1', 'fasti'],
    ['/events/feed/', 'fasti'],
    ['/events/category/music/feed', 'fasti'],
    ['/events/', 'wordpress'],
    ['/event/concert/', 'wordpress'],
    ['/wp-json/wp/v2/posts', 'wordpress'],
    ['/wp-json/tribe/tickets/v1', 'wordpress'],
    ['/feed/', 'wordpress'],
    ['/wp-admin/', 'wordpress'],
  ])('sends %s to %s', async (path, target) => expect(await (await fetch(base + path)).text()).toBe(`${target} 127.0.0.1 http`));
});
