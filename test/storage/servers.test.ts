import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerChange } from '../../src/storage/engine/cluster.ts';
import { type Database, DatabaseUnavailable, openDatabase, ping } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { mysqlServers } from '../../src/storage/engine/mysql/address.ts';
import { chooseServers, type Look } from '../../src/storage/engine/mysql/server-choice.ts';
import { type DatabaseProxy, openProxy, urlThrough } from '../support/database-proxy.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';
import { serveDatabase } from '../support/running-site.ts';
import { loadSite } from '../support/site.ts';

describe('database URL with several servers', () => {
  const namesAt = (address: string) => mysqlServers(address).map(({ name }) => name);

  it.each([
    ['mysql://u:p@a:3306,b:3307,c/calendar', ['a:3306', 'b:3307', 'c:3306']],
    ['mysql://u:p@[::1]:3307,[fd00::2]/calendar', ['[::1]:3307', '[fd00::2]:3306']],
    ['mysql://u:p@a/calendar?ssl=true', ['a:3306']],
    ['mysql://u:comma%2C@a,b/calendar', ['a:3306', 'b:3306']],
    ['mysql://u:odd@sign@a,b/calendar', ['a:3306', 'b:3306']],
    ['mysql://u:100%sure@a/calendar', ['a:3306']],
    ['mysql:///calendar', ['127.0.0.1:3306']],
    ['mysql://root@localhost/calendar?socketPath=%2Frun%2Fdb.sock', ['/run/db.sock']],
  ])('finds the servers named in %s', (address, names) => {
    expect(namesAt(address)).toEqual(names);
  });

  it('gives all servers the same user, password, database and parameters', () => {
    const [a, b] = mysqlServers('mysql://u:p%40ss@a,[::1]:33/calendar?ssl=true');
    const shared = { user: 'u', password: 'p@ss', database: 'calendar', ssl: {} };
    expect([a.options, b?.options]).toEqual([
      { ...shared, host: 'a', port: 3306 },
      { ...shared, host: '::1', port: 33 },
    ]);
  });

  it.each([
    ['mysql://a,,b/calendar', /^address-form/],
    ['mysql://u:hush@a:99999/calendar', /^address-form/],
    ['mysql://a,b/', /^address-without-name/],
    ['mysql://a,a:3306/calendar', /^address-twice a:3306$/],
    ['mysql://a,b/calendar?socketPath=/run/db.sock', /^address-socket$/],
    ['mysql://a,b/calendar?charset=latin1', /^address-parameter charset$/],
    ...['ssl=1', 'ssl=TRUE', 'ssl=', 'ssl', 'ssl=true&ssl=false', 'ssl=false&ssl=true'].map(
      (query) => [`mysql://a/calendar?${query}`, /^address-value ssl$/] as const,
    ),
    ['mysql://a/calendar?ssl=true&socketPath=', /^address-value socketPath$/],
  ])('rejects %s', (address, message) => {
    expect(() => mysqlServers(address)).toThrow(message);
    expect(() => mysqlServers(address)).not.toThrow(/hush/);
  });
});

