import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { MetricValues } from '../src/http/metrics.ts';
import type { Database } from '../src/storage/engine/database.ts';
import { reindexEvents } from '../src/storage/index/event-index-rebuild.ts';
import { commandIn, embedded } from './cli/command.ts';
import { type RequestResult, requestContinuously, sendRequest } from './support/clients.mjs';
import { describeDatabases, urlOf } from './support/databases.ts';
import { openEventStream } from './support/event-stream.ts';
import { MAIN } from './support/program.mjs';
import { type Entry, readContinuously, type Serving, serveExpectingFailure, startServing } from './support/serving.ts';
import { loadSite, resetSite } from './support/site.ts';
import { until } from './support/until.mjs';

let server: Serving | undefined;
afterEach(async () => {
  if (server?.child.exitCode === null && server.child.signalCode === null) await server.stop('SIGKILL');
});
const start = async (...args: Parameters<typeof startServing>): Promise<Serving> => {
  server = await startServing(...args);
  return server;
};

describeDatabases('a serving process', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await loadSite(await open());
  });
  afterEach(() => resetSite(db));

  const events = async (base: string): Promise<unknown[]> => {
    const answer = await fetch(`${base}/wp-json/tribe/events/v1/events?start_date=2020-01-01`, { headers: { connection: 'close' } });
    return ((await answer.json()) as { events: unknown[] }).events;
  };
  const aboutLists = (entries: readonly Entry[]) => entries.filter(({ msg }) => /lists/.test(msg)).map(({ msg, level }) => [level, msg]);

  it('answers requests, and ends on SIGTERM', async () => {
    await reindexEvents(db, () => new Date(), { marksComplete: true });
    const { base, entries, stop } = await start(urlOf(db), { SHARED_WITH_WORDPRESS: 'off' });
    expect(await events(base)).not.toEqual([]);
    expect(await stop()).toBe(0);
    expect(aboutLists(entries)).toEqual([]);
    expect(entries.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['listening', 'stopping', 'stopped']));
  });

  it('redirects a request whose address is not percent-encoded', async () => {
    const { port, waitForLog, stop } = await start(urlOf(db));
    const client = connect(port, '127.0.0.1');
    client.write('GET /wp-json/?search=caffè HTTP/1.1\r\nHost: example.org\r\n\r\n');
    expect(await text(client)).toMatch(/^HTTP\/1\.1 308 [\s\S]*\r\nLocation: \/wp-json\/\?search=caff%C3%A8\r\n/);
    await waitForLog('request completed');
    await stop();
  });

  it.each([
    ['on', 'info', 'lists are read from its tables, until the server has made the index'],
    ['off', 'warn', 'fasti reindex makes it'],
  ])('logs why lists do not use the list index, with SHARED_WITH_WORDPRESS=%s', async (SHARED_WITH_WORDPRESS, level, hint) => {
    const { base, entries, stop } = await start(urlOf(db), { SHARED_WITH_WORDPRESS });
    expect(await events(base)).not.toEqual([]);
    await stop();
    expect(aboutLists(entries)).toEqual([[level, expect.stringContaining(hint)]]);
  });
});

