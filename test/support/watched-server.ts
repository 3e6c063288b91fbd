import fc from 'fast-check';
import { nextSighting, type Sighting } from '../../src/storage/engine/change-signs.ts';
import {
  type ComparisonResult,
  createQuietTimes,
  createStabilityTracker,
  type Look,
  MAX_VISIBILITY_SKEW_MS,
  type WatchState,
} from '../../src/storage/freshness/quiet-times.ts';

/*
 * A model of a database server with a clock of milliseconds, on which the decisions are tested. It shows commits as
 * late or as early as a real server may, forgets them, and is looked at, compared and read while transactions are
 * running.
 */

const TABLES = 2;
/** The table of each object. */
export const OBJECTS = [0, 0, 1];
const MARGIN_MS = 1000;
export const SECOND = 1000;

/** A transaction that sets the value of an object. Each time is relative to the previous one. */
const writing = fc.record({
  kind: fc.constant('write' as const),
  object: fc.nat(OBJECTS.length - 1),
  value: fc.nat(1),
  /** Time from its start until its commit begins to show. */
  lasts: fc.oneof(fc.nat(40), fc.nat(SECOND - MAX_VISIBILITY_SKEW_MS), fc.nat(8 * SECOND)),
  /** Delays after it has moved the position until it can be read, and until its table shows the change. */
  visible: fc.oneof(fc.constant(0), fc.nat(MAX_VISIBILITY_SKEW_MS - 1)),
  noted: fc.oneof(fc.constant(0), fc.nat(MAX_VISIBILITY_SKEW_MS - 1)),
});
/** A commit in another database of the server. */
const other = fc.record({ kind: fc.constant('other' as const) });
/** The server forgets the time of the last change of a table. */
const forgetting = fc.record({ kind: fc.constant('forget' as const), table: fc.nat(TABLES - 1) });
const happening = fc.record({
  after: fc.oneof({ weight: 5, arbitrary: fc.nat(100) }, { weight: 2, arbitrary: fc.nat(2 * SECOND) }, fc.nat(8 * SECOND)),
  what: fc.oneof({ weight: 8, arbitrary: writing }, { weight: 2, arbitrary: other }, { weight: 1, arbitrary: forgetting }),
});
export const course = fc.record({
  happenings: fc.array(happening, { minLength: 1, maxLength: 25 }),
  /** The server's way of showing its commits: as MariaDB, as MySQL, or not at all. */
  shows: fc.constantFrom('transactions' as const, 'log' as const, 'nothing' as const),
  /** Bit mask of the tables whose time of change is unknown at first. */
  forgotten: fc.oneof(fc.constant(0), fc.nat(2 ** TABLES - 1)),
  pauses: fc.array(fc.integer({ min: 10, max: 120 }), { minLength: 5, maxLength: 40 }),
  /** Durations of the looks, which may see the signs at any moment between their start and their end. */
  latencies: fc.oneof(fc.constant([10]), fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 3, maxLength: 10 })),
  takes: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 3, maxLength: 10 }),
  seed: fc.nat(),
});
export type Course = typeof course extends fc.Arbitrary<infer T> ? T : never;

interface Commit {
  readonly object: number;
  readonly value: number;
  readonly visible: number;
  readonly noted: number;
  readonly over: number;
}

interface WatchedServer {
  readonly server: ReturnType<typeof createServer>;
  readonly random: () => number;
  /** The changes that have been taken over. */
  readonly journal: { readonly object: number; readonly number: number }[];
  /** For each object, the value that was taken over last. */
  readonly taken: readonly number[];
  /** When the last look begins, in milliseconds. */
  readonly end: number;
}

/**
 * Starts a course on a server that is looked at and compared all the time. `onLook` is called after each look, before a
 * comparison that is due begins.
 */
