import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { type Database, DatabaseUnavailable } from '../src/storage/engine/database.ts';
import { watchedNames } from '../src/storage/freshness/watched-tables.ts';
import { type CacheObserver, observeCache } from './support/cache-observer.ts';
import { databaseAt, describeDatabases, urlOf } from './support/databases.ts';
import { connectTo, type PrivateMysql, startPrivateMysql } from './support/private-mysql.mjs';
import { reuseOrCreate } from './support/reuse.ts';
import { type RunningSite, serveDatabase } from './support/running-site.ts';
import { loadSite } from './support/site.ts';

/*
 * Changes by other programs that the database server reports late, with an old time, or not at all. Whatever was cached
 * before, the answers after these changes are right.
 */

const EVENT = 44;
const PATH = `/wp-json/calendar/events/v1/events/${EVENT}`;
const LIST = '/wp-json/calendar/events/v1/events?start_date=2019-01-01&end_date=2035-12-31&per_page=50';
const VENUE = 12;
/** Default settings, except that nothing expires by age: a right answer means that the change was noticed. */
const DEFAULTS = { CACHE_FRESHNESS_MS: '100', CACHE_STALE_SECONDS: '86400', SHARED_WITH_WORDPRESS: 'on' };
/**
 * Maximum number of looks at the server in a second, when requests come every 40 ms and a look is valid for 50 ms. An
 * outdated answer may be given no longer than that.
 */
const LOOKS = 13;

const CHANGES = '/wp-json/calendar/events/v1/changes';

const cityIs = (city: string) => (body: { venue: { city: string } }) => body.venue.city === city;
const titleIs = (title: string) => (body: { title: string }) => body.title === title;
const setCity = (value: string) => `UPDATE wp_postmeta SET meta_value = ${value} WHERE post_id = ${VENUE} AND meta_key = '_VenueCity'`;
const setTitle = (title: string, id = EVENT) => `UPDATE wp_posts SET post_title = '${title}' WHERE ID = ${id}`;

const connect = async (url: string): Promise<Connection> => {
  const connection = await connectTo(url, { multipleStatements: true });
  await connection.query(`USE \`${new URL(url).pathname.slice(1)}\``);
  return connection;
};

/**
 * SQLite allows one writer at a time: another process waits, but this one would block the service that it waits for.
 */
async function inTurn(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      return void (await write());
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    }
    await sleep(20);
  }
}

/** A database that is served, and that other programs write to. */
interface Shared {
  readonly db: Database;
  readonly serve: (env?: Record<string, string>) => Promise<Served>;
  /** Serves the database with a process that follows changes of other programs. */
  readonly follow: (env?: Record<string, string>) => Promise<Served>;
  /** Opens a connection of another program. */
  readonly other: () => Promise<Connection>;
}

interface Served {
  readonly running: RunningSite;
  readonly memory: CacheObserver;
}

