import ICAL from 'ical.js';
import { parseRule, type Rule } from '../../calendar/recurrence-rule.ts';
import { memoize } from '../../memo.ts';
import { stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import type { Line } from './lines.ts';
import { hasStrayDate, mendLine } from './mend.ts';
import { CUSTOM_FIELD, OWN_NAME } from './own-names.ts';
import { modernRule } from './vcalendar.ts';

/** A moment as a file writes it: a day, or a wall clock in a zone, in UTC or in whatever zone who reads it is in. */
export interface Moment {
  /** `YYYY-MM-DD HH:MM:SS`; midnight of a day. */
  readonly wall: string;
  readonly in: 'day' | 'utc' | 'zone' | 'anywhere';
  readonly zone?: string;
}

/** How long something takes: days of the calendar, and exact seconds besides (RFC 5545, 3.3.6). */
export interface Length {
  readonly days: number;
  readonly seconds: number;
}

/** A moment at which something takes place besides; with an end or a length of its own where it is a period. */
export interface ExtraDate {
  readonly start: Moment;
  readonly end?: Moment | undefined;
  readonly length?: Length | undefined;
}

/** A VEVENT as values, checked no further than that they can be read. */
export interface CalendarEvent {
  readonly line: number;
  readonly uid: string;
  readonly recurrenceId: Moment | undefined;
  /** Of an override: whether it holds for all later times too. */
  readonly andFuture: boolean;
  readonly start: Moment | undefined;
  readonly end: Moment | undefined;
  readonly length: Length | undefined;
  /** Whether Microsoft's property says that it lasts whole days, whatever form its dates have. */
  readonly isMarkedAllDay: boolean;
  readonly rules: readonly Rule[];
  readonly exceptRules: readonly Rule[];
  readonly dates: readonly ExtraDate[];
  readonly exceptDates: readonly Moment[];
  readonly sequence: number;
  readonly summary: string;
  /** The language of the summary (BCP 47), where the file says it. */
  readonly language: string;
  readonly description: string;
  /** The description as HTML, where there is one. */
  readonly html: string;
  readonly location: string;
  /** The name that the location begins with, where the file says it. */
  readonly placeName: string;
  readonly geo: { readonly lat: number; readonly lng: number } | undefined;
  readonly organizer: { readonly name: string; readonly email: string } | undefined;
  /** Contacts, and where in a text the name ends, if the file says that: the name. */
  readonly contacts: readonly { readonly text: string; readonly name: string }[];
  readonly categories: readonly string[];
  readonly url: string;
  /** What fields that a site defines hold, by their names. */
  readonly custom: readonly { readonly name: string; readonly value: string }[];
  readonly attachments: readonly { readonly url: string; readonly type: string }[];
  readonly status: string;
  readonly isPrivate: boolean;
  readonly created: Moment | undefined;
  readonly modified: Moment | undefined;
  readonly stamp: Moment | undefined;
  /** Names of the properties that it has, in lower case. */
  readonly propertyNames: ReadonlySet<string>;
  /** Lines that say when it takes place and can't be read or followed: nobody knows its dates. */
  readonly undated: readonly Line[];
  readonly unfollowed: readonly Line[];
  /** Lines by which it repeats, and those by which an override holds for other times than the later ones. */
  readonly repeating: readonly Line[];
  readonly otherRanges: readonly Line[];
  /** Other lines that can't be read, and those that are not UTF-8. */
  readonly unreadable: readonly Line[];
  readonly otherEncoding: readonly Line[];
}

/** Reads the lines of a VEVENT. Undefined: it can't be read at all. */
export function readEvent(lines: readonly Line[], line: number): CalendarEvent | undefined {
  const named = lines.map(withPlainName);
  const sound = named.filter(({ text }) => PROPERTY.test(text));
  // The library reads rules only to follow them, which is done elsewhere.
  const [ruled, others] = [sound.filter(({ text }) => RULE.test(text)), sound.filter(({ text }) => !RULE.test(text))];
  const properties = parseProperties(others.flatMap(({ text }) => mendLine(text)));
  if (!properties) return undefined;
  const all = (name: string): readonly Property[] => properties.get(name) ?? [];
  const texts = (name: string): string[] => all(name).flatMap(textsOf);
  const text = (name: string): string => texts(name)[0] ?? '';
  const moments = memoize((name: string): readonly Moment[] => all(name).flatMap(momentsOf));
  const rules = (name: string): Rule[] =>
    ruled
      .filter(({ text: rule }) => rule.slice(0, name.length).toUpperCase() === name)
      .flatMap(({ text: rule }) => ruleOf(rule) ?? [])
      .slice(0, MOST_RULES);
  const length = lengthFrom(text('duration').trim().toUpperCase());
  const [organizer] = all('organizer');
  const [recurrenceId] = all('recurrence-id');
  const isSecond = secondDates(sound);
  return {
    line,
    uid: text('uid').trim(),
    recurrenceId: moments('recurrence-id')[0],
    andFuture: recurrenceId !== undefined && parameter(recurrenceId, 'range').toUpperCase() === 'THISANDFUTURE',
    start: moments('dtstart')[0],
    end: moments('dtend')[0],
    length,
    isMarkedAllDay: /^TRUE$/i.test(text(MICROSOFT_ALL_DAY).trim()),
    rules: rules('RRULE'),
    exceptRules: rules('EXRULE'),
    dates: all('rdate').flatMap(extraDatesOf).slice(0, MOST_DATES),
    exceptDates: moments('exdate').slice(0, MOST_DATES),
    sequence: /^\d{1,9}$/.test(text('sequence').trim()) ? Number(text('sequence')) : 0,
    summary: text('summary'),
    description: text('description'),
    html: htmlOf(all('x-alt-desc')) || alternativeOf(all('description')),
    location: text('location'),
    geo: sound.map(({ text: one }) => geoOf(one)).find(Boolean) ?? appleGeoOf(all(APPLE_PLACE)),
    organizer: organizer ? { name: parameter(organizer, 'cn'), email: mailOf(raw(organizer)) } : undefined,
    ...saidBeside(all),
    categories: texts('categories')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    url: text('url').trim(),
    custom: all(CUSTOM_FIELD).map(customValue),
    attachments: [...all('image').map(pictureOf), ...all('attach').map(attachmentOf)],
    status: text('status').trim().toUpperCase(),
    isPrivate: /^(PRIVATE|CONFIDENTIAL)$/i.test(text('class').trim()),
    ...writtenAt(moments),
    propertyNames: new Set(properties.keys()),
    undated: sound.filter(({ text: one }) => isUndated(one, { length, moments })),
    unfollowed: ruled.filter(({ text: rule }) => lineValue(rule) !== '' && ruleOf(rule) === undefined),
    repeating: sound.filter(({ text: one }) => ADDS_TIMES.test(one) && lineValue(one) !== ''),
    otherRanges: sound.filter(({ text: one }) => OTHER_RANGE.test(one)),
    unreadable: named.filter((one) => !PROPERTY.test(one.text) || hasStrayDate(one.text) || isStrayPlace(one.text) || isSecond(one)),
    otherEncoding: lines.filter(({ encoding }) => encoding !== undefined),
  };
}

/** Says that Exchange and Outlook mean whole days, which some of their versions write as moments between midnights. */
export const MICROSOFT_ALL_DAY = 'x-microsoft-cdo-alldayevent';

/** What parameters say of texts. */
function saidBeside(all: (name: string) => readonly Property[]): Pick<CalendarEvent, 'language' | 'placeName' | 'contacts'> {
  const [summary] = all('summary');
  const [location] = all('location');
  return {
    language: summary ? parameter(summary, 'language') : '',
    placeName: location ? parameter(location, OWN_NAME) : '',
    contacts: all('contact').flatMap((contact) => textsOf(contact).map((text) => ({ text, name: parameter(contact, OWN_NAME) }))),
  };
}

/** The moments that the properties of a name say. */
type MomentsOf = (name: string) => readonly Moment[];

/** When it was written and changed, and when the file was made. */
const writtenAt = (moments: MomentsOf): Pick<CalendarEvent, 'created' | 'modified' | 'stamp'> => ({
  created: moments('created')[0],
  modified: moments('last-modified')[0],
  stamp: moments('dtstamp')[0],
});

/** Whether a line says a date of the event, or how long it is, that cannot be read. */
function isUndated(text: string, { length, moments }: { length: CalendarEvent['length']; moments: MomentsOf }): boolean {
  const name = oneDateOf(text);
  return name !== undefined && lineValue(text) !== '' && (name === 'duration' ? length === undefined : moments(name).length === 0);
}

const PROPERTY = /^[A-Za-z0-9-]+[;:]/;

/** A line without the blanks that some programs write around its name. */
const withPlainName = (line: Line): Line => {
  const text = line.text.replace(/^([A-Za-z0-9-]+)[ \t]+(?=[;:])/, '$1');
  return text === line.text ? line : { ...line, text };
};

/** Finds the lines that say a date of the event which a line before them has said otherwise: the first counts. */
function secondDates(lines: readonly Line[]): (line: Line) => boolean {
  const firstTexts = new Map<string, string>();
  for (const { text } of lines) {
    const name = oneDateOf(text);
    if (name !== undefined && !firstTexts.has(name)) firstTexts.set(name, text);
  }
  return ({ text }) => (firstTexts.get(oneDateOf(text) ?? '') ?? text) !== text;
}

const RULE = /^(?:RRULE|EXRULE)[:;]/i;
const ADDS_TIMES = /^(?:RRULE|RDATE)[:;]/i;
/** `THISANDPRIOR` of RFC 2445, which RFC 5545 does without. */
const OTHER_RANGE = /^RECURRENCE-ID;(?:.*;)?RANGE=(?!"?THISANDFUTURE)/i;
const ONE_DATE = /^(DTSTART|DTEND|DURATION|RECURRENCE-ID)[:;]/i;
/** The name, in small letters, of a date that a line says and an event has once. */
const oneDateOf = (line: string): string | undefined => ONE_DATE.exec(line)?.[1]?.toLowerCase();

/** What a line of dates or of a rule says, without its parameters. */
const lineValue = (line: string): string => line.slice(line.lastIndexOf(':') + 1).trim();
/** The rule that a line says, in iCalendar's words or in those of vCalendar. */
function ruleOf(line: string): Rule | undefined {
  const text = lineValue(line);
  return parseRule(modernRule(text) ?? text);
}

const MOST_DATES = 5000;
const MOST_RULES = 20;

/**
 * A property as the library reads it (jCal, RFC 7265): its name in lower case, its parameters, its type and its values.
 */
type Property = readonly [name: string, parameters: Readonly<Record<string, unknown>>, type: string, ...values: readonly unknown[]];

/** The properties by name; lines that the library stumbles over are left out one by one, as long as there are few. */
function parseProperties(lines: readonly string[]): ReadonlyMap<string, readonly Property[]> | undefined {
  const parse = (some: readonly string[]): readonly Property[] | undefined => {
    try {
      // The library's types do not say what a parsed component is.
      const [, properties] = ICAL.parse(['BEGIN:VEVENT', ...some, 'END:VEVENT'].join('\r\n')) as unknown as [string, Property[]];
      return properties;
    } catch {
      return undefined;
    }
  };
  const properties = parse(lines) ?? parse(lines.filter((line) => parse([line]) !== undefined));
  if (!properties) return undefined;
  const byName = new Map<string, Property[]>();
  for (const property of properties) {
    const same = byName.get(property[0]);
    if (same) same.push(property);
    else byName.set(property[0], [property]);
  }
  return byName;
}

/** The values of a property as they are written. */
const rawValues = ([, , , ...values]: Property): string[] =>
  values.map((value) => (Array.isArray(value) ? value.join('/') : String(value)));
const raw = (property: Property): string => rawValues(property)[0] ?? '';

const textsOf = (property: Property): string[] => rawValues(property).map((value) => stripControlCharacters(value.replace(/\r\n?/g, '\n')));

function parameter([, parameters]: Property, name: string): string {
  const value = parameters[name];
  return value === undefined ? '' : stripControlCharacters(String((Array.isArray(value) ? value[0] : value) ?? '')).trim();
}

function momentsOf(property: Property): Moment[] {
  const zone = parameter(property, 'tzid');
  return rawValues(property).flatMap((value) => momentOf(value, zone));
}

function momentOf(value: string, zone: string): Moment[] {
  const [, day = '', time, utc] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(Z)?)?$/.exec(value) ?? [];
  const wall = `${day} ${time?.replace(':60', ':59') ?? '00:00:00'}`;
  if (day === '' || !isShown(wall)) return [];
  if (time === undefined) return [{ wall, in: 'day' }];
  // Some programs write a Z behind times of a zone.
  if (zone !== '') return [{ wall, in: 'zone', zone }];
  return [{ wall, in: utc === undefined ? 'anywhere' : 'utc' }];
}

/** Whether a calendar and a clock ever show this; an end of the day at 24:00 is a midnight. */
const isShown = (wall: string): boolean => wall.endsWith(' 24:00:00') || textFromUnix(unixFromText(wall)) === wall;

function extraDatesOf(property: Property): ExtraDate[] {
  const zone = parameter(property, 'tzid');
  return rawValues(property).flatMap((value): ExtraDate[] => {
    const [from = '', to] = value.split('/');
    const [start] = momentOf(from, zone);
    if (!start) return [];
    return [{ start, ...(to === undefined ? {} : { end: momentOf(to, zone)[0], length: lengthFrom(to) }) }];
  });
}

const LONGEST_S = 366 * 86_400;

/** The length that a DURATION says, below zero where it says so; undefined where it is none. */
function lengthFrom(text: string): Length | undefined {
  const [, sign, weeks = '0', days = '0', hours = '0', minutes = '0', seconds = '0'] =
    /^([+-]?)P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/.exec(text) ?? [];
  if (sign === undefined || !/\d/.test(text)) return undefined;
  const direction = sign === '-' ? -1 : 1;
  return {
    days: direction * Math.min(LONGEST_S / 86_400, Number(weeks) * 7 + Number(days)),
    seconds: direction * Math.min(LONGEST_S, Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)),
  };
}

