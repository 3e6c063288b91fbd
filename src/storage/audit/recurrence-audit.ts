import { startsOfRules } from '../../calendar/recurrence-meta.ts';
import type { RecurrenceSettings } from '../../calendar/settings.ts';
import { groupedBy } from '../../grouped-by.ts';
import { DATES } from '../../kinds/events/metas.ts';
import { metaOf } from '../../wordpress/rows.ts';
import { textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { localFromUnix, parseZone, unixFromLocal } from '../../wordpress/zones.ts';
import type { Database } from '../engine/database.ts';
import { pagesById } from '../engine/pages.ts';
import type { TecEventRow, TecOccurrenceRow } from '../engine/tables.ts';
import { loadMetas } from '../rows/bundle.ts';
import { loadRecurrences, writeRecurrence } from '../rows/recurrences.ts';
import { calendarEvents, lastOfRule, type Ruled, rowsOfRule, ruledDates } from '../rows/ruled-dates.ts';

/*
 * Whether what the tables hold of events that recur agrees with itself. All of this needs the columns of
 * `schema/recurrence-tables.ts`.
 */

/** What can be wrong with an event that recurs. */
export type RecurrenceFault =
  /** Its rule can't be read. */
  | 'rule-unreadable'
  /** Its rows are not the dates of its rule. */
  | 'dates-differ'
  /** Its first row is not the date that the event itself has. */
  | 'first-differs'
  /** Its rows do not say that it recurs. */
  | 'flag-wrong'
  /** The rules of its meta, from which WordPress makes the set with the next save, give other dates. */
  | 'rules-differ'
  /** Rows of several saves stand side by side. */
  | 'saves-mixed'
  /**
   * Its rule has no end, and its last row is near: the calendar's paid extension adds further ones, and seems to have
   * stopped.
   */
  | 'runs-out';

export interface RecurrenceFinding {
  readonly post: number;
  readonly fault: RecurrenceFault;
}

const AT_ONCE = 200;
/** How many days before its last row a rule without end should have got further ones. */
const NEAR_DAYS = 31;

/** Looks through all events that have a rule or several rows. `now`: UTC, `YYYY-MM-DD HH:MM:SS`. */
export async function* auditRecurrences(db: Database, now: string): AsyncGenerator<RecurrenceFinding> {
  const soon = textFromUnix(unixFromText(now) + NEAR_DAYS * 86_400);
  for await (const ids of pagesById(AT_ONCE, (after, size) => eventsWithRules(db, after, size))) {
    const [events, rows, metas] = [await calendarEvents(db, ids), await occurrenceRows(db, ids), await loadMetas(db, ids)];
    for (const post of ids) {
      const event = events.get(post);
      const rules = metaOf(metas.get(post), '_EventRecurrence') ?? '';
      if (event) for (const fault of faultsOf(event, { rows: rows.get(post) ?? [], rules }, soon)) yield { post, fault };
    }
  }
}

/**
 * Makes the rows of an event those of its rule; left alone where that can't be read. Call it in a transaction. `now`:
 * UTC.
 */
export async function repairRecurrence(db: Database, post: number, now: string): Promise<void> {
  const event = (await calendarEvents(db, [post])).get(post);
  const stored = (await loadRecurrences(db, [post])).get(post);
  if (!event || !stored) return;
  const dates = ruledDates(event, (await occurrenceRows(db, [post])).get(post) ?? []);
  if (!dates || dates.dates.length === 0) return;
  const rows = { ...stored, recurs: true, dates: rowsOfRule(stored, dates) };
  await writeRecurrence(db, post, rows, { updatedAt: now, timezone: event.timezone, anew: false });
}

/** Says in the rows of an event that it recurs. Call it in a transaction. */
export async function repairFlag(db: Database, post: number): Promise<void> {
  await db.change`UPDATE {tec_occurrences} SET has_recurrence = 1 WHERE post_id = ${post}`;
}

/** Ids of posts with several `_EventStartDate`: a form of recurrence from before 4.0, which is not supported. */
export async function eventsOfManyStarts(db: Database): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT m.post_id AS id FROM {postmeta} m JOIN {posts} p ON p.ID = m.post_id
    WHERE m.meta_key = ${DATES.start} AND p.post_type = 'tribe_events' GROUP BY m.post_id HAVING COUNT(DISTINCT m.meta_value) > 1 ORDER BY m.post_id`;
  return rows.map(({ id }) => id);
}

/** Events that name a parent which is gone: dates of an event in the old form of recurrence, a post for each. */
export async function datesWithoutEvent(db: Database): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT p.ID AS id FROM {posts} p LEFT JOIN {posts} above ON above.ID = p.post_parent
    WHERE p.post_type = 'tribe_events' AND p.post_parent > 0 AND above.ID IS NULL ORDER BY p.ID`;
  return rows.map(({ id }) => id);
}

