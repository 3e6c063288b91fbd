import type { Condition } from '../../kinds/condition.ts';
import { postKind } from '../../kinds/index.ts';
import { languageOfCode } from '../../wordpress/content-languages.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { equalsAny, every, unionAll } from '../engine/expressions.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import {
  earliestShortStart,
  FACETS,
  type Facet,
  facetCode,
  idOfFacet,
  LATEST_MOMENT,
  LINK_CODES,
  longFacet,
  momentOf,
  STATUSES,
  UNDATED,
} from '../index/event-index-rows.ts';
import { countOf, queryNumber, type Tally, totalOf, totalsByShare } from './event-index-totals.ts';
import { type IndexRange, isAuthorIndependent, isListedIn } from './index-range.ts';
import { type PostQuery, type Recurrence, recordId } from './post-query.ts';

/** One page of a list, before the records themselves are loaded. */
export interface Page {
  /** Ids of records: of posts, and of occurrences above the base of `PostQuery.recurrence`. */
  readonly ids: number[];
  /** Total number of records in the list. */
  readonly total: number;
  /** Ids of the venues and organizers that the records probably refer to. */
  readonly linked: number[];
  /** For a page from the list index: the starts of its first and last record; absent if the page is empty. */
  readonly span?: Span;
}

/** The starts of the first and last record of a page, in the order of the list. */
export interface Span {
  readonly first: number;
  /** Undefined: the list ends with this page. */
  readonly last: number | undefined;
}

/** Returns one page. `condition`: a further one on the posts (as `p`), if any. */
export async function findIndexedIds(
  db: Database,
  range: IndexRange,
  limits: { readonly limit: number; readonly offset: number; readonly recurrence?: Recurrence | undefined },
  condition: Sql | undefined,
): Promise<Page> {
  const parts = partsOf(range).map((part) => rowsOf(db, range, part, condition));
  if (condition === undefined && parts.length === 1 && range.facets.length > 1 && range.language !== undefined) {
    const page = await pageOfDisjoint(db, range, limits);
    if (page) return page;
  }
  if (condition !== undefined || range.facets.length > 1) return pageOfAll(db, parts, { ...limits, descending: range.descending });
  const total = totalOf(db, range, parts);
  const page = await pageOf(db, parts, { ...limits, total, descending: range.descending });
  return { ...page, total: page.total ?? (await queryNumber(db, total)) };
}

/** Statuses of events that are not counted for their venues and organizers, unless only those to come are asked for. */
export const UNCOUNTED_STATUSES: readonly string[] = ['draft', 'pending', 'trash'];

/**
 * Condition on a venue or organizer `p`: it is referred to by an event that the caller may see, in the language of
 * `inLanguage` if that is given. It needs one index look-up for each venue or organizer. Undefined: WordPress's tables
 * must be queried.
 */
export function linkedInIndex(db: Database, condition: Extract<Condition, { by: 'linkedFromAny' }>, query: PostQuery): Sql | undefined {
  const kind = postKind('event').links[condition.key];
  const { all } = query.visibleEvents;
  const { password } = query.opened;
  const { inLanguage } = condition;
  const language = inLanguage?.fill === 'nothing' ? languageOfCode(inLanguage.languages, inLanguage.code)?.number : undefined;
  if (inLanguage && language === undefined) return undefined;
  if (!query.indexed || !query.occurrences || !kind || !isAuthorIndependent(query.visibleEvents) || password !== undefined)
    return undefined;
  const upcomingSince = condition.upcomingSince;
  const since = upcomingSince === undefined ? UNDATED : momentOf(upcomingSince);
  const excluded = upcomingSince === undefined ? UNCOUNTED_STATUSES : ['trash'];
  const statuses = all.filter((status) => !excluded.includes(status)).map((status) => STATUSES.get(status));
  if (since === undefined || statuses.length === 0 || statuses.includes(undefined)) return undefined;
  // The last event of the venue or organizer decides. This is a subquery for one value, since the databases may turn
  // EXISTS into a scan of all events. It reads from the end, since MariaDB would read all past events. Without a date,
  // the existence of a row is enough.
  const holds = upcomingSince === undefined ? `IS ${condition.isLinked ? 'NOT ' : ''}NULL` : '>= ?';
  if (upcomingSince !== undefined && !condition.isLinked) return undefined;
  return [
    `(SELECT x.start_at FROM ?? x WHERE x.facet = CAST(p.ID * ${FACETS} + ${facetCode(kind)} AS SIGNED) AND x.locked = 0
      AND x.status IN (${statuses.join()})${upcomingSince === undefined ? '' : ' AND x.hidden = 0'}${language === undefined ? '' : ' AND x.language = ?'} ORDER BY x.start_at DESC LIMIT 1) ${holds}`,
    [db.table('fasti_entries'), ...(language === undefined ? [] : [language]), ...(upcomingSince === undefined ? [] : [since])],
  ];
}

