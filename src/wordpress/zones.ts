import { textFromUnix, unixFromDate, unixFromFields, unixFromText } from './time.ts';
import { ABBREVIATIONS, ZONE_ABBREVIATIONS } from './time-abbreviations.ts';

/*
 * Time zones and conversions of local times. The rules of zones come from Intl; the meaning of a local time around a
 * change of offset is that of PHP (timelib), not of Intl or dayjs, because the UTC columns must have the values that
 * WordPress would have written.
 */

/**
 * A time zone as a value.
 * `name` is the requested spelling, which is stored; `rules` is the IANA name if the offset follows rules, otherwise
 * null, and `seconds` (east of UTC) always applies; `label` is the fixed abbreviation, null if it follows rules.
 */
export type Zone = Readonly<{ name: string; rules: string | null; seconds: number; label: string | null }>;

/** The UTC zone. */
export const UTC: Zone = { name: 'UTC', rules: null, seconds: 0, label: 'UTC' };

/**
 * Returns the zone with a name, null if there is no such zone: every IANA name in any case, the abbreviations of PHP
 * (`EST`, `CET`: fixed offsets), PHP offsets (`+02:00`, `+0200`, `GMT+2`), WordPress's manual offsets (`UTC+2`,
 * `UTC-5.5`, `UTC+5:30`). Anything else that starts with `UTC` counts as offset 0, as in The Events Calendar. Offsets
 * outside -12..+14 hours are invalid (decision D29).
 * @param name as sent or stored
 */
export function parseZone(name: string): Zone | null {
  if (/^UTC./s.test(name)) return name.length > MAX_OFFSET_LENGTH ? null : manualOffset(name);
  const zone = parsePhpZone(name);
  return zone && (zone.rules !== null || withinDay(zone.seconds)) ? zone : null;
}

/**
 * Returns the zone of PHP's DateTimeZone for a name, null if PHP refuses it. Does not accept `UTC+2`, and has no limit
 * except PHP's own (100 hours).
 * @param name as written in a date or sent by a client
 */
export function parsePhpZone(name: string): Zone | null {
  const cached = zones.get(name);
  if (cached !== undefined) return cached;
  const zone = readPhpZone(name);
  if (zone === null) return null;
  if (zones.size > MAX_CACHED_ZONES) zones.clear();
  zones.set(name, zone);
  return zone;
}

/**
 * Returns the zone of a site and its name, from the options `timezone_string` and `gmt_offset`: the first if it names a
 * zone, otherwise `UTC+N` as spelled on WordPress's settings page (`UTC+0`, `UTC+5.5`, `UTC-3.5`).
 * @param options as stored; `gmt_offset` in hours
 */
export function siteZone(options: { timezone_string?: string | null; gmt_offset?: string | number | null }): { zone: Zone; name: string } {
  const namedZone = options.timezone_string ? parseZone(options.timezone_string) : null;
  if (namedZone) return { zone: namedZone, name: namedZone.name };
  const hours = Number(options.gmt_offset ?? 0) || 0;
  const name = `UTC${hours < 0 ? '' : '+'}${hours}`;
  return { zone: parseZone(name) ?? { ...UTC, name, label: name }, name };
}

/**
 * Returns the UTC text of a local time. Times that a change of offset skips move forward (02:30 becomes 03:30); of
 * times that occur twice PHP uses the second one east of Greenwich and the first one west of it. A zero or invalid date
 * gives the zero date.
 * @param local `YYYY-MM-DD HH:MM:SS` in the zone
 */
export function toUtc(local: string, zone: Zone): string {
  return textFromUnix(unixFromLocal(local, zone));
}

/**
 * Returns the local time of a UTC text. A zero or invalid date gives the zero date.
 * @param utcText `YYYY-MM-DD HH:MM:SS` in UTC
 */
export function toLocal(utcText: string, zone: Zone): string {
  return localFromUnix(unixFromText(utcText), zone);
}

/**
 * Returns the instant, in Unix seconds, of a local time in a zone; NaN for a zero or invalid date. See `toUtc` for
 * skipped and repeated times.
 */
export function unixFromLocal(local: string, zone: Zone): number {
  return unixFromClockTime(unixFromText(local), zone);
}

/** Returns the local time in a zone, `YYYY-MM-DD HH:MM:SS`, of an instant in Unix seconds. */
export function localFromUnix(unix: number, zone: Zone): string {
  return textFromUnix(unix + offsetSeconds(unix, zone));
}

/**
 * Returns the offset in minutes east of UTC; a fraction if the offset has seconds (only before 1972).
 * @param unix an instant in Unix seconds
 */
export function offsetAt(unix: number, zone: Zone): number {
  return offsetSeconds(unix, zone) / 60;
}

/**
 * Returns the abbreviation of the zone at a local time: PHP's format `T` (`CET`, `CEST`, `-03`, `+0545`, `GMT+0200` for
 * a plain offset). For `UTC+2` and the like it is the name of the zone itself, as The Events Calendar stores it.
 * @param local `YYYY-MM-DD HH:MM:SS` in the zone
 */
