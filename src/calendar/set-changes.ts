/*
 * Changes of single dates in the data that The Events Calendar's paid extension stores for a recurring event: the set
 * as iCalendar lines (`tec_events.rset`), and the rules from which it creates the set (`_EventRecurrence`). Both are
 * changed together, so that the next save in WordPress gives the same dates.
 */
import { parseSerialized, withMembers } from '../wordpress/php/serialized.ts';
import { localFromUnix, unixFromLocal } from '../wordpress/zones.ts';
import { dateOfRule, isMembers, type StoredRule } from './recurrence-meta.ts';
import {
  datesOfSet,
  parseLine,
  parseLocal,
  parseRdate,
  parseRecurrenceSet,
  type RecurrenceSet,
  type SetDate,
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
export function withoutDate(stored: StoredSet, shown: string): StoredSet | undefined {
  const set = parseRecurrenceSet(stored.set);
  const start = set ? startInSet(set, stored, shown) : shown;
  const takesPlace = (dates: RecurrenceSet): boolean => datesUntil(dates, stored, start).some((date) => date.start === start);
  if (!set || start === stored.first.start || !takesPlace(set)) return undefined;
  const isListed = set.rdates.some((one) => one.start === start);
  const unlisted = isListed ? withoutListed(stored, set, start) : stored;
  const left = unlisted && parseRecurrenceSet(unlisted.set);
  if (!left) return undefined;
  const changed = takesPlace(left) ? withException(unlisted, left, start) : unlisted;
  return changed && isSame(changed, stored, { without: start }) ? changed : undefined;
}

/**
 * Returns the set with an additional date, later than the first: an excluded date takes place again, any other is
 * listed. Undefined if there is already a date at that time, or if set or rules cannot be read.
 */
export function withDate(stored: StoredSet, span: Span): StoredSet | undefined {
  const set = parseRecurrenceSet(stored.set);
  if (!set || span.start <= stored.first.start || span.end < span.start) return undefined;
  const changed = [withoutException(stored, set, span.start), withListed(stored, set, span)];
  return changed.find((one) => one !== undefined && isSame(one, stored, { with: span }));
}

/** Returns whether a date of a set is listed; otherwise it comes from the rule. */
export const isListed = ({ set }: StoredSet, start: string): boolean =>
  parseRecurrenceSet(set)?.rdates.some((one) => one.start === start) === true;

// ------------------------------------------------------------------------------------------------- dates of a set
/** Returns the start in the set of a date as shown: the rule may give a local time that is skipped in spring. */
function startInSet(set: RecurrenceSet, stored: StoredSet, shown: string): string {
  const moment = unixFromLocal(shown, set.zone);
  return datesUntil(set, stored, shown).find(({ at }) => at === moment)?.start ?? shown;
}

const datesUntil = (set: RecurrenceSet, { first }: StoredSet, last: string): SetDate[] =>
  datesOfSet(set, {
    first: first.start,
    length: unixFromLocal(first.end, set.zone) - unixFromLocal(first.start, set.zone),
    last,
  });

/** Returns whether a changed set has the dates of the stored one except for the requested change, up to that date. */
function isSame(changed: StoredSet, stored: StoredSet, change: { readonly without: string } | { readonly with: Span }): boolean {
  const [before, after] = [parseRecurrenceSet(stored.set), parseRecurrenceSet(changed.set)];
  if (!before || !after) return false;
  const last = 'with' in change ? change.with.start : change.without;
  const spans = (set: RecurrenceSet): string[] =>
    datesUntil(set, stored, last).map(({ start, at, length }) => `${start} ${localFromUnix(at + length, set.zone)}`);
  const expected =
    'with' in change
      ? [...spans(before), `${change.with.start} ${change.with.end}`]
      : spans(before).filter((span) => !span.startsWith(`${change.without} `));
  const found = spans(after);
  return found.length === expected.length && expected.every((span, place) => span === found[place]);
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
function withListed(stored: StoredSet, set: RecurrenceSet, span: Span): StoredSet | undefined {
  if (dateOfRule(dateRule(stored, span), stored.first.start) !== span.start) return undefined;
  const line = `RDATE;TZID=${set.zone.name};VALUE=PERIOD:${basic(span.start)}/${basic(span.end)}`;
  const rules = changedRules(stored.rules, 'rules', (rules) => [...rules, dateRule(stored, span)]);
  return rules === undefined ? undefined : { ...stored, rules, set: withLine(stored, set, line) };
}

function withoutListed(stored: StoredSet, { zone, start }: RecurrenceSet, gone: string): StoredSet | undefined {
  const rules = changedRules(stored.rules, 'rules', (rules) =>
    withoutFirst(rules, (rule) => dateOfRule(rule, stored.first.start) === gone),
  );
  const set = withoutValues(stored.set, (line) => listedIn(line, zone, start).map((date) => date?.start === gone));
  return rules === undefined ? undefined : { ...stored, rules, set };
}

/** Removes an exception. Undefined if there is none for this time. */
function withoutException(stored: StoredSet, { zone, exdates }: RecurrenceSet, start: string): StoredSet | undefined {
  const day = start.slice(0, DAY);
  const leavesOut = (exception: string | undefined) => exception === start || exception === day;
  if (!exdates.some(leavesOut)) return undefined;
  const rules = changedRules(stored.rules, 'exclusions', (exclusions) =>
    withoutFirst(exclusions, (rule) => dateOfRule(rule, start)?.slice(0, DAY) === day),
  );
  const set = withoutValues(stored.set, (line) => exceptionsIn(line, zone).map(leavesOut));
  return rules === undefined ? undefined : { ...stored, rules, set };
}

/** Returns a list without the first matching item; undefined if there is none. */
function withoutFirst<Item>(list: readonly Item[], isMeant: (item: Item) => boolean): Item[] | undefined {
  const place = list.findIndex(isMeant);
  return place < 0 ? undefined : list.toSpliced(place, 1);
}

/**
 * Returns a set without some values of its lines. `areMeant`: returns for each value of a line, in order, whether to
 * remove it.
 */
function withoutValues(set: string, areMeant: (line: string) => readonly boolean[]): string {
  const lines = linesOf(set).flatMap((line) => {
    const meant = areMeant(line);
    if (!meant.includes(true)) return [line];
    const [head, all] = [line.slice(0, valueIndex(line)), line.slice(valueIndex(line))];
    const values = all.split(',').filter((_, place) => !meant[place]);
    return values.length === 0 ? [] : [`${head}${values.join(',')}`];
  });
  return lines.join('\n');
}

/**
 * Adds an exception for a date from the rule. The rules exclude whole days, at the hour of the rule; undefined for a
 * date at another hour.
 */
function withException(stored: StoredSet, { start }: RecurrenceSet, gone: string): StoredSet | undefined {
  if (gone.slice(DAY) !== start.slice(DAY)) return undefined;
  const rules = changedRules(stored.rules, 'exclusions', (exclusions) => [...exclusions, dayRule(stored, gone)]);
  const line = `EXDATE:${basic(gone)}${isSetInUtc(stored.set) ? 'Z' : ''}`;
  return rules === undefined ? undefined : { ...stored, rules, set: [...linesOf(stored.set), line].join('\n') };
}

// ------------------------------------------------------------------------------------------------- rules
const DAY = 'YYYY-MM-DD'.length;

/** Returns the rules with one of their two lists changed; undefined if they cannot be read or nothing changes. */
function changedRules(
  text: string,
  name: 'rules' | 'exclusions',
  change: (list: readonly StoredRule[]) => readonly StoredRule[] | undefined,
): string | undefined {
  const all = parseSerialized(text);
  if (!isMembers(all)) return undefined;
  const list = all[name] ?? [];
  const changed = Array.isArray(list) && list.every(isMembers) ? change(list) : undefined;
  return changed && withMembers(text, { [name]: changed });
}

const spanMembers = ({ first }: StoredSet) => ({ EventStartDate: first.start, EventEndDate: first.end });

const dayRule = (stored: StoredSet, start: string): StoredRule => ({
  type: 'Custom',
  custom: { interval: 1, type: 'Date', date: { date: start.slice(0, DAY) }, 'same-time': 'yes' },
  ...spanMembers(stored),
});

/** Returns a rule for a single date, at the event's hours or at its own. */
function dateRule(stored: StoredSet, { start, end }: Span): StoredRule {
  const rule = dayRule(stored, start);
  const { first } = stored;
  const nights = daysBetween(start, end);
  const isAtItsHours =
    start.slice(DAY) === first.start.slice(DAY) &&
    end.slice(DAY) === first.end.slice(DAY) &&
    nights === daysBetween(first.start, first.end);
  if (isAtItsHours) return rule;
  const hours = {
    'same-time': 'no',
    'start-time': shownTime(start),
    'end-time': shownTime(end),
    'end-day': nights === 0 ? 'same-day' : String(nights),
  };
  return { ...rule, custom: { ...(rule.custom as StoredRule), ...hours } };
}

const daysBetween = (start: string, end: string): number =>
  Math.round((Date.parse(`${end.slice(0, DAY)}T00:00:00Z`) - Date.parse(`${start.slice(0, DAY)}T00:00:00Z`)) / 86_400_000);

/** Returns a time as in the rules: `3:00pm`. */
function shownTime(local: string): string {
  const hour = Number(local.slice(11, 13));
  return `${hour % 12 || 12}:${local.slice(14, 16)}${hour < 12 ? 'am' : 'pm'}`;
}
