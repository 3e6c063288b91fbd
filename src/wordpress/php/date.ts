/*
 * PHP's date grammar: the meaning of a text for strtotime and DateTime. WordPress and The Events Calendar pass dates
 * from clients directly to them, so `next monday 10am` and `first friday of june 2030` are valid dates here too.
 * Checked row by row against PHP 8.2 in test/fixtures/php-dates.json. (locutus 2, the npm port that runs on Node 20,
 * only supports the time zone of the process, and differs from PHP in a sixth of the rows of that table that are read
 * in UTC.)
 */

import { dayOfWeek, unixFromDate, unixFromFields, unixFromText } from '../time.ts';
import { trimOf } from '../trim.ts';
import { localFromUnix, unixFromClockTime, type Zone } from '../zones.ts';
import { formatAt } from './date-grammar.ts';
import { emptyNotes, type Notes, note, REFUSED } from './date-meanings.ts';

/**
 * The meaning of a text.
 * `instant`: Unix seconds. `local`: the local time, `YYYY-MM-DD HH:MM:SS`, in the zone that the text names, or in the
 * zone in which it was read; years above 9999 or below 0 are longer or signed. `zone`: the zone or offset in the text.
 */
export type PhpDate = { instant: number; local: string; zone?: Zone };

/**
 * Reads a text like PHP's strtotime; null if strtotime returns false (including the empty text).
 * @param base the moment to which relative words refer
 * @param zone the zone of local times without a zone
 */
export function parsePhpDate(text: string, base: Date, zone: Zone): PhpDate | null {
  return readIsoDate(text, zone) ?? readFreeText(text, base, zone);
}

/**
 * Returns the Unix seconds of a numeric value, or null if the value is not numeric by PHP's is_numeric (`12`, ` 1.5 `,
 * `1e9`, `-5`; no hexadecimal); fractions are dropped.
 */
