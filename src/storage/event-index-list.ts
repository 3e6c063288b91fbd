import type { Knex } from 'knex';
import { FEATURED_META, HIDDEN_META } from '../kinds/event-metas.ts';
import { postKind } from '../kinds/index.ts';
import type { Condition } from '../kinds/kind.ts';
import type { Database } from './database.ts';
import type { Sql } from './dialect.ts';
import {
  ALL,
  beginOf,
  dayOf,
  daysAfter,
  endOf,
  FACETS,
  type Facet,
  FEATURED,
  facetCode,
  facetOf,
  isCounted,
  LATEST,
  longOnes,
  momentOf,
  STATUSES,
  shortBefore,
  UNDATED,
} from './event-index-rows.ts';
import type { PostQuery } from './post-query.ts';
import { countRows } from './row-count.ts';

/**
 * A list of events as one stretch of the list index (`fasti_entries`): those of a facet that start and end between these moments, in the order of
 * their starts. Moments are numbers, all bounds belong to the stretch.
 */
export interface Stretch {
  readonly facet: Facet;
  readonly from: number;
  readonly to: number;
  readonly endFrom: number;
  readonly endTo: number;
  /** Undefined: who sees what is asked of the posts themselves. */
  readonly statuses: readonly number[] | undefined;
  readonly listedOnly: boolean;
  readonly openOnly: boolean;
  readonly unfeaturedOnly: boolean;
  /** What the index does not know, to be asked of the posts. */
  readonly rest: readonly Condition[];
  readonly descending: boolean;
}

/** The query as a stretch of the index; undefined where it is better asked of WordPress's tables, or must be. */
export function stretchOf(query: PostQuery): Stretch | undefined {
  const { conditions, visible, order, password, tellsAll = false } = query;
  if (!query.indexed || !query.kind.dated || !query.occurrences || order.by !== 'start') return undefined;
  const bounds = { from: UNDATED + 1, to: LATEST, endFrom: 0, endTo: LATEST };
  const flags = { listedOnly: false, openOnly: false, unfeaturedOnly: false };
  const facets: { readonly facet: Facet; readonly condition: Condition }[] = [];
  const rest: Condition[] = [];
  for (const condition of conditions) {
    const facet = facetIn(condition);
    if (SELECTIVE.has(condition.by)) return undefined;
    if (condition.by === 'moment') {
      if (condition.utc || !narrowBounds(bounds, condition)) return undefined;
    } else if (condition.by === 'meta' && condition.key === HIDDEN_META && !condition.present) flags.listedOnly = true;
    else if (condition.by === 'meta' && condition.key === FEATURED_META && !condition.present && password === undefined) {
      flags.unfeaturedOnly = true;
      flags.openOnly ||= !tellsAll;
    } else if (facet === undefined) rest.push(condition);
    else facets.push({ facet, condition });
  }
  // The narrowest first: a venue or an organizer, a tag, a category.
  facets.sort((a, b) => facetRank(b.facet) - facetRank(a.facet));
  const [first, ...others] = facets;
  // Where a password opens some, the posts say which.
  if (first && password === undefined) flags.openOnly ||= !tellsAll;
  rest.push(...(first && password !== undefined ? facets : others).map(({ condition }) => condition));
  const statuses = visible.all.map((status) => STATUSES.get(status));
  if (statuses.length === 0 || statuses.includes(undefined)) return undefined;
  return {
    facet: first?.facet ?? ALL,
    ...bounds,
    ...flags,
    statuses: visible.own.length === 0 ? (statuses as number[]) : undefined,
    rest,
    descending: order.descending,
  };
}

/** Ids of one page and how many there are in all. `restrict`: adds what is asked of the posts (as `p`), where there is any of it. */
export async function findIndexedIds(
  db: Database,
  stretch: Stretch,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  restrict: (builder: Knex.QueryBuilder) => void,
): Promise<{ ids: number[]; total: number }> {
  const parts = partsOf(stretch).map((part) => () => rowsOf(db, stretch, part, restrict));
  const [ids, total] = await Promise.all([
    pageOf(parts, stretch, limit, offset),
    isCountedByDays(stretch) ? countByDays(db, stretch) : sumOf(parts.map((rows) => countRows(rows()))),
  ]);
  return { ids, total };
}

/**
 * Condition on a venue or organizer `p`: an event names it that the caller may see; undefined where WordPress's tables must be asked. One look into the
 * index for each of them.
 */
