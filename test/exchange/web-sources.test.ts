import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { openWebSource } from '../../src/exchange/live/web-sources.ts';
import { parseZone } from '../../src/wordpress/zones.ts';

it('openWebSource reads a calendar at a URL with invalid percent-encoding', async () => {
  const server = http.createServer((_, res) => void res.end('BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const settings = { zone: parseZone('Europe/Rome')!, timezone: 'Europe/Rome' };
  const options = { caller: { settings, now: new Date() } as never, target: 'x', folder: '' };
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/100%zz.ics`;
  const source = await openWebSource(address, options).finally(() => server.close());
  const entries = [];
  for await (const entry of source.entries()) entries.push(entry);
  expect(entries).toEqual([]);
});
