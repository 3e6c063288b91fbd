import { isRecord } from '../objects.ts';
/*
 * Changes of single dates in the data that The Events Calendar's paid extension stores for a recurring event: the set
 * as iCalendar lines (`tec_events.rset`), and the rules from which it creates the set (`_EventRecurrence`). Both are
 * changed together, so that the next save in WordPress gives the same dates.
 */
import { parseSerialized, withMembers } from '../wordpress/php/serialized.ts';
import { addDays } from '../wordpress/time.ts';
import { localFromUnix, unixFromLocal } from '../wordpress/zones.ts';
import { dateOfRule, type StoredRule } from './recurrence-meta.ts';
import {
  datesOfSet,
  LATEST,
  parseLine,
  parseLocal,
  parseRdate,
  parseRecurrenceSet,
  type RecurrenceSet,
  type SetDate,
  type SetRule,
  startsByRule,
  valueIndex,
} from './recurrence-set.ts';

/** The stored set and rules of a recurring event, and its first date. */
export interface StoredSet {
  /** `tec_events.rset`. */
  readonly set: string;
  /** `_EventRecurrence`. */
  readonly rules: string;
  readonly first: Span;
}

/** Start and end, `YYYY-MM-DD HH:MM:SS`, local in the zone of the set. */
export interface Span {
  readonly start: string;
  readonly end: string;
}

/**
 * Returns the set without one of its dates: a listed date is removed from the list, a date from the rule becomes an
 * exception. Undefined if set and rules cannot both express that: for the first date, which always takes place, for a
 * time without a date, and if set and rules differ.
 */
export function withoutDate(storedSet: StoredSet, eventStart: string): StoredSet | undefined {
  const set = readableSet(storedSet, eventStart);
  const start = set ? startInSet(set, storedSet, eventStart) : eventStart;
  const takesPlace = (dates: RecurrenceSet): boolean => datesAround(dates, storedSet, start).some((date) => date.start === start);
  if (!set || start === storedSet.first.start || !takesPlace(set)) return undefined;
  const isListed = set.rdates.some((one) => one.start === start);
  const unlistedSet = isListed ? withoutListed(storedSet, set, start) : storedSet;
  const remainingSet = unlistedSet && parseRecurrenceSet(unlistedSet.set);
  if (!remainingSet) return undefined;
  const changedSet = takesPlace(remainingSet) ? withException(unlistedSet, remainingSet, start) : unlistedSet;
  return changedSet && isSame(changedSet, storedSet, { without: start }) ? changedSet : undefined;
}

/** A set after the addition of a date, and that date as the set gives it. */
export interface Addition {
  readonly storedSet: StoredSet;
  readonly date: SetDate;
}

/**
 * Returns the set with an additional date, later than the first: an excluded date takes place again, any other is
 * listed. Undefined if there is already a date at that time, or if set or rules cannot be read. An excluded date
 * returns with its own length: all dates of a rule last the same number of seconds. Its end may also be named as on
 * other days, from which it differs by an hour when clocks change.
 */
export function withDate(storedSet: StoredSet, span: RequestedSpan): Addition | undefined {
  const set = readableSet(storedSet, span.start);
  if (!set || span.start <= storedSet.first.start || span.end < span.start) return undefined;
  for (const candidate of [withoutException(storedSet, set, span.start), withListed(storedSet, set, span)]) {
    const date = candidate && addedDate(candidate, storedSet, span);
    if (date && isSame(candidate, storedSet, { with: date })) return { storedSet: candidate, date };
  }
  return undefined;
}

/** A span as requested. `allDay`: its end is that of a whole day. */
interface RequestedSpan extends Span {
  readonly allDay?: boolean;
}

// ------------------------------------------------------------------------------------------------- dates of a set
/** Returns the start in the set of a date as shown: the rule may give a local time that is skipped in spring. */
function startInSet(set: RecurrenceSet, storedSet: StoredSet, eventStart: string): string {
  const moment = unixFromLocal(eventStart, set.zone);
  return datesAround(set, storedSet, eventStart).find(({ startUnix }) => startUnix === moment)?.start ?? eventStart;
}

