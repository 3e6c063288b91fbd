/*
 * The date filters of the event list: what the parameters mean, which day a time counts for, and the window of a list
 * that asks for none.
 */
import { memoize } from '../memo.ts';
import { parsePhpDate, phpTimestamp } from '../wordpress/php/date.ts';
import { addDays, addMonths, addSeconds, textFromUnix, unixFromDate } from '../wordpress/time.ts';
import { localFromUnix, nowLocal, toUtc, UTC, type Zone } from '../wordpress/zones.ts';

/** A parameter that bounds the list by date. */
export type DateParam = 'start_date' | 'end_date' | 'starts_before' | 'starts_after' | 'ends_before' | 'ends_after';

/**
 * A bound on the wall clock an event starts or ends at; on its UTC time when the site compares in its own zone (mode
 * `site`).
 */
export type DateFilter = { column: 'start_date' | 'end_date'; op: '>=' | '<=' | '<' | '>'; value: string };

/** The bounds of a list, and the values its URLs carry: `YYYY-MM-DD HH:MM:SS` by the site's clock. */
export type ListWindow = { echo: Partial<Record<DateParam, string>>; filters: DateFilter[] };

/** The value of `strict_dates` that says that times are by the site's clock. */
export const LOCAL = 'local';

/** What decides the window besides the parameters. `cutoff`: `HH:MM`, when the calendar's day begins. */
export type WindowContext = { siteZone: Zone; cutoff: string; now: Date; mode: 'event' | 'site' };

/**
 * The date bounds of an event list.
 * Whole days unless `strict_dates`: the UTC day of a value, `start_date` from its begin, all others to its end. Strict:
 * the value is a UTC time (or has its own offset) and is turned into the site's clock; with `local` it is by the site's
 * clock already, as the URLs of a list say it. Without any bound: from today in the site's zone, 24 months on
 * (decisions, D23). With `include` there is no bound at all (D19). Values must have passed as times; one that is none
 * bounds nothing.
 * @param params as sent; `strict_dates` read as a boolean or `local`
 */
export function listWindow(params: Readonly<Record<string, unknown>>, context: WindowContext): ListWindow {
  const window: ListWindow = { echo: {}, filters: [] };
  if (params.include !== undefined && params.include !== null) return window;
  const exact = params.strict_dates === true || params.strict_dates === LOCAL;
  const zone = params.strict_dates === LOCAL ? context.siteZone : UTC;
  const without = RELATIVE.some((name) => isGiven(params[name]));
  for (const [name, column, op] of BOUNDS) {
    const value = isGiven(params[name])
      ? effectiveValue(name, params[name], exact ? zone : undefined, context)
      : without
        ? undefined
        : defaultValue(name, exact, context);
    if (value === undefined) continue;
    window.echo[name] = value;
    const bound = kept(value);
    window.filters.push({ column, op, value: context.mode === 'site' ? kept(toUtc(bound, context.siteZone)) : bound });
  }
  return window;
}

/**
 * The bounds that are given, each at the very moment that it names: a date alone is its midnight by the site's clock.
 * There is no other bound.
 */
export function exactBounds(
  params: Readonly<Record<string, unknown>>,
  { siteZone, now, mode }: Pick<WindowContext, 'siteZone' | 'now' | 'mode'>,
): DateFilter[] {
  return BOUNDS.flatMap(([name, column, op]) => {
    const value = params[name];
    const instant = isGiven(value) ? instantOf(value, now, siteZone) : undefined;
    if (instant === undefined) return [];
    return [{ column, op, value: localWithin(instant, mode === 'site' ? UTC : siteZone) }];
  });
}

/**
 * The wall clock of a moment that a list is bounded by: a Unix time stamp, or PHP's grammar in the zone, an offset in
 * it heeded. What no date reaches is the first or the last moment of all, so that every value bounds something.
 */
export const boundLocal = (value: string | number, now: Date, zone: Zone): string => localWithin(boundInstant(value, now, zone), zone);

/** The same moment in UTC; the first and the last one of all are those of every clock. */
export function boundUtc(value: string | number, now: Date, zone: Zone): string {
  const local = boundLocal(value, now, zone);
  return local === EARLIEST || local === LATEST ? local : localWithin(boundInstant(value, now, zone), UTC);
}

function boundInstant(value: string | number, now: Date, zone: Zone): number {
  const instant = phpTimestamp(value) ?? parsePhpDate(String(value), now, zone)?.instant;
  return instant ?? (String(value).trim().startsWith('-') ? FIRST : LAST);
}

