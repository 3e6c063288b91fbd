import { event } from '../../kinds/event.ts';
import { DATES } from '../../kinds/events/metas.ts';
import { type EventDate, SEQUENCE, sequenceNumber } from '../../kinds/events/occurrence.ts';
import type { Database } from '../engine/database.ts';
import type { TecOccurrenceRow } from '../engine/tables.ts';
import { allPosts, dependingOn } from '../journal/dependencies.ts';
import { reportPostChanged } from '../journal/reported-changes.ts';

/*
 * Recurring events in the occurrence tables. Except for `isRecurring` and `datedPostsOnDay`, these functions need the
 * columns of `schema/recurrence-tables.ts`: call them only if the settings have a base for public ids.
 */

/** Whether rows belong to a recurring event: there are several, or the single row is marked as recurring. */
export const isRecurring = (rows: readonly Pick<TecOccurrenceRow, 'has_recurrence'>[]): boolean =>
  rows.length > 1 || rows.some(({ has_recurrence: flag }) => Number(flag ?? 0) === 1);

/** Returns those of these events that recur according to their occurrences, by the ids of their posts. */
export async function recurringByRows(db: Database, posts: readonly number[]): Promise<Set<number>> {
  if (posts.length === 0) return new Set();
  const rows = await dependingOn(db, posts).rows<{ id: number }>`
    SELECT post_id AS id FROM {tec_occurrences} WHERE post_id IN (${[...new Set(posts)]})
    GROUP BY post_id HAVING COUNT(*) > 1 OR MAX(has_recurrence) = 1`;
  return new Set(rows.map(({ id }) => id));
}

/** Returns those of these events that recur: they have a rule, or rows for several dates. */
export async function recurringByRuleOrRows(db: Database, posts: readonly number[]): Promise<Set<number>> {
  if (posts.length === 0) return new Set();
  const rows = await db.rows<{ id: number }>`
    SELECT post_id AS id FROM {tec_events} WHERE post_id IN (${[...posts]}) AND rset IS NOT NULL AND rset <> ''
    UNION ALL SELECT post_id FROM {tec_occurrences} WHERE post_id IN (${[...posts]})
    GROUP BY post_id HAVING COUNT(*) > 1 OR MAX(has_recurrence) = 1`;
  return new Set(rows.map(({ id }) => id));
}

/** Whether an event has a rule, or rows for several dates. */
export const isRecurringEvent = async (db: Database, post: number): Promise<boolean> => (await recurringByRuleOrRows(db, [post])).has(post);

/** Returns the local starts of all dates of those of these events that recur. */
export async function startsOfRecurring(db: Database, posts: readonly number[]): Promise<{ post: number; start: string }[]> {
  const recurring = await recurringByRows(db, posts);
  if (recurring.size === 0) return [];
  return db.rows<{ post: number; start: string }>`
    SELECT post_id AS post, start_date AS start FROM {tec_occurrences} WHERE post_id IN (${[...recurring]})
    ORDER BY start_date, occurrence_id`;
}

/** Returns the ids (`occurrence_id`) of the dates of an event that begin on a day, `YYYY-MM-DD`, in order. */
export async function occurrencesOnDay(db: Database, post: number, day: string): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT occurrence_id AS id FROM {tec_occurrences} WHERE post_id = ${post} AND DATE(start_date) = ${day} ORDER BY start_date`;
  return rows.map(({ id }) => id);
}

/** Returns the ids (`occurrence_id`) of the dates of an event that start at a time, UTC. */
export async function occurrencesAt(db: Database, post: number, startUtc: string): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT occurrence_id AS id FROM {tec_occurrences} WHERE post_id = ${post} AND start_date_utc = ${startUtc}`;
  return rows.map(({ id }) => id);
}

/**
 * Returns the posts that begin on a day of an event in the old format of recurrence, in which each date is a post. Each
 * has its number among several of the day. The first is shown at the address without a number: published ones come
 * first. Does not need the additional columns.
 */
export async function datedPostsOnDay(
  db: Database,
  parent: number,
  day: string,
): Promise<{ readonly id: number; readonly number: number }[]> {
  const rows = await db.rows<{ id: number; status: string; sequence: string | null }>`
    SELECT p.ID AS id, p.post_status AS status, s.meta_value AS sequence
    FROM {posts} p JOIN {postmeta} m ON m.post_id = p.ID AND m.meta_key = ${DATES.start}
    LEFT JOIN {postmeta} s ON s.post_id = p.ID AND s.meta_key = ${SEQUENCE}
    WHERE p.post_type = 'tribe_events' AND (p.post_parent = ${parent} OR p.ID = ${parent}) AND m.meta_value LIKE ${`${day} %`}
      AND EXISTS (SELECT 1 FROM {postmeta} r WHERE r.post_id = p.ID AND r.meta_key = '_EventRecurrence' AND r.meta_value LIKE '%"rules"%')
    ORDER BY m.meta_value, p.ID`;
  const rank = (status: string): number => (status === 'publish' ? 0 : status === 'private' ? 1 : 2);
  return rows
    .map(({ id, status, sequence }) => ({ id, rank: rank(status), number: sequenceNumber(sequence ?? '') ?? 1 }))
    .sort((one, other) => one.rank - other.rank || one.number - other.number);
}

/**
 * Reports the other dates of an event in the old format of recurrence as changed: their URLs contain its slug while it
 * is public.
 */
export async function touchDatedPosts(db: Database, parent: number): Promise<void> {
  const rows = await db.rows<{ id: number }>`SELECT ID AS id FROM {posts} WHERE post_parent = ${parent} AND post_type = ${event.postType}`;
  for (const { id } of rows) reportPostChanged(db, id);
}

/** Reads the occurrences among these record ids, which are those above the base. Ids without a row are left out. */
export async function loadOccurrences(db: Database, records: readonly number[], base: number): Promise<EventDate[]> {
  const ids = [...new Set(records.filter((id) => id > base))].map((id) => id - base);
  if (ids.length === 0) return [];
  const rows = await dependingOn(db, [allPosts(event.postType)]).rows<OccurrenceRow>`
    SELECT o.occurrence_id, o.post_id, o.start_date, o.end_date, o.start_date_utc, o.end_date_utc, o.duration, o.has_recurrence,
      COUNT(*) AS of_event, SUM(DATE(x.start_date) = DATE(o.start_date)) AS of_day,
      SUM(DATE(x.start_date) = DATE(o.start_date) AND x.start_date <= o.start_date) AS place
    FROM {tec_occurrences} o JOIN {tec_occurrences} x ON x.post_id = o.post_id WHERE o.occurrence_id IN (${ids})
    GROUP BY o.occurrence_id, o.post_id, o.start_date, o.end_date, o.start_date_utc, o.end_date_utc, o.duration, o.has_recurrence`;
  return rows.map((row) => ({
    id: base + row.occurrence_id,
    post: row.post_id,
    start: row.start_date,
    end: row.end_date,
    startUtc: row.start_date_utc,
    endUtc: row.end_date_utc,
    duration: Number(row.duration ?? 0),
    recurs: Number(row.of_event) > 1 || Number(row.has_recurrence ?? 0) === 1,
    sameDay: Number(row.of_day),
    position: Number(row.place),
  }));
}

interface OccurrenceRow extends Omit<TecOccurrenceRow, 'event_id' | 'hash' | 'updated_at'> {
  readonly of_event: number | string;
  readonly of_day: number | string;
  readonly place: number | string;
}
