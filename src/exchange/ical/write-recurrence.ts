import { asDatesOfEvent, asListedDates, hasDaysOfEvent, type RecurringDates } from '../../calendar/recurring-dates.ts';
import { dayAfter } from '../../calendar/schedule.ts';
import { isDate } from '../../calendar/shown-times.ts';
import { addDays, addSeconds } from '../../wordpress/time.ts';
import { toLocal, toUtc, type Zone } from '../../wordpress/zones.ts';
import { foldLine, line } from './write-line.ts';
import { dayLines, isUnambiguous, timeLine, zonedLine } from './write-times.ts';

/*
 * Writes a recurring event as one VEVENT with its rule, and one more for each date that is longer or shorter than the
 * others, or takes place at another moment than calendars derive from the rule (RFC 5545, 3.8.4.4).
 */

type DateName = 'dtstart' | 'dtend' | 'rdate' | 'exdate' | 'recurrence-id';

/** Whether an event is all-day. */
interface AllDayFlag {
  readonly allDay: boolean;
}

/** Returns the lines about dates for each VEVENT of an event. */
export function recurringTimes(dates: RecurringDates, { allDay }: AllDayFlag): string[][] {
  const writtenDates = asWritten(dates, { allDay });
  const { zone, start, length, rule, rdates, exdates } = writtenDates;
  const utcByLocal = new Map(writtenDates.dates.map((date) => [date.start, date.startUtc]));
  const dateLine = (name: DateName, local: string, utc = utcByLocal.get(local) ?? toUtc(local, zone)) =>
    allDay ? line(name, 'date', [local.slice(0, 10)]) : timeLine(name, local, utc, zone);
  const spanLines = (local: string, seconds: number): string[] => {
    if (allDay) return dayLines(local.slice(0, 10), dayAfter(local, addSeconds(addDays(local, daysOf(seconds)), -1)));
    const endUtc = addSeconds(utcByLocal.get(local) ?? toUtc(local, zone), seconds);
    return [dateLine('dtstart', local), dateLine('dtend', toLocal(endUtc, zone), endUtc)];
  };
  // If a clock shows a time twice, a rule means the first one (RFC 5545, 3.3.5), but the calendar may mean the second.
  const isSecond = (local: string): boolean => {
    const utc = utcByLocal.get(local) ?? toUtc(local, zone);
    const isZoned = rule !== undefined && !allDay && !isUtc(zone) && !rdates.includes(local);
    return isZoned && toLocal(utc, zone) === local && !isUnambiguous(local, utc, zone);
  };
  const byRule = (name: DateName, local: string) => (isSecond(local) ? zonedLine(name, local, zone) : dateLine(name, local));
  // Without a rule, some programs include the first date only if it is listed as well.
  const listedDates = rule || rdates.length === 0 ? rdates : [start, ...rdates];
  const size = allDay ? daysOf : (seconds: number) => seconds;
  return [
    [
      ...spanLines(start, length),
      ...(rule ? [foldLine(`RRULE:${ruleText(writtenDates, { allDay })}`)] : []),
      ...listedDates.map((local) => dateLine('rdate', local)),
      ...exdates.map((local) => byRule('exdate', local)),
    ],
    ...writtenDates.dates
      .filter((date) => size(date.length) !== size(length) || isSecond(date.start))
      .map((date) => [byRule('recurrence-id', date.start), ...spanLines(date.start, date.length)]),
  ];
}

/** Returns the dates without their rule if calendars would not expand it as intended. */
function asWritten(dates: RecurringDates, { allDay }: AllDayFlag): RecurringDates {
  // A day has no zone in which the rule could be written: its days must be those of the event.
  if (allDay && !hasDaysOfEvent(dates)) return asDatesOfEvent(dates);
  return canUseRule(dates, { allDay }) ? dates : asListedDates(dates);
}

/** Returns the zone in which these times are written; undefined if they are days, or in UTC. */
export const zoneOfRepeats = ({ zone }: RecurringDates, { allDay }: AllDayFlag): Zone | undefined =>
  allDay || isUtc(zone) ? undefined : zone;

const isUtc = ({ rules, seconds }: Zone): boolean => rules === null && seconds === 0;

/** Returns the number of days, at least one. Days on which clocks change are an hour longer or shorter. */
const daysOf = (seconds: number): number => Math.max(1, Math.round(seconds / 86_400));

/**
 * Whether calendars expand the rule as intended: few know `SKIP` (RFC 7529) and `EXRULE` (RFC 2445). Its start must be
 * unambiguous in its zone; for all-day events, the rule must select only days.
 */
function canUseRule(dates: RecurringDates, { allDay }: AllDayFlag): boolean {
  const { zone, start, rule } = dates;
  if (!rule || dates.hasOpenExceptions || rule.rule.skipsBack || (rule.rule.until !== undefined && !isDate(untilOf(dates)))) return false;
  // A rule must not have both (RFC 5545, 3.3.10).
  if (rule.rule.until !== undefined && rule.rule.count !== undefined) return false;
  if (allDay) return rule.rule.byHour.length + rule.rule.byMinute.length + rule.rule.bySecond.length === 0 && rule.rule.freq in DAYS;
  return isUtc(zone) || isUnambiguous(start, toUtc(start, zone), zone);
}

const DAYS = { DAILY: true, WEEKLY: true, MONTHLY: true, YEARLY: true };

const PART = /^(FREQ|INTERVAL|COUNT|WKST|BY[A-Z]{3,8})=([-A-Z0-9,+]+)$/;

/**
 * Returns the rule with its end in the form of the start: a day, or a moment in UTC. Interval and number are those by
 * which it is expanded, since stored ones may be none (`COUNT=-1`).
 */
function ruleText(dates: RecurringDates, { allDay }: AllDayFlag): string {
  const { start, zone, rule } = dates;
  const { interval = 1, count = '', until: statedEnd } = rule?.rule ?? {};
  const expanded = new Map<string, number | string>([
    ['INTERVAL', interval],
    ['COUNT', count],
  ]);
  const values = new Map<string, string>();
  for (const part of (rule?.text ?? '').toUpperCase().replace(/\s/g, '').split(';')) {
    const [, name, value = ''] = PART.exec(part) ?? [];
    if (name !== undefined) values.set(name, String(expanded.get(name) ?? value));
  }
  const parts = [...values].flatMap(([name, value]) => (value === '' ? [] : `${name}=${value}`));
  if (statedEnd === undefined) return parts.join(';');
  const until = untilOf(dates);
  const lastDay = until.slice(11) < start.slice(11) ? addDays(until, -1) : until;
  const end = allDay ? lastDay.slice(0, 10) : `${toUtc(until, zone).replace(' ', 'T')}Z`;
  return [...parts, `UNTIL=${end.replace(/[-:]/g, '')}`].join(';');
}

/** Returns the end of a rule in local time; a day means its last second. */
function untilOf({ rule }: RecurringDates): string {
  const [, year, month, day, hour = '23', minute = '59', second = '59'] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d))?/.exec(rule?.rule.until ?? '') ?? [];
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}
