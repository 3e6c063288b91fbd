import { dayAfter } from '../../calendar/schedule.ts';
import type { ShownTimes } from '../../calendar/shown-times.ts';
import { textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { localFromUnix, offsetAt, type Zone } from '../../wordpress/zones.ts';
import type { FeedRecord } from '../items/event-record.ts';
import { line } from './write-line.ts';
import { ZONES_BEGIN, zoneId } from './zone.ts';

/*
 * When an event takes place, as lines of its VEVENT.
 */

export const isDate = (text: string): boolean => !Number.isNaN(unixFromText(text));

/**
 * Start and end: days for what lasts whole days, the end being the day after the last; else times by the clock that is
 * shown. What ends before it begins, as it is stored, has no end here: many programs refuse a whole calendar for it.
 */
export function timeLines(record: FeedRecord, { start, end, zone }: ShownTimes): string[] {
  const { start_date: first, end_date: last, utc_start_date: startUtc, utc_end_date: endUtc } = record;
  if (record.all_day) return dayLines(first.slice(0, 10), dayAfter(first, last));
  const begin = timeLine('dtstart', start, startUtc, zone);
  return unixFromText(endUtc) < unixFromText(startUtc) ? [begin] : [begin, timeLine('dtend', end, endUtc, zone)];
}

/** The first day of what lasts whole days, and the day after its last; without that, it is one day. */
export const dayLines = (first: string, after: string): string[] => [
  line('dtstart', 'date', [first]),
  ...(after === first ? [] : [line('dtend', 'date', [after])]),
];

/** Whether an event's times are written in this zone. */
export const usesZone = ({ all_day, utc_start_date, utc_end_date }: FeedRecord, { start, end }: ShownTimes, zone: Zone): boolean =>
  !all_day && (isUnambiguous(start, utc_start_date, zone) || isUnambiguous(end, utc_end_date, zone));

/**
 * Whether the local time and its zone alone say which moment is meant: not in UTC, not where the clock shows the time a
 * second time (RFC 5545, 3.3.5: the first is meant), not before the first of the zone's rules that are written, and not
 * where the two texts disagree.
 */
export function isUnambiguous(local: string, utc: string, zone: Zone): boolean {
  if (zone.rules === null && zone.seconds === 0) return false;
  const unix = unixFromText(utc);
  if (unix < ZONES_BEGIN || localFromUnix(unix, zone) !== local) return false;
  const earlier = unix - (offsetAt(unix - 86_400, zone) - offsetAt(unix, zone)) * 60;
  return earlier >= unix || localFromUnix(earlier, zone) !== local;
}

/** What a time is: when an event begins or ends, or a date of it. */
type TimeName = 'dtstart' | 'dtend' | 'rdate' | 'exdate' | 'recurrence-id';

export function timeLine(name: TimeName, local: string, utc: string, zone: Zone | null): string {
  return zone && isUnambiguous(local, utc, zone) ? zonedLine(name, local, zone) : line(name, 'date-time', [utcTime(utc, local)]);
}

/** A time by the clock of a zone. */
export const zonedLine = (name: TimeName, local: string, zone: Zone): string =>
  line(name, 'date-time', [local.replace(' ', 'T')], { tzid: zoneId(zone) });

/** The first of these texts that is a date, as time in UTC; the beginning of time if none is. */
export function utcTime(...texts: readonly string[]): string {
  const text = texts.find(isDate) ?? '1970-01-01 00:00:00';
  return `${textFromUnix(unixFromText(text)).replace(' ', 'T')}Z`;
}
