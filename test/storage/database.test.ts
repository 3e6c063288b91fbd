import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { builders } from '../../src/storage/engine/builder.ts';
import { type Database, DatabaseUnavailable, openDatabase, ping } from '../../src/storage/engine/database.ts';
import { insertedValues, insertMissing, insertRows, upsertRows } from '../../src/storage/engine/insert.ts';
import { transactionRunner } from '../../src/storage/engine/transaction-runner.ts';
import { reportEverything } from '../../src/storage/journal/reported-changes.ts';
import { lockNames } from '../../src/storage/rows/locks.ts';
import { describeDatabases, urlOf } from '../support/databases.ts';

const counter = async (db: Database): Promise<number | undefined> =>
  (await db.from('fasti_changes').where('id', 1).first('counter'))?.counter;
const option = (name: string, value = '') => ({ option_name: name, option_value: value, autoload: 'off' });

/**
 * Increments the counter by reading, waiting and writing. Two concurrent runs would lose one increment if they did not
 * wait for each other.
 */
async function countUp(db: Database): Promise<void> {
  const row = await db.from('fasti_changes').where('id', 1).forUpdate().first('counter');
  await sleep(2);
  await db
    .from('fasti_changes')
    .where('id', 1)
    .update({ counter: (row?.counter ?? 0) + 1 });
}

