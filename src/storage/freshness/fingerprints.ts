import type { Database } from '../engine/database.ts';
import { hasWatchedTable, WATCHED, type WatchedName } from './watched-tables.ts';

/**
 * Fingerprints of the rows of a table: first key of a range -> the number of rows in the range and a digest of their
 * contents. Empty ranges are absent.
 */
export type Fingerprints = ReadonlyMap<number, string>;

/** A range of keys: `from` is included, `to` is not. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
}

/** Number of keys in a range. */
export const KEYS_PER_RANGE = 256;

/**
 * Returns the ranges of keys in which two readings of a table differ, in order, with adjacent ranges joined. A range
 * whose rows were all added or all removed is included.
 */
export function differingRanges(before: Fingerprints, after: Fingerprints): KeyRange[] {
  const starts = [...new Set([...before.keys(), ...after.keys()])]
    .filter((start) => before.get(start) !== after.get(start))
    .sort((one, other) => one - other);
  const ranges: KeyRange[] = [];
  for (const start of starts) {
    const last = ranges.at(-1);
    if (last?.to === start) ranges[ranges.length - 1] = { from: last.from, to: start + KEYS_PER_RANGE };
    else ranges.push({ from: start, to: start + KEYS_PER_RANGE });
  }
  return ranges;
}

/** Target duration of one query, in milliseconds. The number of ranges that the next query reads is adjusted to it. */
const TARGET_QUERY_MS = 10;
const MAX_RANGES = 1024;

/**
 * Reads a whole table in short queries and returns the fingerprints of its ranges; an empty map if the table does not
 * exist. Each `next()` runs one or two queries, so the caller decides when they run.
 */
export async function* fingerprintsOf(
  db: Database,
  table: WatchedName,
  clock: () => number = () => performance.now(),
): AsyncGenerator<undefined, Fingerprints, undefined> {
  const fingerprints = new Map<number, string>();
  if (!(await hasWatchedTable(db, table))) return fingerprints;
  let from = 0;
  let ranges = 1;
  for (;;) {
    const startedAt = clock();
    const to = from + ranges * KEYS_PER_RANGE;
    const rows = await fingerprintsBetween(db, table, { from, to });
    for (const { start, fingerprint } of rows) fingerprints.set(Number(start), fingerprint);
    const next = rows.length > 0 ? to : await firstKey(db, table, to);
    if (next === undefined) return fingerprints;
    from = next - (next % KEYS_PER_RANGE);
    ranges = Math.max(1, Math.min(MAX_RANGES, Math.round((ranges * TARGET_QUERY_MS) / Math.max(clock() - startedAt, 1))));
    yield;
  }
}

interface Found {
  readonly start: number | string;
  readonly fingerprint: string;
}

async function fingerprintsBetween(db: Database, table: WatchedName, { from, to }: KeyRange): Promise<Found[]> {
  const { key, plain, texts } = WATCHED[table];
  // Each text is preceded by its length, -1 for NULL, so that no two different rows give the same text.
  const parts = [...plain.map((name) => `\`${name}\``), ...texts.flatMap((name) => [`COALESCE(LENGTH(\`${name}\`), -1)`, `\`${name}\``])];
  return db
    .from(table)
    .where(key, '>=', from)
    .where(key, '<', to)
    .select(
      db.raw(`\`${key}\` - \`${key}\` % ${KEYS_PER_RANGE} AS start`),
      db.raw(`${db.dialect.fingerprint(`CONCAT_WS('|', ${parts.join(', ')})`)} AS fingerprint`),
    )
    .groupBy('start');
}

async function firstKey(db: Database, table: WatchedName, from: number): Promise<number | undefined> {
  const { key } = WATCHED[table];
  const [row]: { first: number | null }[] = await db.from(table).where(key, '>=', from).min(`${key} as first`);
  return row?.first === null || row?.first === undefined ? undefined : Number(row.first);
}
