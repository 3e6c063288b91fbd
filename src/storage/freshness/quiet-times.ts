import type { Sighting } from '../engine/change-signs.ts';

/*
 * Determines the times in which nothing was written, as far as looks and comparisons can prove it. This module never
 * queries a database: a model test runs it against a simulated server that shows its commits as late as permitted.
 *
 * A comparison is correct without any signs: changes that were committed, and therefore readable, before it began have
 * been taken over when it ends. The signs only show whether anything was committed since. They may change slightly
 * before the written rows can be read. So they prove that nothing was committed only if they had not changed for a
 * while when the comparison began.
 */

/** The observations of one look at the server. */
export interface Look {
  /** When the look began, in milliseconds. */
  readonly at: number;
  /** When the look ended. Its observations may be from any moment between the two. */
  readonly endedAt: number;
  readonly sighting: Sighting;
  /** The server's commit position; undefined if the server does not show it. */
  readonly position: string | undefined;
  /** Minimum amount by which each of our writing transactions increases the position; undefined if it is not known. */
  readonly positionStep: number | undefined;
  /**
   * Tables for which the server has no record of their last change: the record of a further change may be evicted
   * before it is seen.
   */
  readonly unrecordedTables: readonly string[];
  /**
   * Number of tables that the server has opened: it evicts no record without opening a table. Undefined if the server
   * does not show it.
   */
  readonly openedTables: string | undefined;
  /** Number of changes that were found by other means, without a sign. */
  readonly surprises: number;
}

/** The scope of a comparison: all tables, or only those whose record of the last change the server has evicted. */
export type Due = 'everything' | 'unrecorded';

/** The knowledge about changes by other writers at one look. */
export interface WatchState {
  /** Whether everything that other writers had committed when the look began has been taken over. */
  readonly isQuiet: boolean;
  /**
   * Whether everything they had committed up to a moment ago has been taken over (`MAX_STALE_MS`), except for changes
   * of which the server may have evicted the record. These are searched for repeatedly.
   */
  readonly isFresh: boolean;
  /** The comparison that should run now; undefined: none. */
  readonly due: Due | undefined;
  /** Whether data read between these moments may still be served, unless the journal has a change of them. */
  readonly mayServe: (from: number, until: number) => boolean;
  /**
   * Whether the data may become part of an answer that is made now, and is served as long as this state is valid. Data
   * that were read during a write may have existed only for a moment.
   */
  readonly mayBuildOn: (from: number, until: number) => boolean;
  /** Everything that other writers had committed, and that could be read, before this moment has been taken over. */
  readonly completeUntil: number;
}

/**
 * The outcome of a comparison. `writes`: number of transactions that took over the changes found; undefined if it is
 * not known.
 */
export interface ComparisonResult {
  readonly beganAt: number;
  readonly endedAt: number;
  readonly writes: number | undefined;
}

export interface QuietTimes {
  readonly evaluate: (look: Look) => WatchState;
  /**
   * Must be called when a due comparison begins, after a look. Returns a function to call when it ends, with
   * `undefined` if the comparison failed.
   */
  readonly compare: (due: Due) => (compared: ComparisonResult | undefined, at: number) => void;
}

/** Maximum time by which a commit may show in the signs before or after the written rows can be read. */
export const MAX_VISIBILITY_SKEW_MS = 400;
/** Time for which outdated data may be used after a change, in addition to the time for which a look is valid. */
export const MAX_STALE_MS = 800;
/** Duration of frequent comparisons after the start of a period of unrest. */
const FREQUENT_MS = 5000;
/**
 * Pause after a comparison, as a multiple of its duration: in the first seconds of unrest, afterwards, and for
 * comparisons of tables with evicted records.
 */
const PAUSE = { frequent: 0.5, usual: 5, unrecorded: 20 };
/** Minimum pause after a comparison that failed or that searched tables with evicted records. */
const MIN_PAUSE_MS = 200;
/**
 * Maximum time that the first comparison after a write waits for the position to stop changing. A comparison that
 * begins during a write proves nothing, so another one would have to follow, and cached data would become too old in
 * the meantime.
 */
const MAX_FIRST_WAIT_MS = 3 * MAX_VISIBILITY_SKEW_MS;

/** Evidence that nothing was written since a comparison. */
interface Proof {
  readonly look: Look;
  readonly beganAt: number;
  /** The value at which the position stays if no other process commits; undefined if it proves nothing. */
  readonly position: string | undefined;
  /** A look that began before this moment may have seen that position although another process moved it there. */
  readonly stableFrom: number;
  /** Whether the signs were settled when the comparison began. */
  readonly isSettled: boolean;
}

/**
 * The certainty that nothing was written. A change whose record the server has evicted can be found only by comparing.
 */
type Proven = 'fully' | 'by what shows' | undefined;

