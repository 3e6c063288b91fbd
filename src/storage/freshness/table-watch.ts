import { nextSighting, type Sighting } from '../engine/change-signs.ts';
import type { Database } from '../engine/database.ts';
import { createTableComparison } from './table-comparison.ts';
import { watchedNames } from './watched-tables.ts';

/** What a look at tables that others write to as well has found. */
export interface Watched {
  /** Another text after each change that is not in the journal. Undefined: nothing may be remembered at the moment. */
  readonly version: string | undefined;
  /** What was remembered before this moment is too old to be used. */
  readonly since: number;
  /** Whether everything that others had written when the look began has been taken over (`takeOverChanges`). */
  readonly isTakenOver: boolean;
}

export interface WatchOptions {
  /** For how many milliseconds, at most, something outdated may be used, even if the server never showed the change. */
  readonly bound: number;
  readonly clock: () => number;
  /**
   * Takes over what others have changed. Gives whether that was possible: while it is not, every sign of a change makes
   * all that is remembered old. Absent: it never is.
   */
  readonly takeOver?: TakeOver;
}

/** `whole`: whatever is known of changes so far is not to be relied on. */
export type TakeOver = (how: { readonly whole: boolean }) => Promise<boolean>;

/** A server shows a change at about the time when its rows can be read; which comes first is not documented. */
const MARGIN_MS = 1000;
/** For so long something remembered may be used while it is not known what a change was. */
const GRACE_MS = 600;
/** Where the server may have forgotten a change, and its log has moved, they are taken over again after so long. */
const AGAIN_MS = 500;
/** Changes are taken over again for the same signs after so many times what it took before. */
const REST = 5;

/** A look, and what it was about: what was seen since the same moment has the same signs. */
interface Look {
  readonly sighting: Sighting;
  readonly position: string | undefined;
  /** For how many milliseconds the position has been seen where it is: what moved it can be read by then. */
  readonly stillFor: number;
  readonly forgets: boolean;
  readonly surprises: number;
  readonly at: number;
}

/**
 * Watches the tables that WordPress writes to as well; each call looks once. Most changes are noticed by the signs
 * that the server shows (`Dialect.changeSigns`). What they were is found by comparing contents, and taken over; what
 * was remembered is used for a short while meanwhile. Where the server may show nothing, what was remembered expires
 * after `bound` milliseconds, unless comparing the contents of the tables has found no change since (decision 18).
 */
export function watchTables(db: Database, { bound, clock, takeOver }: WatchOptions): () => Promise<Watched> {
  const { dialect } = db;
  const tables = watchedNames.map(db.table);
  // Two rounds within the bound, because a round may just have passed the row that changes.
  const comparison = dialect.showsEveryChange ? undefined : createTableComparison(db, { within: bound / 2, clock });
  const margin = dialect.showsEveryChange ? 0 : MARGIN_MS;
  const taking = createTaking(takeOver, clock);
  let last: Sighting | undefined;
  let stood: { readonly position: string | undefined; readonly since: number } | undefined;

  const since = (at: number): number => {
    if (!comparison) return Number.NEGATIVE_INFINITY;
    const covered = comparison.coverage();
    return covered && covered.until > at - bound ? Math.min(covered.from, at - bound) : at - bound;
  };

  return oneAfterTheOther(async () => {
    const at = clock();
    const signs = await dialect.changeSigns(db, tables);
    const sighting = nextSighting(last, signs, at, margin);
    last = sighting;
    if (stood?.position !== signs.position) stood = { position: signs.position, since: at };
    const stillFor = at - (stood?.since ?? at);
    if (sighting.trusted) comparison?.advance(sighting.signs);
    const surprises = comparison?.surprises() ?? 0;
    const taken = taking.see({ sighting, position: signs.position, stillFor, forgets: signs.forgets, surprises, at });
    const version = taken.isPossible ? 'taken over' : `${sighting.epoch}.${surprises}`;
    const isUsable = taken.isPossible ? taken.isUsable : sighting.trusted;
    return { version: isUsable ? version : undefined, since: since(at), isTakenOver: taken.isPossible && taken.isDone };
  });
}

/** What is known of the changes of others at a look. */
interface Taken {
  readonly isPossible: boolean;
  /** Everything is taken over. */
  readonly isDone: boolean;
  /** It is, or was a moment ago. */
  readonly isUsable: boolean;
}

/** Decides at each look whether changes have to be taken over, and does so beside it. */
function createTaking(takeOver: WatchOptions['takeOver'], clock: () => number): { readonly see: (look: Look) => Taken } {
  let isPossible = false;
  let isRunning = false;
  /** What had been seen when they were taken over the last time. */
  let done: Look | undefined;
  let begun = Number.NEGATIVE_INFINITY;
  let took = 0;
  let doneAt = Number.NEGATIVE_INFINITY;

  const run = async (look: Look): Promise<void> => {
    isRunning = true;
    begun = clock();
    try {
      isPossible = (await takeOver?.({ whole: done?.surprises !== look.surprises })) ?? false;
      done = look;
    } catch {
      // It is tried again; until it succeeds nothing counts as taken over.
      done = undefined;
    }
    took = clock() - begun;
    isRunning = false;
  };

  const isSameRun = (look: Look): boolean => done?.sighting.firstSeen === look.sighting.firstSeen && done.surprises === look.surprises;
  /** A further change would show: in the signs, since they were settled then, or in the position. */
  const isDone = (look: Look): boolean => done !== undefined && isSameRun(look) && (done.sighting.trusted || stoodStill(done, look));

  /**
   * The log moves before what was written can be read: it must have stood still for a while before all was looked at.
   */
  const stoodStill = (before: Look, look: Look): boolean =>
    look.position !== undefined && look.position === before.position && before.stillFor >= MARGIN_MS;

  /** Whether something may have changed without a sign. What is known counts until it is looked at. */
  const mayBeMissing = (look: Look): boolean =>
    look.forgets && look.position !== done?.position && look.at - begun > Math.max(AGAIN_MS, REST * took);

  return {
    see: (look) => {
      const known = isDone(look);
      if (known) doneAt = look.at;
      const isDue =
        done === undefined || !isSameRun(look) || look.sighting.trusted || look.stillFor >= MARGIN_MS || look.at - begun > REST * took;
      const rested = look.at - begun > took;
      const isMissing = known ? mayBeMissing(look) : isDue && rested;
      if (takeOver && !isRunning && isMissing) void run(look);
      return { isPossible, isDone: known, isUsable: known || look.at - doneAt < GRACE_MS };
    },
  };
}

/** Runs work one at a time. Who asks while it runs waits for the next run, which is the same for all of them. */
function oneAfterTheOther<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const run = (): Promise<T> => {
    next = undefined;
    const mine = work().finally(() => {
      if (running === mine) running = undefined;
    });
    running = mine;
    return mine;
  };
  return () => {
    if (!running) return run();
    next ??= running.then(run, run);
    return next;
  };
}
