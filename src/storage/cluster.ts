/**
 * How fit a server is to be used, best first: it reads and writes; it is short of something for now (connections, or it is bringing another node up to
 * date); it takes no writes; it can't be used.
 */
export const FITNESS = ['fit', 'strained', 'read-only', 'unfit'] as const;
export type Fitness = (typeof FITNESS)[number];

/** The servers that a database is on. */
export interface Cluster {
  /** A number that changes whenever another server answers: what was read before may be newer or older than what is read now. */
  readonly era: () => number;
  /**
   * Waits until what was written before, by whichever process, can be read from the server in use, but not for long. There is nothing to wait for where a
   * server has no others that are written to.
   */
  readonly catchUp: () => Promise<void>;
  /** What each server says of itself now, in the order of the address. */
  readonly report: () => Promise<readonly ServerReport[]>;
  /** Which one is in use, without asking anything. */
  readonly place: () => ServerPlace;
}

/** `inUse`: counted from 1; 0: none. `detail`: what the one in use said of itself when it was looked at last. */
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

/** A server was left because it failed, or another one is used from now on. */
export type ServerChange = { readonly left: string; readonly reason: string } | { readonly taken: string };

/** A database that is not on servers at all. */
export const NO_SERVERS: Cluster = {
  era: () => 0,
  catchUp: async () => {},
  report: async () => [],
  place: () => ({ inUse: 1, of: 1, detail: '' }),
};
