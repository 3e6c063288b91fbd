import {
  beginOf,
  beginOfMonth,
  dayOf,
  daysAfter,
  earliestShortStart,
  endOf,
  endOfMonth,
  LATEST_MOMENT,
  monthOf,
  monthRow,
  UNDATED,
} from '../index/event-index-rows.ts';
import type { Bounds, IndexRange } from './index-range.ts';

/*
 * The summands of the number of events in a range, as pure functions: precomputed counts of days and months, and rows
 * that are left over at the edges.
 */

/** First and last moment, or first and last day. */
export type Span = readonly [from: number, to: number];
type Sign = 1 | -1;

export type Summand = DaysSummand | RowsSummand;

/** A sum over counts of days: of the events that start on them (`n`), or that continue past their end (`running`). */
export interface DaysSummand {
  readonly by: 'days';
  readonly sign: Sign;
  readonly column: 'n' | 'running';
  /** Days, or months as encoded by `monthRow`. */
  readonly days: Span;
}

/** Rows that are counted one by one. */
export interface RowsSummand {
  readonly by: 'rows';
  readonly sign: Sign;
  /** `long`: only events that last very long. */
  readonly events: 'all' | 'long';
  readonly starts: Span;
  /** The earliest end, if it is bounded. */
  readonly endFrom: number | undefined;
}

/**
 * Returns the summands of a range: the events that start in it, plus those that start earlier and continue into it if
 * ends have a lower bound, minus those that continue beyond the upper bound of ends. With `pastFrom` at midnight, the
 * second summand is counted row by row, since the counts of days include events that last until midnight; the page
 * reads the same rows.
 */
export function summandsOf({ from, to, endFrom, endTo, pastFrom }: Pick<IndexRange, keyof Bounds>): Summand[] {
  if (endFrom > endTo) return [];
  const last = Math.min(to, endTo);
  return [
    ...starting(Math.max(from, endFrom), last),
    ...(endFrom > from ? endingAfter(1, Math.max(endFrom, pastFrom + 1), [from, Math.min(last, endFrom - 1)]) : []),
    ...(endTo < LATEST_MOMENT ? endingAfter(-1, endTo + 1, [from, last]) : []),
  ];
}

/** Counts the events that start between two moments: by whole days, and row by row in partial first and last days. */
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

const rowsIn = (starts: Span): RowsSummand => ({ by: 'rows', sign: 1, events: 'all', starts, endFrom: undefined });

/**
 * Counts the events that start on these days: by whole months if there are several, and by the remaining days before
 * and after them.
 */
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
 * Counts the events that start between two moments, before a third one, and end at that third moment or later. If it is
 * midnight, the count of the day before has their number.
 */
function endingAfter(sign: Sign, moment: number, [from, to]: Span): Summand[] {
  if (from > to) return [];
  const shortStart = earliestShortStart(moment);
  const eve = dayEndingAt(moment);
  const rows = (events: 'all' | 'long', starts: Span): RowsSummand => ({ by: 'rows', sign, events, starts, endFrom: moment });
  if (eve !== undefined && from <= shortStart && to >= endOf(eve))
    return [{ by: 'days', sign, column: 'running', days: [eve, eve] }, rows('long', [from, to])];
  return [
    rows('all', [Math.max(from, shortStart), to]),
    ...(from < shortStart ? [rows('long', [from, Math.min(shortStart - 1, to)])] : []),
  ];
}

/** Returns the day that ends right before this moment; undefined if the moment is not at midnight. */
function dayEndingAt(moment: number): number | undefined {
  if (moment - 1 === endOf(dayOf(moment))) return dayOf(moment);
  return moment === beginOf(dayOf(moment)) ? daysAfter(dayOf(moment), -1) : undefined;
}
