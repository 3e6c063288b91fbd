import { isRealDate, unixFromText } from '../../wordpress/time.ts';
import { localFromUnix, type Zone } from '../../wordpress/zones.ts';
import { SourceFault } from '../items/items.ts';
import { monthOf, weekdayOf } from './date-words.ts';

/** The order of the parts of a date. A date that begins with a four-digit year is unambiguous without it. */
export type DateOrder = 'ymd' | 'dmy' | 'mdy';

/** Position of the cell that is read, for error messages. */
export interface CellPlace {
  readonly file: string;
  readonly line: number;
}

/** A point in time as a cell states it: a day `YYYY-MM-DD` and, if the cell has one, a time `HH:MM:SS`. */
export interface Moment {
  readonly day: string;
  readonly time: string | undefined;
}

type Part = 'year' | 'month' | 'day';

const ORDERS: Readonly<Record<DateOrder, readonly [Part, Part, Part]>> = {
  ymd: ['year', 'month', 'day'],
  dmy: ['day', 'month', 'year'],
  mdy: ['month', 'day', 'year'],
};

/**
 * Reads a date cell; returns undefined if it is empty. Accepts `2026-03-04`, `19/11/14`, `apr 19, 2016`, `sabato 19
 * aprile 2016`, each with or without a time, or a spreadsheet's serial day number (`46085`). A two-digit year means
 * 1970 to 2069, as in PHP.
 *
 * @throws SourceFault `csv-date-order` if the order has to be stated, `csv-date`, `csv-time`
 */
export function readMoment(cell: string, order: DateOrder | undefined, cellPlace: CellPlace & { column: string }): Moment | undefined {
  const text = withHourLast(cell.trim());
  if (text === '') return undefined;
  if (text.length > MAX_DATE_LENGTH) throw new SourceFault('csv-date', { ...cellPlace, value: cell });
  const serial = serialMoment(text);
  if (serial) return serial;
  const compact = /^(\d{4})(\d\d)(\d\d)$/.exec(text);
  const words = compact ? compact.slice(1) : text.replace(/(\d)T(\d)/, '$1 $2').split(/[\s,]+/);
  const time = timeAtEnd(words, order);
  const parts = readParts(words, order);
  if (parts === 'order') throw new SourceFault('csv-date-order', { ...cellPlace, value: cell });
  const day = parts && dayOf(parts);
  if (day === undefined) throw new SourceFault('csv-date', { ...cellPlace, value: cell });
  return { day, time: time === undefined ? undefined : readTime(time, cellPlace) };
}

/**
 * Reads a time cell as `HH:MM:SS`: `20:30`, `8:30 PM`, `08:30:PM`, `8pm`, `ore 21`, `21`, `20h30`, `noon`, or a
 * fraction of a day (`0.8125`). `24:00` is returned as `24:00:00`, the end of the day. Returns undefined if the cell is
 * empty. Throws SourceFault `csv-time`.
 */