export function abbreviation(local: string, zone: Zone): string {
  return abbreviationAtUtc(toUtc(local, zone), zone);
}

/** Returns the same abbreviation at a moment in UTC: the local time may be one that the clock shows twice. */
export function abbreviationAtUtc(utcText: string, zone: Zone): string {
  return zone.label ?? abbreviationAt(unixFromText(utcText), zone);
}

/**
 * Returns the ISO 8601 form with the offset of that moment, as in JSON-LD: `2030-01-01T11:00:00+01:00`. Skipped times
 * are moved forward.
 * @param local `YYYY-MM-DD HH:MM:SS` in the zone
 */
export function isoWithOffset(local: string, zone: Zone): string {
  return isoAt(unixFromLocal(local, zone), zone);
}

/**
 * Returns the same form of a moment, whose local time may be one that the clock shows twice.
 * @param unix an instant in Unix seconds
 */
export function isoAt(unix: number, zone: Zone): string {
  const offset = Number.isNaN(unix) ? 0 : offsetSeconds(unix, zone);
  return `${localFromUnix(unix, zone).replace(' ', 'T')}${clockOffset(offset, ':')}`;
}

/** Returns the local time of a moment in a zone. */
export function localFromDate(date: Date, zone: Zone): string {
  return localFromUnix(unixFromDate(date), zone);
}

/**
 * Returns the instant, in Unix seconds, of a local time given as if it were UTC. PHP looks up the offset at the local
 * time read as UTC, then at the result, and keeps the first offset if the second one lies across the change that it has
 * just passed (timelib, do_adjust_timezone). If the date itself contains the zone, PHP looks back once more.
 * @param wallSeconds seconds
 * @param containsZone whether the date contains the zone
 */
export function unixFromClockTime(wallSeconds: number, zone: Zone, containsZone = false): number {
  if (zone.rules === null) return wallSeconds - zone.seconds;
  const current = spanAt(wallSeconds, zone.rules);
  const after = spanAt(wallSeconds - current.offset, zone.rules);
  if (current.offset !== after.offset) {
    const candidate = wallSeconds - after.offset;
    const isAcross = candidate >= after.since + current.offset - after.offset && candidate < after.since;
    return isAcross ? wallSeconds - current.offset : candidate;
  }
  if (containsZone && current.offset >= 0) {
    const earlierSpan = spanAt(wallSeconds - current.offset - 7200, zone.rules);
    if (earlierSpan.offset > after.offset && wallSeconds - earlierSpan.offset < after.since) return wallSeconds - earlierSpan.offset;
  }
  return wallSeconds - current.offset;
}

const MAX_OFFSET_LENGTH = 30; // tec_events.timezone is varchar(30)
const MAX_CACHED_ZONES = 2000;
const MAX_CACHED_YEARS = 400;
const WEEK = 7 * 86400;
const YEAR_MARGIN = 3 * 86400;
const zones = new Map<string, Zone>();

/** A period of constant offset: seconds east of UTC, and the instant at which it began. */
type Span = { since: number; offset: number };

const clocks = new Map<string, { format: Intl.DateTimeFormat; years: Map<number, Span[]> }>();

function manualOffset(name: string): Zone | null {
  const match = /^UTC([+-])(\d{1,4})(?::([0-5]\d)|(\.\d+))?$/.exec(name);
  if (!match) return { name, rules: null, seconds: 0, label: name };
  const hours = Number(match[2]) + Number(match[3] ?? 0) / 60 + Number(match[4] ?? 0);
  const seconds = Math.round(hours * 3600) * (match[1] === '-' ? -1 : 1);
  return withinDay(seconds) ? { name, rules: null, seconds, label: name } : null;
}

function withinDay(seconds: number): boolean {
  return seconds >= -12 * 3600 && seconds <= 14 * 3600;
}

function readPhpZone(name: string): Zone | null {
  const offset = /^(?:GMT)?([+-])([\d:]+)$/.exec(name);
  if (offset) {
    const seconds = offsetDigits(offset[2]!);
    return seconds === null ? null : bareOffset(name, offset[1] === '-' ? -seconds : seconds);
  }
  if (/^utc$/i.test(name)) return { ...UTC, name };
  const seconds = abbreviations().get(name.toLowerCase());
  if (seconds !== undefined) return { name, rules: null, seconds, label: name.toUpperCase() };
  const rules = /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name) ? name.toLowerCase() : null;
  if (rules === null || !clockOf(rules)) return null;
  return { name, rules, seconds: 0, label: null };
}

/**
 * Reads an offset in the forms that PHP accepts: H, HH, HMM, HHMM, H:MM, HH:M, HH:MM, H:M, HHMMSS and HH:MM:SS, with no
 * other number of characters (timelib_parse_tz_cor).
 */