/**
 * Returns the days around a date. Only they are examined, since a rule may begin long before: a changed line of a
 * single date has no effect on other days.
 */
const daysAround = (start: string) => ({
  from: `${addDays(start, -1).slice(0, DAY)} 00:00:00`,
  last: start.startsWith(LATEST.slice(0, DAY)) ? LATEST : `${addDays(start, 1).slice(0, DAY)} 23:59:59`,
});

/** Returns the dates of a set that begin on the days around a date. */
const datesAround = (set: RecurrenceSet, storedSet: StoredSet, start: string): SetDate[] =>
  datesOfSet(set, {
    first: storedSet.first.start,
    length: lengthOf(storedSet, set),
    ...daysAround(start),
  });

/** Returns the seconds that a date lasts if the set does not say it. */
const lengthOf = ({ first }: StoredSet, { zone }: RecurrenceSet): number =>
  unixFromLocal(first.end, zone) - unixFromLocal(first.start, zone);

/** Maximum number of dates from a rule on the days around a date that is changed. */
const MAX_AROUND = 1000;

/** Returns the parsed set; undefined if it cannot be read, or if its rules give too many dates to compare them. */
function readableSet(storedSet: StoredSet, start: string): RecurrenceSet | undefined {
  const set = parseRecurrenceSet(storedSet.set);
  const { from, last } = daysAround(start);
  const isDense = ({ rule }: SetRule, ruleStart: string): boolean => {
    const starts = startsByRule(rule, ruleStart, last, from);
    for (let count = 0; !starts.next().done; count += 1) if (count === MAX_AROUND) return true;
    return false;
  };
  return set && [set.rule, set.exrule].some((rule) => rule !== undefined && isDense(rule, set.start)) ? undefined : set;
}

/** Returns the date of a changed set that was requested; undefined if it takes place at another time. */
function addedDate(changedSet: StoredSet, storedSet: StoredSet, span: RequestedSpan): SetDate | undefined {
  const set = parseRecurrenceSet(changedSet.set);
  const moment = set && unixFromLocal(span.start, set.zone);
  const date = set && datesAround(set, storedSet, span.start).find(({ startUnix }) => startUnix === moment);
  return date && isNamedEnd(set, storedSet, date, span) ? date : undefined;
}

/** Whether a request names the end of a date: exactly or, for a rule, as on other days or by the whole day. */
function isNamedEnd(set: RecurrenceSet, storedSet: StoredSet, date: SetDate, span: RequestedSpan): boolean {
  const end = endOf(set, date);
  if (!date.isFromRule || span.end === end) return span.end === end;
  const usualEnd = localFromUnix(unixFromLocal(set.start, set.zone) + (set.length ?? lengthOf(storedSet, set)), set.zone);
  const isUsual = span.end === addDays(date.start, daysBetween(set.start, usualEnd)).slice(0, DAY) + usualEnd.slice(DAY);
  return isUsual || (span.allDay === true && addDays(span.end, -1) < end && end < span.end);
}

const endOf = ({ zone }: RecurrenceSet, { startUnix, length }: SetDate): string => localFromUnix(startUnix + length, zone);

/** Returns whether a changed set has the dates of the stored one except for the requested change. */
function isSame(changedSet: StoredSet, storedSet: StoredSet, change: { readonly without: string } | { readonly with: SetDate }): boolean {
  const [before, after] = [parseRecurrenceSet(storedSet.set), parseRecurrenceSet(changedSet.set)];
  const start = 'with' in change ? change.with.start : change.without;
  if (!before || !after || partsElsewhere(before, start) !== partsElsewhere(after, start)) return false;
  const spanOf = (date: SetDate): string => `${date.start} ${endOf(after, date)}`;
  const spans = (set: RecurrenceSet): string[] => datesAround(set, storedSet, start).map(spanOf);
  const expected =
    'with' in change ? [...spans(before), spanOf(change.with)] : spans(before).filter((span) => !span.startsWith(`${change.without} `));
  return spans(after).sort().join() === expected.sort().join();
}

/** Returns the parts of a set that determine its dates on other days than those around a date, as a text. */
function partsElsewhere({ rdates, exdates, ...set }: RecurrenceSet, start: string): string {
  const { from, last } = daysAround(start);
  const isElsewhere = (local: string): boolean => local < from.slice(0, DAY) || local > last;
  return JSON.stringify([set, rdates.filter((date) => isElsewhere(date.start)), exdates.filter(isElsewhere)]);
}

