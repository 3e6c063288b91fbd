import type { Condition } from '../../kinds/condition.ts';
import { postKind, postKindOfType } from '../../kinds/index.ts';
import { keyText, memoizeByObject } from '../../memo.ts';
import { conditionOf, type QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { createSharedRuns } from '../engine/shared-runs.ts';
import { facetOf } from '../index/event-index-rows.ts';
import { addDependencies, type Dependency, dependingOn } from '../journal/dependencies.ts';
import type { ObjectMemory } from '../journal/object-memory.ts';
import { datesWithPosts, joinDates } from '../rows/event-moments.ts';
import { recurringByRows } from '../rows/recurring-events.ts';
import { countRows, pageWithTotal, totalWith } from '../rows/row-count.ts';
import { findIndexedIds, type Page } from './event-index-list.ts';
import { type IndexRange, indexRangeOf } from './index-range.ts';
import { resolveLinkedConditions } from './linked-records.ts';
import { listDependency, sourcesIn } from './list-dependency.ts';
import { whereCondition, whereLinksTo } from './post-conditions.ts';
import { orderOf } from './post-order.ts';
import { type Distances, listsEventsOnce, matchesFew, type PostQuery, type Recurrence, recordId } from './post-query.ts';
import { whereAttached, whereOpen, whereVisible } from './post-visibility.ts';

/**
 * Returns one page of a list, in order, with a small number of queries for any query. `memory`: cache in which pages
 * are kept as long as they are current; absent for answers to a single caller.
 */
export async function findPostIds(database: Database, requestedQuery: PostQuery, memory?: ObjectMemory): Promise<Page> {
  const isTracked = memory !== undefined || database.tracker !== undefined;
  const sources = isTracked ? sourcesOf(requestedQuery) : undefined;
  if (!sources) return pageOf(database, await resolveLinkedConditions(database, requestedQuery));
  const key = memory ? cacheKeyOf(requestedQuery) : '';
  const cached = memory?.recall(key);
  if (cached) {
    addDependencies(database, cached.dependencies);
    // All values with such a key are pages.
    return cached.value as Page;
  }
  const db = dependingOn(database, sources);
  const query = await resolveLinkedConditions(db, requestedQuery);
  const page = await pageOf(db, query);
  const dependencies = [...sources, listDependency(query, indexRangeOf(query), page.span)];
  addDependencies(database, dependencies);
  memory?.keep(key, { value: page, dependencies });
  return page;
}

/** Cache key of a page. */
const cacheKeyOf = ({ kind, ...rest }: PostQuery): string => `page ${keyText([kind.postType, rest] as const)}`;

async function pageOf(db: Database, query: PostQuery): Promise<Page> {
  const range = indexRangeOf(query);
  if (range) return findIndexedIds(db, range, query, remainingCondition(db, range, query));
  // The reads of a shared run would be tracked only for the request that started it.
  return db.tracker ? pageFromTables(db, query) : runsOn(db)(cacheKeyOf(query), () => pageFromTables(db, query));
}

/** Reading a page from WordPress's tables takes long: concurrent requests for the same page share the next run. */
const runsOn = memoizeByObject((_: Database) => createSharedRuns<Page>());

async function pageFromTables(db: Database, query: PostQuery): Promise<Page> {
  if (query.distances) return pageByDistance(db, query, query.distances);
  const ordered = narrowedPosts(db, query).select('p.ID as id');
  for (const [sql, bindings] of orderOf(db, query)) ordered.orderByRaw(sql, bindings);
  if (query.recurrence?.each === 'occurrence' && query.kind.hasDates) return pageOfDates(db, query, query.recurrence, ordered);
  const { rows, total } = await pageOfRows<{ id: number }>(db, query, listsEventsOnce(query) ? ordered.groupBy('p.ID') : ordered);
  return { ids: rows.map(({ id }) => Number(id)), total, linked: [] };
}

/**
 * Returns the rows of one page, and the total number. `ordered`: query for all matching rows, in the order of the list.
 */
async function pageOfRows<Row>(db: Database, query: PostQuery, ordered: QueryBuilder): Promise<{ rows: Row[]; total: number }> {
  const { limit, offset } = query;
  if (query.conditions.some(isExpensive)) {
    const rows: Row[] = await ordered;
    return { rows: rows.slice(offset, offset + limit), total: rows.length };
  }
  const page = ordered.limit(limit).offset(offset);
  const all = () => countedRows(db, query);
  // MariaDB may ignore the order of groups if a row has the number of all groups.
  if (!startsWithDates(query) || listsEventsOnce(query)) return pageWithTotal(page, offset, all);
  // All dates are read for the page anyway, so the total comes with its rows, if there are any.
  const rows = (await page.select(db.raw('COUNT(*) OVER () AS total'))) as (Row & { total: number | string })[];
  return { rows, total: await totalWith(rows, offset, () => countRows(all())) };
}

/** Returns a query with a row for each record of a list, to be counted. */
function countedRows(db: Database, query: PostQuery): QueryBuilder {
  const posts = narrowedPosts(db, query);
  return listsEventsOnce(query) ? db.query().from(posts.distinct('p.ID').as('e')) : posts;
}

/** Returns the dependencies of a list other than the posts that it lists; undefined: anything. */
function sourcesOf({ kind, attached, conditions }: PostQuery): Dependency[] | undefined {
  if (attached || !postKindOfType(kind.postType)) return undefined;
  const sources = conditions.map(sourcesIn);
  return sources.includes(undefined) ? undefined : sources.flatMap((dependencies) => dependencies ?? []);
}

/** Returns one page of a list in which events may recur, with a record for each occurrence. */
async function pageOfDates(db: Database, query: PostQuery, recurrence: Recurrence, ordered: QueryBuilder): Promise<Page> {
  const { rows, total } = await pageOfRows<Dated>(db, query, ordered.select('d.occurrence_id as occurrence'));
  return { ids: await recordIds(db, rows, recurrence), total, linked: [] };
}

/** A row of a list: a post and one of its dates. */
interface Dated {
  readonly id: number;
  readonly occurrence: number;
}

/** Returns the ids of records. For an event that does not recur, it is the id of the post. */
async function recordIds(db: Database, rows: readonly Dated[], recurrence: Recurrence): Promise<number[]> {
  const recurring = await recurringByRows(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map(({ id, occurrence }) => recordId(Number(id), recurring.has(Number(id)) ? Number(occurrence) : 0, recurrence));
}

/**
 * Whether a condition is expensive to evaluate. If so, all matching rows are read once, instead of once for the page
 * and once for the total.
 */
const isExpensive = ({ by }: Condition): boolean => EXPENSIVE.has(by);

const EXPENSIVE: ReadonlySet<Condition['by']> = new Set(['words', 'terms', 'links', 'linkedMeta', 'placed', 'near', 'ticketed']);

/**
 * Returns one page in the order of distance. The nearest venue of each post is determined here: a database would look
 * up and measure the venues of each post again, which takes ten times as long.
 */
async function pageByDistance(db: Database, query: PostQuery, { link, km }: Distances): Promise<Page> {
  const { limit, offset, order } = query;
  const dates = query.recurrence !== undefined && query.kind.hasDates;
  const rows: (Dated & Span)[] = await narrowedPosts(db, query).select({
    id: 'p.ID',
    ...(dates ? DATE_COLUMNS : {}),
  });
  const postIds = new Set(rows.map(({ id }) => Number(id)));
  const links: { post_id: number; meta_value: string }[] = await db
    .from('postmeta')
    .where('meta_key', link)
    .modify((builder) => void (postIds.size < MAX_LINKS_BY_ID && builder.whereIn('post_id', [...postIds])))
    .select('post_id', 'meta_value');
  const distances = new Map(km);
  const nearest = new Map<number, number>();
  for (const { post_id: id, meta_value: linked } of links) {
    const distance = postIds.has(id) ? distances.get(Number(linked)) : undefined;
    if (distance !== undefined) nearest.set(id, Math.min(distance, nearest.get(id) ?? distance));
  }
  const direction = order.descending ? -1 : 1;
  const ids = [...nearest]
    .sort(([id, distance], [otherId, otherDistance]) => direction * (distance - otherDistance || id - otherId))
    .map(([id]) => id);
  if (query.recurrence?.each !== 'occurrence' || !dates) return { ids: ids.slice(offset, offset + limit), total: ids.length, linked: [] };
  const place = new Map(ids.map((id, at) => [id, at]));
  const sortedRows = rows
    .filter(({ id }) => place.has(Number(id)))
    .sort((a, b) => place.get(Number(a.id))! - place.get(Number(b.id))! || direction * compareDates(a, b));
  return { ids: await recordIds(db, sortedRows.slice(offset, offset + limit), query.recurrence), total: sortedRows.length, linked: [] };
}

interface Span {
  readonly start: string;
  readonly end: string;
}
const DATE_COLUMNS = { occurrence: 'd.occurrence_id', start: 'd.start_date', end: 'd.end_date' };

/** Compares two dates of one event in ascending order, as `orderOf` does. */
function compareDates(one: Span, other: Span): number {
  if (one.start !== other.start) return one.start < other.start ? -1 : 1;
  return one.end === other.end ? 0 : one.end < other.end ? -1 : 1;
}

/** If fewer posts than this match, only their links are read; otherwise all links. */
const MAX_LINKS_BY_ID = 1000;

function narrowedPosts(db: Database, query: PostQuery): QueryBuilder {
  const { kind, visible, attached, conditions } = query;
  const builder = postsIn(db, query).where('p.post_type', kind.postType);
  builder.where((where) => whereVisible(db, where, 'p', visible));
  if (attached) builder.where((where) => whereAttached(db, where, attached));
  for (const condition of conditions) builder.where((where) => whereCondition(db, where, condition, query));
  return builder;
}

/** Starts a query on all posts (as `p`), with the dates of dated ones. */
function postsIn(db: Database, query: PostQuery): QueryBuilder {
  const { kind, occurrences } = query;
  if (startsWithDates(query)) return datesWithPosts(db, 'p');
  const builder: QueryBuilder = db.from('posts', 'p');
  if (kind.hasDates) joinDates(db, builder, 'p', occurrences);
  return builder;
}

/**
 * Whether bounds of dates are the most selective condition. In that case the occurrences are read first: no index of
 * WordPress begins with the dates, and both databases would otherwise look up the dates of all published events, which
 * takes three times as long.
 */
const startsWithDates = ({ kind, occurrences, visible, conditions }: PostQuery): boolean =>
  kind.hasDates &&
  occurrences &&
  visible.all.includes('publish') &&
  conditions.some(({ by }) => by === 'moment') &&
  !conditions.some((condition) => matchesFew(condition) || isIndexed(condition));

/** Whether WordPress's tables have a selective index for a condition. */
const isIndexed = (condition: Condition): boolean =>
  (condition.by === 'terms' && condition.quantifier !== 'none') || (condition.by === 'meta' && condition.isPresent);

/**
 * Condition: the part of the query that the index does not cover, on the events `p` found in it; undefined if the index
 * covers everything.
 */
function remainingCondition(db: Database, { statuses, postConditions }: IndexRange, query: PostQuery): Sql | undefined {
  if (statuses !== undefined && postConditions.length === 0) return undefined;
  const builder: QueryBuilder = db.query();
  if (statuses === undefined) builder.where((where) => whereVisible(db, where, 'p', query.visible));
  for (const condition of postConditions) builder.where((where) => whereIndexed(db, where, condition, query));
  return conditionOf(builder);
}

/**
 * Applies a condition to events found in the index. For links to venues and organizers, the index entries are used,
 * which takes half the time.
 */
function whereIndexed(db: Database, where: QueryBuilder, condition: Condition, query: PostQuery): void {
  const kind = condition.by === 'links' ? postKind('event').links[condition.key] : undefined;
  if (condition.by === 'links' && kind) {
    if (condition.guarded) whereOpen(db, where, query);
    whereLinksTo(db, where, condition, query, (sub, ids) =>
      sub
        .select('y.post_id')
        .from({ y: db.table('fasti_entries') })
        .whereIn(
          'y.facet',
          ids.map((id) => facetOf(kind, id)),
        ),
    );
  } else whereCondition(db, where, condition, query);
}
