import { textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { localFromUnix, type Zone } from '../../wordpress/zones.ts';
import { SourceFault } from '../items/items.ts';
import { monthOf, weekdayOf } from './date-words.ts';

/** In which order the parts of a date stand. A date that begins with the year of four digits can't be misread. */
export type DateOrder = 'ymd' | 'dmy' | 'mdy';

/** Which cell is read, for the fault. */
export interface Where {
  readonly file: string;
  readonly line: number;
}

/** What a cell says about when: a day `YYYY-MM-DD` and, where it says one, a time `HH:MM:SS`. */
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
 * The moment that a cell of dates says, undefined of an empty one: `2026-03-04`, `19/11/14`, `apr 19, 2016`, `sabato 19
 * aprile 2016`, each with or without a time, or a day as spreadsheets number them (`46085`). A year of two digits is
 * one of 1970 to 2069, as in PHP.
 *
 * @throws SourceFault `csv-date-order` where the order has to be stated, `csv-date`, `csv-time`
 */
export function readMoment(cell: string, order: DateOrder | undefined, where: Where & { column: string }): Moment | undefined {
  const text = withHourLast(cell.trim());
  if (text === '') return undefined;
  if (text.length > LONGEST) throw new SourceFault('csv-date', { ...where, value: cell });
  const serial = serialMoment(text);
  if (serial) return serial;
  const compact = /^(\d{4})(\d\d)(\d\d)$/.exec(text);
  const words = compact ? compact.slice(1) : text.replace(/(\d)T(\d)/, '$1 $2').split(/[\s,]+/);
  const time = timeAtEnd(words, order);
  const parts = readParts(words, order);
  if (parts === 'order') throw new SourceFault('csv-date-order', { ...where, value: cell });
  const day = parts && dayOf(parts);
  if (day === undefined) throw new SourceFault('csv-date', { ...where, value: cell });
  return { day, time: time === undefined ? undefined : readTime(time, where) };
}

/**
 * `HH:MM:SS` of a cell such as `20:30`, `8:30 PM`, `08:30:PM`, `8pm`, `ore 21`, `21`, `20h30`, `noon`, or a part of a
 * day (`0.8125`); undefined of an empty one. Throws SourceFault `csv-time`.
 */
export function readTime(cell: string, where: Where & { column: string }): string | undefined {
  const text = withHourLast(cell.trim());
  if (text === '') return undefined;
  const named = NAMED_TIMES.get(text.toLowerCase());
  if (named !== undefined) return named;
  if (isPartOfDay(text)) return timeOf(Number(text.replace(/^\d*[.,]/, '0.')));
  const [, said, hours, minutes = '0', seconds = '0', half] =
    /^((?:ore|alle|at|h)\b\.?)?\s*(\d{1,2})(?:[:.h](\d\d))?(?:[:.](\d\d)(?:\.\d{1,6})?)?(?:[\s:]?([ap])\.?m?\.?|\s?h)?$/i.exec(text) ?? [];
  const hour = Number(hours);
  const wrong =
    hours === undefined ||
    couldBeMinutes(text) ||
    // An hour alone says which half of the day it is in only after noon.
    (half === undefined ? !(said || /[:.h]/i.test(text) || hour > 12) || hour > 23 : hour < 1 || hour > 12) ||
    Number(minutes) > 59 ||
    Number(seconds) > 59;
  if (wrong) throw new SourceFault('csv-time', { ...where, value: cell });
  const turned = half === undefined ? hour : (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return [turned, Number(minutes), Number(seconds)].map((part) => String(part).padStart(2, '0')).join(':');
}

/** `20 Uhr` as `ore 20`. */
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

/** No date of a person is longer. */
const LONGEST = 80;

/**
 * A cell that says a moment as programs write it (`2027-03-04T19:00:00Z`, `2027-03-04 20:00+01:00`), by the clock of a
 * zone; any other cell as it is.
 */
export function byClockOf(zone: Zone, cell: string): string {
  const [, day, time, seconds, offset = ''] =
    /^\s*(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)((?::\d\d(?:\.\d{1,9})?)?) ?(Z|[+-]\d\d(?::?\d\d)?)\s*$/i.exec(cell) ?? [];
  if (day === undefined) return cell;
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
  const ahead = (Number(hours) * 60 + Number(minutes)) * 60 * (sign === '-' ? -1 : 1);
  const wall = `${day} ${time}${seconds?.slice(0, 3) || ':00'}`;
  const unix = unixFromText(wall);
  return textFromUnix(unix) === wall ? localFromUnix(unix - ahead, zone) : cell;
}

// ------------------------------------------------------------------------------------------------- spreadsheets
/** Days from 1899-12-30, which spreadsheets count from, to 1970-01-01. */
const DAYS_TO_1970 = 25_569;
const DAY_MS = 86_400_000;

/**
 * A date as a spreadsheet stores it: days since 1899-12-30, with the time as a fraction. Only the years 1954 to 2119,
 * which nothing else looks like.
 */
function serialMoment(text: string): Moment | undefined {
  if (!/^\d{5}(?:[.,]\d{1,12})?$/.test(text)) return undefined;
  const days = Number(text.replace(',', '.'));
  if (days < 20_000 || days >= 80_500) return undefined;
  const whole = Math.floor(days);
  return {
    day: new Date((whole - DAYS_TO_1970) * DAY_MS).toISOString().slice(0, 10),
    time: days === whole ? undefined : timeOf(days - whole),
  };
}

/** Whether a time is given as a fraction of a day. `0.25` could also be a quarter past midnight, so it is neither. */
const isPartOfDay = (text: string): boolean => /^(?:0|\d{5})?[.,]\d{1,16}$/.test(text) && !couldBeMinutes(text);
const couldBeMinutes = (text: string): boolean => /^0?[.,][0-5]\d$/.test(text);

/** The time at a fraction of a day. The last half second of a day stays in it. */
const timeOf = (part: number): string => new Date(Math.min(Math.round(part * 86_400), 86_399) * 1000).toISOString().slice(11, 19);

// ------------------------------------------------------------------------------------------------- days
/**
 * Takes a time off the end of the words of a date. A time in a date has a colon, or a word before it that says so: `ore
 * 20.30`, `alle 21`. `20.30` alone is one only behind a whole date, since it could be part of the date.
 */
function timeAtEnd(words: string[], order: DateOrder | undefined): string | undefined {
  if (BEFORE_TIME.has(words.at(-2)?.toLowerCase() ?? '') && /^\d{1,2}(?:[.:h]\d\d)?h?$/i.test(words.at(-1) ?? '')) {
    const [, time] = words.splice(-2);
    if (words.at(-1)?.toLowerCase() === 'alle') words.pop();
    return `ore ${time}`;
  }
  if (/^\d{1,2}\.\d\d(?:\.00)?$/.test(words.at(-1) ?? '') && readParts(words.slice(0, -1), order)) return words.pop();
  const half = /^[ap]\.?m\.?$/i.test(words.at(-1) ?? '') ? words.pop() : undefined;
  if (!/^\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[ap]m)?$/i.test(words.at(-1) ?? '')) {
    if (half !== undefined) words.push(half);
    return undefined;
  }
  return `${words.pop()} ${half ?? ''}`;
}

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Words behind which a time stands. */
const BEFORE_TIME = new Set(['ore', 'h', 'h.', 'alle', 'at']);

/** Words that say nothing of which day it is. */
const FILLERS = new Set(['of', 'the', 'on', 'at', 'di', 'del', 'il', 'lo', "l'", 'alle', 'dalle', 'ore', 'den', 'der', 'um']);

/**
 * Year, month and day of the words of a date; `order`: their order has to be stated; undefined: they are no date.
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
  // `mar` is March and martedì: beside another month it is the day of the week.
  const sure = months.length > 1 ? months.filter((name) => weekdayOf(name) === undefined) : months;
  if (sure.length > 1 || (months.length > 0 && sure.length === 0)) return undefined;
  return sure.length === 1 ? withName(monthOf(sure[0]!)!, numbers, order) : inFigures(numbers, order);
}

/** Day and year beside a month in words. */
function withName(month: number, numbers: readonly string[], order: DateOrder | undefined): Parts | 'order' | undefined {
  const [first, second] = numbers;
  if (first === undefined || second === undefined || numbers.length > 2) return undefined;
  const years = numbers.filter(isYear);
  if (years.length > 1) return undefined;
  if (years.length === 0 && order === undefined) return 'order';
  const yearFirst = years.length === 1 ? isYear(first) : order === 'ymd';
  const [year, day] = yearFirst ? [first, second] : [second, first];
  return { year: yearOf(year), month, day: Number(day) };
}

/** Three numbers, in the order that is stated unless the year comes first. */
function inFigures(numbers: readonly string[], order: DateOrder | undefined): Parts | 'order' | undefined {
  const [first, , third] = numbers;
  if (first === undefined || third === undefined || numbers.length > 3) return undefined;
  if (!isYear(first) && (order === undefined || (order === 'ymd' && isYear(third)))) return 'order';
  const names = ORDERS[isYear(first) ? 'ymd' : (order ?? 'ymd')];
  const part = (name: Part) => numbers[names.indexOf(name)] ?? '';
  return { year: yearOf(part('year')), month: Number(part('month')), day: Number(part('day')) };
}

const isYear = (digits: string): boolean => digits.length === 4;
/** A year as it is written; of two digits one of 1970 to 2069. */
const yearOf = (digits: string): number => (digits.length === 2 ? (Number(digits) < 70 ? 2000 : 1900) : 0) + Number(digits);

/** `YYYY-MM-DD`, or undefined of a day that no calendar has. */
function dayOf({ year, month, day }: Parts): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  if (year < 1000 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.toISOString().slice(0, 10);
}
