import { utcFromDate } from '../../wordpress/time.ts';
import type { Database } from '../engine/database.ts';

/*
 * Rows from the future. They were written while a clock was ahead, or this clock is behind. The clocks of the machines
 * that share a database may differ by days before anybody notices, so only rows from far ahead are taken for faults.
 */

/** Greatest difference between two clocks, in milliseconds, that is not a fault of the one that is ahead: a year. */
const MAX_AHEAD_MS = 366 * 24 * 3600 * 1000;
/** A clock that shows an earlier moment was never set. */
const FIRST_MOMENT = Date.UTC(2026, 0, 1);
/** A moment that no row exceeds. */
const LAST_MOMENT = '9999-12-31 23:59:59';

/** Returns the moment, UTC, after which rows are from a clock that was wrong. If this one is wrong, there is none. */
export const latestPossible = (now: Date): string =>
  now.getTime() < FIRST_MOMENT ? LAST_MOMENT : utcFromDate(new Date(now.getTime() + MAX_AHEAD_MS));

/**
 * Does the same for removals. If the last change of the site is as far ahead, this clock is wrong, and would remove
 * what others are writing: no row is too late then.
 */
export async function latestKept(db: Database, now: Date): Promise<string> {
  const limit = latestPossible(now);
  const later = await db.rows<object>`SELECT id FROM {fasti_changes} WHERE id = 1 AND changed_at > ${limit}`;
  return later.length > 0 ? LAST_MOMENT : limit;
}
