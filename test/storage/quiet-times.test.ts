import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Look, MAX_STALE_MS, type WatchState } from '../../src/storage/freshness/quiet-times.ts';
import { type Course, course, OBJECTS, SECOND, watchServer } from '../support/watched-server.ts';

interface Entry {
  readonly object: number;
  readonly value: number;
  readonly from: number;
  readonly until: number;
  readonly count: number;
}

/** Runs a course and returns the errors; `claims` counts how often it was claimed that no change is missing. */
function run(one: Course): { wrong: string[]; claims: number; kept: number } {
  const wrong: string[] = [];
  let [claims, kept] = [0, 0];
  let entries: Entry[] = [];
  const mayForget = one.forgotten > 0 || one.happenings.some(({ what }) => what.kind === 'forget');

  const judge = ({ at: looked }: Look, standing: WatchState): void => {
    const count = journal.length;
    if (standing.isQuiet) {
      claims += 1;
      for (const object of OBJECTS.keys())
        if (!server.valuesSince(object, looked).has(taken[object]!)) wrong.push(`at ${looked}: object ${object} was not taken over`);
    }
    for (const object of OBJECTS.keys()) {
      const values = server.valuesOf(object).slice(Math.max(0, server.valuesUntil(object, standing.completeUntil) - 1));
      if (!values.includes(taken[object]!)) wrong.push(`at ${looked}: object ${object} was not taken over until ${standing.completeUntil}`);
    }
    // A change that the server forgets may stay hidden from the cache for longer; lists never miss it.
    if (!standing.isFresh || mayForget) return;
    const isOutdated = (one: Entry) => journal.some(({ object, number }) => object === one.object && number > one.count);
    for (const one of entries) {
      const { object, value, from, until } = one;
      if (!standing.mayServe(from, until) || isOutdated(one)) continue;
      kept += 1;
      if (!server.valuesSince(object, looked - MAX_STALE_MS).has(value))
        wrong.push(`at ${looked}: object ${object} of ${from} to ${until} is used`);
    }
    // A value is read some time after the look and cached once it is complete, or it is built from a cached value.
    const object = Math.floor(random() * OBJECTS.length);
    const known = entries.findLast((one) => one.object === object && standing.mayBuildOn(one.from, one.until) && !isOutdated(one));
    const part = random() < 0.5 ? known : undefined;
    const read = server.now() + Math.floor(random() * 60);
    server.at(read, () => {
      const value = part ? part.value : server.value(object);
      const until = read + Math.floor(random() * 100);
      server.at(until, () => entries.push({ object, value, from: looked, until, count }));
    });
    entries = entries.slice(-40);
  };

  const watched = watchServer(one, judge);
  const { server, random, journal, taken } = watched;
  while (server.step());
  return { wrong, claims, kept };
}

/** Number of random courses; MODEL_RUNS overrides it. */
const RUNS = Number(process.env.MODEL_RUNS ?? 2000);

describe('quiet times derived from looks and comparisons', () => {
  it('claim nothing false and serve no cached value for too long in random courses', () => {
    fc.assert(
      fc.property(course, (one) => {
        expect(run(one).wrong.slice(0, 2)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('claim nothing false if the server has forgotten a change that no look has seen', () => {
    const write = { kind: 'write' as const, object: 0, value: 1, lasts: 0, visible: 0, noted: 0 };
    const happenings = [
      { after: 6 * SECOND, what: write },
      { after: 1, what: { kind: 'forget' as const, table: 0 } },
    ];
    // With one of these pauses no look falls between the write and the forgetting.
    const found = Array.from({ length: 20 }, (_, seed) =>
      run({ happenings, shows: 'transactions', forgotten: 1, pauses: [100 + seed], latencies: [10], takes: [20], seed }),
    );
    expect(found.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(found.every(({ claims }) => claims > 0)).toBe(true);
  });

  it.each(['transactions', 'log', 'nothing'] as const)('are claimed soon after the last change on a server that shows %s', (shows) => {
    const write = { kind: 'write' as const, object: 0, value: 1, lasts: 10, visible: 0, noted: 0 };
    const { claims, kept, wrong } = run({
      happenings: [{ after: 0, what: write }],
      shows,
      forgotten: 0,
      pauses: [50],
      latencies: [10],
      takes: [20],
      seed: 1,
    });
    expect(wrong).toEqual([]);
    // A look takes place every 60 ms; only during a few seconds is nothing claimed.
    expect(claims).toBeGreaterThan((16 - 8) * (SECOND / 60));
    expect(kept).toBeGreaterThan(0);
  });

  it('are not delayed by a long first comparison, which only builds the baseline for later ones', () => {
    const write = { kind: 'write' as const, object: 0, value: 1, lasts: 10, visible: 0, noted: 0 };
    const { claims } = run({
      happenings: [{ after: 42 * SECOND, what: write }],
      shows: 'transactions',
      forgotten: 0,
      pauses: [50],
      latencies: [10],
      // The first comparison takes the second of these durations.
      takes: [20, 40 * SECOND, ...Array.from({ length: 1000 }, () => 20)],
      seed: 1,
    });
    // About two seconds pass between the end of the first comparison and the write, and fifteen after it.
    expect(claims).toBeGreaterThan(8 * (SECOND / 60));
  });
});
