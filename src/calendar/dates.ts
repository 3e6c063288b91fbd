/*
 * Dates of an event: from the values in a request to everything that is stored about them, and from there to the
 * occurrence row that lists read.
 */
import { createHash } from 'node:crypto';
import { parsePhpDate, phpTimestamp } from '../wordpress/php/date.ts';
import { addDays, addSeconds, diffSeconds, isRealDate, isZeroDate, unixFromText } from '../wordpress/time.ts';
import { abbreviationAtUtc, isoAt, localFromUnix, parseZone, toLocal, toUtc, UTC, type Zone } from '../wordpress/zones.ts';
import { beginOfDay, endOfNamedDay } from './window.ts';

/** The dates of an event as stored: texts `YYYY-MM-DD HH:MM:SS`, both local in `timezone` and in UTC. */
export type EventDates = {
  start: string;
  end: string;
  startUtc: string;
  endUtc: string;
  /** The zone's name as sent; `abbreviation` is that of the zone at the start. */
  timezone: string;
  abbreviation: string;
  allDay: boolean;
  /** Seconds between start and end in UTC; null: no `_EventDuration` row, which is how all-day events are stored. */
  duration: number | null;
};

/**
 * The dates in a request; absent or undefined: unchanged. `start`, `end` as sent; `timezone` empty: the site's zone.
 */
export type EventDatesChange = {
  start?: string | number | undefined;
  end?: string | number | undefined;
  timezone?: string | null | undefined;
  allDay?: boolean | undefined;
};

/** The reason why dates are refused, and the parameter with the error. */
export type DatesProblem = {
  problem: 'start-missing' | 'end-missing' | 'start-invalid' | 'end-invalid' | 'timezone-invalid' | 'end-before-start';
  field: 'start_date' | 'end_date' | 'timezone';
};

/** The row of an event in the occurrence tables. */
export type Occurrence = { start_date: string; start_date_utc: string; end_date: string; end_date_utc: string; duration: number };

/**
 * Returns the local time of an event for a time in a request; null if it is invalid or outside the years 1000 to 9999.
 * The digits are kept as written, and an offset in the text does not change them; relative words are evaluated in the
 * event's zone; a number (and `@number`) is an instant.
 * @param context `zone`: the event's zone; `timestamps`: the zone for an instant (default `zone`; The Events Calendar
 * uses UTC if the request names no zone); `now`: the time to which relative words refer
 */
export function parseEventTime(value: string | number, context: TimeContext): string | null {
  return sentTime(value, context)?.local ?? null;
}

interface TimeContext {
  readonly zone: Zone;
  readonly now: Date;
  readonly timestamps?: Zone;
}

/** A time in a request. `utc`: the moment that it states, if the clock of the event shows the local time then. */
interface SentTime {
  readonly local: string;
  readonly utc?: string;
}

/** Returns the same as `parseEventTime`, with the moment. */
export function sentTime(value: string | number, { zone, now, timestamps = zone }: TimeContext): SentTime | null {
  const stamp = phpTimestamp(value);
  const parsed = stamp === null ? parsePhpDate(String(value), now, zone) : null;
  const instant = stamp ?? (/^\s*@/.test(String(value)) ? parsed?.instant : undefined);
  const date = instant === undefined ? parsed : { instant, local: localFromUnix(instant, timestamps), zone: timestamps };
  const local = date && storableDate(date.local);
  if (!date || !local) return null;
  // A zone with changes of the clock does not say which of two moments is meant.
  const isStated = (instant !== undefined || date.zone?.rules === null) && localFromUnix(date.instant, zone) === local;
  return isStated ? { local, utc: localFromUnix(date.instant, UTC) } : { local };
}

