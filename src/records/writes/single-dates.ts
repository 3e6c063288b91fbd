import type { EventDates } from '../../calendar/dates.ts';
import { occurrence } from '../../calendar/dates.ts';
import { parseRecurrenceSet } from '../../calendar/recurrence-set.ts';
import { isListed, type StoredSet, withDate, withoutDate } from '../../calendar/set-changes.ts';
import { fail, failParam } from '../../errors.ts';
import { storedDates } from '../../kinds/events/dates.ts';
import { type EventDate, metasAt } from '../../kinds/events/occurrence.ts';
import type { PostValues, Rows, StoredPost } from '../../kinds/kind.ts';
import { loadRecurrences, type StoredDate, type StoredRecurrence, writeRecurrence } from '../../storage/rows/recurrences.ts';
import { metaOf } from '../../wordpress/rows.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { toLocal } from '../../wordpress/zones.ts';
import { DATE_FIELDS } from '../occurrences.ts';
import type { WriteContext } from './write-context.ts';

/*
 * Removes, moves or adds single dates of a recurring event. Each function writes the rows of the event and its set of
 * dates, and returns the metas to be written with its post. Call them in the transaction that has locked the event.
 */

/** Scope of a write under the id of a date: `date` for this date alone; by default the whole event. */
export type Scope = 'date';

/**
 * Returns the date that a write with `scope` concerns.
 *
 * @throws rest_invalid_param if the id is not that of a date of a recurring event
 */
export const requireRecurringDate = (date: EventDate | undefined): EventDate =>
  date?.recurs ? date : failParam('scope', 'scope-not-a-date');

/**
 * Removes a date.
 *
 * @throws recurring-event-date-kept for the first date, and if the rule cannot express it
 */
export async function removeDate(write: WriteContext, before: StoredPost, date: EventDate): Promise<Rows['metas']> {
  const { recurrence, stored } = await loadSet(write, before);
  const changed = stored && withoutDate(stored, date.start);
  if (!changed) return fail('recurring-event-date-kept');
  return writeSet(write, before, changed, {
    ...recurrence,
    dates: recurrence.dates.filter(({ startUtc }) => startUtc !== date.startUtc),
  });
}

/**
 * Moves a date that was added individually; it keeps its id. A date that is already there stays as it is.
 *
 * @throws recurring-event-dates for a date that follows from the rule, the first date, a change of the time zone or of
 * the all-day setting, and a day on which the event has another date
 */
export async function moveDate(write: WriteContext, before: StoredPost, date: EventDate, values: PostValues): Promise<Rows['metas']> {
  const shown = { ...before, metas: metasAt(before.metas, date) };
  const to = datesAfter(write, shown, values);
  if (to.start === date.start && to.end === date.end && isOfSameKind(to, storedDates(shown))) return {};
  const { recurrence, stored } = await loadSet(write, before);
  const kept = recurrence.dates.find(({ startUtc }) => startUtc === date.startUtc);
  const others = recurrence.dates.filter((one) => one !== kept);
  const left = kept?.listed && stored ? withoutDate(stored, date.start) : undefined;
  const changed = left && canSetDate(to, before, others) ? withDate(left, to) : undefined;
  if (!kept || !changed) return fail('recurring-event-dates');
  return writeSet(write, before, changed, { ...recurrence, dates: sortByStart([...others, { ...kept, ...toDateRow(to, changed) }]) });
}

/**
 * Adds a date, or one that was removed before. Returns the metas, and its start (UTC).
 *
 * @throws event-takes-place-once if the event does not recur; recurring-event-dates if its rule cannot be read, for a
 * date that is not later than the first, and for a day on which the event already has a date
 */
