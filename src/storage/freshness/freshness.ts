import type { Database } from '../engine/database.ts';
import type { ReadTime } from '../journal/object-memory.ts';
import type { Watched } from './table-watch.ts';

/**
 * Whether the data has changed. Everything in memory belongs to a version of the data, which changes with every write,
 * whoever wrote.
 */
export interface Freshness {
  /** The version if it was asked for recently enough, without waiting; undefined: ask `version`. */
  readonly known: () => Version | undefined;
  /** The version of the data, asked for again where it is not known. Undefined: nothing may be remembered just now. */
  readonly version: () => Promise<Version | undefined>;
  /** To be called after every write of this process, so that it sees its own at once. */
  readonly forget: () => void;
}

/** A version of the data, as far as it is known. */
export interface Version {
  /** Another one when anything may have changed that the journal does not tell of. */
  readonly name: string;
  /** How far the journal had come: its entries up to this number have been told. */
  readonly count: number;
  /**
   * When it was asked for, in milliseconds of a clock that only goes forward. What is read later is at least as new.
   */
  readonly at: number;
  /**
   * Whether an answer made of what was read then under this name may still be served, unless the journal names a change
   * of it. For a short while others may have changed it already (`STALE_MS`).
   */
  readonly mayServe: (read: ReadTime) => boolean;
  /**
   * Whether it may also become part of a new answer made at this version, which will be served for as long as that
   * version is: nothing was being written while it was read.
   */
  readonly mayBuildOn: (read: ReadTime) => boolean;
}

/** What a probe for the version finds. */
export type Found = Pick<Version, 'name' | 'count' | 'mayServe' | 'mayBuildOn'>;

export interface FreshnessOptions {
  /** For how many milliseconds a version counts as known. */
  readonly keep: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly clock?: () => number;
}

/**
 * Asks `probe` for the version, once for all who wait for it, and again in good time while somebody wants to know, so
 * that nobody waits as long as requests come in. A write while it is asked for makes what it gives too old to be
 * kept.
 */
export function createFreshness(
  probe: () => Promise<Found | undefined>,
  { keep, clock = () => performance.now() }: FreshnessOptions,
): Freshness {
  let last: { version: Version | undefined; at: number } | undefined;
  let asking: Promise<Version | undefined> | undefined;
  let writes = 0;

  const ask = async (): Promise<Version | undefined> => {
    const [at, before] = [clock(), writes];
    const found = await probe();
    const version = found && { ...found, at };
    if (writes === before) last = { version, at };
    return writes === before ? version : undefined;
  };

  const asked = (): Promise<Version | undefined> => {
    if (asking) return asking;
    const mine = ask().finally(() => {
      if (asking === mine) asking = undefined;
    });
    asking = mine;
    return mine;
  };

  /**
   * What is known still, asked for again when half of its time is over. A failure shows to those who ask when nothing
   * is known any more.
   */
  const current = () => {
    const age = last ? clock() - last.at : keep;
    if (age >= keep) return undefined;
    if (age >= keep / 2) asked().catch(() => undefined);
    return last;
  };

  return {
    known: () => current()?.version,
    version: () => {
      const now = current();
      return now ? Promise.resolve(now.version) : asked();
    },
    forget: () => {
      writes += 1;
      last = undefined;
      asking = undefined;
    },
  };
}

/** What the database says of its last change. */
export interface DataVersion {
  /** Undefined: something changed so lately that a further change might not show; nothing may be remembered. */
  readonly found: Found | undefined;
  /** Our own counter. */
  readonly count: number;
  /** Time of the last change, UTC; undefined where others write besides us and do not say. */
  readonly changedAt: string | undefined;
}

/** How it is seen what others write to the same tables. */
export interface OthersWatch {
  readonly watch: () => Promise<Watched>;
  /** Takes over what the WordPress plugin has noted; `newest`: the highest id of its notes. */
  readonly drain: (newest: number) => Promise<void>;
}

/**
 * Looks whether anything changed: where WordPress writes to the same tables, at what `watch` sees, and at our own
 * counter and what WordPress's plugin has noted, which is taken over before the look goes on. The counter is read last:
 * everything that `watch` takes for taken over has been counted.
 */
export async function lookAtVersion(db: Database, others: OthersWatch | undefined): Promise<DataVersion> {
  const watched = others && (await others.watch());
  let row = await readCounter(db);
  if (others && row?.noted) {
    await others.drain(Number(row.noted));
    row = await readCounter(db);
  }
  const count = Number(row?.counter ?? 0);
  const { version, mayServe, mayBuildOn } = watched ?? { version: '', mayServe: () => true, mayBuildOn: () => true };
  return {
    count,
    found: version === undefined ? undefined : { name: version, count, mayServe, mayBuildOn },
    changedAt: others ? undefined : row?.changed_at,
  };
}

interface CounterRow {
  readonly counter: number | string;
  readonly changed_at: string;
  readonly noted: number | string | null;
}

async function readCounter(db: Database): Promise<CounterRow | undefined> {
  const [row] = await db.rows<CounterRow>`
    SELECT counter, changed_at, (SELECT MAX(id) FROM {fasti_journal_inbox}) AS noted FROM {fasti_changes} WHERE id = 1`;
  return row;
}
