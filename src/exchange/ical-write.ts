import ICAL from 'ical.js';
import { tableOf } from '../wordpress/table.ts';
import {
  addDays,
  addSeconds,
  diffSeconds,
  localFromUnix,
  offsetAt,
  parseZone,
  unixFromLocal,
  unixFromText,
  type Zone,
} from '../wordpress/time.ts';
import { type EventRecord, type OrganizerRecord, placeOf, plainLine, plainText, venuesOf, webAddress } from './event-record.ts';
import { ZONES_BEGIN, zoneComponent, zoneId } from './ical-zone.ts';

// The library does not count the blank that a continued line begins with (RFC 5545, 3.1: 75 octets).
ICAL.foldLength = 74;

/** What a calendar says of itself. */
export interface CalendarHead {
  readonly name: string;
  readonly description: string;
  /** Address of the page it shows. */
  readonly url: string;
  /** The zone of the site. */
  readonly zone: Zone;
  /** Host of the site, which the names of events end with. */
  readonly host: string;
}

/**
 * Events as an iCalendar stream (RFC 5545), in pieces that end with a line. The zone of an event comes right before the first event that is in it, so that
 * nothing need be known in advance. UIDs are those of The Events Calendar (`ID-start-end@host`), so that who subscribed there keeps what they have.
 */
export async function* writeCalendar(
  records: AsyncIterable<EventRecord> | Iterable<EventRecord>,
  head: CalendarHead,
): AsyncGenerator<string> {
  const frame = frameOf(head).toString();
  const close = frame.lastIndexOf('END:VCALENDAR');
  yield frame.slice(0, close);
  const told = new Set<string>();
  for await (const record of records) {
    const zone = parseZone(record.timezone);
    if (zone && usesZone(record, zone) && !told.has(zoneId(zone))) {
      told.add(zoneId(zone));
      yield `${zoneComponent(zone).toString()}\r\n`;
    }
    yield `${eventComponent(record, head).toString()}\r\n`;
  }
  yield `${frame.slice(close)}\r\n`;
}

/** The name of an event in calendars: The Events Calendar reads its wall clock in the zone of the site. */
export function uidOf(
  { id, start_date: start, end_date: end }: Pick<EventRecord, 'id' | 'start_date' | 'end_date'>,
  { zone, host }: Pick<CalendarHead, 'zone' | 'host'>,
): string {
  return `${id}-${unixFromLocal(start, zone)}-${unixFromLocal(end, zone)}@${host}`;
}

/** How often those who subscribe should look again. */
const REFRESH = 'PT1H';

function frameOf({ name, description, url, zone }: CalendarHead): ICAL.Component {
  const calendar = new ICAL.Component('vcalendar');
  calendar.addPropertyWithValue('version', '2.0');
  calendar.addPropertyWithValue('prodid', `-//${plainLine(name)}//Fasti//EN`);
  calendar.addPropertyWithValue('calscale', 'GREGORIAN');
  const refresh = new ICAL.Property('refresh-interval');
  refresh.resetType('duration');
  refresh.setValue(ICAL.Duration.fromString(REFRESH));
  calendar.addProperty(refresh);
  // The names that calendar programs asked for before there were any in a standard; their values are texts all the same.
  const extension = (key: string, text: string) =>
    calendar.addPropertyWithValue(key, text.replace(/[\\;,]/g, '\\$&').replaceAll('\n', '\\n'));
  extension('x-published-ttl', REFRESH);
  if (plainLine(name) !== '') extension('x-wr-calname', plainLine(name));
  if (plainLine(description) !== '') extension('x-wr-caldesc', plainLine(description));
  extension('x-wr-timezone', zoneId(zone));
  extension('x-original-url', webAddress(url) ?? '');
  return calendar;
}

function eventComponent(record: EventRecord, head: CalendarHead): ICAL.Component {
  const event = new ICAL.Component('vevent');
  event.addPropertyWithValue('uid', uidOf(record, head));
  event.addPropertyWithValue('dtstamp', utcTime(record.modified_utc, record.date_utc));
  addTimes(event, record);
  event.addPropertyWithValue('summary', plainLine(record.title));
  const description = plainText(record.description);
  if (description !== '') event.addPropertyWithValue('description', description);
  if (isDate(record.date_utc)) event.addPropertyWithValue('created', utcTime(record.date_utc));
  if (isDate(record.modified_utc)) event.addPropertyWithValue('last-modified', utcTime(record.modified_utc));
  const url = webAddress(record.url);
  if (url !== undefined) event.addPropertyWithValue('url', url);
  addPlace(event, record);
  addPeople(event, record.organizer);
  addCategories(event, record);
  if (record.image !== false) addImage(event, record.image.url);
  return event;
}

// ------------------------------------------------------------------------------------------------- when
const isDate = (text: string): boolean => !Number.isNaN(unixFromText(text));

