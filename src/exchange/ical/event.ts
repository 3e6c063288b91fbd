import ICAL from 'ical.js';
import { stripControlCharacters } from '../../wordpress/plain-text.ts';
import { unixFromText } from '../../wordpress/time.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import type { Line } from './components.ts';

/** A moment as a file writes it: a day, or a wall clock in a zone, in UTC or in whatever zone who reads it is in. */
export interface Moment {
  /** `YYYY-MM-DD HH:MM:SS`; midnight of a day. */
  readonly wall: string;
  readonly in: 'day' | 'utc' | 'zone' | 'anywhere';
  readonly zone?: string;
}

/** A VEVENT as values, checked no further than that they can be read. */
export interface CalendarEvent {
  readonly line: number;
  readonly uid: string;
  readonly recurrenceId: Moment | undefined;
  readonly start: Moment | undefined;
  readonly end: Moment | undefined;
  /** Seconds. */
  readonly duration: number | undefined;
  readonly rule: string | undefined;
  readonly dates: readonly Moment[];
  readonly exceptDates: readonly Moment[];
  readonly summary: string;
  readonly description: string;
  /** The description as HTML, where there is one. */
  readonly html: string;
  readonly location: string;
  readonly geo: { readonly lat: number; readonly lng: number } | undefined;
  readonly organizer: { readonly name: string; readonly email: string } | undefined;
  readonly contacts: readonly string[];
  readonly categories: readonly string[];
  readonly url: string;
  readonly attachments: readonly { readonly url: string; readonly type: string }[];
  readonly status: string;
  readonly isPrivate: boolean;
  readonly created: Moment | undefined;
  readonly modified: Moment | undefined;
  /** Lines that can't be read. */
  readonly unreadable: readonly Line[];
}

/** Reads the lines of a VEVENT. Undefined: it can't be read at all. */
export function readEvent(lines: readonly Line[], line: number): CalendarEvent | undefined {
  const sound = lines.filter(({ text }) => PROPERTY.test(text));
  // The library reads rules only to follow them, which is done elsewhere.
  const told = sound.filter(({ text }) => !/^(RRULE|EXRULE)[:;]/i.test(text));
  const component = parsed(told.map(({ text }) => text));
  if (!component) return undefined;
  const text = (name: string): string => texts(component, name)[0] ?? '';
  const moments = (name: string): Moment[] => component.getAllProperties(name).flatMap(momentsOf);
  const [organizer] = component.getAllProperties('organizer');
  return {
    line,
    uid: text('uid').trim(),
    recurrenceId: moments('recurrence-id')[0],
    start: moments('dtstart')[0],
    end: moments('dtend')[0],
    duration: durationOf(component),
    rule: sound.find(({ text: rule }) => /^RRULE[:;]/i.test(rule))?.text.replace(/^[^:]*:/, ''),
    dates: moments('rdate').slice(0, MOST_DATES),
    exceptDates: moments('exdate').slice(0, MOST_DATES),
    summary: text('summary'),
    description: text('description'),
    html: htmlOf(component),
    location: text('location'),
    geo: geoOf(component),
    organizer: organizer ? { name: parameter(organizer, 'cn'), email: mailOf(raw(organizer)) } : undefined,
    contacts: texts(component, 'contact'),
    categories: texts(component, 'categories')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    url: text('url').trim(),
    attachments: component.getAllProperties('attach').map((property) => ({
      url: property.type === 'uri' ? raw(property).trim() : '',
      type: parameter(property, 'fmttype').toLowerCase(),
    })),
    status: text('status').trim().toUpperCase(),
    isPrivate: /^(PRIVATE|CONFIDENTIAL)$/i.test(text('class').trim()),
    created: moments('created')[0],
    modified: moments('last-modified')[0],
    unreadable: lines.filter(({ text: one }) => !PROPERTY.test(one)),
  };
}

const PROPERTY = /^[A-Za-z0-9-]+[;:]/;
const MOST_DATES = 5000;

/** The component; lines that the library stumbles over are left out one by one, as long as there are few. */
function parsed(lines: readonly string[]): ICAL.Component | undefined {
  const parse = (some: readonly string[]): ICAL.Component | undefined => {
    try {
      return new ICAL.Component(ICAL.parse(['BEGIN:VEVENT', ...some, 'END:VEVENT'].join('\r\n')) as unknown as string);
    } catch {
      return undefined;
    }
  };
  return parse(lines) ?? parse(lines.filter((line) => parse([line]) !== undefined));
}

/** The values of a property as they are written. */
const rawValues = (property: ICAL.Property): string[] =>
  (property.jCal as unknown[]).slice(3).map((value) => (Array.isArray(value) ? value.join('/') : String(value)));
const raw = (property: ICAL.Property): string => rawValues(property)[0] ?? '';

const texts = (component: ICAL.Component, name: string): string[] =>
  component
    .getAllProperties(name)
    .flatMap((property) => rawValues(property))
    .map((value) => stripControlCharacters(value.replace(/\r\n?/g, '\n')));

function parameter(property: ICAL.Property, name: string): string {
  const value: unknown = property.getParameter(name);
  return stripControlCharacters(String((Array.isArray(value) ? value[0] : value) ?? '')).trim();
}

function momentsOf(property: ICAL.Property): Moment[] {
  const zone = parameter(property, 'tzid');
  return rawValues(property).flatMap((value): Moment[] => {
    const [, day = '', time, utc] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(Z)?)?(?:\/.*)?$/.exec(value) ?? [];
    const wall = `${day} ${time?.replace(':60', ':59') ?? '00:00:00'}`;
    if (day === '' || Number.isNaN(unixFromText(wall))) return [];
    if (time === undefined) return [{ wall, in: 'day' }];
    if (utc !== undefined) return [{ wall, in: 'utc' }];
    return [zone === '' ? { wall, in: 'anywhere' } : { wall, in: 'zone', zone }];
  });
}

const LONGEST_S = 366 * 86_400;

function durationOf(component: ICAL.Component): number | undefined {
  const [property] = component.getAllProperties('duration');
  if (!property) return undefined;
  const [, minus, weeks = '0', days = '0', hours = '0', minutes = '0', seconds = '0'] =
    /^([+-]?)P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/.exec(raw(property)) ?? [];
  if (minus === undefined || minus === '-') return undefined;
  return Math.min(
    LONGEST_S,
    Number(weeks) * 604_800 + Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
  );
}

function geoOf(component: ICAL.Component): CalendarEvent['geo'] {
  const [property] = component.getAllProperties('geo');
  const [lat = Number.NaN, lng = Number.NaN] = property ? raw(property).split(/[/;]/).map(Number) : [];
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && !(lat === 0 && lng === 0) ? { lat, lng } : undefined;
}

const mailOf = (address: string): string => (/^mailto:/i.test(address) ? percentDecoded(address.slice(7)).trim() : '');

function htmlOf(component: ICAL.Component): string {
  const property = component.getAllProperties('x-alt-desc').find((one) => /^text\/html$/i.test(parameter(one, 'fmttype')));
  // The library knows no types of extensions, so that their texts come as they are written.
  return property
    ? raw(property)
        .replace(/\\n/gi, '\n')
        .replace(/\\([\\,;])/g, '$1')
    : '';
}
