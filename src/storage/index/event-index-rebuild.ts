import type { ContentLanguages } from '../../wordpress/content-languages.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { insertMissing } from '../engine/insert.ts';
import type { DayRow, EntryRow } from '../engine/own-tables.ts';
import { verbatim } from '../engine/statement.ts';
import { joinWriters, noteChange } from '../journal/reported-changes.ts';
import { countRows } from '../rows/row-count.ts';
import { countsUnder, enableIndexSince, indexEvents, markRebuild } from './event-index.ts';
import {
  ALL_EVENTS,
  beginOf,
  countsOf,
  dayOf,
  earliestShortStart,
  type Facet,
  facetOfCount,
  monthOf,
  monthRow,
} from './event-index-rows.ts';

/** Sizes of the steps. Each step is a short transaction, so that other reads and writes can happen in between. */
const EVENTS_PER_STEP = 200;
const ENTRIES_PER_STEP = 5000;

/** The result of rebuilding the index. */
export interface ReindexResult {
  readonly events: number;
  /** Events whose dates or links cannot be indexed. If there are any, lists do not use the index. */
  readonly unindexable: readonly number[];
  /** Whether lists do not use the index because other transactions gave it up each time while it was being rebuilt. */
  readonly isGivenUp: boolean;
}

/** Options of a rebuild. `marksComplete`: whether lists use the index afterwards. */
interface ReindexOptions {
  readonly marksComplete: boolean;
  /** The languages of the content, if it has languages. */
  readonly languages?: ContentLanguages | undefined;
  /** Called with the number of events processed since the last call. */
  readonly onProgress?: (events: number) => void;
  /** If the index has no more rows than this, only facets with wrong counts are counted again. */
  readonly maxRowsAtOnce?: number;
  /** Indexes these events; it may index others too, which are then not indexed again. By default `indexEvents`. */
  readonly index?: (db: Database, ids: readonly number[]) => Promise<IndexedStep>;
}

interface IndexedStep {
  readonly indexed: Iterable<number>;
  /** Those among them that cannot be indexed. */
  readonly unindexable: readonly number[];
}

/** Number of times that a rebuild starts over if the index is given up while it runs. */
const MAX_REPEATS = 2;

/**
 * Rebuilds the list index from WordPress's tables, and marks it complete (if `marksComplete`; else rows are created
 * but not used). Other transactions may write in the meantime: they update the rows of their own events. If one of them
 * gives up the index, the rebuild starts over.
 */
export async function reindexEvents(db: Database, now: () => Date, options: ReindexOptions): Promise<ReindexResult> {
  const { marksComplete, languages } = options;
  for (let repeats = 0; ; repeats += 1) {
    const mark = await db.transaction(markRebuild);
    const result = await rebuild(db, options);
    const isGivenUp = await db.transaction(async (trx) => {
      noteChange(trx, { now: now() });
      return marksComplete && result.unindexable.length === 0 && !(await enableIndexSince(trx, mark, languages));
    });
    if (!isGivenUp || repeats === MAX_REPEATS) return { ...result, isGivenUp };
  }
}

/** Writes all rows of the index once. */
async function rebuild(
  db: Database,
  {
    onProgress = () => undefined,
    languages,
    maxRowsAtOnce = ENTRIES_PER_STEP,
    index = async (trx, ids) => ({ indexed: ids, unindexable: await indexEvents(trx, ids, languages) }),
  }: ReindexOptions,
): Promise<Pick<ReindexResult, 'events' | 'unindexable'>> {
  const [indexed, unindexable] = [new Set<number>(), new Set<number>()];
  let events = 0;
  for (let after = 0; ; ) {
    const indexRest: typeof index = (trx, ids) =>
      index(
        trx,
        ids.filter((id) => !indexed.has(id)),
      );
    const step = await db.transaction((trx) => joinWritersAfter(trx, indexAfter(trx, after, indexRest)));
    // Only now, since a step may have been repeated.
    for (const id of step.indexed) indexed.add(id);
    for (const id of step.unindexable) unindexable.add(id);
    events += step.ids.length;
    onProgress(step.ids.length);
    if (step.last === undefined) break;
    after = step.last;
  }
  await recountAll(db, maxRowsAtOnce);
  return { events, unindexable: [...unindexable] };
}