/** Creates the decision logic. Looks and comparisons must be reported in chronological order. */
export function createQuietTimes(): QuietTimes {
  const trackers = { numbers: createServerNumbers(), unrest: createUnrestLog(), schedule: createSchedule() };
  const { numbers, unrest, schedule } = trackers;
  let proof: Proof | undefined;
  let last: Look | undefined;
  let completeUntil = Number.NEGATIVE_INFINITY;
  const completeAt = (moment: number): void => {
    completeUntil = Math.max(completeUntil, moment);
  };

  const isProven = (look: Look): Proven => {
    if (!proof || proof.look.surprises !== look.surprises || proof.look.sighting.restarts !== look.sighting.restarts) return undefined;
    if (look.position !== undefined && look.position === proof.position && look.at >= proof.stableFrom) {
      // Nothing has been committed, so the current signs are the signs without any change.
      if (proof.isSettled && numbers.isSettled(look)) proof = { ...proof, look };
      // A commit moves the position before its rows can be read.
      completeAt(look.at);
      return 'fully';
    }
    if (!proof.isSettled || proof.look.sighting.firstSeen !== look.sighting.firstSeen) return undefined;
    const mayHaveEvicted =
      look.unrecordedTables.length > 0 && (look.openedTables === undefined || look.openedTables !== proof.look.openedTables);
    if (mayHaveEvicted) return 'by what shows';
    completeAt(look.at - MAX_VISIBILITY_SKEW_MS);
    return 'fully';
  };

  return {
    evaluate: (look) => {
      last = look;
      numbers.see(look);
      const proven = isProven(look);
      if (proven) unrest.end(look.at, proof!.beganAt);
      else unrest.begin(look.at);
      const wasQuiet = unrest.wasQuiet();
      return {
        isQuiet: proven === 'fully',
        isFresh: look.at - Math.max(schedule.beganAt(), unrest.quietAt()) <= MAX_STALE_MS,
        due: dueAt(look, proven, proof, trackers),
        mayServe: (from, until) => look.at - from <= MAX_STALE_MS || wasQuiet(from, until),
        mayBuildOn: wasQuiet,
        completeUntil,
      };
    },
    compare: (due) => {
      const look = last!;
      const [wasStable, provable, isSettled] = [numbers.wasStable(look), numbers.provable(look), numbers.isSettled(look)];
      return (result, at) => {
        schedule.end(due, { result, at, of: provable });
        // The signs cover the tables that were not compared.
        if (result) completeAt(due === 'everything' ? result.beganAt : look.at - MAX_VISIBILITY_SKEW_MS);
        const position = wasStable && result ? numbers.after(look, result) : undefined;
        const stableFrom = result?.writes === 0 ? Number.NEGATIVE_INFINITY : at;
        proof =
          result && (isSettled || position !== undefined) ? { look, beganAt: result.beganAt, position, stableFrom, isSettled } : undefined;
      };
    },
  };
}

interface Trackers {
  readonly numbers: ReturnType<typeof createServerNumbers>;
  readonly unrest: ReturnType<typeof createUnrestLog>;
  readonly schedule: ReturnType<typeof createSchedule>;
}

/** Returns the comparison that is due at a look. `proof`: the evidence that `proven` is based on. */
function dueAt(look: Look, proven: Proven, proof: Proof | undefined, { numbers, unrest, schedule }: Trackers): Due | undefined {
  // The position may have been trusted too early. Once the signs are settled, a comparison confirms the result.
  if (proven === 'fully') return !proof?.isSettled && numbers.isSettled(look) ? 'everything' : undefined;
  if (proven)
    return numbers.isSettled(look) && schedule.hasPaused('unrecorded', look.at, PAUSE.unrecorded, MIN_PAUSE_MS) ? 'unrecorded' : undefined;
  if (!schedule.hasPaused('everything', look.at, unrest.duration(look.at) < FREQUENT_MS ? PAUSE.frequent : PAUSE.usual)) return undefined;
  return schedule.isNew(numbers.provable(look)) || schedule.isLate(look.at, unrest.quietAt()) ? 'everything' : undefined;
}

/** Determines when the next comparison is due. */
function createSchedule() {
  let last: { readonly beganAt: number; readonly endedAt: number; readonly provable: string | undefined } = {
    beganAt: Number.NEGATIVE_INFINITY,
    endedAt: Number.NEGATIVE_INFINITY,
    provable: undefined,
  };
  /** Duration of the latest comparison of each scope. */
  const durations = { everything: 0, unrecorded: 0 };
  return {
    /** Returns when the latest completed comparison began. */
    beganAt: () => last.beganAt,
    /** Records the end of a comparison. `provable`: what it could prove. */
    end: (
      due: Due,
      { result, at, of: provable }: { readonly result: ComparisonResult | undefined; readonly at: number; readonly of: string | undefined },
    ): void => {
      // The first comparison creates the prints for later ones, and takes many times as long.
      if (result && last.beganAt > Number.NEGATIVE_INFINITY) durations[due] = result.endedAt - result.beganAt;
      if (!result) durations[due] = Math.max(durations[due], MIN_PAUSE_MS / PAUSE.frequent);
      last = result ? { beganAt: result.beganAt, endedAt: result.endedAt, provable } : { ...last, endedAt: at, provable: undefined };
    },
    /**
     * Whether a multiple of the duration of such a comparison has passed since the last one, and at least `least`
     * milliseconds.
     */
    hasPaused: (due: Due, at: number, factor: number, least = 0): boolean => at - last.endedAt >= Math.max(least, durations[due] * factor),
    /** Whether a comparison could prove something that the last one could not. */
    isNew: (provable: string | undefined): boolean => provable !== undefined && provable !== last.provable,
    /** Whether another comparison has to begin now, before cached data become too old. */
    isLate: (at: number, quietAt: number): boolean => {
      const latestStart = MAX_STALE_MS - 1.5 * durations.everything;
      return at >= (last.beganAt > quietAt ? last.beganAt + latestStart : quietAt + Math.max(latestStart, MAX_FIRST_WAIT_MS));
    },
  };
}