// ------------------------------------------------------------------------------------------------- pages
interface Part {
  readonly facets: readonly Facet[];
  readonly from: number;
  readonly to: number;
}

/**
 * Splits a range into the parts to read, in the order of starts. No event ends before it starts, and only the long ones
 * can start more than a month before they end. So if ends have a lower bound, everything is read from a month before
 * that bound, and only the long events before that.
 */
function partsOf({ facets, from, to, endFrom, endTo }: IndexRange): Part[] {
  const last = Math.min(to, endTo);
  const mainFrom = endFrom > from ? Math.max(from, earliestShortStart(endFrom)) : from;
  const main = { facets, from: mainFrom, to: last };
  return mainFrom > from ? [{ facets: facets.map(longFacet), from, to: Math.min(mainFrom - 1, last) }, main] : [main];
}

/** Returns `FROM … WHERE …` for the rows `x` of a part. A row that occurs in several of its facets is included once. */
function rowsOf(db: Database, range: IndexRange, { facets, from, to }: Part, condition: Sql | undefined): Sql {
  const { endFrom, endTo, pastFrom, statuses } = range;
  const conditions: Sql[] = [equalsAny('x.facet', facets), ['x.start_at >= ? AND x.start_at <= ?', [from, to]]];
  if (endFrom > from) conditions.push(['x.end_at >= ?', [endFrom]]);
  if (endTo < LATEST_MOMENT) conditions.push(['x.end_at <= ?', [endTo]]);
  if (pastFrom > from) conditions.push(['(x.end_at > ? OR x.start_at >= ?)', [pastFrom, pastFrom]]);
  if (statuses) conditions.push(equalsAny('x.status', statuses));
  if (range.listedOnly) conditions.push(['x.hidden = 0', []]);
  if (range.openOnly) conditions.push(['x.locked = 0', []]);
  if (range.unfeaturedOnly) conditions.push(['x.featured = 0', []]);
  if (range.language !== undefined) conditions.push(isListedIn(range.language));
  if (condition) conditions.push(condition);
  const [where, bindings] = every(conditions);
  const posts: Sql = condition ? [` ${db.dialect.joinInOrder} ?? p ON p.ID = x.post_id`, [db.table('posts')]] : ['', []];
  const rows: Sql = [`FROM ?? x${posts[0]} WHERE ${where}`, [db.table('fasti_entries'), ...posts[1], ...bindings]];
  return facets.length === 1
    ? rows
    : [`FROM (SELECT DISTINCT x.start_at, x.posted_at, x.post_id, x.end_at, x.occurrence_id ${rows[0]}) x`, rows[1]];
}

/**
 * Returns one page. Its total comes with a row of the main part, which is the last one, if the page has such a row;
 * this saves a query.
 */
async function pageOf(
  db: Database,
  parts: readonly Sql[],
  {
    total,
    limit,
    offset,
    descending,
    recurrence,
  }: { total: Sql; limit: number; offset: number; descending: boolean; recurrence?: Recurrence | undefined },
): Promise<Omit<Page, 'total'> & { total?: number }> {
  const direction = verbatim(descending ? 'DESC' : 'ASC');
  const page: Omit<Page, 'total' | 'span'> & { total?: number } = { ids: [], linked: [] };
  const starts: number[] = [];
  let skip = offset;
  // The links of recurring events are loaded with the events: here they would be repeated for each date.
  for (const [index, part] of (descending ? parts.toReversed() : parts).entries()) {
    if (page.ids.length >= limit) break;
    const rows = await db.rows<Indexed & { links: string | null; total: number | string | null }>`
      SELECT x.post_id AS id, x.occurrence_id AS occurrence, x.start_at AS start, ${new Piece(part === parts.at(-1) ? total : ['NULL', []])} AS total,
        CASE WHEN x.occurrence_id = 0 THEN
          (SELECT GROUP_CONCAT(l.facet) FROM {fasti_entries} l WHERE l.post_id = x.post_id AND l.facet % ${FACETS} IN (${LINK_CODES})) END AS links
      ${new Piece(part)} ORDER BY x.start_at ${direction}, x.posted_at ${direction}, x.post_id ${direction}, x.end_at ${direction} LIMIT ${limit - page.ids.length} OFFSET ${skip}`;
    for (const { id, occurrence, start, links, total: rowTotal } of rows) {
      page.ids.push(recordId(id, occurrence, recurrence));
      starts.push(Number(start));
      page.linked.push(...(links?.split(',').map((facet) => idOfFacet(Number(facet))) ?? []));
      if (rowTotal !== null) page.total = Number(rowTotal);
    }
    if (index + 1 < parts.length) skip = rows.length > 0 ? 0 : Math.max(0, skip - (await queryNumber(db, countOf([part]))));
  }
  return { ...page, ...spanOf(starts, limit) };
}