export function readTime(cell: string, cellPlace: CellPlace & { column: string }): string | undefined {
  const text = withHourLast(cell.trim());
  if (text === '') return undefined;
  const namedTime = NAMED_TIMES.get(text.toLowerCase());
  if (namedTime !== undefined) return namedTime;
  if (isPartOfDay(text)) return timeOf(Number(text.replace(/^\d*[.,]/, '0.')));
  const [, marker, hours, minutes = '0', seconds = '0', meridiem] =
    /^((?:ore|alle|at|h)\b\.?)?\s*(\d{1,2})(?:[:.h](\d\d))?(?:[:.](\d\d)(?:\.\d{1,6})?)?(?:[\s:]?([ap])\.?m?\.?|\s?h)?$/i.exec(text) ?? [];
  const hour = Number(hours);
  const isWrong =
    hours === undefined ||
    couldBeMinutes(text) ||
    // A bare hour is unambiguous only if it is after noon.
    (meridiem === undefined ? !(marker || /[:.h]/i.test(text) || hour > 12) || hour > 24 : hour < 1 || hour > 12) ||
    Number(minutes) > 59 ||
    Number(seconds) > 59 ||
    (hour === 24 && Number(minutes) + Number(seconds) > 0);
  if (isWrong) throw new SourceFault('csv-time', { ...cellPlace, value: cell });
  const hour24 = meridiem === undefined ? hour : (hour % 12) + (meridiem.toLowerCase() === 'p' ? 12 : 0);
  return [hour24, Number(minutes), Number(seconds)].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Rewrites `20 Uhr` as `ore 20`. */
const withHourLast = (text: string): string => text.replace(/(?<!\d)(\d{1,2}(?:[.:]\d\d)?) ?Uhr$/i, 'ore $1');

const NAMED_TIMES: ReadonlyMap<string, string> = new Map([
  ['noon', '12:00:00'],
  ['midday', '12:00:00'],
  ['mezzogiorno', '12:00:00'],
  ['mittag', '12:00:00'],
  ['mitternacht', '00:00:00'],
  ['midnight', '00:00:00'],
  ['mezzanotte', '00:00:00'],
]);

/** Maximum length of a date cell; nobody writes longer dates. */
const MAX_DATE_LENGTH = 80;

/** A timestamp as programs write it: `2027-03-04T19:00:00Z`, `2027-03-04 20:00+01:00`. */
const TIMESTAMP = /^\s*(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)((?::\d\d(?:\.\d{1,9})?)?) ?(Z|[+-]\d\d(?::?\d\d)?)\s*$/i;

/** Whether a cell is a timestamp with an offset, and so states a moment. */
export const isTimestamp = (cell: string): boolean => TIMESTAMP.test(cell);

/** Returns the moment that a timestamp states, in Unix seconds; undefined for any other cell. */
export function momentIn(cell: string): number | undefined {
  const [, day, time, seconds, offset = ''] = TIMESTAMP.exec(cell) ?? [];
  if (day === undefined) return undefined;
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
  const offsetSeconds = (Number(hours) * 60 + Number(minutes)) * 60 * (sign === '-' ? -1 : 1);
  const wall = `${day} ${time}${seconds?.slice(0, 3) || ':00'}`;
  return isRealDate(wall) ? unixFromText(wall) - offsetSeconds : undefined;
}

/** Converts a timestamp to the local time of a zone. Returns any other cell unchanged. */
export function toClockOf(zone: Zone, cell: string): string {
  const moment = momentIn(cell);
  return moment === undefined ? cell : localFromUnix(moment, zone);
}

// ------------------------------------------------------------------------------------------------- spreadsheets
/** Days from 1899-12-30, day 0 of spreadsheets, to 1970-01-01. */
const DAYS_TO_1970 = 25_569;
const DAY_MS = 86_400_000;

/**
 * Reads a date as spreadsheets store it: days since 1899-12-30, with the time as a fraction. Accepts only the years
 * 1954 to 2119, whose numbers cannot be mistaken for anything else.
 */
function serialMoment(text: string): Moment | undefined {
  if (!/^\d{5}(?:[.,]\d{1,12})?$/.test(text)) return undefined;
  const days = Number(text.replace(',', '.'));
  if (days < 20_000 || days >= 80_500) return undefined;
  const wholeDays = Math.floor(days);
  return {
    day: new Date((wholeDays - DAYS_TO_1970) * DAY_MS).toISOString().slice(0, 10),
    time: days === wholeDays ? undefined : timeOf(days - wholeDays),
  };
}

/** Whether a time is given as a fraction of a day. `0.25` could also mean a quarter past midnight and is rejected. */
const isPartOfDay = (text: string): boolean => /^(?:0|\d{5})?[.,]\d{1,16}$/.test(text) && !couldBeMinutes(text);
const couldBeMinutes = (text: string): boolean => /^0?[.,][0-5]\d$/.test(text);

/** Returns the time at a fraction of a day. Rounding never moves the last half second into the next day. */
const timeOf = (part: number): string => new Date(Math.min(Math.round(part * 86_400), 86_399) * 1000).toISOString().slice(11, 19);

// ------------------------------------------------------------------------------------------------- days
/**
 * Removes the time from the end of a date's words and returns it. A time within a date needs a colon, or a word that
 * announces it: `ore 20.30`, `alle 21`. `20.30` alone counts only after a complete date, since it could be part of one.
 */
function timeAtEnd(words: string[], order: DateOrder | undefined): string | undefined {
  if (TIME_MARKERS.has(words.at(-2)?.toLowerCase() ?? '') && /^\d{1,2}(?:[.:h]\d\d)?h?$/i.test(words.at(-1) ?? '')) {
    const [, time] = words.splice(-2);
    if (words.at(-1)?.toLowerCase() === 'alle') words.pop();
    return `ore ${time}`;
  }
  if (/^\d{1,2}\.\d\d(?:\.00)?$/.test(words.at(-1) ?? '') && readParts(words.slice(0, -1), order)) return words.pop();
  const meridiem = /^[ap]\.?m\.?$/i.test(words.at(-1) ?? '') ? words.pop() : undefined;
  if (!/^\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[ap]m)?$/i.test(words.at(-1) ?? '')) {
    if (meridiem !== undefined) words.push(meridiem);
    return undefined;
  }
  return `${words.pop()} ${meridiem ?? ''}`;
}

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Words that announce a time. */
const TIME_MARKERS = new Set(['ore', 'h', 'h.', 'alle', 'at']);

