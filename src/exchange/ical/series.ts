import { textFromUnix, unixFromText } from '../../wordpress/time.ts';
import type { Zone } from '../../wordpress/zones.ts';
import type { Clock } from './clock.ts';
import { type CalendarEvent, type ExtraDate, type Length, MICROSOFT_ALL_DAY, type Moment } from './event.ts';
import type { Override } from './revisions.ts';
import { type Series, startsWithin, type Trouble, wallOf } from './series-starts.ts';
import { type Clocks, endAfter, momentOf, type Span, spanOf, startClock, timesBetween, touches } from './spans.ts';

const DAY = 86_400;

/**
 * A time of a series: its event (an override may stand in its place), when it is, and the name of the time within the
 * series.
 */
export interface Time {
  readonly event: CalendarEvent;
  readonly span: Span;
  readonly name: string;
}

/**
 * The times of a series within a window of walls of the calendar's zone, overrides in the place of what they replace. A
 * rule, a date or an override that can't be followed comes as trouble.
 */
export function* timesOf(
  core: CalendarEvent,
  overrides: readonly Omit<Override<CalendarEvent>, 'conflicts'>[],
  window: readonly [first: number, last: number],
  clocks: Clocks,
): Generator<Time | Trouble> {
  const series = seriesFrom(core, clocks);
  if (!series) {
    yield { reason: 'ical-event-unreadable', event: core, detail: 'DTSTART' };
    return;
  }
  const left = new Set(core.exceptDates.map((moment) => keyOf(moment, series)));
  const standing = overrides
    .map((override) => ({
      ...override,
      event: completeOverride(override.event, core),
      key: keyOf(override.event.recurrenceId!, series),
    }))
    .filter(({ event, key }) => !(event.sequence < core.sequence && left.has(key)));
  const replaced = new Set(standing.map(({ key }) => key));
  const later = standing.filter(({ event }) => event.andFuture).sort((one, other) => one.at - other.at);
  const { starts, trouble } = startsWithin(series, window, { mayShift: later.length > 0 });
  yield* trouble;
  let changes = 0;
  for (const { wall, date } of starts) {
    while (changes < later.length && later[changes]!.at <= wall) changes += 1;
    if (left.size + replaced.size > 0 && keysOf(wall, series).some((key) => left.has(key) || replaced.has(key))) continue;
    const changed = later[changes - 1];
    const time = changed ? shiftedTime(changed, wall, series) : { event: core, span: spanAt(wall, date, series) };
    if (touches(time.span, window, clocks.own)) yield { ...time, name: nameOf(wall, series) };
  }
  for (const { event, isOutdone } of standing) {
    if (!isOutdone) yield* overrideTime(event, window, clocks, nameOfMoment(event.recurrenceId!, series));
  }
}

/** An override whose series is not in the file stands for itself. */
export function* orphanTime(event: CalendarEvent, window: readonly [number, number], clocks: Clocks): Generator<Time | Trouble> {
  const { wall: text, in: clock } = event.recurrenceId!;
  const wall = unixFromText(text);
  const name = clock === 'day' ? compactDay(wall) : `${compactTime(wall)}${clock === 'utc' ? 'Z' : ''}`;
  yield* overrideTime(event, window, clocks, name);
}

function* overrideTime(event: CalendarEvent, window: readonly [number, number], clocks: Clocks, name: string): Generator<Time | Trouble> {
  const span = spanOf(event, clocks);
  if (!span) yield { reason: 'ical-event-unreadable', event, detail: 'DTSTART' };
  else if (touches(span, window, clocks.own)) yield { event, span, name };
}

/** A series and its clock; undefined where it has no start. */
function seriesFrom(core: CalendarEvent, clocks: Clocks): Series | undefined {
  const span = spanOf(core, clocks);
  if (!core.start || !span) return undefined;
  return { core, span, clock: span.allDay ? dayClock(span.zone) : startClock(core.start, core.end, clocks), clocks };
}

/** Whole days have no zone: their walls are their moments. */
const dayClock = (zone: Zone): Clock => ({ toMoment: (wall) => wall, toWall: (moment) => moment, zoneAt: () => zone, isGuess: false });

// ------------------------------------------------------------------------------------------------- names and keys
/** Which time a RECURRENCE-ID means, in whatever form: a wall of its series, a moment where the file has no series. */
export function placeOf(moment: Moment, core: CalendarEvent | undefined, clocks: Clocks): number {
  const series = core && seriesFrom(core, clocks);
  return series ? placeIn(series, moment) : momentOf(moment, clocks, clocks.own);
}

/** Where in its series an override begins to count. */
const placeIn = (series: Series, moment: Moment): number => wallOf(moment, series, series.clock.toWall(series.span.start));