export function linkedInIndex(db: Database, condition: Extract<Condition, { by: 'linkedFromAny' }>, query: PostQuery): Sql | undefined {
  const kind = postKind('event').links[condition.key];
  const { all, own } = query.visibleEvents;
  if (!query.indexed || !query.occurrences || !kind || own.length > 0 || query.password !== undefined) return undefined;
  const upcoming = condition.upcomingSince;
  const since = upcoming === undefined ? UNDATED : momentOf(upcoming);
  const hushed = upcoming === undefined ? ['draft', 'pending', 'trash'] : ['trash'];
  const statuses = all.filter((status) => !hushed.includes(status)).map((status) => STATUSES.get(status));
  if (since === undefined || statuses.length === 0 || statuses.includes(undefined)) return undefined;
  // The last of its events decides: a subquery for one value, because EXISTS may be turned into a look through all events, and from the end, because
  // MariaDB would read all that were before. Without a date it is enough that there is one.
  const holds = upcoming === undefined ? `IS ${condition.wanted ? 'NOT ' : ''}NULL` : '>= ?';
  if (upcoming !== undefined && !condition.wanted) return undefined;
  return [
    `(SELECT x.start_at FROM ?? x WHERE x.facet = CAST(p.ID * ${FACETS} + ${facetCode(kind)} AS SIGNED) AND x.locked = 0
      AND x.status IN (${statuses.join()})${upcoming === undefined ? '' : ' AND x.hidden = 0'} ORDER BY x.start_at DESC LIMIT 1) ${holds}`,
    [db.table('fasti_entries'), ...(upcoming === undefined ? [] : [since])],
  ];
}

// ------------------------------------------------------------------------------------------------- what a query asks for
/** Few posts fit these: they are better looked up. */
const SELECTIVE = new Set(['id', 'parent', 'parents', 'slug', 'linkedFrom']);

/** The facet of an event filter for one category, tag, venue or organizer, or for the featured ones. */
function facetIn(condition: Condition): Facet | undefined {
  if (condition.by === 'meta') return condition.key === FEATURED_META && condition.present ? FEATURED : undefined;
  if (condition.by === 'links') {
    const [id, ...more] = condition.ids;
    const kind = postKind('event').links[condition.key];
    return kind && id !== undefined && more.length === 0 ? facetOf(kind, id) : undefined;
  }
  if (condition.by !== 'terms' || condition.wanted === 'none') return undefined;
  // Categories stand for what is below them only where that was added to those asked for.
  const ids = condition.roots ?? (condition.kind === 'tag' ? condition.ids : []);
  return ids.length === 1 ? facetOf(condition.kind, ids[0]!) : undefined;
}

const RANKS = [0, 1, 2, 4, 3, 1];
const facetRank = (facet: Facet) => RANKS[facet % FACETS] ?? 0;

/** Draws the bounds in; false where the moment is none. */
function narrowBounds(
  bounds: { from: number; to: number; endFrom: number; endTo: number },
  { column, op, value }: Extract<Condition, { by: 'moment' }>,
): boolean {
  const moment = momentOf(value);
  if (moment === undefined) return false;
  const [low, high] = column === 'start_date' ? (['from', 'to'] as const) : (['endFrom', 'endTo'] as const);
  if (op === '>=' || op === '>') bounds[low] = Math.max(bounds[low], op === '>' ? moment + 1 : moment);
  else bounds[high] = Math.min(bounds[high], op === '<' ? moment - 1 : moment);
  return true;
}

// ------------------------------------------------------------------------------------------------- pages
interface Part {
  readonly facet: Facet;
  readonly from: number;
  readonly to: number;
}

/**
 * Where to look, in the order of starts. No event ends before it starts, and none but the long ones can reach a bound of ends from more than a month
 * before: so much is looked through for these, and of what lies before only the long ones.
 */
function partsOf({ facet, from, to, endFrom, endTo }: Stretch): Part[] {
  const last = Math.min(to, endTo);
  const near = endFrom > from ? Math.max(from, shortBefore(endFrom)) : from;
  const main = { facet, from: near, to: last };
  return near > from ? [{ facet: longOnes(facet), from, to: Math.min(near - 1, last) }, main] : [main];
}

function rowsOf(
  db: Database,
  stretch: Stretch,
  { facet, from, to }: Part,
  restrict: (builder: Knex.QueryBuilder) => void,
): Knex.QueryBuilder {
  const { endFrom, endTo, statuses, rest } = stretch;
  const rows: Knex.QueryBuilder = db.knex({ x: db.table('fasti_entries') });
  if (statuses === undefined || rest.length > 0) {
    rows.joinRaw(`${db.dialect.joinInOrder} ?? p ON p.ID = x.post_id`, [db.table('posts')]);
    restrict(rows);
  }
  rows.where('x.facet', facet).where('x.start_at', '>=', from).where('x.start_at', '<=', to);
  if (endFrom > from) rows.where('x.end_at', '>=', endFrom);
  if (endTo < LATEST) rows.where('x.end_at', '<=', endTo);
  if (statuses) rows.whereIn('x.status', [...statuses]);
  if (stretch.listedOnly) rows.where('x.hidden', 0);
  if (stretch.openOnly) rows.where('x.locked', 0);
  if (stretch.unfeaturedOnly) rows.where('x.featured', 0);
  return rows;
}

