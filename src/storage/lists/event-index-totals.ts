import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { equalsAny } from '../engine/expressions.ts';
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
  shareOf,
  shortBefore,
  UNDATED,
} from '../index/event-index-rows.ts';
import { type IndexRange, isListedIn, type ListedLanguage } from './index-range.ts';

/*
 * How many events a range of the list index holds. What everybody sees is counted by days and months in advance
 * (`fasti_days`), with what each language has of it; anything else is counted row by row.
 */

/** The total of a range, as an SQL value. `parts`: `FROM … WHERE …` of its rows. */
export function totalOf(db: Database, range: IndexRange, parts: readonly Sql[]): Sql {
  const [facet, ...others] = range.facets;
  const counted = others.length === 0 ? countedIn(range, facet, range.language) : undefined;
  return counted ? countedByDays(db, range, counted) : countOf(parts);
}

/** More places than this are counted one by one: each of them is a value of its own in one statement. */
const MOST_PLACES = 8;

/**
 * How many events each facet of a range has of each share of its language, where there are any; `place`: of the facet.
 * Undefined: the counts of days don't say that.
 */
export async function totalsByShare(db: Database, range: IndexRange): Promise<{ place: number; of: string; n: number }[] | undefined> {
  const { language, facets } = range;
  if (!language || facets.length > MOST_PLACES) return undefined;
  const places = facets.flatMap((facet, place) =>
    language.shares.map((share) => ({ place, of: share, counted: countedIn(range, facet, { ...language, shares: [share] }) })),
  );
  const values: Sql[] = [];
  for (const { counted } of places) {
    if (!counted) return undefined;
    values.push(countedByDays(db, range, counted));
  }
  const numbers = await db.rows<Record<string, number | string>>`
    SELECT ${new Piece([values.map(([sql], at) => `${sql} AS n${at}`).join(), values.flatMap(([, bindings]) => bindings)])}`;
  return places.map(({ place, of }, at) => ({ place, of, n: Number(numbers[0]?.[`n${at}`]) })).filter(({ n }) => n > 0);
}

/** What is counted: rows of a facet, or shares of a language in it, under the numbers that the counts of days have. */
interface Counted {
  readonly facet: Facet;
  readonly language: ListedLanguage | undefined;
  readonly add: readonly Facet[];
  readonly subtract: readonly Facet[];
}

/** What a range holds of one facet. Undefined: the counts of days are not of that. */
function countedIn(range: IndexRange, facet: Facet, language: ListedLanguage | undefined): Counted | undefined {
  const { statuses, listedOnly, openOnly, unfeaturedOnly, rest } = range;
  if (statuses === undefined || !isCounted(statuses) || rest.length > 0 || !listedOnly || unfeaturedOnly) return undefined;
  if (isOpen(facet) ? openOnly : !openOnly) return undefined;
  if (!language) return { facet, language, add: [facet], subtract: [] };
  const { number, shares } = language;
  const add = shares.map((share) => (share === 'neutral' ? facet : shareOf(facet, [share, number])));
  // What has no language is all but what has one.
  const subtract = shares.includes('neutral') ? [shareOf(facet, 'spoken')] : [];
  return areCounted(add) && areCounted(subtract) ? { facet, language, add, subtract } : undefined;
}

const areCounted = (facets: readonly (Facet | undefined)[]): facets is Facet[] => !facets.includes(undefined);

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
 * How many events a range holds of what is counted, without counting them one by one: those that start in it, with
 * those that run into it where ends have a lower bound, less those that run beyond the upper one.
 */
function countedByDays(db: Database, { from, to, endFrom, endTo }: IndexRange, counted: Counted): Sql {
  if (endFrom > endTo) return ['0', []];
  const last = Math.min(to, endTo);
  const terms: { readonly sign: '+' | '-'; readonly sql: Sql }[] = [];
  const add = (sign: '+' | '-', pieces: readonly Sql[]) => terms.push(...pieces.map((sql) => ({ sign, sql })));
  add('+', starting(db, counted, Math.max(from, endFrom), last));
  if (endFrom > from) add('+', passing(db, counted, endFrom, [from, Math.min(last, endFrom - 1)]));
  if (endTo < LATEST) add('-', passing(db, counted, endTo + 1, [from, last]));
  return [`0 ${terms.map(({ sign, sql }) => `${sign} ${sql[0]}`).join(' ')}`, terms.flatMap(({ sql }) => sql[1])];
}