/**
 * When the calendar's day of a date begins: the date at the cutoff (the calendar's `tribe_beginning_of_day`).
 * @param local a date with or without time; the time is dropped
 * @param cutoff `HH:MM`
 */
export function beginOfDay(local: string, cutoff: string): string {
  return `${local.slice(0, 10)} ${cutoff}:00`;
}

/**
 * The last second of the calendar's day of a date: a second before the cutoff of the next date (the calendar's
 * `tribe_end_of_day`).
 * @param local a date with or without time; the time is dropped
 * @param cutoff `HH:MM`
 */
export function endOfDay(local: string, cutoff: string): string {
  const end = addSeconds(addDays(beginOfDay(local, cutoff), 1), -1);
  return end.length > LATEST.length ? LATEST : end;
}

/**
 * The same of an end that somebody names. The last second of a day that began on the date before, as records and the
 * URLs of a list say it, is the end of that day.
 */
export function endOfNamedDay(local: string, cutoff: string): string {
  const end = endOfDay(local, cutoff);
  return cutoff !== MIDNIGHT && end.slice(10) === local.slice(10) ? local : end;
}

/** Bounds in the order in which the list's own address names them. */
const BOUNDS: readonly (readonly [DateParam, DateFilter['column'], DateFilter['op']])[] = [
  ['start_date', 'start_date', '>='],
  ['end_date', 'end_date', '<='],
  ['starts_before', 'start_date', '<'],
  ['starts_after', 'start_date', '>'],
  ['ends_before', 'end_date', '<'],
  ['ends_after', 'end_date', '>'],
];
const RELATIVE: readonly DateParam[] = ['starts_before', 'starts_after', 'ends_before', 'ends_after'];
const MONTHS_AHEAD = 24;
/** The last day of the list of a day; most lists are those of today. */
const lastDay = memoize((day: string) => addMonths(day, MONTHS_AHEAD).slice(0, 10));
const MIDNIGHT = '00:00';
/** What a DATETIME column holds. */
const [EARLIEST, LATEST] = ['1000-01-01 00:00:00', '9999-12-31 23:59:59'];
const kept = (local: string): string => {
  if (local.startsWith('0') || local.startsWith('-')) return EARLIEST;
  return local.length > LATEST.length ? LATEST : local;
};
/** What dates can be written with four digits of the year: `0000-01-01` is what many ask for who want all. */
const [FIRST, LAST] = [-62167219200, 253402300799];
const localWithin = (instant: number, zone: Zone): string => kept(localFromUnix(Math.min(Math.max(instant, FIRST), LAST), zone));

function isGiven(value: unknown): value is string | number {
  return typeof value === 'string' ? value !== '' : typeof value === 'number';
}

/** `exactIn`: the zone whose clock the exact time is by, if it says no offset; undefined where whole days are meant. */
function effectiveValue(name: DateParam, value: string | number, exactIn: Zone | undefined, context: WindowContext): string | undefined {
  const instant = instantOf(value, context.now, exactIn);
  if (instant === undefined) return undefined;
  const held = Math.min(Math.max(instant, FIRST), LAST);
  if (exactIn) return localFromUnix(held, context.siteZone);
  return wholeDay(name, textFromUnix(held), context.cutoff);
}

/**
 * A Unix time stamp or PHP's grammar, in UTC unless another zone is given. `0` means now: the calendar takes it for an
 * empty value.
 */
function instantOf(value: string | number, now: Date, zone: Zone = UTC): number | undefined {
  const stamp = phpTimestamp(value);
  if (stamp !== null) return String(value) === '0' ? unixFromDate(now) : stamp;
  return parsePhpDate(String(value), now, zone)?.instant;
}

function defaultValue(name: DateParam, strict: boolean, { now, siteZone, cutoff }: WindowContext): string | undefined {
  const today = nowLocal(now, siteZone);
  if (name === 'start_date') return beginOfDay(today, strict ? MIDNIGHT : cutoff);
  if (name !== 'end_date') return undefined;
  const end = lastDay(today.slice(0, 10));
  return strict ? end + today.slice(10) : endOfDay(end, cutoff);
}

function wholeDay(name: DateParam, local: string, cutoff: string): string {
  return name === 'start_date' ? beginOfDay(local, cutoff) : endOfNamedDay(local, cutoff);
}
