import { formatDate } from '../wordpress/php/date-format.ts';
import { addDays, addSeconds, diffSeconds } from '../wordpress/time.ts';
import type { Zone } from '../wordpress/zones.ts';
import type { DateFormats } from './settings.ts';
import { beginOfDay } from './window.ts';

/** When an event is, by the clock it is shown in. */
export interface Schedule {
  readonly start: string;
  readonly end: string;
  readonly allDay: boolean;
}

export interface ScheduleContext {
  readonly formats: DateFormats;
  readonly language: string;
  /** The zone whose letters formats may have (`T`): that of the site, whichever clock is shown (`date_i18n`). */
  readonly zone: Zone;
  /** `HH:MM`: when the calendar's day begins. */
  readonly cutoff: string;
  /** The present year, to be left out. */
  readonly year: string;
}

const DAY_SECONDS = 86_400;

/**
 * How many of the calendar's days an event touches; false: one only (member `multiday` of the calendar's event model).
 */
export function daysOf({ start, end }: Schedule, cutoff: string): number | false {
  const [first, last] = [dayOf(start, cutoff), dayOf(end, cutoff)];
  const days = diffSeconds(`${first} 00:00:00`, `${last} 00:00:00`) / DAY_SECONDS + 1;
  return days > 1 ? days : false;
}

/**
 * When an event is, as a line of HTML (the calendar's `tribe_events_event_schedule_details`): the date of the start
 * with its time, and as much of the end as differs.
 */
export function scheduleDetails(schedule: Schedule, context: ScheduleContext): string {
  const { start, allDay } = schedule;
  const { date, dateAndTime } = formatsOf(schedule, context);
  if (daysOf(schedule, context.cutoff) !== false) return severalDays(schedule, context);
  return allDay ? span('date-start', date(start)) : withEnd(dateAndTime(start), schedule, context);
}

/**
 * The same without the date of a single day, which is known from elsewhere; undefined for a single whole day, which a
 * word says.
 */
export function shortScheduleDetails(schedule: Schedule, context: ScheduleContext): string | undefined {
  if (daysOf(schedule, context.cutoff) !== false) return severalDays(schedule, context);
  return schedule.allDay ? undefined : withEnd(formatsOf(schedule, context).time(schedule.start), schedule, context);
}

/**
 * The day after the last one of what lasts whole days. The days of a calendar may begin at another hour than midnight;
 * what lasts whole days ends right before that hour. The last day of the year 9999 has none after it.
 */
export function dayAfter(start: string, end: string): string {
  const days = [addSeconds(end, 1), addDays(`${start.slice(0, 10)} 00:00:00`, 1)];
  return days.some((day) => day.startsWith('10000-')) ? LAST_DAY : days.map((day) => day.slice(0, 10)).sort()[1]!;
}

const LAST_DAY = '9999-12-31';

/**
 * The last day of what lasts all day, as people call it: where the days of the calendar begin later than midnight, the
 * last one ends on the day after.
 */
export function lastWholeDay(start: string, end: string): string {
  const after = addSeconds(end, 1);
  return (after.slice(11) === start.slice(11) ? addDays(after, -1) : end).slice(0, 10);
}

function formatsOf({ start, end }: Schedule, { formats, language, zone, year }: ScheduleContext) {
  const thisYear = start.startsWith(year) && end.startsWith(year);
  const date = (local: string) => formatDate(local, thisYear ? formats.dateWithoutYear : formats.date, language, zone);
  const time = (local: string) => formatDate(local, formats.time, language, zone);
  return { date, time, dateAndTime: (local: string) => date(local) + formats.beforeTime + time(local) };
}

function severalDays(schedule: Schedule, context: ScheduleContext): string {
  const { start, end, allDay } = schedule;
  const { date, dateAndTime } = formatsOf(schedule, context);
  const shown = allDay ? date : dateAndTime;
  const last = allDay ? lastDay(end, context.cutoff) : end;
  return span('date-start', shown(start)) + context.formats.beforeEnd + span('date-end', shown(last));
}

/** A start as it is shown, and the time of the end if it is another one. */
function withEnd(shown: string, schedule: Schedule, context: ScheduleContext): string {
  const { start, end } = schedule;
  const begin = span('date-start', shown);
  if (start.slice(11, 16) === end.slice(11, 16)) return begin;
  return begin + context.formats.beforeEnd + span('time', formatsOf(schedule, context).time(end));
}

const span = (part: string, text: string) => `<span class="tribe-event-${part}">${text}</span>`;

/** The date of the calendar's day that a wall clock belongs to. */
export const dayOf = (local: string, cutoff: string): string =>
  (local < beginOfDay(local, cutoff) ? addDays(local, -1) : local).slice(0, 10);

/** An end that is the very begin of a day belongs to the day before. */
const lastDay = (end: string, cutoff: string) => (end <= beginOfDay(end, cutoff) ? addDays(end, -1) : end);
