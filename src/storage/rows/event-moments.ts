import { DATES } from '../../kinds/events/metas.ts';
import { diffSeconds } from '../../wordpress/time.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import type { TecOccurrenceRow } from '../engine/tables.ts';

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

/**
 * Returns the local end of an event for rows of the list index, which must not be before the start. An event that ends
 * in an hour which its zone repeats, when daylight saving time ends, may end before it starts by the local clock: from
 * 01:30 to 01:15, 45 minutes later. Its start is taken for its end. Lists from the tables compare the end itself, so
 * for bounds between the two they may differ. The dates in UTC show that it is such an event, and not one whose dates
 * are wrong.
 */
export const listedEnd = (row: Pick<TecOccurrenceRow, 'start_date' | 'end_date' | 'start_date_utc' | 'end_date_utc'>): string =>
  endsInRepeatedHour(row) ? row.start_date : row.end_date;

const endsInRepeatedHour = (row: Parameters<typeof listedEnd>[0]): boolean =>
  row.end_date < row.start_date && row.end_date_utc >= row.start_date_utc && diffSeconds(row.end_date, row.start_date) < DAY_S;

const DAY_S = 86_400;
