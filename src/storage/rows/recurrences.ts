import { occurrenceHash } from '../../calendar/dates.ts';
import { groupedBy } from '../../grouped-by.ts';
import { typedKeys } from '../../typed-keys.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import type { TecOccurrenceRow } from '../engine/tables.ts';
import { postChanged } from '../journal/touched.ts';
import { loadMetas, loadPosts } from './bundle.ts';
import { insertMetas, insertPost } from './posts.ts';
import { recurringIn } from './recurring-events.ts';

/*
 * Everything that the tables hold of events that recur, for what goes in and out in bulk. All of it needs the columns
 * of `schema/recurrence-tables.ts`; series need their table.
 */

/** When an event takes place. */
export interface StoredRecurrence {
  /** Whether it recurs; otherwise there is one date. */
  readonly recurs: boolean;
  /** Its rule as iCalendar lines (`tec_events.rset`); empty: none. */
  readonly rule: string;
  readonly dates: readonly StoredDate[];
}

/** One date of it. Times are `YYYY-MM-DD HH:MM:SS`. */
export interface StoredDate {
  /** `occurrence_id`; 0: none yet. */
  readonly id: number;
  readonly start: string;
  readonly end: string;
  readonly startUtc: string;
  readonly endUtc: string;
  /** Seconds. */
  readonly duration: number;
  /** Which save of the event made the row. */
  readonly sequence: number;
  /** Whether the date was listed, not made by the rule. */
  readonly listed: boolean;
}

/** A series as its post holds it. */
export interface StoredSeries {
  readonly id: number;
  readonly columns: Readonly<Record<(typeof SERIES_COLUMNS)[number], string>>;
  readonly metas: readonly (readonly [key: string, value: string])[];
}

export const SERIES_COLUMNS = [
  'post_title',
  'post_name',
  'post_content',
  'post_excerpt',
  'post_status',
  'post_date',
  'post_date_gmt',
  'post_modified',
  'post_modified_gmt',
] as const;

const SERIES_TYPE = 'tribe_event_series';

/** Dates and rules of these events by the ids of their posts. Those without rows are left out. */
export async function loadRecurrences(db: Database, posts: readonly number[]): Promise<Map<number, StoredRecurrence>> {
  const ids = [...new Set(posts)];
  if (ids.length === 0) return new Map();
  const recurring = await recurringIn(db, ids);
  const events = await db.rows<{ post_id: number; rset: string | null }>`SELECT post_id, rset FROM {tec_events} WHERE post_id IN (${ids})`;
  const rows = await db.rows<TecOccurrenceRow>`
    SELECT * FROM {tec_occurrences} WHERE post_id IN (${ids}) ORDER BY start_date_utc, occurrence_id`;
  const dates = groupedBy(rows, ({ post_id: post }) => post, dateOf);
  const rules = new Map(events.map(({ post_id: id, rset }) => [id, rset ?? '']));
  return new Map([...dates].map(([id, own]) => [id, { recurs: recurring.has(id), rule: rules.get(id) ?? '', dates: own }]));
}

const dateOf = (row: TecOccurrenceRow): StoredDate => ({
  id: row.occurrence_id,
  start: row.start_date,
  end: row.end_date,
  startUtc: row.start_date_utc,
  endUtc: row.end_date_utc,
  duration: Number(row.duration ?? 0),
  sequence: Number(row.sequence ?? 0),
  listed: Number(row.is_rdate ?? 0) === 1,
});

/** The series that these events belong to, by the ids of their posts. An event is in one series at most. */
export async function loadSeries(db: Database, posts: readonly number[]): Promise<Map<number, StoredSeries>> {
  if (posts.length === 0) return new Map();
  const relations = await db.rows<{ event: number; series: number }>`
    SELECT event_post_id AS event, series_post_id AS series FROM {tec_series_relationships} WHERE event_post_id IN (${[...posts]})`;
  const ids = relations.map(({ series }) => series);
  const [rows, metas] = [await loadPosts(db, ids), await loadMetas(db, ids)];
  const found = new Map<number, StoredSeries>();
  for (const { event, series } of relations) {
    const row = rows.get(series);
    if (row?.post_type !== SERIES_TYPE) continue;
    const columns = Object.fromEntries(SERIES_COLUMNS.map((name) => [name, row[name]])) as StoredSeries['columns'];
    const pairs = [...(metas.get(series) ?? [])].flatMap(([key, values]) => values.map((value): [string, string] => [key, value]));
    found.set(event, { id: series, columns, metas: pairs });
  }
  return found;
}

/**
 * Makes the rows of an event those of `recurrence`. A date that is there already, by its start, keeps its id; a new one
 * gets its own where that is free.
 * `timezone`: of the event. Call it in a transaction, once the event has its row in `tec_events`.
 *
 * @returns how many dates have got another id than their own
 */
