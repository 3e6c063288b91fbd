import { dayAfter } from '../../calendar/schedule.ts';
import { isDate, type ShownTimes } from '../../calendar/shown-times.ts';
import { textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { localFromUnix, offsetAt, type Zone } from '../../wordpress/zones.ts';
import type { FeedRecord } from '../items/event-record.ts';
import { line } from './write-line.ts';
import { ZONES_BEGIN, zoneId } from './zone.ts';

/* Start and end of an event, as lines of its VEVENT. */

/**
 * Returns start and end: days for all-day events, the end being the day after the last; otherwise times by the clock
 * that is shown. An event that is stored with its end before its start gets no end, since many programs reject a whole
 * calendar for that.
 */
export function timeLines(record: FeedRecord, { start, end, zone }: ShownTimes): string[] {
  const { start_date: first, end_date: last, utc_start_date: startUtc, utc_end_date: endUtc } = record;
  if (record.all_day) return dayLines(first.slice(0, 10), dayAfter(first, last));
  const startLine = timeLine('dtstart', start, startUtc, zone);
  return unixFromText(endUtc) < unixFromText(startUtc) ? [startLine] : [startLine, timeLine('dtend', end, endUtc, zone)];
}

/** Returns start and end of an all-day event, whose end is the day after its last. A one-day event has no end. */
export const dayLines = (first: string, after: string): string[] => [
  line('dtstart', 'date', [first]),
  ...(after === first ? [] : [line('dtend', 'date', [after])]),
];

/** Whether the times of an event are written in this zone. */
export const isWrittenInZone = ({ all_day, utc_start_date, utc_end_date }: FeedRecord, { start, end }: ShownTimes, zone: Zone): boolean =>
  !all_day && (isUnambiguous(start, utc_start_date, zone) || isUnambiguous(end, utc_end_date, zone));

/**
 * Whether the local time and its zone identify the moment. They do not if the zone is UTC, if the clock shows the time
 * for the second time (RFC 5545, 3.3.5: the first is meant), if the moment is before the first of the zone's rules that
 * are written, or if the two texts disagree.
 */
export function isUnambiguous(local: string, utc: string, zone: Zone): boolean {
  if (zone.rules === null && zone.seconds === 0) return false;
  const unix = unixFromText(utc);
  if (unix < ZONES_BEGIN || localFromUnix(unix, zone) !== local) return false;
  const earlier = unix - (offsetAt(unix - 86_400, zone) - offsetAt(unix, zone)) * 60;
  return earlier >= unix || localFromUnix(earlier, zone) !== local;
}

/** Names of properties with a time: start or end of an event, or one of its dates. */
type TimeName = 'dtstart' | 'dtend' | 'rdate' | 'exdate' | 'recurrence-id';

/** Returns a time by the clock of a zone if that is unambiguous, otherwise in UTC. */
export function timeLine(name: TimeName, local: string, utc: string, zone: Zone | null): string {
  return zone && isUnambiguous(local, utc, zone) ? zonedLine(name, local, zone) : line(name, 'date-time', [utcTime(utc, local)]);
}

/** Returns a time by the clock of a zone. */
export const zonedLine = (name: TimeName, local: string, zone: Zone): string =>
  line(name, 'date-time', [local.replace(' ', 'T')], { tzid: zoneId(zone) });

/** Returns the first of these texts that is a date, as UTC time; 1970-01-01 if none is. */
export function utcTime(...texts: readonly string[]): string {
  const text = texts.find(isDate) ?? '1970-01-01 00:00:00';
  return `${textFromUnix(unixFromText(text)).replace(' ', 'T')}Z`;
}