/** What a RECURRENCE-ID or EXDATE names: all that begins on a day, or what begins at a moment. */
function keyOf(moment: Moment, series: Series): string {
  const wall = placeIn(series, moment);
  return series.span.allDay || moment.in === 'day' ? `day ${compactDay(wall)}` : `time ${series.clock.toMoment(wall)}`;
}

const keysOf = (wall: number, { span, clock }: Series): string[] => [
  `day ${compactDay(wall)}`,
  ...(span.allDay ? [] : [`time ${clock.toMoment(wall)}`]),
];

/**
 * The name of a time within its series: `20261120T190000`, with a Z where the series is stated in UTC, or `20261120`.
 */
const nameOf = (wall: number, { span, core }: Series): string =>
  span.allDay ? compactDay(wall) : `${compactTime(wall)}${core.start?.in === 'utc' ? 'Z' : ''}`;

/** The name of the first time of an event as one of a series; undefined where it has no start. */
export function nameOfFirst(core: CalendarEvent, clocks: Clocks): string | undefined {
  const series = seriesFrom(core, clocks);
  return series && nameOf(series.clock.toWall(series.span.start), series);
}

const nameOfMoment = (moment: Moment, series: Series): string =>
  moment.in === 'day' ? compactDay(unixFromText(moment.wall)) : nameOf(placeIn(series, moment), series);

const compactDay = (wall: number): string => textFromUnix(wall).slice(0, 10).replaceAll('-', '');
const compactTime = (wall: number): string => textFromUnix(wall).replace(' ', 'T').replace(/[-:]/g, '');

// ------------------------------------------------------------------------------------------------- spans
/** One time of a series: as long as the first, or as its RDATE says. */
function spanAt(wall: number, date: ExtraDate | undefined, { core, span, clock, clocks }: Series): Span {
  const start = clock.toMoment(wall);
  const zone = span.allDay ? span.zone : clock.zoneAt(start);
  if (date?.end) return timesBetween(start, momentOf(date.end, clocks, clock), zone);
  const length = date?.length ?? (core.end ? undefined : core.length);
  const end = length && !span.allDay ? endAfter(start, length, clock) : start + span.end - span.start;
  return { allDay: span.allDay, start, end, zone, isTurned: false };
}

/**
 * A time that an override changes together with all later ones: by as much as it moves its own, and as long as it is.
 */
function shiftedTime({ event, at }: { event: CalendarEvent; at: number }, wall: number, series: Series): Pick<Time, 'event' | 'span'> {
  const span = spanOf(event, series.clocks) ?? series.span;
  const moved = wall + (span.allDay ? span.start : series.clock.toWall(span.start)) - at;
  const start = span.allDay ? moved : series.clock.toMoment(moved);
  return {
    event,
    span: { ...span, start, end: start + span.end - span.start, zone: span.allDay ? span.zone : series.clock.zoneAt(start) },
  };
}

/** What an override does not say is as in its series; without a start it is at the time that it names. */
function completeOverride(event: CalendarEvent, core: CalendarEvent): CalendarEvent {
  const own = Object.entries(PROPERTIES).flatMap(([field, properties]) =>
    properties.some((property) => event.propertyNames.has(property)) ? [] : [[field, core[field as keyof CalendarEvent]]],
  );
  const start = event.start ?? event.recurrenceId;
  const merged: CalendarEvent = { ...event, ...Object.fromEntries(own), start };
  return {
    ...merged,
    // A text as HTML and coordinates belong to the description and the place beside them, and to no others.
    html: event.html || (merged.description === core.description ? core.html : ''),
    geo: event.geo ?? (merged.location === core.location ? core.geo : undefined),
    ...(event.end || event.length ? {} : { length: lengthLike(core, start) }),
  };
}

/** The length that an override of the same type takes over. */
const lengthLike = ({ start, end, length }: CalendarEvent, own: Moment | undefined): Length | undefined => {
  if (!start || (start.in === 'day') !== (own?.in === 'day')) return undefined;
  if (!end) return length;
  if ((end.in === 'day') !== (start.in === 'day') || end.zone !== start.zone || end.in !== start.in) return undefined;
  const seconds = unixFromText(end.wall) - unixFromText(start.wall);
  return seconds < 0 ? undefined : { days: start.in === 'day' ? seconds / DAY : 0, seconds: start.in === 'day' ? 0 : seconds };
};

/** Fields of an event and the property that holds each. */
const PROPERTIES: Readonly<Partial<Record<keyof CalendarEvent, readonly string[]>>> = {
  summary: ['summary'],
  language: ['summary'],
  description: ['description'],
  location: ['location'],
  placeName: ['location'],
  organizer: ['organizer'],
  contacts: ['contact'],
  categories: ['categories'],
  url: ['url'],
  attachments: ['attach', 'image'],
  status: ['status'],
  isPrivate: ['class'],
  isMarkedAllDay: [MICROSOFT_ALL_DAY],
};
