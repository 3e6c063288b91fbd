import { crc32 } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertRows } from '../../src/storage/engine/insert.ts';
import { differingRanges, type Fingerprints, fingerprintsOf, KEYS_PER_RANGE } from '../../src/storage/freshness/fingerprints.ts';
import { WATCHED, type WatchedName, watchedNames } from '../../src/storage/freshness/watched-tables.ts';
import { createWpmlTables } from '../../src/storage/schema/wpml-tables.ts';
import { describeDatabases } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';

describe('ranges in which two fingerprints differ', () => {
  const of = (...ranges: [number, string][]): Fingerprints => new Map(ranges.map(([range, text]) => [range * KEYS_PER_RANGE, text]));
  const range = (from: number, to: number) => ({ from: from * KEYS_PER_RANGE, to: to * KEYS_PER_RANGE });

  it.each([
    ['no ranges if they are the same', of([0, 'a'], [4, 'b']), of([4, 'b'], [0, 'a']), []],
    ['the ranges with changed rows', of([0, 'a'], [1, 'b']), of([0, 'a'], [1, 'c']), [range(1, 2)]],
    ['the ranges with new rows', of([0, 'a']), of([0, 'a'], [7, 'b']), [range(7, 8)]],
    ['the ranges with deleted rows', of([0, 'a'], [7, 'b']), of([7, 'b']), [range(0, 1)]],
    ['neighbouring ranges as one', of([1, 'a'], [2, 'b'], [5, 'c']), of([3, 'd'], [5, 'x']), [range(1, 4), range(5, 6)]],
    ['all ranges of a table that was emptied', of([0, 'a'], [1, 'b']), of(), [range(0, 2)]],
  ])('are %s', (_, before, after, expected) => {
    expect(differingRanges(before, after)).toEqual(expected);
  });
});

async function read(db: Database, table: WatchedName): Promise<Fingerprints> {
  const steps = fingerprintsOf(db, table);
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return value;
  }
}

