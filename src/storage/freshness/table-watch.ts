import { type ChangeSigns, nextSighting, type Sighting } from '../engine/change-signs.ts';
import type { Database } from '../engine/database.ts';
import { createSharedRuns } from '../engine/shared-runs.ts';
import type { ReadTime } from '../journal/object-memory.ts';
import { createQuietTimes, createStillness, type Due, type Look, type WatchState } from './quiet-times.ts';
import { createTableComparison } from './table-comparison.ts';
import { settingsTables, watchedNames } from './watched-tables.ts';

/** What a look at tables that others write to as well has found. */
export interface Watched {
  /** Another text after each change that is not in the journal. Undefined: nothing may be remembered at the moment. */
  readonly version: string | undefined;
  /** As in `Version`. */
  readonly mayServe: (read: ReadTime) => boolean;
  readonly mayBuildOn: (read: ReadTime) => boolean;
  /** Whether everything that others had written when the look began has been taken over (`takeOverChanges`). */
  readonly isTakenOver: boolean;
  /**
   * A name of what could be read then: another look that gives the same one has seen that nobody committed anything in
   * between, to these tables or to those of settings. Undefined: the server does not tell, or what was committed lately
   * may not be readable yet.
   */
  readonly state: string | undefined;
}

export interface TableWatch {
  /** Looks once, for all who ask meanwhile. */
  readonly look: () => Promise<Watched>;
  /**
   * What a look has found that began at this moment of the clock or later: the latest one, or a new one. Whatever takes
   * long does not go by what was seen when it began.
   */
  readonly lookedSince: (at: number) => Promise<Watched>;
  /** What the latest look has found. */
  readonly latest: () => Watched | undefined;
}

export interface WatchOptions {
  /** For how many milliseconds, at most, something outdated may be used, even if the server never showed the change. */
  readonly bound: number;
  readonly clock: () => number;
  /**
   * Takes over what others have changed. Undefined: that was not possible; while it is not, every sign of a change
   * makes all that is remembered old. Absent: it never is.
   */
  readonly takeOver?: TakeOver;
}

export type TakeOver = (how: {
  /** Whether nothing that is known of changes so far is to be relied on. */
  readonly whole: boolean;
  /** The only tables in which something may have changed, besides those of terms; undefined: all of them. */
  readonly tables: readonly string[] | undefined;
}) => Promise<TakenOver | undefined>;

export interface TakenOver {
  /** With how many transactions; undefined: that is not known. */
  readonly writes: number | undefined;
}

/** A look counts for so long to those who asked before it. */
const LOOK_HOLDS_MS = 1000;

/** Signs that are not settled are asked for again after so long, if nobody has committed anything. */
const UNSETTLED_MS = 500;

/** A server shows a change at about the time when its rows can be read; which comes first is not documented. */
const MARGIN_MS = 1000;

/**
 * Watches the tables that WordPress writes to as well. Most changes are noticed by the signs that the server shows
 * (`Dialect.changeSigns`). What they were is found by comparing contents, and taken over; what was remembered is used
 * for a short while meanwhile (`quiet-times.ts`). Where the server may show nothing, what was remembered expires after
 * `bound` milliseconds, unless comparing the contents of the tables has found no change since (decision 18).
 */
