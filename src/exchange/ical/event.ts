import { parseRule, type Rule } from '../../calendar/recurrence-rule.ts';
import { memoize } from '../../memo.ts';
import { stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import { isWallTime, MAX_IMPORTED_S } from '../items/written-times.ts';
import { CUSTOM_FIELD_PROPERTY, NAME_PARAMETER } from './extension-names.ts';
import type { Line } from './lines.ts';
import { type Property, parameter, parseProperties, rawText, rawValues, textsOf } from './properties.ts';
import { hasInvalidDate, repairLine } from './repair-line.ts';
import { toICalendarRule } from './vcalendar.ts';

/**
 * A date or time as a file states it: a day, or a wall clock time in a zone, in UTC, or floating (in the reader's
 * zone).
 */
export interface Moment {
  /** `YYYY-MM-DD HH:MM:SS`; midnight if it is a day. */
  readonly wall: string;
  readonly in: 'day' | 'utc' | 'zone' | 'anywhere';
  readonly zone?: string;
}

/** A duration: calendar days plus exact seconds (RFC 5545, 3.3.6). */
export interface Length {
  readonly days: number;
  readonly seconds: number;
}

/** An additional date of an event; has its own end or duration if it is a period. */
export interface ExtraDate {
  readonly start: Moment;
  readonly end?: Moment | undefined;
  readonly length?: Length | undefined;
}

/** A list of an event that is read only up to a number of values. */
export type CutList = 'RRULE' | 'EXRULE' | 'RDATE' | 'EXDATE';

/** A VEVENT as parsed values. They are readable, but not validated further. */
export interface CalendarEvent {
  readonly line: number;
  readonly uid: string;
  readonly recurrenceId: Moment | undefined;
  /** For an override: whether it applies to all later dates as well. */
  readonly appliesToLaterDates: boolean;
  readonly start: Moment | undefined;
  readonly end: Moment | undefined;
  readonly length: Length | undefined;
  /** Whether Microsoft's property marks the event as all-day, whatever form its dates have. */
  readonly isMarkedAllDay: boolean;
  readonly rules: readonly Rule[];
  readonly exclusionRules: readonly Rule[];
  readonly dates: readonly ExtraDate[];
  readonly exclusionDates: readonly Moment[];
  readonly sequence: number;
  readonly summary: string;
  /** Language of the summary (BCP 47), if the file states it. */
  readonly language: string;
  readonly description: string;
  /** The description as HTML, if there is one. */
  readonly html: string;
  readonly location: string;
  /** The name at the start of the location, if the file marks it. */
  readonly placeName: string;
  readonly geo: { readonly lat: number; readonly lng: number } | undefined;
  /** `identity`: the name that identifies the organizer, if it is not that by which people know it. */
  readonly organizer: { readonly name: string; readonly email: string; readonly identity?: string } | undefined;
  /** Contacts, with the name that the text begins with if the file marks it. */
  readonly contacts: readonly { readonly text: string; readonly name: string }[];
  readonly categories: readonly string[];
  readonly url: string;
  /** Values of the site's own fields, by field name. */
  readonly customFields: readonly { readonly name: string; readonly value: string }[];
  readonly attachments: readonly { readonly url: string; readonly type: string }[];
  readonly status: string;
  readonly isPrivate: boolean;
  readonly created: Moment | undefined;
  readonly modified: Moment | undefined;
  readonly madeAt: Moment | undefined;
  /** Names of the properties that the event has, in lower case. */
  readonly propertyNames: ReadonlySet<string>;
  /** Lines about the event's dates that cannot be read or followed, so that its dates are unknown. */
  readonly undated: readonly Line[];
  readonly unsupported: readonly Line[];
  /** Lists that are longer than what is read of them. */
  readonly cut: readonly CutList[];
  /** Lines that make the event repeat, and override lines whose range is not the later dates. */
  readonly repeating: readonly Line[];
  readonly otherRanges: readonly Line[];
  /** Other lines that cannot be read, and lines that are not UTF-8. */
  readonly unreadable: readonly Line[];
  readonly otherEncoding: readonly Line[];
}

/** Parses the lines of a VEVENT. Returns undefined if it cannot be read at all. */
export function readEvent(lines: readonly Line[], line: number): CalendarEvent | undefined {
  const validLines = lines.filter(({ text }) => PROPERTY.test(text));
  // Rules are parsed elsewhere; the library would read them only to expand them.
  const [ruleLines, otherLines] = [validLines.filter(({ text }) => RULE.test(text)), validLines.filter(({ text }) => !RULE.test(text))];
  const properties = parseProperties(otherLines.flatMap(({ text }) => repairLine(text)));
  if (!properties) return undefined;
  const propertiesOf = (name: string): readonly Property[] => properties.get(name) ?? [];
  const texts = (name: string): string[] => propertiesOf(name).flatMap(textsOf);
  const text = (name: string): string => texts(name)[0] ?? '';
  const moments = memoize((name: string): readonly Moment[] => propertiesOf(name).flatMap(momentsOf));
  const rules = (name: string): Rule[] =>
    ruleLines.filter(({ text: rule }) => rule.slice(0, name.length).toUpperCase() === name).flatMap(({ text: rule }) => ruleOf(rule) ?? []);
  const length = lengthFrom(text('duration').trim().toUpperCase());
  const [organizer] = propertiesOf('organizer');
  const [recurrenceId] = propertiesOf('recurrence-id');
  const isSecond = repeatedDateTest(validLines);
  return {
    line,
    uid: text('uid').trim(),
    recurrenceId: moments('recurrence-id')[0],
    appliesToLaterDates: recurrenceId !== undefined && parameter(recurrenceId, 'range').toUpperCase() === 'THISANDFUTURE',
    start: moments('dtstart')[0],
    end: moments('dtend')[0],
    length,
    isMarkedAllDay: /^TRUE$/i.test(text(MICROSOFT_ALL_DAY).trim()),
    ...cutLists({
      rules: rules('RRULE'),
      exclusionRules: rules('EXRULE'),
      dates: propertiesOf('rdate').flatMap(extraDatesOf),
      exclusionDates: moments('exdate'),
    }),
    sequence: /^\d{1,9}$/.test(text('sequence').trim()) ? Number(text('sequence')) : 0,
    summary: text('summary'),
    description: text('description'),
    html: htmlOf(propertiesOf('x-alt-desc')) || alternativeOf(propertiesOf('description')),
    location: text('location'),
    geo: validLines.map(({ text: lineText }) => geoOf(lineText)).find(Boolean) ?? appleGeoOf(propertiesOf(APPLE_PLACE)),
    organizer: organizer ? { name: parameter(organizer, 'cn'), email: mailOf(rawText(organizer)) } : undefined,
    ...textsInParameters(propertiesOf),
    categories: texts('categories')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    url: text('url').trim(),
    customFields: propertiesOf(CUSTOM_FIELD_PROPERTY).map(customValue),
    attachments: [...propertiesOf('image').map(pictureOf), ...propertiesOf('attach').map(attachmentOf)],
    status: text('status').trim().toUpperCase(),
    isPrivate: /^(PRIVATE|CONFIDENTIAL)$/i.test(text('class').trim()),
    ...creationTimes(moments),
    propertyNames: new Set(properties.keys()),
    undated: validLines.filter(({ text: lineText }) => isUndated(lineText, { length, moments })),
    unsupported: ruleLines.filter(({ text: rule }) => lineValue(rule) !== '' && ruleOf(rule) === undefined),
    repeating: validLines.filter(({ text: lineText }) => ADDS_DATES.test(lineText) && lineValue(lineText) !== ''),
    otherRanges: validLines.filter(({ text: lineText }) => OTHER_RANGE.test(lineText)),
    unreadable: lines.filter((one) => !PROPERTY.test(one.text) || hasInvalidDate(one.text) || hasInvalidGeo(one.text) || isSecond(one)),
    otherEncoding: lines.filter(({ encoding }) => encoding !== undefined),
  };
}

/**
 * Property by which Exchange and Outlook mark all-day events, which some versions write as times from midnight to
 * midnight.
 */
export const MICROSOFT_ALL_DAY = 'x-microsoft-cdo-alldayevent';

/** Returns lists without the values beyond their limits, and the names of those that were longer. */
function cutLists({
  rules,
  exclusionRules,
  dates,
  exclusionDates,
}: Pick<CalendarEvent, 'rules' | 'exclusionRules' | 'dates' | 'exclusionDates'>): Pick<
  CalendarEvent,
  'rules' | 'exclusionRules' | 'dates' | 'exclusionDates' | 'cut'
> {
  const lists = { RRULE: rules, EXRULE: exclusionRules, RDATE: dates, EXDATE: exclusionDates };
  return {
    rules: rules.slice(0, MAX_VALUES.RRULE),
    exclusionRules: exclusionRules.slice(0, MAX_VALUES.EXRULE),
    dates: dates.slice(0, MAX_VALUES.RDATE),
    exclusionDates: exclusionDates.slice(0, MAX_VALUES.EXDATE),
    cut: (['RRULE', 'EXRULE', 'RDATE', 'EXDATE'] as const).filter((name) => lists[name].length > MAX_VALUES[name]),
  };
}

/**
 * Whether an event cannot be imported, because its dates cannot be read, or because not all of its exceptions are read,
 * so that dates would take place which the file leaves out.
 */
export const isLeftOut = ({ undated, unsupported, cut }: CalendarEvent): boolean =>
  undated.length + unsupported.length > 0 || cut.some((name) => name === 'EXRULE' || name === 'EXDATE');

/** Returns what the parameters of text properties state. */
function textsInParameters(
  propertiesOf: (name: string) => readonly Property[],
): Pick<CalendarEvent, 'language' | 'placeName' | 'contacts'> {
  const [summary] = propertiesOf('summary');
  const [location] = propertiesOf('location');
  return {
    language: summary ? parameter(summary, 'language') : '',
    placeName: location ? parameter(location, NAME_PARAMETER) : '',
    contacts: propertiesOf('contact').flatMap((contact) =>
      textsOf(contact).map((text) => ({ text, name: parameter(contact, NAME_PARAMETER) })),
    ),
  };
}

/** Returns the moments in all properties of a name. */
type MomentsOf = (name: string) => readonly Moment[];

/** Returns when the event was created and last modified, and when the file was made. */
const creationTimes = (moments: MomentsOf): Pick<CalendarEvent, 'created' | 'modified' | 'madeAt'> => ({
  created: moments('created')[0],
  modified: moments('last-modified')[0],
  madeAt: moments('dtstamp')[0],
});

/** Whether a line gives a date of the event or its duration and cannot be read. */
function isUndated(text: string, { length, moments }: { length: CalendarEvent['length']; moments: MomentsOf }): boolean {
  const name = singleDateNameOf(text);
  return name !== undefined && lineValue(text) !== '' && (name === 'duration' ? length === undefined : moments(name).length === 0);
}

const PROPERTY = /^[A-Za-z0-9-]+[;:]/;

/** Returns a predicate for lines that repeat a single-valued date property with another value; the first one counts. */
function repeatedDateTest(lines: readonly Line[]): (line: Line) => boolean {
  const firstTexts = new Map<string, string>();
  for (const { text } of lines) {
    const name = singleDateNameOf(text);
    if (name !== undefined && !firstTexts.has(name)) firstTexts.set(name, text);
  }
  return ({ text }) => (firstTexts.get(singleDateNameOf(text) ?? '') ?? text) !== text;
}

const RULE = /^(?:RRULE|EXRULE)[:;]/i;
const ADDS_DATES = /^(?:RRULE|RDATE)[:;]/i;
/** `THISANDPRIOR` of RFC 2445, which RFC 5545 dropped. */
const OTHER_RANGE = /^RECURRENCE-ID;(?:.*;)?RANGE=(?!"?THISANDFUTURE)/i;
const SINGLE_DATE = /^(DTSTART|DTEND|DURATION|RECURRENCE-ID)[:;]/i;
/** Returns the name, in lower case, of the single-valued date property on a line. */
const singleDateNameOf = (line: string): string | undefined => SINGLE_DATE.exec(line)?.[1]?.toLowerCase();

/** Returns the value of a line with dates or a rule, without its parameters. */
const lineValue = (line: string): string => line.slice(line.lastIndexOf(':') + 1).trim();
/**
 * Returns the rule on a line, in the syntax of iCalendar or vCalendar. Its end may contain colons
 * (`UNTIL=2026-12-31T22:59:59Z`), and some programs write `RRULE:` twice.
 */
function ruleOf(line: string): Rule | undefined {
  const text = line.replace(/^(?:[^:"]|"[^"]*")*:(?:(?:EX|R)RULE:)?/i, '').trim();
  return parseRule(toICalendarRule(text) ?? text);
}

/** Maximum number of values that are read of the lists of an event. */
const MAX_VALUES: Readonly<Record<CutList, number>> = { RRULE: 20, EXRULE: 20, RDATE: 5000, EXDATE: 5000 };

function momentsOf(property: Property): Moment[] {
  const zone = parameter(property, 'tzid');
  return rawValues(property).flatMap((value) => momentOf(value, zone));
}

function momentOf(value: string, zone: string): Moment[] {
  const [, day = '', time, utc] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(Z)?)?$/.exec(value) ?? [];
  const wall = `${day} ${time?.replace(':60', ':59') ?? '00:00:00'}`;
  if (day === '' || !isWallTime(wall)) return [];
  if (time === undefined) return [{ wall, in: 'day' }];
  // Some programs write a Z after times that have a zone.
  if (zone !== '') return [{ wall, in: 'zone', zone }];
  return [{ wall, in: utc === undefined ? 'anywhere' : 'utc' }];
}

function extraDatesOf(property: Property): ExtraDate[] {
  const zone = parameter(property, 'tzid');
  return rawValues(property).flatMap((value): ExtraDate[] => {
    const [from = '', to] = value.split('/');
    const [start] = momentOf(from, zone);
    if (!start) return [];
    return [{ start, ...(to === undefined ? {} : { end: momentOf(to, zone)[0], length: lengthFrom(to) }) }];
  });
}

/** Parses a DURATION, which may be negative; returns undefined if it is invalid. */
function lengthFrom(text: string): Length | undefined {
  const [, sign, weeks = '0', days = '0', hours = '0', minutes = '0', seconds = '0'] =
    /^([+-]?)P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/.exec(text) ?? [];
  if (sign === undefined || !/\d/.test(text)) return undefined;
  const direction = sign === '-' ? -1 : 1;
  return {
    days: direction * Math.min(MAX_IMPORTED_S / 86_400, Number(weeks) * 7 + Number(days)),
    seconds: direction * Math.min(MAX_IMPORTED_S, Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)),
  };
}

/** Property in which Apple's calendars store coordinates in addition to name and address: `geo:45.07,7.68`. */
const APPLE_PLACE = 'x-apple-structured-location';

const appleGeoOf = ([property]: readonly Property[]): CalendarEvent['geo'] =>
  coordinatesOf(/^geo:([\d.-]+,[\d.-]+)/i.exec(property ? rawText(property).trim() : '')?.[1]?.split(',') ?? []);

const GEO = /^GEO[:;]/i;

/**
 * Reads coordinates from the line itself, since the library would cut `45,07` to 45. vCalendar separates the two
 * numbers with a comma.
 */
function geoOf(line: string): CalendarEvent['geo'] {
  if (!GEO.test(line)) return undefined;
  const value = lineValue(line).replaceAll('\\', '');
  const numbers = value.includes(';') ? value.replaceAll(',', '.').split(';') : value.split(',');
  return numbers.length === 2 && numbers.every((number) => /^\s*[+-]?\d{1,3}(?:\.\d*)?(?:e-?\d)?\s*$/i.test(number))
    ? coordinatesOf(numbers)
    : undefined;
}

/** Whether a line should contain coordinates but does not; some programs write 0 if they have none. */
const hasInvalidGeo = (line: string): boolean => GEO.test(line) && /[^0.,;+\s-]/.test(lineValue(line)) && geoOf(line) === undefined;

function coordinatesOf(numbers: readonly string[]): CalendarEvent['geo'] {
  const [lat = Number.NaN, lng = Number.NaN] = numbers.map(Number);
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && !(lat === 0 && lng === 0) ? { lat, lng } : undefined;
}

const attachmentOf = (property: Property) => ({
  url: property[2] === 'uri' ? rawText(property).trim() : '',
  type: parameter(property, 'fmttype').toLowerCase(),
});

/** Returns an image as in RFC 7986 (5.10), whose URL need not look like an image. */
const pictureOf = (property: Property) => ({ url: attachmentOf(property).url, type: attachmentOf(property).type || 'image/jpeg' });

const mailOf = (address: string): string => (/^mailto:/i.test(address) ? percentDecoded(address.slice(7)).trim() : '');

function htmlOf(properties: readonly Property[]): string {
  const property = properties.find((one) => /^text\/html$/i.test(parameter(one, 'fmttype')));
  return property ? extensionText(property) : '';
}

/** Returns the HTML description as Thunderbird writes it: `ALTREP="data:text/html,..."`. */
function alternativeOf([property]: readonly Property[]): string {
  const [, base64, data = ''] =
    /^data:text\/html(?:;charset=[\w-]+)?(;base64)?,(.*)$/is.exec(property ? parameter(property, 'altrep') : '') ?? [];
  return stripControlCharacters(base64 ? Buffer.from(data, 'base64').toString() : percentDecoded(data));
}

const customValue = (property: Property) => ({ name: parameter(property, NAME_PARAMETER), value: extensionText(property) });

/**
 * Returns the text of an extension property. The library does not know the types of extensions and leaves their values
 * escaped, unless the file declares them as text.
 */
function extensionText(property: Property): string {
  const [text = ''] = textsOf(property);
  return property[2] === 'text' ? text : text.replace(/\\([\\,;nN])/g, (_, sign: string) => (sign.toLowerCase() === 'n' ? '\n' : sign));
}
