import { type EventDates, endsBeforeStart, type Occurrence, occurrence, withKeptMoments } from '../../calendar/dates.ts';
import type { RecurrenceSettings } from '../../calendar/settings.ts';
import { beginOfDay, endOfDay } from '../../calendar/window.ts';
import { groupedBy } from '../../grouped-by.ts';
import { storedDates } from '../../kinds/events/dates.ts';
import { DATES } from '../../kinds/events/metas.ts';
import { hasRules } from '../../kinds/events/occurrence.ts';
import { type StoredValue, storedText } from '../../wordpress/php/serialized.ts';
import { type Metas, metaOf } from '../../wordpress/rows.ts';
import { addSeconds, diffSeconds, isRealDate } from '../../wordpress/time.ts';
import { parseZone, toLocal, toUtc } from '../../wordpress/zones.ts';
import type { Database } from '../engine/database.ts';
import { pagesById } from '../engine/pages.ts';
import type { TecEventRow, TecOccurrenceRow } from '../engine/tables.ts';
import { idsOfType } from '../lists/posts-of-type.ts';
import { loadMetas, loadMetasOf } from '../rows/bundle.ts';
import { writeOccurrence } from '../rows/occurrences.ts';
import { haveOwnNumbers } from '../rows/own-numbers.ts';
import { lockPost, writeMetas } from '../rows/posts.ts';
import { recursBy } from './recurs.ts';

/** A fault in the dates of an event. */
export type DateFault =
  /** The start or the end is missing or unreadable. */
  | 'dates-missing'
  | 'zone-unknown'
  | 'end-before-start'
  /** The UTC times do not match the local times in the zone of the event. */
  | 'utc-wrong'
  | 'duration-wrong'
  /** The row that lists read is missing, or differs from the event's dates. */
  | 'row-missing'
  | 'row-differs'
  /** A row that lists read exists twice, so that they show the event twice. */
  | 'row-twice'
  /** The event does not recur, but has additional rows that lists read, with other times. */
  | 'row-surplus'
  /** An all-day event does not begin and end at the day boundary. */
  | 'all-day-times';

/** Faults that can be repaired from the local times of the event. */
export const REPAIRABLE: ReadonlySet<DateFault> = new Set([
  'utc-wrong',
  'duration-wrong',
  'row-missing',
  'row-differs',
  'row-twice',
  'row-surplus',
  'all-day-times',
]);

export interface DateFinding {
  readonly id: number;
  readonly fault: DateFault;
}

const BATCH_SIZE = 500;

/** The site's storage of dates. `rows`: whether the table of occurrences is used. */
interface DateStorage {
  readonly rows: boolean;
  readonly recurrence: RecurrenceSettings | undefined;
}

/** The parameters of repairs. `now`: UTC; `cutoff`: when the calendar's day begins, `HH:MM`. */
interface Repair {
  readonly now: string;
  readonly cutoff: string;
}

/**
 * Checks the dates of all events, in batches. For recurring events, only faults are reported that do not depend on the
 * rule.
 */
export async function* auditDates(db: Database, { rows, recurrence }: DateStorage): AsyncGenerator<DateFinding> {
  for await (const ids of pagesById(BATCH_SIZE, (after, size) => idsOfType(db, 'tribe_events', after, size))) {
    const metas = await loadMetas(db, ids);
    const drafts = await draftsAmong(db, ids);
    const calendarRows = rows ? await calendarRowsOf(db, ids) : undefined;
    for (const id of ids) {
      const ownMetas = metas.get(id) ?? new Map<string, readonly StoredValue[]>();
      if (drafts.has(id) && isUndated(ownMetas)) continue;
      const ownRows = calendarRows && (calendarRows.get(id) ?? NO_ROWS);
      // The rows of recurring events follow from their rules (`recurrence-audit.ts`).
      const recurs = recurrence !== undefined && ownRows !== undefined && isRecurring(ownRows, ownMetas);
      const severalTimes = recurrence ? recurs : hasRules(ownMetas);
      for (const fault of faultsOf(storedDates({ metas: ownMetas }), ownRows, severalTimes))
        if (!recurs || !REPAIRABLE.has(fault) || fault === 'row-twice') yield { id, fault };
    }
  }
}

