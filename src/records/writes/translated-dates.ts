import { storedDates } from '../../kinds/events/dates.ts';
import { DATES, RECURRENCE_METAS } from '../../kinds/events/metas.ts';
import type { StoredPost } from '../../kinds/kind.ts';
import { loadMetasOf } from '../../storage/rows/bundle.ts';
import { updateEdges } from '../../storage/rows/calendar-edges.ts';
import { insertMetas, lockPost } from '../../storage/rows/posts.ts';
import { loadRecurrences, writeRecurrence } from '../../storage/rows/recurrences.ts';
import { metaOf } from '../../wordpress/rows.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { updateIndex } from '../list-index.ts';
import { areSameDates } from '../occurrences.ts';
import type { WriteContext } from './write-context.ts';

/**
 * Copies the recurrence of an event to a new translation or copy, unless that has a different first date or the event
 * was deleted in the meantime. Call it after the rows of the new event are written.
 */
export async function copyRecurrence(
  { db, caller, kind }: WriteContext,
  source: number,
  id: number,
  metas: StoredPost['metas'],
): Promise<void> {
  if (!kind.hasDates || !caller.settings.recurrence || !(await loadRecurrences(db, [source])).get(source)?.recurs) return;
  // Rules and dates are in different rows. Another request that changes them holds this lock until all are written.
  if (!(await lockPost(db, source))) return;
  const sourceMetas = await loadMetasOf(db, source);
  const recurrence = (await loadRecurrences(db, [source])).get(source);
  if (!recurrence?.recurs || !areSameDates(storedDates({ metas: sourceMetas }), storedDates({ metas }), caller)) return;
  const rules = Object.fromEntries([...sourceMetas].filter(([key]) => RECURRENCE_METAS.test(key)));
  await insertMetas(db, new Map([[id, rules]]));
  const dates = recurrence.dates.map((date) => ({ ...date, id: 0 }));
  const timezone = metaOf(sourceMetas, DATES.timezone);
  await writeRecurrence(db, id, { ...recurrence, dates }, { updatedAt: utcFromDate(caller.now), timezone, isNewEvent: false });
  await updateEdges(db, id);
  await updateIndex(db, caller, [id]);
}
