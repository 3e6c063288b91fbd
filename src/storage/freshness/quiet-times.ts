import type { Sighting } from '../engine/change-signs.ts';

/*
 * When nothing was written, as far as looks and comparisons can prove it. No part of this asks a database: a model test
 * runs it beside a server that shows its commits as late as it may.
 *
 * A comparison needs no sign to be right: what was committed, and so could be read, before it began has been taken over
 * when it ends. Signs only tell whether anything was committed since. They may move a little earlier than what was
 * written can be read, so they prove that only if they had stood still for a while when the comparison began.
 */

/** What one look at the server has seen. */
export interface Look {
  /** When it began, in milliseconds. */
  readonly at: number;
  /** And when it ended: what it has seen may be of any moment between. */
  readonly ended: number;
  readonly sighting: Sighting;
  /** How far the server's commits have come; undefined where it does not say. */
  readonly position: string | undefined;
  /** By how much each transaction of ours that writes moves the position, at least; undefined: not known. */
  readonly step: number | undefined;
  /** Tables without a note of their last change: a further one may be forgotten before it is seen. */
  readonly forgotten: readonly string[];
  /** How many tables the server has opened: it forgets nothing without opening one. Undefined: it does not say. */
  readonly opened: string | undefined;
  /** How many changes without a sign were found by other means. */
  readonly surprises: number;
}

/** What a comparison looks at: everything, or only the tables that the server has forgotten the last change of. */
export type Due = 'everything' | 'forgotten';

/** What is known of the changes of others at a look. */
export interface WatchState {
  /** Whether everything that others had committed when the look began has been taken over. */
  readonly isQuiet: boolean;
  /**
   * Whether everything that they had committed a moment ago has been (`STALE_MS`), but for what the server may have
   * forgotten to show, which is looked for again and again.
   */
  readonly isFresh: boolean;
  /** What it is time to compare; undefined: nothing. */
  readonly due: Due | undefined;
  /** Whether what was read between these moments may still be served, unless a change taken over says otherwise. */
  readonly mayServe: (from: number, until: number) => boolean;
  /**
   * Whether it may become part of an answer that is made now, and served for as long as this one: what was read while
   * something was being written may have been there for a moment only.
   */
  readonly mayBuildOn: (from: number, until: number) => boolean;
}

/** How a comparison ended. `writes`: with how many transactions it took over what it found; undefined: not known. */
export interface Compared {
  readonly begun: number;
  readonly ended: number;
  readonly writes: number | undefined;
}

export interface QuietTimes {
  readonly see: (look: Look) => WatchState;
  /**
   * To be called when a comparison of what is due begins, after a look. Gives what to call when it ends; `undefined`:
   * it came to nothing.
   */
  readonly compare: (due: Due) => (compared: Compared | undefined, at: number) => void;
}

/** For so long, at most, a commit may show in the signs before, or after, what was written can be read. */
export const LATE_MS = 400;
/** What was read may be used for so long though it was changed since, besides the time for which a look counts. */
export const STALE_MS = 800;
/** For so long after it begins, unrest is followed closely. */
const CLOSELY_MS = 5000;
/** For how many times what a comparison takes there is none after it, at first and later. */
const REST = { closely: 0.5, later: 5, forgetful: 20 };
/** And at least so long, where it came to nothing or looks for what the server may have forgotten. */
const SHORTEST_MS = 200;
/**
 * The first comparison after something was written waits for so long, at most, for the position to stand: one that
 * begins while somebody writes proves nothing, and another has to follow. What is remembered becomes too old meanwhile.
 */
const FIRST_MS = 3 * LATE_MS;

/** What shows that nothing was written since a comparison. */
interface Proof {
  readonly look: Look;
  readonly begun: number;
  /** Where the position stays, as long as nobody else commits; undefined: that shows nothing. */
  readonly position: string | undefined;
  /** A look that began before this may have seen that position though it was somebody else who moved it so far. */
  readonly standsFrom: number;
  /** Whether the signs were settled when it began. */
  readonly bySigns: boolean;
}

/** How it is known that nothing was written; what the server may have forgotten shows in no way but by comparing. */
type Proven = 'fully' | 'by what shows' | undefined;

