import { nextSighting, type Sighting } from './change-signs.ts';
import type { Database } from './database.ts';
import { createTableComparison } from './table-comparison.ts';
import { watchedNames } from './watched-tables.ts';

/** What a look at tables that others write to, too, has found. */
export interface Watched {
  /** Another text after each change. Undefined: nothing may be remembered just now. */
  readonly version: string | undefined;
  /** What was remembered before this moment may have been overtaken by a change that nothing showed. */
  readonly since: number;
}

export interface WatchOptions {
  /** For how many milliseconds, at most, what a change made wrong may still count as right, whatever the server shows of it. */
  readonly bound: number;
  readonly clock: () => number;
}

/** A server shows a change within a moment of making its rows readable; which comes first is not said. */
const MARGIN_MS = 1000;

/**
 * Watches the tables that WordPress writes to as well. Changes show by the signs that the server gives of them (`Dialect.changeSigns`). Where signs can be missing,
 * everything counts for `bound` milliseconds only, or for as long as comparisons of the contents find nothing.
 */
export function watchTables(db: Database, { bound, clock }: WatchOptions): () => Promise<Watched> {
  const { dialect } = db;
  const tables = watchedNames.map(db.table);
  // Two rounds within the bound: one may just have passed the row that changes.
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
    const sighting = nextSighting(last, await dialect.changeSigns(db.knex, tables), at, margin);
    last = sighting;
    if (sighting.trusted) comparison?.advance(sighting.signs);
    const version = `${sighting.epoch}.${comparison?.surprises() ?? 0}`;
    return { version: sighting.trusted ? version : undefined, since: since(at) };
  };
}