/**
 * Returns everything stored about the dates of an event after a request (decisions D1 to D3).
 * Values that the request does not name stay: a start alone moves the start, a zone alone keeps the local time. Times
 * that a zone skips move forward, and an end that would no longer be after the start with them. All-day events span
 * whole days from cutoff to cutoff and stay all-day when their times change; if the flag is removed, they keep their
 * times. Within an hour that the clock shows twice, a time that states a moment (a Unix time, an offset) is at that
 * moment, and a start or an end that stays at its local time is not moved.
 * @param before the stored dates, undefined on create
 * @param context the site's zone by name, the time at which its day begins (`HH:MM`), the moment of the request
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
  const isNewlyAllDay = allDay && !before?.allDay;

  const sentStart = change.start === undefined ? undefined : sentTime(change.start, moment);
  const sentEnd = change.end === undefined ? undefined : sentTime(change.end, moment);
  if (sentStart === null) return { problem: 'start-invalid', field: 'start_date' };
  if (sentEnd === null) return { problem: 'end-invalid', field: 'end_date' };
  const start = sentStart?.local ?? before?.start;
  const end = sentEnd?.local ?? before?.end;
  if (isZeroDate(start)) return { problem: 'start-missing', field: 'start_date' };
  if (isZeroDate(end)) return { problem: 'end-missing', field: 'end_date' };

  const isAnew = isNewlyAllDay || start !== before?.start || end !== before?.end;
  const isPastEnd = sentStart !== undefined && sentStart.local >= end!;
  const startTime = (isPastEnd && skippedTime(change.start!, sentStart.local, moment)) || start!;
  const dayStart = allDay && isAnew && (isNewlyAllDay || sentStart !== undefined) ? beginOfDay(start!, context.cutoff) : startTime;
  const dayEnd = allDay && isAnew && (isNewlyAllDay || sentEnd !== undefined) ? endOfNamedDay(end!, context.cutoff) : end!;
  const [startUtc, endUtc] = [sentStart?.utc ?? before?.startUtc ?? '', sentEnd?.utc ?? before?.endUtc ?? ''];
  const stated = { start: sentStart?.utc !== undefined, end: sentEnd?.utc !== undefined };
  return withUtcDates({ start: dayStart, end: dayEnd, startUtc, endUtc }, { zone, stated, allDay });
}

/** Start and end of an event, local and in UTC. */
type Moments = Pick<EventDates, 'start' | 'end' | 'startUtc' | 'endUtc'>;

/** Whether a request states the moments of the start and of the end. */
interface Stated {
  readonly start: boolean;
  readonly end: boolean;
}

/**
 * Returns local times with their UTC. The stated or stored moments are kept if the clock shows the local times then: it
 * shows the times of an hour twice when it is set back. If the event would end before it starts, only stated moments
 * are kept, and the other time is at the moment that fits, if there is one.
 */
export function withKeptMoments({ start, end, startUtc, endUtc }: Moments, zone: Zone, stated?: Stated): Moments {
  const kept = { start, end, startUtc: utcOf(start, startUtc, zone), endUtc: utcOf(end, endUtc, zone) };
  const isInOrder = (moments: Moments) => diffSeconds(moments.startUtc, moments.endUtc) >= 0;
  if (isInOrder(kept)) return kept;
  if (!stated?.start && !stated?.end) return { start, end, startUtc: toUtc(start, zone), endUtc: toUtc(end, zone) };
  const starts = stated.start ? [kept.startUtc] : momentsOf(start, zone);
  const ends = stated.end ? [kept.endUtc] : momentsOf(end, zone);
  const pairs = starts.flatMap((oneStart) => ends.map((oneEnd) => ({ start, end, startUtc: oneStart, endUtc: oneEnd })));
  return pairs.find(isInOrder) ?? kept;
}

/**
 * Returns the moments in UTC at which the clock of a zone shows a local time, which may be two; none if it skips it.
 */
function momentsOf(local: string, zone: Zone): string[] {
  const near = toUtc(local, zone);
  const offsets = [-DAY_S, DAY_S].map((seconds) => diffSeconds(addSeconds(near, seconds), toLocal(addSeconds(near, seconds), zone)));
  return [...new Set(offsets.map((offset) => addSeconds(local, -offset)))].filter((utcText) => toLocal(utcText, zone) === local);
}

const DAY_S = 86_400;

/**
 * Whether the local end is before the local start. It may be in an event that ends in an hour which the clock shows
 * twice; then the moments in UTC decide.
 */
export function endsBeforeStart({ start, end, startUtc, endUtc }: Moments, zone: Zone): boolean {
  if (diffSeconds(start, end) >= 0) return false;
  const areShown = toLocal(startUtc, zone) === start && toLocal(endUtc, zone) === end;
  return !areShown || diffSeconds(startUtc, endUtc) < 0;
}

/**
 * Returns the UTC of a local time: the stated or stored moment if the clock shows the local time then, which it may do
 * twice. `utcText`: `YYYY-MM-DD HH:MM:SS`, or empty.
 */
export const utcOf = (local: string, utcText: string, zone: Zone): string =>
  isRealDate(utcText) && toLocal(utcText, zone) === local ? utcText : toUtc(local, zone);

/**
 * Whether a local time stands for a moment: clocks show it then, or a clock change skips it and WordPress takes it for
 * that moment. `utcText`: `YYYY-MM-DD HH:MM:SS`.
 */
export const isTimeAt = (local: string, utcText: string, zone: Zone): boolean => utcOf(local, utcText, zone) === utcText;

/** Returns the ISO 8601 form of a local time with the offset of its stored moment (`utcOf`), as in JSON-LD. */
export const isoOfTime = (local: string, utcText: string, zone: Zone): string => isoAt(unixFromText(utcOf(local, utcText, zone)), zone);