describeDatabases('database', (open, engine) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  it('returns rows with own properties for columns of any name', async () => {
    // mysql2 leaves out `__proto__`.
    const names = ['constructor', 'a`b', "it's", 'a"b\\c', ...(engine === 'SQLite' ? ['__proto__'] : [])];
    const columns = names.map((name, at) => `${at} AS \`${name.replace('`', '``')}\``);
    const [row] = await db.ask<Record<string, number>>(`SELECT ${columns.join()}`);
    expect(Object.entries(row ?? {})).toEqual(names.map((name, at) => [name, at]));
  });

  it('commits all writes of a transaction', async () => {
    await db.transaction(async (tx) => {
      await tx.from('options').insert(option('all-1'));
      await tx.from('options').insert(option('all-2'));
    });
    expect(await db.from('options').where('option_name', 'like', 'all-%').pluck('option_name')).toEqual(['all-1', 'all-2']);
  });

  it('rolls back a transaction that fails and rethrows its error', async () => {
    const failing = db.transaction(async (tx) => {
      await tx.from('options').insert(option('none-1'));
      throw new RangeError('no');
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(await db.from('options').where('option_name', 'none-1')).toEqual([]);
  });

  it('runs a nested transaction as part of the outer one', async () => {
    const failing = db.transaction(async (tx) => {
      await tx.transaction(async (inner) => {
        await inner.from('options').insert(option('nested-1'));
      });
      expect(await tx.from('options').where('option_name', 'nested-1')).toHaveLength(1);
      throw new RangeError('outer');
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(await db.from('options').where('option_name', 'nested-1')).toEqual([]);
  });

  it('lets other work run between the statements of a long transaction', async () => {
    let turns = 0;
    let isOver = false;
    const countTurns = (): void => {
      turns += 1;
      if (!isOver) setImmediate(countTurns);
    };
    await db.transaction(async (tx) => {
      setImmediate(countTurns);
      for (let statement = 0; statement < 10; statement++) {
        const start = performance.now();
        while (performance.now() - start < 25);
        await tx.from('options').where('option_name', 'siteurl').first('option_id');
      }
      isOver = true;
      expect(turns).toBeGreaterThanOrEqual(9);
    });
  });

  it('rejects a query outside the open transaction', async () => {
    await expect(db.transaction(async () => db.from('options').first())).rejects.toThrow('use the database given to it');
    await expect(db.transaction(async () => db.transaction(async () => 1))).rejects.toThrow('use the database given to it');
    expect(await db.from('options').where('option_name', 'x')).toEqual([]);
  });

  it('returns the state before an open transaction to readers', async () => {
    await db.from('options').insert(option('seen', 'before'));
    const seen = async () => (await db.from('options').where('option_name', 'seen').first())?.option_value;
    let written = () => {};
    const isWritten = new Promise<void>((resolve) => {
      written = resolve;
    });
    let end = () => {};
    const mayEnd = new Promise<void>((resolve) => {
      end = resolve;
    });
    const writing = db.transaction(async (tx) => {
      await tx.from('options').where('option_name', 'seen').update({ option_value: 'after' });
      written();
      await mayEnd;
    });
    await isWritten;
    expect(await seen()).toBe('before');
    end();
    await writing;
    expect(await seen()).toBe('after');
  });

  it('resolves each concurrent transaction only once its rows are visible to other connections', async () => {
    const second = await openDatabase({ url: urlOf(db), prefix: 'wp_' });
    const names = Array.from({ length: 40 }, (_, n) => `together-${n}`);
    const seen = await Promise.all(
      names.map(async (name) => {
        await db.transaction(async (tx) => tx.from('options').insert(option(name)));
        return second.from('options').where('option_name', name).pluck('option_name');
      }),
    );
    expect(seen.flat()).toEqual(names);
    await second.close();
  });

  it('groups concurrent transactions into as few commits as the dialect allows', async () => {
    const { maxPieces: pieces } = db.dialect.groupCommit;
    const run = transactionRunner({
      driver: db.driver,
      dialect: { ...db.dialect, groupCommit: { maxPieces: pieces, maxMs: Number.POSITIVE_INFINITY } },
      builderFor: builders(db.dialect.name === 'sqlite' ? 'better-sqlite3' : 'mysql2'),
    });
    let commits = 0;
    db.driver.listen(({ sql }: { sql: string }) => {
      if (sql === 'COMMIT') commits += 1;
    });
    const names = Array.from({ length: 40 }, (_, n) => `once-${n}`);
    await Promise.all(names.map((name) => run(async ({ builder }) => builder(db.table('options')).insert(option(name)))));
    expect(commits).toBe(Math.ceil(names.length / pieces));
    expect(await db.from('options').where('option_name', 'like', 'once-%').pluck('option_name')).toHaveLength(names.length);
  });

  it('rolls back a failed transaction without the others in its commit group', async () => {
    const write = (name: string, fails = false) =>
      db.transaction(async (tx) => {
        await tx.from('options').insert(option(name));
        if (fails) throw new RangeError(name);
        return name;
      });
    const works = ['odd-1', 'odd-2', 'odd-3', 'odd-4', 'odd-5'].map((name, n) => write(name, n % 2 === 0));
    expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    expect(await db.from('options').where('option_name', 'like', 'odd-%').pluck('option_name')).toEqual(['odd-2', 'odd-4']);
    await expect(write('odd-6')).resolves.toBe('odd-6');
  });

  it('serializes 64 concurrent writers of one row without losing a write', async () => {
    const before = (await counter(db)) ?? 0;
    await Promise.all(Array.from({ length: 64 }, () => db.transaction(countUp)));
    expect(await counter(db)).toBe(before + 64);
  });

  it('loses no write when two connections write the same row', async () => {
    const second = await openDatabase({ url: urlOf(db), prefix: 'wp_' });
    const before = (await counter(db)) ?? 0;
    await Promise.all(Array.from({ length: 30 }, (_, n) => (n % 2 === 0 ? db : second).transaction(countUp)));
    expect(await counter(db)).toBe(before + 30);
    await second.close();
  });

  it('waits with a single statement until another connection has finished its transaction', async () => {
    const second = await openDatabase({ url: urlOf(db), prefix: 'wp_' });
    const before = (await counter(db)) ?? 0;
    let noteLock = (): void => undefined;
    const locked = new Promise<void>((resolve) => {
      noteLock = resolve;
    });
    const transaction = second.transaction(async (tx) => {
      await tx.change`UPDATE {fasti_changes} SET counter = counter + 1 WHERE id = 1`;
      noteLock();
      await sleep(300);
    });
    await locked;
    await Promise.all([db.change`UPDATE {fasti_changes} SET counter = counter + 1 WHERE id = 1`, transaction]);
    expect(await counter(db)).toBe(before + 2);
    await second.close();
  });

  it('retries the whole transaction after a conflict with another one', async () => {
    // Both lock the same rows in opposite order: a deadlock on databases that lock rows one by one.
    await db.from('options').insert([option('dead-1', '0'), option('dead-2', '0')]);
    const add = (tx: Database, name: string) =>
      tx
        .from('options')
        .where('option_name', name)
        .update({ option_value: tx.knex.raw('?? + 1', ['option_value']) as unknown as string });
    let runs = 0;
    const both = (first: string, last: string) =>
      db.transaction(async (tx) => {
        runs += 1;
        await add(tx, first);
        await sleep(30);
        await add(tx, last);
      });
    await Promise.all([both('dead-1', 'dead-2'), both('dead-2', 'dead-1')]);
    const values = await db.from('options').whereIn('option_name', ['dead-1', 'dead-2']).pluck('option_value');
    expect(values.map(Number)).toEqual([2, 2]);
    expect(runs).toBeGreaterThanOrEqual(engine === 'MySQL' ? 3 : 2);
  });

  it('does not commit work that continued after an ignored deadlock error', async () => {
    await db.from('options').insert([option('mute-1', '0'), option('mute-2', '0')]);
    const set = (tx: Database, name: string) => tx.from('options').where('option_name', name).update({ option_value: '1' });
    const both = (first: string, last: string, own: string) =>
      db.transaction(async (tx) => {
        await set(tx, first);
        await sleep(30);
        await set(tx, last).catch(() => 0);
        await tx.from('options').insert(option(own));
      });
    await Promise.all([both('mute-1', 'mute-2', 'mute-a'), both('mute-2', 'mute-1', 'mute-b')]);
    expect(await db.from('options').whereIn('option_name', ['mute-a', 'mute-b']).pluck('option_name')).toEqual(['mute-a', 'mute-b']);
  });

  it('lets only one of many concurrent writers insert the same locked name', async () => {
    const second = await openDatabase({ url: urlOf(db), prefix: 'wp_' });
    const take = (one: Database) =>
      one.transaction(async (tx) => {
        await lockNames(tx, ['term:jazz', 'term:jazz', 'slug:jazz']);
        reportEverything(tx);
        const known = await tx.from('terms').where('slug', 'jazz').pluck('term_id');
        if (known.length === 0) await tx.from('terms').insert({ name: 'Jazz', slug: 'jazz' });
      });
    await Promise.all(Array.from({ length: 24 }, (_, n) => take(n % 2 === 0 ? db : second)));
    expect(await db.from('terms').where('slug', 'jazz')).toHaveLength(1);
    await second.close();
  });

  it('keeps acknowledged transactions and no partial ones when the process is killed', async () => {
    const writer = spawn(process.execPath, ['--import', './test/support/run-typescript.mjs', 'test/support/write-pairs.ts', urlOf(db)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    await new Promise<void>((resolve) => {
      writer.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (printed.split('\n').length > 100) writer.kill('SIGKILL');
      });
      writer.on('close', () => resolve());
    });
    const acknowledged = printed.trim().split('\n').map(Number);
    const rows = await db.from('usermeta').where('user_id', 77).select('meta_key', 'meta_value');
    const pairs = new Map<string, number>();
    for (const { meta_value } of rows) pairs.set(String(meta_value), (pairs.get(String(meta_value)) ?? 0) + 1);
    expect([...pairs.values()].filter((rows) => rows !== 2)).toEqual([]);
    expect(acknowledged.filter((pair) => !pairs.has(String(pair)))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(100);
  });

  it('distinguishes a duplicate key from other errors', async () => {
    await db.from('options').insert(option('twice'));
    const again = await db
      .from('options')
      .insert(option('twice'))
      .catch((error: unknown) => error);
    expect(db.dialect.isDuplicate(again)).toBe(true);
    expect(db.dialect.isBusy(again) || db.dialect.isUnavailable(again)).toBe(false);
  });

  it('upserts one or many rows at a time', async () => {
    const write = (...rows: ReturnType<typeof option>[]) =>
      upsertRows(db, 'options', rows, ['option_name'], insertedValues(db, ['option_value']));
    await write(option('up-1', 'first'));
    await write(option('up-1', 'second'), option('up-2', 'new'));
    await write();
    const rows = await db.from('options').where('option_name', 'like', 'up-%').orderBy('option_name').pluck('option_value');
    expect(rows).toEqual(['second', 'new']);
  });

  it('reports which tables and columns exist, as migrations need', async () => {
    await db.transaction(async ({ knex }) => {
      expect(await knex.schema.hasTable(db.table('posts'))).toBe(true);
      expect(await knex.schema.hasTable('nothing')).toBe(false);
      expect(await knex.schema.hasColumn(db.table('posts'), 'post_title')).toBe(true);
      expect(await knex.schema.hasColumn(db.table('posts'), 'nothing')).toBe(false);
    });
    expect(await db.knex.schema.hasColumn(db.table('posts'), 'post_title')).toBe(true);
    expect((await db.dialect.columns(db, db.table('term_relationships'))).slice(0, 2)).toEqual(['object_id', 'term_taxonomy_id']);
    expect(await db.dialect.columns(db, 'nothing')).toEqual([]);
  });

  it('inserts and upserts thousands of rows at once', async () => {
    const rows = Array.from({ length: 2000 }, (_, n) => ({ object_id: 9000 + n, term_taxonomy_id: 1 }));
    const keys = ['object_id', 'term_taxonomy_id'] as const;
    await insertRows(db, 'term_relationships', rows);
    await insertMissing(db, 'term_relationships', rows, keys);
    await upsertRows(
      db,
      'term_relationships',
      rows.map((row) => ({ ...row, term_order: 5 })),
      keys,
      insertedValues(db, ['term_order']),
    );
    await upsertRows(db, 'term_relationships', rows, keys, { term_order: 'term_order + 2' });
    expect(await db.from('term_relationships').where('object_id', '>=', 9000).where('term_order', 7)).toHaveLength(2000);
  });

  it('inserts rows whose total size exceeds the packet limit of the server', async () => {
    const text = 'long '.repeat(200_000);
    const rows = Array.from({ length: 40 }, (_, n) => ({ post_id: 9000 + n, meta_key: 'long', meta_value: text }));
    await insertRows(db, 'postmeta', rows);
    expect(await db.from('postmeta').where({ meta_key: 'long', meta_value: text }).pluck('post_id')).toHaveLength(40);
    await db.from('postmeta').where('meta_key', 'long').delete();
  });

  it('returns values of each type as they were written', async () => {
    const [id] = await db
      .from('posts')
      .insert({ post_title: '日本 😀 O\'Hara \\ "x"', post_type: 'post', menu_order: -1, post_date: '2026-11-20 10:00:00' });
    const row = await db.from('posts').where('ID', Number(id)).first();
    expect(row).toMatchObject({
      ID: id,
      post_title: '日本 😀 O\'Hara \\ "x"',
      menu_order: -1,
      post_date: '2026-11-20 10:00:00',
      post_date_gmt: '0000-00-00 00:00:00',
      post_content: '',
    });
    // A number in a text column is the text of that number.
    await db.from('postmeta').insert({ post_id: 1, meta_key: 'number', meta_value: 10 as unknown as string });
    expect(await db.from('postmeta').where('meta_key', 'number').first('meta_value')).toEqual({ meta_value: '10' });
    const [total] = await db.knex('wp_options').sum('option_id as sum').count('* as count');
    expect([typeof total?.sum, typeof total?.count]).toEqual(['number', 'number']);
  });

  it('reads the leading number of a meta', async () => {
    const texts = ['12', '-3.5', '7 km', 'none', ''];
    await db.from('termmeta').insert(texts.map((meta_value) => ({ term_id: 5, meta_key: 'n', meta_value })));
    const [sql, bindings] = db.dialect.asNumber('meta_value');
    const rows: { n: number }[] = await db
      .knex('wp_termmeta')
      .where('term_id', 5)
      .orderBy('meta_id')
      .select(db.knex.raw(`${sql} AS n`, bindings));
    expect(rows.map(({ n }) => n)).toEqual([12, -3.5, 7, 0, 0]);
  });

  it('counts queries', async () => {
    const before = db.queries();
    await db.from('options').first();
    await db.from('options').first();
    expect(db.queries() - before).toBe(2);
  });

  it('answers a ping', async () => {
    await expect(ping(db)).resolves.toBeUndefined();
  });

  it('prefixes table names and accepts an alias for joins', async () => {
    expect(db.table('posts')).toBe('wp_posts');
    expect(db.from('posts', 'p').where('p.ID', 1).toQuery()).toMatch(/^select \* from `wp_posts` as `p` where `p`.`ID` = 1/);
  });
});

describe('openDatabase', () => {
  it.each([
    ['postgres://localhost/x', /must begin with "sqlite:" or "mysql:\/\/"/],
    ['calendar.db', /must begin with/],
    ['mysql://localhost', /^address-without-name/],
    ['mysql://a:b@localhost/x?charset=latin1', /^address-parameter charset$/],
    ['mysql://', /^address/],
    ['sqlite:', /^sqlite-without-file/],
    ['sqlite:/dev/null/x.sqlite', /EEXIST|ENOTDIR/],
    ['sqlite:package.json', /not a database/],
  ])('rejects %s with a message of one line', async (url, message) => {
    const error = await openDatabase({ url, prefix: 'wp_' }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect((error as Error | undefined)?.message).toMatch(message);
    expect((error as Error).message).not.toContain('\n');
  });

  it('rejects a table prefix that contains other SQL', async () => {
    await expect(openDatabase({ url: 'sqlite::memory:', prefix: 'wp_`; --' })).rejects.toThrow(/table prefix/);
  });

  it('opens an in-memory database', async () => {
    const db = await openDatabase({ url: 'sqlite::memory:', prefix: '' });
    await expect(ping(db)).resolves.toBeUndefined();
    await db.close();
  });

  it('reports an unreachable server at the first query, not when it opens', async () => {
    const db = await openDatabase({ url: 'mysql://nobody@127.0.0.1:9/none', prefix: 'wp_' });
    const error = await ping(db).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect((error as DatabaseUnavailable).reason).toBe('unreachable');
    await expect(db.transaction(async (tx) => tx.from('posts').first())).rejects.toBeInstanceOf(DatabaseUnavailable);
    await db.close();
  });
});
