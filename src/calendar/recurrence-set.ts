/*
 * The dates of a recurring event as The Events Calendar's paid extension stores them in `tec_events.rset`: iCalendar
 * lines (RFC 5545, 3.8.5) with a start, a rule, additional dates and excluded dates.
 */
import { textFromUnix, unixFromText } from '../wordpress/time.ts';
import { localFromUnix, parseZone, toLocal, toUtc, unixFromLocal, type Zone } from '../wordpress/zones.ts';
import { occurrences, parseRule, type Rule } from './recurrence-rule.ts';

/** A set of dates. Times are `YYYY-MM-DD HH:MM:SS`, local in `zone`. */
export interface RecurrenceSet {
  readonly zone: Zone;
  readonly start: string;
  /** Seconds that each date lasts; undefined: the duration of the event. */
  readonly length: number | undefined;
  /** The rule, as stored without its name, and parsed. */
  readonly rule: SetRule | undefined;
  readonly rdates: readonly { readonly start: string; readonly length: number | undefined }[];
  readonly exrule: SetRule | undefined;
  /** Excluded dates; `YYYY-MM-DD` excludes all that begin on that day. */
  readonly exdates: readonly string[];
}

/** A rule as text and parsed. */
export interface SetRule {
  readonly text: string;
  readonly rule: Rule;
}

/** One date of a set. */
export interface SetDate {
  readonly start: string;
  /** Unix time of the start. */
  readonly startUnix: number;
  /** Seconds. */
  readonly length: number;
  /** Whether it comes from the rule; otherwise it is listed. */
  readonly isFromRule: boolean;
}

/** Parses a set; undefined if any part of it cannot be read. */
export function parseRecurrenceSet(text: string): RecurrenceSet | undefined {
  const lines = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map(parseLine);
  const start = lines.find((line) => line?.name === 'DTSTART');
  if (lines.includes(undefined) || !start) return undefined;
  const zone = start.value.endsWith('Z') ? parseZone('UTC') : parseZone(start.zone ?? '');
  if (!zone) return undefined;
  const linesOf = (name: string) => lines.flatMap((line) => (line?.name === name ? [line] : []));
  const startTime = parseLocal(start.value, start, zone);
  const [end] = linesOf('DTEND').map((line) => parseLocal(line.value, line, zone));
  if (startTime?.length !== WHOLE || (linesOf('DTEND').length > 0 && end?.length !== WHOLE)) return undefined;
  const [rule, exrule] = [ruleOf(linesOf('RRULE'), zone), ruleOf(linesOf('EXRULE'), zone)];
  const rdates = valuesOf(linesOf('RDATE')).map(({ value, line }) => parseRdate(value, line, zone, startTime));
  const exdates = valuesOf(linesOf('EXDATE')).map(({ value, line }) => parseLocal(value, line, zone));
  if (rule === null || exrule === null || rdates.includes(undefined) || exdates.includes(undefined)) return undefined;
  return {
    zone,
    start: startTime,
    length: end === undefined ? undefined : unixFromLocal(end, zone) - unixFromLocal(startTime, zone),
    rule,
    rdates: rdates.filter((one) => one !== undefined),
    exrule,
    exdates: exdates.filter((one) => one !== undefined),
  };
}

/**
 * Returns the dates of a set in order, each moment once. The event's first date always takes place, even if it is
 * excluded.
 *
 * @param first local start of the event's first date
 * @param length seconds that a date lasts if the set does not say it
 * @param from local time before which no date starts; by default the start of the set
 * @param last local time after which no date starts
 */
export function datesOfSet(
  set: RecurrenceSet,
  { first, length, from = '', last }: { readonly first: string; readonly length: number; readonly from?: string; readonly last: string },
): SetDate[] {
  const { zone, start, rule, exrule, exdates } = set;
  const dates = new Map<number, SetDate>();
  const add = (date: Pick<SetDate, 'start' | 'isFromRule'> & { readonly length?: number | undefined }) => {
    const startUnix = unixFromLocal(date.start, zone);
    const ownLength = date.length ?? set.length ?? length;
    if (date.start < from || date.start > last || dates.has(startUnix) || !isStorable(startUnix + ownLength, zone)) return;
    dates.set(startUnix, { ...date, startUnix, length: ownLength });
  };
  if (rule) for (const local of startsByRule(rule.rule, start, last, from)) add({ start: local, isFromRule: true });
  for (const rdate of set.rdates) add({ ...rdate, isFromRule: false });
  if (!rule) add({ start, isFromRule: false });
  const excludedStarts = new Set([...exdates, ...(exrule ? startsByRule(exrule.rule, start, last, from) : [])]);
  return [...dates.values()]
    .filter((date) => date.start === first || !(excludedStarts.has(date.start) || excludedStarts.has(date.start.slice(0, 10))))
    .sort((one, other) => one.startUnix - other.startUnix);
}