/** Waits for a step, and makes its transaction join the writers. */
async function joinWritersAfter<T>(db: Database, step: Promise<T>): Promise<T> {
  const result = await step;
  joinWriters(db);
  return result;
}

/** Counts the events in all statuses. */
export async function countEvents(db: Database): Promise<number> {
  return countRows(db.from('posts').where('post_type', 'tribe_events'));
}

/**
 * Indexes the next events by their ids, including all index rows with ids up to the last of them; if these are the last
 * events, all following index rows.
 */
async function indexAfter(
  db: Database,
  after: number,
  index: NonNullable<ReindexOptions['index']>,
): Promise<IndexedStep & { readonly ids: number[]; readonly last: number | undefined }> {
  const posts = await db.rows<{ ID: number }>`
    SELECT ID FROM {posts} WHERE post_type = 'tribe_events' AND ID > ${after} ORDER BY ID LIMIT ${EVENTS_PER_STEP} ${verbatim(db.dialect.locks.update)}`;
  const ids = posts.map(({ ID }) => ID);
  const last = ids.length === EVENTS_PER_STEP ? ids.at(-1) : undefined;
  const query = db.from('fasti_entries').where('post_id', '>', after).distinct('post_id');
  if (last !== undefined) query.where('post_id', '<=', last);
  const indexedIds = (await query).map(({ post_id: id }) => id);
  return { ids, last, ...(await index(db, [...new Set([...ids, ...indexedIds])])) };
}

// ------------------------------------------------------------------------------------------------- counts of days
/** Corrects all counts. */
async function recountAll(db: Database, maxRows: number): Promise<void> {
  // While the rows of days are locked, no other transaction changes entries that they count, so counts that match are
  // correct.
  const facets = await db.transaction((trx) => wholeIndex(trx, maxRows, (rows) => rows.forUpdate()));
  if (facets) for (const { facet, entries, days } of facets) if (!areCountsCorrect(entries, days)) await recount(db, facet);
  if (facets) return;
  for (let facet: Facet | undefined = ALL_EVENTS; facet !== undefined; facet = await facetAfter(db, facet)) await recount(db, facet);
}

/** Corrects the counts of a facet: first of its days, and then of its months, which are the sums of its days. */
async function recount(db: Database, facet: Facet): Promise<void> {
  for (let day: number | undefined = 0; day !== undefined; ) {
    const first: number = day;
    day = await db.transaction((trx) => joinWritersAfter(trx, recountDays(trx, facet, first)));
  }
  await db.transaction((trx) => {
    const work = correctRows(
      trx,
      facet,
      (rows) => rows.where('day', '<', 0),
      () => countMonths(trx, facet),
    );
    return joinWritersAfter(trx, work);
  });
}

/**
 * Whether the counts of days and months differ from the sums of the entries. Only reads. Tables to `maxRowsAtOnce` rows
 * are read as a whole, instead of with several queries for each facet. `fails` runs each of the checks; it may repeat
 * one that has failed while no other process can write.
 */
export async function hasWrongCounts(
  db: Database,
  maxRowsAtOnce = ENTRIES_PER_STEP,
  fails = (check: (db: Database) => Promise<boolean>): Promise<boolean> => check(db),
): Promise<boolean> {
  let isLarge = false;
  const isWrong = await fails(async (reader) => {
    const facets = await wholeIndex(reader, maxRowsAtOnce);
    isLarge = facets === undefined;
    return facets?.some(({ entries, days }) => !areCountsCorrect(entries, days)) ?? false;
  });
  if (!isLarge) return isWrong;
  for (let facet: Facet | undefined = ALL_EVENTS; facet !== undefined; facet = await facetAfter(db, facet))
    if (await hasWrongCountsIn(db, facet, fails)) return true;
  return false;
}

