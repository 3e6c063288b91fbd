import ICAL from 'ical.js';
import { type ShownTimes, shownTimes } from '../../calendar/shown-times.ts';
import { tableOf } from '../../wordpress/table.ts';
import { addDays, addSeconds, diffSeconds, localFromUnix, offsetAt, textFromUnix, unixFromText, type Zone } from '../../wordpress/time.ts';
import { type EventRecord, type OrganizerRecord, placeOf, plainLine, plainText, venuesOf, webAddress } from '../items/event-record.ts';
import { ZONES_BEGIN, zoneComponent, zoneId } from './zone.ts';

/** Bytes of a line; one that goes on begins with a blank more (RFC 5545, 3.1: 75 octets), which the library does not count. */
const LINE_BYTES = 74;
ICAL.foldLength = LINE_BYTES;

/** What a calendar says of itself. */
export interface CalendarHead {
  readonly name: string;
  readonly description: string;
  /** Home address of the site. */
  readonly url: string;
  /** The zone of the site, and whether its clock is shown for all events instead of their own. */
  readonly zone: Zone;
  readonly clock: 'event' | 'site';
  /** The language of the description. */
  readonly language: string;
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
    const shown = shownTimes(record, head.clock, head.zone);
    const { zone } = shown;
    if (zone && usesZone(record, shown, zone) && !told.has(zoneId(zone))) {
      told.add(zoneId(zone));
      yield `${zoneComponent(zone).toString()}\r\n`;
    }
    yield eventText(record, shown, head);
  }
  yield `${frame.slice(close)}\r\n`;
}

/**
 * The name of an event in calendars, as The Events Calendar makes it (`Tribe__Events__iCal`): the wall clocks that are shown, read as if they were UTC,
 * in Unix seconds. The zone has no part in it.
 */
const uidOf = (id: number, { start, end }: ShownTimes, host: string): string => `${id}-${unixFromText(start)}-${unixFromText(end)}@${host}`;

/** How often those who subscribe should look again. */
const REFRESH = 'PT1H';

function frameOf({ name, description, url, zone, language }: CalendarHead): ICAL.Component {
  const calendar = new ICAL.Component('vcalendar');
  // The names that calendar programs asked for before there were any in a standard; their values are texts all the same.
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
  refresh.setValue(ICAL.Duration.fromString(REFRESH));
  calendar.addProperty(refresh);
  extension('x-robots-tag', 'noindex');
  extension('x-published-ttl', REFRESH);
  return calendar;
}

/** A VEVENT. Its lines are put together without the objects of the library, which would take most of the time of a long calendar. */
function eventText(record: EventRecord, shown: ShownTimes, { host }: CalendarHead): string {
  const description = plainText(record.description);
  const url = webAddress(record.url);
  const lines = [
    'BEGIN:VEVENT',
    line('uid', 'text', [uidOf(record.id, shown, host)]),
    line('dtstamp', 'date-time', [utcTime(record.modified_utc, record.date_utc)]),
    ...timeLines(record, shown),
    line('summary', 'text', [plainLine(record.title)]),
    ...(description === '' ? [] : [line('description', 'text', [description])]),
    ...(isDate(record.date_utc) ? [line('created', 'date-time', [utcTime(record.date_utc)])] : []),
    ...(isDate(record.modified_utc) ? [line('last-modified', 'date-time', [utcTime(record.modified_utc)])] : []),
    ...(url === undefined ? [] : [line('url', 'uri', [url])]),
    ...placeLines(record),
    ...peopleLines(record.organizer),
    ...categoryLines(record),
    ...(record.image === false ? [] : imageLines(record.image.url)),
    'END:VEVENT',
    '',
  ];
  return lines.join('\r\n');
}

/** A property with its values, escaped as their type wants it, and folded. */
function line(name: string, type: string, values: readonly unknown[], parameters: Readonly<Record<string, string>> = {}): string {
  return folded(ICAL.stringify.property([name, parameters, type, ...values], ICAL.design.icalendar, true));
}

/** A line in pieces, each on a line of its own, none cut within a character. */
function folded(whole: string): string {
  if (whole.length * 3 <= LINE_BYTES) return whole;
  const bytes = Buffer.from(whole);
  const pieces: string[] = [];
  let start = 0;
  while (bytes.length - start > LINE_BYTES) {
    let end = start + LINE_BYTES;
    while ((bytes[end]! & 0xc0) === 0x80) end -= 1;
    pieces.push(bytes.toString('utf8', start, end));
    start = end;
  }
  return start === 0 ? whole : [...pieces, bytes.toString('utf8', start)].join('\r\n ');
}

