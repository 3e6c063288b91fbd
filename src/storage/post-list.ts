import type { Knex } from 'knex';
import type { Condition } from '../kinds/kind.ts';
import type { Database } from './database.ts';
import type { Sql } from './dialect.ts';
import { findIndexedIds, type Page, type Stretch, stretchOf } from './event-index-list.ts';
import { datesWithPosts, joinDates } from './event-moments.ts';
import { withLinksFound } from './linked-records.ts';
import { whereCondition } from './post-conditions.ts';
import { orderOf } from './post-order.ts';
import { fitsFew, type PostQuery } from './post-query.ts';
import { whereAttached, whereVisible } from './post-visibility.ts';
import { countRows } from './row-count.ts';

/** One page of a list, in order. A small number of queries, whatever is asked. */
export async function findPostIds(db: Database, asked: PostQuery): Promise<Page> {
  const query = await withLinksFound(db, asked);
  const stretch = stretchOf(query);
  if (stretch) return findIndexedIds(db, stretch, query, restOf(db, stretch, query));
  const filtered = () => narrowed(db, query);
  const page = filtered().select('p.ID as id').limit(query.limit).offset(query.offset);
  for (const [sql, bindings] of orderOf(db, query)) page.orderByRaw(sql, bindings);
  const [rows, total] = await Promise.all([page, countRows(filtered())]);
  return { ids: (rows as { id: number }[]).map(({ id }) => Number(id)), total, linked: [] };
}

function narrowed(db: Database, query: PostQuery): Knex.QueryBuilder {
  const { kind, visible, attached, conditions } = query;
  const builder = postsIn(db, query).where('p.post_type', kind.postType);
  builder.where((where) => whereVisible(db, where, 'p', visible));
  if (attached) builder.where((where) => whereAttached(db, where, attached));
  for (const condition of conditions) builder.where((where) => whereCondition(db, where, condition, query));
  return builder;
}

/** All posts (as `p`), dated ones with their dates. */
function postsIn(db: Database, query: PostQuery): Knex.QueryBuilder {
  const { kind, occurrences } = query;
  if (kind.dated && occurrences && isLedByDates(query)) return datesWithPosts(db, 'p');
  const builder: Knex.QueryBuilder = db.knex({ p: db.table('posts') });
  if (kind.dated) joinDates(db, builder, 'p', occurrences);
  return builder;
}

/**
 * Whether bounds of dates are what leaves most events out. Then the occurrences are gone through first: no index of WordPress's has the dates in front, and
 * left to themselves both databases look up the dates of everything published, which takes three times as long.
 */
const isLedByDates = ({ visible, conditions }: PostQuery): boolean =>
  visible.all.includes('publish') &&
  conditions.some(({ by }) => by === 'moment') &&
  !conditions.some((condition) => fitsFew(condition) || isIndexed(condition));

/** Whether WordPress's tables have an index that leads to what fits a condition, and to little else. */
const isIndexed = (condition: Condition): boolean =>
  (condition.by === 'terms' && condition.wanted !== 'none') || (condition.by === 'meta' && condition.present);

/** Condition: what the index does not know of the events `p` it found; undefined where it knows everything. */
function restOf(db: Database, { statuses, rest }: Stretch, query: PostQuery): Sql | undefined {
  if (statuses !== undefined && rest.length === 0) return undefined;
  const builder: Knex.QueryBuilder = db.knex.queryBuilder();
  if (statuses === undefined) builder.where((where) => whereVisible(db, where, 'p', query.visible));
  for (const condition of rest) builder.where((where) => whereCondition(db, where, condition, query));
  const { sql, bindings } = builder.toSQL();
  return [sql.slice('select * where '.length), [...bindings]];
}
