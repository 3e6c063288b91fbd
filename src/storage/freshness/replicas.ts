import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, DatabaseUnavailable } from '../engine/database.ts';
import { changeCount } from '../rows/changes.ts';

/** The replicas of a database that may be read. */
export interface Replicas {
  /** Returns the index of a replica that may be read now; undefined: read from the primary. Never waits. */
  readonly current: () => number | undefined;
  /**
   * Must be called after each write of this process, before it is acknowledged: no replica is read until it has
   * received that write.
   */
  readonly noteWrite: () => void;
}

export interface ReplicasOptions {
  /** Maximum age of the data of a replica, in milliseconds. */
  readonly maxLagMs: number;
  /** Called when a replica may be read again: data cached from it before are outdated. */
  readonly onReadableAgain: (index: number) => void;
  /** Index of the replica that this process tries first. */
  readonly firstIndex?: number;
  /** Returns milliseconds of a monotonic clock. */
  readonly clock?: () => number;
}

/** The position of a primary: our change counter, and its log, which contains the changes of all writers. */
export interface Position {
  readonly count: number;
  readonly log: string;
}

/** Evidence that a replica has everything that the primary had at the time `at`. */
interface Proof {
  readonly at: number;
  /** Number of writes of this process up to that time. */
  readonly writes: number;
  readonly era: number;
}

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;
/** Pause after a replica did not catch up in time or did not answer. */
const PAUSE_AFTER_FAILURE_MS = 1000;

/**
 * Follows the replicas of a database, which are always slightly behind. A replica may be read if it is known to have
 * everything that the primary had at most `maxLagMs` ago, and everything that this process has written. This is
 * checked in the background while requests come in; without requests, nothing is checked. A replica that has stopped
 * replicating is therefore not read for longer than `maxLagMs`.
 *
 * While the primary cannot be reached, a replica is read regardless of its age, because no newer data are available.
 * A primary that is only too busy to answer may have newer data.
 */
export function followReplicas(
  primary: Database,
  replicas: readonly Database[],
  { maxLagMs, onReadableAgain, firstIndex = 0, clock = () => performance.now() }: ReplicasOptions,
): Replicas {
  const order = replicas.map((_, index) => (index + firstIndex) % replicas.length);
  const proofs = new Map<number, Proof>();
  const checking = new Set<number>();
  const pausedUntil = new Map<number, number>();
  let writes = 0;
  const source = watchedPrimary(primary);

  const eraOf = (index: number): number => replicas[index]!.cluster.era();
  const age = (index: number): number => clock() - (proofs.get(index)?.at ?? Number.NEGATIVE_INFINITY);
  const isUpToDate = (index: number): boolean => {
    const proof = proofs.get(index);
    return proof?.writes === writes && proof.era === eraOf(index) && (age(index) < maxLagMs || source.isGone());
  };

  /** Checks whether the replica reaches the current position of the primary within `maxLagMs`. */
  const prove = async (index: number): Promise<boolean> => {
    const db = replicas[index]!;
    const proof = { at: clock(), writes, era: eraOf(index) };
    const position = await source.position();
    // If the era has changed, some of these queries were answered by the primary instead.
    if (!position || !(await reachesPosition(db, position, maxLagMs)) || eraOf(index) !== proof.era) return false;
    const before = proofs.get(index);
    proofs.set(index, proof);
    if (before?.writes !== proof.writes || before.era !== proof.era) onReadableAgain(index);
    return true;
  };

  const check = async (index: number): Promise<void> => {
    if (checking.has(index) || clock() < (pausedUntil.get(index) ?? 0)) return;
    checking.add(index);
    const isProven = await prove(index).catch(() => false);
    if (!isProven) pausedUntil.set(index, clock() + PAUSE_AFTER_FAILURE_MS);
    checking.delete(index);
  };

  return {
    current: () => {
      for (const index of order) {
        const isReadable = isUpToDate(index);
        if (!isReadable || age(index) > maxLagMs / 2) void check(index);
        if (isReadable) return index;
      }
      return undefined;
    },
    noteWrite: () => {
      writes += 1;
    },
  };
}

/** Wraps a primary and keeps track of whether it can be reached. */
function watchedPrimary(primary: Database): {
  readonly isGone: () => boolean;
  /** Undefined: the primary does not answer. */
  readonly position: () => Promise<Position | undefined>;
} {
  let answers = true;
  return {
    isGone: () => !answers || primary.cluster.place().inUse === 0,
    position: async () => {
      try {
        const position = await positionOf(primary);
        answers = true;
        return position;
      } catch (error) {
        const reason = error instanceof DatabaseUnavailable ? error.reason : undefined;
        // All other errors are answers of the server: `busy` means that it has much to do. `exhausted` is in
        // most cases an error of our pool, and says nothing about the server.
        if (reason !== 'exhausted') answers = reason !== 'unreachable';
        return undefined;
      }
    },
  };
}

/** Returns the current position of a primary. */
export const positionOf = async (primary: Database): Promise<Position> => ({
  count: await changeCount(primary),
  log: await primary.dialect.logPosition(primary),
});

/** Whether a replica has reached a position, or reaches it within this many milliseconds. */
export async function reachesPosition(replica: Database, { count, log }: Position, timeoutMs: number): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    if ((await changeCount(replica)) >= count && (await replica.dialect.hasReached(replica, log))) return true;
    if (performance.now() + pause > until) return false;
    await sleep(pause, undefined, { ref: false });
  }
}
