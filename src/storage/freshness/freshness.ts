import type { Database } from '../engine/database.ts';
import type { ReadTime } from '../journal/object-memory.ts';
import type { WatchResult } from './table-watch.ts';

/**
 * Detects whether the data have changed. Every value in memory belongs to a version of the data, which changes with
 * every write by any process.
 */
export interface Freshness {
  /** Returns the version without waiting if it was determined recently enough; undefined: call `version`. */
  readonly cachedVersion: () => Version | undefined;
  /**
   * Returns the version of the data, and determines it if it is not known, or only from before the moment `since`.
   * Undefined: nothing may be cached at the moment.
   */
  readonly version: (since?: number) => Promise<Version | undefined>;
  /** Must be called after every write of this process, so that the process sees its own write at once. */
  readonly forget: () => void;
}

/** A version of the data, to the extent that it is known. */
export interface Version {
  /** Differs when anything may have changed that is not in the journal. */
  readonly name: string;
  /** Position in the journal: entries up to this number have been passed to subscribers. */
  readonly count: number;
  /**
   * When the version was requested, in milliseconds of a monotonic clock. Data that are read later are at least as new.
   */
  readonly at: number;
  /**
   * Whether an answer made from data that were read at that time under this name may still be served, unless the
   * journal has a change of them. For a short while, other writers may already have changed them (`MAX_STALE_MS`).
   */
  readonly mayServe: (read: ReadTime) => boolean;
  /**
   * Whether the value may also become part of a new answer made at this version, which is then served as long as the
   * version is valid: nothing was being written while the value was read.
   */
  readonly mayBuildOn: (read: ReadTime) => boolean;
  /**
   * All changes that could be read before this moment are in the journal up to `count`, or have changed the name. It is
   * measured by the same clock as `at`.
   */
  readonly completeUntil: number;
}

/** The result of a probe for the version. */
export interface ProbeResult extends Pick<Version, 'name' | 'count' | 'mayServe' | 'mayBuildOn'> {
  /** As in `Version`; absent: the moment at which the version was requested. */
  readonly completeUntil?: number;
}

export interface FreshnessOptions {
  /** Time for which a version counts as known, in milliseconds. */
  readonly validMs: number;
  /** Returns milliseconds of a monotonic clock. */
  readonly clock?: () => number;
}

/**
 * Creates a Freshness that determines the version with `probe`. Concurrent callers share one probe. While requests come
 * in, the version is determined again before it expires, so that no request has to wait. If this process writes during
 * a probe, its result is too old and is not kept.
 */
export function createFreshness(
  probe: () => Promise<ProbeResult | undefined>,
  { validMs, clock = () => performance.now() }: FreshnessOptions,
): Freshness {
  let last: { version: Version | undefined; at: number } | undefined;
  let running: { readonly at: number; readonly end: Promise<Version | undefined> } | undefined;
  let writes = 0;

  const runProbe = async (at: number): Promise<Version | undefined> => {
    const before = writes;
    const result = await probe();
    const version = result && { completeUntil: at, ...result, at };
    if (writes === before) last = { version, at };
    return writes === before ? version : undefined;
  };

  const probeOnce = (): Promise<Version | undefined> => {
    if (running) return running.end;
    const at = clock();
    const end = runProbe(at).finally(() => {
      if (running?.end === end) running = undefined;
    });
    running = { at, end };
    return end;
  };
  /** Does not use a probe that began before the moment `since`, but waits for it, so that only one runs at a time. */
  const probeSince = async (since: number): Promise<Version | undefined> => {
    if (running && running.at < since) await running.end.catch(() => undefined);
    return probeOnce();
  };

  /**
   * Returns the last version if it is still valid, and starts a new probe when half of its lifetime is over. A failed
   * probe is reported only to callers that find no valid version.
   */
  const current = () => {
    const age = last ? clock() - last.at : validMs;
    if (age >= validMs) return undefined;
    if (age >= validMs / 2) probeOnce().catch(() => undefined);
    return last;
  };

  return {
    cachedVersion: () => current()?.version,
    version: (since = Number.NEGATIVE_INFINITY) => {
      const now = current();
      return now && (now.version === undefined || now.at >= since) ? Promise.resolve(now.version) : probeSince(since);
    },
    forget: () => {
      writes += 1;
      last = undefined;
      running = undefined;
    },
  };
}

/** The database's information about its last change. */
export interface DataVersion {
  /** Undefined: something changed so recently that a further change might not be noticed, so nothing may be cached. */
  readonly probeResult: ProbeResult | undefined;
  /** The change counter of Fasti. */
  readonly count: number;
  /** Time of the last change, UTC; undefined if other programs write to the same tables and do not record it. */
  readonly changedAt: string | undefined;
}

/** Detection of changes that other programs make to the same tables. */
export interface ForeignChangeWatch {
  readonly watch: () => Promise<WatchResult>;
  /** Takes over the notes of the WordPress plugin; `newest`: the highest id of the notes. */
  readonly drain: (newest: number) => Promise<void>;
}

/**
 * Checks whether anything has changed. If WordPress writes to the same tables, this covers what `watch` sees and the
 * notes of the WordPress plugin, which are taken over before the function continues. The change counter is read last,
 * so it includes everything that `watch` reports as taken over.
 */
export async function lookAtVersion(db: Database, foreignChanges: ForeignChangeWatch | undefined): Promise<DataVersion> {
  const watched = foreignChanges && (await foreignChanges.watch());
  let row = await readCounter(db);
  if (foreignChanges && row?.noted) {
    await foreignChanges.drain(Number(row.noted));
    row = await readCounter(db);
  }
  const count = Number(row?.counter ?? 0);
  return {
    count,
    probeResult: probeResultOf(watched, count),
    changedAt: foreignChanges ? undefined : row?.changed_at,
  };
}

function probeResultOf(watched: WatchResult | undefined, count: number): ProbeResult | undefined {
  if (!watched) return { name: '', count, mayServe: () => true, mayBuildOn: () => true };
  const { version: name, mayServe, mayBuildOn, completeUntil } = watched;
  return name === undefined ? undefined : { name, count, mayServe, mayBuildOn, completeUntil };
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
