import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ChangeSigns } from '../../src/storage/engine/change-signs.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { MAX_VISIBILITY_SKEW_MS } from '../../src/storage/freshness/quiet-times.ts';
import { createRowRanges } from '../../src/storage/freshness/row-ranges.ts';
import { type TakeOver, type WatchResult, watchTables } from '../../src/storage/freshness/table-watch.ts';
import { describeDatabases, runScript } from '../support/databases.ts';
import { waitUntilIdle } from '../support/idle.ts';
import { loadSite } from '../support/site.ts';

const BOUND = 60_000;

/** The earliest time at which a value may have been read to be served; the test clock has whole milliseconds. */
function oldest({ mayServe, at }: WatchResult & { readonly at: number }): number {
  let [none, some] = [-1, at];
  while (some - none > 1) {
    const middle = Math.floor((some + none) / 2);
    if (mayServe({ from: middle, until: middle, oldest: middle })) some = middle;
    else none = middle;
  }
  return some;
}

describeDatabases('table watch', (open, engine) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    await loadSite(db);
  });

  /**
   * Starts a watch whose clock, and the uptime of the server, the test moves. Resolves once there is a version under
   * which values may be cached.
   */
  const start = async (takeOver?: TakeOver) => {
    let now = 1_000_000;
    const { changeSigns } = db.dialect;
    const uptime = engine === 'MySQL' ? () => Math.floor(now / 1000) : () => undefined;
    const dialect = {
      ...db.dialect,
      changeSigns: async (...asked: Parameters<typeof changeSigns>) => ({ ...(await changeSigns(...asked)), uptime: uptime() }),
    };
    const watch = watchTables({ ...db, dialect }, { maxStaleMs: BOUND, clock: () => now, ...(takeOver ? { takeOver } : {}) });
    const after = async (milliseconds: number) => {
      now += milliseconds;
      const watched = await watch.look();
      await waitUntilIdle(db);
      return { ...watched, at: now };
    };
    for (let watched = await after(1000); ; watched = await after(1000)) {
      if (watched.version !== undefined) return { after, first: watched };
      await sleep(200);
    }
  };

  it('confirms a comparison only if nothing was written meanwhile', async () => {
    const steps: string[] = [];
    const { after } = await start(async () => {
      steps.push('compared');
      if (steps.length === 1) await runScript(db, "UPDATE wp_posts SET post_title = 'Meanwhile' WHERE ID = 40");
      return { writes: 0, confirm: () => void steps.push('confirmed') };
    });
    while (!steps.includes('confirmed')) {
      await after(1000);
      await sleep(100);
    }
    expect(steps.slice(0, 2)).toEqual(['compared', 'compared']);
  });

  it('keeps the version while no sign changes', async () => {
    const { after, first } = await start();
    const later = [await after(100), await after(10_000), await after(100)];
    expect(later.map(({ version }) => version)).toEqual(later.map(() => first.version));
  });

  it('ends the version immediately after a change', async () => {
    const { after, first } = await start();
    await runScript(db, "UPDATE wp_terms SET name = 'Changed' WHERE term_id = 3");
    expect((await after(10)).version).not.toBe(first.version);
    if (engine === 'MySQL') expect((await after(10)).version).toBeUndefined();
  });

  if (engine === 'SQLite') {
    it('trusts SQLite, which shows every change, for an unlimited time', async () => {
      const { after } = await start();
      const before = db.queries();
      expect(oldest(await after(1000 * BOUND))).toBe(0);
      expect(db.queries() - before).toBe(1);
    });
    return;
  }

  describe('signs of the server', () => {
    const tables = () => ({ watched: [db.table('posts'), db.table('postmeta')], positionOnly: [db.table('options')] });
    const ask = (known?: ChangeSigns) => db.dialect.changeSigns(db, tables(), known);

    it('are not queried again while nothing has been committed', async () => {
      const { known, again, queries } = await askedTwice();
      expect(again).toMatchObject({ signs: ['one', 'other'], position: known.position });
      expect(queries).toBe(1);
      await runScript(db, "UPDATE wp_posts SET post_title = 'Changed' WHERE ID = 40");
      const before = db.queries();
      expect((await ask({ ...known, signs: ['one', 'other'] })).signs).not.toContain('one');
      expect(db.queries() - before).toBe(3);
      expect((await ask({ ...(await ask()), openedTables: 'others' })).signs).not.toContain('one');
    });

    /**
     * Two looks between which nothing was committed and no table was opened. It retries, since other tests write to
     * other databases of the same server.
     */
    async function askedTwice(): Promise<{ known: ChangeSigns; again: ChangeSigns; queries: number }> {
      for (;;) {
        const known = await ask();
        if (known.position === undefined) throw new Error('this server says nothing of its commits');
        const before = db.queries();
        const again = await ask({ ...known, signs: ['one', 'other'] });
        const queries = db.queries() - before;
        const { position, openedTables: opened } = await ask();
        if (position === known.position && opened === known.openedTables) return { known, again, queries };
      }
    }

    it('have no position if the server reports a position of 0', async () => {
      const asker = (lsn: string) => ({
        ask: async <Row>(sql: string) => (sql.startsWith('SHOW') ? [{ Variable_name: 'Innodb_lsn_current', Value: lsn }] : []) as Row[],
      });
      const positionAt = async (lsn: string) => (await db.dialect.changeSigns(asker(lsn), tables())).position;
      expect([await positionAt('1234'), await positionAt('0')]).toEqual(['1234', undefined]);
    });

    it('have no position if a table uses an engine whose changes do not move it', async () => {
      expect((await ask()).position).toBeDefined();
      await runScript(db, 'ALTER TABLE wp_postmeta ENGINE = MyISAM');
      try {
        expect(await ask()).toMatchObject({ position: undefined, positionStep: undefined });
      } finally {
        await runScript(db, 'ALTER TABLE wp_postmeta ENGINE = InnoDB');
      }
      expect(await ask()).toMatchObject({ countsPositionOnly: true });
      await runScript(db, 'ALTER TABLE wp_options ENGINE = MyISAM');
      try {
        expect(await ask()).toMatchObject({ position: expect.any(String), countsPositionOnly: false });
      } finally {
        await runScript(db, 'ALTER TABLE wp_options ENGINE = InnoDB');
      }
    });
  });

  it('names the state of the database, and keeps the name until the next commit', async () => {
    const { after } = await start(async () => ({ writes: 0, confirm: () => undefined }));
    const stateAfter = async (milliseconds: number) => (await after(milliseconds)).state;
    // Other tests write to other databases of the same server, which changes the state, too.
    const standing = async () => {
      for (let state = await stateAfter(5000); ; state = await stateAfter(MAX_VISIBILITY_SKEW_MS))
        if (state !== undefined && state === (await stateAfter(10))) return state;
    };
    const state = await standing();
    await runScript(db, "UPDATE wp_options SET option_value = 'Another' WHERE option_name = 'blogname'");
    expect([await stateAfter(10), await stateAfter(MAX_VISIBILITY_SKEW_MS - 1)]).toEqual([undefined, undefined]);
    expect(await standing()).not.toBe(state);
  });

  it('queries unsettled signs again from time to time while nothing is committed', async () => {
    let now = 1_000_000;
    const asked: boolean[] = [];
    const dialect: Database['dialect'] = {
      ...db.dialect,
      // Nothing is committed, and the signs stay unsettled.
      changeSigns: async (asker, tables, known) => {
        asked.push(known === undefined);
        return known ?? { ...(await db.dialect.changeSigns(asker, tables)), position: '1', isSettled: false };
      },
    };
    const watch = watchTables({ ...db, dialect }, { maxStaleMs: BOUND, clock: () => now });
    for (const milliseconds of [0, MAX_VISIBILITY_SKEW_MS, 1, 400, 100, 1]) {
      now += milliseconds;
      await watch.look();
    }
    expect(asked).toEqual([true, true, false, false, true, false]);
  });

  it('finds suspect posts only in the given tables', async () => {
    const ranges = createRowRanges(db, undefined);
    (await ranges.begin()).accept();
    ranges.confirm();
    await runScript(db, "UPDATE wp_posts SET post_title = 'Changed' WHERE ID = 40");
    await runScript(db, "UPDATE wp_postmeta SET meta_value = 'changed' WHERE post_id = 13 AND meta_key = '_VenueCity'");
    const among = async (names?: readonly string[]) => (await ranges.suspects(names))?.posts ?? [];
    expect(await among(['postmeta'])).toContain(13);
    expect(await among(['terms'])).toEqual([]);
    expect(await among()).toEqual(expect.arrayContaining([13, 40]));
  });

  it('reads single ranges only if the digest of many of them has changed', async () => {
    const ranges = createRowRanges(db, undefined);
    (await ranges.begin()).accept();
    ranges.confirm();
    const statements: string[] = [];
    const stop = db.driver.listen(({ sql }) => statements.push(sql));
    const told = async () => {
      const { posts, accept } = (await ranges.suspects())!;
      accept();
      ranges.confirm();
      return { posts, apart: statements.splice(0).filter((sql) => sql.includes('GROUP BY')).length };
    };
    expect(await told()).toEqual({ posts: [], apart: 0 });
    await runScript(db, "UPDATE wp_posts SET post_title = 'Other' WHERE ID = 40");
    // One statement for the ranges, and one for the posts in the ranges that differ.
    expect((await told()).apart).toBe(2);
    expect(await told()).toEqual({ posts: [], apart: 0 });
    stop();
  });

  it('lets no value be served beyond the bound without a comparison', async () => {
    const { after } = await start();
    const late = await after(10 * BOUND);
    expect(oldest(late)).toBe(late.at - BOUND);
  });

  it('lets values be served beyond the bound after a comparison without changes', async () => {
    const { after, first } = await start();
    await after(10 * BOUND);
    const compared = await after(1000);
    expect(compared.version).toBe(first.version);
    expect(oldest(compared)).toBe(first.at);
    const still = await after(BOUND - 2000);
    expect(oldest(still)).toBe(first.at);
  });
});
