import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../engine/database.ts';
import { changeCount } from '../rows/changes.ts';

/** Which replicas of a database may be read. */
export interface Replicas {
  /** The place in the list of a replica that may be read now; undefined: ask the primary. Never waits. */
  readonly current: () => number | undefined;
  /**
   * To be called after each write of this process, before it is acknowledged: no replica is read again until it has
   * that write.
   */
  readonly wrote: () => void;
}

export interface ReplicasOptions {
  /** How old, in milliseconds, the data of a replica may be. */
  readonly lag: number;
  /** Called when a replica may be read again: what was remembered of it before is old. */
  readonly renewed: (place: number) => void;
  /** Which of them this process tries first. */
  readonly first?: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly clock?: () => number;
}

/** How far a primary has come: our own count of changes, and its log, which has the changes of everybody. */
export interface Position {
  readonly count: number;
  readonly log: string;
}

/** That a replica had, or came to have, everything that the primary had at the time `at`. */
interface Proof {
  readonly at: number;
  /** How often this process had written by then. */
  readonly writes: number;
  readonly era: number;
}

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
/** Between two tries, after a replica did not catch up in time or did not answer. */
const REST_MS = 1000;

/**
 * Follows replicas of a database, which are always somewhat behind. A replica may be read if it is known to have
 * everything that the primary had at most `lag` milliseconds ago, and everything that this process has written. That is
 * checked in the background while requests come in; while nobody asks, nothing is checked. So a replica that has
 * stopped replicating is not read for longer than `lag`.
 *
 * While the primary does not answer, a replica is read however old it is: there is nothing newer to be had.
 */
export function followReplicas(
  primary: Database,
  replicas: readonly Database[],
  { lag, renewed, first = 0, clock = () => performance.now() }: ReplicasOptions,
): Replicas {
  const order = replicas.map((_, place) => (place + first) % replicas.length);
  const proofs = new Map<number, Proof>();
  const checking = new Set<number>();
  const rested = new Map<number, number>();
  let writes = 0;
  const source = watchedPrimary(primary);

  const eraOf = (place: number): number => replicas[place]!.cluster.era();
  const age = (place: number): number => clock() - (proofs.get(place)?.at ?? Number.NEGATIVE_INFINITY);
  const isNear = (place: number): boolean => {
    const proof = proofs.get(place);
    return proof?.writes === writes && proof.era === eraOf(place) && (age(place) < lag || source.isGone());
  };

  /** Whether the replica comes to have what the primary has now, within `lag`. */
  const prove = async (place: number): Promise<boolean> => {
    const db = replicas[place]!;
    const proof = { at: clock(), writes, era: eraOf(place) };
    const wanted = await source.position();
    // If the era has changed, some of these queries were answered by the primary instead.
    if (!wanted || !(await comesTo(db, wanted, lag)) || eraOf(place) !== proof.era) return false;
    const before = proofs.get(place);
    proofs.set(place, proof);
    if (before?.writes !== proof.writes || before.era !== proof.era) renewed(place);
    return true;
  };

  const check = async (place: number): Promise<void> => {
    if (checking.has(place) || clock() < (rested.get(place) ?? 0)) return;
    checking.add(place);
    const proved = await prove(place).catch(() => false);
    if (!proved) rested.set(place, clock() + REST_MS);
    checking.delete(place);
  };

  return {
    current: () => {
      for (const place of order) {
        const near = isNear(place);
        if (!near || age(place) > lag / 2) void check(place);
        if (near) return place;
      }
      return undefined;
    },
    wrote: () => {
      writes += 1;
    },
  };
}

/** A primary that may be gone. */
function watchedPrimary(primary: Database): {
  readonly isGone: () => boolean;
  /** Undefined: it does not answer. */
  readonly position: () => Promise<Position | undefined>;
} {
  let answers = true;
  return {
    isGone: () => !answers || primary.cluster.place().inUse === 0,
    position: async () => {
      try {
        const found = await positionOf(primary);
        answers = true;
        return found;
      } catch {
        answers = false;
        return undefined;
      }
    },
  };
}

/** How far a primary has come. */
export const positionOf = async (primary: Database): Promise<Position> => ({
  count: await changeCount(primary),
  log: await primary.dialect.logPosition(primary),
});

/** Whether a replica has come so far, or does within this many milliseconds. */
export async function comesTo(replica: Database, { count, log }: Position, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if ((await changeCount(replica)) >= count && (await replica.dialect.hasReached(replica, log))) return true;
    if (performance.now() + pause > until) return false;
    await sleep(pause, undefined, { ref: false });
  }
}