/**
 * Returns the unfinished ones of these events: WordPress saves drafts without dates. Events in the trash may have been
 * drafts.
 */
async function draftsAmong(db: Database, ids: readonly number[]): Promise<Set<number>> {
  const rows = await db.rows<{ id: number }>`
    SELECT ID AS id FROM {posts} WHERE ID IN (${[...ids]}) AND post_status IN ('draft', 'pending', 'trash')`;
  return new Set(rows.map(({ id }) => id));
}

/** Whether the metas have neither start nor end of the event. */
const isUndated = (metas: Metas): boolean => [DATES.start, DATES.end].every((key) => (metaOf(metas, key) ?? '').trim() === '');

/**
 * Repairs the dates of an event from its local times: UTC, duration and the rows that lists read. For a recurring
 * event, only duplicate rows are deleted. The event is locked first, and its dates are read again. Must be called in a
 * transaction.
 */
export async function repairDates(db: Database, id: number, { rows, now, recurrence, cutoff }: DateStorage & Repair): Promise<void> {
  if (!(await lockPost(db, id))) return;
  if (rows) await deleteDuplicates(db, id);
  const metas = await loadMetasOf(db, id);
  if (recurrence && isRecurring((await calendarRowsOf(db, [id])).get(id) ?? NO_ROWS, metas)) return;
  const stored = storedDates({ metas });
  const zone = parseZone(stored.timezone);
  if (!zone || ![stored.start, stored.end].every(isRealDate)) return;
  const dates = lastsWholeDays(stored) ? stored : { ...stored, start: beginOfDay(stored.start, cutoff), end: endOfDay(stored.end, cutoff) };
  const { startUtc, endUtc } = withKeptMoments(dates, zone);
  const duration = dates.allDay ? null : diffSeconds(startUtc, endUtc);
  const correctDates: EventDates = { ...dates, startUtc, endUtc, duration };
  const isSaid = metaOf(metas, DATES.start) === dates.start && metaOf(metas, DATES.end) === dates.end;
  await writeMetas(db, id, {
    ...(isSaid ? {} : { [DATES.start]: [storedText(dates.start)], [DATES.end]: [storedText(dates.end)] }),
    [DATES.startUtc]: [storedText(startUtc)],
    [DATES.endUtc]: [storedText(endUtc)],
    ...(duration !== null && duration < 0 ? {} : { [DATES.duration]: duration === null ? [] : [storedText(String(duration))] }),
  });
  if (!rows || (!recurrence && hasRules(metas))) return;
  await deleteSurplus(db, id, occurrence(correctDates));
  await writeOccurrence(db, id, correctDates, { updatedAt: now, recurrence });
}

/**
 * The rows of an event in the calendar's own tables. `rset` and `has_recurrence` exist only in tables for recurring
 * events.
 */
interface CalendarRows {
  readonly events: readonly (Occurrence & Pick<TecEventRow, 'event_id' | 'post_id' | 'rset'>)[];
  readonly occurrences: readonly (Occurrence & Pick<TecOccurrenceRow, 'event_id' | 'post_id' | 'has_recurrence'>)[];
}

const NO_ROWS: CalendarRows = { events: [], occurrences: [] };

const isRecurring = ({ events, occurrences }: CalendarRows, metas: Metas): boolean => recursBy(events[0] ?? {}, occurrences, metas);

/**
 * Returns the faults of an event. `rows`: undefined if the table of occurrences is not used. For a recurring event, the
 * rows contain more than its first dates, so they are not compared.
 */
