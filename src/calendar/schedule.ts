import { formatDate } from '../wordpress/date-format.ts';
import { addDays, diffSeconds } from '../wordpress/time.ts';
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
 * with its time, and as much of the end as differs. `short`: without the date where a single day is known from
 * elsewhere; undefined there for a whole day, which a word says.
 */
export function scheduleDetails(schedule: Schedule, context: ScheduleContext, short = false): string | undefined {
  const { start, end, allDay } = schedule;
  const { formats, language, cutoff, year } = context;
  const thisYear = start.startsWith(year) && end.startsWith(year);
  const date = (local: string) => formatDate(local, thisYear ? formats.dateWithoutYear : formats.date, language);
  const time = (local: string) => formatDate(local, formats.time, language);
  const both = (local: string) => date(local) + formats.beforeTime + time(local);
  if (daysOf(schedule, cutoff) !== false) {
    const shown = allDay ? date : both;
    return span('date-start', shown(start)) + formats.beforeEnd + span('date-end', shown(allDay ? lastDay(end, cutoff) : end));
  }
  if (allDay) return short ? undefined : span('date-start', date(start));
  const begin = span('date-start', short ? time(start) : both(start));
  return start.slice(11, 16) === end.slice(11, 16) ? begin : begin + formats.beforeEnd + span('time', time(end));
}

const span = (part: string, text: string) => `<span class="tribe-event-${part}">${text}</span>`;

/** The date of the calendar's day that a wall clock belongs to. */
const dayOf = (local: string, cutoff: string) => (local < beginOfDay(local, cutoff) ? addDays(local, -1) : local).slice(0, 10);

/** An end that is the very begin of a day belongs to the day before. */
const lastDay = (end: string, cutoff: string) => (end <= beginOfDay(end, cutoff) ? addDays(end, -1) : end);