export async function writeRecurrence(
  db: Database,
  post: number,
  { recurs, rule, dates }: StoredRecurrence,
  { updatedAt, timezone, anew }: { readonly updatedAt: string; readonly timezone: string | undefined; readonly anew: boolean },
): Promise<number> {
  const [event] = await db.rows<{ id: number }>`SELECT event_id AS id FROM {tec_events} WHERE post_id = ${post}`;
  const [first] = dates;
  if (!event || !first) return 0;
  await db
    .from('tec_events')
    .where('event_id', event.id)
    .update({ rset: rule, ...momentsOf(first), updated_at: updatedAt, ...(timezone ? { timezone } : {}) });
  if (anew) await db.change`DELETE FROM {tec_occurrences} WHERE post_id = ${post}`;
  const there = await db.rows<TecOccurrenceRow>`SELECT * FROM {tec_occurrences} WHERE post_id = ${post}`;
  const known = new Map(there.map((row) => [`${row.start_date} ${row.start_date_utc}`, row.occurrence_id]));
  const knownId = (date: StoredDate) => known.get(`${date.start} ${date.startUtc}`);
  const stay = new Set(dates.map(knownId));
  // A date that has moved keeps its id too.
  const moved = new Set(there.map((row) => row.occurrence_id).filter((id) => !stay.has(id)));
  const gone = new Set(there.map((row) => row.occurrence_id));
  const taken = await db.rows<{ id: number }>`
    SELECT occurrence_id AS id FROM {tec_occurrences} WHERE occurrence_id IN (${dates.map(({ id }) => id)})`;
  const unfree = new Set(taken.map(({ id }) => id));
  const [kept, numbered, others]: [Partial<TecOccurrenceRow>[], Partial<TecOccurrenceRow>[], Partial<TecOccurrenceRow>[]] = [[], [], []];
  let renumbered = 0;
  for (const date of dates) {
    const row = { ...rowOf(post, event.id, date, updatedAt), has_recurrence: recurs ? 1 : 0 };
    const id = knownId(date) ?? (moved.has(date.id) ? date.id : undefined);
    if (id !== undefined) {
      gone.delete(id);
      kept.push({ occurrence_id: id, ...row });
    } else if (date.id === 0 || unfree.has(date.id)) others.push(row);
    else numbered.push({ occurrence_id: date.id, ...row });
    if (date.id !== 0 && (id ?? (unfree.has(date.id) ? 0 : date.id)) !== date.id) renumbered += 1;
  }
  if (gone.size > 0) await db.change`DELETE FROM {tec_occurrences} WHERE occurrence_id IN (${[...gone]})`;
  const stored = new Map(there.map((row) => [row.occurrence_id, row]));
  for (const { occurrence_id: id = 0, ...row } of kept)
    if (!isStored(row, stored.get(id))) await db.from('tec_occurrences').where('occurrence_id', id).update(row);
  await insertRows(db, 'tec_occurrences', numbered);
  await insertRows(db, 'tec_occurrences', others);
  postChanged(db, post);
  return renumbered;
}

/** Whether a row says all that it would be made to say. Of many dates a change touches few. */
const isStored = ({ updated_at: _at, ...row }: Partial<TecOccurrenceRow>, stored: TecOccurrenceRow | undefined): boolean =>
  stored !== undefined && typedKeys(row).every((name) => String(row[name]) === String(stored[name]));

const momentsOf = ({ start, end, startUtc, endUtc, duration }: StoredDate) => ({
  start_date: start,
  start_date_utc: startUtc,
  end_date: end,
  end_date_utc: endUtc,
  duration,
});

function rowOf(post_id: number, event_id: number, date: StoredDate, updated_at: string): Partial<TecOccurrenceRow> {
  const { sequence, listed } = date;
  const moments = momentsOf(date);
  return {
    event_id,
    post_id,
    ...moments,
    hash: occurrenceHash(post_id, moments),
    updated_at,
    sequence,
    is_rdate: listed ? 1 : 0,
  };
}

/**
 * Makes an event a member of a series, and of no other. A series of the same slug that is here is that one; else it is
 * made, under its own id if that is free.
 */
export async function joinSeries(db: Database, post: number, { id, columns, metas }: StoredSeries, author: number): Promise<void> {
  const [event] = await db.rows<{ id: number }>`SELECT event_id AS id FROM {tec_events} WHERE post_id = ${post}`;
  if (!event) return;
  const known = await db.rows<{ id: number }>`
    SELECT ID AS id FROM {posts} WHERE post_type = ${SERIES_TYPE} AND post_name = ${columns.post_name} ORDER BY ID`;
  let series = known[0]?.id;
  if (series === undefined) {
    const [holder] = await db.rows`SELECT ID FROM {posts} WHERE ID = ${id}`;
    const made = await insertPost(db, { ...(holder ? {} : { ID: id }), ...columns, post_author: author, post_type: SERIES_TYPE });
    series = holder ? made : id;
    await insertMetas(db, new Map([[series, groupedMetas(metas)]]));
  }
  await db.change`DELETE FROM {tec_series_relationships} WHERE event_post_id = ${post}`;
  await insertRows(db, 'tec_series_relationships', [{ series_post_id: series, event_id: event.id, event_post_id: post }]);
  postChanged(db, post);
}

const groupedMetas = (metas: StoredSeries['metas']): Record<string, string[]> =>
  Object.fromEntries(
    groupedBy(
      metas,
      ([key]) => key,
      ([, value]) => value,
    ),
  );