/** A listed row of the index, with the columns that a page needs. */
interface Indexed {
  readonly id: number;
  readonly occurrence: number;
  readonly start: number | string;
}

function spanOf(starts: readonly number[], limit: number): Pick<Page, 'span'> {
  const [first, last] = [starts[0], starts.at(-1)];
  return first === undefined ? {} : { span: { first, last: starts.length < limit ? undefined : last } };
}

/** Up to this position, merging several facets is used. For pages further back, it is faster to read everything. */
const MAX_MERGED_ROWS = 500;

/**
 * Returns one page of several facets in a language. Usually these are the facets of a term and its translations, so
 * that the events of one language are in only one of them. Then the counts can be added, and each facet has to be read
 * only up to the end of the page. Undefined if an event may be in two facets.
 */
async function pageOfDisjoint(
  db: Database,
  range: IndexRange,
  { limit, offset, recurrence }: { readonly limit: number; readonly offset: number; readonly recurrence?: Recurrence | undefined },
): Promise<Page | undefined> {
  if (limit + offset > MAX_MERGED_ROWS) return undefined;
  const [part] = partsOf(range);
  const rowsByFacet = range.facets.map((facet) => rowsOf(db, range, { ...part!, facets: [facet] }, undefined));
  const counts = (await totalsByShare(db, range)) ?? (await countsByLanguage(db, rowsByFacet));
  const total = counts.reduce((sum, { n }) => sum + n, 0);
  if (total === 0) return { ids: [], total, linked: [] };
  if (new Set(counts.map(({ of }) => of)).size < counts.length) return undefined;
  const facetRows = [...new Set(counts.map(({ place }) => place))].map((place) => rowsByFacet[place]!);
  const direction = range.descending ? 'DESC' : 'ASC';
  const firstOf = ([sql, bindings]: Sql, place: number): Sql => [
    `SELECT * FROM (SELECT x.start_at, x.posted_at, x.post_id, x.end_at, x.occurrence_id ${sql}
      ORDER BY x.start_at ${direction}, x.posted_at ${direction}, x.post_id ${direction}, x.end_at ${direction} LIMIT ?) x${place}`,
    [...bindings, limit + offset],
  ];
  const [sql, bindings] = unionAll(facetRows.map(firstOf));
  const rows: Sql = facetRows.length === 1 ? facetRows[0]! : [`FROM (${sql}) x`, bindings];
  const { ids, linked } = await pageOf(db, [rows], { total: ['NULL', []], limit, offset, descending: range.descending, recurrence });
  return { ids, total, linked };
}

/** Counts the rows of each language in each of these facets, one by one. */
async function countsByLanguage(db: Database, places: readonly Sql[]): Promise<Tally[]> {
  const counts = await db.rows<{ place: number; language: number; n: number }>`
    ${new Piece(unionAll(places.map(([sql, bindings], index) => [`SELECT ${index} AS place, x.language, COUNT(*) AS n ${sql} GROUP BY x.language`, bindings])))}`;
  return counts.map(({ place, language, n }) => ({ place: Number(place), of: String(language), n: Number(n) }));
}

/**
 * Returns one page of a list that is expensive to search: everything is read once, instead of once for the page and
 * once for the total.
 */
async function pageOfAll(
  db: Database,
  parts: readonly Sql[],
  { limit, offset, descending, recurrence }: { limit: number; offset: number; descending: boolean; recurrence?: Recurrence | undefined },
): Promise<Page> {
  const direction = verbatim(descending ? 'DESC' : 'ASC');
  const ids: number[] = [];
  for (const part of descending ? parts.toReversed() : parts) {
    const rows = await db.rows<{ id: number; occurrence: number }>`
      SELECT x.post_id AS id, x.occurrence_id AS occurrence ${new Piece(part)}
      ORDER BY x.start_at ${direction}, x.posted_at ${direction}, x.post_id ${direction}, x.end_at ${direction}`;
    for (const { id, occurrence } of rows) ids.push(recordId(id, occurrence, recurrence));
  }
  return { ids: ids.slice(offset, offset + limit), total: ids.length, linked: [] };
}
