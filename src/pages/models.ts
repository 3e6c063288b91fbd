import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { shownDates } from '../calendar/shown-times.ts';
import { placeOf, plainLine, plainText, venuesOf } from '../exchange/items/event-record.ts';
import { spanInWords, timeInWords } from '../html/dates.ts';
import type { I18n } from '../html/i18n.ts';
import { mapUrl } from '../html/map-url.ts';
import { CANCELED } from '../kinds/events/metas.ts';
import type { EventRecord } from '../kinds/events/shape.ts';
import type { ImageRecord } from '../kinds/image-record.ts';
import type { VenueRecord } from '../kinds/venue.ts';
import type { Caller } from '../records/caller.ts';
import type { FeedEvent } from '../records/feed-events.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { firstCharacters, hasVisibleText } from '../wordpress/content/plain-text.ts';
import { languageOfCode, languageTag } from '../wordpress/content-languages.ts';
import { escUrl } from '../wordpress/web-url.ts';

/*
 * Models of the page views, as plain values: texts without markup, dates in words, URLs. The views of a theme get the
 * same models.
 */

/** A picture, in the size in which it is shown. */
export interface Picture {
  readonly src: string;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** Alternative text; empty: the picture is decorative. */
  readonly text: string;
}

export interface NamedLink {
  readonly name: string;
  readonly href: string;
}

/** An event as lists show it. */
export interface EventCard {
  readonly id: number;
  /** The tag of its language, if that is not the language of the page. */
  readonly lang: string | undefined;
  readonly title: string;
  readonly href: string;
  /** Local times as shown, `YYYY-MM-DD HH:MM:SS`. */
  readonly start: string;
  readonly end: string;
  readonly allDay: boolean;
  /** Start and end, in words; empty: the event has no dates. */
  readonly when: string;
  /** The time alone, in words; undefined for all-day events. */
  readonly time: string | undefined;
  /** Name of the time zone, if it is not the site's. */
  readonly zone: string | undefined;
  /** Name and town of the venue; empty: unknown. */
  readonly where: string;
  readonly cost: string;
  /** The start of its text. */
  readonly summary: string;
  readonly picture: Picture | undefined;
  readonly featured: boolean;
  /** A word for an event that does not take place as planned. */
  readonly mark: string | undefined;
  /** Whether a password protects it. */
  readonly locked: boolean;
}

/** Number of words of a description in a list. */
const MAX_SUMMARY_WORDS = 28;
/** Maximum number of its characters: Japanese, Chinese and Thai have no blanks between words. */
const MAX_SUMMARY_CHARACTERS = 300;

/** Returns an event as lists and its own page show it. */
export function toEventCard(event: FeedEvent, caller: Caller, i18n: I18n): EventCard {
  const { record, locked } = event;
  const { settings } = caller;
  const { start, end } = shownDates(record, settings.calendar.timezoneMode, settings.zone);
  const allDay = record.all_day === true;
  const hourCycle = hourCycleOf(settings.calendar.formats.time);
  return {
    id: record.id,
    lang: foreignLanguageTag(record, caller),
    title: titleOf(event, i18n),
    href: record.url,
    start,
    end,
    allDay,
    when: spanInWords(i18n, { start, end, allDay }, hourCycle),
    time: allDay ? undefined : timeInWords(i18n, start, hourCycle),
    zone: foreignZoneName(record, caller),
    where: venuesOf(record).map(nameAndTown).join(' · '),
    cost: plainLine(record.cost),
    summary: locked ? '' : summarize(plainLine(record.excerpt || record.description)),
    picture: fittingPicture(record.image, 'medium', event.imageText),
    featured: record.featured === true,
    mark: stateInWords(event.state, (name) => i18n.say(`pages:marks.${name}`)),
    locked,
  };
}

/** Returns the word for an event that does not take place as planned; undefined for others. `state`: as stored. */
export function stateInWords(state: string, say: (name: string) => string): string | undefined {
  const name = STATE_KEYS.get(state);
  return name && say(name);
}

const STATE_KEYS: ReadonlyMap<string, string> = new Map([
  [CANCELED, 'cancelled'],
  ['postponed', 'postponed'],
  ['moved-online', 'moved-online'],
]);

/** Returns the tag of a record's language, if it is not the language of the page's own texts. */
export function foreignLanguageTag({ language }: { readonly language?: string | null | undefined }, caller: Caller): string | undefined {
  const { contentLanguages: languages } = caller.settings;
  const contentLanguage = languages && languageOfCode(languages, language ?? undefined);
  const tag = contentLanguage && languageTag(contentLanguage);
  return tag === undefined || tag.toLowerCase().split('-')[0] === caller.language.toLowerCase().split('-')[0] ? undefined : tag;
}

