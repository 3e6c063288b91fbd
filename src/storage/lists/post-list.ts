import type { Condition } from '../../kinds/condition.ts';
import { postKind, postKindOfType, postTypes } from '../../kinds/index.ts';
import { memoizeByObject } from '../../memo.ts';
import { conditionOf, type QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { createSharedRuns } from '../engine/shared-runs.ts';
import { facetOf } from '../index/event-index-rows.ts';
import { addDependencies, allPosts, allTerms, type Dependency, dependingOn } from '../journal/dependencies.ts';
import type { ObjectMemory } from '../journal/object-memory.ts';
import { datesWithPosts, joinDates } from '../rows/event-moments.ts';
import { recurringEvents } from '../rows/recurring-events.ts';
import { countRows, totalWith } from '../rows/row-count.ts';
import { findIndexedIds, type Page } from './event-index-list.ts';
import { type IndexRange, indexRangeOf } from './index-range.ts';
import { withLinksFound } from './linked-records.ts';
import { linksDependency, listDependency } from './list-dependency.ts';
import { whereCondition } from './post-conditions.ts';
import { orderOf } from './post-order.ts';
import { type Distances, fitsFew, type PostQuery, type Recurrence, recordId } from './post-query.ts';
import { whereAttached, whereOpen, whereVisible } from './post-visibility.ts';

/**
 * One page of a list, in order. A small number of queries, whatever is asked. `memory`: where pages are kept as long as
 * they are right; absent for answers to one caller.
 */
export async function findPostIds(database: Database, asked: PostQuery, memory?: ObjectMemory): Promise<Page> {
  const sources = sourcesOf(asked);
  if (!sources) return pageOf(database, await withLinksFound(database, asked));
  const key = memory ? keyOf(asked) : '';
  const known = memory?.recall(key);
  if (known) {
    addDependencies(database, known.dependencies);
    // Only pages are kept under such a key.
    return known.value as Page;
  }
  const db = dependingOn(database, sources);
  const query = await withLinksFound(db, asked);
  const page = await pageOf(db, query);
  const dependencies = [...sources, listDependency(query, indexRangeOf(query), page.span)];
  addDependencies(database, dependencies);
  memory?.keep(key, { value: page, dependencies });
  return page;
}

/** What tells a page from others. */
const keyOf = ({ kind, ...asked }: PostQuery): string => `page ${JSON.stringify([kind.postType, asked])}`;

async function pageOf(db: Database, query: PostQuery): Promise<Page> {
  const range = indexRangeOf(query);
  if (range) return findIndexedIds(db, range, query, restOf(db, range, query));
  // What the query of another request reads is noted there.
  return db.tracker ? pageFromTables(db, query) : runsOn(db)(keyOf(query), () => pageFromTables(db, query));
}

/** Pages that are read from WordPress's tables take long: who asks for the same one meanwhile shares the next run. */
const runsOn = memoizeByObject((_: Database) => createSharedRuns<Page>());

async function pageFromTables(db: Database, query: PostQuery): Promise<Page> {
  if (query.distances) return nearestOf(db, query, query.distances);
  const ordered = narrowedPosts(db, query).select('p.ID as id');
  for (const [sql, bindings] of orderOf(db, query)) ordered.orderByRaw(sql, bindings);
  if (query.recurrence && query.kind.dated)
    return recurringPage(db, query, query.recurrence, ordered.select('d.occurrence_id as occurrence'));
  const { rows, total } = await pageOfRows<{ id: number }>(db, query, ordered);
  return { ids: rows.map(({ id }) => Number(id)), total, linked: [] };
}

/** The rows of one page, and how many fit in all. `ordered`: everything that fits, in the order of the list. */
async function pageOfRows<Row>(db: Database, query: PostQuery, ordered: QueryBuilder): Promise<{ rows: Row[]; total: number }> {
  const { limit, offset } = query;
  if (query.conditions.some(takesLong)) {
    const rows: Row[] = await ordered;
    return { rows: rows.slice(offset, offset + limit), total: rows.length };
  }
  const page = ordered.limit(limit).offset(offset);
  if (!isLedByDates(query)) {
    const [rows, total] = await Promise.all([page, countRows(narrowedPosts(db, query))]);
    return { rows, total };
  }
  // All dates are gone through for the page anyway: its rows bring the total with them, where it has any.
  const rows = (await page.select(db.raw('COUNT(*) OVER () AS total'))) as (Row & { total: number | string })[];
  return { rows, total: await totalWith(rows, offset, () => countRows(narrowedPosts(db, query))) };
}

/** What a list depends on besides the posts that it lists; undefined: it may be anything. */
function sourcesOf({ kind, attached, conditions }: PostQuery): Dependency[] | undefined {
  if (attached || !postKindOfType(kind.postType)) return undefined;
  const dependencies: Dependency[] = [];
  for (const condition of conditions) {
    const beyond = BEYOND[condition.by];
    if (beyond === 'anything') return undefined;
    if (beyond === 'posts') dependencies.push(...postTypes.map(allPosts));
    if (condition.by === 'terms') dependencies.push(allTerms(condition.taxonomy));
    if (condition.by === 'linkedFrom') dependencies.push(condition.event);
    if (condition.by === 'linkedFromAny')
      dependencies.push(...(condition.within ? postTypes.map(allPosts) : [linksDependency(postKind('event').postType, condition.key)]));
  }
  return dependencies;
}

/**
 * What conditions depend on besides the posts of the list: terms, links of events, any posts, or anything at all. What
 * they depend on of these posts themselves is in `list-dependency.ts`.
 */
const BEYOND: Readonly<Record<Condition['by'], 'nothing' | 'links' | 'posts' | 'terms' | 'anything'>> = {
  id: 'nothing',
  notId: 'nothing',
  author: 'nothing',
  notAuthor: 'nothing',
  parents: 'nothing',
  notParents: 'nothing',
  slug: 'nothing',
  parent: 'nothing',
  place: 'nothing',
  moment: 'nothing',
  modified: 'nothing',
  published: 'nothing',
  mime: 'nothing',
  words: 'nothing',
  meta: 'nothing',
  metaIs: 'nothing',
  metaValue: 'nothing',
  terms: 'terms',
  format: 'anything',
  either: 'anything',
  links: 'nothing',
  linkedFrom: 'links',
  linkedFromAny: 'links',
  linkedMeta: 'posts',
  placed: 'posts',
  near: 'posts',
  ticketed: 'anything',
  language: 'nothing',
};

/** One page of a list in which events may recur: a record for each occurrence, or for each event. */
async function recurringPage(db: Database, query: PostQuery, recurrence: Recurrence, ordered: QueryBuilder): Promise<Page> {
  if (recurrence.each === 'event') {
    const rows: Dated[] = await ordered;
    const ids = [...new Set(rows.map(({ id }) => Number(id)))];
    return { ids: ids.slice(query.offset, query.offset + query.limit), total: ids.length, linked: [] };
  }
  const { rows, total } = await pageOfRows<Dated>(db, query, ordered);
  return { ids: await recordIds(db, rows, recurrence), total, linked: [] };
}

/** A row of a list: a post and one of its dates. */
interface Dated {
  readonly id: number;
  readonly occurrence: number;
}

/** The ids of records. Of an event that takes place once it is the id of the post. */
async function recordIds(db: Database, rows: readonly Dated[], recurrence: Recurrence): Promise<number[]> {
  const recurring = await recurringEvents(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map(({ id, occurrence }) => recordId(Number(id), recurring.has(Number(id)) ? Number(occurrence) : 0, recurrence));
}

/**
 * Whether a condition takes long to look at: then all that fits is found once, instead of once for the page and once
 * more for the total.
 */
const takesLong = ({ by }: Condition): boolean => LONG.has(by);

const LONG: ReadonlySet<Condition['by']> = new Set(['words', 'terms', 'links', 'linkedMeta', 'placed', 'near', 'ticketed']);

/**
 * One page in the order of distance. Which of its places is the nearest is found here: databases would look up and
 * measure the places of each post again, which takes ten times as long.
 */
async function nearestOf(db: Database, query: PostQuery, { link, km }: Distances): Promise<Page> {
  const { limit, offset, order } = query;
  const dates = query.recurrence !== undefined && query.kind.dated;
  const rows: (Dated & { readonly start: string })[] = await narrowedPosts(db, query).select({ id: 'p.ID', ...(dates ? DATED : {}) });
  const found = new Set(rows.map(({ id }) => Number(id)));
  const links: { post_id: number; meta_value: string }[] = await db
    .from('postmeta')
    .where('meta_key', link)
    .modify((builder) => void (found.size < FEW_FOUND && builder.whereIn('post_id', [...found])))
    .select('post_id', 'meta_value');
  const nearest = new Map<number, number>();
  for (const { post_id: id, meta_value: linked } of links) {
    const away = found.has(id) ? km.get(Number(linked)) : undefined;
    if (away !== undefined) nearest.set(id, Math.min(away, nearest.get(id) ?? away));
  }
  const direction = order.descending ? -1 : 1;
  const ids = [...nearest].sort(([id, away], [otherId, other]) => direction * (away - other || id - otherId)).map(([id]) => id);
  if (query.recurrence?.each !== 'occurrence' || !dates) return { ids: ids.slice(offset, offset + limit), total: ids.length, linked: [] };
  const place = new Map(ids.map((id, at) => [id, at]));
  const near = rows
    .filter(({ id }) => place.has(Number(id)))
    .sort((a, b) => place.get(Number(a.id))! - place.get(Number(b.id))! || direction * (a.start < b.start ? -1 : 1));
  return { ids: await recordIds(db, near.slice(offset, offset + limit), query.recurrence), total: near.length, linked: [] };
}

const DATED = { occurrence: 'd.occurrence_id', start: 'd.start_date' };

/** The links of so few posts are looked up one by one; of more, all links are read. */
const FEW_FOUND = 1000;

function narrowedPosts(db: Database, query: PostQuery): QueryBuilder {
  const { kind, visible, attached, conditions } = query;
  const builder = postsIn(db, query).where('p.post_type', kind.postType);
  builder.where((where) => whereVisible(db, where, 'p', visible));
  if (attached) builder.where((where) => whereAttached(db, where, attached));
  for (const condition of conditions) builder.where((where) => whereCondition(db, where, condition, query));
  return builder;
}

/** All posts (as `p`), dated ones with their dates. */
function postsIn(db: Database, query: PostQuery): QueryBuilder {
  const { kind, occurrences } = query;
  if (isLedByDates(query)) return datesWithPosts(db, 'p');
  const builder: QueryBuilder = db.from('posts', 'p');
  if (kind.dated) joinDates(db, builder, 'p', occurrences);
  return builder;
}

/**
 * Whether bounds of dates are what leaves most events out. Then the occurrences are gone through first: no index of
 * WordPress's has the dates in front, and left to themselves both databases look up the dates of everything published,
 * which takes three times as long.
 */
const isLedByDates = ({ kind, occurrences, visible, conditions }: PostQuery): boolean =>
  kind.dated &&
  occurrences &&
  visible.all.includes('publish') &&
  conditions.some(({ by }) => by === 'moment') &&
  !conditions.some((condition) => fitsFew(condition) || isIndexed(condition));

/** Whether WordPress's tables have an index that leads to what fits a condition, and to little else. */
const isIndexed = (condition: Condition): boolean =>
  (condition.by === 'terms' && condition.wanted !== 'none') || (condition.by === 'meta' && condition.present);

/** Condition: what the index does not know of the events `p` it found; undefined where it knows everything. */
function restOf(db: Database, { statuses, rest }: IndexRange, query: PostQuery): Sql | undefined {
  if (statuses !== undefined && rest.length === 0) return undefined;
  const builder: QueryBuilder = db.query();
  if (statuses === undefined) builder.where((where) => whereVisible(db, where, 'p', query.visible));
  for (const condition of rest) builder.where((where) => whereIndexed(db, where, condition, query));
  return conditionOf(builder);
}

/** A condition on events of the index: to which venues and organizers they link, their entries say in half the time. */
function whereIndexed(db: Database, where: QueryBuilder, condition: Condition, query: PostQuery): void {
  const kind = condition.by === 'links' ? postKind('event').links[condition.key] : undefined;
  if (condition.by === 'links' && kind) {
    if (condition.guarded) whereOpen(db, where, query);
    where[condition.none ? 'whereNotIn' : 'whereIn']('p.ID', (sub: QueryBuilder) =>
      sub
        .select('y.post_id')
        .from({ y: db.table('fasti_entries') })
        .whereIn(
          'y.facet',
          condition.ids.map((id) => facetOf(kind, id)),
        ),
    );
  } else whereCondition(db, where, condition, query);
}