// ------------------------------------------------------------------------------------------------- lines
const linesOf = (set: string): string[] => set.split(/\r?\n/).filter((line) => line.trim() !== '');

/** Returns whether the times of the set are in UTC; otherwise they are in its zone. */
const isSetInUtc = (set: string): boolean => linesOf(set).some((line) => /^DTSTART[^:]*:.*Z$/.test(line));

const basic = (local: string): string => local.replace(/[-:]/g, '').replace(' ', 'T');

/**
 * Inserts the line of an additional date: after the rule and before the first date, which sets without a rule list
 * last.
 */
function withLine({ set, first }: StoredSet, { zone, start }: RecurrenceSet, line: string): string {
  const lines = linesOf(set);
  const ownFirst = lines.findIndex((one) => listedIn(one, zone, start).some((date) => date?.start === first.start));
  const last = lines.findLastIndex((one) => ['DTSTART', 'DTEND', 'RRULE', 'RDATE'].includes(parseLine(one)?.name ?? ''));
  return lines.toSpliced(ownFirst < 0 ? last + 1 : ownFirst, 0, line).join('\n');
}

/** Returns the dates listed in a line, in the order of its values. */
function listedIn(text: string, zone: RecurrenceSet['zone'], start: string): ReturnType<typeof parseRdate>[] {
  const line = parseLine(text);
  return line?.name === 'RDATE' ? line.value.split(',').map((value) => parseRdate(value, line, zone, start)) : [];
}

/** Returns the times and days excluded by a line, in the order of its values. */
function exceptionsIn(text: string, zone: RecurrenceSet['zone']): (string | undefined)[] {
  const line = parseLine(text);
  return line?.name === 'EXDATE' ? line.value.split(',').map((value) => parseLocal(value, line, zone)) : [];
}

/** Adds a listed date. Undefined if the rules, which have no seconds, would give another start. */
function withListed(storedSet: StoredSet, set: RecurrenceSet, span: Span): StoredSet | undefined {
  if (dateOfRule(dateRule(storedSet, span), storedSet.first.start) !== span.start) return undefined;
  const line = `RDATE;TZID=${set.zone.name};VALUE=PERIOD:${basic(span.start)}/${basic(span.end)}`;
  const rules = changedRules(storedSet.rules, 'rules', (rules) => [...rules, dateRule(storedSet, span)]);
  return rules === undefined ? undefined : { ...storedSet, rules, set: withLine(storedSet, set, line) };
}

function withoutListed(storedSet: StoredSet, { zone, start }: RecurrenceSet, removedStart: string): StoredSet | undefined {
  const rules = changedRules(storedSet.rules, 'rules', (rules) =>
    withoutFirst(rules, (rule) => dateOfRule(rule, storedSet.first.start) === removedStart),
  );
  const set = withoutValues(storedSet.set, (line) => listedIn(line, zone, start).map((date) => date?.start === removedStart));
  return rules === undefined ? undefined : { ...storedSet, rules, set };
}

/** Removes an exception. Undefined if there is none for this time. */
function withoutException(storedSet: StoredSet, { zone, exdates }: RecurrenceSet, start: string): StoredSet | undefined {
  const day = start.slice(0, DAY);
  // Compared as moments, since the rule may give a local time that is skipped in spring.
  const moment = unixFromLocal(start, zone);
  const leavesOut = (exception: string | undefined) =>
    exception === day || (exception !== undefined && exception.length > DAY && unixFromLocal(exception, zone) === moment);
  if (!exdates.some(leavesOut)) return undefined;
  const rules = changedRules(storedSet.rules, 'exclusions', (exclusions) =>
    withoutFirst(exclusions, (rule) => dateOfRule(rule, start)?.slice(0, DAY) === day),
  );
  const set = withoutValues(storedSet.set, (line) => exceptionsIn(line, zone).map(leavesOut));
  return rules === undefined ? undefined : { ...storedSet, rules, set };
}