describeDatabases('cached answers beside other writers', (open, engine) => {
  const withDatabase = reuseOrCreate(() => open());

  /** Runs a test with a site of its own. Most of these tests wait for seconds, so they run concurrently. */
  const onSite = (test: (site: Shared) => Promise<unknown>) =>
    withDatabase(async (db) => {
      await loadSite(db);
      // The server stores times in seconds: changes must be in a later second than the loading of the site.
      if (engine === 'MySQL') await db.knex.raw('DO SLEEP(1)');
      const ends: (() => Promise<unknown>)[] = [];
      const serve = async (env: Record<string, string> = {}) => {
        const running = await serveDatabase(db, { env: { ...DEFAULTS, ...env } });
        ends.push(running.close);
        return { running, memory: observeCache(running) };
      };
      const other = async () => {
        const connection = await connect(urlOf(db));
        ends.unshift(() => connection.end());
        return connection;
      };
      try {
        await test({
          db,
          serve,
          follow: async (env) => {
            const served = await serve(env);
            served.running.site.startFollowing();
            return served;
          },
          other,
        });
      } finally {
        for (const end of ends) await end();
      }
    });

  it('a change that was made without any request is in the first answer about changes', () =>
    onSite(async ({ db, follow }) => {
      const { running } = await follow();
      const changesSince = async (token: string | undefined) => {
        const { body } = await running.send('GET', `${CHANGES}?limit=500${token === undefined ? '' : `&since=${token}`}`);
        return body as { changes: { kind: string; id: number; change: string }[]; next: string; more: boolean };
      };
      let token: string | undefined;
      let isTakenOver = false;
      for (let more = true; more || !isTakenOver; await sleep(100)) {
        ({ more, next: token } = await changesSince(token));
        isTakenOver = (await running.site.takenOverSince(performance.now())) !== undefined;
      }
      await db.from('posts').where('ID', EVENT).update({ post_title: 'Changed' });
      await sleep(2500);
      expect((await changesSince(token)).changes).toEqual([{ kind: 'event', id: EVENT, change: 'updated' }]);
    }));

  if (engine === 'SQLite') {
    it('every change shows at once', () =>
      onSite(async ({ db, follow }) => {
        const { memory } = await follow();
        for (const title of ['One', 'Two', 'Three']) {
          await memory.warm(PATH, LIST);
          await inTurn(() => db.from('posts').where('ID', EVENT).update({ post_title: title }));
          expect(await memory.waitFor(PATH, titleIs(title))).toBeLessThanOrEqual(LOOKS);
        }
        expect(memory.comparisons()).toBe(0);
      }));
    return;
  }

  // The tests that take longest come first.

  /**
   * Ends a transaction that began in the same second as a later change to the same table, so that no sign shows it.
   * Returns the new name of the city.
   */
  const changeUnseen = async (memory: CacheObserver, other: Shared['other'], { compared }: { compared: boolean }) => {
    for (let number = 1; ; number += 1) {
      const [slow, quick] = [await other(), await other()];
      const updated = async () => {
        const [rows] = await quick.query<RowDataPacket[]>(
          "SELECT UPDATE_TIME AS at FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'wp_postmeta'",
        );
        return String(rows[0]?.at);
      };
      await slow.query(`BEGIN; ${setCity(`'City ${number}'`)}`);
      await quick.query("INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (1, 'quick', '')");
      const before = await updated();
      await memory.warm(PATH, LIST);
      // By then all tables have been compared.
      for (const read = memory.comparisons(); compared && memory.comparisons() < read + 3 * watchedNames.length; await sleep(40))
        await memory.warm(PATH);
      await slow.query('COMMIT');
      if ((await updated()) === before) return `City ${number}`;
    }
  };

  it.concurrent('a change that leaves every sign as it was shows by the comparison of contents', () =>
    onSite(async ({ follow, other }) => {
      const { memory } = await follow();
      const city = await changeUnseen(memory, other, { compared: true });
      await memory.waitFor(PATH, cityIs(city));
      // Once it is noticed, all other answers are renewed, too.
      expect((await memory.request(LIST)).answer.body.events.find(({ id }: { id: number }) => id === EVENT).venue.city).toBe(city);
    }));

  it.concurrent('a change that leaves every sign as it was shows within CACHE_STALE_SECONDS if contents cannot be compared', () =>
    onSite(async ({ db, follow, other }) => {
      const { memory } = await follow({ CACHE_STALE_SECONDS: '4' });
      await db.knex.schema.raw('ALTER TABLE wp_posts DROP COLUMN pinged');
      try {
        await memory.waitFor(PATH, cityIs(await changeUnseen(memory, other, { compared: false })));
      } finally {
        await db.knex.schema.alterTable('wp_posts', (table) => table.text('pinged').notNullable().defaultTo(''));
      }
    }));

  it.concurrent('a long statement shows though a quick one ended after it began', () =>
    onSite(async ({ db, follow, other }) => {
      const { memory } = await follow();
      const [slow, quick] = [await other(), await other()];
      const lock = new URL(urlOf(db)).pathname;
      await quick.query('SELECT GET_LOCK(?, 60)', [lock]);
      const long = slow.query(setCity(`IF(GET_LOCK('${lock}', 60), 'Newtown', '')`));
      await quick.query(`DO SLEEP(1); ${setTitle('Quick', 40)}`);
      await memory.warm(PATH, LIST);
      await quick.query('SELECT RELEASE_LOCK(?)', [lock]);
      await long;
      expect(await memory.waitFor(PATH, cityIs('Newtown'))).toBeLessThanOrEqual(LOOKS);
    }));

  it.concurrent('a long transaction shows though a quick statement came after it', () =>
    onSite(async ({ follow, other }) => {
      const { memory } = await follow();
      const [slow, quick] = [await other(), await other()];
      await slow.query(`BEGIN; ${setCity("'Newtown'")}`);
      await quick.query(`DO SLEEP(1); ${setTitle('Quick', 40)}`);
      await memory.warm(PATH, LIST);
      await slow.query('COMMIT');
      expect(await memory.waitFor(PATH, cityIs('Newtown'))).toBeLessThanOrEqual(LOOKS);
    }));

  it.concurrent.each([
    ['a table rebuilt after a change', `${setTitle('Changed')}; OPTIMIZE TABLE wp_posts`],
    ['a table altered after a change', `${setTitle('Changed')}; ALTER TABLE wp_posts ENGINE = InnoDB`],
    [
      'a table that was changed elsewhere and put in its place',
      `CREATE TABLE wp_new LIKE wp_posts; INSERT INTO wp_new SELECT * FROM wp_posts; UPDATE wp_new SET post_title = 'Changed' WHERE ID = ${EVENT};
       RENAME TABLE wp_posts TO wp_old, wp_new TO wp_posts; DROP TABLE wp_old`,
    ],
    [
      'a table emptied and filled again',
      `CREATE TABLE wp_new AS SELECT * FROM wp_posts; TRUNCATE TABLE wp_posts; INSERT INTO wp_posts SELECT * FROM wp_new;
       ${setTitle('Changed')}; DROP TABLE wp_new; OPTIMIZE TABLE wp_posts`,
    ],
  ])('the new content of %s shows', (_, script) =>
    onSite(async ({ follow, other }) => {
      const { memory } = await follow();
      const quick = await other();
      // OPTIMIZE TABLE removes the time of the last change of both tables.
      await quick.query('OPTIMIZE TABLE wp_posts');
      for (const run of [1, 2]) {
        await quick.query(`${setTitle(`Before ${run}`)}; OPTIMIZE TABLE wp_posts`);
        await memory.warm(PATH, LIST);
        await quick.query(script);
        expect(await memory.waitFor(PATH, titleIs('Changed'))).toBeLessThanOrEqual(LOOKS);
      }
    }),
  );

  it.concurrent.each(['TRUNCATE TABLE wp_tec_occurrences', 'DELETE FROM wp_tec_occurrences', 'TRUNCATE TABLE wp_term_relationships'])(
    'the effect of %s shows',
    (script) =>
      onSite(async ({ follow, other }) => {
        const { memory } = await follow();
        const quick = await other();
        const list = `${LIST}&categories=3`;
        await quick.query('OPTIMIZE TABLE wp_tec_occurrences, wp_term_relationships');
        await memory.warm(list);
        await quick.query(script);
        expect(await memory.waitFor(list, ({ total }) => total === 0)).toBeLessThanOrEqual(LOOKS);
      }),
  );

  it.concurrent('no query is sent without requests', () =>
    onSite(async ({ follow }) => {
      const { running, memory } = await follow();
      await memory.warm(PATH);
      // Waits until the queries under way have ended.
      for (let queries = -1; queries !== running.site.db.queries(); await sleep(1000)) queries = running.site.db.queries();
      const before = running.site.db.queries();
      await sleep(2500);
      expect(running.site.db.queries()).toBe(before);
    }));

  it.concurrent('the rights to read and write the tables are sufficient', () =>
    onSite(async ({ db, serve, other }) => {
      const root = await other();
      const { pathname, hostname, port } = new URL(urlOf(db));
      const name = pathname.slice(1);
      await root.query(
        `CREATE USER '${name}'@'%' IDENTIFIED BY 'word'; GRANT SELECT, INSERT, UPDATE, DELETE ON \`${name}\`.* TO '${name}'@'%'`,
      );
      try {
        const { memory } = await serve({ DATABASE_URL: `mysql://${name}:word@${hostname}:${port}/${name}` });
        await memory.warm(PATH);
        await root.query(setTitle('Changed'));
        expect(await memory.waitFor(PATH, titleIs('Changed'))).toBeLessThanOrEqual(LOOKS);
      } finally {
        await root.query(`DROP USER '${name}'@'%'`);
      }
    }));
});

