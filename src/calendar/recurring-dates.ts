/*
 * The dates of a recurring event in iCalendar's form (RFC 5545): a start, a rule, additional dates (`RDATE`) and
 * excluded dates (`EXDATE`). They come from the stored rule and are corrected by the stored rows, so that they are
 * exactly the dates that lists show.
 */
import { unixFromText } from '../wordpress/time.ts';
import { localFromUnix, unixFromLocal, type Zone } from '../wordpress/zones.ts';
import { isEndless, LATEST, parseRecurrenceSet, type RecurrenceSet, type SetRule, startsByRule } from './recurrence-set.ts';

/** All dates of an event. Times are `YYYY-MM-DD HH:MM:SS`, local in `zone` unless stated otherwise. */
export interface RecurringDates {
  /** The zone of the rule. It may be another than that of the event, such as UTC. */
  readonly zone: Zone;
  readonly eventZone: Zone;
  /** The start from which the rule counts; without a rule, the first date. */
  readonly start: string;
  /** Seconds that a date lasts, unless its row differs. */
  readonly length: number;
  /** Undefined: all dates but the first are listed in `rdates`. */
  readonly rule: SetRule | undefined;
  /** Starts of dates that do not come from the rule. */
  readonly rdates: readonly string[];
  /** Starts from the rule on which no date takes place. */
  readonly exdates: readonly string[];
  /** Whether dates from the rule after the last row may be excluded by another rule (EXRULE). */
  readonly hasOpenExceptions: boolean;
  readonly dates: readonly RecurringDate[];
}

/** A date that takes place. */
interface RecurringDate {
  readonly start: string;
  /** Its start in the zone of the event, as stored in its row. The address of its page has this day. */
  readonly eventStart: string;
  readonly startUtc: string;
  /** Seconds. */
  readonly length: number;
}

/** Stored dates of an event: its rule (`tec_events.rset`) and its dates in order. `start`: local in its zone. */
interface Stored {
  readonly rule: string;
  readonly dates: readonly { readonly start: string; readonly startUtc: string; readonly endUtc: string }[];
}

/** Maximum number of exceptions to a rule. If there are more, the remaining dates are listed instead. */
const MAX_EXCEPTIONS = 1000;
/** Maximum number of starts from a rule after the last row that are compared with the excluded dates. */
const MAX_LATER_STARTS = 2000;

/**
 * Converts the stored dates of a recurring event to iCalendar's form. If the rule cannot be read or gives none of the
 * dates, the result is a list of dates.
 *
 * @param storedDates with at least one date
 * @param eventZone the zone of the event, also used for the rule if that has none
 */
export function recurringDates(storedDates: Stored, eventZone: Zone): RecurringDates {
  const set = parseRecurrenceSet(storedDates.rule);
  const zone = set?.zone ?? eventZone;
  const dates = datesIn(storedDates, zone);
  const datesByRule = set?.rule && datesWithRule(set, set.rule, dates);
  return datesByRule && datesByRule.exdates.length <= MAX_EXCEPTIONS
    ? { ...datesByRule, eventZone }
    : asListedDates({ zone, eventZone, dates });
}

/** Returns the same dates without a rule. */
export function asListedDates({ zone, eventZone, dates }: Pick<RecurringDates, 'zone' | 'eventZone' | 'dates'>): RecurringDates {
  const [first, ...rest] = dates;
  const { start, length } = first!; // there is at least one
  const rdates = rest.map((date) => date.start);
  return { zone, eventZone, start, length, rule: undefined, rdates, exdates: [], hasOpenExceptions: false, dates };
}

/** Whether the clock of the rule has the same day as that of the event at all dates; one in UTC may not. */
export const hasDaysOfEvent = ({ dates }: Pick<RecurringDates, 'dates'>): boolean =>
  dates.every(({ start, eventStart }) => start.slice(0, DAY) === eventStart.slice(0, DAY));