describe('chooseServers', () => {
  /** Servers `a`, `b` and `c` with the given results of looks, and a clock that the test moves. */
  function three(looks: Record<string, Look['fitness'] | 'silent'>) {
    let now = 0;
    const [left, taken, settled]: string[][] = [[], [], []];
    const chosen = chooseServers(['a', 'b', 'c'], {
      look: async (server) => {
        const fitness = looks[server] ?? 'unfit';
        return fitness === 'silent' ? { fitness: 'unfit', detail: server, isSilent: true } : { fitness, detail: server };
      },
      catchUp: async (server) => void settled!.push(server),
      onServerLeft: (server) => void left!.push(server),
      onServerTaken: (server) => void taken!.push(server),
      clock: () => now,
    });
    const pass = async (milliseconds: number) => {
      now += milliseconds;
      await chosen.choose().catch(() => undefined);
      // A review runs in the background of the choice.
      await sleep(0);
    };
    return { chosen, pass, left, taken, settled };
  }

  it('chooses the first fit server in the order of the URL', async () => {
    expect(await three({ a: 'fit', b: 'fit', c: 'fit' }).chosen.choose()).toBe('a');
    expect(await three({ a: 'unfit', b: 'fit', c: 'fit' }).chosen.choose()).toBe('b');
    expect(await three({ a: 'read-only', b: 'strained', c: 'fit' }).chosen.choose()).toBe('c');
  });

  it('chooses the least unfit server if none is fit', async () => {
    expect(await three({ a: 'unfit', b: 'read-only', c: 'strained' }).chosen.choose()).toBe('c');
    expect(await three({ a: 'unfit', b: 'read-only', c: 'unfit' }).chosen.choose()).toBe('b');
  });

  it('does not wait long for earlier servers once one is fit', async () => {
    const chosen = chooseServers(['a', 'b'], {
      look: (server) => (server === 'a' ? new Promise<Look>(() => {}) : Promise.resolve({ fitness: 'fit', detail: '' })),
      catchUp: async () => {},
      onServerLeft: () => {},
      onServerTaken: () => {},
    });
    expect(await chosen.choose()).toBe('b');
  });

  it('looks once for all concurrent callers, and not again immediately if no server is usable', async () => {
    let looked = 0;
    let now = 0;
    const chosen = chooseServers(['a', 'b'], {
      look: async () => {
        looked += 1;
        return { fitness: 'unfit', detail: 'gone' };
      },
      catchUp: async () => {},
      onServerLeft: () => {},
      onServerTaken: () => {},
      clock: () => now,
    });
    const ask = () => Promise.allSettled(Array.from({ length: 50 }, () => chosen.choose()));
    expect(new Set((await ask()).map(({ status }) => status))).toEqual(new Set(['rejected']));
    await ask();
    expect(looked).toBe(2);
    now += 1000;
    await ask();
    expect(looked).toBe(4);
  });

  it('leaves a failed server for the next one and reports both', async () => {
    const looks: Record<string, Look['fitness']> = { a: 'fit', b: 'fit', c: 'fit' };
    const { chosen, left, taken, settled } = three(looks);
    await chosen.choose();
    const era = chosen.era();
    looks.a = 'unfit';
    await chosen.check('a');
    expect(chosen.current()).toBeUndefined();
    expect(await chosen.choose()).toBe('b');
    expect(chosen.era()).not.toBe(era);
    expect([left, taken, settled]).toEqual([['a'], ['a', 'b'], ['a', 'b']]);
  });

  it('keeps a server that was doubted without reason', async () => {
    const { chosen, left } = three({ a: 'fit', b: 'fit', c: 'fit' });
    await chosen.choose();
    await chosen.check('a');
    expect([chosen.current(), left]).toEqual(['a', []]);
  });

  it('returns to an earlier server only once it has been fit for a while', async () => {
    const looks: Record<string, Look['fitness']> = { a: 'unfit', b: 'fit', c: 'fit' };
    const { chosen, pass } = three(looks);
    await chosen.choose();
    looks.a = 'fit';
    await pass(5000);
    expect(chosen.current()).toBe('b');
    await pass(20_000);
    expect(chosen.current()).toBe('b');
    looks.a = 'unfit';
    await pass(20_000);
    looks.a = 'fit';
    await pass(20_000);
    expect(chosen.current()).toBe('b');
    await pass(20_000);
    expect(chosen.current()).toBe('a');
  });

  it('moves immediately to a fitter server', async () => {
    const looks: Record<string, Look['fitness']> = { a: 'fit', b: 'unfit', c: 'fit' };
    const { chosen } = three(looks);
    await chosen.choose();
    looks.a = 'read-only';
    chosen.reconsider();
    await sleep(0);
    expect(await chosen.choose()).toBe('c');
  });

  it('does not use a server that cannot catch up', async () => {
    let broken = true;
    const chosen = chooseServers(['a'], {
      look: async () => ({ fitness: 'fit', detail: '' }),
      catchUp: async () => {
        if (broken) throw new Error('behind');
      },
      onServerLeft: () => {},
      onServerTaken: () => {},
    });
    chosen.leave('a', { detail: 'gone' });
    await expect(chosen.choose()).rejects.toBeInstanceOf(DatabaseUnavailable);
    broken = false;
    expect(await chosen.choose()).toBe('a');
  });
});

/** Registers functions that close something when the test ends. */
type AtEnd = (...ends: (() => Promise<unknown>)[]) => void;

const reasonOf = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => 'no error',
    (error: unknown) => (error instanceof DatabaseUnavailable ? error.reason : error),
  );