/** Start and end: days for what lasts whole days, the end being the day after the last; else times in the event's zone. */
function addTimes(event: ICAL.Component, record: EventRecord): void {
  const { start_date: start, end_date: end, utc_start_date: startUtc, utc_end_date: endUtc } = record;
  if (record.all_day) {
    event.addPropertyWithValue('dtstart', ICAL.Time.fromDateString(start.slice(0, 10)));
    event.addPropertyWithValue('dtend', ICAL.Time.fromDateString(dayAfter(start, end)));
    return;
  }
  const zone = parseZone(record.timezone);
  addTime(event, 'dtstart', start, startUtc, zone);
  addTime(event, 'dtend', end, endUtc, zone);
}

/** The day after the last one. The days of a calendar may begin at another hour than midnight; an event that lasts whole days begins at that hour. */
function dayAfter(start: string, end: string): string {
  const begins = diffSeconds(`${start.slice(0, 10)} 00:00:00`, start);
  const after = addSeconds(end, 1 - begins).slice(0, 10);
  const first = addDays(`${start.slice(0, 10)} 00:00:00`, 1).slice(0, 10);
  return [after, first].sort()[1]!;
}

/** Whether an event's times are told in its zone. */
const usesZone = ({ all_day, start_date, end_date, utc_start_date, utc_end_date }: EventRecord, zone: Zone): boolean =>
  !all_day && (tells(start_date, utc_start_date, zone) || tells(end_date, utc_end_date, zone));

/**
 * Whether a wall clock tells the moment to who knows the zone: not in UTC, not where the clock shows the time a second time (RFC 5545, 3.3.5: the first is
 * meant), not before the zone's rules are told, and not where the two texts disagree.
 */
function tells(local: string, utc: string, zone: Zone): boolean {
  if (zone.rules === null && zone.seconds === 0) return false;
  const unix = unixFromText(utc);
  if (unix < ZONES_BEGIN || localFromUnix(unix, zone) !== local) return false;
  const earlier = unix - (offsetAt(unix - 86_400, zone) - offsetAt(unix, zone)) * 60;
  return earlier >= unix || localFromUnix(earlier, zone) !== local;
}

function addTime(event: ICAL.Component, name: 'dtstart' | 'dtend', local: string, utc: string, zone: Zone | null): void {
  const property = new ICAL.Property(name);
  if (zone && tells(local, utc, zone)) {
    property.setParameter('tzid', zoneId(zone));
    property.setValue(ICAL.Time.fromString(local.replace(' ', 'T'), property));
  } else property.setValue(utcTime(utc, local));
  event.addProperty(property);
}

/** The first of these texts that is a date, as time in UTC; the beginning of time if none is. */
function utcTime(...texts: readonly string[]): ICAL.Time {
  const text = texts.find(isDate) ?? '1970-01-01 00:00:00';
  return ICAL.Time.fromString(`${text.replace(' ', 'T')}Z`, undefined as never);
}

// ------------------------------------------------------------------------------------------------- where, who, what
function addPlace(event: ICAL.Component, record: EventRecord): void {
  const venues = venuesOf(record);
  if (venues.length === 0) return;
  event.addPropertyWithValue('location', venues.map(placeOf).join('; '));
  const { geo_lat: lat, geo_lng: lng } = venues[0]!;
  if (lat === undefined || lng === undefined) return;
  const geo = new ICAL.Property('geo');
  geo.setValue([lat, lng] as never);
  event.addProperty(geo);
}

/** The standard knows one organizer, and only by an address; the others are contacts. */
function addPeople(event: ICAL.Component, organizers: readonly OrganizerRecord[]): void {
  const mailed = organizers.find(({ email }) => mailbox(email) !== undefined);
  if (mailed) {
    const property = new ICAL.Property('organizer');
    property.setParameter('cn', plainLine(mailed.organizer));
    property.setValue(`mailto:${mailbox(mailed.email)}`);
    event.addProperty(property);
  }
  for (const other of organizers) {
    const parts = [other.organizer, other.phone, other.website, other === mailed ? undefined : other.email].map((part) =>
      plainLine(part ?? ''),
    );
    if (other !== mailed || parts.some((part, place) => place > 0 && part !== ''))
      event.addPropertyWithValue('contact', parts.filter((part) => part !== '').join(', '));
  }
}

function mailbox(email: string | undefined): string | undefined {
  const address = plainLine(email ?? '');
  return /^[^\s@:;,<>"()[\]\\]+@[^\s@:;,<>"()[\]\\]+$/.test(address) ? encodeURI(address) : undefined;
}

function addCategories(event: ICAL.Component, { categories }: EventRecord): void {
  const names = categories.map(({ name }) => plainLine(name)).filter((name) => name !== '');
  if (names.length === 0) return;
  const property = new ICAL.Property('categories');
  property.setValues(names);
  event.addProperty(property);
}

const TYPES: ReadonlyMap<string, string> = tableOf({
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
});

function addImage(event: ICAL.Component, image: string): void {
  const url = webAddress(image);
  if (url === undefined) return;
  const property = new ICAL.Property('attach');
  const type = TYPES.get((/\.(\w+)(?:[?#]|$)/.exec(url)?.[1] ?? '').toLowerCase());
  if (type !== undefined) property.setParameter('fmttype', type);
  property.setValue(url);
  event.addProperty(property);
}
