import { durationInRow, isTimeAt } from '../../calendar/dates.ts';
import { datesOfSet, isEndless, LATEST, parseRecurrenceSet, type SetDate, startsByRule } from '../../calendar/recurrence-set.ts';
import { addSeconds, textFromUnix } from '../../wordpress/time.ts';
import { localFromUnix, parseZone, toLocal, toUtc, type Zone } from '../../wordpress/zones.ts';
import type { Database } from '../engine/database.ts';
import { pagesById } from '../engine/pages.ts';
import type { TecEventRow, TecOccurrenceRow } from '../engine/tables.ts';
import { loadRecurrences, type StoredDate, type StoredRecurrence, writeRecurrence } from './recurrences.ts';

/*
 * The dates that the stored rule of an event generates, and their rows. All functions need the columns of
 * `schema/recurrence-tables.ts`.
 */

/** The dates of an event's rule. */
export interface RuleDates {
  /** The zone of the event, in which its rows show their times. That of its set may be another, such as UTC. */
  readonly zone: Zone;
  readonly dates: readonly SetDate[];
  /** Whether the rule has no end. */
  readonly endless: boolean;
}

/** The columns of a row that say when it takes place, and whether its date was listed. */
type DatedRow = Pick<TecOccurrenceRow, 'start_date_utc' | 'is_rdate'>;

/**
 * Computes the dates of an event's rule. For a rule without end, these are the dates up to the last row that it
 * generated, or up to `until` (UTC), and later listed dates that have a row. Undefined: the rule can't be parsed.
 */
export function datesOfRule(event: TecEventRow, rows: readonly DatedRow[], until?: string): RuleDates | undefined {
  const set = parseRecurrenceSet(event.rset ?? '');
  if (!set) return undefined;
  const endless = isEndless(set);
  const zone = parseZone(event.timezone) ?? set.zone;
  const localOf = (utcText: string): string => toLocal(utcText, set.zone);
  const lastStart = localOf(until ?? lastRuleRow(rows)?.start_date_utc ?? event.start_date_utc);
  const span = { first: localOf(event.start_date_utc), length: Number(event.duration ?? 0) };
  if (!endless) return { zone, dates: datesOfSet(set, { ...span, last: LATEST }), endless };
  const storedStarts = new Set(rows.map((row) => row.start_date_utc));
  const lastRow = rows.at(-1);
  const listedDates = datesOfSet({ ...set, rule: undefined }, { ...span, last: lastRow ? localOf(lastRow.start_date_utc) : lastStart });
  const ruleDates = datesOfSet(set, { ...span, last: lastStart });
  return {
    zone,
    dates: [...ruleDates, ...listedDates.filter(({ start, startUnix: at }) => start > lastStart && storedStarts.has(textFromUnix(at)))],
    endless,
  };
}

/**
 * Returns the last row that the rule of an event generated. A rule without end has been expanded up to this row; a
 * listed date may be much later.
 */
export const lastRuleRow = <Row extends DatedRow>(rows: readonly Row[]): Row | undefined =>
  rows.findLast((row) => Number(row.is_rdate ?? 0) === 0) ?? rows.at(-1);

/**
 * Returns the rows for the dates of a rule, with the sequence number of the stored ones. Stored dates have their ids.
 */
export function rowsOfRule({ dates: stored }: StoredRecurrence, { zone, dates }: RuleDates): StoredDate[] {
  const sequence = Math.max(1, ...stored.map((date) => date.sequence));
  const idsByStart = new Map(stored.map(({ startUtc, id }) => [startUtc, id]));
  return dates.map((date) => {
    const row = rowOfDate(date, zone, sequence);
    return { ...row, id: idsByStart.get(row.startUtc) ?? row.id };
  });
}

/** Returns the new row of a date, with local times in `zone`. */
export const rowOfDate = ({ startUnix: at, length, isFromRule }: SetDate, zone: Zone, sequence: number): StoredDate => ({
  id: 0,
  start: localFromUnix(at, zone),
  end: localFromUnix(at + length, zone),
  startUtc: textFromUnix(at),
  endUtc: textFromUnix(at + length),
  duration: durationInRow(length),
  sequence,
  listed: !isFromRule,
});

/** Reads the rows of `tec_events` of these posts. */
export async function calendarEvents(db: Database, posts: readonly number[]): Promise<Map<number, TecEventRow>> {
  const rows = await db.rows<TecEventRow>`SELECT * FROM {tec_events} WHERE post_id IN (${[...posts]})`;
  return new Map(rows.map((row) => [row.post_id, row]));
}

