import type { HourCycle } from '../calendar/hour-cycle.ts';
import { lastWholeDay } from '../calendar/schedule.ts';
import { memoize } from '../memo.ts';
import { dateFromUtc, unixFromText } from '../wordpress/time.ts';
import type { I18n } from './i18n.ts';

/*
 * Formats dates for people. All of them are local times (`YYYY-MM-DD HH:MM:SS`) and are formatted as if they were UTC,
 * so that no time zone is applied here.
 */

/** The form of a day: `Saturday 5 December 2026`, `Sat 5 Dec`, `December 2026`, `Saturday`. */
export type DayFormat = 'long' | 'short' | 'month' | 'weekday';

const DAY_FORMATS: Readonly<Record<DayFormat, Intl.DateTimeFormatOptions>> = {
  long: { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' },
  short: { weekday: 'short', day: 'numeric', month: 'short' },
  month: { month: 'long', year: 'numeric' },
  weekday: { weekday: 'long' },
};

/** Returns a day (`YYYY-MM-DD`, optionally with a time) or a month in words. */
export const dayInWords = ({ locale }: I18n, day: string, form: DayFormat): string =>
  formatter(`${locale} ${JSON.stringify(DAY_FORMATS[form])}`).format(toUtcDate(`${day.slice(0, 10).padEnd(10, '-01')} 00:00:00`));

/** Returns the time of a moment in words: `21:00` or `9:00 PM`. */
export const timeInWords = ({ locale }: I18n, moment: string, hourCycle: HourCycle): string =>
  formatter(`${locale} ${JSON.stringify(timeFormat(hourCycle))}`).format(toUtcDate(moment));

export interface Span {
  readonly start: string;
  readonly end: string;
  readonly allDay: boolean;
}

/** Returns start and end in words: `Saturday 5 December 2026, 21:00–23:00`; empty if there are no dates. */
export function spanInWords({ locale }: I18n, { start, end, allDay }: Span, hourCycle: HourCycle): string {
  if (Number.isNaN(unixFromText(start))) return '';
  const options = { ...DAY_FORMATS.long, ...(allDay ? {} : timeFormat(hourCycle)) };
  const shownEnd = allDay ? `${lastWholeDay(start, end)} 00:00:00` : end;
  const [from, to] = [toUtcDate(start), toUtcDate(shownEnd < start ? start : shownEnd)];
  const format = formatter(`${locale} ${JSON.stringify(options)}`);
  if (from.getTime() === to.getTime()) return format.format(from);
  const range = format.formatRange(from, to);
  return start.slice(0, DATE_LENGTH) === shownEnd.slice(0, DATE_LENGTH) ? range.replace(RANGE_DASH, (dash) => dash + WORD_JOINER) : range;
}

const DATE_LENGTH = 'YYYY-MM-DD'.length;
/** The dash between two times, with its thin spaces. A word joiner after it prevents a line break. */
const RANGE_DASH = /\s?–\s?/;
const WORD_JOINER = '\u2060';

/** Returns the names of the weekdays, starting with `first` (0: Sunday), in full and abbreviated. */
export function weekdays({ locale }: I18n, first: number): readonly { readonly long: string; readonly short: string }[] {
  const weekdayFormatter = (width: 'long' | 'short') => formatter(`${locale} ${JSON.stringify({ weekday: width })}`);
  return Array.from({ length: 7 }, (_, index) => {
    // 4 January 1970 was a Sunday.
    const day = new Date(Date.UTC(1970, 0, 4 + ((first + index) % 7)));
    return { long: weekdayFormatter('long').format(day), short: weekdayFormatter('short').format(day) };
  });
}

const timeFormat = (hourCycle: HourCycle): Intl.DateTimeFormatOptions => ({ hour: 'numeric', minute: '2-digit', hourCycle });

const toUtcDate = (localTime: string): Date => {
  const moment = dateFromUtc(localTime);
  return Number.isNaN(moment.getTime()) ? new Date(0) : moment;
};

/** Cached, since creating a formatter takes longer than formatting all dates of a page. */
const formatter = memoize((key) => {
  const spaceIndex = key.indexOf(' ');
  return new Intl.DateTimeFormat(key.slice(0, spaceIndex), {
    ...(JSON.parse(key.slice(spaceIndex + 1)) as Intl.DateTimeFormatOptions),
    timeZone: 'UTC',
  });
});
