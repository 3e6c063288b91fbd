import { type ChangeSigns, nextSighting, type Sighting } from '../engine/change-signs.ts';
import type { Database } from '../engine/database.ts';
import { createSharedRuns } from '../engine/shared-runs.ts';
import type { ReadTime } from '../journal/object-memory.ts';
import { createQuietTimes, createStabilityTracker, type Due, type Look, type WatchState } from './quiet-times.ts';
import { createTableComparison } from './table-comparison.ts';
import { signedTables, watchedNames } from './watched-tables.ts';

/** The result of a look at tables that other programs also write to. */
export interface WatchResult {
  /** Differs after each change that is not in the journal. Undefined: nothing may be cached at the moment. */
  readonly version: string | undefined;
  /** As in `Version`. */
  readonly mayServe: (read: ReadTime) => boolean;
  readonly mayBuildOn: (read: ReadTime) => boolean;
  readonly completeUntil: number;
  /** Whether everything that other writers had written when the look began has been taken over (`takeOverChanges`). */
  readonly isTakenOver: boolean;
  /**
   * A name of the data that could be read at that moment. If another look gives the same name, nothing was committed in
   * between, neither to these tables nor to those of settings. Undefined: the server does not show this, or recent
   * commits may not be readable yet.
   */
  readonly state: string | undefined;
}

export interface TableWatch {
  /** Looks once for all concurrent callers. */
  readonly look: () => Promise<WatchResult>;
  /**
   * Returns the result of a look that began at this moment of the clock or later: the latest one, or a new one. A long
   * computation uses this to avoid an observation from its beginning.
   */
  readonly lookSince: (at: number) => Promise<WatchResult>;
  /** Returns the result of the latest look. */
  readonly latest: () => WatchResult | undefined;
  /**
   * Waits until the take-over that runs in the background has ended. If it began before this moment of the clock, the
   * one that follows it is waited for as well, since changes may have been noticed in between.
   */
  readonly takeOverEnd: (at: number) => Promise<void>;
}

export interface WatchOptions {
  /** Maximum time for which outdated data may be used, in milliseconds, even if the server never shows the change. */
  readonly maxStaleMs: number;
  readonly clock: () => number;
  /**
   * Takes over changes by other writers. Undefined: this was not possible; until it is, every sign of a change
   * invalidates everything cached. Absent: it is never possible.
   */
  readonly takeOver?: TakeOver;
}

export type TakeOver = (how: {
  /** Whether to ignore everything known about changes so far, and compare everything. */
  readonly isFull: boolean;
  /** The tables in which something may have changed, in addition to those of terms; undefined: all tables. */
  readonly tables: readonly string[] | undefined;
}) => Promise<TakenOver | undefined>;

export interface TakenOver {
  /** Number of transactions that took over changes; undefined if it is not known. */
  readonly writes: number | undefined;
  /** Must be called if no other program wrote meanwhile: until then, the same posts are compared again. */
  readonly confirm: () => void;
}

/** Time for which a look is valid for callers whose requested moment is before it. */
const LOOK_VALID_MS = 1000;

/** Time for which signs that are not settled are reused if nothing has been committed. */
const UNSETTLED_MS = 500;

/**
 * Assumed difference between a change showing in the signs and its rows becoming readable. Which comes first is not
 * documented.
 */
const MARGIN_MS = 1000;

/**
 * Watches the tables that WordPress also writes to. Most changes are noticed by the signs that the server shows
 * (`Dialect.changeSigns`). The changes themselves are found by comparing contents, and are taken over; meanwhile cached
 * data are used for a short while (`quiet-times.ts`). If the server may fail to show changes, cached data expire after
 * `maxStaleMs` milliseconds, unless a comparison of the tables' contents has found no change since (decision 18).
 */
