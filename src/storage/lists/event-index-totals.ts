import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { Piece } from '../engine/statement.ts';
import {
  beginOf,
  beginOfMonth,
  dayOf,
  daysAfter,
  endOf,
  endOfMonth,
  type Facet,
  isCounted,
  isOpen,
  LATEST,
  longOnes,
  monthOf,
  monthRow,
  shortBefore,
  UNDATED,
} from '../index/event-index-rows.ts';
import type { IndexRange } from './index-range.ts';

/*
 * How many events a range of the list index holds. What everybody sees is counted by days and months in advance
 * (`fasti_days`); anything else is counted row by row.
 */

/** The total of a range, as an SQL value. `parts`: `FROM … WHERE …` of its rows. */
export const totalOf = (db: Database, range: IndexRange, parts: readonly Sql[]): Sql =>
  isCountedByDays(range) ? countedByDays(db, range) : countOf(parts);

/** Whether the counts of days are of what this range holds. */
const isCountedByDays = ({
  facets: [facet, ...others],
  statuses,
  listedOnly,
  openOnly,
  unfeaturedOnly,
  language,
  rest,
}: IndexRange): boolean =>
  others.length === 0 &&
  language === undefined &&
  statuses !== undefined &&
  isCounted(statuses) &&
  rest.length === 0 &&
  listedOnly &&
  !unfeaturedOnly &&
  (isOpen(facet) ? !openOnly : openOnly);

/** The rows of these parts, counted one by one. */
export const countOf = (parts: readonly Sql[]): Sql => [
  parts.map(([sql]) => `(SELECT COUNT(*) ${sql})`).join(' + '),
  parts.flatMap(([, bindings]) => bindings),
];

export async function numberOf(db: Database, value: Sql): Promise<number> {
  const [row] = await db.rows<{ value: number | string }>`SELECT ${new Piece(value)} AS value`;
  return Number(row?.value);
}

/**
 * How many events a range of one facet holds, without counting them one by one: those that start in it, with those
 * that run into it where ends have a lower bound, less those that run beyond the upper one.
 */
function countedByDays(db: Database, range: IndexRange): Sql {
  const { from, to, endFrom, endTo } = range;
  const [facet] = range.facets;
  if (endFrom > endTo) return ['0', []];
  const last = Math.min(to, endTo);
  const terms: { readonly sign: '+' | '-'; readonly sql: Sql }[] = [];
  const add = (sign: '+' | '-', pieces: readonly Sql[]) => terms.push(...pieces.map((sql) => ({ sign, sql })));
  add('+', starting(db, facet, Math.max(from, endFrom), last));
  if (endFrom > from) add('+', passing(db, facet, endFrom, [from, Math.min(last, endFrom - 1)]));
  if (endTo < LATEST) add('-', passing(db, facet, endTo + 1, [from, last]));
  return [`0 ${terms.map(({ sign, sql }) => `${sign} ${sql[0]}`).join(' ')}`, terms.flatMap(({ sql }) => sql[1])];
}

/** Those that start between two moments: by whole days, and one by one in what is left of the first and the last. */
function starting(db: Database, facet: Facet, from: number, to: number): Sql[] {
  if (from > to) return [];
  const [first, last] = [dayOf(from), dayOf(to)];
  const [wholeFirst, wholeLast] = [from <= Math.max(beginOf(first), UNDATED + 1), to >= endOf(last)];
  if (first === last && !(wholeFirst && wholeLast)) return [scan(db, facet, [from, to])];
  return [
    ...(wholeFirst ? [] : [scan(db, facet, [from, endOf(first)])]),
    ...onDays(db, facet, wholeFirst ? first : first + 1, wholeLast ? last : last - 1),
    ...(wholeLast ? [] : [scan(db, facet, [beginOf(last), to])]),
  ];
}

/** Those that start on these days: by whole months where there are several, and by the days around them. */
function onDays(db: Database, facet: Facet, first: number, last: number): Sql[] {
  const from = monthOf(first) + (first <= beginOfMonth(monthOf(first)) ? 0 : 1);
  const to = monthOf(last) - (last >= endOfMonth(monthOf(last)) ? 0 : 1);
  if (from >= to) return [sumOf(db, facet, first, last)];
  return [
    ...(first < beginOfMonth(from) ? [sumOf(db, facet, first, beginOfMonth(from) - 1)] : []),
    sumOf(db, facet, monthRow(to), monthRow(from)),
    ...(last > endOfMonth(to) ? [sumOf(db, facet, endOfMonth(to) + 1, last)] : []),
  ];
}

const sumOf = (db: Database, facet: Facet, first: number, last: number): Sql => [
  'COALESCE((SELECT SUM(c.n) FROM ?? c WHERE c.facet = ? AND c.day >= ? AND c.day <= ?), 0)',
  [db.table('fasti_days'), facet, first, last],
];

type Span = readonly [from: number, to: number];

/**
 * Those that start between two moments, before a third one, and end then or later. At midnight the day before knows
 * their number.
 */
function passing(db: Database, facet: Facet, moment: number, [from, to]: Span): Sql[] {
  if (from > to) return [];
  const near = shortBefore(moment);
  const eve = eveOf(moment);
  if (eve !== undefined && from <= near && to >= endOf(eve)) {
    const running: Sql = [
      'COALESCE((SELECT c.running FROM ?? c WHERE c.facet = ? AND c.day = ?), 0)',
      [db.table('fasti_days'), facet, eve],
    ];
    return [running, scan(db, longOnes(facet), [from, to], moment)];
  }
  return [
    scan(db, facet, [Math.max(from, near), to], moment),
    ...(from < near ? [scan(db, longOnes(facet), [from, Math.min(near - 1, to)], moment)] : []),
  ];
}

/** The day whose last second comes right before this moment. */
const eveOf = (moment: number): number | undefined => {
  if (moment - 1 === endOf(dayOf(moment))) return dayOf(moment);
  return moment === beginOf(dayOf(moment)) ? daysAfter(dayOf(moment), -1) : undefined;
};

/** Public events of a facet that start between two moments (and end from a third on), counted one by one. */
function scan(db: Database, facet: Facet, [from, to]: Span, endFrom?: number): Sql {
  const guarded = isOpen(facet < 0 ? longOnes(facet) : facet) ? '' : ' AND x.locked = 0';
  const ends = endFrom === undefined ? '' : ' AND x.end_at >= ?';
  return [
    `(SELECT COUNT(*) FROM ?? x WHERE x.facet = ? AND x.start_at >= ? AND x.start_at <= ?${ends} AND x.status = 1 AND x.hidden = 0${guarded})`,
    [db.table('fasti_entries'), facet, from, to, ...(endFrom === undefined ? [] : [endFrom])],
  ];
}
