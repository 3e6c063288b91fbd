import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { basic, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

describeDatabases('client disconnect', (open) => {
  let db: Database;
  let running: RunningSite;
  const lines: { level: string }[] = [];
  beforeAll(async () => {
    db = await loadSite(await open());
    const log = createLog({ logLevel: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
    running = await serveDatabase(db, { log });
  });
  afterAll(() => running.close());

  it('in the middle of a request body creates no record and logs no error', async () => {
    const count = async () => (await db.from('posts')).length;
    const before = await count();
    const { hostname, port } = new URL(running.base);
    const socket = connect(Number(port), hostname);
    const head = ['POST /wp-json/calendar/events/v1/venues HTTP/1.1', `Host: ${hostname}`, `Authorization: ${basic('admin')}`];
    const body = '{"venue": "Half';
    socket.write(`${[...head, 'Content-Type: application/json', 'Content-Length: 500'].join('\r\n')}\r\n\r\n${body}`);
    await sleep(100);
    socket.destroy();
    while (lines.length === 0) await sleep(10);
    await sleep(50);
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([]);
    expect(await count()).toBe(before);
  });
});
