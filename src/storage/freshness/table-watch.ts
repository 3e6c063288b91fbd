import { nextSighting, type Sighting } from '../engine/change-signs.ts';
import type { Database } from '../engine/database.ts';
import { createTableComparison } from './table-comparison.ts';
import { watchedNames } from './watched-tables.ts';

/** What a look at tables that others write to as well has found. */
export interface Watched {
  /** Another text after each change. Undefined: nothing may be remembered at the moment. */
  readonly version: string | undefined;
  /** What was remembered before this moment is too old to be used. */
  readonly since: number;
}

export interface WatchOptions {
  /** For how many milliseconds, at most, something outdated may be used, even if the server never showed the change. */
  readonly bound: number;
  readonly clock: () => number;
}

/** A server shows a change at about the time when its rows can be read; which comes first is not documented. */
const MARGIN_MS = 1000;

/**
 * Watches the tables that WordPress writes to as well; each call looks once. Most changes are noticed by the signs
 * that the server shows (`Dialect.changeSigns`). Where the server may show nothing, what was remembered expires after
 * `bound` milliseconds, unless comparing the contents of the tables has found no change since (decision 18).
 */
export function watchTables(db: Database, { bound, clock }: WatchOptions): () => Promise<Watched> {
  const { dialect } = db;
  const tables = watchedNames.map(db.table);
  // Two rounds within the bound, because a round may just have passed the row that changes.
  const comparison = dialect.showsEveryChange ? undefined : createTableComparison(db, { within: bound / 2, clock });
  const margin = dialect.showsEveryChange ? 0 : MARGIN_MS;
  let last: Sighting | undefined;

  const since = (at: number): number => {
    if (!comparison) return Number.NEGATIVE_INFINITY;
    const covered = comparison.coverage();
    return covered && covered.until > at - bound ? Math.min(covered.from, at - bound) : at - bound;
  };

  return async () => {
    const at = clock();
    const sighting = nextSighting(last, await dialect.changeSigns(db, tables), at, margin);
    last = sighting;
    if (sighting.trusted) comparison?.advance(sighting.signs);
    const version = `${sighting.epoch}.${comparison?.surprises() ?? 0}`;
    return { version: sighting.trusted ? version : undefined, since: since(at) };
  };
}
