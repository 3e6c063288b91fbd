import { SourceFault } from '../items/items.ts';
import { monthOf } from './date-words.ts';
import { type CellPlace, type DateOrder, type Moment, readMoment, readTime } from './dates.ts';

/*
 * Cells that contain a range of dates or times: `5-7 dicembre 2026`, `dal 30 novembre al 2 dicembre 2026`, `5 e 6
 * febbraio 2027`, `1/3 - 3/3/2027`, `20.30 - 23.00`.
 */

type ColumnPlace = CellPlace & { readonly column: string };

/** The single moment that a date cell states, or the first and the last one of a range. */
export interface MomentRange {
  readonly from: Moment;
  readonly to?: Moment | undefined;
}

/**
 * Reads a date cell that may be a range; returns undefined if it is empty. A side of a range that lacks the month or
 * the year takes it from the other side.
 *
 * @throws SourceFault the error of `readMoment` for the whole cell, if it is no range either
 */
export function readMoments(cell: string, order: DateOrder | undefined, columnPlace: ColumnPlace): MomentRange | undefined {
  return readValueOrRange(
    () => {
      const from = readMoment(cell, order, columnPlace);
      return from && { from };
    },
    () => {
      const span = sidesOf(cell, DATE_SEPARATORS, DAY_PREFIX) ?? sidesOf(cell, TIGHT_DATE_SEPARATORS, DAY_PREFIX);
      const sides = span ?? sidesOf(cell, PAIR_SEPARATORS, DAY_PREFIX);
      const [from, to] = (sides ? completeSides(sides) : []).map((side) => readMoment(side, order, columnPlace));
      if (!from || !to || from.day > to.day) return undefined;
      return span || Date.parse(to.day) - Date.parse(from.day) === DAY_MS ? { from, to } : undefined;
    },
  );
}

/** Reads a cell with one or two times as `HH:MM:SS`: `21:00`, `20.30 - 23.00`, `dalle 21 alle 23`, `7-9 pm`. */
export function readTimes(cell: string, columnPlace: ColumnPlace): { readonly from: string; readonly to?: string | undefined } | undefined {
  return readValueOrRange(
    () => {
      const from = readTime(cell, columnPlace);
      return from === undefined ? undefined : { from };
    },
    () => {
      const sides = sidesOf(cell, TIME_SEPARATORS, TIME_PREFIX);
      if (!sides) return undefined;
      const [first, last] = sides;
      const meridiem = /[ap](?=\.?m\.?$)/i.exec(last)?.[0].toLowerCase();
      const to = readTime(timeIn(last, meridiem), columnPlace);
      const from = readTime(timeIn(first, meridiem), columnPlace);
      if (from === undefined || to === undefined) return undefined;
      // `11-1 pm` begins in the morning, `10-1 am` on the evening before.
      return { from: meridiem !== undefined && from > to ? readTime(timeIn(first, meridiem === 'p' ? 'a' : 'p'), columnPlace)! : from, to };
    },
  );
}

/** Reads a cell as a single value, or else as a range; throws the error of the single value if it is neither. */
function readValueOrRange<T>(readValue: () => T | undefined, readRange: () => T | undefined): T | undefined {
  try {
    return readValue();
  } catch (fault) {
    if (!(fault instanceof SourceFault)) throw fault;
    try {
      const value = readRange();
      if (value) return value;
    } catch (rangeFault) {
      // A missing date order must be reported; other errors of one side say nothing about the whole cell.
      if (!(rangeFault instanceof SourceFault) || rangeFault.fault === 'csv-date-order') throw rangeFault;
    }
    throw fault;
  }
}

/** Separators between the two sides of a range: a dash or a word. Runs of blanks have been collapsed to one. */
const DATE_SEPARATORS = / (?:fino )?(?:all['’] ?|(?:al?|to|until|through|bis) )| [-–—] |[–—]/i;
/** Separators that may also occur within a date; tried if none of `DATE_SEPARATORS` matches. */
const TIGHT_DATE_SEPARATORS = /(?<=(?:^| )\d{1,2})[-/](?=\d{1,2}[ ,])|(?<=[/.]\d{1,4})-(?=\d{1,2}[/.])/;
/** Words between two days that need not be consecutive; the days count as a range only if they are. */
const PAIR_SEPARATORS = / (?:ed?|and|und|&) /i;
const DAY_MS = 86_400_000;
const TIME_SEPARATORS = / ?[-–—] ?| (?:alle|to|until|till|bis) /i;
/** Words that introduce the first side. */
const DAY_PREFIX = /^(?:dall['’] ?|(?:dal?|from|vo[mn]) )/i;
const TIME_PREFIX = /^(?:dalle|from|von) /i;

function sidesOf(cell: string, separators: RegExp, prefix: RegExp): [string, string] | undefined {
  if (cell.length > MAX_RANGE_LENGTH) return undefined;
  const text = cell.trim().replace(/\s+/g, ' ');
  const [first, last, ...rest] = text.replace(prefix, '').split(separators);
  return first && last && rest.length === 0 ? [first, last] : undefined;
}

/** Maximum length of a range; nobody writes longer ones. */
const MAX_RANGE_LENGTH = 120;

/** Completes the two sides of a range: each takes the month and the year from the other if it has none. */
function completeSides(sides: readonly [string, string]): string[] {
  const wordsOf = (side: string): string[] => side.split(/[\s,./-]+/);
  const month = (side: string) => wordsOf(side).find((word) => monthOf(word) !== undefined);
  const year = (side: string) => wordsOf(side).find((word) => /^\d{4}$/.test(word));
  const [first, last] = sides;
  if (month(first) === undefined && month(last) === undefined) {
    const [, sign, yearText] = /^\d{1,2}([-/.])\d{1,2}\1(\d{4})$/.exec(last) ?? [];
    return yearText !== undefined && /^\d{1,2}[-/.]\d{1,2}\.?$/.test(first) ? [`${first}${sign}${yearText}`, last] : [...sides];
  }
  return [
    [first, month(first) ?? month(last), year(first) ?? year(last)],
    [last, month(last) ?? month(first), year(last) ?? year(first)],
  ].map(([side = '', ...additions]) =>
    [side, ...additions.filter((word) => word !== undefined && !wordsOf(side).includes(word))].join(' '),
  );
}

/**
 * Rewrites one side of a range of times as a single time: a bare hour becomes a time, with `am` or `pm` if the range
 * has it.
 */
function timeIn(side: string, meridiem: string | undefined): string {
  const text = side.replace(/^ore /i, '');
  const isBare = /^\d{1,2}(?:[:.]\d\d)?$/.test(text);
  if (isBare && meridiem !== undefined) return `${text} ${meridiem}m`;
  return /^\d{1,2}$/.test(text) ? `ore ${text}` : text;
}
