/*
 * The dates of a recurring event in iCalendar's form (RFC 5545): a start, a rule, additional dates (`RDATE`) and
 * excluded dates (`EXDATE`). They come from the stored rule and are corrected by the stored rows, so that they are
 * exactly the dates that lists show.
 */
import { unixFromText } from '../wordpress/time.ts';
import { localFromUnix, unixFromLocal, type Zone } from '../wordpress/zones.ts';
import { isEndless, parseRecurrenceSet, type RecurrenceSet, type SetRule, startsByRule } from './recurrence-set.ts';

/** All dates of an event. Times are `YYYY-MM-DD HH:MM:SS`, local in `zone`. */
export interface RecurringDates {
  readonly zone: Zone;
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
  readonly dates: readonly RecurringDate[];
}

/** A date that takes place. */
interface RecurringDate {
  readonly start: string;
  readonly startUtc: string;
  /** Seconds. */
  readonly length: number;
}

/** Stored dates of an event: its rule (`tec_events.rset`) and its dates in order, in UTC. */
interface Stored {
  readonly rule: string;
  readonly dates: readonly { readonly startUtc: string; readonly endUtc: string }[];
}

/** Maximum number of exceptions to a rule. If there are more, the remaining dates are listed instead. */
const MAX_EXCEPTIONS = 1000;

/**
 * Converts the stored dates of a recurring event to iCalendar's form. If the rule cannot be read or gives none of the
 * dates, the result is a list of dates.
 *
 * @param stored with at least one date
 * @param zone the zone of the event, used if the rule has none
 */
export function recurringDates(stored: Stored, zone: Zone): RecurringDates {
  const set = parseRecurrenceSet(stored.rule);
  const dates = datesIn(stored, set?.zone ?? zone);
  const ruled = set?.rule && datesWithRule(set, set.rule, dates);
  return ruled && ruled.exdates.length <= MAX_EXCEPTIONS ? ruled : asListedDates({ zone: set?.zone ?? zone, dates });
}

/** Returns the same dates without a rule. */
export function asListedDates({ zone, dates }: Pick<RecurringDates, 'zone' | 'dates'>): RecurringDates {
  const [first, ...others] = dates;
  const { start, length } = first!; // there is at least one
  return { zone, start, length, rule: undefined, rdates: others.map((date) => date.start), exdates: [], dates };
}

const datesIn = ({ dates }: Stored, zone: Zone): RecurringDate[] =>
  dates.map(({ startUtc, endUtc }) => {
    const begin = unixFromText(startUtc);
    return { start: localFromUnix(begin, zone), startUtc, length: unixFromText(endUtc) - begin };
  });

/**
 * Returns the dates with their rule, or undefined if the rule gives no date. Beyond the last row only dates that the
 * set itself excludes become exceptions. If a rule has no end, its rows extend to their own last one, no matter how
 * much later an additional date is.
 */
function datesWithRule(set: RecurrenceSet, rule: SetRule, dates: readonly RecurringDate[]): RecurringDates | undefined {
  const { zone, start, length, exdates } = set;
  const added = new Set(isEndless(set) ? set.rdates.map((date) => date.start) : []);
  const lastRow = (dates.findLast((date) => !added.has(date.start)) ?? dates.at(-1)!).start; // there is at least one
  const last = exdates.reduce((latest, day) => laterOf(latest, day.length === DAY ? `${day} 23:59:59` : day), lastRow);
  const ruled = [...startsByRule(rule.rule, start, last)];
  const [begin] = ruled;
  if (begin === undefined) return undefined;
  // Compared as moments, since a local time that is skipped in spring is shown as a later one.
  const momentOf = (local: string) => unixFromLocal(local, zone);
  const [given, there, out] = [
    new Set(ruled.map(momentOf)),
    new Set(dates.map(({ startUtc }) => unixFromText(startUtc))),
    new Set(exdates),
  ];
  const isOut = (local: string) => local <= lastRow || out.has(local) || out.has(local.slice(0, DAY));
  return {
    zone,
    start: begin,
    length: length ?? dates[0]!.length,
    rule,
    rdates: dates.filter(({ startUtc }) => !given.has(unixFromText(startUtc))).map((date) => date.start),
    exdates: ruled.filter((local) => !there.has(momentOf(local)) && isOut(local)),
    dates,
  };
}

const DAY = 'YYYY-MM-DD'.length;
const laterOf = (one: string, other: string): string => (one > other ? one : other);