/** The latest time that the columns of dates can store. The API accepts dates up to this time, in every zone. */
export const LATEST = '9999-12-31 23:59:59';
const LATEST_UNIX = unixFromText(LATEST);
/** Two days, more than the difference of any two zones. */
const MARGIN_S = 172_800;

/** Returns whether a moment can be stored, in UTC and in a zone. */
const isStorable = (moment: number, zone: Zone): boolean =>
  moment <= LATEST_UNIX - MARGIN_S || (moment <= LATEST_UNIX && localFromUnix(moment, zone).length === LATEST.length);

/** Returns whether a set has no end. */
export const isEndless = ({ rule }: RecurrenceSet): boolean =>
  rule !== undefined && rule.rule.count === undefined && rule.rule.until === undefined;

// ------------------------------------------------------------------------------------------------- lines
export interface Line {
  readonly name: string;
  readonly zone: string | undefined;
  readonly value: string;
}

const WHOLE = 'YYYY-MM-DD HH:MM:SS'.length;

/** Returns the index of the value in a line. The name of a zone may contain a colon too (`TZID=+02:00`). */
export const valueIndex = (line: string): number => line.lastIndexOf(':') + 1;

/** Parses a line of a set; undefined if it is invalid. */
export function parseLine(line: string): Line | undefined {
  const colon = valueIndex(line) - 1;
  if (colon < 0) return undefined;
  const [name = '', ...parameters] = line.slice(0, colon).split(';');
  const zone = parameters.find((parameter) => parameter.toUpperCase().startsWith('TZID='))?.slice('TZID='.length);
  return { name: name.trim().toUpperCase(), zone, value: line.slice(colon + 1).trim() };
}

const valuesOf = (lines: readonly Line[]): { value: string; line: Line }[] =>
  lines.flatMap((line) => line.value.split(',').flatMap((value) => (value === '' ? [] : [{ value, line }])));

/**
 * Returns a time or a day in a line, local in the zone of the set. Its form is recognised from the value itself, since
 * the parameter `VALUE` may be wrong.
 */
export function parseLocal(value: string, line: Line, zone: Zone): string | undefined {
  const [, year, month, day, hour, minute, second, utc] = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(value) ?? [];
  if (year === undefined) return undefined;
  const date = `${year}-${month}-${day}`;
  if (hour === undefined) return Number.isNaN(unixFromText(`${date} 00:00:00`)) ? undefined : date;
  const time = `${date} ${hour}:${minute}:${second}`;
  if (Number.isNaN(unixFromText(time))) return undefined;
  if (utc) return toLocal(time, zone);
  if (line.zone === undefined || line.zone === zone.name) return time;
  const lineZone = parseZone(line.zone);
  return lineZone ? toLocal(toUtc(time, lineZone), zone) : undefined;
}

/** Returns an additional date: a time, a day (at the hour of the start), or a period. */
export function parseRdate(value: string, line: Line, zone: Zone, start: string): RecurrenceSet['rdates'][number] | undefined {
  const [from = '', to] = value.split('/', 2);
  const time = parseLocal(from, line, zone);
  if (time === undefined) return undefined;
  const local = time.length === WHOLE ? time : `${time} ${start.slice(11)}`;
  if (to === undefined) return { start: local, length: undefined };
  const end = parseLocal(to, line, zone);
  const length = end?.length === WHOLE ? unixFromLocal(end, zone) - unixFromLocal(local, zone) : secondsOf(to);
  return length === undefined || length < 0 ? undefined : { start: local, length };
}

/** Returns the seconds of a duration (`PT7200S`, `P1DT2H`); undefined if it is invalid. */
function secondsOf(text: string): number | undefined {
  const [match, weeks, days, hours, minutes, seconds] =
    /^P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?$/.exec(text) ?? [];
  if (match === undefined) return undefined;
  return [weeks, days, hours, minutes, seconds].reduce((sum, part, index) => sum + Number(part ?? 0) * UNITS[index]!, 0);
}

const UNITS = [604_800, 86_400, 3600, 60, 1];

/**
 * Returns the rule of a set, with its end in the local time of the set's zone; undefined: there is none; null: it
 * cannot be read.
 */
function ruleOf([line, ...rest]: readonly Line[], zone: Zone): SetRule | undefined | null {
  if (!line) return undefined;
  const rule = rest.length > 0 ? undefined : parseRule(line.value);
  if (!rule) return null;
  const utc = rule.until?.endsWith('Z') ? parseLocal(rule.until, line, zone) : undefined;
  return { text: line.value, rule: utc === undefined ? rule : { ...rule, until: utc.replace(/[-:]/g, '').replace(' ', 'T') } };
}

/** Yields the local starts of a rule, from its own start, or a later time, to `last`. */
export function* startsByRule(rule: Rule, start: string, last: string, from = start): Generator<string> {
  const options = { startCounts: false, from: unixFromText(from > start ? from : start) };
  for (const moment of occurrences(rule, unixFromText(start), unixFromText(last), options)) yield textFromUnix(moment);
}
