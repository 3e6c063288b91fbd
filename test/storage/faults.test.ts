import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { type Database, DatabaseUnavailable, openDatabase, ping } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { Sqlite } from '../../src/storage/engine/sqlite/library.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';

const reasonOf = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => 'no error',
    (error: unknown) => (error instanceof DatabaseUnavailable ? error.reason : error),
  );

describeDatabases('database under failure', (open, engine) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  const insert = (to: Database, option_name: string) => to.from('options').insert({ option_name, option_value: '' });
  const kill = async (other: Database, id: number) => other.knex.raw(`KILL ${Number(id)}`);
  const idOf = async (one: Database): Promise<number> => (await one.knex.raw('SELECT CONNECTION_ID() AS id'))[0][0].id;

  if (engine === 'MySQL') {
    it('reconnects after the server has closed the connection', async () => {
      const other = await openDatabase({ url: urlOf(db), prefix: 'wp_' });
      await kill(other, await idOf(db));
      await sleep(50);
      await expect(ping(db)).resolves.toBeUndefined();
      await other.close();
    });

    it('rolls back and rejects a transaction whose connection was lost', async () => {
      const other = await openDatabase({ url: urlOf(db), prefix: 'wp_' });
      const work = db.transaction(async (tx) => {
        await insert(tx, 'lost-1');
        await kill(other, await idOf(tx));
        await sleep(50);
        await insert(tx, 'lost-2');
      });
      expect(await reasonOf(work)).toBe('unreachable');
      expect(await db.from('options').where('option_name', 'like', 'lost-%')).toEqual([]);
      await other.close();
    });

    it('retries an insert whose generated id is already taken, as by another node of a cluster', async () => {
      const option = (option_name: string) => ({ option_name, option_value: '' });
      const taken = await insertRows(db, 'options', [option('numbered-0')]);
      let tries = 0;
      const made = await db.transaction(async (tx) => {
        tries += 1;
        if (tries === 1) await tx.ask(`SET insert_id = ${taken}`);
        return insertRows(tx, 'options', [option('numbered-1'), option('numbered-2')]);
      });
      expect([tries, made > taken]).toEqual([2, true]);
      expect(await db.from('options').where('option_name', 'like', 'numbered-%')).toHaveLength(3);
      // If the caller names the id or another key, the duplicate is reported.
      for (const again of [{ ...option('numbered-3'), option_id: taken }, option('numbered-0')])
        await expect(insertRows(db, 'options', [again])).rejects.toMatchObject({ code: 'ER_DUP_ENTRY' });
    });

    /** Opens all connections, which can take longer on a busy machine than a query waits for one. */
    const opened = async () => {
      const ask = () => reasonOf(db.knex.raw('SELECT SLEEP(0.05)'));
      while ((await Promise.all(Array.from({ length: 16 }, ask))).some((reason) => reason !== 'no error'));
    };

    it('rejects a query that finds no free connection for a second, and recovers', async () => {
      await opened();
      const busy = Array.from({ length: 16 }, () => db.knex.raw('SELECT SLEEP(2)').then(() => 'done'));
      await sleep(100);
      expect(await Promise.race([reasonOf(ping(db)), ...busy])).toBe('exhausted');
      await Promise.all(busy);
      await expect(ping(db)).resolves.toBeUndefined();
    });

    it('keeps connections free for readers while all writers wait', async () => {
      await opened();
      const other = await openDatabase({ url: urlOf(db), prefix: 'wp_' });
      let release = (): void => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const holder = other.transaction(async (tx) => {
        await tx.from('fasti_changes').forUpdate().first();
        await held;
      });
      await sleep(50);
      const writers = Array.from({ length: 40 }, () => db.transaction(async (tx) => tx.from('fasti_changes').increment('counter')));
      await sleep(100);
      const reads = await Promise.all(Array.from({ length: 20 }, () => reasonOf(ping(db))));
      release();
      await Promise.all([holder, ...writers]);
      expect(new Set(reads)).toEqual(new Set(['no error']));
      await other.close();
    });
  } else {
    it('waits for the write transaction of another process', async () => {
      const other = new Sqlite(urlOf(db).slice('sqlite:'.length));
      other.exec('BEGIN IMMEDIATE');
      const work = db.transaction(async (tx) => insert(tx, 'waited'));
      await sleep(250);
      other.exec('COMMIT');
      other.close();
      await work;
      expect(await db.from('options').where('option_name', 'waited')).toHaveLength(1);
    });

    it('rejects all transactions of a commit group if the disk is full for one of them', async () => {
      await db.transaction(async (tx) => insert(tx, 'room'));
      const [{ page_count: pages }] = (await db.knex.raw('PRAGMA page_count')) as [{ page_count: number }];
      await db.knex.raw(`PRAGMA max_page_count = ${pages}`);
      const write = (name: string, bytes: number) =>
        reasonOf(db.transaction(async (tx) => tx.from('options').insert({ option_name: name, option_value: 'x'.repeat(bytes) })));
      expect(await Promise.all([write('full-1', 0), write('full-2', 0), write('full-3', 1_000_000)])).toEqual(['full', 'full', 'full']);
      expect(await db.from('options').where('option_name', 'like', 'full-%')).toEqual([]);
      await db.knex.raw('PRAGMA max_page_count = 1073741823');
      expect(await Promise.all([write('full-4', 0), write('full-5', 1_000_000)])).toEqual(['no error', 'no error']);
      expect(await db.from('options').where('option_name', 'like', 'full-%').pluck('option_name')).toEqual(['full-4', 'full-5']);
    });

    it('rejects a write while another process never ends its transaction, but still reads, even if the clock stops', async () => {
      const [now, stopped] = [Date.now, Date.now()];
      Date.now = () => stopped;
      const other = new Sqlite(urlOf(db).slice('sqlite:'.length));
      other.exec('BEGIN IMMEDIATE');
      let runs = 0;
      const work = reasonOf(
        db.transaction(async (tx) => {
          runs += 1;
          await insert(tx, 'never');
        }),
      );
      expect(await reasonOf(db.from('options').first())).toBe('no error');
      expect(
        await work.finally(() => {
          Date.now = now;
        }),
      ).toBe('busy');
      expect(runs).toBe(0);
      other.exec('COMMIT');
      other.close();
      await db.transaction(async (tx) => insert(tx, 'again'));
      expect(await db.from('options').whereIn('option_name', ['never', 'again']).pluck('option_name')).toEqual(['again']);
    });
  }
});