/** Where Apple's calendars put a place beside its name and address: `geo:45.07,7.68`. */
const APPLE_PLACE = 'x-apple-structured-location';

const appleGeoOf = ([property]: readonly Property[]): CalendarEvent['geo'] =>
  coordinatesOf(/^geo:([\d.-]+,[\d.-]+)/i.exec(property ? raw(property).trim() : '')?.[1]?.split(',') ?? []);

const GEO = /^GEO[:;]/i;

/**
 * The coordinates that a line says, read from the line itself: the library would cut `45,07` to 45. vCalendar has a
 * comma between the two.
 */
function geoOf(line: string): CalendarEvent['geo'] {
  if (!GEO.test(line)) return undefined;
  const value = lineValue(line).replaceAll('\\', '');
  const numbers = value.includes(';') ? value.replaceAll(',', '.').split(';') : value.split(',');
  return numbers.length === 2 && numbers.every((number) => /^\s*[+-]?\d{1,3}(?:\.\d*)?(?:e-?\d)?\s*$/i.test(number))
    ? coordinatesOf(numbers)
    : undefined;
}

/** Whether a line is to say coordinates and does not; some programs write 0 where they know none. */
const isStrayPlace = (line: string): boolean => GEO.test(line) && /[^0.,;+\s-]/.test(lineValue(line)) && geoOf(line) === undefined;