/** Words that do not affect the date and are skipped. */
const FILLERS = new Set(['of', 'the', 'on', 'at', 'di', 'del', 'il', 'lo', "l'", 'alle', 'dalle', 'ore', 'den', 'der', 'um']);

/**
 * Returns year, month and day from the words of a date; `order` if the order of the parts has to be stated; undefined
 * if the words are no date.
 */
function readParts(words: readonly string[], order: DateOrder | undefined): Parts | 'order' | undefined {
  const pieces = words.flatMap((word) => word.split(/[-/.]/)).filter((piece) => piece !== '' && !FILLERS.has(piece.toLowerCase()));
  const numbers: string[] = [];
  const names: string[] = [];
  for (const piece of pieces) {
    const [, digits] = /^['’]?(\d{1,4})(?:st|nd|rd|th|[°ºª])?$/i.exec(piece) ?? [];
    if (digits !== undefined) numbers.push(digits);
    else if (monthOf(piece) !== undefined || weekdayOf(piece) !== undefined) names.push(piece);
    else return undefined;
  }
  const months = names.filter((name) => monthOf(name) !== undefined);
  // `mar` is March and martedì (Tuesday): if there is another month, it is the weekday.
  const confirmedMonths = months.length > 1 ? months.filter((name) => weekdayOf(name) === undefined) : months;
  if (confirmedMonths.length > 1 || (months.length > 0 && confirmedMonths.length === 0)) return undefined;
  return confirmedMonths.length === 1 ? partsWithMonthName(monthOf(confirmedMonths[0]!)!, numbers, order) : partsOfNumbers(numbers, order);
}

/** Returns the parts of a date whose month is a word. */
function partsWithMonthName(month: number, numbers: readonly string[], order: DateOrder | undefined): Parts | 'order' | undefined {
  const [first, second] = numbers;
  if (first === undefined || second === undefined || numbers.length > 2) return undefined;
  const years = numbers.filter(isYear);
  if (years.length > 1) return undefined;
  if (years.length === 0 && order === undefined) return 'order';
  const isYearFirst = years.length === 1 ? isYear(first) : order === 'ymd';
  const [year, day] = isYearFirst ? [first, second] : [second, first];
  return { year: yearOf(year), month, day: Number(day) };
}

/** Returns the parts of a date of three numbers, in the stated order unless the year comes first. */
function partsOfNumbers(numbers: readonly string[], order: DateOrder | undefined): Parts | 'order' | undefined {
  const [first, , third] = numbers;
  if (first === undefined || third === undefined || numbers.length > 3) return undefined;
  if (!isYear(first) && (order === undefined || (order === 'ymd' && isYear(third)))) return 'order';
  const names = ORDERS[isYear(first) ? 'ymd' : (order ?? 'ymd')];
  const part = (name: Part) => numbers[names.indexOf(name)] ?? '';
  return { year: yearOf(part('year')), month: Number(part('month')), day: Number(part('day')) };
}

const isYear = (digits: string): boolean => digits.length === 4;
/** Returns a year as written; two digits mean 1970 to 2069. */
const yearOf = (digits: string): number => (digits.length === 2 ? (Number(digits) < 70 ? 2000 : 1900) : 0) + Number(digits);

/** Returns `YYYY-MM-DD`, or undefined if the day does not exist. */
function dayOf({ year, month, day }: Parts): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  if (year < 1000 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.toISOString().slice(0, 10);
}
