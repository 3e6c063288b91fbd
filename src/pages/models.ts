import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { shownTimes } from '../calendar/shown-times.ts';
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
 * What the views of pages show, as plain values: texts without markup, dates in words, addresses. A theme's own views
 * get the same.
 */

/** A picture, as large as it is shown. */
export interface Picture {
  readonly src: string;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** What stands for it where it cannot be seen; empty: it only adorns. */
  readonly text: string;
}

export interface NamedLink {
  readonly name: string;
  readonly href: string;
}

/** An event as lists show it. */
export interface EventCard {
  readonly id: number;
  /** The tag of the language that it is written in, where that is not the one of the page. */
  readonly lang: string | undefined;
  readonly title: string;
  readonly href: string;
  /** Wall clocks as shown, `YYYY-MM-DD HH:MM:SS`. */
  readonly start: string;
  readonly end: string;
  readonly allDay: boolean;
  /** From when to when, in words; empty: it has no dates. */
  readonly when: string;
  /** The time alone, in words; undefined for what lasts all day. */
  readonly time: string | undefined;
  /** Where the clock is one of another place than the site's: its name. */
  readonly zone: string | undefined;
  /** Name and town of where it takes place; empty: unknown. */
  readonly where: string;
  readonly cost: string;
  /** The beginning of its text. */
  readonly summary: string;
  readonly picture: Picture | undefined;
  readonly featured: boolean;
  /** One word for it where it does not take place as planned. */
  readonly mark: string | undefined;
  /** Whether a password protects it. */
  readonly locked: boolean;
}

/** Words of a description that a list shows. */
const SUMMARY_WORDS = 28;

export function eventCard(event: FeedEvent, caller: Caller, i18n: I18n): EventCard {
  const { record, locked } = event;
  const { settings } = caller;
  const { start, end } = shownTimes(record, settings.calendar.timezoneMode, settings.zone);
  const allDay = record.all_day === true;
  const hourCycle = hourCycleOf(settings.calendar.formats.time);
  return {
    id: record.id,
    lang: langOf(record, caller),
    title: titleOf(event, i18n),
    href: record.url,
    start,
    end,
    allDay,
    when: spanInWords(i18n, { start, end, allDay }, hourCycle),
    time: allDay ? undefined : timeInWords(i18n, start, hourCycle),
    zone: zoneNote(record, caller),
    where: venuesOf(record).map(shortPlace).join(' · '),
    cost: plainLine(record.cost),
    summary: locked ? '' : firstWords(plainLine(record.excerpt || record.description)),
    picture: pictureOf(record.image, 'medium', event.imageText),
    featured: record.featured === true,
    mark: wordOf(event.state, (name) => i18n.say(`pages:marks.${name}`)),
    locked,
  };
}

/** What is said of an event that does not take place as planned; undefined for others. `state`: as it is stored. */
export function wordOf(state: string, say: (name: string) => string): string | undefined {
  const name = STATES.get(state);
  return name && say(name);
}

const STATES: ReadonlyMap<string, string> = new Map([
  [CANCELED, 'cancelled'],
  ['postponed', 'postponed'],
  ['moved-online', 'moved-online'],
]);

/** The tag of a record's language, where it is another than the one of the page's own words. */
export function langOf({ language }: { readonly language?: string | null | undefined }, caller: Caller): string | undefined {
  const { contentLanguages: known } = caller.settings;
  const own = known && languageOfCode(known, language ?? undefined);
  const tag = own && languageTag(own);
  return tag === undefined || tag.toLowerCase().split('-')[0] === caller.language.toLowerCase().split('-')[0] ? undefined : tag;
}

/** The name of a venue, an organizer or a term as text; WordPress knows some that have none. */
export const nameOf = (html: string, { say }: Pick<I18n, 'say'>): string => (hasVisibleText(html) ? plainLine(html) : say('pages:unnamed'));

