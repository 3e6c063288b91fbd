/*
 * Changes of single dates in what the calendar's paid extension stores of an event that recurs: the set as iCalendar
 * lines (`tec_events.rset`), and the rules that the set is made of (`_EventRecurrence`). Both change together, so that
 * the next save in WordPress gives the same dates.
 */
import { parseSerialized, withMembers } from '../wordpress/php/serialized.ts';
import { localFromUnix, unixFromLocal } from '../wordpress/zones.ts';
import { dateOfRule, isMembers, type StoredRule } from './recurrence-meta.ts';
import { datesOfSet, lineOf, localOf, parseRecurrenceSet, type RecurrenceSet, rdateOf, type SetDate, valueAt } from './recurrence-set.ts';

/** What is stored of an event that recurs, and its first date. */
export interface StoredSet {
  /** `tec_events.rset`. */
  readonly set: string;
  /** `_EventRecurrence`. */
  readonly rules: string;
  readonly first: Span;
}

/** From when to when, `YYYY-MM-DD HH:MM:SS`, local in the zone of the set. */
export interface Span {
  readonly start: string;
  readonly end: string;
}

/**
 * The same without one of its dates: one that was listed is taken from the list, one that the rule gives becomes an
 * exception. Undefined where that can't be said in both: for the first date, which always takes place, for a time at
 * which there is none, and where set and rules differ.
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
 * The same with one more date, later than the first: one that was left out takes place again, any other is listed.
 * Undefined where there is one at that time already, and where set or rules can't be read.
 */
export function withDate(stored: StoredSet, span: Span): StoredSet | undefined {
  const set = parseRecurrenceSet(stored.set);
  if (!set || span.start <= stored.first.start || span.end < span.start) return undefined;
  const changed = [withoutException(stored, set, span.start), withListed(stored, set, span)];
  return changed.find((one) => one !== undefined && isSame(one, stored, { with: span }));
}

/** Whether one of the dates of a set is listed; otherwise the rule gives it. */
export const isListed = ({ set }: StoredSet, start: string): boolean =>
  parseRecurrenceSet(set)?.rdates.some((one) => one.start === start) === true;

// ------------------------------------------------------------------------------------------------- dates of a set
/** The start that a set has for one as it is shown: the rule may give a time that clocks leave out in spring. */
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

/** Whether a changed set has the dates of the stored one except for the requested change, up to that date. */
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

/** Whether the set has its times in UTC; otherwise they are in its zone. */
const isInUtc = (set: string): boolean => linesOf(set).some((line) => /^DTSTART[^:]*:.*Z$/.test(line));

const basic = (local: string): string => local.replace(/[-:]/g, '').replace(' ', 'T');

/** With a date besides in its place: after the rule and before the first date, which sets of dates list last. */
function withLine({ set, first }: StoredSet, { zone, start }: RecurrenceSet, line: string): string {
  const lines = linesOf(set);
  const ownFirst = lines.findIndex((one) => listedIn(one, zone, start).some((date) => date?.start === first.start));
  const last = lines.findLastIndex((one) => ['DTSTART', 'DTEND', 'RRULE', 'RDATE'].includes(lineOf(one)?.name ?? ''));
  return lines.toSpliced(ownFirst < 0 ? last + 1 : ownFirst, 0, line).join('\n');
}

/** The dates that a line lists, in the order of its values. */
function listedIn(text: string, zone: RecurrenceSet['zone'], start: string): ReturnType<typeof rdateOf>[] {
  const line = lineOf(text);
  return line?.name === 'RDATE' ? line.value.split(',').map((value) => rdateOf(value, line, zone, start)) : [];
}

/** The times and days that a line leaves out, in the order of its values. */
function exceptionsIn(text: string, zone: RecurrenceSet['zone']): (string | undefined)[] {
  const line = lineOf(text);
  return line?.name === 'EXDATE' ? line.value.split(',').map((value) => localOf(value, line, zone)) : [];
}

/** Undefined where the rules, which know no seconds, would say another start. */
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

/** Undefined where no exception leaves out this time. */
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

/** A list without the first that is meant; undefined where there is none. */
function withoutFirst<Item>(list: readonly Item[], isMeant: (item: Item) => boolean): Item[] | undefined {
  const place = list.findIndex(isMeant);
  return place < 0 ? undefined : list.toSpliced(place, 1);
}

/** A set without some values of its lines. `areMeant`: which of the values of a line, in their order. */
function withoutValues(set: string, areMeant: (line: string) => readonly boolean[]): string {
  const lines = linesOf(set).flatMap((line) => {
    const meant = areMeant(line);
    if (!meant.includes(true)) return [line];
    const [head, all] = [line.slice(0, valueAt(line)), line.slice(valueAt(line))];
    const values = all.split(',').filter((_, place) => !meant[place]);
    return values.length === 0 ? [] : [`${head}${values.join(',')}`];
  });
  return lines.join('\n');
}

/** An exception of a whole day leaves out the time at which the rule gives it a date. */
function withException(stored: StoredSet, { start }: RecurrenceSet, gone: string): StoredSet | undefined {
  if (gone.slice(DAY) !== start.slice(DAY)) return undefined;
  const rules = changedRules(stored.rules, 'exclusions', (exclusions) => [...exclusions, dayRule(stored, gone)]);
  const line = `EXDATE:${basic(gone)}${isInUtc(stored.set) ? 'Z' : ''}`;
  return rules === undefined ? undefined : { ...stored, rules, set: [...linesOf(stored.set), line].join('\n') };
}

// ------------------------------------------------------------------------------------------------- rules
const DAY = 'YYYY-MM-DD'.length;

/** The rules with one of their two lists changed; undefined where they can't be read, or there is no change. */
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

/** A rule of one date: at the hours of the event, or at its own. */
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

/** A time as the rules have it: `3:00pm`. */
function shownTime(local: string): string {
  const hour = Number(local.slice(11, 13));
  return `${hour % 12 || 12}:${local.slice(14, 16)}${hour < 12 ? 'am' : 'pm'}`;
}
