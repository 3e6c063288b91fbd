import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { createTableComparison } from '../../src/storage/freshness/table-comparison.ts';
import { watchedNames } from '../../src/storage/freshness/watched-tables.ts';
import { describeDatabases } from '../support/databases.ts';
import { waitUntilIdle } from '../support/idle.ts';
import { loadSite } from '../support/site.ts';

const WITHIN = 30_000;

describeDatabases('comparison of tables', (open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    await loadSite(db);
  });

  /** A comparison with a clock that the test moves; each reading of the clock advances it by `cost`. */
  const start = (within = WITHIN) => {
    const state = { now: 1_000_000, cost: 0, signs: watchedNames.map(() => '1') };
    const clock = () => {
      state.now += state.cost;
      return state.now;
    };
    const comparison = createTableComparison(db, { periodMs: within, clock });
    /** Advances the comparison until nothing is left to do at this moment. */
    const settle = async () => {
      for (let queries = -1; queries !== db.queries(); ) {
        queries = db.queries();
        comparison.advance(state.signs);
        await waitUntilIdle(db);
      }
    };
    const round = async () => {
      state.now += within;
      await settle();
    };
    return { state, comparison, round, settle };
  };
  const rename = (title: string) => db.from('posts').where('ID', 44).update({ post_title: title });

  it('has no coverage before every table was read', async () => {
    const { comparison, round } = start();
    expect(comparison.coverage()).toBeUndefined();
    await round();
    expect(comparison.coverage()).toBeDefined();
  });

  it('extends its coverage after each round without changes', async () => {
    const { state, comparison, round } = start();
    await round();
    const first = state.now;
    await round();
    expect(comparison.coverage()).toEqual({ from: first, until: first + WITHIN });
    await round();
    expect(comparison.coverage()).toEqual({ from: first, until: first + 2 * WITHIN });
    expect(comparison.surprises()).toBe(0);
  });

  it('counts a change without a sign once as a surprise and restarts its coverage', async () => {
    const { state, comparison, round } = start();
    await round();
    await rename('Changed');
    await round();
    expect(comparison.surprises()).toBe(1);
    expect(comparison.coverage()?.from).toBe(state.now);
    await round();
    expect(comparison.surprises()).toBe(1);
  });

  it('does not count a change with a sign as a surprise, but restarts its coverage', async () => {
    const { state, comparison, round, settle } = start();
    await round();
    await rename('Changed');
    state.signs = state.signs.map((sign, index) => (watchedNames[index] === 'posts' ? '2' : sign));
    await settle();
    expect(comparison.coverage()).toBeUndefined();
    await round();
    expect(comparison.surprises()).toBe(0);
    expect(comparison.coverage()?.from).toBe(state.now);
  });

  it('runs no query between the rounds, nor unless it is advanced', async () => {
    const { state, comparison, round } = start();
    await round();
    const queries = db.queries();
    state.now += 500;
    for (let times = 0; times < 5; times++) comparison.advance(state.signs);
    state.now += WITHIN;
    await waitUntilIdle(db);
    expect(db.queries()).toBe(queries);
  });

  it('pauses for a while if the tables are too large to be read in its share of the time', async () => {
    const { state, comparison, round } = start(2000);
    state.cost = 40;
    await round();
    await round();
    expect(comparison.coverage()).toBeUndefined();
    const queries = db.queries();
    await round();
    expect(db.queries()).toBe(queries);
    state.cost = 0;
    state.now += 20 * 2000;
    await round();
    expect(comparison.coverage()).toBeDefined();
  });

  it('has no coverage while a table cannot be read, and retries later', async () => {
    const { comparison, round } = start();
    await round();
    await db.knex.schema.renameTable('wp_terms', 'wp_away');
    await round();
    expect(comparison.coverage()).toBeUndefined();
    await db.knex.schema.renameTable('wp_away', 'wp_terms');
    await round();
    expect(comparison.coverage()).toBeDefined();
  });
});
