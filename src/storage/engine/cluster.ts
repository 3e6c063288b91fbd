import { fail } from '../../errors.ts';

/**
 * How fit a server is to be used, best first: fully; with limits (it has no connections left, or is busy bringing
 * another node up to date); for reads only; not at all.
 */
export const FITNESS = ['fit', 'strained', 'read-only', 'unfit'] as const;
export type Fitness = (typeof FITNESS)[number];

/** The servers of a database. */
export interface Cluster {
  /**
   * A number that changes whenever another server answers: data read before may be newer or older than data read now.
   */
  readonly era: () => number;
  /**
   * Waits a short while until everything committed before, by any process and through any server, can be read from the
   * server in use. Returns at once unless that is a node of a Galera cluster. Gives whether that is so now: not while
   * the cluster finds out that it has lost a node, which takes seconds.
   */
  readonly catchUp: () => Promise<boolean>;
  /** What each server says about itself now, in the order of the address. */
  readonly report: () => Promise<readonly ServerReport[]>;
  /** Which server is in use, without any query. */
  readonly place: () => ServerPlace;
}

/** `inUse`: counted from 1; 0: none. `detail`: what the server in use said about itself at the last look. */
export interface ServerPlace {
  readonly inUse: number;
  readonly of: number;
  readonly detail: string;
}

export interface ServerReport {
  /** Without user and password. */
  readonly name: string;
  readonly inUse: boolean;
  readonly fitness: Fitness;
  /** For people: `Galera: Synced, 3 nodes`, or why it can't be used. */
  readonly detail: string;
}

/** A server was left because it failed, or another one is in use from now on. */
export type ServerChange = { readonly left: string; readonly reason: string } | { readonly taken: string };

/** Another server answers so often, at most, before what was read in parts is given up. */
const MOST_READINGS = 3;

/**
 * What `read` gives or throws, all of it read from one server: another one may be behind, and what was read in parts
 * would not fit together. It reads again where another server began to answer meanwhile.
 *
 * @throws database-unavailable where that goes on
 */
export async function fromOneServer<Found>({ era }: Pick<Cluster, 'era'>, read: () => Promise<Found>): Promise<Found> {
  for (let readings = 0; readings < MOST_READINGS; readings += 1) {
    const before = era();
    const [outcome] = await Promise.allSettled([read()]);
    if (era() !== before) continue;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }
  return fail('database-unavailable');
}

/** For a database without servers. */
export const NO_SERVERS: Cluster = {
  era: () => 0,
  catchUp: async () => true,
  report: async () => [],
  place: () => ({ inUse: 1, of: 1, detail: '' }),
};
