import { type RecurringDates, recurringDates } from '../calendar/recurring-dates.ts';
import { DATES } from '../kinds/events/metas.ts';
import { renderRecurrence } from '../kinds/events/recurrence.ts';
import type { EventRecord } from '../kinds/events/shape.ts';
import type { Site } from '../site.ts';
import { loadRecurrences, loadSeries } from '../storage/rows/recurrences.ts';
import { recurringByRuleOrRows } from '../storage/rows/recurring-events.ts';
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

/**
 * Returns all dates of the recurring ones among these events, by post id. `limit`: the number of recurring events after
 * which others are left out.
 */
export async function datesOfEvents(
  { db }: Pick<Site, 'db'>,
  { settings }: Pick<Caller, 'settings'>,
  events: readonly Pick<EventRecord, 'id' | 'timezone'>[],
  limit = Number.POSITIVE_INFINITY,
): Promise<Map<number, RecurringDates>> {
  if (!settings.recurrence) return new Map();
  const ids = new Set(events.map(({ id }) => id));
  const usedIds = ids.size > limit ? await firstRecurring(db, [...ids], limit) : ids;
  const recurrences = await loadRecurrences(db, [...usedIds]);
  const usedEvents = events.filter(({ id }) => usedIds.has(id));
  const dates = await mapYielding(usedEvents, ({ id, timezone }) => {
    const recurrence = recurrences.get(id);
    return recurrence?.recurs ? [[id, recurringDates(recurrence, parseZone(timezone) ?? settings.zone)] as const] : [];
  });
  return new Map(dates.flat());
}

async function firstRecurring(db: Site['db'], ids: readonly number[], limit: number): Promise<Set<number>> {
  const recurring = await recurringByRuleOrRows(db, ids);
  return new Set(ids.filter((id) => recurring.has(id)).slice(0, limit));
}
