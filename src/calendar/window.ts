/*
 * The date filters of the event list: the meaning of the parameters, the day to which a time belongs, and the default
 * window.
 */
import { memoize } from '../memo.ts';
import { parsePhpDate, phpTimestamp } from '../wordpress/php/date.ts';
import { addDays, addMonths, addSeconds, textFromUnix, unixFromDate } from '../wordpress/time.ts';
import { localFromDate, localFromUnix, toUtc, UTC, type Zone } from '../wordpress/zones.ts';

/** A parameter that filters the list by date. */
export type DateParam = 'start_date' | 'end_date' | 'starts_before' | 'starts_after' | 'ends_before' | 'ends_after';

/**
 * A bound on the local start or end time of an event; on its UTC time if the site compares in its own zone (mode
 * `site`).
 */
export type DateFilter = { column: 'start_date' | 'end_date'; op: '>=' | '<=' | '<' | '>'; value: string };

/** The bounds of a list, and the values in its URLs: `YYYY-MM-DD HH:MM:SS` in the site's local time. */
export type ListWindow = { echo: Partial<Record<DateParam, string>>; filters: DateFilter[] };

/** The value of `strict_dates` for times in the site's local time. */
export const LOCAL_DATES = 'local';

/**
 * Context that determines the window, in addition to the parameters. `cutoff`: `HH:MM`, the time at which the
 * calendar's day begins.
 */
export type WindowContext = { siteZone: Zone; cutoff: string; now: Date; mode: 'event' | 'site' };

/**
 * Returns the date bounds of an event list.
 * Without `strict_dates` they are whole days: the UTC day of a value, `start_date` from its start, all others to its
 * end. Strict: the value is a UTC time (or has its own offset) and is converted to the site's local time; with `local`
 * it already is in that, as in the URLs of a list. Without any bound: from today in the site's zone, 24 months ahead
 * (decision D23). With `include` there is no bound at all (D19). Values must have been validated as times; an invalid
 * one is ignored.
 * @param params as sent; `strict_dates` read as a boolean or `local`
 */
export function listWindow(params: Readonly<Record<string, unknown>>, context: WindowContext): ListWindow {
  const window: ListWindow = { echo: {}, filters: [] };
  if (params.include !== undefined && params.include !== null) return window;
  const isExact = params.strict_dates === true || params.strict_dates === LOCAL_DATES;
  const zone = params.strict_dates === LOCAL_DATES ? context.siteZone : UTC;
  const hasRelativeBounds = RELATIVE_PARAMS.some((name) => isPresent(params[name]));
  for (const [name, column, op] of BOUNDS) {
    const value = isPresent(params[name])
      ? effectiveValue(name, params[name], isExact ? zone : undefined, context)
      : hasRelativeBounds
        ? undefined
        : defaultValue(name, isExact, context);
    if (value === undefined) continue;
    window.echo[name] = value;
    const bound = clampDateTime(value);
    window.filters.push({ column, op, value: context.mode === 'site' ? clampDateTime(toUtc(bound, context.siteZone)) : bound });
  }
  return window;
}

/**
 * Returns the given bounds, each at the exact moment that it names: a date without a time is its midnight in the site's
 * local time. There are no default bounds.
 */
export function exactBounds(
  params: Readonly<Record<string, unknown>>,
  { siteZone, now, mode }: Pick<WindowContext, 'siteZone' | 'now' | 'mode'>,
): DateFilter[] {
  return BOUNDS.flatMap(([name, column, op]) => {
    const value = params[name];
    const instant = isPresent(value) ? instantOf(value, now, siteZone) : undefined;
    if (instant === undefined) return [];
    return [{ column, op, value: localWithin(instant, mode === 'site' ? UTC : siteZone) }];
  });
}

/**
 * Returns the local time of a bound of a list: a Unix timestamp, or PHP's grammar in the zone, with an offset in it
 * respected. A value out of range is the first or the last moment, so that every value is a bound.
 */
export const boundLocal = (value: string | number, now: Date, zone: Zone): string => localWithin(boundInstant(value, now, zone), zone);

/** Returns the same bound in UTC; the first and the last moment are the same in every zone. */
export function boundUtc(value: string | number, now: Date, zone: Zone): string {
  const local = boundLocal(value, now, zone);
  return local === EARLIEST || local === LATEST ? local : localWithin(boundInstant(value, now, zone), UTC);
}

function boundInstant(value: string | number, now: Date, zone: Zone): number {
  const instant = phpTimestamp(value) ?? parsePhpDate(String(value), now, zone)?.instant;
  return instant ?? (String(value).trim().startsWith('-') ? FIRST : LAST);
}

/**
 * Returns the start of the calendar's day of a date: the date at the cutoff (`tribe_beginning_of_day`).
 * @param local a date with or without time; the time is dropped
 * @param cutoff `HH:MM`
 */
export function beginOfDay(local: string, cutoff: string): string {
  return `${local.slice(0, 10)} ${cutoff}:00`;
}

