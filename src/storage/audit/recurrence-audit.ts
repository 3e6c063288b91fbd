import { isTimeAt } from '../../calendar/dates.ts';
import { startsOfRules } from '../../calendar/recurrence-meta.ts';
import { baseAbove, highestIdBelow, OCCURRENCE_BASE_OPTION, type RecurrenceSettings } from '../../calendar/settings.ts';
import { groupedBy } from '../../grouped-by.ts';
import { DATES } from '../../kinds/events/metas.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import { type Metas, metaOf } from '../../wordpress/rows.ts';
import { textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { localFromUnix, unixFromLocal } from '../../wordpress/zones.ts';
import type { Database } from '../engine/database.ts';
import { pagesById } from '../engine/pages.ts';
import type { SeriesRelationshipRow, TecEventRow, TecOccurrenceRow } from '../engine/tables.ts';
import { loadMetas, loadMetasOf } from '../rows/bundle.ts';
import { highestPostId } from '../rows/ids-in-use.ts';
import { writeOption } from '../rows/options.ts';
import { removeRows } from '../rows/own-numbers.ts';
import { lockPost } from '../rows/posts.ts';
import { loadRecurrences, writeRecurrence } from '../rows/recurrences.ts';
import { calendarEvents, datesOfRule, lastRuleRow, type RuleDates, rowsOfRule } from '../rows/rule-dates.ts';
import { isMarked, recursBy } from './recurs.ts';

/*
 * Checks whether the tables' data about recurring events are consistent. All functions need the columns of
 * `schema/recurrence-tables.ts`.
 */

/** A fault of a recurring event. */
export type RecurrenceFault =
  /** Its rule can't be parsed. */
  | 'rule-unreadable'
  /** Its rows differ from the dates of its rule. */
  | 'dates-differ'
  /** Its first row differs from the date of the event itself. */
  | 'first-differs'
  /** Its rows are not marked as recurring, or those of an event that does not recur are. */
  | 'flag-wrong'
  /** The rules in its meta, from which WordPress generates the dates at the next save, give other dates. */
  | 'rules-differ'
  /** It has rows from several saves. */
  | 'saves-mixed'
  /**
   * Its rule has no end, and its last row is near. The calendar's paid extension, which adds further rows, seems to
   * have stopped.
   */
  | 'runs-out';

export interface RecurrenceFinding {
  readonly post: number;
  readonly fault: RecurrenceFault;
}

const BATCH_SIZE = 200;
/** If the last row of a rule without end is fewer days away than this, further rows should have been added. */
const NEAR_DAYS = 31;

/**
 * Checks all events that have a rule, several rows or a row that is marked as recurring.
 *
 * @param now UTC, `YYYY-MM-DD HH:MM:SS`
 */
export async function* auditRecurrences(db: Database, now: string): AsyncGenerator<RecurrenceFinding> {
  const horizon = textFromUnix(unixFromText(now) + NEAR_DAYS * 86_400);
  for await (const ids of pagesById(BATCH_SIZE, (after, size) => eventsWithRules(db, after, size))) {
    const [events, rows, metas] = [await calendarEvents(db, ids), await occurrenceRows(db, ids), await loadMetas(db, ids)];
    for (const post of ids) {
      const event = events.get(post);
      const stored = { rows: rows.get(post) ?? [], metas: metas.get(post) };
      if (event) for (const fault of faultsOf(event, stored, horizon)) yield { post, fault };
    }
  }
}

/**
 * Replaces the rows of an event by the dates of its rule; does nothing if the rule can't be parsed, or if the rows have
 * become correct since the fault was found. The event is locked first. Must be called in a transaction. `now`: UTC.
 */
export async function repairRecurrence(db: Database, post: number, now: string): Promise<void> {
  if (!(await lockPost(db, post))) return;
  const event = (await calendarEvents(db, [post])).get(post);
  const stored = (await loadRecurrences(db, [post])).get(post);
  if (!event || !stored) return;
  const storedRows = (await occurrenceRows(db, [post])).get(post) ?? [];
  const dates = datesOfRule(event, storedRows);
  if (!dates || dates.dates.length === 0 || areRowsOf(dates, storedRows)) return;
  const rows = { ...stored, recurs: true, dates: rowsOfRule(stored, dates) };
  await writeRecurrence(db, post, rows, { updatedAt: now, timezone: event.timezone, isNewEvent: false });
}

/**
 * Marks the rows of an event as recurring or, if it does not recur, as not recurring. The event is locked first. Must
 * be called in a transaction.
 */
export async function repairFlag(db: Database, post: number): Promise<void> {
  if (!(await lockPost(db, post))) return;
  const event = (await calendarEvents(db, [post])).get(post);
  if (!event) return;
  const recurs = recursBy(event, (await occurrenceRows(db, [post])).get(post) ?? [], await loadMetasOf(db, post));
  await db.change`UPDATE {tec_occurrences} SET has_recurrence = ${recurs ? 1 : 0} WHERE post_id = ${post}`;
}

/**
 * Returns the ids of posts with several `_EventStartDate`: a format of recurrence from before version 4.0, which is not
 * supported.
 */
export async function eventsWithManyStarts(db: Database): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT m.post_id AS id FROM {postmeta} m JOIN {posts} p ON p.ID = m.post_id
    WHERE m.meta_key = ${DATES.start} AND p.post_type = 'tribe_events' GROUP BY m.post_id HAVING COUNT(DISTINCT m.meta_value) > 1 ORDER BY m.post_id`;
  return rows.map(({ id }) => id);
}

/**
 * Returns the events whose parent no longer exists: dates of an event in the old format of recurrence, which has a post
 * for each date.
 */
export async function datesWithoutEvent(db: Database): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT p.ID AS id FROM {posts} p LEFT JOIN {posts} above ON above.ID = p.post_parent
    WHERE p.post_type = 'tribe_events' AND p.post_parent > 0 AND above.ID IS NULL ORDER BY p.ID`;
  return rows.map(({ id }) => id);
}

