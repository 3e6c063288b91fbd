import { COORDINATES, ORGANIZER_LINK, VENUE_LINK } from '../../kinds/events/metas.ts';
import { ORGANIZER } from '../../kinds/organizer.ts';
import { VENUE } from '../../kinds/venue.ts';
import { specialChars } from '../../wordpress/content/entities.ts';
import { imageItem, namesImage } from '../items/image-item.ts';
import type { Entry, Link, LinkedKind, PostItem } from '../items/items.ts';
import type { CalendarEvent } from './event.ts';

/**
 * Venues, organizers and pictures of a calendar's events: each comes as an item before the first event that names it.
 */
export interface Places {
  readonly of: (event: CalendarEvent) => { readonly items: readonly Entry[]; readonly links: readonly Link[]; readonly website: string };
}

/** How many names are remembered as given out; an item that is given out twice does no harm. */
const MOST_KNOWN = 100_000;

export function createPlaces(file: string): Places {
  const seen = new Set<string>();
  const once = (item: PostItem): PostItem[] => {
    if (seen.has(item.sourceId) || seen.size >= MOST_KNOWN) return seen.has(item.sourceId) ? [] : [item];
    seen.add(item.sourceId);
    return [item];
  };
  // The times of a series come one after the other.
  let known: { event: CalendarEvent; found: readonly PostItem[] } | undefined;
  const foundIn = (event: CalendarEvent): readonly PostItem[] => {
    const place = `${file}:${event.line}`;
    if (known?.event !== event) {
      const found = [venueOf(event, place), ...organizersOf(event, place), imageOf(event, place)].filter((item) => item !== undefined);
      known = { event, found };
    }
    return known.found;
  };
  return {
    of: (event) => {
      const found = foundIn(event);
      return {
        items: found.flatMap(once),
        links: found.map((item): Link => {
          // What is found here is a venue, an organizer or an image.
          const kind = item.kind as LinkedKind;
          return { key: KEYS[kind], kind, sourceId: item.sourceId };
        }),
        website: isAddress(event.location) ? event.location.trim() : '',
      };
    },
  };
}

const KEYS = { venue: VENUE_LINK, organizer: ORGANIZER_LINK, attachment: '_thumbnail_id' } as const;

const isAddress = (text: string): boolean => /^https?:\/\/\S+$/i.test(text.trim());
const line = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** A text in two: the name that it begins with, where that is known, and what stands behind it. */
const withoutName = (text: string, name: string): readonly [name: string, rest: string] =>
  text.startsWith(name) ? [name, text.slice(name.length)] : ['', text];

/**
 * What a location says before its first comma or line end is the venue's name, the rest its address. A page of the web
 * is no place.
 */
function venueOf({ location, placeName, geo }: CalendarEvent, place: string): PostItem | undefined {
  if (line(location) === '' || isAddress(location)) return undefined;
  const [own, others] = withoutName(line(location), placeName);
  const [name = '', ...rest] = [own, ...(own === '' ? withBareAddress(location) : others).split(/\n|,\s+/)].flatMap((part) =>
    part.trim() === '' ? [] : [part.trim()],
  );
  const address = line(rest.join(', '));
  return post('venue', `venue:${line(location).toLowerCase()}`, name, place, [
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

/** Meetup writes `Name (Street, Town)`: a comma in the brackets at the end says that an address stands there. */
function withBareAddress(location: string): string {
  const whole = line(location);
  const at = whole.indexOf(' (');
  if (at < 1 || !whole.endsWith(')')) return location;
  const [name, address] = [whole.slice(0, at), whole.slice(at + 2, -1)];
  return /[(),]/.test(name) || /[()]/.test(address) || !address.includes(',') ? location : `${name}\n${address}`;
}

/** Addresses of Google's calendars themselves, of groups and rooms too: nobody reads what is sent there. */
const NOBODY = /@(?:\w+\.)?calendar\.google\.com$/i;

/** The organizer, and contacts: a name, and whatever else stands behind commas or semicolons. */
function organizersOf({ organizer, contacts }: CalendarEvent, place: string): PostItem[] {
  const people = new Map<string, PostItem>();
  const email = organizer && !NOBODY.test(organizer.email) ? organizer.email : '';
  const name = line(organizer?.name ?? '') || email;
  if (organizer && name !== '' && !NOBODY.test(name)) people.set(name.toLowerCase(), person(name, email, [], place));
  for (const { text, name: own } of contacts) {
    const [said, others] = withoutName(line(text), own);
    const [before = '', ...more] = others.split(/[,;]\s+/);
    const who = said + before;
    if (who === '' || isAddress(who)) continue;
    const known = people.get(who.toLowerCase());
    people.set(who.toLowerCase(), person(who, known ? email : '', more, place));
  }
  return [...people.values()];
}

/**
 * Known again by name and address of e-mail, whether the one event gives it to its organizer or another to a contact.
 * The address alone says too little: all that a town organizes may have one, and all that is on Facebook has.
 */
function person(name: string, ownEmail: string, more: readonly string[], place: string): PostItem {
  const metaFrom = (key: string, test: (part: string) => boolean) => {
    const value = more.find(test);
    return value ? [[key, value] as const] : [];
  };
  const email = ownEmail || (more.find((part) => /^[^\s@]+@[^\s@]+$/.test(part)) ?? '');
  return post('organizer', `organizer:${[email, name].join(' ').trim().toLowerCase()}`, name, place, [
    ...(email === '' ? [] : [[ORGANIZER.email, email] as const]),
    ...metaFrom(ORGANIZER.website, isAddress),
    ...metaFrom(ORGANIZER.phone, (part) => /^[+\d][\d\s()./-]{4,}$/.test(part)),
  ]);
}

function imageOf({ attachments }: CalendarEvent, place: string): PostItem | undefined {
  const image = attachments.find(({ url, type }) => isAddress(url) && (type.startsWith('image/') || (type === '' && namesImage(url))));
  return image && imageItem(image.url, image.type, place);
}

const post = (kind: PostItem['kind'], sourceId: string, title: string, place: string, metas: PostItem['metas']): PostItem => ({
  kind,
  sourceId,
  place,
  columns: { post_title: specialChars(title), post_status: 'publish' },
  metas,
  links: [],
  complete: false,
  match: 'name',
});
