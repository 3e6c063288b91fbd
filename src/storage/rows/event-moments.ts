import { DATES } from '../../kinds/events/metas.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';

/**
 * Joins start and end of an event, local and UTC, as columns of `d`; if there are no occurrence rows, as metas `ds`,
 * `de`, `us` and `ue`. Events without dates are not found.
 */
export function joinDates(db: Database, builder: QueryBuilder, post: string, occurrences: boolean): void {
  if (occurrences) {
    builder.joinRaw(`${db.dialect.joinInOrder} ?? d ON d.post_id = ??.ID`, [db.table('tec_occurrences'), post]);
    return;
  }
  for (const [alias, key] of Object.entries(META_DATE_ALIASES)) {
    builder.join({ [alias]: db.table('postmeta') }, (join) => join.on(`${alias}.post_id`, `${post}.ID`).andOnVal(`${alias}.meta_key`, key));
  }
}

/**
 * Starts a query on the dates of all occurrences, aliased as in `joinDates`, with the post of each. The databases read
 * the tables in this order.
 */
export const datesWithPosts = (db: Database, post: string): QueryBuilder =>
  db.from('tec_occurrences', 'd').joinRaw(`${db.dialect.joinInOrder} ?? ?? ON ??.ID = d.post_id`, [db.table('posts'), post, post]);

const META_DATE_ALIASES = { ds: DATES.start, de: DATES.end, us: DATES.startUtc, ue: DATES.endUtc };

/** Start or end of an event, local or in UTC. */
export interface EventMoment {
  readonly column: 'start_date' | 'end_date';
  readonly utc: boolean;
}

/** Returns the column of `joinDates` that holds this moment; `occurrences`: the same value as for `joinDates`. */
export function momentColumn({ column, utc }: EventMoment, { occurrences }: { readonly occurrences: boolean }): string {
  if (occurrences) return `d.${column}${utc ? '_utc' : ''}`;
  return `${utc ? 'u' : 'd'}${column === 'start_date' ? 's' : 'e'}.meta_value`;
}