describe('the serve command', () => {
  const LIST = '/wp-json/calendar/events/v1/events';
  const folder = mkdtempSync(join(tmpdir(), 'fasti-serve-'));
  const env = embedded(folder);
  const url = env.DATABASE_URL!;
  const workersOf = (entries: readonly Entry[]) => new Set(entries.filter(({ msg }) => msg === 'request completed').map(({ pid }) => pid));
  /** Sends requests until the given number of workers has answered: their start times differ. */
  const answeredBy = async (workers: number, port: number, entries: () => readonly Entry[]) => {
    while (workersOf(entries()).size < workers) await sendRequest({ port, path: LIST });
  };

  /** Starts a worker whose primary process is the test. */
  const forkWorker = (settings: Record<string, string> = {}) =>
    fork(MAIN, {
      execArgv: [],
      env: {
        ...{ ...process.env, ...env, ...settings },
        ...{ NODE_ENV: 'production', NODE_OPTIONS: '', FASTI_WORKER: '0', LOG_LEVEL: 'silent' },
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });

  beforeAll(async () => {
    expect((await commandIn(env)('init', '--sample')).code).toBe(0);
    expect((await commandIn(env)('reindex')).code).toBe(0);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['1', '3'])('exits with a single-line message if a setting cannot work (WORKERS=%s)', async (WORKERS) => {
    const file = join(folder, `file-${WORKERS}`);
    writeFileSync(file, '');
    for (const [setting, value, expected] of [
      ['UPLOADS_DIR', join(file, 'uploads'), 1],
      ['LANGUAGES', 'xx', 2],
      ['HOST', '192.0.2.1', 1],
    ] as const) {
      const { code, out, err } = await serveExpectingFailure(url, { WORKERS, [setting]: value });
      expect([setting, code, out]).toEqual([setting, expected, '']);
      expect(err).toMatch(/^.+\n$/);
      expect(err).toContain(value);
    }
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('answers the requests under way before it ends (%s)', async (signal) => {
    const { port, entries, stop } = await start(url);
    const end = requestContinuously({ port, clients: 6, next: () => ({ path: LIST }) });
    expect(await stop(signal)).toBe(0);
    const fates = await end();
    const count = (fate: RequestResult) => fates.reduce((sum, met) => sum + (met.get(fate) ?? 0), 0);
    expect(new Set(fates.flatMap((met) => [...met.keys()]).filter((fate) => fate !== 200 && fate !== 'reset'))).toEqual(
      new Set(['refused']),
    );
    // The system may reset a connection that the process never received (docs/decisions/0019), and no others.
    expect(count('reset')).toBeLessThanOrEqual(1);
    await until('the log', () => entries.filter(({ msg }) => msg === 'request completed').length >= count(200));
    expect(entries.map(({ msg }) => msg)).not.toContain('request aborted');
  });

  it('ends at once on a second signal', async () => {
    const { port, child, ended, waitForLog: said } = await start(url, { SHUTDOWN_SECONDS: '3600' });
    // An open connection keeps the process from ending.
    const held = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(held, 'connect');
    const end = readContinuously(port, '/health/live', 1);
    child.kill('SIGTERM');
    await said('stopping');
    child.kill('SIGTERM');
    expect(await ended).toBe('SIGTERM');
    held.destroy();
    await end();
  });

  it('ends even if its log has no reader any more', async () => {
    const { child, stop } = await start(url);
    child.stdout?.destroy();
    expect(await stop()).toBe(0);
  });

  it('leaves connections to its successor if another process keeps the port open', async () => {
    const { port, entries, waitForLog: said, stop } = await start(url, {}, [process.execPath, 'test/support/port-keeper.mjs']);
    const end = readContinuously(port, LIST);
    process.kill(entries.find(({ msg }) => msg === 'listening')!.pid, 'SIGTERM');
    await said('listening', 2);
    while ((await sendRequest({ port, path: '/health/ready' })) !== 200);
    expect(await end()).toEqual(new Set([200]));
    expect(await stop()).toBe(0);
  });

  it('with several workers is replaced without a failed request, and ends with its workers', async () => {
    const { port, base, child, entries, waitForLog: said, stop } = await start(url, { WORKERS: '2', CACHE: 'off' });
    const end = readContinuously(port, LIST);
    await said('request completed', 50);
    await answeredBy(2, port, () => entries);
    const before = workersOf(entries);
    const stream = await openEventStream(`${base}/wp-json/calendar/events/v1/changes/stream`);
    child.kill('SIGHUP');
    // A stream that is cut counts as aborted.
    await stream.ended;
    await said('the workers have been replaced');
    const rest = entries.length;
    await said('request completed', 50 + entries.filter(({ msg }) => msg === 'request completed').length);
    await answeredBy(2, port, () => entries.slice(rest));
    expect(await end()).toEqual(new Set([200]));
    const after = workersOf(entries.slice(rest));
    expect([before.size, after.size]).toEqual([2, 2]);
    expect([...after].filter((pid) => before.has(pid))).toEqual([]);
    expect(await stop()).toBe(0);
    expect(entries.map(({ msg }) => msg).filter((msg) => msg !== 'request completed')).toEqual([
      'listening',
      'replacing the workers',
      'the workers have been replaced',
      'stopping',
      'stopped',
    ]);
  });

  it('with several workers loses no request if all its processes receive the signal', async () => {
    const { port, child, entries, waitForLog: said, ended } = await start(url, { WORKERS: '2', CACHE: 'off' });
    const end = readContinuously(port, LIST);
    await answeredBy(2, port, () => entries);
    // As systemd and a terminal do; the workers receive it first.
    for (const pid of [...workersOf(entries), child.pid!]) process.kill(pid, 'SIGTERM');
    await said('stopping');
    await until('readiness is off', async () => (await sendRequest({ port, path: '/health/ready' })) === 503);
    const before = entries.filter(({ msg }) => msg === 'request completed').length;
    await said('request completed', before + 100);
    expect(await ended).toBe(0);
    expect(await end()).toEqual(new Set([200, 'refused']));
    expect(entries.map(({ msg }) => msg).filter((msg) => msg !== 'request completed')).toEqual(['listening', 'stopping', 'stopped']);
  });

  it('with several workers replaces one that is asked to end', async () => {
    const { port, entries, waitForLog: said, stop } = await start(url, { WORKERS: '2', CACHE: 'off' });
    const end = readContinuously(port, LIST);
    await said('request completed', 20);
    const [asked] = workersOf(entries);
    process.kill(asked!, 'SIGTERM');
    await answeredBy(3, port, () => entries);
    expect(await end()).toEqual(new Set([200]));
    expect(await stop()).toBe(0);
  });

  it('with several workers replaces one that crashes', async () => {
    const { port, entries, waitForLog: said, stop } = await start(url, { WORKERS: '2', CACHE: 'off' });
    const end = readContinuously(port, LIST);
    await said('request completed', 20);
    const [victim] = workersOf(entries);
    process.kill(victim!, 'SIGKILL');
    await said('a worker has ended');
    await answeredBy(3, port, () => entries);
    await end();
    expect(await stop()).toBe(0);
  });

  it('with several workers gives new ones the settings with which it was started, whatever its files contain meanwhile', async () => {
    const [FASTI_FOLDER, dotenv, address] = [folder, join(folder, '.env'), join(folder, 'address')];
    writeFileSync(dotenv, 'SITE_URL_FILE=address\nREST_NAMESPACE=town/v1\n');
    writeFileSync(address, 'https://before.example\n');
    const { base, child, entries, stop } = await start(url, { FASTI_FOLDER, WORKERS: '2', CACHE: 'off' });
    const shown = async () => {
      const { rest_url: listUrl } = (await (await fetch(`${base}/wp-json/town/v1/events`)).json()) as { rest_url?: string };
      return listUrl?.replace(/\?.*/, '');
    };
    try {
      const before = await shown();
      expect(before).toBe('https://before.example/wp-json/town/v1/events/');
      writeFileSync(dotenv, 'SITE_URL_FILE=address\nWATCHDOG_SECONDS=many\n');
      writeFileSync(address, 'https://after.example\n');
      child.kill('SIGHUP');
      const outcome = () => entries.find(({ msg }) => /^the workers have been replaced|could not be started/.test(msg));
      await until('the new workers', () => outcome() !== undefined);
      expect(outcome()?.msg).toBe('the workers have been replaced');
      expect(await Promise.all([shown(), shown(), shown()])).toEqual([before, before, before]);
      expect(await stop()).toBe(0);
    } finally {
      rmSync(dotenv);
    }
  });

  it('with several workers shares their counts of failed sign-ins with later workers', async () => {
    const { port, child, waitForLog: said, stop } = await start(url, { WORKERS: '2', CACHE: 'off', BASIC_AUTH: 'always' });
    const status = (name: string) => sendRequest({ port, path: LIST, headers: { Authorization: `Basic ${btoa(`${name}:wrong`)}` } });
    for (let round = 0; round < 8; round += 1)
      expect(new Set(await Promise.all(Array.from({ length: 25 }, (_, place) => status(`user ${round} ${place}`))))).toEqual(
        new Set([401]),
      );
    expect(await Promise.all([status('one'), status('other')])).toEqual([429, 429]);
    child.kill('SIGHUP');
    await said('the workers have been replaced');
    expect(await Promise.all([status('one'), status('other')])).toEqual([429, 429]);
    expect(await stop()).toBe(0);
  });

  it('with several workers ends a worker whose primary process ended while the worker was loading', async () => {
    const worker = forkWorker();
    worker.disconnect();
    expect(await once(worker, 'exit')).toEqual([null, 'SIGTERM']);
  });

  it('with several workers stays ready while one of them, which is replaced, answers its last requests', async () => {
    const worker = forkWorker({ METRICS_TOKEN: 'a-token-of-sixteen-letters' });
    const messages = on(worker, 'message');
    const received = async <T>(read: (message: unknown) => T | undefined): Promise<T> => {
      for (;;) {
        const found = read((await messages.next()).value[0]);
        if (found !== undefined) return found;
      }
    };
    await received((message) => message === 'ready' || undefined);
    const primary = createServer({ pauseOnConnect: true }, (socket) => worker.send('connection', socket));
    await once(primary.listen(0, '127.0.0.1'), 'listening');
    const client = connect((primary.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET /health/ready HTTP/1.1\r\nHost: example.org\r\n');
    await received((message) => message === 'taken' || undefined);
    worker.send('end');
    worker.send('measure');
    const values = await received((message) => (message as { measured?: MetricValues }).measured);
    const ready = values.find(({ name }) => name === 'fasti_ready')?.values;
    expect(ready?.find(({ labels }) => labels.part === 'serving')?.value).toBe(1);
    const answer = text(client);
    client.write('\r\n');
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await once(worker, 'exit')).toEqual([0, null]);
    primary.close();
  });

  it('with several workers answers requests to the end if the primary process ends meanwhile', async () => {
    const worker = forkWorker();
    const said = async (word: string) => {
      for await (const [one] of on(worker, 'message')) if (one === word) return;
    };
    await said('ready');
    const primary = createServer({ pauseOnConnect: true }, (socket) => worker.send('connection', socket));
    await once(primary.listen(0, '127.0.0.1'), 'listening');
    const client = connect((primary.address() as AddressInfo).port, '127.0.0.1');
    const taken = said('taken');
    client.write('GET /health/live HTTP/1.1\r\nHost: example.org\r\n');
    await taken;
    const answer = text(client);
    worker.send('end');
    worker.disconnect();
    // Longer than a process is given that has nothing more to do.
    await sleep(2500);
    client.write('\r\n');
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await once(worker, 'exit')).toEqual([0, null]);
    primary.close();
  });

  it('with several workers ends them when the primary process is killed', async () => {
    const { port, entries, waitForLog: said, stop } = await start(url, { WORKERS: '2', CACHE: 'off' });
    const end = readContinuously(port, LIST);
    await said('request completed', 20);
    const workers = [...workersOf(entries)];
    expect(workers.length).toBeGreaterThan(0);
    await stop('SIGKILL');
    await end();
    const alive = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    while (workers.some(alive)) await new Promise((next) => setTimeout(next, 20));
  });
});
