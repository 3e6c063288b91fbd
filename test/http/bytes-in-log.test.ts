import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { FinishedRequest } from '../../src/http/request-notes.ts';
import { createLog } from '../../src/log.ts';
import { describeDatabases } from '../support/databases.ts';
import { type RunningSite, serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';
import { ROOT } from '../support/site-client.ts';
import { until } from '../support/until.mjs';

describeDatabases('log entry of an answer', (open) => {
  const entries: Pick<FinishedRequest, 'status' | 'bytes'>[] = [];
  let running: RunningSite;
  beforeAll(async () => {
    const log = createLog({ logLevel: 'info' }, { write: (line) => entries.push(JSON.parse(line)) });
    running = await serveDatabase(await loadSite(await open()), { log, env: { PAGES: 'on' }, uncompressed: true });
  });
  afterAll(() => running.close());

  it.each<[number, string, string, string]>([
    [200, 'GET', `${ROOT}/events/38`, '*/*'],
    [404, 'GET', `${ROOT}/events/999999`, '*/*'],
    [200, 'GET', '/events/', 'text/html'],
    [404, 'GET', '/nothing-here/', 'text/html'],
    [404, 'GET', '/nothing-here/', '*/*'],
    [200, 'GET', '/events/?ical=1', '*/*'],
    [200, 'GET', '/robots.txt', '*/*'],
    [302, 'GET', '/favicon.ico', '*/*'],
    [401, 'GET', '/admin', '*/*'],
    [200, 'GET', '/admin/sign-in', '*/*'],
    [404, 'GET', '/wp-content/uploads/nothing.png', '*/*'],
    [200, 'HEAD', '/admin/sign-in', '*/*'],
    [200, 'HEAD', '/events/', '*/*'],
  ])('with status %d to %s %s (Accept: %s) has the number of bytes that were sent', async (status, method, path, accept) => {
    const before = entries.length;
    const answer = await running.send(method, path, { headers: { Accept: accept } });
    await until('the log entry', () => entries.length > before);
    expect(answer.status).toBe(status);
    expect(entries.at(-1)).toMatchObject({ status, bytes: Buffer.byteLength(answer.text) });
  });

  it('has no bytes if the client has the answer already', async () => {
    const { headers } = await running.send('GET', `${ROOT}/events/38`);
    const before = entries.length;
    await running.send('GET', `${ROOT}/events/38`, { headers: { 'If-None-Match': String(headers.etag) } });
    await until('the log entry', () => entries.length > before);
    expect(entries.at(-1)).toMatchObject({ status: 304, bytes: 0 });
  });
});