/**
 * Returns local dates moved to another day, at the same times. If the clock skips the start there, the event begins
 * later and keeps its length.
 */
export function movedDates({ start, end }: Pick<EventDates, 'start' | 'end'>, days: number, zone: Zone): Pick<EventDates, 'start' | 'end'> {
  const movedStart = addDays(start, days);
  const startUtc = toUtc(movedStart, zone);
  const isSkipped = toLocal(startUtc, zone) !== movedStart;
  return { start: movedStart, end: isSkipped ? toLocal(addSeconds(startUtc, diffSeconds(start, end)), zone) : addDays(end, days) };
}

/**
 * Returns the occurrence row for stored dates; null if they are inconsistent, so that no row may be written: end before
 * start in local time or in UTC, a duration longer than the event, an unknown zone, an invalid date. The duration is
 * limited to the maximum of its column (MEDIUMINT).
 */
export function occurrence(dates: EventDates): Occurrence | null {
  const { start, end, startUtc, endUtc } = dates;
  const length = diffSeconds(startUtc, endUtc);
  const duration = dates.allDay ? length : (dates.duration ?? length);
  const isConsistent = [start, end].every(isRealDate) && length >= 0 && duration >= 0 && duration <= length;
  const zone = parseZone(dates.timezone);
  if (!isConsistent || zone === null || endsBeforeStart(dates, zone)) return null;
  return { start_date: start, start_date_utc: startUtc, end_date: end, end_date_utc: endUtc, duration: durationInRow(duration) };
}

/** Returns the value that makes an occurrence row unique: SHA-1 of post id, dates and duration. */
export function occurrenceHash(postId: number, row: Occurrence): string {
  const parts = [postId, row.start_date, row.end_date, row.start_date_utc, row.end_date_utc, row.duration];
  return createHash('sha1').update(parts.join(':')).digest('hex');
}

/** Returns a duration as it is stored in rows, in seconds. */
export const durationInRow = (seconds: number): number => Math.min(seconds, MAX_DURATION_S);

/** Maximum of a MEDIUMINT column; MySQL truncates higher values. */
const MAX_DURATION_S = 8388607;

function zoneName(change: EventDatesChange, before: EventDates | undefined, siteZone: string): string {
  if (change.timezone !== undefined) return change.timezone || siteZone;
  return before && parseZone(before.timezone) ? before.timezone : siteZone;
}

/** Returns all dates for local times and their stated or stored moments, which are empty texts if there are none. */
function withUtcDates(
  times: Moments,
  { zone, stated, allDay }: { readonly zone: Zone; readonly stated: Stated; readonly allDay: boolean },
): EventDates | DatesProblem {
  const { startUtc, endUtc: ownEndUtc } = withKeptMoments(times, zone, stated);
  const endUtc = endAfter(startUtc, times, ownEndUtc, zone);
  const [start, end] = [toLocal(startUtc, zone), toLocal(endUtc, zone)];
  if (!storableDate(start) || !storableDate(startUtc)) return { problem: 'start-invalid', field: 'start_date' };
  if (!storableDate(end) || !storableDate(endUtc)) return { problem: 'end-invalid', field: 'end_date' };
  if (diffSeconds(startUtc, endUtc) < 0) return { problem: 'end-before-start', field: 'end_date' };
  const duration = allDay ? null : diffSeconds(startUtc, endUtc);
  return { start, end, startUtc, endUtc, timezone: zone.name, abbreviation: abbreviationAtUtc(startUtc, zone), allDay, duration };
}

/** Returns the time that a request names as it is written, if the clock skips it; `local`: the time that follows. */
function skippedTime(value: string | number, local: string, { zone, now }: { zone: Zone; now: Date }): string | undefined {
  const written = parsePhpDate(String(value), now, UTC)?.local;
  return written !== undefined && written < local && toUtc(written, zone) === toUtc(local, zone) ? written : undefined;
}

/**
 * Returns the end in UTC. If the start moves forward because the clock skips it, and reaches the end or passes it, the
 * end moves too, so that the event keeps its length. Any other end stays as sent, as in The Events Calendar.
 */
function endAfter(startUtc: string, { start, end }: Pick<EventDates, 'start' | 'end'>, endUtc: string, zone: Zone): string {
  const isSkipped = toLocal(startUtc, zone) !== start;
  return isSkipped && start < end && endUtc <= startUtc ? addSeconds(startUtc, diffSeconds(start, end)) : endUtc;
}

/** Returns the text if a DATETIME column can store it, else null. */
function storableDate(text: string): string | null {
  return /^[1-9]\d{3}-/.test(text) && !Number.isNaN(unixFromText(text)) ? text : null;
}