async function pageOf(
  parts: readonly (() => Knex.QueryBuilder)[],
  { descending }: Stretch,
  limit: number,
  offset: number,
): Promise<number[]> {
  const direction = descending ? 'desc' : 'asc';
  const ids: number[] = [];
  let skip = offset;
  for (const [place, part] of (descending ? parts.toReversed() : parts).entries()) {
    if (ids.length >= limit) break;
    const page = part()
      .select('x.post_id as id')
      .limit(limit - ids.length)
      .offset(skip);
    for (const column of ['start_at', 'posted_at', 'post_id']) page.orderBy(`x.${column}`, direction);
    const rows = (await page) as { id: number }[];
    ids.push(...rows.map(({ id }) => Number(id)));
    if (place + 1 < parts.length) skip = rows.length > 0 ? 0 : Math.max(0, skip - (await countRows(part())));
  }
  return ids;
}

const sumOf = async (counts: readonly Promise<number>[]): Promise<number> =>
  (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);

// ------------------------------------------------------------------------------------------------- totals
/** Whether the counts of days are of what this stretch holds. */
const isCountedByDays = ({ facet, statuses, listedOnly, openOnly, unfeaturedOnly, rest }: Stretch): boolean =>
  statuses !== undefined &&
  isCounted(statuses) &&
  rest.length === 0 &&
  listedOnly &&
  !unfeaturedOnly &&
  (facet === ALL ? !openOnly : openOnly);

/**
 * How many events a stretch holds, without counting them one by one: those that start in it, with those that run into it where ends have a lower
 * bound, less those that run beyond the upper one.
 */
async function countByDays(db: Database, stretch: Stretch): Promise<number> {
  const { facet, from, to, endFrom, endTo } = stretch;
  if (endFrom > endTo) return 0;
  const last = Math.min(to, endTo);
  const terms: { readonly sign: '+' | '-'; readonly sql: Sql }[] = [];
  const add = (sign: '+' | '-', pieces: readonly Sql[]) => terms.push(...pieces.map((sql) => ({ sign, sql })));
  add('+', starting(db, facet, Math.max(from, endFrom), last));
  if (endFrom > from) add('+', passing(db, facet, endFrom, from, Math.min(last, endFrom - 1)));
  if (endTo < LATEST) add('-', passing(db, facet, endTo + 1, from, last));
  if (terms.length === 0) return 0;
  const bindings = terms.flatMap(({ sql }) => sql[1]);
  const row = (await db.knex
    .select(db.knex.raw(`0 ${terms.map(({ sign, sql }) => `${sign} ${sql[0]}`).join(' ')} AS total`, bindings))
    .first()) as unknown as { total: number | string };
  return Number(row.total);
}

/** Those that start between two moments: by whole days, and one by one in what is left of the first and the last. */
function starting(db: Database, facet: Facet, from: number, to: number): Sql[] {
  if (from > to) return [];
  const [first, last] = [dayOf(from), dayOf(to)];
  const [wholeFirst, wholeLast] = [from <= Math.max(beginOf(first), UNDATED + 1), to >= endOf(last)];
  if (first === last && !(wholeFirst && wholeLast)) return [scan(db, facet, from, to)];
  return [
    ...(wholeFirst ? [] : [scan(db, facet, from, endOf(first))]),
    [
      'COALESCE((SELECT SUM(c.n) FROM ?? c WHERE c.facet = ? AND c.day >= ? AND c.day <= ?), 0)',
      [db.table('fasti_days'), facet, wholeFirst ? first : first + 1, wholeLast ? last : last - 1],
    ],
    ...(wholeLast ? [] : [scan(db, facet, beginOf(last), to)]),
  ];
}

/** Those that start between two moments, before a third one, and end then or later. At midnight the day before knows their number. */
function passing(db: Database, facet: Facet, moment: number, from: number, to: number): Sql[] {
  if (from > to) return [];
  const near = shortBefore(moment);
  const eve = eveOf(moment);
  if (eve !== undefined && from <= near && to >= endOf(eve)) {
    const running: Sql = [
      'COALESCE((SELECT c.running FROM ?? c WHERE c.facet = ? AND c.day = ?), 0)',
      [db.table('fasti_days'), facet, eve],
    ];
    return [running, scan(db, longOnes(facet), from, to, moment)];
  }
  return [
    scan(db, facet, Math.max(from, near), to, moment),
    ...(from < near ? [scan(db, longOnes(facet), from, Math.min(near - 1, to), moment)] : []),
  ];
}

/** The day whose last second comes right before this moment. */
const eveOf = (moment: number): number | undefined => {
  if (moment - 1 === endOf(dayOf(moment))) return dayOf(moment);
  return moment === beginOf(dayOf(moment)) ? daysAfter(dayOf(moment), -1) : undefined;
};

/** Public events of a facet that start between two moments (and end from a third on), counted one by one. */
function scan(db: Database, facet: Facet, from: number, to: number, endFrom?: number): Sql {
  const headed = facet === ALL || facet === longOnes(ALL) ? '' : ' AND x.locked = 0';
  const ends = endFrom === undefined ? '' : ' AND x.end_at >= ?';
  return [
    `(SELECT COUNT(*) FROM ?? x WHERE x.facet = ? AND x.start_at >= ? AND x.start_at <= ?${ends} AND x.status = 1 AND x.hidden = 0${headed})`,
    [db.table('fasti_entries'), facet, from, to, ...(endFrom === undefined ? [] : [endFrom])],
  ];
}