/**
 * Returns the name of a venue, an organizer or a term as text, or a placeholder, since some have no name in WordPress.
 */
export const nameOf = (html: string, { say }: Pick<I18n, 'say'>): string => (hasVisibleText(html) ? plainLine(html) : say('pages:unnamed'));

/**
 * Returns the title as text. For visitors who have not opened a protected event it says that the event is protected.
 */
export function titleOf({ record, locked }: Pick<FeedEvent, 'record' | 'locked'>, { say }: I18n): string {
  const title = hasVisibleText(record.title) ? plainLine(record.title) : say('pages:untitled');
  return locked ? say('site:words.protected-title', { title }) : title;
}

function summarize(text: string): string {
  const words = text.split(' ').slice(0, MAX_SUMMARY_WORDS).join(' ');
  const cut = firstCharacters(words, MAX_SUMMARY_CHARACTERS);
  const start = cut === words || !cut.includes(' ') ? cut : cut.slice(0, cut.lastIndexOf(' '));
  return start === text ? text : `${start.replace(/[,;:.–-]$/, '')}…`;
}

const nameAndTown = ({ venue, city }: Pick<VenueRecord, 'venue' | 'city'>): string =>
  [venue, city]
    .map((part) => plainLine(part ?? ''))
    .filter((part) => part !== '')
    .join(', ');

/**
 * Returns the name of the zone of the times shown, if it is not the site's. Old events without a zone use the site's.
 */
function foreignZoneName(
  { timezone, timezone_abbr: abbreviation, all_day: allDay }: EventRecord,
  { settings }: Caller,
): string | undefined {
  if (allDay || settings.calendar.timezoneMode === 'site' || ['', settings.timezone].includes(timezone)) return undefined;
  return abbreviation || timezone;
}

/** Returns the size of a picture that fits, or the full picture if there are no sizes. */
export function fittingPicture(image: ImageRecord | false | undefined, size: 'medium' | 'large', text: string): Picture | undefined {
  if (!image) return undefined;
  const { sizes } = image;
  const fittingSize = size === 'medium' ? (sizes?.medium ?? sizes?.medium_large) : (sizes?.large ?? sizes?.medium_large);
  const { url, width, height } = fittingSize ?? image;
  return { src: url, width: toNumber(width), height: toNumber(height), text: plainLine(text) };
}

/** Metadata written by WordPress may contain numbers as text. */
const toNumber = (value: unknown): number | undefined => Number(value) || undefined;

/** A venue with its address, contact data and a map. */
export interface PlaceModel extends NamedLink {
  readonly town: string;
  /** The address in one line. */
  readonly address: string;
  readonly phone: string;
  readonly website: string;
  /** The URL of a map that shows it; undefined if the site does not want one. */
  readonly map: string | undefined;
}

/** Returns a venue as the page of an event and its own page show it. */
export function toPlaceModel(venue: VenueRecord, i18n: Pick<I18n, 'say'>): PlaceModel {
  const address = placeOf({ ...venue, venue: '' });
  const showsMap = venue.show_map !== false || venue.show_map_link !== false;
  return {
    name: nameOf(venue.venue, i18n),
    href: venue.url,
    town: plainLine(venue.city ?? ''),
    address,
    phone: plainLine(venue.phone ?? ''),
    website: websiteOf(venue.website),
    map: showsMap ? mapUrl({ lat: venue.geo_lat, lng: venue.geo_lng, address }) : undefined,
  };
}

/**
 * Returns the URL of a website as text; records contain it as HTML. A URL without a scheme (`www.example.org`), as
 * people often write it, gets one, as on WordPress's pages. A text that is not a URL is returned unchanged.
 */
export function websiteOf(html: string | undefined): string {
  const text = decodeEntities(html ?? '').trim();
  const address = decodeEntities(escUrl(text));
  return address === '' || URL.canParse(address) || address.startsWith('/') ? address : text;
}

/** Returns the start of a text, as a description for search engines. */
export const descriptionOf = (html: string): string => firstCharacters(plainText(html).replace(/\s+/g, ' '), MAX_DESCRIPTION_LENGTH).trim();

const MAX_DESCRIPTION_LENGTH = 300;

/** A day of a month view with its events. */
export interface MonthDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly words: string;
  readonly href: string;
  readonly isToday: boolean;
  /**
   * The time of each event is only set on the day on which it begins. Undefined: the day belongs to the previous or
   * next month.
   */
  readonly events: readonly EventCard[] | undefined;
  /** Whether it may have further events, because the month has more than are shown. */
  readonly mayHaveMore: boolean;
}