/** Those that start between two moments: by whole days, and one by one in what is left of the first and the last. */
function starting(db: Database, counted: Counted, from: number, to: number): Sql[] {
  if (from > to) return [];
  const [first, last] = [dayOf(from), dayOf(to)];
  const [wholeFirst, wholeLast] = [from <= Math.max(beginOf(first), UNDATED + 1), to >= endOf(last)];
  if (first === last && !(wholeFirst && wholeLast)) return [scan(db, counted, [from, to])];
  return [
    ...(wholeFirst ? [] : [scan(db, counted, [from, endOf(first)])]),
    ...onDays(db, counted, wholeFirst ? first : first + 1, wholeLast ? last : last - 1),
    ...(wholeLast ? [] : [scan(db, counted, [beginOf(last), to])]),
  ];
}

/** Those that start on these days: by whole months where there are several, and by the days around them. */
function onDays(db: Database, counted: Counted, first: number, last: number): Sql[] {
  const from = monthOf(first) + (first <= beginOfMonth(monthOf(first)) ? 0 : 1);
  const to = monthOf(last) - (last >= endOfMonth(monthOf(last)) ? 0 : 1);
  if (from >= to) return [sumOf(db, counted, first, last)];
  return [
    ...(first < beginOfMonth(from) ? [sumOf(db, counted, first, beginOfMonth(from) - 1)] : []),
    sumOf(db, counted, monthRow(to), monthRow(from)),
    ...(last > endOfMonth(to) ? [sumOf(db, counted, endOfMonth(to) + 1, last)] : []),
  ];
}

const sumOf = (db: Database, counted: Counted, first: number, last: number): Sql =>
  fromCounts(db, counted, 'SUM(c.n)', ['c.day >= ? AND c.day <= ?', [first, last]]);

/** A sum over counts of days: of what is added, less what is subtracted. */
function fromCounts(db: Database, { add, subtract }: Counted, column: string, [days, bindings]: Sql): Sql {
  const [plus, minus] = [add, subtract].map((facets): Sql => {
    const [which, numbers] = equalsAny('c.facet', facets);
    return [`COALESCE((SELECT ${column} FROM ?? c WHERE ${which} AND ${days}), 0)`, [db.table('fasti_days'), ...numbers, ...bindings]];
  }) as [Sql, Sql];
  return subtract.length === 0 ? plus : [`(${plus[0]} - ${minus[0]})`, [...plus[1], ...minus[1]]];
}

type Span = readonly [from: number, to: number];

/**
 * Those that start between two moments, before a third one, and end then or later. At midnight the day before knows
 * their number.
 */
function passing(db: Database, counted: Counted, moment: number, [from, to]: Span): Sql[] {
  if (from > to) return [];
  const near = shortBefore(moment);
  const eve = eveOf(moment);
  if (eve !== undefined && from <= near && to >= endOf(eve)) {
    return [fromCounts(db, counted, 'SUM(c.running)', ['c.day = ?', [eve]]), scan(db, longOnesOf(counted), [from, to], moment)];
  }
  return [
    scan(db, counted, [Math.max(from, near), to], moment),
    ...(from < near ? [scan(db, longOnesOf(counted), [from, Math.min(near - 1, to)], moment)] : []),
  ];
}

/** The day whose last second comes right before this moment. */
const eveOf = (moment: number): number | undefined => {
  if (moment - 1 === endOf(dayOf(moment))) return dayOf(moment);
  return moment === beginOf(dayOf(moment)) ? daysAfter(dayOf(moment), -1) : undefined;
};

const longOnesOf = ({ facet, ...counted }: Counted): Counted => ({ ...counted, facet: longOnes(facet) });

/** Public events that start between two moments (and end from a third on), counted one by one. */
function scan(db: Database, { facet, language }: Counted, [from, to]: Span, endFrom?: number): Sql {
  const guarded = isOpen(facet < 0 ? longOnes(facet) : facet) ? '' : ' AND x.locked = 0';
  const ends: Sql = endFrom === undefined ? ['', []] : [' AND x.end_at >= ?', [endFrom]];
  const [spoken, languages] = language ? isListedIn(language) : ['', []];
  return [
    `(SELECT COUNT(*) FROM ?? x WHERE x.facet = ? AND x.start_at >= ? AND x.start_at <= ?${ends[0]} AND x.status = 1 AND x.hidden = 0${guarded}${spoken && ` AND ${spoken}`})`,
    [db.table('fasti_entries'), facet, from, to, ...ends[1], ...languages],
  ];
}