/** Returns the same dates without a rule, by the clock of the event. */
export const asDatesOfEvent = ({ eventZone, dates }: Pick<RecurringDates, 'eventZone' | 'dates'>): RecurringDates =>
  asListedDates({ zone: eventZone, eventZone, dates: dates.map((date) => ({ ...date, start: date.eventStart })) });

const datesIn = ({ dates }: Stored, zone: Zone): RecurringDate[] =>
  dates.map(({ start: eventStart, startUtc, endUtc }) => {
    const startUnix = unixFromText(startUtc);
    return { start: localFromUnix(startUnix, zone), eventStart, startUtc, length: unixFromText(endUtc) - startUnix };
  });

/**
 * Returns the dates with their rule, or undefined if the rule gives no date, or too many others. Beyond the last row
 * only dates that the set itself excludes become exceptions. If a rule has no end, its rows extend to their own last
 * one, no matter how much later an additional date is.
 */
function datesWithRule(set: RecurrenceSet, rule: SetRule, dates: readonly RecurringDate[]): Omit<RecurringDates, 'eventZone'> | undefined {
  const { zone, length, exdates } = set;
  const addedStarts = new Set(isEndless(set) ? set.rdates.map((date) => date.start) : []);
  const lastRow = (dates.findLast((date) => !addedStarts.has(date.start)) ?? dates.at(-1)!).start; // there is at least one
  const lastStart = exdates.reduce((latest, day) => laterOf(latest, day.length === DAY ? `${day} 23:59:59` : day), lastRow);
  const ruleStarts = startsUntil(set, rule, { lastRow, lastStart, most: dates.length + MAX_EXCEPTIONS });
  const firstStart = ruleStarts?.[0];
  if (!ruleStarts || firstStart === undefined) return undefined;
  // Compared as moments, since a local time that is skipped in spring is shown as a later one.
  const momentOf = (local: string) => unixFromLocal(local, zone);
  const [ruleMoments, rowMoments, exclusions] = [
    new Set(ruleStarts.map(momentOf)),
    new Set(dates.map(({ startUtc }) => unixFromText(startUtc))),
    new Set(exdates),
  ];
  const isOut = (local: string) => local <= lastRow || exclusions.has(local) || exclusions.has(local.slice(0, DAY));
  return {
    zone,
    start: firstStart,
    length: length ?? dates[0]!.length,
    rule,
    rdates: dates.filter(({ startUtc }) => !ruleMoments.has(unixFromText(startUtc))).map((date) => date.start),
    exdates: ruleStarts.filter((local) => !rowMoments.has(momentOf(local)) && isOut(local)),
    hasOpenExceptions: set.exrule !== undefined && hasStartAfter(set, rule, lastRow),
    dates,
  };
}

/**
 * Returns the starts from a rule up to the last row, and a limited number of later ones, up to `lastStart`. Undefined
 * if there are more than `most` up to the last row.
 */
function startsUntil(
  { start }: RecurrenceSet,
  { rule }: SetRule,
  { lastRow, lastStart, most }: { readonly lastRow: string; readonly lastStart: string; readonly most: number },
): string[] | undefined {
  const starts: string[] = [];
  let laterCount = 0;
  for (const local of startsByRule(rule, start, lastStart)) {
    if (local > lastRow) laterCount += 1;
    if (laterCount > MAX_LATER_STARTS) break;
    starts.push(local);
    if (laterCount === 0 && starts.length > most) return undefined;
  }
  return starts;
}

/** Whether a rule gives a start after the last row. */
function hasStartAfter(set: RecurrenceSet, { rule }: SetRule, lastRow: string): boolean {
  if (isEndless(set)) return true;
  for (const local of startsByRule(rule, set.start, LATEST, lastRow)) if (local > lastRow) return true;
  return false;
}

const DAY = 'YYYY-MM-DD'.length;
const laterOf = (one: string, other: string): string => (one > other ? one : other);