/** The title as text. For those who have not opened a protected event it says that it is one. */
export function titleOf({ record, locked }: Pick<FeedEvent, 'record' | 'locked'>, { say }: I18n): string {
  const title = hasVisibleText(record.title) ? plainLine(record.title) : say('pages:untitled');
  return locked ? say('site:words.protected-title', { title }) : title;
}

function firstWords(text: string): string {
  const words = text.split(' ');
  return words.length > SUMMARY_WORDS
    ? `${words
        .slice(0, SUMMARY_WORDS)
        .join(' ')
        .replace(/[,;:.–-]$/, '')}…`
    : text;
}

const shortPlace = ({ venue, city }: Pick<VenueRecord, 'venue' | 'city'>): string =>
  [venue, city]
    .map((part) => plainLine(part ?? ''))
    .filter((part) => part !== '')
    .join(', ');

/**
 * The name of the clock that is shown, where it is not the site's. Events without a zone, as old ones are, go by that.
 */
function zoneNote({ timezone, timezone_abbr: abbreviation, all_day: allDay }: EventRecord, { settings }: Caller): string | undefined {
  if (allDay || settings.calendar.timezoneMode === 'site' || ['', settings.timezone].includes(timezone)) return undefined;
  return abbreviation || timezone;
}

/** The size of a picture that fits, the whole one where there are no sizes. */
export function pictureOf(image: ImageRecord | false | undefined, size: 'medium' | 'large', text: string): Picture | undefined {
  if (!image) return undefined;
  const { sizes } = image;
  const fitting = size === 'medium' ? (sizes?.medium ?? sizes?.medium_large) : (sizes?.large ?? sizes?.medium_large);
  const { url, width, height } = fitting ?? image;
  return { src: url, width: numberOf(width), height: numberOf(height), text: plainLine(text) };
}

/** Metadata that WordPress wrote may hold numbers as text. */
const numberOf = (value: unknown): number | undefined => Number(value) || undefined;

/** Where something is, how to reach it, and a map of it. */
export interface PlaceModel extends NamedLink {
  readonly town: string;
  /** Lines of the address. */
  readonly address: string;
  readonly phone: string;
  readonly website: string;
  /** An address that shows it on a map; undefined: the site does not want one. */
  readonly map: string | undefined;
}

export function placeModel(venue: VenueRecord, i18n: Pick<I18n, 'say'>): PlaceModel {
  const address = placeOf({ ...venue, venue: '' });
  const wanted = venue.show_map !== false || venue.show_map_link !== false;
  return {
    name: nameOf(venue.venue, i18n),
    href: venue.url,
    town: plainLine(venue.city ?? ''),
    address,
    phone: plainLine(venue.phone ?? ''),
    website: websiteOf(venue.website),
    map: wanted ? mapUrl({ lat: venue.geo_lat, lng: venue.geo_lng, address }) : undefined,
  };
}

/**
 * The address of a website as text; records hold it as HTML. One without a scheme (`www.example.org`), as people often
 * write it, gets one, as on the pages of WordPress. What is no address at all stays the text that it is.
 */
export function websiteOf(html: string | undefined): string {
  const text = decodeEntities(html ?? '').trim();
  const address = decodeEntities(escUrl(text));
  return address === '' || URL.canParse(address) || address.startsWith('/') ? address : text;
}

/** The beginning of a text, as search engines and others show it. */
export const descriptionOf = (html: string): string => firstCharacters(plainText(html).replace(/\s+/g, ' '), LONGEST_DESCRIPTION).trim();

const LONGEST_DESCRIPTION = 300;

/** A day of a month view and what takes place on it. */
export interface MonthDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly words: string;
  readonly href: string;
  readonly isToday: boolean;
  /** Each has its time on the day on which it begins. Undefined: the day belongs to the month before or after. */
  readonly events: readonly EventCard[] | undefined;
  /** Whether it may have events that are not among these, because there are more than a month shows. */
  readonly mayHaveMore: boolean;
}