describeDatabases('database on several servers', (open, engine) => {
  if (engine === 'SQLite') {
    it('has no servers if it is a SQLite file', async () => {
      const db = await open();
      expect([await db.cluster.report(), db.cluster.place()]).toEqual([[], { inUse: 1, of: 1, detail: '' }]);
    });
    return;
  }

  let behind: Database;
  beforeAll(async () => {
    behind = await open();
  });

  /**
   * A test that runs concurrently since it waits for servers; what it has opened is closed in reverse order at its end.
   */
  const waiting = (name: string, test: (atEnd: AtEnd) => Promise<void>) =>
    it.concurrent(name, async () => {
      const ends: (() => Promise<unknown>)[] = [];
      try {
        await test((...more) => ends.push(...more));
      } finally {
        for (const end of ends.reverse()) await end();
      }
    });

  /** Two doors (proxies) to the same server, and a database that names both. */
  async function twoDoors(atEnd: AtEnd): Promise<{ db: Database; first: DatabaseProxy; second: DatabaseProxy; changes: ServerChange[] }> {
    const [first, second] = [await openProxy(urlOf(behind)), await openProxy(urlOf(behind))];
    const changes: ServerChange[] = [];
    const db = await openDatabase({ url: urlThrough(first, second), prefix: 'wp_', onServerChange: (change) => changes.push(change) });
    atEnd(first.close, second.close, () => db.close());
    return { db, first, second, changes };
  }
  const insert = (to: Database, name: string) => to.from('options').insert({ option_name: name, option_value: '' });
  const held = async (pattern: string) => behind.from('options').where('option_name', 'like', pattern).pluck('option_name');

  waiting('uses the first server, and the second once the first is gone', async (atEnd) => {
    const { db, first, second, changes } = await twoDoors(atEnd);
    await ping(db);
    expect([first.connectionCount() > 0, db.cluster.place()]).toEqual([true, { inUse: 1, of: 2, detail: '' }]);
    await first.close();
    expect(await Promise.all(Array.from({ length: 20 }, () => reasonOf(db.rows`SELECT 1 AS one`)))).toEqual(Array(20).fill('no error'));
    expect(db.cluster.place()).toMatchObject({ inUse: 2, of: 2 });
    expect(changes).toEqual([
      { taken: `127.0.0.1:${first.port}` },
      { left: `127.0.0.1:${first.port}`, reason: expect.any(String) },
      { taken: `127.0.0.1:${second.port}` },
    ]);
    await first.reopen();
  });

  waiting('starts on the second server if the first is absent, and reports why', async (atEnd) => {
    const { db, first } = await twoDoors(atEnd);
    await first.close();
    await ping(db);
    const report = await db.cluster.report();
    expect(report).toEqual([
      { name: `127.0.0.1:${first.port}`, inUse: false, fitness: 'unfit', detail: expect.stringContaining('ECONNREFUSED') },
      expect.objectContaining({ inUse: true, fitness: 'fit' }),
    ]);
    await first.reopen();
  });

  waiting('is unavailable while all servers are gone and available once one is back', async (atEnd) => {
    const { db, first, second } = await twoDoors(atEnd);
    await ping(db);
    await Promise.all([first.close(), second.close()]);
    expect(await reasonOf(ping(db))).toBe('unreachable');
    expect(await reasonOf(db.transaction(async (tx) => insert(tx, 'nowhere')))).toBe('unreachable');
    await second.reopen();
    while ((await reasonOf(ping(db))) !== 'no error') await sleep(50);
    expect(db.cluster.place()).toMatchObject({ inUse: 2, of: 2 });
    await first.reopen();
  });

  waiting('retries a transaction on the other server if its server is lost before COMMIT', async (atEnd) => {
    const { db, first } = await twoDoors(atEnd);
    let runs = 0;
    await db.transaction(async (tx) => {
      runs += 1;
      await insert(tx, `moved-${runs}`);
      if (runs === 1) await first.close();
      await insert(tx, `moved-again-${runs}`);
    });
    expect(await held('moved-%')).toEqual(['moved-2', 'moved-again-2']);
    await first.reopen();
  });

  for (const [when, written] of [
    ['before', []],
    ['after', ['commit-after']],
  ] as const)
    waiting(`does not retry a transaction whose server was lost ${when} it received COMMIT`, async (atEnd) => {
      const { db, first } = await twoDoors(atEnd);
      await ping(db);
      first.disconnectAt('COMMIT', when);
      let runs = 0;
      const work = db.transaction(async (tx) => {
        runs += 1;
        await insert(tx, `commit-${when}`);
      });
      expect(await reasonOf(work)).toBe('uncertain');
      expect([runs, await held(`commit-${when}`)]).toEqual([1, written]);
    });

  waiting('leaves a server that stops responding and retries its query on the other', async (atEnd) => {
    const { db, first } = await twoDoors(atEnd);
    await ping(db);
    first.freeze();
    expect(await reasonOf(db.rows`SELECT 1 AS one`)).toBe('no error');
    expect(db.cluster.place()).toMatchObject({ inUse: 2, of: 2 });
    first.unfreeze();
  });

  waiting('keeps a server that is slow, or that closes a single connection', async (atEnd) => {
    const { db } = await twoDoors(atEnd);
    const [slow] = await db.rows<{ id: number }>`SELECT CONNECTION_ID() AS id, SLEEP(2)`;
    await behind.knex.raw(`KILL ${Number(slow?.id)}`);
    await sleep(50);
    await ping(db);
    expect(db.cluster.place()).toMatchObject({ inUse: 1, of: 2 });
  });

  waiting('reports a single server that stops responding as unreachable, and reconnects once it responds', async (atEnd) => {
    const only = await openProxy(urlOf(behind));
    const db = await openDatabase({ url: only.url, prefix: 'wp_' });
    atEnd(only.close, () => db.close());
    await ping(db);
    only.freeze();
    expect(await reasonOf(db.rows`SELECT 1 AS one`)).toBe('unreachable');
    only.unfreeze();
    while ((await reasonOf(ping(db))) !== 'no error') await sleep(50);
  });

  waiting('gives up a stream of rows if the server stops responding in the middle of it', async (atEnd) => {
    const source = await open();
    const option = { option_value: 'x'.repeat(2 ** 20), autoload: 'no' };
    // More than the buffers between the server and the reader hold.
    for (let number = 0; number < 60; number += 1) await insertRows(source, 'options', [{ option_name: `long-${number}`, ...option }]);
    const only = await openProxy(urlOf(source));
    const db = await openDatabase({ url: only.url, prefix: 'wp_' });
    atEnd(only.close, () => db.close());
    const snapshot = await db.driver.snapshot!();
    const read = async () => {
      for await (const _ of snapshot.stream('wp_options')) only.freeze();
    };
    expect(await reasonOf(read())).toBe('unreachable');
    only.unfreeze();
    await snapshot.close().catch(() => undefined);
    while ((await reasonOf(ping(db))) !== 'no error') await sleep(50);
    expect(db.driver.connections().used).toBe(0);
  });

  waiting('returns 503 rest_write_uncertain without Retry-After if the server is lost after COMMIT', async (atEnd) => {
    const db = await loadSite(await open());
    const only = await openProxy(urlOf(db));
    const running = await serveDatabase(db, { env: { DATABASE_URL: only.url } });
    atEnd(only.close, running.close);
    const post = (title: string) =>
      running.send('POST', '/wp-json/calendar/events/v1/events', {
        as: 'admin',
        body: { title, start_date: '2031-01-01 10:00:00', end_date: '2031-01-01 12:00:00' },
      });
    let committed = false;
    running.site.db.driver.listen(({ sql }: { sql: string }) => {
      if (committed) void only.close();
      committed = sql === 'COMMIT';
    });
    const { status, body, headers } = await post('Written and not shown');
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'rest_write_uncertain', undefined]);
    expect(await db.from('posts').where('post_title', 'Written and not shown').pluck('post_status')).toEqual(['publish']);
    const again = await post('Not written');
    expect([again.status, again.body.code, again.headers['retry-after']]).toEqual([503, 'rest_database_unavailable', '2']);
    await only.reopen();
  });

  waiting('returns 200 for a write whose record was already loaded when the server was lost', async (atEnd) => {
    const db = await loadSite(await open());
    const only = await openProxy(urlOf(db));
    const running = await serveDatabase(db, { env: { DATABASE_URL: only.url } });
    atEnd(only.close, running.close);
    const way = '/wp-json/calendar/events/v1/events/44';
    const asked: string[] = [];
    running.site.db.driver.listen(({ sql }: { sql: string }) => asked.push(sql));
    // The last query checks the rights to the methods of the route, for a header.
    await running.send('PATCH', way, { as: 'admin', body: { title: 'Zeroth' } });
    asked.splice(0);
    await running.send('PATCH', way, { as: 'admin', body: { title: 'First' } });
    const last = asked.splice(0).length;
    running.site.db.driver.listen(() => {
      if (asked.length === last) void only.close();
    });
    const { status, body } = await running.send('PATCH', way, { as: 'admin', body: { title: 'Second' } });
    expect([status, body.title]).toEqual([200, 'Second']);
    expect((await running.send('GET', way, { as: 'admin' })).status).toBe(503);
    await only.reopen();
  });

  waiting('is ready as long as one server is usable, and reports which one', async (atEnd) => {
    const [first, second] = [await openProxy(urlOf(behind)), await openProxy(urlOf(behind))];
    const running = await serveDatabase(behind, { env: { DATABASE_URL: urlThrough(first, second) } });
    atEnd(first.close, second.close, running.close);
    const ready = async () => {
      const { status, body } = await running.send('GET', '/health/ready');
      return [status, body.database?.server];
    };
    const untilReady = async (...wanted: unknown[]) => {
      while ((await ready()).join() !== wanted.join()) await sleep(20);
    };
    expect(await ready()).toEqual([200, 1]);
    await first.close();
    await untilReady(200, 2);
    await second.close();
    await untilReady(503, 0);
    await first.reopen();
    await untilReady(200, 1);
  });
});
