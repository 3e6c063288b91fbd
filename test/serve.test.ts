import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../src/storage/database.ts';
import { reindexEvents } from '../src/storage/event-index-rebuild.ts';
import { describeDatabases, urlOf } from './support/databases.ts';
import { loadSite, resetSite } from './support/site.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Entry {
  readonly msg: string;
  readonly level: number;
  readonly address?: { readonly port: number };
}

describeDatabases('a process that serves', (open) => {
  let db: Database;
  let end: (() => Promise<unknown>) | undefined;
  beforeAll(async () => {
    db = await loadSite(await open());
  });
  afterEach(async () => {
    await end?.();
    await resetSite(db);
  });

  /** Starts one on a port that is free, and waits until it listens and has looked at the database. */
  async function start(env: Record<string, string>): Promise<{ base: string; entries: Entry[]; stop: () => Promise<number | null> }> {
    const child = spawn(process.execPath, ['--import', './test/support/run-typescript.mjs', 'src/cli.ts', 'serve'], {
      cwd: ROOT,
      // Under a test runner the log is silent.
      env: {
        ...process.env,
        NODE_ENV: 'production',
        NODE_OPTIONS: '',
        DATABASE_URL: urlOf(db),
        UPLOADS_DIR: tmpdir(),
        PORT: '0',
        LOG_LEVEL: 'info',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close') as Promise<[number | null]>;
    const stop = async () => {
      child.kill('SIGTERM');
      return (await ended)[0];
    };
    end = stop;
    const entries: Entry[] = [];
    createInterface(child.stdout).on('line', (line) => entries.push(JSON.parse(line) as Entry));
    const port = () => entries.find(({ msg }) => msg === 'listening')?.address?.port;
    const isReady = async () => (await fetch(`http://127.0.0.1:${port()}/health/ready`, { headers: { connection: 'close' } })).ok;
    while (child.exitCode === null && (port() === undefined || !(await isReady()))) {
      await new Promise((next) => setTimeout(next, 20));
    }
    return { base: `http://127.0.0.1:${port()}`, entries, stop };
  }

  const events = async (base: string): Promise<unknown[]> => {
    const answer = await fetch(`${base}/wp-json/tribe/events/v1/events?start_date=2020-01-01`, { headers: { connection: 'close' } });
    return ((await answer.json()) as { events: unknown[] }).events;
  };
  const aboutLists = ({ entries }: { entries: Entry[] }) =>
    entries.filter(({ msg }) => /lists/.test(msg)).map(({ msg, level }) => [level, msg]);

  it('answers, and ends as it is told', async () => {
    await reindexEvents(db, () => new Date(), { trust: true });
    const server = await start({ SHARED_WITH_WORDPRESS: 'off' });
    expect(await events(server.base)).not.toEqual([]);
    expect(await server.stop()).toBe(0);
    expect(aboutLists(server)).toEqual([]);
    expect(server.entries.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['listening', 'stopping', 'stopped']));
  });

  it.each([
    ['on', 30, 'SHARED_WITH_WORDPRESS=off and fasti reindex'],
    ['off', 40, 'fasti reindex makes it'],
  ])('says why lists do without their index, SHARED_WITH_WORDPRESS being %s', async (SHARED_WITH_WORDPRESS, level, hint) => {
    const server = await start({ SHARED_WITH_WORDPRESS });
    expect(await events(server.base)).not.toEqual([]);
    await server.stop();
    expect(aboutLists(server)).toEqual([[level, expect.stringContaining(hint)]]);
  });
});
