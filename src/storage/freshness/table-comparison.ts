import type { Database } from '../engine/database.ts';
import { differingRanges, type Fingerprints, fingerprintsOf } from './fingerprints.ts';
import { type WatchedName, watchedNames } from './watched-tables.ts';

/** Compares the contents of the watched tables with earlier readings, repeatedly while requests come in. */
export interface TableComparison {
  /**
   * Continues the comparison for a short while, in the background. `signs`: the current signs of the tables. A table
   * whose sign has changed is read again without comparing it, since its change is already known.
   */
  readonly advance: (signs: readonly string[]) => void;
  /** Returns the number of changes that were found without a changed sign. */
  readonly surprises: () => number;
  /**
   * Returns the period that the comparison covers: data read from the tables after `from` were still valid at `until`.
   * Undefined until every table has been read completely.
   */
  readonly coverage: () => Coverage | undefined;
}

export interface Coverage {
  readonly from: number;
  readonly until: number;
}

export interface ComparisonOptions {
  /** Maximum time between two comparisons of all tables, in milliseconds. Small tables are compared more often. */
  readonly periodMs: number;
  readonly clock: () => number;
}

/** The latest reading of a table. */
interface Known {
  readonly sign: string;
  readonly fingerprints: Fingerprints;
  /** When the first reading with these fingerprints ended. */
  readonly from: number;
  /** When the latest reading with these fingerprints began. */
  readonly until: number;
}

/** One pass through all tables: when it began, how many milliseconds its queries took, and the remaining tables. */
interface Round {
  readonly beganAt: number;
  readonly spentMs: number;
  readonly remaining: readonly WatchedName[];
}

const NO_ROUND: Round = { beganAt: Number.NEGATIVE_INFINITY, spentMs: 0, remaining: [] };

/**
 * Share of time that the queries may take: on average, as long as rounds are still frequent enough; and during a round.
 */
const USUAL_SHARE = 0.02;
const MAX_SHARE = 0.2;
/** Maximum continuous running time of the queries, in milliseconds. */
const MAX_RUN_MS = 250;
/** Minimum time between the starts of two rounds. */
const MIN_ROUND_MS = 1000;
/** If the tables are too large, the next attempt is made after this many times `periodMs`. */
const TOO_LARGE_PAUSE_FACTOR = 20;

/**
 * Creates a comparison. It runs no query until `advance` is called. A failed query ends the round, and there is no
 * coverage until another round has succeeded.
 */
export function createTableComparison(db: Database, { periodMs, clock }: ComparisonOptions): TableComparison {
  const { note, forget, ...readings } = createReadings(clock);
  let round: Round = NO_ROUND;
  let reading: (OpenReading & { readonly steps: ReturnType<typeof fingerprintsOf> }) | undefined;
  let signs: Signs = new Map();
  let credit = 0;
  let advancedAt = clock();
  let isWorking = false;

  const pause = (milliseconds: number) => {
    forget(() => true);
    reading = undefined;
    round = dueAt(clock() + milliseconds, periodMs);
  };

  /** Returns the table to continue with; undefined if the round is complete and the next one is not due. */
  const next = () => {
    if (reading) return reading;
    if (round.remaining.length === 0 && isDue(round, clock(), periodMs)) round = { beganAt: clock(), spentMs: 0, remaining: watchedNames };
    const [table, ...remaining] = round.remaining;
    if (table === undefined) return undefined;
    round = { ...round, remaining };
    reading = { table, sign: signs.get(table) ?? '', beganAt: clock(), steps: fingerprintsOf(db, table, clock) };
    return reading;
  };

  const work = async () => {
    for (let current = next(); current && credit > 0; current = next()) {
      const beganAt = clock();
      const { done, value } = await current.steps.next();
      const took = clock() - beganAt;
      credit -= took;
      round = { ...round, spentMs: round.spentMs + took };
      if (done && reading === current) {
        reading = undefined;
        note(current, value);
      }
      if (round.spentMs > MAX_SHARE * periodMs) return pause(TOO_LARGE_PAUSE_FACTOR * periodMs);
    }
  };

  return {
    advance: (now) => {
      signs = new Map(watchedNames.map((name, index) => [name, now[index] ?? '']));
      const isChanged = (table: WatchedName, sign: string) => sign !== signs.get(table);
      forget(isChanged);
      if (reading && isChanged(reading.table, reading.sign)) reading = undefined;
      credit = Math.min(MAX_RUN_MS, credit + (clock() - advancedAt) * MAX_SHARE);
      advancedAt = clock();
      if (isWorking || credit <= 0 || !next()) return;
      isWorking = true;
      work()
        .catch(() => pause(periodMs))
        .finally(() => {
          isWorking = false;
        });
    },
    ...readings,
  };
}

/** Whether the next round may begin. */
const isDue = ({ beganAt, spentMs }: Round, now: number, periodMs: number): boolean =>
  now - beganAt >= Math.min(periodMs, Math.max(MIN_ROUND_MS, spentMs / USUAL_SHARE));

/** An empty round that makes the next round due at this moment. */
const dueAt = (moment: number, periodMs: number): Round => ({ ...NO_ROUND, beganAt: moment - Math.min(periodMs, MIN_ROUND_MS) });

/** The signs of the tables at one moment. */
type Signs = ReadonlyMap<WatchedName, string>;

/** A reading of a table in progress: the sign of the table, and when the reading began. */
interface OpenReading {
  readonly table: WatchedName;
  readonly sign: string;
  readonly beganAt: number;
}

/** Keeps the latest reading of each table. `forget` drops the readings for which the callback returns true. */
function createReadings(clock: () => number) {
  const readings = new Map<WatchedName, Known>();
  let surprises = 0;
  return {
    note: ({ table, sign, beganAt }: OpenReading, fingerprints: Fingerprints): void => {
      const before = readings.get(table);
      const isSame = before !== undefined && differingRanges(before.fingerprints, fingerprints).length === 0;
      if (before && !isSame) surprises += 1;
      readings.set(table, { sign, fingerprints, from: before && isSame ? before.from : clock(), until: beganAt });
    },
    forget: (isGone: (table: WatchedName, sign: string) => boolean): void => {
      for (const [table, { sign }] of readings) if (isGone(table, sign)) readings.delete(table);
    },
    surprises: () => surprises,
    coverage: (): Coverage | undefined => {
      const all = watchedNames.map((name) => readings.get(name));
      if (!all.every((table) => table !== undefined)) return undefined;
      return { from: Math.max(...all.map(({ from }) => from)), until: Math.min(...all.map(({ until }) => until)) };
    },
  };
}
