import { eventDates } from '../../calendar/dates.ts';
import { storedDates } from '../../kinds/event-dates.ts';
import { DATES } from '../../kinds/event-metas.ts';
import { hasRules } from '../../kinds/occurrence.ts';
import type { Caller } from '../../records/caller.ts';
import type { HtmlTrust } from '../../records/post-rows.ts';
import { diffSeconds } from '../../wordpress/time.ts';
import { type CleanPost, cleanPost } from '../items/clean.ts';
import type { PostItem } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';

/**
 * An item as the tables can hold it: columns and metas, events with all of their dates.
 */
export function storedPost(item: PostItem, trust: HtmlTrust, caller: Caller): CleanPost {
  const clean = cleanPost(item, trust);
  if (item.kind !== 'event') return clean;
  const { metas, mended } = withDuration(withDates(clean.metas, caller));
  const losses = [
    // In the old form of recurrence each date is a post, which comes by itself.
    ...(!item.recurrence?.recurs && !item.parent && hasRules(metaMap(metas)) ? [{ reason: 'recurrence', detail: '' }] : []),
    ...(mended === undefined ? [] : [{ reason: 'duration-mended', detail: mended }]),
  ];
  return { ...clean, metas, losses: [...clean.losses, ...losses] };
}

/** The start of an event, as it is stored; empty of one without. */
export const startOf = ({ metas }: Pick<CleanPost, 'metas'>): string => metas.find(([key]) => key === DATES.start)?.[1] ?? '';

/** Old events know neither zone nor UTC: both follow from the clock on the wall and the zone of the site. */
function withDates(metas: CleanPost['metas'], { settings, now }: Caller): CleanPost['metas'] {
  const given = new Map(metas);
  const [start, end] = [given.get(DATES.start), given.get(DATES.end)];
  if (!start || !end || (given.get(DATES.startUtc) && given.get(DATES.endUtc) && given.get(DATES.timezone))) return metas;
  const allDay = /^(yes|1|true)$/i.test(given.get(DATES.allDay) ?? '');
  const dates = eventDates({ start, end, timezone: given.get(DATES.timezone) || undefined, allDay }, undefined, {
    siteZone: settings.timezone,
    cutoff: settings.calendar.cutoff,
    now,
  });
  if ('problem' in dates) return metas;
  const missing: [string, string][] = [
    [DATES.startUtc, dates.startUtc],
    [DATES.endUtc, dates.endUtc],
    [DATES.timezone, dates.timezone],
    [DATES.abbreviation, dates.abbreviation],
    ...(dates.duration === null ? [] : [[DATES.duration, String(dates.duration)] as [string, string]]),
  ];
  const added = missing.filter(([key]) => !given.get(key));
  return [...metas.filter(([key]) => !added.some(([name]) => name === key)), ...added];
}

/** A duration that start and end contradict follows from them: with it, no list would show the event. */
function withDuration(metas: CleanPost['metas']): { metas: CleanPost['metas']; mended?: string } {
  const { startUtc, endUtc, allDay, duration } = storedDates({ metas: metaMap(metas) });
  const length = diffSeconds(startUtc, endUtc);
  if (allDay || duration === null || !(length >= 0) || (duration >= 0 && duration <= length)) return { metas };
  return {
    metas: metas.map(([key, value]) => (key === DATES.duration ? [key, String(length)] : [key, value])),
    mended: `${duration} -> ${length}`,
  };
}