/** Returns a list without the first matching item; undefined if there is none. */
function withoutFirst<Item>(list: readonly Item[], matches: (item: Item) => boolean): Item[] | undefined {
  const place = list.findIndex(matches);
  return place < 0 ? undefined : list.toSpliced(place, 1);
}

/**
 * Returns a set without some values of its lines. `findRemovals`: returns for each value of a line, in order, whether
 * to remove it.
 */
function withoutValues(set: string, findRemovals: (line: string) => readonly boolean[]): string {
  const lines = linesOf(set).flatMap((line) => {
    const removals = findRemovals(line);
    if (!removals.includes(true)) return [line];
    const [prefix, list] = [line.slice(0, valueIndex(line)), line.slice(valueIndex(line))];
    const values = list.split(',').filter((_, index) => !removals[index]);
    return values.length === 0 ? [] : [`${prefix}${values.join(',')}`];
  });
  return lines.join('\n');
}

/**
 * Adds an exception for a date from the rule. The rules exclude whole days, at the hour of the rule; undefined for a
 * date at another hour.
 */
function withException(storedSet: StoredSet, { start }: RecurrenceSet, excludedStart: string): StoredSet | undefined {
  if (excludedStart.slice(DAY) !== start.slice(DAY)) return undefined;
  const rules = changedRules(storedSet.rules, 'exclusions', (exclusions) => [...exclusions, dayRule(storedSet, excludedStart)]);
  const line = `EXDATE:${basic(excludedStart)}${isSetInUtc(storedSet.set) ? 'Z' : ''}`;
  return rules === undefined ? undefined : { ...storedSet, rules, set: [...linesOf(storedSet.set), line].join('\n') };
}

// ------------------------------------------------------------------------------------------------- rules
const DAY = 'YYYY-MM-DD'.length;

/** Returns the rules with one of their two lists changed; undefined if they cannot be read or nothing changes. */
function changedRules(
  text: string,
  name: 'rules' | 'exclusions',
  change: (list: readonly StoredRule[]) => readonly StoredRule[] | undefined,
): string | undefined {
  const members = parseSerialized(text);
  if (!isRecord(members)) return undefined;
  const list = members[name] ?? [];
  const changedList = Array.isArray(list) && list.every(isRecord) ? change(list) : undefined;
  return changedList && withMembers(text, { [name]: changedList });
}

const spanMembers = ({ first }: StoredSet) => ({ EventStartDate: first.start, EventEndDate: first.end });

const dayRule = (storedSet: StoredSet, start: string): StoredRule => ({
  type: 'Custom',
  custom: { interval: 1, type: 'Date', date: { date: start.slice(0, DAY) }, 'same-time': 'yes' },
  ...spanMembers(storedSet),
});

/** Returns a rule for a single date, at the event's hours or at its own. */
function dateRule(storedSet: StoredSet, { start, end }: Span): StoredRule {
  const rule = dayRule(storedSet, start);
  const { first } = storedSet;
  const nights = daysBetween(start, end);
  const isAtItsHours =
    start.slice(DAY) === first.start.slice(DAY) &&
    end.slice(DAY) === first.end.slice(DAY) &&
    nights === daysBetween(first.start, first.end);
  if (isAtItsHours) return rule;
  const hours = {
    'same-time': 'no',
    'start-time': shownTime(start),
    // PHP also reads seconds. An all-day event ends with the last one of its day.
    'end-time': shownTime(end, end.endsWith(':00') ? '' : end.slice(16)),
    'end-day': nights === 0 ? 'same-day' : String(nights),
  };
  return { ...rule, custom: { ...(rule.custom as StoredRule), ...hours } };
}

const daysBetween = (start: string, end: string): number =>
  Math.round((Date.parse(`${end.slice(0, DAY)}T00:00:00Z`) - Date.parse(`${start.slice(0, DAY)}T00:00:00Z`)) / 86_400_000);

/** Returns a time as in the rules: `3:00pm`. `seconds`: with a colon, or empty. */
function shownTime(local: string, seconds = ''): string {
  const hour = Number(local.slice(11, 13));
  return `${hour % 12 || 12}:${local.slice(14, 16)}${seconds}${hour < 12 ? 'am' : 'pm'}`;
}
