import { textFromUnix, unixFromText } from '../../wordpress/time.ts';
import type { Zone } from '../../wordpress/zones.ts';
import type { Clock } from './clock.ts';
import type { Override } from './current-versions.ts';
import { type CalendarEvent, type ExtraDate, isLeftOut, type Length, MICROSOFT_ALL_DAY, type Moment } from './event.ts';
import { laterStart, type Series, type SeriesProblem, shownIn, startsWithin, wallTimeOf } from './series-starts.ts';
import { type Clocks, endAfter, momentOf, overlapsWindow, type Span, spanOf, startClock, timesBetween } from './spans.ts';

const DAY = 86_400;

/** A date of a series: its event (or the override that replaces it), its span, and its name within the series. */
export interface SeriesDate {
  readonly event: CalendarEvent;
  readonly span: Span;
  readonly name: string;
}

/**
 * Yields the dates of a series within a window of wall times of the calendar's zone, with overrides in place of the
 * dates that they replace. Rules, dates and overrides that cannot be followed are yielded as trouble.
 */
export function* datesOfSeries(
  core: CalendarEvent,
  overrides: readonly Omit<Override<CalendarEvent>, 'conflicts'>[],
  window: readonly [first: number, last: number],
  clocks: Clocks,
): Generator<SeriesDate | SeriesProblem> {
  const series = seriesFrom(core, clocks);
  if (!series) {
    yield { reason: 'ical-event-unreadable', event: core, detail: 'DTSTART' };
    return;
  }
  const excludedKeys = new Set(core.exclusionDates.map((moment) => keyOf(moment, series)));
  const unshifted = overrides
    .map((override) => ({
      ...override,
      event: completeOverride(override.event, core),
      key: keyOf(override.event.recurrenceId!, series),
    }))
    .filter(({ event, key }) => !(event.sequence < core.sequence && excludedKeys.has(key)));
  const replacedKeys = new Set(unshifted.map(({ key }) => key));
  const laterOverrides = unshifted.filter(({ event }) => event.appliesToLaterDates).sort((one, other) => one.position - other.position);
  const { starts, problems } = startsWithin(series, window, { mayShift: laterOverrides.length > 0 });
  yield* problems;
  const isExcluded = (wall: number) =>
    excludedKeys.size + replacedKeys.size > 0 && keysOf(wall, series).some((key) => excludedKeys.has(key) || replacedKeys.has(key));
  let changes = 0;
  let isEmpty = true;
  for (const { wall, date } of starts) {
    while (changes < laterOverrides.length && laterOverrides[changes]!.position <= wall) changes += 1;
    if (isExcluded(wall)) continue;
    const currentOverride = laterOverrides[changes - 1];
    if (currentOverride && isLeftOut(currentOverride.event)) continue;
    const time = currentOverride ? shiftedDate(currentOverride, wall, series) : { event: core, span: spanAt(wall, date, series) };
    if (!overlapsWindow(time.span, window, clocks.calendar)) continue;
    isEmpty = false;
    yield { ...time, name: nameOf(wall, series) };
  }
  for (const { event, isSuperseded } of unshifted) {
    if (!isSuperseded && !isLeftOut(event))
      yield* overrideDate(event, window, clocks, nameOf(positionIn(series, event.recurrenceId!), series));
  }
  yield* datesOutside(series, window, { isEmpty, isExcluded });
}

/** Yields a note if dates of a series that ends are after the window, or all of them before it. */
function* datesOutside(
  series: Series,
  [first, last]: readonly [first: number, last: number],
  { isEmpty, isExcluded }: { readonly isEmpty: boolean; readonly isExcluded: (wall: number) => boolean },
): Generator<SeriesProblem> {
  const { core, span, clock } = series;
  const later = laterStart(series, last, isExcluded);
  const start = clock.toWall(span.start);
  if (later !== undefined) yield { reason: 'ical-dates-later', event: core, detail: shownIn(series, later) };
  else if (isEmpty && start < first) yield { reason: 'ical-series-past', event: core, detail: shownIn(series, start) };
}

/** Yields the date of an override whose series is not in the file. */
export function* orphanedOverrideDate(
  event: CalendarEvent,
  window: readonly [number, number],
  clocks: Clocks,
): Generator<SeriesDate | SeriesProblem> {
  const { wall: text, in: clock } = event.recurrenceId!;
  const wall = unixFromText(text);
  const name = clock === 'day' ? compactDay(wall) : `${compactTime(wall)}${clock === 'utc' ? 'Z' : ''}`;
  yield* overrideDate(event, window, clocks, name);
}

function* overrideDate(
  event: CalendarEvent,
  window: readonly [number, number],
  clocks: Clocks,
  name: string,
): Generator<SeriesDate | SeriesProblem> {
  const span = spanOf(event, clocks);
  if (!span) yield { reason: 'ical-event-unreadable', event, detail: 'DTSTART' };
  else if (overlapsWindow(span, window, clocks.calendar)) yield { event, span, name };
}

/** Returns a series and its clock, or undefined if it has no start. */
function seriesFrom(core: CalendarEvent, clocks: Clocks): Series | undefined {
  const span = spanOf(core, clocks);
  if (!core.start || !span) return undefined;
  return { core, span, clock: span.allDay ? dayClock(span.zone) : startClock(core.start, core.end, clocks), clocks };
}

/** Returns the clock of all-day events, which have no zone: their wall times are used as moments. */
const dayClock = (zone: Zone): Clock => ({
  toMoment: (wall) => wall,
  toWall: (moment) => moment,
  zoneAt: () => zone,
  isZoneGuessed: false,
});

