/*
 * Parts of an event's published record that feeds and files use. They are made of records instead of rows, so that they
 * show exactly what the API shows to the same caller.
 */
import type { EventRecord as PublishedEvent } from '../../kinds/events/shape.ts';
import type { ImageRecord } from '../../kinds/image-record.ts';
import type { OrganizerRecord as PublishedOrganizer } from '../../kinds/organizer.ts';
import type { VenueRecord as PublishedVenue } from '../../kinds/venue.ts';
import { memoize, memoizeByObject, memoizeText } from '../../memo.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { stripAllTags, stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { trimEndOf, trimStartOf } from '../../wordpress/trim.ts';

/** Fields of published records that feeds use. Texts are HTML, dates `YYYY-MM-DD HH:MM:SS`. */
export interface FeedRecord
  extends Readonly<
    Pick<
      PublishedEvent,
      | 'id'
      | 'url'
      | 'title'
      | 'description'
      | 'excerpt'
      | 'date_utc'
      | 'modified_utc'
      | 'all_day'
      | 'start_date'
      | 'end_date'
      | 'utc_start_date'
      | 'utc_end_date'
      | 'timezone'
      | 'cost'
      | 'website'
      | 'language'
    >
  > {
  readonly image: false | Readonly<Pick<ImageRecord, 'url' | 'filesize'>>;
  readonly categories: readonly NamedTerm[];
  readonly tags: readonly NamedTerm[];
  /** PHP encodes an empty object as a list. */
  readonly custom_fields: Readonly<Record<string, { readonly value: string }>> | readonly unknown[];
  readonly venue: VenueRecord | readonly VenueRecord[];
  readonly organizer: readonly OrganizerRecord[];
}

type NamedTerm = Readonly<Pick<PublishedEvent['categories'][number], 'name'>>;

export type VenueRecord = Readonly<
  Pick<PublishedVenue, 'id' | 'venue' | 'address' | 'city' | 'stateprovince' | 'zip' | 'country' | 'geo_lat' | 'geo_lng'>
>;
export type OrganizerRecord = Readonly<Pick<PublishedOrganizer, 'id' | 'organizer' | 'phone' | 'website' | 'email'>>;

/** Returns the venues of an event, whose record represents one, several or no venues differently. */
export const venuesOf = <Venue extends VenueRecord>({ venue }: { readonly venue: Venue | readonly Venue[] }): readonly Venue[] =>
  isList(venue) ? venue : [venue];

const isList = <Item>(value: Item | readonly Item[]): value is readonly Item[] => Array.isArray(value);

/** Returns name and address of a venue on one line. */
export const placeOf = memoizeByObject(({ venue, address, city, stateprovince, zip, country }: VenueRecord): string =>
  [venue, address, city, stateprovince, zip, country]
    .map((part) => plainLine(part ?? ''))
    .filter((part) => part !== '')
    .join(', '),
);

/** Converts HTML to plain text on one line. */
export const plainLine = memoize((html: string): string => plainText(html).replace(/\s+/g, ' ').trim());

/**
 * Converts HTML to plain text: paragraphs and line breaks become newlines, images and markup are removed, and entities
 * are decoded.
 */
export const plainText = memoizeText('plain', (html: string): string => {
  const lines = html.replace(/\r\n?/g, '\n');
  const broken = lines.includes('<') ? LINE_BREAKS.reduce((text, [tag, ends]) => replaceTagByNewlines(text, tag, ends), lines) : lines;
  return stripControlCharacters(decodeEntities(stripAllTags(broken)))
    .replaceAll('\u00a0', ' ')
    .split('\n')
    .map((line) => trimEndOf(line, ' \t'))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
});

/** Tags that end a line of plain text, and the newlines that replace them. */
const LINE_BREAKS: readonly (readonly [RegExp, string])[] = [
  [/<br\s*\/?>/i, '\n'],
  [/<\/(?:p|div|h[1-6]|ul|ol|table|blockquote|pre)>/i, '\n\n'],
  [/<\/(?:li|tr)>/i, '\n'],
];

/** Replaces a tag and the newlines around it by these newlines. */
function replaceTagByNewlines(text: string, tag: RegExp, ends: string): string {
  const parts = text.split(tag);
  const last = parts.length - 1;
  const trimmed = parts.map((part, index) => trimEndOf(index > 0 ? trimStartOf(part, '\n') : part, index < last ? '\n' : ''));
  return trimmed.join(ends);
}

/** Returns a URL in ASCII form, without characters that could end a line; undefined if it is not a URL. */
export function webAddress(html: string): string | undefined {
  const text = decodeEntities(html).trim();
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).href : undefined;
}