type SeriesRelation = Pick<SeriesRelationshipRow, 'relationship_id' | 'series_post_id' | 'event_post_id'>;

/** Returns the rows in the table of series whose event or series no longer exists. */
export const orphanedSeriesRelations = (db: Database): Promise<SeriesRelation[]> =>
  db.rows<SeriesRelation>`
    SELECT r.relationship_id, r.series_post_id, r.event_post_id FROM {tec_series_relationships} r
    LEFT JOIN {posts} s ON s.ID = r.series_post_id LEFT JOIN {posts} e ON e.ID = r.event_post_id
    WHERE s.ID IS NULL OR e.ID IS NULL ORDER BY r.relationship_id`;

/** Deletes relations of events to series. */
export const removeRelations = (db: Database, relations: readonly SeriesRelation[]): Promise<void> =>
  removeRows(db, 'tec_series_relationships', relations);

/** Returns the highest id of a post if the ids of posts are close to those of occurrences; otherwise undefined. */
export async function postNearBase(db: Database, { base }: RecurrenceSettings): Promise<number | undefined> {
  const highest = await highestPostId(db);
  return highest > highestIdBelow(base) ? highest : undefined;
}

/** Raises the base of public ids above the ids of posts, as the paid extension does. Dates get other public ids. */
export async function raiseBase(db: Database, { base }: RecurrenceSettings): Promise<void> {
  await writeOption(db, OCCURRENCE_BASE_OPTION, storedText(String(baseAbove(base, await highestPostId(db)))), 'on');
}

// ------------------------------------------------------------------------------------------------- one event
/** The stored data of an event in addition to its row. */
interface Stored {
  readonly rows: readonly TecOccurrenceRow[];
  readonly metas: Metas | undefined;
}