describeDatabases('fingerprints of a table', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
    await createWpmlTables(db);
    await db.from('icl_translations').insert({ element_type: 'post_tribe_events', element_id: 44, trid: 1, language_code: 'en' });
  });
  beforeEach(async () => {
    await loadSite(db);
  });

  const differences = async (table: WatchedName, work: () => PromiseLike<unknown>) => {
    const before = await read(db, table);
    await work();
    return differingRanges(before, await read(db, table));
  };
  const rangeOf = (key: number) => ({ from: key - (key % KEYS_PER_RANGE), to: key - (key % KEYS_PER_RANGE) + KEYS_PER_RANGE });

  it('are the same at each reading', async () => {
    for (const table of watchedNames) {
      expect((await read(db, table)).size).toBeGreaterThan(0);
      expect(await differences(table, async () => undefined)).toEqual([]);
    }
  });

  it.each(watchedNames)('differ after a change of any column of %s', async (table) => {
    const { key, plain, texts } = WATCHED[table];
    const [row] = (await db.knex(db.table(table)).orderBy(key).limit(1)) as Record<string, unknown>[];
    const where = Object.fromEntries(plain.map((column) => [column, row?.[column]]));
    for (const column of [...plain, ...texts].filter((name) => name !== key)) {
      const was = row?.[column];
      const value = String(was).startsWith('20') ? '2031-02-03 04:05:06' : typeof was === 'number' ? was + 7 : `${was ?? ''}x`.slice(-20);
      const changed = await differences(table, () =>
        db
          .knex(db.table(table))
          .where(where)
          .update({ [column]: value }),
      );
      expect([column, changed]).toEqual([column, [rangeOf(Number(row?.[key]))]]);
      await db
        .knex(db.table(table))
        .where({ ...where, [column]: value })
        .update({ [column]: was });
    }
  });

  it('differ after two values of the same length were swapped, or text moved between columns', async () => {
    const [one, other] = await db.from('postmeta').where('meta_key', '_EventStartDate').orderBy('meta_id').limit(2);
    const set = (meta_id: number, row: object) => db.from('postmeta').where({ meta_id }).update(row);
    const swap = async () => {
      await set(one!.meta_id, { meta_value: other!.meta_value });
      await set(other!.meta_id, { meta_value: one!.meta_value });
    };
    expect(one!.meta_value).not.toBe(other!.meta_value);
    expect(await differences('postmeta', swap)).not.toEqual([]);
    await set(one!.meta_id, { meta_key: 'a|1', meta_value: 'b' });
    expect(await differences('postmeta', () => set(one!.meta_id, { meta_key: 'a', meta_value: '1|b' }))).not.toEqual([]);
    await set(one!.meta_id, { meta_key: null, meta_value: 'b' });
    expect(await differences('postmeta', () => set(one!.meta_id, { meta_key: 'b', meta_value: null }))).not.toEqual([]);
    await set(one!.meta_id, { meta_value: null });
    expect(await differences('postmeta', () => set(one!.meta_id, { meta_value: '' }))).not.toEqual([]);
  });

  it('differ after values were swapped whose checksums have the same sum', async () => {
    const sum = (...texts: string[]) => texts.reduce((total, text) => total + crc32(text), 0);
    const prints = async (keys: readonly number[], ...texts: string[]) => {
      const all = keys.map((key) => `SELECT ? AS t, ${key} AS k`).join(' UNION ALL ');
      const { quickPrint, fingerprint } = db.dialect;
      const [row] = await db.ask<object>(`SELECT ${quickPrint('t', 'k')} AS quick, ${fingerprint('t')} AS slow FROM (${all}) q`, texts);
      return Object.values(row!);
    };
    const random = fc.sample(fc.tuple(fc.nat(), fc.nat(), fc.nat(96), fc.nat(96)), { numRuns: 200_000, seed: 1 });
    const hidden = random.filter(
      ([one, other, x, y]) => one !== other && x !== y && sum(`${one}|${x}`, `${other}|${y}`) === sum(`${one}|${y}`, `${other}|${x}`),
    );
    expect(hidden.length).toBeGreaterThan(3);
    for (const [one, other, x, y] of hidden)
      for (const keys of [
        [0, 1],
        [0, 1024],
        [4096, 12_288],
      ]) {
        const before = await prints(keys, `${one}|${x}`, `${other}|${y}`);
        const after = await prints(keys, `${one}|${y}`, `${other}|${x}`);
        expect(before.filter((print, which) => print === after[which])).toEqual([]);
      }
  });

  it('differ after rows were inserted or deleted, close together or far apart', async () => {
    const add = (meta_id: number) => db.from('postmeta').insert({ meta_id, post_id: 1, meta_key: 'k', meta_value: 'v' });
    for (const id of [5000, 70_000, 9_000_000_000]) expect(await differences('postmeta', () => add(id))).toEqual([rangeOf(id)]);
    expect(await differences('postmeta', () => db.from('postmeta').where('meta_id', 70_000).delete())).toEqual([rangeOf(70_000)]);
    expect((await differences('postmeta', () => db.from('postmeta').delete())).length).toBeGreaterThan(0);
    expect((await read(db, 'postmeta')).size).toBe(0);
  });

  it.each([
    ['several ranges in each on a fast database', 1, 0.25],
    ['one range in each on a slow database', 100, 1],
  ])('are read in steps: %s', async (_, took, part) => {
    const rows = Array.from({ length: 20_000 }, (_, index) => ({
      meta_id: 10_000 + index,
      post_id: index,
      meta_key: 'k',
      meta_value: 'v',
    }));
    await insertRows(db, 'postmeta', rows);
    let now = 0;
    const steps = fingerprintsOf(db, 'postmeta', () => {
      now += took;
      return now;
    });
    const before = db.queries();
    let step = await steps.next();
    while (!step.done) step = await steps.next();
    const queries = db.queries() - before;
    expect(step.value.size).toBeGreaterThan(20_000 / KEYS_PER_RANGE);
    if (part < 1) expect(queries).toBeLessThan(step.value.size * part);
    else expect(queries).toBeGreaterThanOrEqual(step.value.size);
  });
});
