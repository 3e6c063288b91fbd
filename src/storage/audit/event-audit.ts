import { type EventDates, type Occurrence, occurrence } from '../../calendar/dates.ts';
import type { RecurrenceSettings } from '../../calendar/settings.ts';
import { storedDates } from '../../kinds/event-dates.ts';
import { diffSeconds, isZeroDate, parseZone, toUtc } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';
import { pagesById } from '../engine/pages.ts';
import { idsOfType } from '../lists/many-posts.ts';
import { loadMetas } from '../rows/bundle.ts';
import { writeOccurrence } from '../rows/occurrences.ts';
import { writeMetas } from '../rows/posts.ts';
import { isRecurringEvent, recurringIn } from '../rows/recurring-events.ts';

/** What can be wrong with the dates of an event. */
export type DateFault =
  /** A start, an end or a zone is missing, or none that can be read. */
  | 'dates-missing'
  | 'zone-unknown'
  | 'end-before-start'
  /** UTC is not what the clock on the wall says in that zone. */
  | 'utc-wrong'
  | 'duration-wrong'
  /** It has no row that lists read, or one that says something else. */
  | 'row-missing'
  | 'row-differs';

/** Faults that follow from the clock on the wall, and are put right by it. */
export const REPAIRABLE: ReadonlySet<DateFault> = new Set(['utc-wrong', 'duration-wrong', 'row-missing', 'row-differs']);

export interface DateFinding {
  readonly id: number;
  readonly fault: DateFault;
}

const AT_ONCE = 500;

/** How the site keeps dates. `rows`: whether the occurrence tables are in force. */
interface Kept {
  readonly rows: boolean;
  readonly recurrence: RecurrenceSettings | undefined;
}

/** Looks through the dates of all events, some at a time. Of those that recur only what does not follow from the rule. */
export async function* auditDates(db: Database, { rows, recurrence }: Kept): AsyncGenerator<DateFinding> {
  for await (const ids of pagesById(AT_ONCE, (after, size) => idsOfType(db, 'tribe_events', after, size))) {
    const [metas, occurrences] = [await loadMetas(db, ids), rows ? await occurrencesOf(db, ids) : new Map<number, Occurrence[]>()];
    // What recurs has rows by its rule (`recurrence-audit.ts`).
    const recurring = recurrence ? await recurringIn(db, ids) : new Set<number>();
    for (const id of ids) {
      const own = metas.get(id) ?? new Map<string, readonly string[]>();
      const dates = occurrences.get(id) ?? [];
      for (const fault of faultsOf(storedDates({ metas: own }), rows && !recurring.has(id) ? dates : undefined))
        if (!recurring.has(id) || !REPAIRABLE.has(fault)) yield { id, fault };
    }
  }
}

/**
 * Puts the dates of an event right by the clock on its wall: UTC, duration and the rows that lists read. One that recurs is left alone. Call it in a
 * transaction.
 */
export async function repairDates(db: Database, id: number, { rows, now, recurrence }: Kept & { readonly now: string }): Promise<void> {
  if (recurrence && (await isRecurringEvent(db, id))) return;
  const metas = (await loadMetas(db, [id])).get(id) ?? new Map<string, readonly string[]>();
  const dates = storedDates({ metas });
  const zone = parseZone(dates.timezone);
  if (!zone || isZeroDate(dates.start) || isZeroDate(dates.end)) return;
  const [startUtc, endUtc] = [toUtc(dates.start, zone), toUtc(dates.end, zone)];
  const duration = dates.allDay ? null : diffSeconds(startUtc, endUtc);
  const right: EventDates = { ...dates, startUtc, endUtc, duration };
  await writeMetas(db, id, {
    _EventStartDateUTC: [startUtc],
    _EventEndDateUTC: [endUtc],
    ...(duration === null || duration < 0 ? {} : { _EventDuration: [String(duration)] }),
  });
  if (rows) await writeOccurrence(db, id, right, { updatedAt: now, recurrence });
}

function faultsOf(dates: EventDates, rows: readonly Occurrence[] | undefined): DateFault[] {
  const { start, end, startUtc, endUtc, timezone, allDay, duration } = dates;
  if ([start, end].some((date) => isZeroDate(date) || Number.isNaN(diffSeconds(date, date)))) return ['dates-missing'];
  const zone = parseZone(timezone);
  if (!zone) return ['zone-unknown'];
  if (diffSeconds(start, end) < 0) return ['end-before-start'];
  const utc = [toUtc(start, zone), toUtc(end, zone)];
  if (utc[0] !== startUtc || utc[1] !== endUtc) return ['utc-wrong'];
  const length = diffSeconds(startUtc, endUtc);
  if (!allDay && duration !== null && (duration < 0 || duration > length)) return ['duration-wrong'];
  const expected = occurrence(dates);
  if (!rows || !expected) return [];
  if (rows.length === 0) return ['row-missing'];
  const same = rows.some((row) =>
    (Object.keys(expected) as (keyof Occurrence)[]).every((name) => String(row[name]) === String(expected[name])),
  );
  return same ? [] : ['row-differs'];
}

async function occurrencesOf(db: Database, ids: readonly number[]): Promise<Map<number, Occurrence[]>> {
  const rows = await db
    .from('tec_occurrences')
    .whereIn('post_id', [...ids])
    .select('post_id', 'start_date', 'end_date', 'start_date_utc', 'end_date_utc', 'duration');
  const found = new Map<number, Occurrence[]>();
  for (const { post_id: id, ...row } of rows) found.set(id, [...(found.get(id) ?? []), row as Occurrence]);
  return found;
}
