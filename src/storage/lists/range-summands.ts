import {
  beginOf,
  beginOfMonth,
  dayOf,
  daysAfter,
  endOf,
  endOfMonth,
  LATEST,
  monthOf,
  monthRow,
  shortBefore,
  UNDATED,
} from '../index/event-index-rows.ts';
import type { IndexRange } from './index-range.ts';

/*
 * What the number of events in a range is the sum of, as pure functions: counts of days and months that were made in
 * advance, and what is left over at the edges.
 */

/** First and last: moments, or days. */
export type Span = readonly [from: number, to: number];
type Sign = 1 | -1;

export type Summand = DaysSummand | RowsSummand;

/** Counts of days: of those that start then (`n`), or that run on at the end of the day (`running`). */
export interface DaysSummand {
  readonly by: 'days';
  readonly sign: Sign;
  readonly column: 'n' | 'running';
  /** Days, or months as `monthRow` gives them. */
  readonly days: Span;
}

/** Rows that are counted one by one. */
export interface RowsSummand {
  readonly by: 'rows';
  readonly sign: Sign;
  /** `long`: only those that last very long. */
  readonly which: 'all' | 'long';
  readonly starts: Span;
  /** The earliest end, where there is one. */
  readonly endFrom: number | undefined;
}

/**
 * What a range holds: those that start in it, with those that run into it where ends have a lower bound, less those
 * that run beyond the upper one.
 */
export function summandsOf({ from, to, endFrom, endTo }: Pick<IndexRange, 'from' | 'to' | 'endFrom' | 'endTo'>): Summand[] {
  if (endFrom > endTo) return [];
  const last = Math.min(to, endTo);
  return [
    ...starting(Math.max(from, endFrom), last),
    ...(endFrom > from ? passing(1, endFrom, [from, Math.min(last, endFrom - 1)]) : []),
    ...(endTo < LATEST ? passing(-1, endTo + 1, [from, last]) : []),
  ];
}

/** Those that start between two moments: by whole days, and one by one in what is left of the first and the last. */
function starting(from: number, to: number): Summand[] {
  if (from > to) return [];
  const [first, last] = [dayOf(from), dayOf(to)];
  const [wholeFirst, wholeLast] = [from <= Math.max(beginOf(first), UNDATED + 1), to >= endOf(last)];
  if (first === last && !(wholeFirst && wholeLast)) return [rowsIn([from, to])];
  return [
    ...(wholeFirst ? [] : [rowsIn([from, endOf(first)])]),
    ...startingOn(wholeFirst ? first : first + 1, wholeLast ? last : last - 1),
    ...(wholeLast ? [] : [rowsIn([beginOf(last), to])]),
  ];
}

const rowsIn = (starts: Span): RowsSummand => ({ by: 'rows', sign: 1, which: 'all', starts, endFrom: undefined });

/** Those that start on these days: by whole months where there are several, and by the days around them. */
function startingOn(first: number, last: number): Summand[] {
  const from = monthOf(first) + (first <= beginOfMonth(monthOf(first)) ? 0 : 1);
  const to = monthOf(last) - (last >= endOfMonth(monthOf(last)) ? 0 : 1);
  if (from >= to) return [daysIn([first, last])];
  return [
    ...(first < beginOfMonth(from) ? [daysIn([first, beginOfMonth(from) - 1])] : []),
    daysIn([monthRow(to), monthRow(from)]),
    ...(last > endOfMonth(to) ? [daysIn([endOfMonth(to) + 1, last])] : []),
  ];
}

const daysIn = (days: Span): DaysSummand => ({ by: 'days', sign: 1, column: 'n', days });

/**
 * Those that start between two moments, before a third one, and end then or later. At midnight the day before knows
 * their number.
 */
function passing(sign: Sign, moment: number, [from, to]: Span): Summand[] {
  if (from > to) return [];
  const near = shortBefore(moment);
  const eve = eveOf(moment);
  const rows = (which: 'all' | 'long', starts: Span): RowsSummand => ({ by: 'rows', sign, which, starts, endFrom: moment });
  if (eve !== undefined && from <= near && to >= endOf(eve))
    return [{ by: 'days', sign, column: 'running', days: [eve, eve] }, rows('long', [from, to])];
  return [rows('all', [Math.max(from, near), to]), ...(from < near ? [rows('long', [from, Math.min(near - 1, to)])] : [])];
}

/** The day whose last second comes right before this moment. */
function eveOf(moment: number): number | undefined {
  if (moment - 1 === endOf(dayOf(moment))) return dayOf(moment);
  return moment === beginOf(dayOf(moment)) ? daysAfter(dayOf(moment), -1) : undefined;
}
