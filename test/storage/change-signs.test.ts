import { describe, expect, it } from '@jest/globals';
import { type ChangeSigns, nextSighting, type Sighting } from '../../src/storage/engine/change-signs.ts';
import { describeMysql, runScript } from '../support/databases.ts';
import { loadSite } from '../support/site.ts';

const HOUR = 3600;

type Seen = Partial<ChangeSigns> & { readonly at?: number };

/**
 * Runs one look per second (or at `at`) over these signs, on a server that has been up for an hour at the first look.
 */
function looks(seen: readonly Seen[]): Sighting[] {
  const sightings: Sighting[] = [];
  let at = 0;
  for (const { at: moment, ...signs } of seen) {
    at = moment ?? at + 1000;
    const found = {
      signs: ['a', 'b'],
      isSettled: true,
      unrecorded: [false, false],
      position: undefined,
      positionStep: undefined,
      openedTables: undefined,
      uptime: HOUR + Math.floor(at / 1000),
      ...signs,
    };
    sightings.push(nextSighting(sightings.at(-1), found, { at, endedAt: at }, 1000));
  }
  return sightings;
}

const epochs = (...seen: Seen[]) => looks(seen).map(({ epoch }) => epoch);
const trusted = (...seen: Seen[]) => looks(seen).map((sighting) => sighting.isTrusted);

describe('nextSighting', () => {
  it('keeps the epoch while the signs stay the same', () => {
    expect(epochs({}, {}, {})).toEqual([1, 1, 1]);
  });

  it('starts a new epoch whenever a sign differs, even if it returns to an earlier value', () => {
    expect(epochs({ signs: ['5', '5'] }, { signs: ['5', '4'] }, { signs: ['5', '-'] }, { signs: ['5', '5'] })).toEqual([1, 2, 3, 4]);
  });

  it('starts a new epoch when signs return to earlier values after a look saw others', () => {
    const [first, , last] = epochs({ signs: ['1'] }, { signs: ['2'] }, { signs: ['1'] });
    expect(last).not.toBe(first);
  });

  it('starts a new epoch at each look whose signs are not settled', () => {
    expect(epochs({}, { isSettled: false }, { isSettled: false }, {}, {})).toEqual([1, 2, 3, 3, 3]);
  });

  it('is trusted once settled signs have been seen for as long as rows may lag behind them', () => {
    expect(trusted({ at: 0 }, { at: 500 }, { at: 1000 }, { at: 1100 })).toEqual([false, false, true, true]);
    expect(trusted({ at: 0 }, { at: 5000, signs: ['new'] }, { at: 5900, signs: ['new'] }, { at: 6000, signs: ['new'] })).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(trusted({ at: 0, isSettled: false }, { at: 2000, isSettled: false }, { at: 2100 })).toEqual([false, false, true]);
  });

  it('starts a new epoch after a restart of the server, even if the signs are the same', () => {
    expect(epochs({ at: 0, uptime: 500 }, { at: 9000, uptime: 509 }, { at: 20_000, uptime: 3 }, { at: 21_000, uptime: 4 })).toEqual([
      1, 1, 2, 2,
    ]);
  });

  it('keeps the epoch if the server reports its uptime late', () => {
    expect(epochs({ at: 0, uptime: 500 }, { at: 1000, uptime: 502 }, { at: 2900, uptime: 502 }, { at: 4000, uptime: 504 })).toEqual([
      1, 1, 1, 1,
    ]);
  });

  it('keeps the epoch if there is no server to report an uptime', () => {
    expect(epochs({ uptime: undefined }, { uptime: undefined })).toEqual([1, 1]);
  });
});

describeMysql('signs', (open) => {
  it('are settled more than two seconds after a change, although the server cuts times to seconds', async () => {
    const db = await loadSite(await open());
    await runScript(db, "UPDATE wp_posts SET post_title = 'Other' WHERE ID = 38");
    const [row] = await db.ask<{ changed: number }>(
      "SELECT UNIX_TIMESTAMP(UPDATE_TIME) AS changed FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'wp_posts'",
    );
    const isSettledAfter = (seconds: number) =>
      db.transaction(async (trx) => {
        await trx.ask(`SET timestamp = ${Number(row?.changed) + seconds}`);
        const { isSettled } = await db.dialect.changeSigns(trx, { watched: ['wp_posts'], positionOnly: [] });
        await trx.ask('SET timestamp = DEFAULT');
        return isSettled;
      });
    // Two seconds may be 1.01 s: from the end of the second of the change to the beginning of the one after the next.
    expect(await isSettledAfter(2)).toBe(false);
    expect(await isSettledAfter(3)).toBe(true);
  });
});
