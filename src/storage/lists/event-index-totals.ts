import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { equalsAny, unionAll } from '../engine/expressions.ts';
import { Piece } from '../engine/statement.ts';
import { type Facet, isCounted, isOpenFacet, longFacet, shareOf } from '../index/event-index-rows.ts';
import { type IndexRange, isListedIn, type LanguageShare, type ListedLanguage } from './index-range.ts';
import { type DaysSummand, type RowsSummand, type Summand, summandsOf } from './range-summands.ts';

/*
 * The number of events in a range of the list index. Public events are counted in advance by days and months
 * (`fasti_days`), also for each language; all others are counted row by row.
 */

/** The total of a range, as an SQL value. `parts`: `FROM … WHERE …` of its rows. */
export function totalOf(db: Database, range: IndexRange, parts: readonly Sql[]): Sql {
  const [facet, ...others] = range.facets;
  const countedFacets = others.length === 0 ? countedIn(range, facet, range.language) : undefined;
  return countedFacets ? sumOf(db, summandsOf(range), countedFacets) : countOf(parts);
}

/** The number of rows of these parts, counted one by one. */
export const countOf = (parts: readonly Sql[]): Sql => [
  parts.map(([sql]) => `(SELECT COUNT(*) ${sql})`).join(' + '),
  parts.flatMap(([, bindings]) => bindings),
];

/** Returns the number that an SQL expression has; NaN if it is not a number. */
export async function queryNumber(db: Database, value: Sql): Promise<number> {
  const [row] = await db.rows<{ value: number | string }>`SELECT ${new Piece(value)} AS value`;
  return Number(row?.value);
}

/**
 * The rows to be counted: those of a facet, or of shares of a language in it, with their facet numbers in the counts of
 * days.
 */
interface Counted {
  readonly facet: Facet;
  readonly language: ListedLanguage | undefined;
  readonly add: readonly Facet[];
  readonly subtract: readonly Facet[];
}

/** Returns what has to be counted for one facet of a range. Undefined: the counts of days do not cover it. */
function countedIn(range: IndexRange, facet: Facet, language: ListedLanguage | undefined): Counted | undefined {
  const { statuses, listedOnly, openOnly, unfeaturedOnly, postConditions } = range;
  if (statuses === undefined || !isCounted(statuses) || postConditions.length > 0 || !listedOnly || unfeaturedOnly) return undefined;
  if (isOpenFacet(facet) ? openOnly : !openOnly) return undefined;
  if (!language) return { facet, language, add: [facet], subtract: [] };
  const { number, shares } = language;
  const add = shares.map((share) => (share === 'neutral' ? facet : shareOf(facet, [share, number])));
  // The events without a language are all events minus those with a language.
  const subtract = shares.includes('neutral') ? [shareOf(facet, 'spoken')] : [];
  return areCounted(add) && areCounted(subtract) ? { facet, language, add, subtract } : undefined;
}

const areCounted = (facets: readonly (Facet | undefined)[]): facets is Facet[] => !facets.includes(undefined);

// ------------------------------------------------------------------------------------------------- as a value
/** The sum of these summands. */
function sumOf(db: Database, summands: readonly Summand[], countedFacets: Counted): Sql {
  const values = summands.map((summand): Sql => {
    const [sql, bindings] = summand.by === 'days' ? fromCounts(db, summand, countedFacets) : fromRows(db, summand, countedFacets);
    return [`${summand.sign === 1 ? '+' : '-'} ${sql}`, bindings];
  });
  return [`0 ${values.map(([sql]) => sql).join(' ')}`, values.flatMap(([, bindings]) => bindings)];
}

/** A sum over counts of days: the added facets minus the subtracted ones. */
function fromCounts(db: Database, summand: DaysSummand, { add, subtract }: Counted): Sql {
  const [plus, minus] = [add, subtract].map((facets): Sql => {
    const [rows, bindings] = countsIn(db, summand, facets);
    return [`COALESCE((SELECT SUM(c.${summand.column}) ${rows}), 0)`, bindings];
  }) as [Sql, Sql];
  return subtract.length === 0 ? plus : [`(${plus[0]} - ${minus[0]})`, [...plus[1], ...minus[1]]];
}

function fromRows(db: Database, summand: RowsSummand, { facet, language }: Counted): Sql {
  const [rows, bindings] = entriesIn(db, summand, [facet], language);
  return [`(SELECT COUNT(*) ${rows})`, bindings];
}

/** Returns `FROM … WHERE …` for the counts `c` of a summand. */
function countsIn(db: Database, { days }: DaysSummand, facets: readonly Facet[]): Sql {
  const [condition, numbers] = equalsAny('c.facet', facets);
  return [`FROM ?? c WHERE ${condition} AND c.day >= ? AND c.day <= ?`, [db.table('fasti_days'), ...numbers, ...days]];
}

/**
 * Returns `FROM … WHERE …` for the rows `x` of a summand, which are public events. The facets must be of the same kind.
 */
