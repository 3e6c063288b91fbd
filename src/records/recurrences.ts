import { type RecurringDates, recurringDates } from '../calendar/recurring-dates.ts';
import { DATES } from '../kinds/events/metas.ts';
import { renderRecurrence } from '../kinds/events/recurrence.ts';
import type { EventRecord } from '../kinds/events/shape.ts';
import type { Site } from '../site.ts';
import { loadRecurrences, loadSeries } from '../storage/rows/recurrences.ts';
import { type Metas, metaOf } from '../wordpress/rows.ts';
import { parseZone } from '../wordpress/zones.ts';
import { mapYielding } from '../yielding.ts';
import type { Caller } from './caller.ts';

/*
 * Rules of recurring events. Changes of their tables are not tracked, so answers made from them are not cached.
 */

/** Loads the member `recurrence` of an event, given the id and the metas of its post; null if it does not recur. */
export async function loadRecurrence(
  { db }: Site,
  { settings }: Caller,
  post: number,
  metas: Metas | undefined,
): Promise<EventRecord['recurrence']> {
  const { recurrence, zone } = settings;
  const storedRecurrence = recurrence && (await loadRecurrences(db, [post])).get(post);
  if (!recurrence || !storedRecurrence?.recurs) return null;
  const series = recurrence.series ? (await loadSeries(db, [post])).get(post) : undefined;
  return renderRecurrence(post, recurringDates(storedRecurrence, parseZone(metaOf(metas, DATES.timezone) ?? '') ?? zone), series);
}

/** Returns all dates of the recurring ones among these events, by post id. */
export async function datesOfEvents(
  { db }: Pick<Site, 'db'>,
  { settings }: Caller,
  events: readonly Pick<EventRecord, 'id' | 'timezone'>[],
): Promise<Map<number, RecurringDates>> {
  if (!settings.recurrence) return new Map();
  const recurrences = await loadRecurrences(
    db,
    events.map(({ id }) => id),
  );
  const dates = await mapYielding(events, ({ id, timezone }) => {
    const recurrence = recurrences.get(id);
    return recurrence?.recurs ? [[id, recurringDates(recurrence, parseZone(timezone) ?? settings.zone)] as const] : [];
  });
  return new Map(dates.flat());
}