function faultsOf(event: TecEventRow, { rows, metas }: Stored, horizon: string): RecurrenceFault[] {
  const faults: RecurrenceFault[] = [];
  const [first] = rows;
  const last = lastRuleRow(rows);
  const recurs = recursBy(event, rows, metas);
  if (rows.some((row) => isMarked(row) !== recurs)) faults.push('flag-wrong');
  // Additional rows of an event that does not recur are a fault of its dates (`event-audit.ts`).
  if (!recurs) return faults;
  if (new Set(rows.map((row) => Number(row.sequence ?? 0))).size > 1) faults.push('saves-mixed');
  if (first && (first.start_date !== event.start_date || first.end_date !== event.end_date)) faults.push('first-differs');
  if (!event.rset) return faults;
  const ruleDates = datesOfRule(event, rows);
  if (!ruleDates) return [...faults, 'rule-unreadable'];
  if (!areRowsOf(ruleDates, rows)) faults.push('dates-differ');
  if (isOtherRule(event, ruleDates, metaOf(metas, '_EventRecurrence') ?? '')) faults.push('rules-differ');
  if (ruleDates.endless && last && last.start_date_utc < horizon) faults.push('runs-out');
  return faults;
}

/** Whether the rows are the dates of the rule, with their local times. */
function areRowsOf({ dates, zone }: RuleDates, rows: readonly TecOccurrenceRow[]): boolean {
  const expectedDates = dates.map(({ startUnix: at, length }) => `${textFromUnix(at)} ${textFromUnix(at + length)}`);
  const storedDates = new Set(rows.map((row) => `${row.start_date_utc} ${row.end_date_utc}`));
  const areLocal = rows.every(
    (row) => isTimeAt(row.start_date, row.start_date_utc, zone) && isTimeAt(row.end_date, row.end_date_utc, zone),
  );
  return areLocal && expectedDates.length === storedDates.size && expectedDates.every((date) => storedDates.has(date));
}

/**
 * Whether the rules in the meta give other dates than the set. Rules that can't be followed do not count as different.
 */
function isOtherRule({ start_date: first }: TecEventRow, { dates, endless, zone }: RuleDates, rules: string): boolean {
  // For rules without end, both are followed as far as there are rows.
  const followedDates = endless ? dates.slice(0, dates.findLastIndex(({ isFromRule }) => isFromRule) + 1) : dates;
  const moments = followedDates.map(({ startUnix: at }) => at);
  const last = moments.at(-1);
  const expected = startsOfRules(rules, first, last === undefined ? first : localFromUnix(last, zone));
  if (!expected) return false;
  // Moments are compared, since a time that a clock change skips in spring is equal to the time that clocks show
  // instead.
  const expectedMoments = new Set(expected.starts.map((start) => unixFromLocal(start, zone)));
  return expected.endless !== endless || [...expectedMoments].sort((one, other) => one - other).join() !== moments.join();
}

// ------------------------------------------------------------------------------------------------- rows
async function eventsWithRules(db: Database, after: number, size: number): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT e.post_id AS id FROM {tec_events} e JOIN {posts} p ON p.ID = e.post_id
    WHERE e.post_id > ${after} AND ((e.rset IS NOT NULL AND e.rset <> '')
      OR (SELECT COUNT(*) > 1 OR MAX(o.has_recurrence) = 1 FROM {tec_occurrences} o WHERE o.post_id = e.post_id)) ORDER BY e.post_id LIMIT ${size}`;
  return rows.map(({ id }) => id);
}

/** Reads the rows of these events in the order of their starts. */
async function occurrenceRows(db: Database, posts: readonly number[]): Promise<Map<number, TecOccurrenceRow[]>> {
  const rows = await db.rows<TecOccurrenceRow>`SELECT * FROM {tec_occurrences} WHERE post_id IN (${[...posts]}) ORDER BY start_date_utc`;
  return groupedBy(rows, ({ post_id: post }) => post);
}