/** Does the same for one facet, with several queries. */
async function hasWrongCountsIn(db: Database, facet: Facet, fails: NonNullable<Parameters<typeof hasWrongCounts>[2]>): Promise<boolean> {
  for (let day: number | undefined = 0; day !== undefined; ) {
    const first: number = day;
    const { until, inRange } = await rangeFrom(db, facet, first);
    const areDaysWrong = async (reader: Database) =>
      areDifferent(await inRange(countsUnder(reader, facet)), await countDays(reader, facet, first, until));
    if (await fails(areDaysWrong)) return true;
    day = until === undefined ? undefined : until + 1;
  }
  return fails(async (reader) => areDifferent(await countsUnder(reader, facet).where('day', '<', 0), await countMonths(reader, facet)));
}

interface FacetRows {
  readonly facet: Facet;
  readonly entries: readonly EntryRow[];
  readonly days: readonly DayRow[];
}

/**
 * Reads both tables, grouped by facet; undefined if one has more than `limit` rows. `narrowDays`: modifies the query
 * for the days, which are read first.
 */
async function wholeIndex(
  db: Database,
  limit: number,
  narrowDays: (rows: QueryBuilder) => QueryBuilder = (rows) => rows,
): Promise<FacetRows[] | undefined> {
  const counts: DayRow[] = await narrowDays(db.from('fasti_days').limit(limit + 1));
  if (counts.length > limit) return undefined;
  const entries = await db.from('fasti_entries').limit(limit + 1);
  if (entries.length > limit) return undefined;
  const byFacet = new Map<Facet, { facet: Facet; entries: EntryRow[]; days: DayRow[] }>();
  const rowsOf = (facet: Facet) => {
    const rows = byFacet.get(facet) ?? { facet, entries: [], days: [] };
    byFacet.set(facet, rows);
    return rows;
  };
  for (const row of entries) rowsOf(row.facet).entries.push(row);
  for (const row of counts) rowsOf(facetOfCount(row.facet)).days.push(row);
  return [...byFacet.values()].filter(({ facet }) => facet >= ALL_EVENTS);
}

const areCountsCorrect = (entries: readonly EntryRow[], rows: readonly DayRow[]): boolean =>
  !areDifferent(
    rows.filter(({ day }) => day >= 0),
    daysOf(entries, 0, undefined),
  ) &&
  !areDifferent(
    rows.filter(({ day }) => day < 0),
    monthsOf(rows),
  );

/** Whether rows differ from the correct counts. A row with zeros may be present or absent. */
function areDifferent(rows: readonly DayRow[], expected: CorrectCounts): boolean {
  const keys = new Set(rows.map(keyOf));
  return (
    rows.some((row) => isDifferent(row, expected.get(keyOf(row)))) ||
    [...expected.values()].some((row) => !keys.has(keyOf(row)) && (row.n !== 0 || row.running !== 0))
  );
}

/** The correct rows, by their keys. */
type CorrectCounts = ReadonlyMap<string, DayRow>;
const keyOf = ({ facet, day }: Pick<DayRow, 'facet' | 'day'>): string => `${facet}:${day}`;
const isDifferent = ({ n, running }: DayRow, expected: DayRow | undefined): boolean =>
  n !== (expected?.n ?? 0) || running !== (expected?.running ?? 0);

/** Returns the next facet that has entries or counts. */
async function facetAfter(db: Database, facet: Facet): Promise<Facet | undefined> {
  const next = await Promise.all(
    (['fasti_entries', 'fasti_days'] as const).map(async (table) => {
      const row: { facet?: number | null } | undefined = await db.from(table).where('facet', '>', facet).min({ facet: 'facet' }).first();
      return row?.facet ?? Number.POSITIVE_INFINITY;
    }),
  );
  const following = Math.min(...next);
  return Number.isFinite(following) ? following : undefined;
}

/**
 * Corrects a range of days from this one on, sized to a few thousand entries. Returns the day to continue with, if
 * there are more.
 */
async function recountDays(db: Database, facet: Facet, day: number): Promise<number | undefined> {
  const { until, inRange } = await rangeFrom(db, facet, day);
  await correctRows(db, facet, inRange, () => countDays(db, facet, day, until));
  return until === undefined ? undefined : until + 1;
}