/** Decides by looks and comparisons, told in their order. */
export function createQuietTimes(): QuietTimes {
  const numbers = createNumbers();
  const unrest = createUnrest();
  const schedule = createSchedule();
  let proof: Proof | undefined;
  let last: Look | undefined;

  const isProven = (look: Look): Proven => {
    if (!proof || proof.look.surprises !== look.surprises || proof.look.sighting.starts !== look.sighting.starts) return undefined;
    if (look.position !== undefined && look.position === proof.position && look.at >= proof.standsFrom) {
      // Nobody has committed anything: what the signs are by now, they are without any change.
      if (proof.bySigns && numbers.isSettled(look)) proof = { ...proof, look };
      return 'fully';
    }
    if (!proof.bySigns || proof.look.sighting.firstSeen !== look.sighting.firstSeen) return undefined;
    const forgot = look.forgotten.length > 0 && (look.opened === undefined || look.opened !== proof.look.opened);
    return forgot ? 'by what shows' : 'fully';
  };

  const dueAt = (look: Look, proven: Proven): Due | undefined => {
    // The position may have been trusted too soon: once the signs are settled, a comparison makes sure.
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

/** When it is time for the next comparison. */
function createSchedule() {
  let last: { readonly begun: number; readonly ended: number; readonly of: string | undefined } = {
    begun: Number.NEGATIVE_INFINITY,
    ended: Number.NEGATIVE_INFINITY,
    of: undefined,
  };
  /** How long the latest one of each took. */
  const took = { everything: 0, forgotten: 0 };
  return {
    /** When the latest one that came to its end began. */
    begun: () => last.begun,
    /** `of`: what it could prove. */
    ended: (
      due: Due,
      { result, at, of }: { readonly result: Compared | undefined; readonly at: number; readonly of: string | undefined },
    ): void => {
      // The first one makes what later ones compare with, and takes many times as long.
      if (result && last.begun > Number.NEGATIVE_INFINITY) took[due] = result.ended - result.begun;
      if (!result) took[due] = Math.max(took[due], SHORTEST_MS / REST.closely);
      last = result ? { begun: result.begun, ended: result.ended, of } : { ...last, ended: at, of: undefined };
    },
    /** Whether so many times as long have passed as one of these takes, or at least so many milliseconds. */
    hasRested: (due: Due, at: number, times: number, least = 0): boolean => at - last.ended >= Math.max(least, took[due] * times),
    /** Whether something can be proven that it could not. */
    isNew: (provable: string | undefined): boolean => provable !== undefined && provable !== last.of,
    /** Whether another one has to begin, so that what is remembered does not become too old. */
    isLate: (at: number, quietAt: number): boolean => {
      const inTime = STALE_MS - 1.5 * took.everything;
      return at >= (last.begun > quietAt ? last.begun + inTime : quietAt + Math.max(inTime, FIRST_MS));
    },
  };
}

/** For how long a number of the server has stood where it is. */
export interface Stillness {
  /** To be called with each look: what it has seen, and when it ended. */
  readonly see: (seen: string | undefined, ended: number) => void;
  /** Whether it has for so long, before a look, that every commit that has moved it can be read and has its sign. */
  readonly hasStood: (at: number) => boolean;
}

/** Follows a number from look to look. */
export function createStillness(): Stillness {
  let still: { readonly seen: string | undefined; readonly since: number } | undefined;
  return {
    see: (seen, ended) => {
      if (still?.seen !== seen) still = { seen, since: ended };
    },
    hasStood: (at) => still?.seen !== undefined && at - still.since >= LATE_MS,
  };
}

/** What the numbers of the server show: how far its commits have come, and how many tables it has opened. */
function createNumbers() {
  const position = createStillness();
  const opened = createStillness();
  let reached: { readonly position: bigint; readonly at: number } | undefined;
  /** Until a position is seen that is too low. */
  let isStepKnown = true;

  const hasStood = ({ at }: Look): boolean => position.hasStood(at);
  const isSettled = ({ sighting, forgotten, at }: Look): boolean => sighting.trusted && (forgotten.length === 0 || opened.hasStood(at));
  return {
    see: (look: Look): void => {
      position.see(look.position, look.ended);
      opened.see(look.opened, look.ended);
      if (reached && look.position !== undefined && look.at >= reached.at && BigInt(look.position) < reached.position) isStepKnown = false;
    },
    /** Whether everything that has moved the position can be read. */
    hasStood,
    /** Whether the signs, with the tables that were opened, show everything that was committed before a look. */
    isSettled,
    /** What a comparison that begins after this look can prove. */
    provable: (look: Look): string | undefined => {
      const { surprises, sighting } = look;
      if (hasStood(look)) return `${surprises} at ${look.position} ${isSettled(look)}`;
      return isSettled(look) ? `${surprises} since ${sighting.firstSeen}` : undefined;
    },
    /** Where the position stands after so many transactions of ours, if nobody else has committed one. */
    after: ({ position: before, step }: Look, { writes, ended }: Compared): string | undefined => {
      if (before === undefined || writes === 0) return before;
      if (writes === undefined || step === undefined || !isStepKnown) return undefined;
      reached = { position: BigInt(before) + BigInt(writes * step), at: ended };
      return String(reached.position);
    },
  };
}

/** So many times of unrest are known. What is older than these counts as one. */
const MOST_TIMES = 1000;

/** The times in which something may have been written that was not taken over yet. */
function createUnrest() {
  let quietAt = Number.NEGATIVE_INFINITY;
  /** If there is unrest now: since when, and when that was seen. */
  let open: { readonly from: number; readonly seen: number } | undefined;
  /** In their order. */
  let times: readonly { readonly from: number; readonly until: number }[] = [];
  return {
    /** The latest look without. */
    quietAt: () => quietAt,
    /** For how many milliseconds it has been seen. */
    duration: (at: number): number => (open ? at - open.seen : 0),
    begin: (at: number): void => {
      open ??= { from: quietAt - LATE_MS, seen: at };
    },
    /** Nothing was written between `since`, when a comparison began, and the look at `at`. */
    end: (at: number, since: number): void => {
      if (open) {
        const all = [...times, { from: open.from, until: since }];
        const [, second] = all;
        times = all.length > MOST_TIMES ? [{ from: Number.NEGATIVE_INFINITY, until: second!.until }, ...all.slice(2)] : all;
      }
      open = undefined;
      quietAt = at;
    },
    /** Whether nothing was written between two moments, by what is known now. */
    wasQuiet: (): ((from: number, until: number) => boolean) => {
      const [now, before] = [open, times];
      return (from, until) => (!now || until <= now.from) && (before.findLast((time) => time.from < until)?.until ?? from) <= from;
    },
  };
}