export function watchServer(
  { happenings, shows, forgotten, pauses, latencies, takes, seed }: Course,
  onLook: (look: Look, state: WatchState) => void,
): WatchedServer {
  const server = createServer(shows, forgotten);
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
    // A transaction that outlasts the time in which a note counts as young must not begin in the same second as another
    // one on the same table (decision 18).
    else if (what.lasts <= SECOND - MAX_VISIBILITY_SKEW_MS || begins.every((_, other) => other === one || noteOf(other) !== noteOf(one)))
      server.write(begun, what);
  }
  const end = at + 15 * SECOND;
  const random = createRandom(seed);
  const quiet = createQuietTimes();
  const taken = OBJECTS.map(() => 0);
  const journal: WatchedServer['journal'] = [];
  let isComparing = false;
  let sighting: Sighting | undefined;
  const stillness = createStabilityTracker();
  let known: (ReturnType<typeof server.signs> & ReturnType<typeof server.status>) | undefined;
  let [looks, comparisons] = [0, 0];

  const compare = (look: Look, { due }: WatchState): void => {
    if (!due || isComparing) return;
    isComparing = true;
    const objects = [...OBJECTS.keys()].filter((object) => due === 'everything' || look.unrecordedTables.includes(String(OBJECTS[object])));
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
      const compared: ComparisonResult = { beganAt: begun, endedAt: server.now(), writes: differing.length > 0 ? 1 : 0 };
      isComparing = false;
      ended(compared, server.now());
    });
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
      isKnown = known !== undefined && status.position === known.position && status.openedTables === known.openedTables;
    });
    // If the signs may have changed, they are queried, and afterwards the status once more.
    server.at(asked, () => (signs = isKnown ? known! : server.signs()));
    server.at(later(asked), () => {
      if (!isKnown) status = server.status();
    });
    server.at(began + lasts, () => {
      const shown = { ...signs, ...status };
      const times = { at: began, endedAt: server.now() };
      stillness.observe(shown.position, times.endedAt);
      known = shown.isSettled && stillness.wasStable(began) ? shown : undefined;
      sighting = nextSighting(sighting, shown, times, MARGIN_MS);
      const seen: Look = { ...shown, ...times, sighting, surprises: 0 };
      const standing = quiet.evaluate(seen);
      onLook(seen, standing);
      compare(seen, standing);
      looks += 1;
      server.at(began + lasts + pauses[looks % pauses.length]!, look);
    });
  };
  server.at(9 * SECOND, look);
  return { server, random, journal, taken, end };
}

export function createServer(shows: Course['shows'], forgotten: number) {
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
  const valuesOf = (object: number): number[] => commits.filter((commit) => commit.object === object).map(({ value }) => value);
  const raise = (by: number): void => {
    position += by;
  };
  return {
    now: () => now,
    at,
    /** Lets the next thing happen. Returns false if there is nothing left. */
    step: (): boolean => {
      const next = events.shift();
      if (!next) return false;
      now = next.at;
      next.work();
      return true;
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
      isSettled: notes.every((note) => note === undefined || note <= Math.floor(now / SECOND) - 2),
      unrecordedTables: [...notes.keys()].filter((table) => notes[table] === undefined).map(String),
    }),
    status: () => ({
      position: shows === 'nothing' ? undefined : String(position),
      positionStep: shows === 'transactions' ? 2 : undefined,
      openedTables: String(opened),
      uptime: Math.floor(now / SECOND),
    }),
    value: (object: number) => commits.findLast((commit) => commit.object === object)!.value,
    /** The values of an object so far, in the order in which they could be read. */
    valuesOf,
    /** The number of those values that could be read before a moment. */
    valuesUntil: (object: number, moment: number) => commits.filter((one) => one.object === object && one.visible < moment).length,
    /** Values that could be read at `from` or later, given that every completed commit is visible. */
    valuesSince: (object: number, from: number) => {
      const own = commits.filter((commit) => commit.object === object);
      const first = own.findLastIndex(({ over }) => over <= from);
      return new Set(own.slice(Math.max(0, first)).map(({ value }) => value));
    },
  };
}

/** Pseudo-random numbers from 0 to 1, excluding 1. */
function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
