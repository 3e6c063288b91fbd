import { type CustomField, isCustomMeta } from '../../calendar/custom-fields.ts';
import { eventDates } from '../../calendar/dates.ts';
import type { SiteSettings } from '../../calendar/settings.ts';
import { dateMetas } from '../../kinds/events/dates.ts';
import { EVENT } from '../../kinds/events/fields.ts';
import { CALENDAR_UID, CANCELED, DATES, EVENT_ORIGIN, ORGANIZER_LINK, STATE, VENUE_LINK } from '../../kinds/events/metas.ts';
import { VENUE } from '../../kinds/venue.ts';
import { specialChars } from '../../wordpress/content/entities.ts';
import { textFromUnix } from '../../wordpress/time.ts';
import { localFromUnix } from '../../wordpress/zones.ts';
import { filteredMetas } from '../items/clean.ts';
import { contentOf } from '../items/content.ts';
import { customRows } from '../items/custom-rows.ts';
import { type Entry, isItem, isPostItem, type PostItem, textMetas, withTermLanguage } from '../items/items.ts';
import { languageOfTag } from '../items/language-of-tag.ts';
import { asWholeRecord } from '../items/report.ts';
import { unambiguousZone } from '../items/unambiguous-zone.ts';
import type { CalendarEvent, Moment } from './event.ts';
import type { createLinkedItems } from './linked-items.ts';
import { lossAt } from './losses.ts';
import type { Span } from './spans.ts';

/*
 * The items of one event of a calendar.
 */

/** The context in which events of a calendar become items. */
export interface ItemContext {
  /** Name of the file in errors and reports. */
  readonly file: string;
  readonly settings: Pick<SiteSettings, 'zone' | 'timezone' | 'calendar'> & Partial<Pick<SiteSettings, 'contentLanguages'>>;
  readonly now: Date;
  /** The venues, organizers and images that events name. */
  readonly places: ReturnType<typeof createLinkedItems>;
}

export type ItemName = Pick<PostItem, 'sourceId' | 'narrowerId'>;

/**
 * Yields the item of an event, preceded by its venue, organizers and image if they are new. Returns whether its dates
 * can be stored; if not, it only yields a loss.
 */
export function* itemsOf(event: CalendarEvent, span: Span, name: ItemName, context: ItemContext): Generator<Entry, boolean> {
  const { file, settings, now, places } = context;
  const local = localTimesOf(span);
  const dates = eventDates(local, undefined, { siteZone: settings.timezone, cutoff: settings.calendar.cutoff, now });
  if ('problem' in dates) {
    yield asWholeRecord(lossAt(context, 'dates-not-storable', event, `${local.start} - ${local.end}`), name.sourceId);
    return false;
  }
  if (span.isReversed) yield lossAt(context, 'end-before-start', event, `${local.start} - ${local.end}`);
  const customFields = customOf(event, settings.calendar.customFields);
  for (const name of customFields.refused) yield lossAt(context, 'value-refused', event, name);
  const { items, links, website } = places.of(event);
  yield* items.map(withInitialValues);
  const url = /^https?:\/\//i.test(event.url) ? event.url : website;
  const texts: (readonly [string, string])[] = [
    ...dateMetas(dates),
    ...(dates.allDay ? [[DATES.allDay, '1'] as const] : []),
    [EVENT.website, url],
    [EVENT.show_map, '1'],
    [EVENT.show_map_link, '1'],
    [EVENT_ORIGIN, 'ical'],
    [CALENDAR_UID, event.uid],
    ...(event.status === 'CANCELLED' ? [[STATE, CANCELED] as const] : []),
  ];
  const language = languageOfTag(settings.contentLanguages, event.language);
  const item: PostItem = {
    kind: 'event',
    ...name,
    ...(language === undefined ? {} : { language }),
    place: `${file}:${event.line}`,
    columns: {
      post_title: specialChars(event.summary.replace(/[\t\r\n]+/g, ' ').trim()),
      post_content: contentOf(event.html, event.description),
      post_status: event.isPrivate ? 'private' : 'publish',
      ...modificationTimes(event),
    },
    metas: filteredMetas([...textMetas(texts), ...customFields.rows]),
    links,
    terms: withTermLanguage(
      language,
      event.categories.map((category) => ({ kind: 'category', sourceId: category.toLowerCase(), name: specialChars(category) })),
    ),
    // If the file has no categories, keep those that editors have assigned on this site.
    unsaid: event.categories.length === 0 ? ['category', 'tag'] : ['tag'],
    complete: false,
    // An event that has moved online has no location any more.
    absent: [DATES.allDay, DATES.duration, VENUE_LINK, ORGANIZER_LINK, ...(event.status === '' ? [] : [STATE])],
    initial: [...MAP_FLAGS, ...(url === '' ? [EVENT.website] : []), ...(event.isPrivate ? [] : [STATUS])],
  };
  yield item;
  return true;
}

/** A calendar does not say whether an event is published unless it is private, so that the status is for new ones. */
const STATUS = 'post_status';

/** A calendar does not say whether maps are shown. */
const MAP_FLAGS: readonly string[] = [EVENT, VENUE].flatMap(({ show_map, show_map_link }) => [show_map, show_map_link]);

/** Returns a linked record with its status and its map flags marked as values for new records. */
const withInitialValues = (entry: Entry): Entry =>
  isItem(entry) && isPostItem(entry)
    ? { ...entry, initial: [...(entry.initial ?? []), STATUS, ...(entry.kind === 'attachment' ? [] : MAP_FLAGS)] }
    : entry;

/** Returns the metas of the site's own fields; `refused` lists values of unknown fields and invalid values. */
function customOf({ customFields }: CalendarEvent, fields: readonly CustomField[]) {
  const entries = customFields.map(({ name, value }) => ({
    field: fields.find((one) => isCustomMeta(one.meta) && one.name === name),
    name,
    value,
  }));
  const { rows, refused } = customRows(entries.flatMap(({ field, value }) => (field ? [{ field, value }] : [])));
  const unknown = entries.filter(({ field }) => !field);
  return {
    rows,
    refused: [...unknown, ...refused.map(({ field, value }) => ({ name: field.name, value }))].map(({ name, value }) =>
      `${name}: ${value}`.slice(0, 100),
    ),
  };
}

/** Returns start and end as texts in local time of the zone; all-day events end on their last day. */
function localTimesOf({ start, end, zone, allDay }: Span): { start: string; end: string; timezone: string; allDay: boolean } {
  if (allDay) return { start: textFromUnix(start), end: textFromUnix(end - 1), timezone: zone.name, allDay };
  const shownIn = unambiguousZone(zone, [start, end]);
  return { start: localFromUnix(start, shownIn), end: localFromUnix(end, shownIn), timezone: shownIn.name, allDay };
}

/** Returns when the event was created and modified, if the file has these times in UTC. */
function modificationTimes({ created, modified }: CalendarEvent) {
  const isPlausible = (moment: Moment | undefined) => moment?.in === 'utc' && moment.wall >= '1971';
  return {
    ...(isPlausible(created) ? { post_date_gmt: created!.wall } : {}),
    ...(isPlausible(modified) ? { post_modified_gmt: modified!.wall } : {}),
  };
}
