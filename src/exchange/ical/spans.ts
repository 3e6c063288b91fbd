import { unixFromText } from '../../wordpress/time.ts';
import type { Zone } from '../../wordpress/zones.ts';
import { type Clock, utcClock } from './clock.ts';
import type { CalendarEvent, Length, Moment } from './event.ts';

/*
 * When an event of a calendar takes place (RFC 5545, 3.6.1 and 3.8.5). Walls are what a clock shows, in seconds read as
 * UTC; moments are Unix seconds. Whole days are walls of their midnights.
 */

const DAY = 86_400;

/**
 * The clocks by which a file states times. `own`: that of what names no zone, in whose zone also times in UTC are
 * shown.
 */
export interface Clocks {
  readonly own: Clock;
  readonly find: (id: string) => Clock | undefined;
}

/** One time at which an event takes place. */
export interface Span {
  readonly allDay: boolean;
  /** Moments; of whole days the midnights of the first day and of the day after the last, as walls. */
  readonly start: number;
  readonly end: number;
  /** The zone to store for it. */
  readonly zone: Zone;
  /** Whether the file has its end before its start. */
  readonly isTurned: boolean;
}

/** Zones that an event names and that nobody knows. */
export const unknownZones = ({ start, end, recurrenceId, dates, exceptDates }: CalendarEvent, clocks: Clocks): string[] => {
  const { find } = clocks;
  const moments = [start, end, recurrenceId, ...dates.flatMap((date) => [date.start, date.end]), ...exceptDates];
  const named = moments.flatMap((moment) => (moment?.in === 'zone' && moment.zone !== undefined ? [moment.zone] : []));
  const isOverruled = (id: string) => id === start?.zone && end !== undefined && isSurer(end, start, clocks);
  return [...new Set(named)].filter((id) => find(id) === undefined || isOverruled(id));
};

/** When an event takes place that does not repeat; undefined where it has no start. */
export function spanOf(event: CalendarEvent, clocks: Clocks): Span | undefined {
  const { start, end, length } = event;
  return start && (markedDays(event, clocks) ?? spanFrom(start, end, length, clocks));
}

/** The whole days of an event that says to last such, if its moments are midnights where they are stated. */
function markedDays({ start, end, isMarkedAllDay }: CalendarEvent, clocks: Clocks): Span | undefined {
  if (!isMarkedAllDay || !start || !end || start.in === 'day' || end.in === 'day') return undefined;
  const clock = midnightClock(start, end, clocks);
  const from = momentOf(start, clocks, clock);
  const [first, after] = [from, momentOf(end, clocks, clock)].map((moment) => clock.toWall(moment)) as [number, number];
  return first % DAY === 0 && after % DAY === 0 ? daysBetween(first, after, clock.zoneAt(from)) : undefined;
}

/** The clock whose midnights are meant where whole days are written as moments: in UTC, those of the calendar. */
export const midnightClock = (start: Moment, end: Moment | undefined, clocks: Clocks): Clock =>
  start.in === 'utc' ? clocks.own : startClock(start, end, clocks);

/**
 * A day without an end lasts a day, a time without an end no time. A day whose end or length names a time of the day
 * begins at midnight; an end that is a day means its midnight.
 */
function spanFrom(start: Moment, end: Moment | undefined, length: Length | undefined, clocks: Clocks): Span {
  const timed = end ? end.in !== 'day' : (length?.seconds ?? 0) % DAY !== 0;
  const clock = startClock(start, end, clocks);
  const wall = unixFromText(start.wall);
  if (start.in === 'day' && !timed) {
    const after = end ? unixFromText(end.wall) : wall + (length ? length.days * DAY + length.seconds : DAY);
    return daysBetween(wall, after, clock.zoneAt(clock.toMoment(wall)));
  }
  const from = clock.toMoment(wall);
  const to = end ? momentOf(end, clocks, clock) : endAfter(from, length ?? { days: 0, seconds: 0 }, clock);
  return timesBetween(from, to, clock.zoneAt(from));
}

/** The clock of an event; a start that names no zone, or one that has to be guessed, is in the zone of its end. */
export const startClock = (start: Moment, end: Moment | undefined, clocks: Clocks): Clock =>
  clockFor(end && end.in !== 'day' && (start.in === 'anywhere' || start.in === 'day' || isSurer(end, start, clocks)) ? end : start, clocks);

/** Whether one moment names a zone for certain, and the other one that is not known or has to be guessed. */
function isSurer(one: Moment, other: Moment, { find }: Clocks): boolean {
  const [sure, unsure] = [one, other].map((moment) => (moment.in === 'zone' ? (find(moment.zone ?? '')?.isGuess ?? 'unknown') : undefined));
  return sure === false && (unsure === true || unsure === 'unknown');
}

/** Whole days; at least one. Some files have the end before the start; then each is the other. */
const daysBetween = (first: number, after: number, zone: Zone): Span => ({
  allDay: true,
  start: Math.min(first, after),
  end: Math.max(first, after, Math.min(first, after) + DAY),
  zone,
  isTurned: after < first,
});

/** From one moment to another, which may be the same; turned around as days are. */
export const timesBetween = (start: number, end: number, zone: Zone): Span => ({
  allDay: false,
  start: Math.min(start, end),
  end: Math.max(start, end),
  zone,
  isTurned: end < start,
});

/** Days are days of the clock, also across a change of its offset; seconds are exact. */
export const endAfter = (moment: number, { days, seconds }: Length, clock: Clock): number =>
  (days === 0 ? moment : clock.toMoment(clock.toWall(moment) + days * DAY)) + seconds;

/** The clock by which a moment is stated. */
function clockFor(moment: Moment, { own, find }: Clocks): Clock {
  if (moment.in === 'utc') return utcClock(own);
  return (moment.in === 'zone' ? find(moment.zone ?? '') : undefined) ?? own;
}

/** The moment of a time; what names no zone, and the midnight of a day, are on the given clock. */
export const momentOf = (moment: Moment, clocks: Clocks, clock: Clock): number =>
  (moment.in === 'day' || moment.in === 'anywhere' ? clock : clockFor(moment, clocks)).toMoment(unixFromText(moment.wall));

/** Whether a span touches a window of walls in the calendar's zone. */
export const touches = ({ start, end, allDay }: Span, [first, last]: readonly [number, number], own: Clock): boolean => {
  const [from, to] = allDay ? [start, end - 1] : [own.toWall(start), own.toWall(end)];
  return to >= first && from <= last;
};