/** Rows of the table of series whose event or series is gone, by their ids. */
export async function relationsToNothing(db: Database): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT r.relationship_id AS id FROM {tec_series_relationships} r
    LEFT JOIN {posts} s ON s.ID = r.series_post_id LEFT JOIN {posts} e ON e.ID = r.event_post_id
    WHERE s.ID IS NULL OR e.ID IS NULL ORDER BY r.relationship_id`;
  return rows.map(({ id }) => id);
}

export async function removeRelations(db: Database, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await db.change`DELETE FROM {tec_series_relationships} WHERE relationship_id IN (${[...ids]})`;
}

/** The paid extension raises the base of public ids when the ids of posts come so close to it. */
const MARGIN = 50_000;

/** The highest id of a post, where the ids of posts are about to reach those of occurrences. */
export async function postNearBase(db: Database, { base }: RecurrenceSettings): Promise<number | undefined> {
  const [row] = await db.rows<{ highest: number | null }>`SELECT MAX(ID) AS highest FROM {posts}`;
  const highest = Number(row?.highest ?? 0);
  return highest >= base - MARGIN ? highest : undefined;
}

// ------------------------------------------------------------------------------------------------- one event
/** What is stored of an event besides its row. `rules`: its meta. */
interface Stored {
  readonly rows: readonly TecOccurrenceRow[];
  readonly rules: string;
}

function faultsOf(event: TecEventRow, { rows, rules }: Stored, soon: string): RecurrenceFault[] {
  const faults: RecurrenceFault[] = [];
  const [first] = rows;
  const last = lastOfRule(rows);
  if (rows.some((row) => Number(row.has_recurrence ?? 0) !== 1)) faults.push('flag-wrong');
  if (new Set(rows.map((row) => Number(row.sequence ?? 0))).size > 1) faults.push('saves-mixed');
  if (first && (first.start_date !== event.start_date || first.end_date !== event.end_date)) faults.push('first-differs');
  if (!event.rset) return faults;
  const ruled = ruledDates(event, rows);
  if (!ruled) return [...faults, 'rule-unreadable'];
  const wanted = ruled.dates.map(({ at, length }) => `${textFromUnix(at)} ${textFromUnix(at + length)}`);
  const there = new Set(rows.map((row) => `${row.start_date_utc} ${row.end_date_utc}`));
  if (wanted.length !== there.size || wanted.some((date) => !there.has(date))) faults.push('dates-differ');
  if (isOtherRule(event, ruled, rules)) faults.push('rules-differ');
  if (ruled.endless && last && last.start_date_utc < soon) faults.push('runs-out');
  return faults;
}

/** Whether the rules of the meta result in other dates than the set. Those that can't be followed result in none. */
function isOtherRule({ timezone, start_date: first }: TecEventRow, { dates, endless, zone }: Ruled, rules: string): boolean {
  const own = parseZone(timezone) ?? zone;
  // Of rules without end both are followed as far as there are rows.
  const followed = endless ? dates.slice(0, dates.findLastIndex(({ ruled }) => ruled) + 1) : dates;
  const moments = followed.map(({ at }) => at);
  const last = moments.at(-1);
  const expected = startsOfRules(rules, first, last === undefined ? first : localFromUnix(last, own));
  if (!expected) return false;
  // By moments: a time that clocks leave out in spring is the one that they show instead.
  const given = new Set(expected.starts.map((start) => unixFromLocal(start, own)));
  return expected.endless !== endless || [...given].sort((one, other) => one - other).join() !== moments.join();
}

// ------------------------------------------------------------------------------------------------- rows
async function eventsWithRules(db: Database, after: number, size: number): Promise<number[]> {
  const rows = await db.rows<{ id: number }>`
    SELECT e.post_id AS id FROM {tec_events} e JOIN {posts} p ON p.ID = e.post_id
    WHERE e.post_id > ${after} AND ((e.rset IS NOT NULL AND e.rset <> '')
      OR (SELECT COUNT(*) FROM {tec_occurrences} o WHERE o.post_id = e.post_id) > 1) ORDER BY e.post_id LIMIT ${size}`;
  return rows.map(({ id }) => id);
}

/** Rows of these events in the order of their starts. */
async function occurrenceRows(db: Database, posts: readonly number[]): Promise<Map<number, TecOccurrenceRow[]>> {
  const rows = await db.rows<TecOccurrenceRow>`SELECT * FROM {tec_occurrences} WHERE post_id IN (${[...posts]}) ORDER BY start_date_utc`;
  return groupedBy(rows, ({ post_id: post }) => post);
}
