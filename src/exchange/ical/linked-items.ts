import { COORDINATES, ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import { ORGANIZER } from '../../kinds/organizer.ts';
import { VENUE } from '../../kinds/venue.ts';
import { specialChars } from '../../wordpress/content/entities.ts';
import { filteredMetas } from '../items/clean.ts';
import { hiddenForm } from '../items/hidden-form.ts';
import { imageItem, isImageUrl } from '../items/image-item.ts';
import { type Entry, type Link, type LinkedKind, type PostItem, textMetas } from '../items/items.ts';
import type { CalendarEvent } from './event.ts';

/**
 * Venues, organizers and images of a calendar's events. Each is returned as an item with the first event that
 * references it, and is private if that event is; it is returned again with the first public one.
 */
export interface LinkedItems {
  readonly of: (event: CalendarEvent) => { readonly items: readonly Entry[]; readonly links: readonly Link[]; readonly website: string };
}

/** Maximum number of items that are remembered as returned; returning an item twice is harmless. */
const MAX_REMEMBERED_ITEMS = 100_000;

/** Begins the venues, organizers and images of one calendar. `file`: the name of its source. */
export function createLinkedItems(file: string): LinkedItems {
  /** Source ids of items -> whether they were hidden. A hidden one is returned again once a public event names it. */
  const seenIds = new Map<string, boolean>();
  const unlessSeen = (item: PostItem): PostItem[] => {
    const wasHidden = seenIds.get(item.sourceId);
    if (wasHidden === false || (wasHidden && item.isHidden)) return [];
    if (wasHidden || seenIds.size < MAX_REMEMBERED_ITEMS) seenIds.set(item.sourceId, item.isHidden === true);
    return [item];
  };
  // The dates of a series come one after another, so that it is enough to cache the last event.
  let lastResult: { event: CalendarEvent; items: readonly PostItem[] } | undefined;
  const itemsIn = (event: CalendarEvent): readonly PostItem[] => {
    const place = `${file}:${event.line}`;
    if (lastResult?.event !== event) {
      const items = [venueOf(event, place), ...organizersOf(event, place), imageOf(event, place)].filter((item) => item !== undefined);
      lastResult = { event, items: event.isPrivate ? items.map(hiddenForm) : items };
    }
    return lastResult.items;
  };
  return {
    of: (event) => {
      const items = itemsIn(event);
      return {
        items: items.flatMap(unlessSeen),
        links: items.map((item): Link => {
          // Only venues, organizers and images are found here.
          const kind = item.kind as LinkedKind;
          return { key: KEYS[kind], kind, sourceId: item.sourceId };
        }),
        website: isWebAddress(event.location) ? event.location.trim() : '',
      };
    },
  };
}

const KEYS = { venue: VENUE_LINK, organizer: ORGANIZER_LINK, attachment: '_thumbnail_id' } as const;

const isWebAddress = (text: string): boolean => /^https?:\/\/\S+$/i.test(text.trim());
const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Splits a text into the known name at its start, or an empty string, and the remainder. */
const withoutName = (text: string, name: string): readonly [name: string, rest: string] =>
  text.startsWith(name) ? [name, text.slice(name.length)] : ['', text];

/**
 * Returns the venue of a location: its name up to the first comma or line break, its address after that. A URL is not a
 * venue.
 */
function venueOf({ location, placeName, geo }: CalendarEvent, place: string): PostItem | undefined {
  if (onOneLine(location) === '' || isWebAddress(location)) return undefined;
  const [ownName, otherText] = withoutName(onOneLine(location), placeName);
  const [name = '', ...rest] = [ownName, ...(ownName === '' ? withoutParentheses(location) : otherText).split(/\n|,\s+/)].flatMap((part) =>
    part.trim() === '' ? [] : [part.trim()],
  );
  const address = onOneLine(rest.join(', '));
  return post('venue', `venue:${onOneLine(location).toLowerCase()}`, name, place, [
    ...(address === '' ? [] : [[VENUE.address, address] as const]),
    ...(geo
      ? ([
          [COORDINATES.lat, String(geo.lat)],
          [COORDINATES.lng, String(geo.lng)],
        ] as const)
      : []),
    [VENUE.show_map, '1'],
    [VENUE.show_map_link, '1'],
  ]);
}

/** Splits Meetup's form `Name (Street, Town)`. A comma in the final parentheses shows that they contain an address. */
function withoutParentheses(location: string): string {
  const text = onOneLine(location);
  const bracketIndex = text.indexOf(' (');
  if (bracketIndex < 1 || !text.endsWith(')')) return location;
  const [name, address] = [text.slice(0, bracketIndex), text.slice(bracketIndex + 2, -1)];
  return /[(),]/.test(name) || /[()]/.test(address) || !address.includes(',') ? location : `${name}\n${address}`;
}

/** Email addresses of Google calendars, groups and rooms, which are not read by anybody. */
const UNREAD_ADDRESS = /@(?:\w+\.)?calendar\.google\.com$/i;

/** Returns the organizer and the contacts. A contact is a name, followed by details after commas or semicolons. */
function organizersOf({ organizer, contacts }: CalendarEvent, place: string): PostItem[] {
  const people = new Map<string, PostItem>();
  const email = organizer && !UNREAD_ADDRESS.test(organizer.email) ? organizer.email : '';
  const name = onOneLine(organizer?.name ?? '') || email;
  if (organizer && name !== '' && !UNREAD_ADDRESS.test(name))
    people.set(name.toLowerCase(), organizerItem({ name, identity: organizer.identity }, email, [], place));
  for (const { text, name: statedName } of contacts) {
    const [namePrefix, otherText] = withoutName(onOneLine(text), statedName);
    const [before = '', ...details] = otherText.split(/[,;]\s+/);
    const contactName = namePrefix + before;
    if (contactName === '' || isWebAddress(contactName)) continue;
    const existing = people.get(contactName.toLowerCase());
    people.set(contactName.toLowerCase(), organizerItem({ name: contactName }, existing ? email : '', details, place));
  }
  return [...people.values()];
}

/**
 * Returns an organizer, identified by name and email address, whether an event has it as organizer or as contact. The
 * address alone does not identify it: all organizers of a town may share one, and all events on Facebook do.
 */
function organizerItem(
  { name, identity = name }: { readonly name: string; readonly identity?: string | undefined },
  ownEmail: string,
  details: readonly string[],
  place: string,
): PostItem {
  const metaFrom = (key: string, test: (part: string) => boolean) => {
    const value = details.find(test);
    return value ? [[key, value] as const] : [];
  };
  const email = ownEmail || (details.find((part) => /^[^\s@]+@[^\s@]+$/.test(part)) ?? '');
  return post('organizer', `organizer:${[email, identity].join(' ').trim().toLowerCase()}`, name, place, [
    ...(email === '' ? [] : [[ORGANIZER.email, email] as const]),
    ...metaFrom(ORGANIZER.website, isWebAddress),
    ...metaFrom(ORGANIZER.phone, (part) => /^[+\d][\d\s()./-]{4,}$/.test(part)),
  ]);
}

function imageOf({ attachments }: CalendarEvent, place: string): PostItem | undefined {
  const image = attachments.find(({ url, type }) => isWebAddress(url) && (type.startsWith('image/') || (type === '' && isImageUrl(url))));
  return image && imageItem(image.url, image.type, place);
}

const post = (
  kind: PostItem['kind'],
  sourceId: string,
  title: string,
  place: string,
  texts: readonly (readonly [key: string, text: string])[],
): PostItem => ({
  kind,
  sourceId,
  place,
  columns: { post_title: specialChars(title), post_status: 'publish' },
  metas: filteredMetas(textMetas(texts)),
  links: [],
  complete: false,
  match: 'details',
});
