/*
 * When an event takes place: from what a request says to everything that is stored about it, and from there to the row
 * that lists read.
 */
import { createHash } from 'node:crypto';
import { parsePhpDate, phpTimestamp } from '../wordpress/php/date.ts';
import { diffSeconds, isRealDate, isZeroDate, unixFromText } from '../wordpress/time.ts';
import { abbreviation, localFromUnix, parseZone, toLocal, toUtc, UTC, type Zone } from '../wordpress/zones.ts';
import { beginOfDay, endOfNamedDay } from './window.ts';

/** The dates of an event as they are stored: texts `YYYY-MM-DD HH:MM:SS`, local in `timezone` and UTC side by side. */
export type EventDates = {
  start: string;
  end: string;
  startUtc: string;
  endUtc: string;
  /** The zone's name as sent; `abbreviation` is what it calls itself at the start. */
  timezone: string;
  abbreviation: string;
  allDay: boolean;
  /** Seconds between start and end in UTC; null: no `_EventDuration` row, as all-day events are stored. */
  duration: number | null;
};

/**
 * What a request says about the dates; absent or undefined: nothing. `start`, `end` as sent; `timezone` empty: the
 * site's own.
 */
export type EventDatesChange = {
  start?: string | number | undefined;
  end?: string | number | undefined;
  timezone?: string | null | undefined;
  allDay?: boolean | undefined;
};

/** Why dates are refused, and the parameter to blame. */
export type DatesProblem = {
  problem: 'start-missing' | 'end-missing' | 'start-invalid' | 'end-invalid' | 'timezone-invalid' | 'end-before-start';
  field: 'start_date' | 'end_date' | 'timezone';
};

/** The row of an event in the occurrence tables. */
export type Occurrence = { start_date: string; start_date_utc: string; end_date: string; end_date_utc: string; duration: number };

/**
 * The wall clock that a sent time means for an event; null when it is no time or lies outside the years 1000 to 9999.
 * The digits are kept as written, an offset among them does not shift them; relative words count in the event's zone; a
 * number (and `@number`) is an instant.
 * @param context `zone`: the event's; `timestamps`: the zone to show an instant in (default `zone`; the calendar takes
 * UTC when the request names no zone); `now`: what relative words count from
 */
export function parseEventTime(value: string | number, context: { zone: Zone; now: Date; timestamps?: Zone }): string | null {
  const { zone, now, timestamps = zone } = context;
  const stamp = phpTimestamp(value);
  if (stamp !== null) return storable(localFromUnix(stamp, timestamps));
  const parsed = parsePhpDate(String(value), now, zone);
  if (parsed === null) return null;
  return storable(/^\s*@/.test(String(value)) ? localFromUnix(parsed.instant, timestamps) : parsed.local);
}

/**
 * Everything stored about the dates of an event after a request (decisions D1 to D3).
 * What the request does not name stays: a start alone moves the start, a zone alone keeps the wall clock. Times that a
 * zone skips move forward. All-day events span whole days from cutoff to cutoff and stay all-day under new times;
 * losing the flag, they keep their times. A request that says nothing, or what is stored, leaves the dates as they are.
 * @param before what is stored, undefined on create
 * @param context the site's zone by name, the time its day begins (`HH:MM`), the moment of the request
 */
export function eventDates(
  change: EventDatesChange,
  before: EventDates | undefined,
  context: { siteZone: string; cutoff: string; now: Date },
): EventDates | DatesProblem {
  if (before && Object.values(change).every((value) => value === undefined)) return before;
  const timezone = zoneName(change, before, context.siteZone);
  const zone = parseZone(timezone);
  if (zone === null) return { problem: 'timezone-invalid', field: 'timezone' };
  const moment = { zone, now: context.now, timestamps: change.timezone ? zone : UTC };
  const allDay = change.allDay ?? before?.allDay ?? false;
  const newlyAllDay = allDay && !before?.allDay;

  const sentStart = change.start === undefined ? undefined : parseEventTime(change.start, moment);
  const sentEnd = change.end === undefined ? undefined : parseEventTime(change.end, moment);
  if (sentStart === null) return { problem: 'start-invalid', field: 'start_date' };
  if (sentEnd === null) return { problem: 'end-invalid', field: 'end_date' };
  const start = sentStart ?? before?.start;
  const end = sentEnd ?? before?.end;
  if (isZeroDate(start)) return { problem: 'start-missing', field: 'start_date' };
  if (isZeroDate(end)) return { problem: 'end-missing', field: 'end_date' };

  const isAnew = newlyAllDay || start !== before?.start || end !== before?.end;
  const dayStart = allDay && isAnew && (newlyAllDay || sentStart !== undefined) ? beginOfDay(start!, context.cutoff) : start!;
  const dayEnd = allDay && isAnew && (newlyAllDay || sentEnd !== undefined) ? endOfNamedDay(end!, context.cutoff) : end!;
  return settle(dayStart, dayEnd, zone, allDay);
}

/**
 * The occurrence row of stored dates; null when they are inconsistent, so that no row may be written: end before start
 * on either clock, a duration longer than the event, an unknown zone, an unreadable date. The duration is what its
 * column (MEDIUMINT) holds.
 */
export function occurrence(dates: EventDates): Occurrence | null {
  const { start, end, startUtc, endUtc } = dates;
  const length = diffSeconds(startUtc, endUtc);
  const duration = dates.allDay ? length : (dates.duration ?? length);
  const sound = [start, end].every(isRealDate) && diffSeconds(start, end) >= 0 && length >= 0 && duration >= 0 && duration <= length;
  if (!sound || parseZone(dates.timezone) === null) return null;
  return { start_date: start, start_date_utc: startUtc, end_date: end, end_date_utc: endUtc, duration: Math.min(duration, LONGEST) };
}

/** The value that makes an occurrence row unique: SHA-1 of post id, dates and duration. */
export function occurrenceHash(postId: number, row: Occurrence): string {
  const parts = [postId, row.start_date, row.end_date, row.start_date_utc, row.end_date_utc, row.duration];
  return createHash('sha1').update(parts.join(':')).digest('hex');
}

/** The most that a MEDIUMINT column keeps: MySQL cuts off what is longer. */
const LONGEST = 8388607;

function zoneName(change: EventDatesChange, before: EventDates | undefined, siteZone: string): string {
  if (change.timezone !== undefined) return change.timezone || siteZone;
  return before && parseZone(before.timezone) ? before.timezone : siteZone;
}

function settle(localStart: string, localEnd: string, zone: Zone, allDay: boolean): EventDates | DatesProblem {
  const [startUtc, endUtc] = [toUtc(localStart, zone), toUtc(localEnd, zone)];
  const [start, end] = [toLocal(startUtc, zone), toLocal(endUtc, zone)];
  if (!storable(start) || !storable(startUtc)) return { problem: 'start-invalid', field: 'start_date' };
  if (!storable(end) || !storable(endUtc)) return { problem: 'end-invalid', field: 'end_date' };
  if (diffSeconds(start, end) < 0 || diffSeconds(startUtc, endUtc) < 0) return { problem: 'end-before-start', field: 'end_date' };
  const duration = allDay ? null : diffSeconds(startUtc, endUtc);
  return { start, end, startUtc, endUtc, timezone: zone.name, abbreviation: abbreviation(start, zone), allDay, duration };
}

/** Text that a DATETIME column holds, else null. */
function storable(text: string): string | null {
  return /^[1-9]\d{3}-/.test(text) && !Number.isNaN(unixFromText(text)) ? text : null;
}