function offsetDigits(text: string): number | null {
  const match = /^(\d\d?)$|^(\d\d?):(\d\d?)$|^(\d\d?)(\d\d)$|^(\d\d)(\d\d)(\d\d)$|^(\d\d):(\d\d):(\d\d)$/.exec(text);
  if (!match) return null;
  const [hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .filter((digits) => digits !== undefined)
    .map(Number);
  return hours * 3600 + minutes * 60 + seconds;
}

function bareOffset(name: string, seconds: number): Zone {
  return { name, rules: null, seconds, label: `GMT${clockOffset(seconds, '')}` };
}

function clockOffset(seconds: number, colon: string): string {
  const minutes = Math.floor(Math.abs(seconds) / 60);
  return `${seconds < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}${colon}${twoDigits(minutes % 60)}`;
}

function offsetSeconds(unix: number, zone: Zone): number {
  return zone.rules === null ? zone.seconds : spanAt(unix, zone.rules).offset;
}

function clockOf(rules: string): { format: Intl.DateTimeFormat; years: Map<number, Span[]> } | null {
  const cached = clocks.get(rules);
  if (cached) return cached;
  const two_ = '2-digit';
  const fields = { year: 'numeric', month: two_, day: two_, hour: two_, minute: two_, second: two_ } as const;
  try {
    const clock = { format: new Intl.DateTimeFormat('en-US', { timeZone: rules, hourCycle: 'h23', ...fields }), years: new Map() };
    clocks.set(rules, clock);
    return clock;
  } catch {
    return null; // Intl throws a RangeError for unknown names
  }
}

/**
 * Returns the period that contains an instant. `since` is exact if the change happened within that UTC year or in the
 * three days before it.
 */
function spanAt(unix: number, rules: string): Span {
  const at = Math.min(Math.max(unix, -6e10), 2.5e11) || 0; // years 68 to 9892: Intl counts years before 1 in another era
  const clock = clockOf(rules)!;
  const year = new Date(at * 1000).getUTCFullYear();
  let spans = clock.years.get(year);
  if (!spans) {
    if (clock.years.size > MAX_CACHED_YEARS) clock.years.clear();
    spans = spansOfYear(clock.format, year);
    clock.years.set(year, spans);
  }
  let result = spans[0]!;
  for (const span of spans) if (span.since <= at) result = span;
  return result;
}

function spansOfYear(format: Intl.DateTimeFormat, year: number): Span[] {
  const end = unixFromFields(year + 1, 1, 1) + YEAR_MARGIN;
  let from = unixFromFields(year, 1, 1) - YEAR_MARGIN;
  let offset = intlOffset(format, from);
  const spans: Span[] = [{ since: Number.NEGATIVE_INFINITY, offset }];
  while (from < end) {
    const to = Math.min(from + WEEK, end);
    const next = intlOffset(format, to);
    if (next !== offset) spans.push({ since: changeBetween(format, from, to), offset: next });
    offset = next;
    from = to;
  }
  return spans;
}

function changeBetween(format: Intl.DateTimeFormat, from: number, to: number): number {
  const before = intlOffset(format, from);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (intlOffset(format, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

function intlOffset(format: Intl.DateTimeFormat, unix: number): number {
  const [month, day, year, hour, minute, second] = format
    .format(unix * 1000)
    .match(/\d+/g)!
    .map(Number);
  return unixFromFields(year!, month!, day!, hour!, minute!, second!) - unix;
}

function abbreviationAt(unix: number, zone: Zone): string {
  const { offset } = spanAt(unix, zone.rules!);
  const eras = zoneAbbreviations().get(zone.rules!) ?? [];
  let names = eras[0]?.names;
  for (const era of eras) if (era.since <= unix) names = era.names;
  const name = names?.get(offset);
  if (name) return name;
  if (offset % 60) return 'LMT';
  return clockOffset(offset, '').replace(/00$/, '');
}

type Era = { since: number; names: Map<number, string> };

let abbreviationTable: Map<string, number> | null = null;
let zoneTable: Map<string, Era[]> | null = null;

function abbreviations(): Map<string, number> {
  abbreviationTable ??= new Map(
    Array.from(ABBREVIATIONS.matchAll(/(?<![a-z])([a-z]+)([+-]\d+)/g), ([, name, seconds]) => [name!, Number(seconds)] as const),
  );
  return abbreviationTable;
}

function zoneAbbreviations(): Map<string, Era[]> {
  if (zoneTable) return zoneTable;
  zoneTable = new Map();
  let names = '';
  let eras: Era[] = [];
  for (const line of ZONE_ABBREVIATIONS.trim().split('\n')) {
    if (!line.startsWith(' ')) names += ` ${line}`;
    else {
      if (names !== '') eras = readEras(names);
      names = '';
      for (const id of line.trim().split(' ')) zoneTable.set(id.toLowerCase(), eras);
    }
  }
  return zoneTable;
}

function readEras(text: string): Era[] {
  const eras: Era[] = [{ since: Number.NEGATIVE_INFINITY, names: new Map() }];
  for (const word of text.trim().split(/\s+/)) {
    const [, name, minutes] = /^([A-Za-z]+|-00)([^A-Za-z].*)$/.exec(word) ?? [];
    if (name) eras.at(-1)!.names.set(Number(minutes) * 60, name);
    else eras.push({ since: Number(word.slice(1)), names: new Map() });
  }
  return eras;
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');
