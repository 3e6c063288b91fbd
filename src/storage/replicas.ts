import { setTimeout as sleep } from 'node:timers/promises';
import { changeCount } from './changes.ts';
import type { Database } from './database.ts';

/** Which replicas of a database may be read. */
export interface Replicas {
  /** The place in the list of one that may be read at this moment; undefined: the primary is to be asked. Never waits. */
  readonly current: () => number | undefined;
  /** To be called when this process has written, before it says so: replicas are not read again before they have that. */
  readonly wrote: () => void;
}

export interface ReplicasOptions {
  /** How old, in milliseconds, what is read may be. */
  readonly lag: number;
  /** Called when a replica has come up to what this process has written, or answers again: what was remembered of it is old. */
  readonly renewed: (place: number) => void;
  /** Which of them this process reads first. */
  readonly first?: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly clock?: () => number;
}

/** How far a primary has come: our own count of changes, and its log, in which everybody's changes are. */
export interface Position {
  readonly count: number;
  readonly log: string;
}

/** What is known of a replica: at that time it had come as far as the primary. */
interface Proof {
  readonly at: number;
  /** How often this process had written. */
  readonly writes: number;
  readonly era: number;
}

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
/** After a replica did not come up in time, or did not answer. */
const REST_MS = 1000;

/**
 * Follows replicas of a database, which are always some way behind. One may be read as long as it is known to have come, no longer than `lag` ago, as far as
 * the primary was, and as far as this process has written since. While requests come in that is looked at in good time; nothing is asked while nobody asks.
 * A replica that stands still is not read for longer than `lag`, and neither is one that does not answer.
 *
 * Where the primary does not answer, nobody can write what a replica might miss: it is read on.
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
  let primaryAnswers = true;

  const eraOf = (place: number): number => replicas[place]!.cluster.era();
  const age = (place: number): number => clock() - (proofs.get(place)?.at ?? Number.NEGATIVE_INFINITY);
  const isNear = (place: number): boolean => {
    const proof = proofs.get(place);
    return proof?.writes === writes && proof.era === eraOf(place) && (age(place) < lag || isPrimaryGone());
  };

  const isPrimaryGone = (): boolean => !primaryAnswers || primary.cluster.place().inUse === 0;

  const position = async (): Promise<Position | undefined> => {
    try {
      const found = await positionOf(primary);
      primaryAnswers = true;
      return found;
    } catch {
      primaryAnswers = false;
      return undefined;
    }
  };

  /** Gives whether the replica comes as far as the primary is at the begin. */
  const prove = async (place: number): Promise<boolean> => {
    const db = replicas[place]!;
    const proof = { at: clock(), writes, era: eraOf(place) };
    const wanted = await position();
    // What its own server did not answer was asked of the primary.
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

/** How far a primary has come. */
export const positionOf = async (primary: Database): Promise<Position> => ({
  count: await changeCount(primary),
  log: await primary.dialect.logPosition(primary.knex),
});

/** Whether a replica has come so far, or does within so many milliseconds. */
export async function comesTo(replica: Database, { count, log }: Position, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if ((await changeCount(replica)) >= count && (await replica.dialect.hasReached(replica.knex, log))) return true;
    if (performance.now() + pause > until) return false;
    await sleep(pause, undefined, { ref: false });
  }
}
