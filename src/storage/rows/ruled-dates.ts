import { datesOfSet, isEndless, parseRecurrenceSet, type SetDate } from '../../calendar/recurrence-set.ts';
import { textFromUnix } from '../../wordpress/time.ts';
import { localFromUnix, toLocal, type Zone } from '../../wordpress/zones.ts';
import type { Database } from '../engine/database.ts';
import type { TecEventRow, TecOccurrenceRow } from '../engine/tables.ts';
import { loadRecurrences, type StoredDate, type StoredRecurrence, writeRecurrence } from './recurrences.ts';

/*
 * The dates that the stored rule of an event gives, and their rows. All of it needs the columns of
 * `schema/recurrence-tables.ts`.
 */

/** The dates of an event's rule. */
export interface Ruled {
  readonly zone: Zone;
  readonly dates: readonly SetDate[];
  /** Whether the rule has no end. */
  readonly endless: boolean;
}

/**
 * The dates of an event's rule; of one without end those up to its last row, or up to `until` (UTC). Undefined: the
 * rule can't be read.
 */
export function ruledDates(event: TecEventRow, rows: readonly Pick<TecOccurrenceRow, 'start_date'>[], until?: string): Ruled | undefined {
  const set = parseRecurrenceSet(event.rset ?? '');
  if (!set) return undefined;
  const endless = isEndless(set);
  const own = until === undefined ? (rows.at(-1)?.start_date ?? event.start_date) : toLocal(until, set.zone);
  const dates = datesOfSet(set, { first: event.start_date, length: Number(event.duration ?? 0), last: endless ? own : LATEST });
  return { zone: set.zone, dates, endless };
}

const LATEST = '9998-12-31 23:59:59';

/** The rows of an event that its rule gives, as new ones of the save that the stored ones are of. */
export function rowsOfRule({ dates: stored }: StoredRecurrence, { zone, dates }: Ruled): StoredDate[] {
  const sequence = Math.max(1, ...stored.map((date) => date.sequence));
  return dates.map(({ at, length, ruled }) => ({
    id: 0,
    start: localFromUnix(at, zone),
    end: localFromUnix(at + length, zone),
    startUtc: textFromUnix(at),
    endUtc: textFromUnix(at + length),
    duration: length,
    sequence,
    listed: !ruled,
  }));
}

/** The rows of `tec_events` of these posts. */
export async function calendarEvents(db: Database, posts: readonly number[]): Promise<Map<number, TecEventRow>> {
  const rows = await db.rows<TecEventRow>`SELECT * FROM {tec_events} WHERE post_id IN (${[...posts]})`;
  return new Map(rows.map((row) => [row.post_id, row]));
}

/** Ids of posts behind `after` whose rule has no end, and whose last date begins before `until` (UTC). */
export async function endingBefore(db: Database, until: string, after: number, size: number): Promise<number[]> {
  // Rules with an end are left out as far as that can be seen without reading them.
  const rows = await db.rows<{ id: number }>`
    SELECT e.post_id AS id FROM {tec_events} e JOIN {posts} p ON p.ID = e.post_id JOIN {tec_occurrences} o ON o.post_id = e.post_id
    WHERE e.post_id > ${after} AND e.rset LIKE '%RRULE:%' AND e.rset NOT LIKE '%COUNT=%' AND e.rset NOT LIKE '%UNTIL=%' AND p.post_status <> 'trash'
    GROUP BY e.post_id HAVING MAX(o.start_date_utc) < ${until} ORDER BY e.post_id LIMIT ${size}`;
  return rows.map(({ id }) => id);
}

/**
 * Adds the dates of a rule without end that begin behind the last row and up to `until` (UTC). Rows that are there stay
 * as they are. Call it in a transaction. Returns how many came.
 */
export async function continueRule(
  db: Database,
  post: number,
  { until, updatedAt }: { until: string; updatedAt: string },
): Promise<number> {
  const event = (await calendarEvents(db, [post])).get(post);
  const stored = (await loadRecurrences(db, [post])).get(post);
  const ruled = event && ruledDates(event, [], until);
  if (!event || !stored || !ruled?.endless) return 0;
  const last = stored.dates.at(-1)?.startUtc ?? '';
  const further = rowsOfRule(stored, ruled).filter(({ startUtc }) => startUtc > last);
  if (further.length === 0) return 0;
  await writeRecurrence(
    db,
    post,
    { ...stored, dates: [...stored.dates, ...further] },
    { updatedAt, timezone: event.timezone, anew: false },
  );
  return further.length;
}