/** Yields pages of ids: posts whose rule has no end and whose last generated date begins before `until` (UTC). */
export async function* endlessRulesGeneratedBefore(db: Database, until: string, pageSize: number): AsyncGenerator<readonly number[]> {
  // Most rules with an end are excluded by their text. It may be an exclusion rule that has the end, though, and some
  // programs write a negative number for no limit.
  const read = (after: number, size: number) => db.rows<{ id: number; rset: string }>`
    SELECT e.post_id AS id, MAX(e.rset) AS rset FROM {tec_events} e JOIN {posts} p ON p.ID = e.post_id
    JOIN {tec_occurrences} o ON o.post_id = e.post_id
    WHERE e.post_id > ${after} AND e.rset LIKE '%RRULE:%' AND p.post_status <> 'trash'
      AND (e.rset LIKE '%EXRULE%' OR e.rset LIKE '%COUNT=-%' OR (e.rset NOT LIKE '%COUNT=%' AND e.rset NOT LIKE '%UNTIL=%'))
    GROUP BY e.post_id
    HAVING COALESCE(MAX(CASE WHEN o.is_rdate = 1 THEN NULL ELSE o.start_date_utc END), MAX(o.start_date_utc)) < ${until}
    ORDER BY e.post_id LIMIT ${size}`;
  for await (const rows of pagesById(pageSize, read)) yield rows.flatMap(({ id, rset }) => (hasNoEnd(rset) ? [id] : []));
}

function hasNoEnd(rule: string): boolean {
  const set = parseRecurrenceSet(rule);
  return set !== undefined && isEndless(set);
}

/**
 * Returns an imported recurrence with the stored dates that the same rule, which has no end, has generated here after
 * the last of its own. The other site has not generated them yet; their ids are known here. They are as long as those
 * of the other site.
 *
 * @param zone the zone of the event; undefined: that of its set
 */
export function withFurtherDates(
  imported: StoredRecurrence,
  stored: StoredRecurrence | undefined,
  zone: Zone | undefined,
): StoredRecurrence {
  const last = imported.dates.findLast(({ listed }) => !listed);
  const set = parseRecurrenceSet(imported.rule);
  if (!last || !set || !stored || withoutLength(stored.rule) !== withoutLength(imported.rule) || !isEndless(set)) return imported;
  const sequence = Math.max(...imported.dates.map((date) => date.sequence));
  const localZone = zone ?? set.zone;
  const furtherDates = stored.dates
    .filter(({ listed, startUtc }) => !listed && startUtc > last.startUtc)
    .map((date) => {
      const endUtc = addSeconds(date.startUtc, last.duration);
      const start = isTimeAt(date.start, date.startUtc, localZone) ? date.start : toLocal(date.startUtc, localZone);
      return { ...date, start, end: toLocal(endUtc, localZone), endUtc, duration: last.duration, sequence };
    });
  return { ...imported, dates: [...imported.dates, ...furtherDates].sort((one, other) => (one.startUtc < other.startUtc ? -1 : 1)) };
}

/** Returns a set of dates without the end of its first one, which states only their length. */
const withoutLength = (rule: string): string => rule.replace(/^DTEND[;:].*$/m, '');

/**
 * Adds the dates of a rule without end that begin after the last row it generated and up to `until` (UTC). Existing
 * rows are left unchanged. Must be called in a transaction. Returns the number of added dates.
 */
export async function extendRule(db: Database, post: number, { until, updatedAt }: { until: string; updatedAt: string }): Promise<number> {
  const event = (await calendarEvents(db, [post])).get(post);
  const stored = (await loadRecurrences(db, [post])).get(post);
  const newDates = event && stored ? datesUntil(event, stored, until) : [];
  if (!event || !stored || newDates.length === 0) return 0;
  const dates = [...stored.dates, ...newDates].sort((one, other) => (one.startUtc < other.startUtc ? -1 : 1));
  await writeRecurrence(db, post, { ...stored, dates }, { updatedAt, timezone: event.timezone, isNewEvent: false });
  return newDates.length;
}

/**
 * Returns the dates of a rule without end that begin after the last row it generated and up to `until` (UTC), as new
 * rows; none for other rules.
 */
export function datesUntil(event: TecEventRow, stored: StoredRecurrence, until: string): StoredDate[] {
  const ruleDates = datesOfRule(event, [], until);
  if (!ruleDates?.endless) return [];
  const last = lastGenerated(stored)?.startUtc ?? '';
  const storedStarts = new Set(stored.dates.map(({ startUtc }) => startUtc));
  return rowsOfRule(stored, ruleDates).filter(({ startUtc }) => startUtc > last && !storedStarts.has(startUtc));
}

/**
 * Whether a rule without end gives a date, or an excluded one, between the last row it generated and a later moment
 * (UTC).
 */
export function skipsDates(stored: StoredRecurrence, laterUtc: string): boolean {
  const set = parseRecurrenceSet(stored.rule);
  const last = lastGenerated(stored)?.startUtc;
  if (!set?.rule || last === undefined || !isEndless(set)) return false;
  const lastStart = toLocal(last, set.zone);
  for (const start of startsByRule(set.rule.rule, set.start, toLocal(laterUtc, set.zone), lastStart)) {
    const startUtc = toUtc(start, set.zone);
    if (startUtc > last) return startUtc < laterUtc;
  }
  return false;
}

/** Returns the same date as `lastRuleRow`. */
const lastGenerated = ({ dates }: StoredRecurrence): StoredDate | undefined => dates.findLast(({ listed }) => !listed) ?? dates.at(-1);