export function watchTables(db: Database, { bound, clock, takeOver }: WatchOptions): TableWatch {
  const { dialect } = db;
  // Two rounds within the bound, because a round may just have passed the row that changes.
  const comparison = dialect.showsEveryChange ? undefined : createTableComparison(db, { within: bound / 2, clock });
  const margin = dialect.showsEveryChange ? 0 : MARGIN_MS;
  const taking = createTaking(takeOver, clock);
  const ask = createAsking(db, clock);
  let last: Sighting | undefined;

  const since = (at: number): number => {
    if (!comparison) return Number.NEGATIVE_INFINITY;
    const covered = comparison.coverage();
    return covered && covered.until > at - bound ? Math.min(covered.from, at - bound) : at - bound;
  };

  const look = async (): Promise<Watched> => {
    const { at, ended, era, signs, settled, uptime, forgotten, stands, countsBesides, ...shown } = await ask();
    const sighting = nextSighting(last, { signs, settled, uptime }, { at, ended }, margin);
    last = sighting;
    if (sighting.trusted) comparison?.advance(sighting.signs);
    const state = stands && countsBesides ? [era, sighting.starts, shown.position, shown.opened].join(' ') : undefined;
    const surprises = comparison?.surprises() ?? 0;
    const least = since(at);
    const known = taking.see({ at, ended, sighting, surprises, forgotten: watchedNames.filter((_, table) => forgotten[table]), ...shown });
    if (!known) {
      const version = sighting.trusted ? `${sighting.epoch}.${surprises}` : undefined;
      const isYoung = (read: ReadTime) => read.oldest >= least;
      return { version, mayServe: isYoung, mayBuildOn: isYoung, isTakenOver: false, state };
    }
    return {
      version: known.isFresh ? 'taken over' : undefined,
      mayServe: ({ from, until, oldest }) => oldest >= least && known.mayServe(from, until),
      mayBuildOn: ({ from, until, oldest }) => oldest >= least && known.mayBuildOn(from, until),
      isTakenOver: known.isQuiet,
      state,
    };
  };
  const looks = createSharedRuns<Watched>();
  let latest: { readonly at: number; readonly watched: Watched } | undefined;
  const lookNow = () =>
    looks('look', async () => {
      const at = clock();
      const watched = await look();
      latest = { at, watched };
      return watched;
    });
  return {
    look: lookNow,
    lookedSince: async (at) => (latest && latest.at >= Math.max(at, clock() - LOOK_HOLDS_MS) ? latest.watched : lookNow()),
    latest: () => latest?.watched,
  };
}

interface Shown extends ChangeSigns, Pick<Look, 'at' | 'ended'> {
  /** Of the server that was asked (`Cluster.era`). */
  readonly era: number;
  /** Whether everything that has moved the position can be read. */
  readonly stands: boolean;
}

/** Asks the server for its signs: for all of them only if somebody may have committed something since. */
function createAsking(db: Database, clock: () => number): () => Promise<Shown> {
  const tables = { watched: watchedNames.map(db.table), besides: settingsTables.map(db.table) };
  const stillness = createStillness();
  /** What all looks until then will see, as long as nobody commits anything. */
  let known: { readonly signs: ChangeSigns; readonly era: number; readonly until: number } | undefined;

  return async () => {
    const [at, era] = [clock(), db.cluster.era()];
    const isKnown = known?.era === era && at < known.until;
    const signs = await db.dialect.changeSigns(db, tables, isKnown ? known?.signs : undefined);
    const ended = clock();
    stillness.see(signs.position, ended);
    const stands = stillness.hasStood(at);
    if (!stands) known = undefined;
    else if (signs.signs !== known?.signs.signs)
      known = { signs, era, until: signs.settled ? Number.POSITIVE_INFINITY : at + UNSETTLED_MS };
    return { ...signs, at, ended, era, stands };
  };
}

/** Takes over changes, beside the looks, whenever it is time. `see` gives what is known; undefined: nothing is. */
function createTaking(takeOver: WatchOptions['takeOver'], clock: () => number): { readonly see: (look: Look) => WatchState | undefined } {
  const quiet = createQuietTimes();
  let isPossible = false;
  let isRunning = false;
  /** How many changes without a sign were known of when everything was compared. */
  let whole: number | undefined;

  const run = async (take: TakeOver, { surprises, forgotten }: Look, due: Due): Promise<void> => {
    isRunning = true;
    const ended = quiet.compare(due);
    const begun = clock();
    try {
      const taken = await take({ whole: whole !== surprises, tables: due === 'forgotten' ? forgotten : undefined });
      isPossible = taken !== undefined;
      ended(taken && { begun, ended: clock(), writes: taken.writes }, clock());
      if (taken) whole = surprises;
    } catch {
      // It is tried again; until it succeeds nothing counts as taken over.
      ended(undefined, clock());
    }
    isRunning = false;
  };

  return {
    see: (look) => {
      if (!takeOver) return undefined;
      const standing = quiet.see(look);
      if (!isRunning && standing.due) void run(takeOver, look, standing.due);
      return isPossible ? standing : undefined;
    },
  };
}