// ------------------------------------------------------------------------------------------------- names and keys
/**
 * Returns the date that a RECURRENCE-ID means: a wall time of its series, or a moment if the file does not contain the
 * series.
 */
export function positionOf(moment: Moment, core: CalendarEvent | undefined, clocks: Clocks): number {
  const series = core && seriesFrom(core, clocks);
  return series ? positionIn(series, moment) : momentOf(moment, clocks, clocks.calendar);
}

/** Returns the wall time in a series from which an override applies. */
const positionIn = (series: Series, moment: Moment): number => wallTimeOf(moment, series, series.clock.toWall(series.span.start));

/** Returns the key that a RECURRENCE-ID or EXDATE matches: everything that begins on a day, or at a moment. */
function keyOf(moment: Moment, series: Series): string {
  const wall = positionIn(series, moment);
  return series.span.allDay || moment.in === 'day' ? `day ${compactDay(wall)}` : `time ${series.clock.toMoment(wall)}`;
}

const keysOf = (wall: number, { span, clock }: Series): string[] => [
  `day ${compactDay(wall)}`,
  ...(span.allDay ? [] : [`time ${clock.toMoment(wall)}`]),
];

/**
 * Returns the name of a date within its series: `20261120T190000`, with a Z if the series is stated in UTC, or
 * `20261120`.
 */
const nameOf = (wall: number, { span, core }: Series): string =>
  span.allDay ? compactDay(wall) : `${compactTime(wall)}${core.start?.in === 'utc' ? 'Z' : ''}`;

/** Returns the name that the first date of an event has in a series, or undefined if the event has no start. */
export function nameOfFirst(core: CalendarEvent, clocks: Clocks): string | undefined {
  const series = seriesFrom(core, clocks);
  return series && nameOf(series.clock.toWall(series.span.start), series);
}

const compactDay = (wall: number): string => textFromUnix(wall).slice(0, 10).replaceAll('-', '');
const compactTime = (wall: number): string => textFromUnix(wall).replace(' ', 'T').replace(/[-:]/g, '');

// ------------------------------------------------------------------------------------------------- spans
/** Returns the span of a date of a series, which is as long as the first one unless its RDATE says otherwise. */
function spanAt(wall: number, date: ExtraDate | undefined, { core, span, clock, clocks }: Series): Span {
  const start = clock.toMoment(wall);
  const zone = span.allDay ? span.zone : clock.zoneAt(start);
  if (date?.end) return timesBetween(start, momentOf(date.end, clocks, clock), zone);
  const length = date?.length ?? (core.end ? undefined : core.length);
  const end = length && !span.allDay ? endAfter(start, length, clock) : start + span.end - span.start;
  return { allDay: span.allDay, start, end, zone, isReversed: false };
}

/**
 * Returns a date that an override for all later dates changes: moved by the same amount as the override's own date, and
 * with the same duration.
 */
function shiftedDate(
  { event, position }: { event: CalendarEvent; position: number },
  wall: number,
  series: Series,
): Pick<SeriesDate, 'event' | 'span'> {
  const span = spanOf(event, series.clocks) ?? series.span;
  // All-day events have no clock by which the times of a change could be moved.
  const clock = series.span.allDay && !span.allDay && event.start ? startClock(event.start, event.end, series.clocks) : series.clock;
  const shiftedWall = wall + (span.allDay ? span.start : clock.toWall(span.start)) - position;
  const start = span.allDay ? shiftedWall : clock.toMoment(shiftedWall);
  return {
    event,
    span: { ...span, start, end: start + span.end - span.start, zone: span.allDay ? span.zone : clock.zoneAt(start) },
  };
}

/**
 * Completes an override with the properties of its series. Without a start, it takes place at the date that it names.
 */
function completeOverride(event: CalendarEvent, core: CalendarEvent): CalendarEvent {
  const inherited = Object.entries(INHERITED_PROPERTIES).flatMap(([field, properties]) =>
    properties.some((property) => event.propertyNames.has(property)) ? [] : [[field, core[field as keyof CalendarEvent]]],
  );
  const start = event.start ?? event.recurrenceId;
  const mergedEvent: CalendarEvent = { ...event, ...Object.fromEntries(inherited), start };
  return {
    ...mergedEvent,
    // HTML and coordinates belong to the plain description and location next to them, and are not inherited without
    // these.
    html: event.html || (mergedEvent.description === core.description ? core.html : ''),
    geo: event.geo ?? (mergedEvent.location === core.location ? core.geo : undefined),
    ...(event.end || event.length ? {} : { length: inheritedLength(core, start) }),
  };
}

/** Returns the duration that an override inherits if its start is of the same type. */
const inheritedLength = ({ start, end, length }: CalendarEvent, ownStart: Moment | undefined): Length | undefined => {
  if (!start || (start.in === 'day') !== (ownStart?.in === 'day')) return undefined;
  if (!end) return length;
  if ((end.in === 'day') !== (start.in === 'day') || end.zone !== start.zone || end.in !== start.in) return undefined;
  const seconds = unixFromText(end.wall) - unixFromText(start.wall);
  return seconds < 0 ? undefined : { days: start.in === 'day' ? seconds / DAY : 0, seconds: start.in === 'day' ? 0 : seconds };
};

/** Fields of an event that overrides inherit, with the properties that hold them. */
const INHERITED_PROPERTIES: Readonly<Partial<Record<keyof CalendarEvent, readonly string[]>>> = {
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