function entriesIn(db: Database, summand: RowsSummand, facets: readonly [Facet, ...Facet[]], language: ListedLanguage | undefined): Sql {
  const { events, starts, endFrom } = summand;
  const [facetCondition, numbers] = equalsAny('x.facet', events === 'long' ? facets.map(longFacet) : facets);
  const ends: Sql = endFrom === undefined ? ['', []] : [' AND x.end_at >= ?', [endFrom]];
  const guarded = isOpenFacet(facets[0]) ? '' : ' AND x.locked = 0';
  const [languageCondition, languages] = language ? isListedIn(language) : ['', []];
  return [
    `FROM ?? x WHERE ${facetCondition} AND x.start_at >= ? AND x.start_at <= ?${ends[0]} AND x.status = 1 AND x.hidden = 0${guarded}${languageCondition && ` AND ${languageCondition}`}`,
    [db.table('fasti_entries'), ...numbers, ...starts, ...ends[1], ...languages],
  ];
}

// ------------------------------------------------------------------------------------------------- for several facets
/** Number of events that the facet at a position in a list has in a share of a language, or in a language. */
export interface Tally {
  readonly place: number;
  readonly of: string;
  readonly n: number;
}

/** If there are more facets than this, events are counted one by one. */
const MAX_FACETS_IN_SUM = 8;

/**
 * Counts the events of each facet of a range in each share of its language, in one statement. `place`: position of the
 * facet. Empty shares are left out. Undefined: the counts of days do not cover it.
 */
export async function totalsByShare(db: Database, range: IndexRange): Promise<Tally[] | undefined> {
  const { language, facets } = range;
  if (!language || facets.length > MAX_FACETS_IN_SUM) return undefined;
  const shareCounts: { place: number; of: LanguageShare; countedFacets: Counted }[] = [];
  for (const [place, facet] of facets.entries())
    for (const share of language.shares) {
      const countedFacets = countedIn(range, facet, { ...language, shares: [share] });
      if (!countedFacets) return undefined;
      shareCounts.push({ place, of: share, countedFacets });
    }
  const numbers = shareCounts.flatMap(({ countedFacets: { add, subtract } }) => [...add, ...subtract]);
  const sums = await sumsBySource(db, range, language, [...new Set(numbers)]);
  const sum = (sources: readonly string[]) => sources.reduce((total, source) => total + (sums.get(source) ?? 0), 0);
  return shareCounts
    .map(({ place, of, countedFacets: { facet, add, subtract } }) => {
      const n = sum([...add.map((number) => sourceOf(number)), sourceOf(facet, of)]) - sum(subtract.map((number) => sourceOf(number)));
      return { place, of, n };
    })
    .filter(({ n }) => n > 0);
}

/** Key of a sum: the counts of days of a facet number, or the rows of a facet that belong to a share. */
const sourceOf = (facet: Facet, share?: LanguageShare): string => `${facet} ${share ?? 'days'}`;

/**
 * Computes the sums of a range over the counts of days of these facet numbers, and over the rows of each share, by
 * `sourceOf`.
 */
async function sumsBySource(
  db: Database,
  range: IndexRange,
  language: ListedLanguage,
  numbers: readonly Facet[],
): Promise<ReadonlyMap<string, number>> {
  const selections = summandsOf(range).map((summand): Sql => {
    const sign = summand.sign === 1 ? '' : '-';
    if (summand.by === 'days') {
      const [rows, bindings] = countsIn(db, summand, numbers);
      return [`SELECT c.facet, NULL AS share, ${sign}SUM(c.${summand.column}) AS n ${rows} GROUP BY c.facet`, bindings];
    }
    const [share, values] = shareIn(language);
    const [rows, bindings] = entriesIn(db, summand, range.facets, language);
    return [`SELECT x.facet, ${share} AS share, ${sign}COUNT(*) AS n ${rows} GROUP BY x.facet, share`, [...values, ...bindings]];
  });
  const sums = new Map<string, number>();
  if (selections.length === 0) return sums;
  type Row = { facet: number | string; share: LanguageShare | null; n: number | string };
  for (const { facet, share, n } of await db.rows<Row>`${new Piece(unionAll(selections))}`) {
    const number = Number(facet);
    const source = share === null ? sourceOf(number) : sourceOf(number < 0 ? longFacet(number) : number, share);
    sums.set(source, (sums.get(source) ?? 0) + Number(n));
  }
  return sums;
}

/** The share of a language that a row `x` belongs to, as an SQL value. */
function shareIn({ number, shares }: ListedLanguage): Sql {
  const cases = shares.map((share): Sql => {
    const [condition, bindings] = isListedIn({ number, shares: [share] });
    return [`WHEN ${condition} THEN '${share}'`, bindings];
  });
  return [`CASE ${cases.map(([sql]) => sql).join(' ')} END`, cases.flatMap(([, bindings]) => bindings)];
}
