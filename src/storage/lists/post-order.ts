import { parseSearch } from '../../wordpress/search.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { placeAmong } from '../engine/expressions.ts';
import { type EventMoment, momentColumn } from '../rows/event-moments.ts';
import { isAboveBase, listsEventsOnce, type PostQuery } from './post-query.ts';
import { openSql } from './post-visibility.ts';
import { relevanceOf } from './relevance.ts';

/** Orders that are the order of a column. */
const COLUMNS = {
  id: [],
  date: ['p.post_date'],
  modified: ['p.post_modified'],
  author: ['p.post_author'],
  parent: ['p.post_parent'],
  place: ['p.menu_order'],
} as const;

/**
 * Returns the order of a list of posts (as `p`) as pieces of SQL. The id breaks all ties, in the same direction
 * (decision D24). In a list that has each event once, grouped by the post, the place of an event is that of its first
 * matching date in this order.
 */
export function orderOf(db: Database, query: PostQuery): Sql[] {
  const direction = query.order.descending ? 'desc' : 'asc';
  const isGrouped = listsEventsOnce(query);
  // Several dates of one event are adjacent.
  const ties = query.recurrence && query.kind.hasDates && !isGrouped ? ['p.ID', 'd.start_date', 'd.end_date'] : ['p.ID'];
  const firstOf = (ofDate: string): string => (isGrouped ? `${query.order.descending ? 'MAX' : 'MIN'}(${ofDate})` : ofDate);
  const byColumns = (...columns: string[]): Sql[] => [...columns, ...ties].map((column): Sql => [`?? ${direction}`, [column]]);
  const amongValues = (column: string, values: readonly (string | number)[] = []): Sql[] => {
    if (values.length === 0) return byColumns();
    return [placeAmong(column, values, direction), ...byColumns()];
  };
  const byMoment = (column: EventMoment['column']): Sql[] => [
    [`${firstOf('??')} ${direction}`, [momentColumn({ column, utc: false }, query)]],
    ...byColumns('p.post_date'),
  ];
  if (query.order.by === 'relevance') {
    const { phrase } = query.order;
    const rank = relevanceOf(db, { phrase, terms: parseSearch(phrase) }, openSql(db, query));
    return [...(rank ? [rank] : []), ...byColumns('p.post_date')];
  }
  const { by } = query.order;
  switch (by) {
    case 'start':
      return byMoment('start_date');
    case 'end':
      return byMoment('end_date');
    case 'slugs':
      return amongValues('p.post_name', query.conditions.find((condition) => condition.by === 'slug')?.slugs);
    case 'menu': {
      // Whether a record is sticky is among the things that a password hides.
      const [open, bindings] = openSql(db, query);
      return [[`CASE WHEN ${open} THEN p.menu_order ELSE 0 END ${direction}`, bindings], ...byColumns()];
    }
    case 'title':
      return [db.dialect.orderFolded('p.post_title', direction), ...byColumns()];
    case 'slug':
      return [db.dialect.orderFolded('p.post_name', direction), ...byColumns()];
    case 'include': {
      const ids = query.conditions.find((condition) => condition.by === 'id')?.ids ?? [];
      if (!isAboveBase(ids, query)) return amongValues('p.ID', ids);
      const [place, bindings] = placeOfRecord(ids, query);
      return [[`${firstOf(place)} ${direction}`, bindings], ...byColumns()];
    }
    // There is no point to measure from.
    case 'distance':
      return byColumns();
    default:
      return byColumns(...COLUMNS[by]);
  }
}

/**
 * Sort expression: the position of a record in these ids. An id of an occurrence matches the occurrence; other ids
 * match the event.
 */
function placeOfRecord(ids: readonly number[], { recurrence }: PostQuery): Sql {
  const base = recurrence?.base ?? Number.POSITIVE_INFINITY;
  const [column, bindings]: [string[], (string | number)[]] = [[], []];
  for (const [index, id] of ids.entries()) {
    column.push(`WHEN ?? = ? THEN ${index}`);
    bindings.push(...(id > base ? ['d.occurrence_id', id - base] : ['p.ID', id]));
  }
  return [`CASE ${column.join(' ')} END`, bindings];
}
