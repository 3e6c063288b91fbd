import { describe, expect, it } from '@jest/globals';
import { type ChangeSigns, nextSighting, type Sighting } from '../../src/storage/engine/change-signs.ts';

const HOUR = 3600;

type Seen = Partial<ChangeSigns> & { readonly at?: number };

/** Looks at these signs, one a second unless said otherwise, by a server that has been up for an hour at the first. */
function looks(seen: readonly Seen[]): Sighting[] {
  const sightings: Sighting[] = [];
  let at = 0;
  for (const { at: moment, ...signs } of seen) {
    at = moment ?? at + 1000;
    const found = {
      signs: ['a', 'b'],
      settled: true,
      forgotten: [false, false],
      position: undefined,
      step: undefined,
      opened: undefined,
      uptime: HOUR + Math.floor(at / 1000),
      ...signs,
    };
    sightings.push(nextSighting(sightings.at(-1), found, { at, ended: at }, 1000));
  }
  return sightings;
}

const epochs = (...seen: Seen[]) => looks(seen).map(({ epoch }) => epoch);
const trusted = (...seen: Seen[]) => looks(seen).map((sighting) => sighting.trusted);

describe('what a look at the signs of changes means', () => {
  it('is the same as long as they are', () => {
    expect(epochs({}, {}, {})).toEqual([1, 1, 1]);
  });

  it('is a change where one of them is another, whichever way it went', () => {
    expect(epochs({ signs: ['5', '5'] }, { signs: ['5', '4'] }, { signs: ['5', '-'] }, { signs: ['5', '5'] })).toEqual([1, 2, 3, 4]);
  });

  it('is a change where they came back after another look saw others', () => {
    const [first, , last] = epochs({ signs: ['1'] }, { signs: ['2'] }, { signs: ['1'] });
    expect(last).not.toBe(first);
  });

  it('is another one at each look that is not settled', () => {
    expect(epochs({}, { settled: false }, { settled: false }, {}, {})).toEqual([1, 2, 3, 3, 3]);
  });

  it('is trusted once signs that are settled have been seen for as long as rows may lag behind them', () => {
    expect(trusted({ at: 0 }, { at: 500 }, { at: 1000 }, { at: 1100 })).toEqual([false, false, true, true]);
    expect(trusted({ at: 0 }, { at: 5000, signs: ['new'] }, { at: 5900, signs: ['new'] }, { at: 6000, signs: ['new'] })).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(trusted({ at: 0, settled: false }, { at: 2000, settled: false }, { at: 2100 })).toEqual([false, false, true]);
  });

  it('is a change where the server was started again, though the signs are the same', () => {
    expect(epochs({ at: 0, uptime: 500 }, { at: 9000, uptime: 509 }, { at: 20_000, uptime: 3 }, { at: 21_000, uptime: 4 })).toEqual([
      1, 1, 2, 2,
    ]);
  });

  it('is no change where the server is slow to say for how long it has been running', () => {
    expect(epochs({ at: 0, uptime: 500 }, { at: 1000, uptime: 502 }, { at: 2900, uptime: 502 }, { at: 4000, uptime: 504 })).toEqual([
      1, 1, 1, 1,
    ]);
  });

  it('does without that where there is no server', () => {
    expect(epochs({ uptime: undefined }, { uptime: undefined })).toEqual([1, 1]);
  });
});
