import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import express from 'express';
import { handleErrors, type ProblemPage } from '../../src/http/problem.ts';
import { createLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { describeDatabases } from '../support/databases.ts';
import { basic, type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

/** Creates something as in production: Express prints no errors in tests. */
async function inProduction<Result>(create: () => Result | Promise<Result>): Promise<Result> {
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    return await create();
  } finally {
    process.env.NODE_ENV = NODE_ENV;
  }
}

/** Returns what is printed as an error during some work. */
async function printedBy(work: () => Promise<void>): Promise<unknown[]> {
  const printed: unknown[] = [];
  const { error } = console;
  console.error = (...values: unknown[]) => printed.push(...values);
  try {
    await work();
  } finally {
    console.error = error;
  }
  return printed;
}

describeDatabases('client disconnect', (open) => {
  let db: Database;
  let running: RunningSite;
  const lines: { level: string; msg: string; err?: { message: string } }[] = [];
  beforeAll(async () => {
    db = await loadSite(await open());
    const log = createLog({ logLevel: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
    running = await inProduction(() => serveDatabase(db, { log, env: { PAGES: 'on' } }));
  });
  afterAll(() => running.close());

  it.each([
    ['the API', 'POST /wp-json/calendar/events/v1/venues', 'application/json', '{"venue": "Half'],
    ['a page', 'POST /event/anything/', 'application/x-www-form-urlencoded', 'post'],
  ])('in the middle of a request body to %s creates no record and logs no error', async (_which, request, type, body) => {
    const count = async () => (await db.from('posts')).length;
    const before = await count();
    const { hostname, port } = new URL(running.base);
    const socket = connect(Number(port), hostname);
    const head = [`${request} HTTP/1.1`, `Host: ${hostname}`, `Authorization: ${basic('admin')}`];
    lines.length = 0;
    const printed = await printedBy(async () => {
      socket.write(`${[...head, `Content-Type: ${type}`, 'Content-Length: 500'].join('\r\n')}\r\n\r\n${body}`);
      await sleep(100);
      socket.destroy();
      while (lines.length === 0) await sleep(10);
      await sleep(50);
    });
    expect(lines).toMatchObject([{ level: 'info', msg: 'request aborted' }]);
    expect(printed).toEqual([]);
    expect(await count()).toBe(before);
  });

  it.each([
    ['has begun', true, 'broken'],
    ['itself fails', false, 'no page'],
  ])('is the end of an answer to an error that %s; the error is in the log alone', async (_which, isBegun, message) => {
    const failure = (): never => {
      throw new Error('no page');
    };
    const page: ProblemPage = { areEnabled: () => true, problem: failure, plainProblem: failure };
    const app = await inProduction(() => express());
    app.use((_req, res) => {
      if (isBegun) res.write('half');
      throw new Error('broken');
    });
    app.use(handleErrors(running.site, page));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    lines.length = 0;
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    let answer: string | undefined;
    const printed = await printedBy(async () => {
      const request = fetch(address, { headers: { accept: 'text/html' } });
      answer = await request.then((response) => response.text()).catch(() => undefined);
    });
    server.closeAllConnections();
    server.close();
    expect(answer).toBeUndefined();
    expect(lines.map(({ level, msg, err }) => [level, msg, err?.message])).toEqual([['error', 'internal_server_error', message]]);
    expect(printed).toEqual([]);
  });
});
