import ICAL from 'ical.js';
import type { RecurringDates } from '../../calendar/recurring-dates.ts';
import { isDate, type ShownTimes, shownTimes, withMoments } from '../../calendar/shown-times.ts';
import { CANCELED } from '../../kinds/events/metas.ts';
import { imageMimeOf } from '../../media/image-type.ts';
import { stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { unixFromText } from '../../wordpress/time.ts';
import type { Zone } from '../../wordpress/zones.ts';
import { type FeedRecord, type OrganizerRecord, placeOf, plainLine, plainText, venuesOf, webAddress } from '../items/event-record.ts';
import { CUSTOM_FIELD_PROPERTY, NAME_PARAMETER } from './extension-names.ts';
import { line } from './write-line.ts';
import { recurringTimes, zoneOfRepeats } from './write-recurrence.ts';
import { isWrittenInZone, timeLines, utcTime } from './write-times.ts';
import { zoneComponent, zoneId } from './zone.ts';

/** Properties of a calendar as a whole. */
export interface CalendarHead {
  readonly name: string;
  readonly description: string;
  /** Home address of the site. */
  readonly url: string;
  /** Zone of the site, and whether events are shown in that zone instead of their own. */
  readonly zone: Zone;
  readonly clock: 'event' | 'site';
  /** Language of the description. */
  readonly language: string;
  /** Host of the site, used as suffix of event UIDs. */
  readonly host: string;
}

/** An event of a calendar. */
export interface CalendarEvent extends FeedRecord {
  /** All dates, if the event recurs and is written as one VEVENT; otherwise, the record's single date is written. */
  readonly recurs?: RecurringDates | undefined;
  /** Stored state of an event that does not take place as planned (`canceled`, `postponed`); otherwise empty. */
  readonly state?: string | undefined;
}

/**
 * Writes events as an iCalendar stream (RFC 5545), in chunks that end with a line. A time zone is written right before
 * the first event that uses it, so that zones need not be known in advance. UIDs are those of The Events Calendar
 * (`ID-start-end@host`), so that subscribers of its feeds keep their entries.
 */
export async function* writeCalendar(
  records: AsyncIterable<CalendarEvent> | Iterable<CalendarEvent>,
  head: CalendarHead,
): AsyncGenerator<string> {
  const frame = calendarFrame(head).toString();
  const close = frame.lastIndexOf('END:VCALENDAR');
  yield frame.slice(0, close);
  const writtenZones = new Set<string>();
  for await (const storedRecord of records) {
    const record = withMoments(storedRecord, head.zone);
    const displayTimes = shownTimes(record, head.clock, head.zone);
    const zone = zoneOf(record, displayTimes);
    if (zone && !writtenZones.has(zoneId(zone))) {
      writtenZones.add(zoneId(zone));
      yield `${zoneComponent(zone).toString()}\r\n`;
    }
    const uid = uidOf(record.id, displayTimes, head.host);
    const linesByEvent = record.recurs
      ? recurringTimes(record.recurs, { allDay: record.all_day === true })
      : [timeLines(record, displayTimes)];
    for (const times of linesByEvent) yield eventText(record, uid, times);
  }
  yield `${frame.slice(close)}\r\n`;
}

/**
 * Returns the UID of an event as The Events Calendar makes it (`Tribe__Events__iCal`): the wall clock times that are
 * shown, read as if they were UTC, in Unix seconds. The zone does not matter.
 */
const uidOf = (id: number, { start, end }: ShownTimes, host: string): string => `${id}-${unixFromText(start)}-${unixFromText(end)}@${host}`;

/** Returns the zone in which the times of an event are written, if any. */
function zoneOf(record: CalendarEvent, displayTimes: ShownTimes): Zone | undefined {
  if (record.recurs) return zoneOfRepeats(record.recurs, { allDay: record.all_day === true });
  return displayTimes.zone && isWrittenInZone(record, displayTimes, displayTimes.zone) ? displayTimes.zone : undefined;
}

/** Interval at which subscribers should refresh. */
const REFRESH_INTERVAL = 'PT1H';

function calendarFrame({ name, description, url, zone, language }: CalendarHead): ICAL.Component {
  const calendar = new ICAL.Component('vcalendar');
  // Properties that calendar programs used before the standard had any. Their values are texts and must be escaped.
  const extension = (key: string, text: string) =>
    calendar.addPropertyWithValue(key, text.replace(/[\\;,]/g, '\\$&').replaceAll('\n', '\\n'));
  calendar.addPropertyWithValue('version', '2.0');
  calendar.addPropertyWithValue('prodid', `-//${plainLine(name)}//Fasti//${language.toUpperCase()}`);
  calendar.addPropertyWithValue('calscale', 'GREGORIAN');
  calendar.addPropertyWithValue('method', 'PUBLISH');
  if (plainLine(name) !== '') extension('x-wr-calname', plainLine(name));
  extension('x-original-url', webAddress(url) ?? '');
  if (plainLine(description) !== '') extension('x-wr-caldesc', plainLine(description));
  extension('x-wr-timezone', zoneId(zone));
  const refresh = new ICAL.Property('refresh-interval');
  refresh.resetType('duration');
  refresh.setValue(ICAL.Duration.fromString(REFRESH_INTERVAL));
  calendar.addProperty(refresh);
  extension('x-robots-tag', 'noindex');
  extension('x-published-ttl', REFRESH_INTERVAL);
  return calendar;
}

/**
 * Returns a VEVENT. Its lines are built without the library's objects, which would take most of the time for a long
 * calendar.
 */
function eventText(record: CalendarEvent, uid: string, times: readonly string[]): string {
  const description = plainText(record.description);
  const url = webAddress(record.url);
  const lines = [
    'BEGIN:VEVENT',
    line('uid', 'text', [uid]),
    line('dtstamp', 'date-time', [utcTime(record.modified_utc, record.date_utc)]),
    ...times,
    line('summary', 'text', [plainLine(record.title)], languageParameter(record)),
    // The standard has no status for events that are postponed or take place elsewhere.
    ...(record.state === CANCELED ? [line('status', 'text', ['CANCELLED'])] : []),
    ...(description === '' ? [] : [line('description', 'text', [description], languageParameter(record))]),
    ...(isDate(record.date_utc) ? [line('created', 'date-time', [utcTime(record.date_utc)])] : []),
    ...(isDate(record.modified_utc) ? [line('last-modified', 'date-time', [utcTime(record.modified_utc)])] : []),
    ...(url === undefined ? [] : [line('url', 'uri', [url])]),
    ...venueLines(record),
    ...organizerLines(record.organizer),
    ...categoryLines(record),
    ...(record.image === false ? [] : imageLines(record.image.url)),
    ...customLines(record),
    'END:VEVENT',
    '',
  ];
  return lines.join('\r\n');
}

/** Returns the language parameter of a text (RFC 5545, 3.2.10), if the language is known. */
const languageParameter = ({ language }: FeedRecord): Record<string, string> =>
  language ? { language: language.replaceAll('_', '-') } : {};

// ------------------------------------------------------------------------------------------------- where, who, what
function venueLines(record: FeedRecord): string[] {
  const venues = venuesOf(record);
  if (venues.length === 0) return [];
  const { venue, geo_lat: lat, geo_lng: lng } = venues[0]!;
  const places = venues.map(placeOf).filter((place) => place !== '');
  return [
    ...(places.length === 0
      ? []
      : [line('location', 'text', [places.join('; ')], { ...languageParameter(record), ...nameParameter(plainLine(venue), /,/) })]),
    ...(lat === undefined || lng === undefined ? [] : [line('geo', 'float', [[lat, lng]])]),
  ];
}

/** Returns a parameter with the name if it contains the separator that ends names. */
const nameParameter = (name: string, sign: RegExp): Record<string, string> => (sign.test(name) ? { [NAME_PARAMETER]: name } : {});

/** Returns the organizers. The standard has one organizer, who needs an email address; the others become contacts. */
function organizerLines(organizers: readonly OrganizerRecord[]): string[] {
  const mainOrganizer = organizers.find(({ email }) => mailbox(email) !== undefined);
  const contacts = organizers.flatMap((organizer) => {
    const parts = [organizer.organizer, organizer.phone, organizer.website, organizer === mainOrganizer ? undefined : organizer.email].map(
      (part) => plainLine(part ?? ''),
    );
    const isContact = organizer !== mainOrganizer || parts.some((part, index) => index > 0 && part !== '');
    const filledParts = parts.filter((part) => part !== '');
    return isContact && filledParts.length > 0 ? [line('contact', 'text', [filledParts.join(', ')], nameParameter(parts[0]!, /[,;]/))] : [];
  });
  if (!mainOrganizer) return contacts;
  const cn = plainLine(mainOrganizer.organizer);
  return [line('organizer', 'cal-address', [`mailto:${mailbox(mainOrganizer.email)}`], cn === '' ? {} : { cn }), ...contacts];
}

function mailbox(email: string | undefined): string | undefined {
  const address = plainLine(email ?? '');
  return /^[^\s@:;,<>"()[\]\\]+@[^\s@:;,<>"()[\]\\]+$/.test(address) ? encodeURI(address) : undefined;
}

function categoryLines({ categories }: FeedRecord): string[] {
  const names = categories.map(({ name }) => plainLine(name)).filter((name) => name !== '');
  return names.length === 0 ? [] : [line('categories', 'text', names)];
}

/** Returns the site's own fields by name. No standard has a property for them. */
const customLines = ({ custom_fields: fields }: FeedRecord): string[] =>
  isNamed(fields)
    ? Object.entries(fields).map(([name, { value }]) =>
        line(CUSTOM_FIELD_PROPERTY, 'text', [withoutCarriageReturns(value)], { [NAME_PARAMETER]: name }),
      )
    : [];

/**
 * Normalizes the line breaks that forms send (`\r\n`): the library does not escape them, so that they would end the
 * line.
 */
const withoutCarriageReturns = (text: string): string => stripControlCharacters(text.replace(/\r\n?/g, '\n'));

type Named = Exclude<FeedRecord['custom_fields'], readonly unknown[]>;
const isNamed = (fields: FeedRecord['custom_fields']): fields is Named => !Array.isArray(fields);

function imageLines(image: string): string[] {
  const url = webAddress(image);
  if (url === undefined) return [];
  const type = imageMimeOf(url);
  return [line('attach', 'uri', [url], type === undefined ? {} : { fmttype: type })];
}
