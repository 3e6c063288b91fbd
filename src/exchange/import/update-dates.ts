import { eventDates } from '../../calendar/dates.ts';
import { dateMetas, storedDates } from '../../kinds/events/dates.ts';
import { DATES } from '../../kinds/events/metas.ts';
import type { Caller } from '../../records/caller.ts';
import type { Metas } from '../../wordpress/rows.ts';
import { parseZone, toLocal } from '../../wordpress/zones.ts';
import type { CleanPost } from '../items/clean.ts';
import { type PostItem, withTexts } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';

/**
 * Returns an imported event with dates in the zone that the event has here, if its source states none: its local times
 * are read in that zone, and its moments, which were read in the site's zone, are converted to it.
 */
export function datesInOwnZone(item: PostItem, clean: CleanPost, before: Metas, { settings, now }: Caller): CleanPost {
  if (item.kind !== 'event' || !item.initial?.includes(DATES.timezone)) return clean;
  const own = storedDates({ metas: before });
  const read = storedDates({ metas: metaMap(clean.metas) });
  const zone = parseZone(own.timezone);
  if (read.start === '' || read.timezone === own.timezone || zone === null) return clean;
  const isMoment = item.statesMoments && !read.allDay;
  const isSameMoment = isMoment && read.startUtc === own.startUtc && read.endUtc === own.endUtc;
  const local = isMoment ? { start: toLocal(read.startUtc, zone), end: toLocal(read.endUtc, zone) } : { start: read.start, end: read.end };
  // The local times already take the cutoff into account, also those of all-day events.
  const times = { ...local, timezone: own.timezone, allDay: false };
  // The clock may show the local times twice.
  const kept = isMoment ? { ...own, ...times, startUtc: read.startUtc, endUtc: read.endUtc } : undefined;
  const converted = eventDates(times, kept, { siteZone: settings.timezone, cutoff: settings.calendar.cutoff, now });
  // A start that the own zone skips may come after the end; such dates are not stored.
  const dates = isSameMoment || 'problem' in converted ? own : converted;
  const values = new Map(dateMetas(dates));
  return { ...clean, metas: withTexts(clean.metas, values) };
}