export async function addDate(
  write: WriteContext,
  before: StoredPost,
  values: PostValues,
): Promise<{ metas: Rows['metas']; startUtc: string }> {
  const to = datesAfter(write, before, values);
  const { recurrence, stored } = await loadSet(write, before);
  const changed = stored && canSetDate(to, before, recurrence.dates) ? withDate(stored, to) : undefined;
  if (!changed) return fail('recurring-event-dates');
  const sequence = Math.max(0, ...recurrence.dates.map((date) => date.sequence));
  const added: StoredDate = { id: 0, ...toDateRow(to, changed), sequence };
  const metas = await writeSet(write, before, changed, { ...recurrence, dates: sortByStart([...recurrence.dates, added]) });
  return { metas, startUtc: to.startUtc };
}

// ------------------------------------------------------------------------------------------------- dates
const datesAfter = ({ caller, kind }: WriteContext, before: StoredPost, values: PostValues): EventDates => {
  const dates = Object.fromEntries(DATE_FIELDS.filter((name) => name in values).map((name) => [name, values[name]]));
  return storedDates({ metas: new Map([...before.metas, ...Object.entries(kind.derivedRows(dates, before, caller).metas)]) });
};

/**
 * Whether a date can be set. Time zone and all-day setting are those of the event. With a second date on a day, its
 * address would depend on the order of the two.
 */
const canSetDate = (to: EventDates, before: StoredPost, others: readonly StoredDate[]): boolean =>
  isOfSameKind(to, storedDates(before)) && !others.some(({ start }) => start.slice(0, DAY) === to.start.slice(0, DAY));

const DAY = 'YYYY-MM-DD'.length;

const isOfSameKind = (one: EventDates, other: EventDates): boolean => one.timezone === other.timezone && one.allDay === other.allDay;

/** Returns the row of a date. */
function toDateRow(dates: EventDates, set: StoredSet): Omit<StoredDate, 'id' | 'sequence'> {
  const moments = occurrence(dates) ?? fail('recurring-event-dates');
  const { start_date: start, end_date: end, start_date_utc: startUtc, end_date_utc: endUtc, duration } = moments;
  return { start, end, startUtc, endUtc, duration, listed: isListed(set, start) };
}

const sortByStart = (dates: readonly StoredDate[]): StoredDate[] =>
  dates.toSorted((one, other) => (one.startUtc < other.startUtc ? -1 : one.startUtc > other.startUtc ? 1 : 0));

// ------------------------------------------------------------------------------------------------- stored data
const RULES = '_EventRecurrence';
/** The block editor's copy of the same rules. If it exists, the rules cannot be changed alone. */
const RULES_OF_BLOCKS = ['_tribe_blocks_recurrence_rules', '_tribe_blocks_recurrence_exclusions'];

/** Loads the stored recurrence of an event; `stored` is undefined if its single dates cannot be changed. */
async function loadSet(
  { db, caller }: WriteContext,
  { row, metas }: StoredPost,
): Promise<{ readonly recurrence: StoredRecurrence; readonly stored: StoredSet | undefined }> {
  const recurrence = caller.settings.recurrence && (await loadRecurrences(db, [row.ID])).get(row.ID);
  const first = recurrence?.dates[0];
  if (!recurrence?.recurs || !first) return fail('event-takes-place-once');
  const zone = parseRecurrenceSet(recurrence.rule)?.zone;
  const rules = metaOf(metas, RULES);
  const inBlocks = RULES_OF_BLOCKS.some((key) => !['', '[]'].includes(metaOf(metas, key) ?? ''));
  const readable = zone !== undefined && rules !== undefined && !inBlocks && toLocal(first.startUtc, zone) === first.start;
  return { recurrence, stored: readable ? { set: recurrence.rule, rules, first } : undefined };
}

async function writeSet(
  { db, caller }: WriteContext,
  { row }: StoredPost,
  { set, rules }: StoredSet,
  recurrence: StoredRecurrence,
): Promise<Rows['metas']> {
  await writeRecurrence(db, row.ID, { ...recurrence, rule: set }, { updatedAt: utcFromDate(caller.now), timezone: undefined, anew: false });
  return { [RULES]: [rules] };
}