/**
 * Returns the last second of the calendar's day of a date: a second before the cutoff of the next date
 * (`tribe_end_of_day`).
 * @param local a date with or without time; the time is dropped
 * @param cutoff `HH:MM`
 */
export function endOfDay(local: string, cutoff: string): string {
  const end = addSeconds(addDays(beginOfDay(local, cutoff), 1), -1);
  return end.length > LATEST.length ? LATEST : end;
}

/** Returns whether an event is on a day (`YYYY-MM-DD`). `cutoff`: as above. */
export const isOnDay = (event: ShownSpan, day: string, cutoff: string): boolean => isOnAnyDay(event, { first: day, last: day }, cutoff);

/** Days (`YYYY-MM-DD`), both included. */
interface Days {
  readonly first: string;
  readonly last: string;
}

/**
 * Returns whether an event is on any of these days. One that lasts until midnight is not on the day that begins then.
 */
export function isOnAnyDay({ start, end }: ShownSpan, { first, last }: Days, cutoff: string): boolean {
  const firstStart = beginOfDay(first, cutoff);
  return start <= endOfDay(last, cutoff) && (end > firstStart || start >= firstStart);
}

/** Start and end as they are shown. */
export interface ShownSpan {
  readonly start: string;
  readonly end: string;
}

/**
 * Returns the end of the day of an end in a request. The last second of a day that began on the date before, as in
 * records and in the URLs of a list, is the end of that day.
 */
export function endOfNamedDay(local: string, cutoff: string): string {
  const end = endOfDay(local, cutoff);
  return cutoff !== MIDNIGHT && end.slice(10) === local.slice(10) ? local : end;
}

/** Bounds in the order of the list's own URL. */
const BOUNDS: readonly (readonly [DateParam, DateFilter['column'], DateFilter['op']])[] = [
  ['start_date', 'start_date', '>='],
  ['end_date', 'end_date', '<='],
  ['starts_before', 'start_date', '<'],
  ['starts_after', 'start_date', '>'],
  ['ends_before', 'end_date', '<'],
  ['ends_after', 'end_date', '>'],
];
/** The parameters that bound a list by date. */
export const BOUND_NAMES: readonly DateParam[] = BOUNDS.map(([name]) => name);
const RELATIVE_PARAMS: readonly DateParam[] = ['starts_before', 'starts_after', 'ends_before', 'ends_after'];
const MONTHS_AHEAD = 24;
/** Returns the last day of the default window; cached, since most lists begin today. */
const lastDay = memoize((day: string) => addMonths(day, MONTHS_AHEAD).slice(0, 10));
const MIDNIGHT = '00:00';
/** The range of a DATETIME column. */
const [EARLIEST, LATEST] = ['1000-01-01 00:00:00', '9999-12-31 23:59:59'];
/** Returns a time within that range. */
export const clampDateTime = (local: string): string => {
  if (local.startsWith('0') || local.startsWith('-')) return EARLIEST;
  return local.length > LATEST.length ? LATEST : local;
};
/** The range of dates with a four-digit year, in Unix seconds: many clients send `0000-01-01` to request all events. */
const [FIRST, LAST] = [-62167219200, 253402300799];
const localWithin = (instant: number, zone: Zone): string => clampDateTime(localFromUnix(Math.min(Math.max(instant, FIRST), LAST), zone));

function isPresent(value: unknown): value is string | number {
  return typeof value === 'string' ? value !== '' : typeof value === 'number';
}

/**
 * Returns the value of a bound in the site's local time. `exactIn`: the zone of an exact time without an offset;
 * undefined for whole days.
 */
function effectiveValue(name: DateParam, value: string | number, exactIn: Zone | undefined, context: WindowContext): string | undefined {
  const instant = instantOf(value, context.now, exactIn);
  if (instant === undefined) return undefined;
  const clamped = Math.min(Math.max(instant, FIRST), LAST);
  if (exactIn) return localFromUnix(clamped, context.siteZone);
  return wholeDay(name, textFromUnix(clamped), context.cutoff);
}

/**
 * Returns the instant of a Unix timestamp or a text in PHP's grammar, in UTC by default. `0` means now, since The
 * Events Calendar treats it as an empty value.
 */
function instantOf(value: string | number, now: Date, zone: Zone = UTC): number | undefined {
  const stamp = phpTimestamp(value);
  if (stamp !== null) return String(value) === '0' ? unixFromDate(now) : stamp;
  return parsePhpDate(String(value), now, zone)?.instant;
}

function defaultValue(name: DateParam, isStrict: boolean, { now, siteZone, cutoff }: WindowContext): string | undefined {
  const today = localFromDate(now, siteZone);
  if (name === 'start_date') return beginOfDay(today, isStrict ? MIDNIGHT : cutoff);
  if (name !== 'end_date') return undefined;
  const end = lastDay(today.slice(0, 10));
  return isStrict ? end + today.slice(10) : endOfDay(end, cutoff);
}

function wholeDay(name: DateParam, local: string, cutoff: string): string {
  return name === 'start_date' ? beginOfDay(local, cutoff) : endOfNamedDay(local, cutoff);
}
