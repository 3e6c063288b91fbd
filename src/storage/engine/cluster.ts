import { fail } from '../../errors.ts';

/**
 * Usability of a server, best first: fully usable; with limits (it has no connections left, or is busy bringing another
 * node up to date); for reads only; not at all.
 */
export const FITNESS = ['fit', 'strained', 'read-only', 'unfit'] as const;
export type Fitness = (typeof FITNESS)[number];

/** The servers of a database. */
export interface Cluster {
  /**
   * A number that changes whenever a different server is used. Data read earlier may be newer or older than data read
   * afterwards.
   */
  readonly era: () => number;
  /**
   * Waits a short while until everything that any process has committed through any server can be read from the server
   * in use. Returns at once unless that server is a Galera node. Resolves to whether the server has caught up. It has
   * not while the cluster is detecting the loss of a node, which takes seconds.
   */
  readonly catchUp: () => Promise<boolean>;
  /** Asks each server for its current state. The reports are in the order of the address. */
  readonly report: () => Promise<readonly ServerReport[]>;
  /** Returns the server in use, without running a query. */
  readonly place: () => ServerPlace;
}

/**
 * `inUse`: position of the server in use, counted from 1; 0 if there is none. `detail`: the state that this server
 * reported at the last look.
 */
export interface ServerPlace {
  readonly inUse: number;
  readonly of: number;
  readonly detail: string;
}

export interface ServerReport {
  /** Name of the server, without user and password. */
  readonly name: string;
  readonly inUse: boolean;
  readonly fitness: Fitness;
  /** Description for people: `Galera: Synced, 3 nodes`, or why the server can't be used. */
  readonly detail: string;
}

/** An event of a cluster: a server was abandoned because it failed, or a different server is used from now on. */
export type ServerChange = { readonly left: string; readonly reason: string } | { readonly taken: string };

/** Maximum number of attempts to read everything from one server. */
const MAX_READ_ATTEMPTS = 3;

/**
 * Returns or throws the outcome of `read`, with everything read from the same server. Another server may be behind, so
 * parts read from two servers would not fit together. If the server changes while `read` runs, it reads again.
 *
 * @throws database-unavailable if the server changes during each attempt
 */
export async function fromOneServer<Found>({ era }: Pick<Cluster, 'era'>, read: () => Promise<Found>): Promise<Found> {
  for (let readings = 0; readings < MAX_READ_ATTEMPTS; readings += 1) {
    const before = era();
    const [outcome] = await Promise.allSettled([read()]);
    if (era() !== before) continue;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }
  return fail('database-unavailable');
}

/** The cluster of a database without servers. */
export const NO_SERVERS: Cluster = {
  era: () => 0,
  catchUp: async () => true,
  report: async () => [],
  place: () => ({ inUse: 1, of: 1, detail: '' }),
};
