import { addDaysTo, dayOfWeek, unixFromFields, unixFromText } from '../wordpress/time.ts';

export type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

/**
 * The day of a sample event: a weekday of this week (0), the next one (1) and so on; a fixed date each year; or the nth
 * weekday of a month each year, such as the second Saturday.
 */
export type SampleDay =
  | { readonly week: number; readonly day: Weekday }
  | { readonly month: number; readonly date: number }
  | { readonly month: number; readonly nth: number; readonly day: Weekday };

/**
 * Number of days by which the sample calendar reaches into the past. Each yearly date occurs once after that day, so
 * that the calendar ends ten months from now.
 */
const DAYS_BACK = 61;

/** Returns the day as `YYYY-MM-DD`, relative to `today` in the same form. */
export function dayOf(sampleDay: SampleDay, today: string): string {
  if ('week' in sampleDay) return addDaysTo(today, 7 * sampleDay.week + weekdayIndex(sampleDay.day) - weekdayOf(today));
  const first = addDaysTo(today, -DAYS_BACK);
  const year = Number(first.slice(0, 4));
  const [this_, next] = [dateInYear(sampleDay, year), dateInYear(sampleDay, year + 1)];
  return this_ >= first ? this_ : next;
}

const DAYS: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const weekdayIndex = (day: Weekday): number => DAYS.indexOf(day);

/** Returns 0 for Monday. */
const weekdayOf = (day: string): number => dayOfWeek(unixFromText(`${day} 00:00:00`) / 86_400 - 1);

function dateInYear(sampleDay: Exclude<SampleDay, { week: number }>, year: number): string {
  const dayAt = (date: number) => new Date(unixFromFields(year, sampleDay.month, date) * 1000).toISOString().slice(0, 10);
  if ('date' in sampleDay) return dayAt(sampleDay.date);
  const first = dayAt(1);
  return addDaysTo(first, ((weekdayIndex(sampleDay.day) - weekdayOf(first) + 7) % 7) + 7 * (sampleDay.nth - 1));
}