export function phpTimestamp(value: string | number): number | null {
  if (typeof value === 'string' && !/^[ \t\n\r\v\f]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[ \t\n\r\v\f]*$/.test(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? Math.floor(number) : null;
}

/** Maximum length in bytes: longer than any date, and it limits the work for one text. */
export const MAX_DATE_BYTES = 250;
/** Maximum of a JavaScript date, in seconds. */
const MAX_UNIX_SECONDS = 8.64e12;
const DAY = 86400;

/** Reads the usual form, plain ISO, which nearly all dates have. */
function readIsoDate(text: string, zone: Zone): PhpDate | null {
  if (!/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?$/.test(text)) return null;
  const instant = unixFromClockTime(unixFromText(text), zone);
  return { instant, local: localFromUnix(instant, zone) };
}

function readFreeText(text: string, base: Date, zone: Zone): PhpDate | null {
  if (text === '' || text.length > MAX_DATE_BYTES) return null;
  const trimmed = trimOf(text, ' \t\n\v\f\r');
  if (trimmed.includes('\0')) return null;
  const notes = scanText(`${trimmed}\0`);
  if (notes === null) return null;
  fillHoles(notes, base, zone);
  const instant = instantOf(notes, zone);
  if (!(Math.abs(instant) <= MAX_UNIX_SECONDS)) return null;
  const local = localFromUnix(instant, notes.zone ?? zone);
  return notes.zone ? { instant, local, zone: notes.zone } : { instant, local };
}

/** Other spaces that separate words (`space` of the grammar). */
const WIDE_SPACES = /[\u00a0\u202f]/g;

function scanText(text: string): Notes | null {
  const notes = emptyNotes();
  try {
    for (let at = 0; at < text.length; ) {
      const match = formatAt(text, at);
      if (match === null) return null;
      note(match.name, match.token.replace(WIDE_SPACES, ' '), notes);
      at += match.token.length;
    }
  } catch (error) {
    if (error === REFUSED) return null;
    throw error;
  }
  return notes;
}

/** timelib_fill_holes: a date without a time means midnight; all other missing fields are taken from the base. */
function fillHoles(notes: Notes, base: Date, zone: Zone): void {
  if (notes.hasDate && !notes.hasTime) Object.assign(notes, { h: 0, i: 0, s: 0 });
  const local = localFromUnix(unixFromDate(base), zone);
  const [y, m, d, h, i, s] = local.match(/\d+/g)!.map(Number);
  notes.y ??= y!;
  notes.m ??= m!;
  notes.d ??= d!;
  notes.h ??= h!;
  notes.i ??= i!;
  notes.s ??= s!;
}

/**
 * timelib_update_ts: applies the n-th weekday of a month, a weekday, relative steps, the first or last day of a month,
 * working days, and then the zone.
 */
function instantOf(notes: Notes, zone: Zone): number {
  const { step, weekday, special, monthEdge } = notes;
  let [month, date] = [notes.m!, notes.d!];
  if (special && special.kind !== 'weekdays') {
    [month, date] = [month + step.m + (special.kind === 'lastOf' ? 1 : 0), 1];
    step.m = 0;
  }
  let day = monthEdge ? edgeOfMonth(notes.y!, month, monthEdge) : dayNumber(notes.y!, month, date);
  // Weekdays and steps count from the day that the time leads to: `24:00` to the next one (`timelib_do_normalize`).
  const clock = notes.h! * 3600 + notes.i! * 60 + notes.s!;
  const carriedDays = Math.floor(clock / DAY);
  day += carriedDays;
  if (weekday.set) day = moveToWeekday(day, weekday.day, weekday.behavior, step.d);
  const { y, m, d } = fields(day);
  day = monthEdge ? edgeOfMonth(y + step.y, m + step.m, monthEdge) : dayNumber(y + step.y, m + step.m, d + step.d);
  const seconds = clock - carriedDays * DAY + step.h * 3600 + step.i * 60 + step.s + Math.floor((notes.us + step.us) / 1e6);
  if (special?.kind === 'weekdays') day = moveWorkingDays(day + Math.floor(seconds / DAY), special.amount) - Math.floor(seconds / DAY);
  return unixFromClockTime(day * DAY + seconds, notes.zone ?? zone, notes.zone !== null);
}

function dayNumber(year: number, month: number, day: number): number {
  return unixFromFields(year, month, day) / DAY;
}

function fields(day: number): { y: number; m: number; d: number } {
  const date = new Date(day * DAY * 1000);
  return { y: date.getUTCFullYear(), m: date.getUTCMonth() + 1, d: date.getUTCDate() };
}

function edgeOfMonth(year: number, month: number, edge: 'first' | 'last'): number {
  return edge === 'first' ? dayNumber(year, month, 1) : dayNumber(year, month + 1, 0);
}

/** timelib's do_adjust_for_weekday: moves a day to a weekday. */
function moveToWeekday(day: number, weekday: number, behavior: number, stepDays: number): number {
  const today = dayOfWeek(day);
  if (behavior === 2) {
    const week = today === 0 && weekday !== 0 ? weekday - 7 : weekday;
    return day - today + (week === 0 && today !== 0 ? 7 : week);
  }
  const difference = weekday - today;
  if (weekday < 0) return day - (7 - (Math.abs(weekday) - today));
  const week = stepDays < 0 ? difference < 0 : difference <= -behavior;
  return day + difference + (week ? 7 : 0);
}

/** timelib's do_adjust_special_weekday: Saturdays and Sundays do not count. */
function moveWorkingDays(day: number, amount: number): number {
  const today = dayOfWeek(day);
  const remainder = amount % 5;
  const target = day + Math.trunc(amount / 5) * 7 + remainder;
  if (amount > 0) {
    if (remainder === 0) return target - (today === 0 ? 2 : today === 6 ? 1 : 0);
    if (today === 6) return target + 1;
    return today + remainder > 5 ? target + 2 : target;
  }
  if (remainder === 0) return target + (today === 6 ? 2 : today === 0 ? 1 : 0);
  if (today === 0) return target - 1;
  return today + remainder < 1 ? target - 2 : target;
}
