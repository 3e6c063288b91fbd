import type { EventDates } from '../../calendar/dates.ts';
import { parseRecurrenceSet } from '../../calendar/recurrence-set.ts';
import { type Addition, type StoredSet, withDate, withoutDate } from '../../calendar/set-changes.ts';
import { fail, failParam } from '../../errors.ts';
import { storedDates } from '../../kinds/events/dates.ts';
import { type EventDate, metasAt } from '../../kinds/events/occurrence.ts';
import type { PostValues, Rows, StoredPost } from '../../kinds/kind.ts';
import { loadRecurrences, type StoredDate, type StoredRecurrence, writeRecurrence } from '../../storage/rows/recurrences.ts';
import { calendarEvents, datesUntil, rowOfDate, skipsDates } from '../../storage/rows/rule-dates.ts';
import { asStored } from '../../wordpress/php/serialized.ts';
import { metaOf } from '../../wordpress/rows.ts';
import { addMonths, textFromUnix, utcFromDate } from '../../wordpress/time.ts';
import { parseZone, toLocal, toUtc, type Zone } from '../../wordpress/zones.ts';
import { areSameDates, onlyDates, zoneOf } from '../occurrences.ts';
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
  const { recurrence, storedSet } = await loadSet(write, before, [date]);
  const changedSet = storedSet && withoutDate(storedSet, date.start);
  if (!changedSet) return fail('recurring-event-date-kept');
  return writeSet(write, before, changedSet, {
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
  const postAtDate = { ...before, metas: metasAt(before.metas, date) };
  const newDates = datesAfter(write, postAtDate, values);
  if (areSameDates(newDates, storedDates(postAtDate), write.caller)) return {};
  const { recurrence, storedSet } = await loadSet(write, before, [date, newDates]);
  const storedDate = recurrence.dates.find(({ startUtc }) => startUtc === date.startUtc);
  const otherDates = recurrence.dates.filter((one) => one !== storedDate);
  const remainingSet = storedDate?.listed && storedSet ? withoutDate(storedSet, date.start) : undefined;
  const addition = remainingSet && canSetDate(write, newDates, before, otherDates) ? additionOf(remainingSet, newDates) : undefined;
  if (!storedDate || !addition) return fail('recurring-event-dates');
  const newDate = { ...rowOfDate(addition.date, zoneOfEvent(write, newDates), storedDate.sequence), id: storedDate.id };
  return writeAddition(write, before, { ...recurrence, dates: otherDates, newDate, addition });
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
  const newDates = datesAfter(write, before, values);
  const { recurrence, storedSet } = await loadSet(write, before, [newDates]);
  const addition = storedSet && canSetDate(write, newDates, before, recurrence.dates) ? additionOf(storedSet, newDates) : undefined;
  if (!addition) return fail('recurring-event-dates');
  const sequence = Math.max(0, ...recurrence.dates.map((date) => date.sequence));
  const newDate = rowOfDate(addition.date, zoneOfEvent(write, newDates), sequence);
  const metas = await writeAddition(write, before, { ...recurrence, newDate, addition });
  return { metas, startUtc: newDate.startUtc };
}

// ------------------------------------------------------------------------------------------------- dates
const datesAfter = ({ caller, kind }: WriteContext, before: StoredPost, values: PostValues): EventDates =>
  storedDates({ metas: new Map([...before.metas, ...Object.entries(kind.derivedRows(onlyDates(values), before, caller).metas)]) });

/**
 * Whether a date can be set. Time zone and all-day setting are those of the event. With a second date on a day, its
 * address would depend on the order of the two.
 */
const canSetDate = ({ caller }: WriteContext, dates: EventDates, before: StoredPost, otherDates: readonly StoredDate[]): boolean =>
  isOfSameKind(dates, storedDates(before), caller) && !otherDates.some(({ start }) => start.slice(0, DAY) === dates.start.slice(0, DAY));

const DAY = 'YYYY-MM-DD'.length;

const isOfSameKind = (one: EventDates, other: EventDates, caller: WriteContext['caller']): boolean =>
  zoneOf(one, caller) === zoneOf(other, caller) && one.allDay === other.allDay;

/** Returns the set with a date; undefined if the set cannot have it, or has it at another moment. */
function additionOf(storedSet: StoredSet, dates: EventDates): Addition | undefined {
  const addition = withDate(storedSet, dates);
  return addition && textFromUnix(addition.date.startUnix) === dates.startUtc ? addition : undefined;
}

const zoneOfEvent = ({ caller }: WriteContext, dates: EventDates): Zone => parseZone(zoneOf(dates, caller)) ?? caller.settings.zone;

const sortByStart = (dates: readonly StoredDate[]): StoredDate[] =>
  dates.toSorted((one, other) => (one.startUtc < other.startUtc ? -1 : one.startUtc > other.startUtc ? 1 : 0));

// ------------------------------------------------------------------------------------------------- stored data
const RULES = '_EventRecurrence';
/** The block editor's copy of the same rules. If it exists, the rules cannot be changed alone. */
const RULES_OF_BLOCKS = ['_tribe_blocks_recurrence_rules', '_tribe_blocks_recurrence_exclusions'];

/** A date in the time of the event and in UTC. */
type Moments = Pick<EventDates, 'start' | 'startUtc' | 'end' | 'endUtc'>;

/**
 * Loads the stored recurrence of an event. `storedSet` is undefined if its single dates cannot be changed, or not these
 * ones. The times of a set may be in another zone than the event, such as UTC; there, the rules from which WordPress
 * creates the set would then mean another moment.
 */
async function loadSet(
  { db, caller }: WriteContext,
  { row, metas }: StoredPost,
  dates: readonly Moments[],
): Promise<{ readonly recurrence: StoredRecurrence; readonly storedSet: StoredSet | undefined }> {
  const recurrence = caller.settings.recurrence && (await loadRecurrences(db, [row.ID])).get(row.ID);
  const firstDate = recurrence?.dates[0];
  if (!recurrence?.recurs || !firstDate) return fail('event-takes-place-once');
  const zone = parseRecurrenceSet(recurrence.rule)?.zone;
  const rules = metaOf(metas, RULES);
  const inBlocks = RULES_OF_BLOCKS.some((key) => !['', '[]'].includes(metaOf(metas, key) ?? ''));
  // A whole day may begin at a time that its clock skips.
  const isSame = (utc: string, local: string): boolean =>
    zone !== undefined && (toLocal(utc, zone) === local || toUtc(local, zone) === utc);
  const areInZone = dates.every(({ start, startUtc, end, endUtc }) => isSame(startUtc, start) && isSame(endUtc, end));
  const isReadable = rules !== undefined && !inBlocks && isSame(firstDate.startUtc, firstDate.start) && areInZone;
  return { recurrence, storedSet: isReadable ? { set: recurrence.rule, rules, first: firstDate } : undefined };
}

async function writeSet(
  { db, caller }: WriteContext,
  { row }: StoredPost,
  { set, rules }: StoredSet,
  recurrence: StoredRecurrence,
): Promise<Rows['metas']> {
  await writeRecurrence(
    db,
    row.ID,
    { ...recurrence, rule: set },
    { updatedAt: utcFromDate(caller.now), timezone: undefined, isNewEvent: false },
  );
  // The rules are serialized already.
  return { [RULES]: [asStored(rules)] };
}

/** The dates of an event, and one that is added to them. */
interface AddedTo extends StoredRecurrence {
  readonly newDate: StoredDate;
  readonly addition: Addition;
}

/**
 * Writes the dates with the new one. A date after the last one that a rule without end has generated gets a row for
 * each date before it, since the rule counts as expanded up to its last row. It can be as far ahead as these are given
 * anyway.
 *
 * @throws recurring-event-dates for a date further ahead
 */
async function writeAddition(
  write: WriteContext,
  before: StoredPost,
  { newDate, addition, ...recurrence }: AddedTo,
): Promise<Rows['metas']> {
  const { db, caller } = write;
  const { storedSet } = addition;
  const dates = [...recurrence.dates, newDate];
  if (!newDate.listed && skipsDates(recurrence, newDate.startUtc)) {
    const latest = addMonths(utcFromDate(caller.now), caller.settings.calendar.monthsAhead);
    const event = (await calendarEvents(db, [before.row.ID])).get(before.row.ID);
    if (!event || newDate.startUtc > latest) return fail('recurring-event-dates');
    const furtherDates = datesUntil({ ...event, rset: storedSet.set }, recurrence, newDate.startUtc);
    const skippedDates = furtherDates.filter(({ startUtc }) => startUtc !== newDate.startUtc);
    dates.push(...skippedDates.map((date) => ({ ...date, sequence: newDate.sequence })));
  }
  return writeSet(write, before, storedSet, { ...recurrence, dates: sortByStart(dates) });
}
