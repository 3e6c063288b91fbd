import { formatDate } from '../wordpress/php/date-format.ts';
import { addDays, addSeconds, diffSeconds } from '../wordpress/time.ts';
import type { Zone } from '../wordpress/zones.ts';
import type { DateFormats } from './settings.ts';
import { beginOfDay } from './window.ts';

/** Start and end of an event, in the local time in which it is shown. */
export interface Schedule {
  readonly start: string;
  readonly end: string;
  readonly allDay: boolean;
}

export interface ScheduleContext {
  readonly formats: DateFormats;
  readonly language: string;
  /**
   * The zone for zone letters in formats (`T`): that of the site, even if the event's local time is shown
   * (`date_i18n`).
   */
  readonly zone: Zone;
  /** `HH:MM`: the time at which the calendar's day begins. */
  readonly cutoff: string;
  /** The present year, which dates leave out. */
  readonly year: string;
}

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3600;

/**
 * Returns the number of the calendar's days that an event touches; false if it is only one (member `multiday` of The
 * Events Calendar's event model).
 */
export function daysOf({ start, end }: Schedule, cutoff: string): number | false {
  const [first, last] = [dayOf(start, cutoff), dayOf(end, cutoff)];
  const days = diffSeconds(`${first} 00:00:00`, `${last} 00:00:00`) / DAY_SECONDS + 1;
  return days > 1 ? days : false;
}

/**
 * Returns the schedule of an event as a line of HTML (`tribe_events_event_schedule_details`): the date and time of the
 * start, and the parts of the end that differ.
 */
export function scheduleDetails(schedule: Schedule, context: ScheduleContext): string {
  const { start, allDay } = schedule;
  const { date, dateAndTime } = formatsOf(schedule, context);
  if (daysOf(schedule, context.cutoff) !== false) return multiDaySchedule(schedule, context);
  return allDay ? span('date-start', date(start)) : withEnd(dateAndTime(start), schedule, context);
}

/**
 * Returns the schedule without the date if it is a single day, which is shown elsewhere; undefined for a single all-day
 * event, which the caller shows as a word.
 */
export function shortScheduleDetails(schedule: Schedule, context: ScheduleContext): string | undefined {
  if (daysOf(schedule, context.cutoff) !== false) return multiDaySchedule(schedule, context);
  return schedule.allDay ? undefined : withEnd(formatsOf(schedule, context).time(schedule.start), schedule, context);
}

/**
 * Returns the day after the last one of an all-day event. The calendar's days may begin later than midnight; an all-day
 * event ends right before that hour. The result is at most 9999-12-31.
 */
export function dayAfter(start: string, end: string): string {
  const days = wholeDays(start, end);
  const nextDays = days === undefined ? [addSeconds(end, 1), addDays(dayStart(start), 1)] : [addDays(dayStart(start), days)];
  return nextDays.some((day) => day.startsWith('10000-'))
    ? LAST_DAY
    : nextDays
        .map((day) => day.slice(0, 10))
        .sort()
        .at(-1)!;
}

const LAST_DAY = '9999-12-31';

/**
 * Returns the last day of an all-day event as people see it: if the calendar's days begin later than midnight, the
 * stored end is on the following day.
 */
export function lastWholeDay(start: string, end: string): string {
  const days = wholeDays(start, end);
  return (days === undefined ? end : addDays(dayStart(start), days - 1)).slice(0, 10);
}

/**
 * Returns the end of an all-day event without the hour by which its stored end may be on the next day.
 */
export function endOfWholeDays(start: string, end: string): string {
  const seconds = (wholeDays(start, end) ?? Number.POSITIVE_INFINITY) * DAY_SECONDS - 1;
  return diffSeconds(start, end) > seconds ? addSeconds(start, seconds) : end;
}

const dayStart = (local: string): string => `${local.slice(0, 10)} 00:00:00`;

/**
 * Returns the number of days that an all-day event lasts; undefined if it does not last whole days. It may be an hour
 * off: a day may begin at an hour that the clock skips, and dates of a recurrence rule all have the same number of
 * seconds, also over a change of the clock (The Events Calendar Pro).
 */
function wholeDays(start: string, end: string): number | undefined {
  const seconds = diffSeconds(start, end) + 1;
  const days = Math.round(seconds / DAY_SECONDS);
  return days >= 1 && Math.abs(seconds - days * DAY_SECONDS) <= HOUR_SECONDS ? days : undefined;
}

function formatsOf({ start, end }: Schedule, { formats, language, zone, year }: ScheduleContext) {
  const isThisYear = start.startsWith(year) && end.startsWith(year);
  const date = (local: string) => formatDate(local, isThisYear ? formats.dateWithoutYear : formats.date, language, zone);
  const time = (local: string) => formatDate(local, formats.time, language, zone);
  return { date, time, dateAndTime: (local: string) => date(local) + formats.beforeTime + time(local) };
}

function multiDaySchedule(schedule: Schedule, context: ScheduleContext): string {
  const { start, end, allDay } = schedule;
  const { date, dateAndTime } = formatsOf(schedule, context);
  const format = allDay ? date : dateAndTime;
  const shownEnd = allDay ? lastDay(end, context.cutoff) : end;
  return span('date-start', format(start)) + context.formats.beforeEnd + span('date-end', format(shownEnd));
}

/** Returns a formatted start, followed by the time of the end if it differs. */
function withEnd(startText: string, schedule: Schedule, context: ScheduleContext): string {
  const { start, end } = schedule;
  const startHtml = span('date-start', startText);
  if (start.slice(11, 16) === end.slice(11, 16)) return startHtml;
  return startHtml + context.formats.beforeEnd + span('time', formatsOf(schedule, context).time(end));
}

const span = (part: string, text: string) => `<span class="tribe-event-${part}">${text}</span>`;

/** Returns the date of the calendar's day that contains a local time. */
export const dayOf = (local: string, cutoff: string): string =>
  (local < beginOfDay(local, cutoff) ? addDays(local, -1) : local).slice(0, 10);

/** Returns the end for display: one exactly at the start of a day belongs to the day before. */
const lastDay = (end: string, cutoff: string) => (end <= beginOfDay(end, cutoff) ? addDays(end, -1) : end);
