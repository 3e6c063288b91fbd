import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { attemptsOf } from '../src/accounts/attempts.ts';
import { type Database, DatabaseUnavailable, openDatabase } from '../src/storage/engine/database.ts';
import { followReplicas } from '../src/storage/freshness/replicas.ts';
import { examine } from '../src/upkeep/doctor.ts';
import { type DatabaseProxy, openProxy } from './support/database-proxy.ts';
import { openerOnServer, urlOf } from './support/databases.ts';
import { startReplication } from './support/replication.mjs';
import { type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite, setOptions } from './support/site.ts';

const SERVER = process.env.TEST_MYSQL_URL;
/** A delay that no test reaches. */
const LONG = '3600000';
const EVENT = 44;
const ONE = `/wp-json/calendar/events/v1/events/${EVENT}`;
const LIST = '/wp-json/calendar/events/v1/events?start_date=2030-01-01&end_date=2031-12-31&per_page=50';

const pair = SERVER ? await startReplication(mkdtempSync(join(tmpdir(), 'fasti-replica-')), ['--innodb-buffer-pool-size=32M']) : undefined;

/** Replication needs a server program of MariaDB. */
const describeReplica = pair && pair.reason === undefined ? describe : describe.skip;

describeReplica('a replica', () => {
  if (!pair || pair.reason !== undefined) return;
  const open = openerOnServer(pair.primary.url);
  let db: Database;
  let door: DatabaseProxy;
  let mirror: Database;
  const running: RunningSite[] = [];

  beforeAll(async () => {
    db = await loadSite(await open());
    await setOptions(db, { active_plugins: 'a:0:{}' });
    const address = new URL(urlOf(db));
    address.port = new URL(pair.replica.url).port;
    door = await openProxy(address.href);
    mirror = await openDatabase({ url: address.href, prefix: 'wp_' });
    await mirrored();
  });
  afterEach(async () => {
    for (const site of running.splice(0)) await site.close();
    await pair.follow();
  });
  afterAll(async () => {
    await mirror.close();
    await door.close();
    await pair.stop();
  });

  const titleAt = async (at: Database) => (await at.from('posts').where('ID', EVENT).first())?.post_title;
  /** Waits until the replica has caught up. */
  async function mirrored(): Promise<void> {
    const log = await db.dialect.logPosition(db);
    while (!(await mirror.dialect.hasReached(mirror, log))) await sleep(5);
  }
  /** Starts a process that reads from the replica. */
  async function serve(env: Record<string, string> = {}): Promise<RunningSite> {
    const site = await serveDatabase(db, { env: { DATABASE_READ_URL: door.url, DATABASE_READ_LAG_MS: LONG, ...env } });
    running.push(site);
    return site;
  }
  const readsReplica = ({ site }: RunningSite): boolean => site.forAnonymousReads() !== site;
  async function untilNear(site: RunningSite): Promise<void> {
    while (!readsReplica(site)) await sleep(5);
  }
  const shown = async ({ send }: RunningSite, path = ONE) => {
    const { status, body } = await send('GET', path);
    return status === 200 ? (body.title ?? body.events.find(({ id }: { id: number }) => id === EVENT)?.title) : status;
  };
  const write = async ({ send }: RunningSite, title: string) =>
    expect((await send('PATCH', ONE, { as: 'admin', body: { title } })).status).toBe(200);

  it('loses no change for a client that continues a feed which it began at another process', async () => {
    const [one, writer] = [await serve(), await serveDatabase(db)];
    running.push(writer);
    await untilNear(one);
    await pair.hold();
    await write(writer, 'Written meanwhile');
    const changes = (from: RunningSite, since?: string) =>
      from.send('GET', `/wp-json/calendar/events/v1/changes?include=records&limit=9${since === undefined ? '' : `&since=${since}`}`);
    const titles: string[] = [];
    const goOn = async (from: RunningSite, since: string): Promise<string> => {
      const { status, body } = await changes(from, since);
      expect(status).toBe(200);
      for (const { kind, id, record } of body.changes) if (kind === 'event' && id === EVENT) titles.push(record.title);
      return body.more ? goOn(from, body.next) : body.next;
    };
    const end = await goOn(one, (await changes(writer)).body.next);
    expect(titles).not.toContain('Written meanwhile');
    await pair.follow();
    await mirrored();
    await goOn(one, end);
    expect(titles.at(-1)).toBe('Written meanwhile');
  });

  it('answers reads of anonymous callers, and nothing else', async () => {
    const one = await serve();
    await untilNear(one);
    const [asked, primary] = [one.site.replicas[0]!.queries(), one.site.db.queries()];
    await shown(one, LIST);
    await one.send('GET', '/events/feed/');
    expect(one.site.replicas[0]!.queries()).toBeGreaterThan(asked + 5);
    expect(one.site.db.queries()).toBe(primary);
    const before = one.site.replicas[0]!.queries();
    await one.send('GET', LIST, { as: 'admin' });
    expect([one.site.replicas[0]!.queries(), one.site.db.queries() > primary]).toEqual([before, true]);
  });

  it('has no limit of its own for wrong passwords of records', async () => {
    const one = await serve({ TRUST_PROXY: 'loopback' });
    await untilNear(one);
    const ask = (password: string) => one.send('GET', `${ONE}?password=${password}`, { headers: { 'X-Forwarded-For': '203.0.113.9' } });
    expect((await ask('wrong')).status).toBe(200);
    const attempts = attemptsOf(one.site, 'record-password');
    for (let time = 1; time < 200; time += 1) attempts.countFailure('203.0.113.9', undefined, one.site.clock());
    expect(readsReplica(one)).toBe(true);
    expect((await ask('wrong')).status).toBe(429);
  });

  it('is not read before it has the writes of this process', async () => {
    const one = await serve();
    await untilNear(one);
    await pair.hold();
    await write(one, 'Own words');
    expect([await shown(one), await shown(one, LIST), await shown(one)]).toEqual(['Own words', 'Own words', 'Own words']);
    expect([readsReplica(one), await titleAt(mirror)]).not.toContain('Own words');
    await pair.follow();
    await untilNear(one);
    expect([await shown(one), await shown(one, LIST)]).toEqual(['Own words', 'Own words']);
  });

  it('may lack the writes of other processes, and answers cached from it are dropped when it has them', async () => {
    const [writer, reader] = [await serve({ DATABASE_READ_URL: '' }), await serve()];
    await write(writer, 'Before');
    await mirrored();
    await untilNear(reader);
    await pair.hold();
    await write(writer, 'After');
    expect([await shown(reader), await shown(reader, LIST)]).toEqual(['Before', 'Before']);
    await pair.follow();
    await mirrored();
    expect([await shown(reader), await shown(reader, LIST)]).toEqual(['After', 'After']);
  });

  it('is not read when its lag exceeds the limit', async () => {
    const [writer, reader] = [await serve({ DATABASE_READ_URL: '' }), await serve({ DATABASE_READ_LAG_MS: '300' })];
    await untilNear(reader);
    await pair.hold();
    await write(writer, 'Late');
    await sleep(350);
    expect([await shown(reader), readsReplica(reader)]).toEqual(['Late', false]);
    await pair.follow();
    await untilNear(reader);
  });

  it("is not read when it lacks WordPress's writes, which have no counter", async () => {
    const reader = await serve({ DATABASE_READ_LAG_MS: '300', SHARED_WITH_WORDPRESS: 'on' });
    await untilNear(reader);
    await pair.hold();
    await db.from('posts').where('ID', EVENT).update({ post_title: 'WordPress wrote this' });
    await sleep(350);
    expect(await shown(reader)).toBe('WordPress wrote this');
  });

  it('is replaced by the primary while it does not answer', async () => {
    const one = await serve();
    await untilNear(one);
    await door.close();
    expect([await shown(one), await shown(one, LIST)]).toEqual([await titleAt(db), await titleAt(db)]);
    await door.reopen();
    await untilNear(one);
  });

  it('is still read while the primary does not answer', async () => {
    const primary = await openProxy(urlOf(db));
    const one = await serve({ DATABASE_URL: primary.url, DATABASE_READ_LAG_MS: '200', CACHE: 'off' });
    await untilNear(one);
    await primary.close();
    await sleep(300);
    // The first requests find out that the primary does not answer.
    while (typeof (await shown(one)) !== 'string') await sleep(20);
    expect([await shown(one), await shown(one, LIST)]).toEqual([await titleAt(db), await titleAt(db)]);
    expect((await one.send('PATCH', ONE, { as: 'admin', body: { title: 'Nobody hears this' } })).status).toBe(503);
    expect(await shown(one)).toBe(await titleAt(db));
  });

  it('is still read after a write during which the primary was lost before COMMIT', async () => {
    const primary = await openProxy(urlOf(db));
    const one = await serve({ DATABASE_URL: primary.url, CACHE: 'off' });
    await untilNear(one);
    primary.disconnectAt('Not written', 'before');
    const { status, body } = await one.send('PATCH', ONE, { as: 'admin', body: { title: 'Not written' } });
    expect([status, body.code]).toEqual([503, 'rest_database_unavailable']);
    await primary.close();
    expect(await shown(one)).toBe(await titleAt(db));
  });

  it('is not read after a write with an unknown outcome, until the primary answers', async () => {
    const primary = await openProxy(urlOf(db));
    const one = await serve({ DATABASE_URL: primary.url, CACHE: 'off' });
    await untilNear(one);
    primary.disconnectAt('COMMIT', 'after');
    const { status, body, headers } = await one.send('PATCH', ONE, { as: 'admin', body: { title: 'Who knows' } });
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'rest_write_uncertain', undefined]);
    await primary.close();
    expect(await shown(one)).toBe(503);
    await primary.reopen();
    while (typeof (await shown(one)) !== 'string') await sleep(20);
    expect(await shown(one)).toBe('Who knows');
    await primary.close();
  });

  it('never gives an answer older than the writes of this process, whatever its lag', async () => {
    const one = await serve({ CACHE_FRESHNESS_MS: '20' });
    const other = await serve({ DATABASE_READ_URL: '' });
    let number = 0;
    let own = 0;
    const numberOf = (title: unknown) => Number(/(\d+)$/.exec(String(title))?.[1] ?? -1);
    const steps = {
      writeHere: async () => {
        number += 1;
        await write(one, `Round ${number}`);
        own = number;
      },
      writeElsewhere: async () => {
        number += 1;
        await write(other, `Round ${number}`);
      },
      read: async () => expect(numberOf(await shown(one))).toBeGreaterThanOrEqual(own),
      list: async () => expect(numberOf(await shown(one, LIST))).toBeGreaterThanOrEqual(own),
      hold: () => pair.hold(),
      follow: () => pair.follow(),
      pause: () => sleep(15),
    };
    await write(one, 'Round 0');
    const step = fc.constantFrom(...(['read', 'list', 'read', 'pause', ...Object.keys(steps)] as (keyof typeof steps)[]));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (names) => {
        for (const name of names) await steps[name]();
      }),
      { numRuns: 8 },
    );
    await pair.follow();
    await mirrored();
    await sleep(30);
    expect([numberOf(await shown(one)), numberOf(await shown(one, LIST))]).toEqual([number, number]);
  });

  it('is reported by readiness and by the doctor', async () => {
    const one = await serve({ DATABASE_READ_LAG_MS: '300' });
    const ready = async () => (await one.send('GET', '/health/ready')).body.replicas;
    const warnings = async () => (await examine(one.site, '0')).findings.filter(({ name }) => name.startsWith('replicas-'));
    const named = { count: 1, examples: [expect.stringMatching(new RegExp(`^127.0.0.1:${door.port}`))] };
    await untilNear(one);
    expect([await ready(), await warnings()]).toEqual([{ of: 1, read: true }, []]);
    await pair.hold();
    await write(one, 'Not there yet');
    expect(await warnings()).toMatchObject([{ name: 'replicas-behind', ...named }]);
    expect(await ready()).toEqual({ of: 1, read: false });
    await pair.follow();
    await door.close();
    expect(await warnings()).toMatchObject([{ name: 'replicas-unfit', ...named }]);
    await door.reopen();
  });

  it('is not written to if it comes before its primary in the list', async () => {
    const { host } = new URL(urlOf(db));
    const both = await openDatabase({ url: door.url.replace(/(@[^/]+)\//, `$1,${host}/`), prefix: 'wp_' });
    await both.transaction((tx) =>
      tx
        .from('options')
        .insert({ option_name: 'written', option_value: '' })
        .then(() => undefined),
    );
    expect(both.cluster.place()).toMatchObject({ inUse: 2, of: 2 });
    await both.close();
  });
});

describe('followReplicas', () => {
  it('has no current replica if none is configured', async () => {
    const primary = { cluster: { era: () => 0 } } as Database;
    const { current } = followReplicas(primary, [], { maxLagMs: 100, onReadableAgain: () => {} });
    expect(current()).toBeUndefined();
  });

  /** A stand-in for a database whose change counter never changes, or whose queries fail with the current `error`. */
  function fakeDatabase() {
    const state: { error?: Error; hasReached: boolean } = { hasReached: true };
    const first = async () => {
      if (state.error) throw state.error;
      return { counter: 1 };
    };
    const db = {
      from: () => ({ where: () => ({ first }) }),
      dialect: { logPosition: async () => '0-1-1', hasReached: async () => state.hasReached },
      cluster: { era: () => 0, place: () => ({ inUse: 1, of: 1, detail: '' }) },
    };
    return { state, db: db as unknown as Database };
  }

  it.each([
    ['unreachable', 0],
    ['exhausted', undefined],
    ['busy', undefined],
  ] as const)('after the primary was %s once, may read a replica of any age: %s', async (reason, readable) => {
    const [primary, replica] = [fakeDatabase(), fakeDatabase()];
    let now = 1000;
    const { current } = followReplicas(primary.db, [replica.db], { maxLagMs: 100, onReadableAgain: () => {}, clock: () => now });
    current();
    await sleep(0);
    expect(current()).toBe(0);
    replica.state.hasReached = false;
    primary.state.error = new DatabaseUnavailable(reason);
    now += 60;
    expect(current()).toBe(0);
    await sleep(0);
    delete primary.state.error;
    now += 3_600_000;
    expect(current()).toBe(readable);
  });

  it.each([
    [new DatabaseUnavailable('unreachable'), 0],
    [new DatabaseUnavailable('exhausted'), 0],
    [new DatabaseUnavailable('busy'), undefined],
    [new Error('Unknown column'), undefined],
  ] as const)('if a primary that was unreachable then fails with %s, may read a replica of any age: %s', async (error, readable) => {
    const [primary, replica] = [fakeDatabase(), fakeDatabase()];
    let now = 1000;
    const { current } = followReplicas(primary.db, [replica.db], { maxLagMs: 100, onReadableAgain: () => {}, clock: () => now });
    current();
    await sleep(0);
    for (const next of [new DatabaseUnavailable('unreachable'), error]) {
      primary.state.error = next;
      now += 3_600_000;
      current();
      await sleep(0);
    }
    expect(current()).toBe(readable);
  });
});
