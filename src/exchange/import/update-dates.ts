import { eventDates } from '../../calendar/dates.ts';
import { dateMetas, storedDates } from '../../kinds/events/dates.ts';
import { DATES } from '../../kinds/events/metas.ts';
import type { Caller } from '../../records/caller.ts';
import type { Metas } from '../../wordpress/rows.ts';
import { parseZone } from '../../wordpress/zones.ts';
import type { CleanPost } from '../items/clean.ts';
import type { PostItem } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';

/**
 * Returns an imported event with dates in the zone that the event has here, if its source states none: its local times
 * are read in that zone. The dates stay as they are if they are the same moments as in the site's zone, in which times
 * with an offset were read.
 */
export function datesInOwnZone(item: PostItem, clean: CleanPost, before: Metas, { settings, now }: Caller): CleanPost {
  if (item.kind !== 'event' || !item.initial?.includes(DATES.timezone)) return clean;
  const own = storedDates({ metas: before });
  const read = storedDates({ metas: metaMap(clean.metas) });
  if (read.start === '' || read.timezone === own.timezone || parseZone(own.timezone) === null) return clean;
  const isSameMoment = read.startUtc === own.startUtc && read.endUtc === own.endUtc;
  // The local times already take the cutoff into account, also those of all-day events.
  const times = { start: read.start, end: read.end, timezone: own.timezone, allDay: false };
  const converted = eventDates(times, undefined, { siteZone: settings.timezone, cutoff: settings.calendar.cutoff, now });
  // A start that the own zone skips may come after the end; such dates are not stored.
  const dates = isSameMoment || 'problem' in converted ? own : converted;
  const values = new Map(dateMetas(dates));
  return { ...clean, metas: clean.metas.map(([key, value]) => [key, values.get(key) ?? value]) };
}
