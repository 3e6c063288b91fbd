import { storedDates } from '../../kinds/events/dates.ts';
import { DATES } from '../../kinds/events/metas.ts';
import type { StoredPost } from '../../kinds/kind.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import { updateEdges } from '../../storage/rows/calendar-edges.ts';
import { insertMetas } from '../../storage/rows/posts.ts';
import { loadRecurrences, writeRecurrence } from '../../storage/rows/recurrences.ts';
import { metaOf } from '../../wordpress/rows.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { updateIndex } from '../list-index.ts';
import { areSameDates } from '../occurrences.ts';
import type { WriteContext } from './write-context.ts';

/** Metas in which the calendar's paid extension stores the recurrence of an event. */
const RECURRENCE_METAS = /^_EventRecurrence$|^_EventSequence_|^_tribe_blocks_recurrence_/;

/**
 * Copies the recurrence of an event to a new translation or copy, unless that has a different first date. Call it after
 * the rows of the new event are written.
 */
export async function copyRecurrence(
  { db, caller, kind }: WriteContext,
  source: StoredPost,
  id: number,
  metas: StoredPost['metas'],
): Promise<void> {
  if (!kind.hasDates || !caller.settings.recurrence || !areSameDates(storedDates(source), storedDates({ metas }), caller)) return;
  const recurrence = (await loadRecurrences(db, [source.row.ID])).get(source.row.ID);
  if (!recurrence?.recurs) return;
  const rules = Object.fromEntries([...source.metas].filter(([key]) => RECURRENCE_METAS.test(key)));
  await insertMetas(db, new Map([[id, rules]]));
  const dates = recurrence.dates.map((date) => ({ ...date, id: 0 }));
  const timezone = metaOf(source.metas, DATES.timezone);
  await writeRecurrence(db, id, { ...recurrence, dates }, { updatedAt: utcFromDate(caller.now), timezone, isNewEvent: false });
  await updateEdges(db, id);
  await updateIndex(db, caller, [id]);
}

/** Returns an event whose recurrence is to be copied; undefined if it was deleted in the meantime. */
export async function loadSeries(db: Database, id: number): Promise<StoredPost | undefined> {
  const row = (await loadPosts(db, [id])).get(id);
  return row && { row, metas: (await loadMetas(db, [id])).get(id) ?? new Map() };
}
