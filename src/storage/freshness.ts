import type { Database } from './database.ts';

/**
 * How long what was read may be kept. Everything that is remembered is remembered under a version of the data; the version changes with every
 * write, whoever wrote.
 */
export interface Freshness {
  /** The version if it was asked for recently enough, without waiting; undefined: ask `version`. */
  readonly known: () => string | undefined;
  /** The version of the data, asked for anew where it is not known. Undefined: nothing may be remembered just now. */
  readonly version: () => Promise<string | undefined>;
  /** To be called after every write of this process, so that it sees its own at once. */
  readonly forget: () => void;
}

export interface FreshnessOptions {
  /** For how many milliseconds a version counts as known. */
  readonly keep: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly clock?: () => number;
}

/**
 * Asks `probe` for the version, once for all who wait for it, and again in good time while somebody wants to know, so that nobody waits as long as
 * requests come in. A write while it is asked for makes what it gives too old to be kept.
 */
export function createFreshness(
  probe: () => Promise<string | undefined>,
  { keep, clock = () => performance.now() }: FreshnessOptions,
): Freshness {
  let last: { version: string | undefined; at: number } | undefined;
  let asking: Promise<string | undefined> | undefined;
  let writes = 0;

  const ask = async (): Promise<string | undefined> => {
    const [started, before] = [clock(), writes];
    const version = await probe();
    if (writes === before) last = { version, at: started };
    return writes === before ? version : undefined;
  };

  const asked = (): Promise<string | undefined> => {
    if (asking) return asking;
    const mine = ask().finally(() => {
      if (asking === mine) asking = undefined;
    });
    asking = mine;
    return mine;
  };

  /** What is known still, asked for anew when half of its time is over. A failure shows to those who ask when nothing is known any more. */
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

/** What the rows of the database say of its last change. */
export interface DataVersion {
  /** Undefined: something changed so lately that a further change might not show; nothing may be remembered. */
  readonly version: string | undefined;
  /** Time of the last change, UTC; undefined where others write besides us and do not say. */
  readonly changedAt: string | undefined;
}

/**
 * Looks whether anything changed: our own counter, and with `shared` also whatever else writes to these tables (`Dialect.foreignChanges`),
 * WordPress above all.
 */
export async function lookAtVersion(db: Database, shared: boolean): Promise<DataVersion> {
  const [row] = await db.rows<{
    counter: number | string;
    changed_at: string;
  }>`SELECT counter, changed_at FROM {fasti_changes} WHERE id = 1`;
  const foreign = shared ? await db.dialect.foreignChanges(db.knex, WATCHED.map(db.table)) : '';
  return {
    version: foreign === undefined ? undefined : `${row?.counter ?? 0}:${foreign}`,
    changedAt: shared ? undefined : row?.changed_at,
  };
}

/** The tables that answers are made of. Options are not among them: WordPress writes those all day long; the few that count are looked at themselves. */
const WATCHED = ['posts', 'postmeta', 'terms', 'term_taxonomy', 'term_relationships', 'tec_occurrences'] as const;