const folder = mkdtempSync(join(tmpdir(), 'fasti-restart-'));
const firstServer = process.env.TEST_MYSQL_URL ? await startPrivateMysql(folder) : { reason: 'MySQL is not tested' };

/** Needs a server that may be stopped. */
('reason' in firstServer ? describe.skip : describe)('a server that is restarted', () => {
  let server = firstServer as PrivateMysql;
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const restart = async () => {
    await server.stop();
    const next = await startPrivateMysql(folder);
    if ('reason' in next) throw new Error(next.reason);
    server = next;
  };

  it('shows what was written between two starts', async () => {
    const setup = await connectTo(server.socketUrl);
    await setup.query('CREATE DATABASE site CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci');
    await setup.end();
    // The path of the socket stays the same, the port does not.
    const url = server.socketUrl.replace('/?', '/site?');
    const db = await loadSite(await databaseAt(url));
    await db.close();
    await restart();
    const running = await serveDatabase(db, { env: DEFAULTS });
    try {
      const memory = observeCache(running);
      await memory.warm(PATH, LIST);
      const quick = await connect(url);
      await quick.query(setTitle('Written'));
      await quick.end();
      await restart();
      expect(await memory.waitFor(PATH, titleIs('Written'))).toBeLessThanOrEqual(LOOKS);
    } finally {
      await running.close();
    }
  });
});
