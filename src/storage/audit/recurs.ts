import { hasRules } from '../../kinds/events/occurrence.ts';
import type { Metas } from '../../wordpress/rows.ts';
import type { TecEventRow, TecOccurrenceRow } from '../engine/tables.ts';

type Row = Pick<TecOccurrenceRow, 'start_date_utc' | 'end_date_utc' | 'has_recurrence'>;

/** Whether a row is marked as a date of a recurring event. */
export const isMarked = ({ has_recurrence: flag }: Pick<Row, 'has_recurrence'>): boolean => Number(flag ?? 0) === 1;

/**
 * Returns whether an event recurs, even if its rows are damaged: it has a rule, or several dates that are marked or
 * follow from the rules in its meta. Identical rows are one date. Lists, in contrast, take every event with several
 * rows for a recurring one.
 */
export function recursBy({ rset }: Pick<TecEventRow, 'rset'>, rows: readonly Row[], metas: Metas | undefined): boolean {
  if (rset) return true;
  const times = new Set(rows.map((row) => `${row.start_date_utc} ${row.end_date_utc}`));
  return times.size > 1 && (rows.some(isMarked) || hasRules(metas));
}