function coordinatesOf(numbers: readonly string[]): CalendarEvent['geo'] {
  const [lat = Number.NaN, lng = Number.NaN] = numbers.map(Number);
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && !(lat === 0 && lng === 0) ? { lat, lng } : undefined;
}

const attachmentOf = (property: Property) => ({
  url: property[2] === 'uri' ? raw(property).trim() : '',
  type: parameter(property, 'fmttype').toLowerCase(),
});

/** A picture of RFC 7986 (5.10), whose address need not look like one. */
const pictureOf = (property: Property) => ({ url: attachmentOf(property).url, type: attachmentOf(property).type || 'image/jpeg' });

const mailOf = (address: string): string => (/^mailto:/i.test(address) ? percentDecoded(address.slice(7)).trim() : '');

function htmlOf(properties: readonly Property[]): string {
  const property = properties.find((one) => /^text\/html$/i.test(parameter(one, 'fmttype')));
  return property ? extensionText(property) : '';
}

/** The description as Thunderbird writes its HTML: `ALTREP="data:text/html,..."`. */
function alternativeOf([property]: readonly Property[]): string {
  const [, base64, data = ''] =
    /^data:text\/html(?:;charset=[\w-]+)?(;base64)?,(.*)$/is.exec(property ? parameter(property, 'altrep') : '') ?? [];
  return stripControlCharacters(base64 ? Buffer.from(data, 'base64').toString() : percentDecoded(data));
}

const customValue = (property: Property) => ({ name: parameter(property, OWN_NAME), value: extensionText(property) });

/**
 * The text of an extension. The library knows no types of extensions, so that their texts come as they are written,
 * unless the file itself says that it is one.
 */
function extensionText(property: Property): string {
  const [text = ''] = textsOf(property);
  return property[2] === 'text' ? text : text.replace(/\\([\\,;nN])/g, (_, sign: string) => (sign.toLowerCase() === 'n' ? '\n' : sign));
}