/** Tracks how long a number of the server has been unchanged. */
export interface StabilityTracker {
  /** Must be called with each look: the observed value, and when the look ended. */
  readonly observe: (value: string | undefined, endedAt: number) => void;
  /**
   * Whether the number had been unchanged for long enough before a look that all commits that moved it can be read and
   * show in the signs.
   */
  readonly wasStable: (at: number) => boolean;
}

/** Creates a tracker for one number. */
export function createStabilityTracker(): StabilityTracker {
  let current: { readonly value: string | undefined; readonly since: number } | undefined;
  return {
    observe: (value, endedAt) => {
      if (current?.value !== value) current = { value, since: endedAt };
    },
    wasStable: (at) => current?.value !== undefined && at - current.since >= MAX_VISIBILITY_SKEW_MS,
  };
}

/** Evaluates the numbers of the server: the commit position, and the number of tables it has opened. */
function createServerNumbers() {
  const position = createStabilityTracker();
  const openedTables = createStabilityTracker();
  let expected: { readonly position: bigint; readonly at: number } | undefined;
  /** True until a position is seen that is lower than expected. */
  let isStepKnown = true;

  const wasStable = ({ at }: Look): boolean => position.wasStable(at);
  const isSettled = ({ sighting, unrecordedTables, at }: Look): boolean =>
    sighting.isTrusted && (unrecordedTables.length === 0 || openedTables.wasStable(at));
  return {
    see: (look: Look): void => {
      position.observe(look.position, look.endedAt);
      openedTables.observe(look.openedTables, look.endedAt);
      if (expected && look.position !== undefined && look.at >= expected.at && BigInt(look.position) < expected.position)
        isStepKnown = false;
    },
    /** Whether everything that moved the position can be read. */
    wasStable,
    /**
     * Whether the signs, together with the number of opened tables, show everything that was committed before a look.
     */
    isSettled,
    /** Returns a description of what a comparison that begins after this look can prove. */
    provable: (look: Look): string | undefined => {
      const { surprises, sighting } = look;
      if (wasStable(look)) return `${surprises} at ${look.position} ${isSettled(look)}`;
      return isSettled(look) ? `${surprises} since ${sighting.firstSeen}` : undefined;
    },
    /** Returns the expected position after this number of our transactions, if no other process has committed. */
    after: ({ position: before, positionStep }: Look, { writes, endedAt }: ComparisonResult): string | undefined => {
      if (before === undefined || writes === 0) return before;
      if (writes === undefined || positionStep === undefined || !isStepKnown) return undefined;
      expected = { position: BigInt(before) + BigInt(writes * positionStep), at: endedAt };
      return String(expected.position);
    },
  };
}

/** Maximum number of periods of unrest that are kept. Older ones are merged into one. */
const MAX_PERIODS = 1000;

/** Records the periods in which something may have been written that was not taken over yet. */
function createUnrestLog() {
  let quietAt = Number.NEGATIVE_INFINITY;
  /** The current period of unrest, if any: its beginning, and when it was noticed. */
  let openPeriod: { readonly from: number; readonly noticedAt: number } | undefined;
  /** Past periods in chronological order. */
  let periods: readonly { readonly from: number; readonly until: number }[] = [];
  return {
    /** Returns the time of the latest look without unrest. */
    quietAt: () => quietAt,
    /** Returns how long ago the current unrest was noticed, in milliseconds. */
    duration: (at: number): number => (openPeriod ? at - openPeriod.noticedAt : 0),
    begin: (at: number): void => {
      openPeriod ??= { from: quietAt - MAX_VISIBILITY_SKEW_MS, noticedAt: at };
    },
    /** Ends the unrest. Nothing was written between `since`, when a comparison began, and the look at `at`. */
    end: (at: number, since: number): void => {
      if (openPeriod) {
        const all = [...periods, { from: openPeriod.from, until: since }];
        const [, second] = all;
        periods = all.length > MAX_PERIODS ? [{ from: Number.NEGATIVE_INFINITY, until: second!.until }, ...all.slice(2)] : all;
      }
      openPeriod = undefined;
      quietAt = at;
    },
    /** Returns a function that tells, from the current knowledge, whether nothing was written between two moments. */
    wasQuiet: (): ((from: number, until: number) => boolean) => {
      const [now, before] = [openPeriod, periods];
      return (from, until) => (!now || until <= now.from) && (before.findLast((time) => time.from < until)?.until ?? from) <= from;
    },
  };
}
