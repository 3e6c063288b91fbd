import type { Database } from '../engine/database.ts';
import { differingRanges, type Fingerprints, fingerprintsOf } from './fingerprints.ts';
import { type WatchedName, watchedNames } from './watched-tables.ts';

/** Compares the contents of the watched tables with what they were, again and again, while requests come in. */
export interface TableComparison {
  /**
   * Goes on for a short while, in the background. `signs` are those of the tables at this moment. A table whose sign
   * has changed is read again and not compared, since its change is known.
   */
  readonly advance: (signs: readonly string[]) => void;
  /** How many changes were found that no sign had shown. */
  readonly surprises: () => number;
  /**
   * What the comparison can tell: what was read from the tables after `from` was still right at `until`. Undefined
   * until every table has been read as a whole.
   */
  readonly coverage: () => Coverage | undefined;
}

export interface Coverage {
  readonly from: number;
  readonly until: number;
}

export interface ComparisonOptions {
  /** How often, in milliseconds, all tables are compared at least. Small tables are compared more often. */
  readonly within: number;
  readonly clock: () => number;
}

/** The latest reading of a table. */
interface Known {
  readonly sign: string;
  readonly fingerprints: Fingerprints;
  /** When the first reading that gave these fingerprints ended. */
  readonly from: number;
  /** When the latest reading that gave them began. */
  readonly until: number;
}

/** One pass through all tables: when it began, how many milliseconds its queries took, and which tables are left. */
interface Round {
  readonly begun: number;
  readonly spent: number;
  readonly left: readonly WatchedName[];
}

const NO_ROUND: Round = { begun: Number.NEGATIVE_INFINITY, spent: 0, left: [] };

/**
 * The share of time that its queries may take: on average, as long as rounds still come often enough, and during a
 * round.
 */
const USUAL_SHARE = 0.02;
const LARGEST_SHARE = 0.2;
/** For how many milliseconds they may run at once. */
const LONGEST_MS = 250;
/** The shortest time between the beginnings of two rounds. */
const SHORTEST_ROUND_MS = 1000;
/** Tables that are too large are not tried again for so many times `within`. */
const TOO_LARGE_PAUSE = 20;

/**
 * Prepares a comparison. It runs no query until `advance` is called. A failed query ends the round; until another has
 * succeeded there is no coverage.
 */
export function createTableComparison(db: Database, { within, clock }: ComparisonOptions): TableComparison {
  const { note, forget, ...told } = createReadings(clock);
  let round: Round = NO_ROUND;
  let reading: (Begun & { readonly steps: ReturnType<typeof fingerprintsOf> }) | undefined;
  let signs: Signs = new Map();
  let credit = 0;
  let asked = clock();
  let working = false;

  const rest = (milliseconds: number) => {
    forget(() => true);
    reading = undefined;
    round = dueAt(clock() + milliseconds, within);
  };

  /** The table to read on in; undefined: the round is over, and the next one not due. */
  const next = () => {
    if (reading) return reading;
    if (round.left.length === 0 && isDue(round, clock(), within)) round = { begun: clock(), spent: 0, left: watchedNames };
    const [table, ...left] = round.left;
    if (table === undefined) return undefined;
    round = { ...round, left };
    reading = { table, sign: signs.get(table) ?? '', begun: clock(), steps: fingerprintsOf(db, table, clock) };
    return reading;
  };

  const work = async () => {
    for (let current = next(); current && credit > 0; current = next()) {
      const begun = clock();
      const { done, value } = await current.steps.next();
      const took = clock() - begun;
      credit -= took;
      round = { ...round, spent: round.spent + took };
      if (done && reading === current) {
        reading = undefined;
        note(current, value);
      }
      if (round.spent > LARGEST_SHARE * within) return rest(TOO_LARGE_PAUSE * within);
    }
  };

  return {
    advance: (now) => {
      signs = new Map(watchedNames.map((name, index) => [name, now[index] ?? '']));
      const isChanged = (table: WatchedName, sign: string) => sign !== signs.get(table);
      forget(isChanged);
      if (reading && isChanged(reading.table, reading.sign)) reading = undefined;
      credit = Math.min(LONGEST_MS, credit + (clock() - asked) * LARGEST_SHARE);
      asked = clock();
      if (working || credit <= 0 || !next()) return;
      working = true;
      work()
        .catch(() => rest(within))
        .finally(() => {
          working = false;
        });
    },
    ...told,
  };
}

/** Whether the next round may begin. */
const isDue = ({ begun, spent }: Round, now: number, within: number): boolean =>
  now - begun >= Math.min(within, Math.max(SHORTEST_ROUND_MS, spent / USUAL_SHARE));

/** No round, and the next one due at this moment. */
const dueAt = (moment: number, within: number): Round => ({ ...NO_ROUND, begun: moment - Math.min(within, SHORTEST_ROUND_MS) });

/** The signs of the tables at one moment. */
type Signs = ReadonlyMap<WatchedName, string>;

/** The reading of a table that has begun: with which sign, and when. */
interface Begun {
  readonly table: WatchedName;
  readonly sign: string;
  readonly begun: number;
}

/** The latest reading of each table. `forget` drops those of tables, with their signs, that are named to it. */
function createReadings(clock: () => number) {
  const known = new Map<WatchedName, Known>();
  let surprises = 0;
  return {
    note: ({ table, sign, begun }: Begun, fingerprints: Fingerprints): void => {
      const before = known.get(table);
      const same = before !== undefined && differingRanges(before.fingerprints, fingerprints).length === 0;
      if (before && !same) surprises += 1;
      known.set(table, { sign, fingerprints, from: before && same ? before.from : clock(), until: begun });
    },
    forget: (isGone: (table: WatchedName, sign: string) => boolean): void => {
      for (const [table, { sign }] of known) if (isGone(table, sign)) known.delete(table);
    },
    surprises: () => surprises,
    coverage: (): Coverage | undefined => {
      const all = watchedNames.map((name) => known.get(name));
      if (!all.every((table) => table !== undefined)) return undefined;
      return { from: Math.max(...all.map(({ from }) => from)), until: Math.min(...all.map(({ until }) => until)) };
    },
  };
}