/** Returns a range of days from this one on, sized to a few thousand entries, with its last day if there are more. */
async function rangeFrom(
  db: Database,
  facet: Facet,
  day: number,
): Promise<{ until: number | undefined; inRange: (rows: QueryBuilder) => QueryBuilder }> {
  const nextEntries = await entries(db, facet)
    .where('start_at', '>=', beginOf(day))
    .orderBy('start_at')
    .offset(ENTRIES_PER_STEP)
    .limit(1)
    .select('start_at');
  // The range includes the whole day on which the last of these entries starts.
  const until = nextEntries[0] ? dayOf(nextEntries[0].start_at) : undefined;
  const inRange = (rows: QueryBuilder): QueryBuilder => {
    rows.where('day', '>=', day);
    if (until !== undefined) rows.where('day', '<=', until);
    return rows;
  };
  return { until, inRange };
}

/**
 * Sets the rows of a facet in a range to the result of `count`. Before counting, the rows are locked and missing rows
 * are inserted. Therefore a concurrent writer has written either both the entries and the counts, or neither.
 */
async function correctRows(
  db: Database,
  facet: Facet,
  inRange: (rows: QueryBuilder) => QueryBuilder,
  count: () => Promise<CorrectCounts>,
): Promise<void> {
  const readLocked = async (): Promise<DayRow[]> => inRange(countsUnder(db, facet)).forUpdate();
  const before = await readLocked();
  const keys = new Set(before.map(keyOf));
  const missingRows = [...(await count()).values()].filter((row) => !keys.has(keyOf(row)));
  await insertMissing(
    db,
    'fasti_days',
    missingRows.map((row) => ({ ...row, n: 0, running: 0 })),
    ['facet', 'day'],
  );
  const counts = await count();
  for (const row of missingRows.length > 0 ? await readLocked() : before) {
    const expected = counts.get(keyOf(row));
    if (!isDifferent(row, expected)) continue;
    const { n, running } = expected ?? { n: 0, running: 0 };
    await db.from('fasti_days').where({ facet: row.facet, day: row.day }).update({ n, running });
  }
}

const entries = (db: Database, facet: Facet) => db.from('fasti_entries').where('facet', facet);

/**
 * Computes the correct counts of the days of a facet. Events that began earlier and continue into these days are
 * included.
 */
async function countDays(db: Database, facet: Facet, first: number, last: number | undefined): Promise<CorrectCounts> {
  const rows = entries(db, facet).where('start_at', '>=', beginOf(earliestDayReaching(first)));
  if (last !== undefined) rows.where('start_at', '<', beginOf(last + 1));
  return daysOf(await rows, first, last);
}

function daysOf(entries: readonly EntryRow[], first: number, last: number | undefined): CorrectCounts {
  const counts = new Map<string, DayRow>();
  for (const count of entries.flatMap(countsOf)) {
    if (count.day < first || (last !== undefined && count.day > last)) continue;
    const sum = counts.get(keyOf(count));
    counts.set(keyOf(count), sum ? { ...sum, n: sum.n + count.n, running: sum.running + count.running } : count);
  }
  return counts;
}

/** Computes the correct counts of the months of a facet from the current counts of its days. */
const countMonths = async (db: Database, facet: Facet): Promise<CorrectCounts> =>
  monthsOf(await countsUnder(db, facet).where('day', '>=', 0).where('n', '>', 0));

function monthsOf(rows: readonly DayRow[]): CorrectCounts {
  const counts = new Map<string, DayRow>();
  for (const { facet, day, n } of rows) {
    if (day < 0 || n <= 0) continue;
    const month = { facet, day: monthRow(monthOf(day)) };
    counts.set(keyOf(month), { ...month, n: n + (counts.get(keyOf(month))?.n ?? 0), running: 0 });
  }
  return counts;
}

/**
 * Returns the first day on which a short event can begin that continues past a midnight of this day or later. `day`:
 * the day after a real day, or 0.
 */
const earliestDayReaching = (day: number): number => (day === 0 ? 0 : dayOf(earliestShortStart(beginOf(day - 1))));
