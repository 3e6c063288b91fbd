/*
 * Dates as text, `YYYY-MM-DD HH:MM:SS`, and as Unix seconds. Between modules a date is text, local or UTC; those that
 * need a number or a `Date` get it here or from `zones.ts`.
 */
import dayjs from 'dayjs';
import utc from 'dayjs/plugin/utc.js';

dayjs.extend(utc);

/** The value that MySQL and WordPress store for "no date". */
export const ZERO_DATE = '0000-00-00 00:00:00';

/** Parts of a date as in WordPress's events: zero-padded text. */
export type DateParts = { year: string; month: string; day: string; hour: string; minutes: string; seconds: string };

/** Returns the UTC text of a moment. */
export function utcFromDate(date: Date): string {
  return textFromUnix(unixFromDate(date));
}

/** Returns the moment of a UTC text, `YYYY-MM-DD HH:MM:SS`; an invalid `Date` for the zero date. */
export const dateFromUtc = (utc: string): Date => new Date(`${utc.replace(' ', 'T')}Z`);

/** Returns the whole Unix seconds of a moment. */
export function unixFromDate(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/**
 * Returns the Unix seconds of a text read as UTC: `YYYY-MM-DD`, with or without a time; NaN for a zero or invalid date.
 * Days and hours out of range roll over.
 */
export function unixFromText(text: string): number {
  const fromStandardForm = unixFromStandardForm(text);
  if (!Number.isNaN(fromStandardForm)) return fromStandardForm;
  const match = /^(-?\d{4,6})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?/.exec(text);
  if (!match || isZeroDate(text)) return Number.NaN;
  const [, year, month, day, hour = 0, minute = 0, second = 0] = match;
  return unixFromFields(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
}

/** Returns whether a text is an existing date, optionally with an existing time: nothing in it rolls over. */
export function isRealDate(text: string): boolean {
  const unix = unixFromText(text);
  return !Number.isNaN(unix) && textFromUnix(unix).startsWith(text.slice(0, 19).trim().replace('T', ' '));
}

/**
 * Returns a date in the standard stored form, `YYYY-MM-DD HH:MM:SS`, even if it was stored in another one:
 * `2026-12-31`, `2026-12-31T20:00`. An invalid date is returned unchanged.
 */
export const toFullDate = (text: string): string =>
  (text.length === 19 && text[10] === ' ') || !isRealDate(text) ? text : textFromUnix(unixFromText(text));

/**
 * Returns the Unix seconds of `YYYY-MM-DD HH:MM:SS`, the form of nearly all texts; NaN for other forms, which the
 * caller reads by a pattern.
 */
function unixFromStandardForm(text: string): number {
  const isUsual =
    text.length === 19 &&
    text[4] === '-' &&
    text[7] === '-' &&
    text[10] === ' ' &&
    text[13] === ':' &&
    text[16] === ':' &&
    !isZeroDate(text);
  if (!isUsual) return Number.NaN;
  const [year, month, day] = [digitsOf(text, 0, 4), digitsOf(text, 5, 7), digitsOf(text, 8, 10)];
  return unixFromFields(year, month, day, digitsOf(text, 11, 13), digitsOf(text, 14, 16), digitsOf(text, 17, 19));
}

/** Returns the number between two positions of a text; NaN if there are other characters than digits. */
function digitsOf(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

/**
 * Returns the UTC text of Unix seconds, `YYYY-MM-DD HH:MM:SS`; fractions are dropped, NaN and values out of range give
 * the zero date.
 */
export function textFromUnix(unix: number): string {
  const date = new Date(Math.floor(unix) * 1000);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year)) return ZERO_DATE;
  const month = twoDigits(date.getUTCMonth() + 1);
  const clock = `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}:${twoDigits(date.getUTCSeconds())}`;
  return `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}-${month}-${twoDigits(date.getUTCDate())} ${clock}`;
}

/**
 * Returns the Unix seconds of date fields read as UTC; fields out of range roll over.
 * @param month 1..12
 */
export function unixFromFields(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  return midnight(year, month, day) + hour * 3600 + minute * 60 + second;
}

function midnight(year: number, month: number, day: number): number {
  if (year >= 100) return Date.UTC(year, month - 1, day) / 1000;
  // Date.UTC maps two-digit years to the 20th century.
  const date = new Date(0);
  return date.setUTCFullYear(year, month - 1, day) / 1000;
}

/** Returns the text a number of seconds later (or earlier); the zero date stays. */
export function addSeconds(text: string, seconds: number): string {
  return textFromUnix(unixFromText(text) + seconds);
}

/** Returns the text a number of days later, at the same time of day; the zero date stays. */
export function addDays(text: string, days: number): string {
  return addSeconds(text, days * 86400);
}

/**
 * Returns the day of the week, 0 for Sunday, of a day since 1 January 1970, which was a Thursday. Earlier days are
 * negative.
 */
export const dayOfWeek = (day: number): number => (((day + 4) % 7) + 7) % 7;

/** Returns the day (`YYYY-MM-DD`) a number of days later. */
export const addDaysTo = (day: string, days: number): string => addDays(`${day} 00:00:00`, days).slice(0, 10);

/**
 * Returns the text a number of months later, at the same time of day, with the day limited to the length of the month
 * (31 January + 1: 28 February).
 */
export function addMonths(text: string, months: number): string {
  const unix = unixFromText(text);
  return Number.isNaN(unix) ? ZERO_DATE : textFromUnix(dayjs.unix(unix).utc().add(months, 'month').unix());
}

/** Returns the last day (`YYYY-MM-DD`) of the month of a day or a month. */
export function lastDayOfMonth(text: string): string {
  const [year = 0, month = 0] = text.split('-').map(Number);
  return textFromUnix(unixFromFields(year, month + 1, 0)).slice(0, 10);
}

/** Returns the seconds from one text to the other, both in the same zone; NaN if either is not a date. */
export function diffSeconds(from: string, to: string): number {
  return unixFromText(to) - unixFromText(from);
}

/** Returns the parts of a date; zeros for an invalid one. */
export function dateParts(text: string): DateParts {
  const match = /^(-?\d{4,6})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?/.exec(text);
  const [year = '0000', month = '00', day = '00', hour = '00', minutes = '00', seconds = '00'] = match?.slice(1) ?? [];
  return { year, month, day, hour, minutes, seconds };
}

/** Returns whether a stored date means "none": empty or zeros. */
export function isZeroDate(text: string | null | undefined): boolean {
  return !text || text.startsWith('0000-00-00');
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