// ------------------------------------------------------------------------------------------------- when
const isDate = (text: string): boolean => !Number.isNaN(unixFromText(text));

/** Start and end: days for what lasts whole days, the end being the day after the last; else times by the clock that is shown. */
function timeLines(record: EventRecord, { start, end, zone }: ShownTimes): string[] {
  const { start_date: first, end_date: last, utc_start_date: startUtc, utc_end_date: endUtc } = record;
  if (record.all_day) return [line('dtstart', 'date', [first.slice(0, 10)]), line('dtend', 'date', [dayAfter(first, last)])];
  return [timeLine('dtstart', start, startUtc, zone), timeLine('dtend', end, endUtc, zone)];
}

/** The day after the last one. The days of a calendar may begin at another hour than midnight; an event that lasts whole days begins at that hour. */
function dayAfter(start: string, end: string): string {
  const begins = diffSeconds(`${start.slice(0, 10)} 00:00:00`, start);
  const after = addSeconds(end, 1 - begins).slice(0, 10);
  const first = addDays(`${start.slice(0, 10)} 00:00:00`, 1).slice(0, 10);
  return [after, first].sort()[1]!;
}

/** Whether an event's times are told in this zone. */
const usesZone = ({ all_day, utc_start_date, utc_end_date }: EventRecord, { start, end }: ShownTimes, zone: Zone): boolean =>
  !all_day && (tells(start, utc_start_date, zone) || tells(end, utc_end_date, zone));

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

function timeLine(name: 'dtstart' | 'dtend', local: string, utc: string, zone: Zone | null): string {
  return zone && tells(local, utc, zone)
    ? line(name, 'date-time', [local.replace(' ', 'T')], { tzid: zoneId(zone) })
    : line(name, 'date-time', [utcTime(utc, local)]);
}

/** The first of these texts that is a date, as time in UTC; the beginning of time if none is. */
function utcTime(...texts: readonly string[]): string {
  const text = texts.find(isDate) ?? '1970-01-01 00:00:00';
  return `${textFromUnix(unixFromText(text)).replace(' ', 'T')}Z`;
}

// ------------------------------------------------------------------------------------------------- where, who, what
function placeLines(record: EventRecord): string[] {
  const venues = venuesOf(record);
  if (venues.length === 0) return [];
  const { geo_lat: lat, geo_lng: lng } = venues[0]!;
  return [
    line('location', 'text', [venues.map(placeOf).join('; ')]),
    ...(lat === undefined || lng === undefined ? [] : [line('geo', 'float', [[lat, lng]])]),
  ];
}

/** The standard knows one organizer, and only by an address; the others are contacts. */
function peopleLines(organizers: readonly OrganizerRecord[]): string[] {
  const mailed = organizers.find(({ email }) => mailbox(email) !== undefined);
  const contacts = organizers.flatMap((other) => {
    const parts = [other.organizer, other.phone, other.website, other === mailed ? undefined : other.email].map((part) =>
      plainLine(part ?? ''),
    );
    const says = other !== mailed || parts.some((part, place) => place > 0 && part !== '');
    return says ? [line('contact', 'text', [parts.filter((part) => part !== '').join(', ')])] : [];
  });
  if (!mailed) return contacts;
  return [line('organizer', 'cal-address', [`mailto:${mailbox(mailed.email)}`], { cn: plainLine(mailed.organizer) }), ...contacts];
}

function mailbox(email: string | undefined): string | undefined {
  const address = plainLine(email ?? '');
  return /^[^\s@:;,<>"()[\]\\]+@[^\s@:;,<>"()[\]\\]+$/.test(address) ? encodeURI(address) : undefined;
}

function categoryLines({ categories }: EventRecord): string[] {
  const names = categories.map(({ name }) => plainLine(name)).filter((name) => name !== '');
  return names.length === 0 ? [] : [line('categories', 'text', names)];
}

const TYPES: ReadonlyMap<string, string> = tableOf({
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
});

function imageLines(image: string): string[] {
  const url = webAddress(image);
  if (url === undefined) return [];
  const type = TYPES.get((/\.(\w+)(?:[?#]|$)/.exec(url)?.[1] ?? '').toLowerCase());
  return [line('attach', 'uri', [url], type === undefined ? {} : { fmttype: type })];
}
