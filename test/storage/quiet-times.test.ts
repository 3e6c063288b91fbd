import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nextSighting, type Sighting } from '../../src/storage/engine/change-signs.ts';
import {
  type Compared,
  createQuietTimes,
  createStillness,
  LATE_MS,
  type Look,
  STALE_MS,
  type WatchState,
} from '../../src/storage/freshness/quiet-times.ts';

/*
 * A server beside which the decisions are made, by a clock of milliseconds. It shows commits as late, or as early, as a
 * server may; forgets them; and is looked at, compared and read while transactions are under way.
 */

const TABLES = 2;
/** Objects, by the table they are in. */
const OBJECTS = [0, 0, 1];
const MARGIN_MS = 1000;
const SECOND = 1000;

/** A transaction that gives an object another value. Times count from the one before. */
const writing = fc.record({
  kind: fc.constant('write' as const),
  object: fc.nat(OBJECTS.length - 1),
  value: fc.nat(1),
  /** From its begin to when its commit begins to show. */
  lasts: fc.oneof(fc.nat(40), fc.nat(SECOND - LATE_MS), fc.nat(8 * SECOND)),
  /** When it can be read, and when its table says so, after it has moved the position. */
  visible: fc.oneof(fc.constant(0), fc.nat(LATE_MS - 1)),
  noted: fc.oneof(fc.constant(0), fc.nat(LATE_MS - 1)),
});
/** Something in another database. */
const other = fc.record({ kind: fc.constant('other' as const) });
/** The server forgets when a table was changed. */
const forgetting = fc.record({ kind: fc.constant('forget' as const), table: fc.nat(TABLES - 1) });
const happening = fc.record({
  after: fc.oneof({ weight: 5, arbitrary: fc.nat(100) }, { weight: 2, arbitrary: fc.nat(2 * SECOND) }, fc.nat(8 * SECOND)),
  what: fc.oneof({ weight: 8, arbitrary: writing }, { weight: 2, arbitrary: other }, { weight: 1, arbitrary: forgetting }),
});
const course = fc.record({
  happenings: fc.array(happening, { minLength: 1, maxLength: 25 }),
  /** Of MariaDB, MySQL, or a server that says nothing of its commits. */
  shows: fc.constantFrom('transactions' as const, 'log' as const, 'nothing' as const),
  /** Tables that have no note at first. */
  forgotten: fc.oneof(fc.constant(0), fc.nat(2 ** TABLES - 1)),
  pauses: fc.array(fc.integer({ min: 10, max: 120 }), { minLength: 5, maxLength: 40 }),
  /** How long looks last: whatever they see, they may see at their begin or at their end. */
  latencies: fc.oneof(fc.constant([10]), fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 3, maxLength: 10 })),
  takes: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 3, maxLength: 10 }),
  seed: fc.nat(),
});
type Course = typeof course extends fc.Arbitrary<infer T> ? T : never;

interface Commit {
  readonly object: number;
  readonly value: number;
  readonly visible: number;
  readonly noted: number;
  readonly over: number;
}

interface Entry {
  readonly object: number;
  readonly value: number;
  readonly from: number;
  readonly until: number;
  readonly count: number;
}

