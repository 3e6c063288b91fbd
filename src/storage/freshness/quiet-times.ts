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
  readonly ended: number;
  readonly sighting: Sighting;
  /** The server's commit position; undefined if the server does not show it. */
  readonly position: string | undefined;
  /** Minimum amount by which each of our writing transactions increases the position; undefined if it is not known. */
  readonly step: number | undefined;
  /**
   * Tables for which the server has no record of their last change: the record of a further change may be evicted
   * before it is seen.
   */
  readonly forgotten: readonly string[];
  /**
   * Number of tables that the server has opened: it evicts no record without opening a table. Undefined if the server
   * does not show it.
   */
  readonly opened: string | undefined;
  /** Number of changes that were found by other means, without a sign. */
  readonly surprises: number;
}

/** The scope of a comparison: all tables, or only those whose record of the last change the server has evicted. */
export type Due = 'everything' | 'forgotten';

/** The knowledge about changes by other writers at one look. */
export interface WatchState {
  /** Whether everything that other writers had committed when the look began has been taken over. */
  readonly isQuiet: boolean;
  /**
   * Whether everything that they had committed up to a moment ago has been taken over (`STALE_MS`), except for changes
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
}

/**
 * The outcome of a comparison. `writes`: number of transactions that took over the changes found; undefined if it is
 * not known.
 */
export interface Compared {
  readonly begun: number;
  readonly ended: number;
  readonly writes: number | undefined;
}

export interface QuietTimes {
  readonly see: (look: Look) => WatchState;
  /**
   * Must be called when a due comparison begins, after a look. Returns a function to call when it ends, with
   * `undefined` if the comparison failed.
   */
  readonly compare: (due: Due) => (compared: Compared | undefined, at: number) => void;
}

/** Maximum time by which a commit may show in the signs before or after the written rows can be read. */
export const LATE_MS = 400;
/** Time for which outdated data may be used after a change, in addition to the time for which a look is valid. */
export const STALE_MS = 800;
/** Duration of frequent comparisons after the start of a period of unrest. */
const CLOSELY_MS = 5000;
/**
 * Pause after a comparison, as a multiple of its duration: in the first seconds of unrest, afterwards, and for
 * comparisons of tables with evicted records.
 */
const REST = { closely: 0.5, later: 5, forgetful: 20 };
/** Minimum pause after a comparison that failed or that searched tables with evicted records. */
const SHORTEST_MS = 200;
/**
 * Maximum time that the first comparison after a write waits for the position to stop changing. A comparison that
 * begins during a write proves nothing, so another one would have to follow, and cached data would become too old in
 * the meantime.
 */
const FIRST_MS = 3 * LATE_MS;

/** Evidence that nothing was written since a comparison. */
interface Proof {
  readonly look: Look;
  readonly begun: number;
  /** The value at which the position stays if no other process commits; undefined if it proves nothing. */
  readonly position: string | undefined;
  /** A look that began before this moment may have seen that position although another process moved it there. */
  readonly standsFrom: number;
  /** Whether the signs were settled when the comparison began. */
  readonly bySigns: boolean;
}

/**
 * The certainty that nothing was written. A change whose record the server has evicted can be found only by comparing.
 */
type Proven = 'fully' | 'by what shows' | undefined;

/** Creates the decision logic. Looks and comparisons must be reported in chronological order. */
export function createQuietTimes(): QuietTimes {
  const numbers = createNumbers();
  const unrest = createUnrest();
  const schedule = createSchedule();
  let proof: Proof | undefined;
  let last: Look | undefined;

  const isProven = (look: Look): Proven => {
    if (!proof || proof.look.surprises !== look.surprises || proof.look.sighting.starts !== look.sighting.starts) return undefined;
    if (look.position !== undefined && look.position === proof.position && look.at >= proof.standsFrom) {
      // Nothing has been committed, so the current signs are the signs without any change.
      if (proof.bySigns && numbers.isSettled(look)) proof = { ...proof, look };
      return 'fully';
    }
    if (!proof.bySigns || proof.look.sighting.firstSeen !== look.sighting.firstSeen) return undefined;
    const forgot = look.forgotten.length > 0 && (look.opened === undefined || look.opened !== proof.look.opened);
    return forgot ? 'by what shows' : 'fully';
  };

  const dueAt = (look: Look, proven: Proven): Due | undefined => {
    // The position may have been trusted too early. Once the signs are settled, a comparison confirms the result.
    if (proven === 'fully') return !proof!.bySigns && numbers.isSettled(look) ? 'everything' : undefined;
    if (proven)
      return numbers.isSettled(look) && schedule.hasRested('forgotten', look.at, REST.forgetful, SHORTEST_MS) ? 'forgotten' : undefined;
    if (!schedule.hasRested('everything', look.at, unrest.duration(look.at) < CLOSELY_MS ? REST.closely : REST.later)) return undefined;
    return schedule.isNew(numbers.provable(look)) || schedule.isLate(look.at, unrest.quietAt()) ? 'everything' : undefined;
  };

  return {
    see: (look) => {
      last = look;
      numbers.see(look);
      const proven = isProven(look);
      if (proven) unrest.end(look.at, proof!.begun);
      else unrest.begin(look.at);
      const wasQuiet = unrest.wasQuiet();
      return {
        isQuiet: proven === 'fully',
        isFresh: look.at - Math.max(schedule.begun(), unrest.quietAt()) <= STALE_MS,
        due: dueAt(look, proven),
        mayServe: (from, until) => look.at - from <= STALE_MS || wasQuiet(from, until),
        mayBuildOn: wasQuiet,
      };
    },
    compare: (due) => {
      const look = last!;
      const [hasStood, of, bySigns] = [numbers.hasStood(look), numbers.provable(look), numbers.isSettled(look)];
      return (result, at) => {
        schedule.ended(due, { result, at, of });
        const reached = hasStood && result ? numbers.after(look, result) : undefined;
        const standsFrom = result?.writes === 0 ? Number.NEGATIVE_INFINITY : at;
        proof =
          result && (bySigns || reached !== undefined) ? { look, begun: result.begun, position: reached, standsFrom, bySigns } : undefined;
      };
    },
  };
}

/** Determines when the next comparison is due. */
function createSchedule() {
  let last: { readonly begun: number; readonly ended: number; readonly of: string | undefined } = {
    begun: Number.NEGATIVE_INFINITY,
    ended: Number.NEGATIVE_INFINITY,
    of: undefined,
  };
  /** Duration of the latest comparison of each scope. */
  const took = { everything: 0, forgotten: 0 };
  return {
    /** Returns when the latest completed comparison began. */
    begun: () => last.begun,
    /** Records the end of a comparison. `of`: what it could prove. */
    ended: (
      due: Due,
      { result, at, of }: { readonly result: Compared | undefined; readonly at: number; readonly of: string | undefined },
    ): void => {
      // The first comparison creates the prints for later ones, and takes many times as long.
      if (result && last.begun > Number.NEGATIVE_INFINITY) took[due] = result.ended - result.begun;
      if (!result) took[due] = Math.max(took[due], SHORTEST_MS / REST.closely);
      last = result ? { begun: result.begun, ended: result.ended, of } : { ...last, ended: at, of: undefined };
    },
    /**
     * Whether a multiple of the duration of such a comparison has passed since the last one, and at least `least`
     * milliseconds.
     */
    hasRested: (due: Due, at: number, times: number, least = 0): boolean => at - last.ended >= Math.max(least, took[due] * times),
    /** Whether a comparison could prove something that the last one could not. */
    isNew: (provable: string | undefined): boolean => provable !== undefined && provable !== last.of,
    /** Whether another comparison has to begin now, before cached data become too old. */
    isLate: (at: number, quietAt: number): boolean => {
      const inTime = STALE_MS - 1.5 * took.everything;
      return at >= (last.begun > quietAt ? last.begun + inTime : quietAt + Math.max(inTime, FIRST_MS));
    },
  };
}

/** Tracks how long a number of the server has been unchanged. */
export interface Stillness {
  /** Must be called with each look: the observed value, and when the look ended. */
  readonly see: (seen: string | undefined, ended: number) => void;
  /**
   * Whether the number had been unchanged for long enough before a look that all commits that moved it can be read and
   * show in the signs.
   */
  readonly hasStood: (at: number) => boolean;
}

/** Creates a tracker for one number. */
export function createStillness(): Stillness {
  let still: { readonly seen: string | undefined; readonly since: number } | undefined;
  return {
    see: (seen, ended) => {
      if (still?.seen !== seen) still = { seen, since: ended };
    },
    hasStood: (at) => still?.seen !== undefined && at - still.since >= LATE_MS,
  };
}

/** Evaluates the numbers of the server: the commit position, and the number of tables it has opened. */
function createNumbers() {
  const position = createStillness();
  const opened = createStillness();
  let reached: { readonly position: bigint; readonly at: number } | undefined;
  /** True until a position is seen that is lower than expected. */
  let isStepKnown = true;

  const hasStood = ({ at }: Look): boolean => position.hasStood(at);
  const isSettled = ({ sighting, forgotten, at }: Look): boolean => sighting.trusted && (forgotten.length === 0 || opened.hasStood(at));
  return {
    see: (look: Look): void => {
      position.see(look.position, look.ended);
      opened.see(look.opened, look.ended);
      if (reached && look.position !== undefined && look.at >= reached.at && BigInt(look.position) < reached.position) isStepKnown = false;
    },
    /** Whether everything that moved the position can be read. */
    hasStood,
    /**
     * Whether the signs, together with the number of opened tables, show everything that was committed before a look.
     */
    isSettled,
    /** Returns a description of what a comparison that begins after this look can prove. */
    provable: (look: Look): string | undefined => {
      const { surprises, sighting } = look;
      if (hasStood(look)) return `${surprises} at ${look.position} ${isSettled(look)}`;
      return isSettled(look) ? `${surprises} since ${sighting.firstSeen}` : undefined;
    },
    /** Returns the expected position after this number of our transactions, if no other process has committed. */
    after: ({ position: before, step }: Look, { writes, ended }: Compared): string | undefined => {
      if (before === undefined || writes === 0) return before;
      if (writes === undefined || step === undefined || !isStepKnown) return undefined;
      reached = { position: BigInt(before) + BigInt(writes * step), at: ended };
      return String(reached.position);
    },
  };
}

/** Maximum number of periods of unrest that are kept. Older ones are merged into one. */
const MOST_TIMES = 1000;

/** Records the periods in which something may have been written that was not taken over yet. */
function createUnrest() {
  let quietAt = Number.NEGATIVE_INFINITY;
  /** The current period of unrest, if any: its beginning, and when it was noticed. */
  let open: { readonly from: number; readonly seen: number } | undefined;
  /** Past periods in chronological order. */
  let times: readonly { readonly from: number; readonly until: number }[] = [];
  return {
    /** Returns the time of the latest look without unrest. */
    quietAt: () => quietAt,
    /** Returns how long ago the current unrest was noticed, in milliseconds. */
    duration: (at: number): number => (open ? at - open.seen : 0),
    begin: (at: number): void => {
      open ??= { from: quietAt - LATE_MS, seen: at };
    },
    /** Ends the unrest. Nothing was written between `since`, when a comparison began, and the look at `at`. */
    end: (at: number, since: number): void => {
      if (open) {
        const all = [...times, { from: open.from, until: since }];
        const [, second] = all;
        times = all.length > MOST_TIMES ? [{ from: Number.NEGATIVE_INFINITY, until: second!.until }, ...all.slice(2)] : all;
      }
      open = undefined;
      quietAt = at;
    },
    /** Returns a function that tells, from the current knowledge, whether nothing was written between two moments. */
    wasQuiet: (): ((from: number, until: number) => boolean) => {
      const [now, before] = [open, times];
      return (from, until) => (!now || until <= now.from) && (before.findLast((time) => time.from < until)?.until ?? from) <= from;
    },
  };
}
