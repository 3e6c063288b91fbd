import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Database } from '../../src/storage/engine/database.ts';
import { type Watched, watchTables } from '../../src/storage/freshness/table-watch.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';

const BOUND = 60_000;

/** From when on what was read may be used; the clock of the tests goes by whole milliseconds. */
function oldest({ mayServe, at }: Watched & { readonly at: number }): number {
  let [none, some] = [-1, at];
  while (some - none > 1) {
    const middle = Math.floor((some + none) / 2);
    if (mayServe({ from: middle, until: middle, oldest: middle })) some = middle;
    else none = middle;
  }
  return some;
}

describeDatabases('the watch over tables', (open, engine) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    await loadSite(db);
  });

  /** A watch by a clock that the test moves, the server's with it. Begins when what is there may be remembered. */
  const start = async () => {
    let now = 1_000_000;
    const { changeSigns } = db.dialect;
    const uptime = engine === 'MySQL' ? () => Math.floor(now / 1000) : () => undefined;
    const dialect = {
      ...db.dialect,
      changeSigns: async (...asked: Parameters<typeof changeSigns>) => ({ ...(await changeSigns(...asked)), uptime: uptime() }),
    };
    const watch = watchTables({ ...db, dialect }, { bound: BOUND, clock: () => now });
    const after = async (milliseconds: number) => {
      now += milliseconds;
      const watched = await watch();
      // What it does in the background is done.
      for (let queries = -1; queries !== db.queries(); await sleep(40)) queries = db.queries();
      return { ...watched, at: now };
    };
    for (let watched = await after(1000); ; watched = await after(1000)) {
      if (watched.version !== undefined) return { after, first: watched };
      await sleep(200);
    }
  };

  it('lets what is remembered hold as long as nothing shows', async () => {
    const { after, first } = await start();
    const later = [await after(100), await after(10_000), await after(100)];
    expect(later.map(({ version }) => version)).toEqual(later.map(() => first.version));
  });

  it('makes it old with each change, at once', async () => {
    const { after, first } = await start();
    await runScript(db, "UPDATE wp_terms SET name = 'Changed' WHERE term_id = 3");
    expect((await after(10)).version).not.toBe(first.version);
    if (engine === 'MySQL') expect((await after(10)).version).toBeUndefined();
  });

  if (engine === 'SQLite') {
    it('trusts SQLite, which shows every change, for any time', async () => {
      const { after } = await start();
      const before = db.queries();
      expect(oldest(await after(1000 * BOUND))).toBe(0);
      expect(db.queries() - before).toBe(1);
    });
    return;
  }

  it('lets nothing hold beyond its bound that was not compared since', async () => {
    const { after } = await start();
    const late = await after(10 * BOUND);
    expect(oldest(late)).toBe(late.at - BOUND);
  });

  it('lets hold what was compared and found the same', async () => {
    const { after, first } = await start();
    await after(10 * BOUND);
    const compared = await after(1000);
    expect(compared.version).toBe(first.version);
    expect(oldest(compared)).toBe(first.at);
    const still = await after(BOUND - 2000);
    expect(oldest(still)).toBe(first.at);
  });
});