/** Runs a course, and gives what was wrong; `claims`: how often nothing was said to be missing. */
function run({ happenings, shows, forgotten, pauses, latencies, takes, seed }: Course): { wrong: string[]; claims: number; kept: number } {
  const server = createServer(shows, forgotten);
  const wrong: string[] = [];
  let [claims, kept] = [0, 0];
  let at = 10 * SECOND;
  const begins = happenings.map(({ after }) => (at += after));
  const noteOf = (one: number) => {
    const { what } = happenings[one]!;
    return what.kind === 'write' ? `${OBJECTS[what.object]} ${Math.floor(begins[one]! / SECOND)}` : undefined;
  };
  for (const [one, { what }] of happenings.entries()) {
    const begun = begins[one]!;
    if (what.kind === 'other') server.at(begun, server.commitElsewhere);
    else if (what.kind === 'forget') server.at(begun, () => server.forget(what.table));
    // One that lasts for longer than a note is young must not begin in the second of another one (decision 18).
    else if (what.lasts <= SECOND - LATE_MS || begins.every((_, other) => other === one || noteOf(other) !== noteOf(one)))
      server.write(begun, what);
  }
  const end = at + 15 * SECOND;
  const random = createRandom(seed);
  const mayForget = forgotten > 0 || happenings.some(({ what }) => what.kind === 'forget');
  const quiet = createQuietTimes();
  const taken = OBJECTS.map(() => 0);
  const journal: { readonly object: number; readonly number: number }[] = [];
  let entries: Entry[] = [];
  let isComparing = false;
  let sighting: Sighting | undefined;
  const stillness = createStillness();
  let known: (ReturnType<typeof server.signs> & ReturnType<typeof server.status>) | undefined;
  let [looks, comparisons] = [0, 0];

  const compare = (look: Look, { due }: WatchState): void => {
    if (!due || isComparing) return;
    isComparing = true;
    const objects = [...OBJECTS.keys()].filter((object) => due === 'everything' || look.forgotten.includes(String(OBJECTS[object])));
    const ended = quiet.compare(due);
    const begun = server.now();
    comparisons += 1;
    const lasts = takes[comparisons % takes.length]!;
    const found = [...taken];
    for (const object of objects) server.at(begun + Math.floor(random() * lasts), () => (found[object] = server.value(object)));
    server.at(begun + lasts, () => {
      const differing = objects.filter((object) => found[object] !== taken[object]);
      for (const object of differing) {
        taken[object] = found[object]!;
        journal.push({ object, number: journal.length + 1 });
      }
      if (differing.length > 0) server.commitOwn();
      const compared: Compared = { begun, ended: server.now(), writes: differing.length > 0 ? 1 : 0 };
      isComparing = false;
      ended(compared, server.now());
    });
  };

  const judge = ({ at: looked }: Look, standing: WatchState): void => {
    const count = journal.length;
    if (standing.isQuiet) {
      claims += 1;
      for (const object of OBJECTS.keys())
        if (!server.valuesSince(object, looked).has(taken[object]!)) wrong.push(`at ${looked}: object ${object} was not taken over`);
    }
    // What the server forgets may stay hidden from what is remembered for longer; lists never miss it.
    if (!standing.isFresh || mayForget) return;
    const isOutdated = (one: Entry) => journal.some(({ object, number }) => object === one.object && number > one.count);
    for (const one of entries) {
      const { object, value, from, until } = one;
      if (!standing.mayServe(from, until) || isOutdated(one)) continue;
      kept += 1;
      if (!server.valuesSince(object, looked - STALE_MS).has(value))
        wrong.push(`at ${looked}: object ${object} of ${from} to ${until} is used`);
    }
    // Something is read, a while after the look, and remembered when it is put together; or it is made of something
    // that is remembered.
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

  const look = (): void => {
    const began = server.now();
    if (began > end) return;
    const lasts = latencies[looks % latencies.length]!;
    const later = (moment: number) => moment + Math.floor(random() * (began + lasts - moment));
    const first = later(began);
    const asked = later(first);
    let isKnown = false;
    let signs = server.signs();
    let status = server.status();
    server.at(first, () => {
      status = server.status();
      isKnown = known !== undefined && status.position === known.position && status.opened === known.opened;
    });
    // Signs that may be others are asked for, and then the other numbers once more.
    server.at(asked, () => (signs = isKnown ? known! : server.signs()));
    server.at(later(asked), () => {
      if (!isKnown) status = server.status();
    });
    server.at(began + lasts, () => {
      const shown = { ...signs, ...status };
      const times = { at: began, ended: server.now() };
      stillness.see(shown.position, times.ended);
      known = shown.settled && stillness.hasStood(began) ? shown : undefined;
      sighting = nextSighting(sighting, shown, times, MARGIN_MS);
      const seen: Look = { ...shown, ...times, sighting, surprises: 0 };
      const standing = quiet.see(seen);
      judge(seen, standing);
      compare(seen, standing);
      looks += 1;
      server.at(began + lasts + pauses[looks % pauses.length]!, look);
    });
  };
  server.at(9 * SECOND, look);
  server.run();
  return { wrong, claims, kept };
}

function createServer(shows: Course['shows'], forgotten: number) {
  let now = 0;
  let order = 0;
  const events: { readonly at: number; readonly order: number; readonly work: () => void }[] = [];
  const commits: Commit[] = OBJECTS.map((_, object) => ({ object, value: 0, visible: 0, noted: 0, over: 0 }));
  const notes: (number | undefined)[] = Array.from({ length: TABLES }, (_, table) => (forgotten & (2 ** table) ? undefined : 0));
  let [position, opened] = [100, 10];
  const at = (when: number, work: () => void): void => {
    order += 1;
    events.push({ at: when, order, work });
    events.sort((one, another) => one.at - another.at || one.order - another.order);
  };
  const raise = (by: number): void => {
    position += by;
  };
  return {
    now: () => now,
    at,
    run: () => {
      for (let next = events.shift(); next; next = events.shift()) {
        now = next.at;
        next.work();
      }
    },
    write: (begun: number, { object, value, lasts, visible, noted }: Omit<Commit, 'over'> & { readonly lasts: number }) => {
      const shown = begun + lasts;
      const commit = { object, value, visible: shown + visible, noted: shown + noted, over: shown + Math.max(visible, noted) };
      at(begun, () => raise(1));
      at(shown, () => raise(1));
      at(commit.visible, () => commits.push(commit));
      at(commit.noted, () => {
        notes[OBJECTS[object]!] = Math.floor(begun / SECOND);
      });
    },
    commitElsewhere: () => raise(2),
    commitOwn: () => raise(shows === 'transactions' ? 2 : 7),
    forget: (table: number) => {
      notes[table] = undefined;
      opened += 1;
    },
    signs: () => ({
      signs: notes.map((note) => String(note)),
      settled: notes.every((note) => note === undefined || note <= Math.floor(now / SECOND) - 2),
      forgotten: [...notes.keys()].filter((table) => notes[table] === undefined).map(String),
    }),
    status: () => ({
      position: shows === 'nothing' ? undefined : String(position),
      step: shows === 'transactions' ? 2 : undefined,
      opened: String(opened),
      uptime: Math.floor(now / SECOND),
    }),
    value: (object: number) => commits.findLast((commit) => commit.object === object)!.value,
    /** What could be read at `from` or later, by who was told of each commit that was over. */
    valuesSince: (object: number, from: number) => {
      const own = commits.filter((commit) => commit.object === object);
      const first = own.findLastIndex(({ over }) => over <= from);
      return new Set(own.slice(Math.max(0, first)).map(({ value }) => value));
    },
  };
}

/** Numbers from 0 up to, but not, 1. */
function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** More with MODEL_RUNS. */
const RUNS = Number(process.env.MODEL_RUNS ?? 2000);

describe('what looks and comparisons can prove', () => {
  it('is never more than what is so, and nothing is used for longer than it may be', () => {
    fc.assert(
      fc.property(course, (one) => {
        expect(run(one).wrong.slice(0, 2)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('is nothing where the server may have forgotten a change that no look has seen', () => {
    const write = { kind: 'write' as const, object: 0, value: 1, lasts: 0, visible: 0, noted: 0 };
    const happenings = [
      { after: 6 * SECOND, what: write },
      { after: 1, what: { kind: 'forget' as const, table: 0 } },
    ];
    // At one of these times no look falls between both.
    const found = Array.from({ length: 20 }, (_, seed) =>
      run({ happenings, shows: 'transactions', forgotten: 1, pauses: [100 + seed], latencies: [10], takes: [20], seed }),
    );
    expect(found.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(found.every(({ claims }) => claims > 0)).toBe(true);
  });

  it.each(['transactions', 'log', 'nothing'] as const)(
    'is that nothing was written, soon after the last change, where the server shows %s',
    (shows) => {
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
      // A look takes place each 60 ms; for some seconds at most nothing is claimed.
      expect(claims).toBeGreaterThan((16 - 8) * (SECOND / 60));
      expect(kept).toBeGreaterThan(0);
    },
  );

  it('waits no longer after a first comparison that took long, as it makes what later ones compare with', () => {
    const write = { kind: 'write' as const, object: 0, value: 1, lasts: 10, visible: 0, noted: 0 };
    const { claims } = run({
      happenings: [{ after: 42 * SECOND, what: write }],
      shows: 'transactions',
      forgotten: 0,
      pauses: [50],
      latencies: [10],
      // The first one is the second of these.
      takes: [20, 40 * SECOND, ...Array.from({ length: 1000 }, () => 20)],
      seed: 1,
    });
    // About two seconds pass between the end of the first one and the write, and fifteen after it.
    expect(claims).toBeGreaterThan(8 * (SECOND / 60));
  });
});