function faultsOf(dates: EventDates, rows: CalendarRows | undefined, severalTimes: boolean): DateFault[] {
  const { start, end, startUtc, endUtc, timezone, allDay, duration } = dates;
  if (![start, end].every(isRealDate)) return ['dates-missing'];
  const zone = parseZone(timezone);
  if (!zone) return ['zone-unknown'];
  if (endsBeforeStart(dates, zone)) return ['end-before-start'];
  if (!lastsWholeDays(dates)) return ['all-day-times'];
  const moments = withKeptMoments(dates, zone);
  if (moments.startUtc !== startUtc || moments.endUtc !== endUtc) return ['utc-wrong'];
  const length = diffSeconds(startUtc, endUtc);
  if (!allDay && duration !== null && !(duration >= 0 && duration <= length)) return ['duration-wrong'];
  const expected = occurrence(dates);
  if (!rows || !expected) return [];
  if (new Set(rows.occurrences.map(timesOf)).size < rows.occurrences.length) return ['row-twice'];
  if (severalTimes) return [];
  const [event] = rows.events;
  if (rows.occurrences.length === 0 || !event) return ['row-missing'];
  const expectedTimes = timesOf(expected);
  const isSame = rows.occurrences.some((row) => timesOf(row) === expectedTimes && row.event_id === event.event_id);
  if (!isSame || timesOf(event) !== expectedTimes) return ['row-differs'];
  return rows.occurrences.length > 1 ? ['row-surplus'] : [];
}

/**
 * Whether an all-day event ends one second before the time of day at which it begins, since the calendar's day may
 * begin at any hour. If a clock change skips that time, the event begins at the time that clocks show instead.
 */
function lastsWholeDays({ allDay, start, end, timezone }: EventDates): boolean {
  const begin = `${start.slice(0, 10)} ${addSeconds(end, 1).slice(11)}`;
  const zone = parseZone(timezone);
  return !allDay || start === begin || (zone !== null && start === toLocal(toUtc(begin, zone), zone));
}

const TIMES = ['start_date', 'end_date', 'start_date_utc', 'end_date_utc', 'duration'] as const satisfies readonly (keyof Occurrence)[];
const timesOf = (row: Occurrence): string => TIMES.map((name) => String(row[name])).join();

async function calendarRowsOf(db: Database, ids: readonly number[]): Promise<Map<number, CalendarRows>> {
  const events = await db.rows<CalendarRows['events'][number]>`SELECT * FROM {tec_events} WHERE post_id IN (${[...ids]})`;
  const occurrences = await db.rows<CalendarRows['occurrences'][number]>`SELECT * FROM {tec_occurrences} WHERE post_id IN (${[...ids]})`;
  const [eventsById, occurrencesById] = [groupedBy(events, postOf), groupedBy(occurrences, postOf)];
  return new Map(ids.map((id) => [id, { events: eventsById.get(id) ?? [], occurrences: occurrencesById.get(id) ?? [] }]));
}

const postOf = ({ post_id: id }: Pick<TecEventRow, 'post_id'>): number => id;

type OccurrenceRow = Occurrence & { readonly occurrence_id: number };

const occurrencesOf = async (db: Database, id: number): Promise<OccurrenceRow[]> =>
  db
    .from('tec_occurrences')
    .where('post_id', id)
    .orderBy('occurrence_id')
    .select('occurrence_id', ...TIMES);

async function deleteOccurrences(db: Database, post_id: number, rows: readonly OccurrenceRow[]): Promise<void> {
  const ids = rows.map((row) => row.occurrence_id);
  if (ids.length > 0) await db.from('tec_occurrences').where({ post_id }).whereIn('occurrence_id', ids).delete();
}

/** Deletes rows of an event that have the same times as an earlier row, unless they share its number. */
async function deleteDuplicates(db: Database, id: number): Promise<void> {
  const rows = await occurrencesOf(db, id);
  if (!haveOwnNumbers(rows, 'occurrence_id')) return;
  const times = rows.map(timesOf);
  await deleteOccurrences(
    db,
    id,
    rows.filter((_, index) => times.indexOf(times[index]!) < index),
  );
}

/**
 * Deletes all rows of an event that does not recur, except one: the correct one if there is one, otherwise the first.
 */
async function deleteSurplus(db: Database, id: number, expected: Occurrence | null): Promise<void> {
  const rows = await occurrencesOf(db, id);
  const keptRow = rows.find((row) => expected && timesOf(row) === timesOf(expected)) ?? rows[0];
  if (expected && haveOwnNumbers(rows, 'occurrence_id'))
    await deleteOccurrences(
      db,
      id,
      rows.filter((row) => row !== keptRow),
    );
}