export function watchTables(db: Database, { maxStaleMs, clock, takeOver }: WatchOptions): TableWatch {
  const { dialect } = db;
  // Two rounds within the bound, because a round may just have passed the row that changes.
  const comparison = dialect.showsEveryChange ? undefined : createTableComparison(db, { periodMs: maxStaleMs / 2, clock });
  const margin = dialect.showsEveryChange ? 0 : MARGIN_MS;
  const backgroundTakeOver = createBackgroundTakeOver(takeOver, clock);
  const readSigns = createSignReader(db, clock);
  let last: Sighting | undefined;

  const since = (at: number): number => {
    if (!comparison) return Number.NEGATIVE_INFINITY;
    const coverage = comparison.coverage();
    return coverage && coverage.until > at - maxStaleMs ? Math.min(coverage.from, at - maxStaleMs) : at - maxStaleMs;
  };

  const look = async (): Promise<WatchResult> => {
    const { at, endedAt, era, signs, isSettled, uptime, unrecorded, isStable, countsPositionOnly, ...numbers } = await readSigns();
    const sighting = nextSighting(last, { signs, isSettled, uptime }, { at, endedAt }, margin);
    last = sighting;
    if (sighting.isTrusted) comparison?.advance(sighting.signs);
    const state = isStable && countsPositionOnly ? [era, sighting.restarts, numbers.position, numbers.openedTables].join(' ') : undefined;
    const surprises = comparison?.surprises() ?? 0;
    const oldestAllowed = since(at);
    const watchState = backgroundTakeOver.see({
      at,
      endedAt,
      sighting,
      surprises,
      unrecordedTables: watchedNames.filter((_, table) => unrecorded[table]),
      ...numbers,
    });
    if (!watchState) {
      const version = sighting.isTrusted ? `${sighting.epoch}.${surprises}` : undefined;
      const isYoung = (read: ReadTime) => read.oldest >= oldestAllowed;
      return { version, mayServe: isYoung, mayBuildOn: isYoung, completeUntil: at - margin, isTakenOver: false, state };
    }
    return {
      version: watchState.isFresh ? 'taken over' : undefined,
      mayServe: ({ from, until, oldest }) => oldest >= oldestAllowed && watchState.mayServe(from, until),
      mayBuildOn: ({ from, until, oldest }) => oldest >= oldestAllowed && watchState.mayBuildOn(from, until),
      completeUntil: watchState.completeUntil,
      isTakenOver: watchState.isQuiet,
      state,
    };
  };
  const looks = createSharedRuns<WatchResult>();
  let latest: { readonly at: number; readonly watched: WatchResult } | undefined;
  const lookNow = () =>
    looks('look', async () => {
      const at = clock();
      latest = { at, watched: await look() };
      return latest.watched;
    });
  return {
    look: lookNow,
    lookSince: async (at) => (latest && latest.at >= Math.max(at, clock() - LOOK_VALID_MS) ? latest.watched : lookNow()),
    latest: () => latest?.watched,
    takeOverEnd: (at) => backgroundTakeOver.whenEnded(at, lookNow),
  };
}

interface SignReading extends ChangeSigns, Pick<Look, 'at' | 'endedAt'> {
  /** Era of the server that was asked (`Cluster.era`). */
  readonly era: number;
  /** Whether everything that moved the position can be read. */
  readonly isStable: boolean;
}

/**
 * Creates the function that reads the signs of the server. It reads all of them only if something may have been
 * committed since.
 */
function createSignReader(db: Database, clock: () => number): () => Promise<SignReading> {
  const tables = signedTables(db);
  const positionTracker = createStabilityTracker();
  /** Signs that are valid until the given time, as long as nothing is committed. */
  let cached: { readonly signs: ChangeSigns; readonly era: number; readonly until: number } | undefined;

  return async () => {
    const [at, era] = [clock(), db.cluster.era()];
    const isKnown = cached?.era === era && at < cached.until;
    const signs = await db.dialect.changeSigns(db, tables, isKnown ? cached?.signs : undefined);
    const endedAt = clock();
    positionTracker.observe(signs.position, endedAt);
    const isStable = positionTracker.wasStable(at);
    if (!isStable) cached = undefined;
    else if (signs.signs !== cached?.signs.signs)
      cached = { signs, era, until: signs.isSettled ? Number.POSITIVE_INFINITY : at + UNSETTLED_MS };
    return { ...signs, at, endedAt, era, isStable };
  };
}

/** A take-over that runs in the background: when it began, and its end, which never rejects. */
interface RunningTakeOver {
  readonly beganAt: number;
  readonly end: Promise<void>;
}

/**
 * Takes over changes in the background whenever that is due. `see` returns the current knowledge; undefined if there is
 * none. `whenEnded`: as `takeOverEnd` of the watch, with a function for another look.
 */
function createBackgroundTakeOver(
  takeOver: WatchOptions['takeOver'],
  clock: () => number,
): {
  readonly see: (look: Look) => WatchState | undefined;
  readonly whenEnded: (at: number, look: () => Promise<unknown>) => Promise<void>;
} {
  const quiet = createQuietTimes();
  let isPossible = false;
  let running: RunningTakeOver | undefined;
  /** Number of changes without a sign at the time of the last full comparison. */
  let surprisesCompared: number | undefined;
  let last: { readonly endedAt: number; readonly confirm: () => void } | undefined;

  const run = async (take: TakeOver, { surprises, unrecordedTables }: Look, due: Due): Promise<void> => {
    const end = quiet.compare(due);
    const beganAt = clock();
    try {
      const result = await take({ isFull: surprisesCompared !== surprises, tables: due === 'unrecorded' ? unrecordedTables : undefined });
      isPossible = result !== undefined;
      const endedAt = clock();
      last = result && { endedAt, confirm: result.confirm };
      end(result && { beganAt, endedAt, writes: result.writes }, clock());
      if (result) surprisesCompared = surprises;
    } catch {
      // The attempt is repeated; until it succeeds, nothing counts as taken over.
      last = undefined;
      end(undefined, clock());
    }
  };

  return {
    see: (look) => {
      if (!takeOver) return undefined;
      const watchState = quiet.evaluate(look);
      if (last && watchState.isQuiet && watchState.completeUntil >= last.endedAt) {
        last.confirm();
        last = undefined;
      }
      if (!running && watchState.due) {
        const beganAt = clock();
        const end = run(takeOver, look, watchState.due).finally(() => {
          running = undefined;
        });
        running = { beganAt, end };
      }
      return isPossible ? watchState : undefined;
    },
    whenEnded: async (at, lookAgain) => {
      const current = running;
      await current?.end;
      if (!current || current.beganAt >= at) return;
      await lookAgain();
      await running?.end;
    },
  };
}
