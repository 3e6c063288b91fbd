import { unixFromText } from '../../wordpress/time.ts';
import type { Zone } from '../../wordpress/zones.ts';
import { type Clock, utcClock } from './clock.ts';
import type { CalendarEvent, Length, Moment } from './event.ts';

/*
 * Times of calendar events (RFC 5545, 3.6.1 and 3.8.5). Wall times are what a clock shows, in seconds read as UTC;
 * moments are Unix seconds. All-day events use the wall times of their midnights.
 */

const DAY = 86_400;

/**
 * The clocks by which a file states times. `calendar` is used for times without a zone; its zone is also the one in
 * which times in UTC are shown.
 */
export interface Clocks {
  readonly calendar: Clock;
  readonly find: (id: string) => Clock | undefined;
}

/** The start and end of one date of an event. */
export interface Span {
  readonly allDay: boolean;
  /** Moments; for all-day events, the midnights of the first day and of the day after the last, as wall times. */
  readonly start: number;
  readonly end: number;
  /** The zone to store for the event. */
  readonly zone: Zone;
  /** Whether the end is before the start in the file. */
  readonly isReversed: boolean;
}

/** Returns the unknown zones that an event names. */
export const unknownZones = ({ start, end, recurrenceId, dates, exclusionDates }: CalendarEvent, clocks: Clocks): string[] => {
  const { find } = clocks;
  const moments = [start, end, recurrenceId, ...dates.flatMap((date) => [date.start, date.end]), ...exclusionDates];
  const zoneNames = moments.flatMap((moment) => (moment?.in === 'zone' && moment.zone !== undefined ? [moment.zone] : []));
  const isOverruled = (id: string) => id === start?.zone && end !== undefined && hasMoreReliableZone(end, start, clocks);
  return [...new Set(zoneNames)].filter((id) => find(id) === undefined || isOverruled(id));
};

/** Returns the span of an event that does not repeat, or undefined if it has no start. */
export function spanOf(event: CalendarEvent, clocks: Clocks): Span | undefined {
  const { start, end, length } = event;
  return start && (markedAllDaySpan(event, clocks) ?? spanFrom(start, end, length, clocks));
}

/** Returns the span of an event that is marked as all-day, if its times are midnights where they are stated. */
function markedAllDaySpan({ start, end, length, isMarkedAllDay }: CalendarEvent, clocks: Clocks): Span | undefined {
  if (!isMarkedAllDay || !start || !(end ?? length) || start.in === 'day' || end?.in === 'day') return undefined;
  const clock = midnightClock(start, end, clocks);
  const from = momentOf(start, clocks, clock);
  const first = clock.toWall(from);
  const { days, seconds } = length ?? { days: 0, seconds: 0 };
  const after = end ? clock.toWall(momentOf(end, clocks, clock)) : first + days * DAY + seconds;
  return first % DAY === 0 && after % DAY === 0 ? daysBetween(first, after, clock.zoneAt(from)) : undefined;
}

/** Returns the clock for all-day events that are written as times: the calendar's clock if the times are in UTC. */
export const midnightClock = (start: Moment, end: Moment | undefined, clocks: Clocks): Clock =>
  start.in === 'utc' ? clocks.calendar : startClock(start, end, clocks);

/**
 * Returns the span from start to end. A day without an end lasts one day, a time without an end has no duration. A day
 * whose end or duration includes a time of day begins at midnight; an end that is a day means its midnight.
 */
function spanFrom(start: Moment, end: Moment | undefined, length: Length | undefined, clocks: Clocks): Span {
  const hasTime = end ? end.in !== 'day' : (length?.seconds ?? 0) % DAY !== 0;
  const clock = startClock(start, end, clocks);
  const wall = unixFromText(start.wall);
  if (start.in === 'day' && !hasTime) {
    const after = end ? unixFromText(end.wall) : wall + (length ? length.days * DAY + length.seconds : DAY);
    return daysBetween(wall, after, clock.zoneAt(clock.toMoment(wall)));
  }
  const from = clock.toMoment(wall);
  const to = end ? momentOf(end, clocks, clock) : endAfter(from, length ?? { days: 0, seconds: 0 }, clock);
  // If the clock skips the start and would show the end before it, the event keeps its length.
  const isLater = end?.in === start.in && end.zone === start.zone && end.wall > start.wall;
  return timesBetween(from, isLater && to <= from ? from + unixFromText(end.wall) - wall : to, clock.zoneAt(from));
}

/** Returns the clock of an event. If the start has no zone, or only a guessed one, the zone of the end is used. */
export const startClock = (start: Moment, end: Moment | undefined, clocks: Clocks): Clock =>
  clockFor(
    end && end.in !== 'day' && (start.in === 'anywhere' || start.in === 'day' || hasMoreReliableZone(end, start, clocks)) ? end : start,
    clocks,
  );

/** Whether one moment has a reliable zone, and the other an unknown or guessed one. */
function hasMoreReliableZone(one: Moment, other: Moment, { find }: Clocks): boolean {
  const [oneState, otherState] = [one, other].map((moment) =>
    moment.in === 'zone' ? (find(moment.zone ?? '')?.isZoneGuessed ?? 'unknown') : undefined,
  );
  return oneState === false && (otherState === true || otherState === 'unknown');
}

/** Returns a span of at least one whole day. Some files have the end before the start; they are swapped then. */
const daysBetween = (first: number, after: number, zone: Zone): Span => ({
  allDay: true,
  start: Math.min(first, after),
  end: Math.max(first, after, Math.min(first, after) + DAY),
  zone,
  isReversed: after < first,
});

/** Returns a span of times, which may be empty; swapped if the end is before the start. */
export const timesBetween = (start: number, end: number, zone: Zone): Span => ({
  allDay: false,
  start: Math.min(start, end),
  end: Math.max(start, end),
  zone,
  isReversed: end < start,
});

/** Adds a duration. Days are calendar days of the clock, also across a change of its offset; seconds are exact. */
export const endAfter = (moment: number, { days, seconds }: Length, clock: Clock): number =>
  (days === 0 ? moment : clock.toMoment(clock.toWall(moment) + days * DAY)) + seconds;

/** Returns the clock by which a moment is stated. */
function clockFor(moment: Moment, { calendar, find }: Clocks): Clock {
  if (moment.in === 'utc') return utcClock(calendar);
  return (moment.in === 'zone' ? find(moment.zone ?? '') : undefined) ?? calendar;
}

/** Returns the moment of a time. Times without a zone, and the midnight of a day, are read by the given clock. */
export const momentOf = (moment: Moment, clocks: Clocks, clock: Clock): number =>
  (moment.in === 'day' || moment.in === 'anywhere' ? clock : clockFor(moment, clocks)).toMoment(unixFromText(moment.wall));

/** Whether a span overlaps a window of wall times in the calendar's zone. */
export const overlapsWindow = ({ start, end, allDay }: Span, [first, last]: readonly [number, number], clock: Clock): boolean => {
  const [from, to] = allDay ? [start, end - 1] : [clock.toWall(start), clock.toWall(end)];
  return to >= first && from <= last;
};
