import { occurrences, type Rule } from '../../calendar/recurrence-rule.ts';
import { localFromUnix, textFromUnix, unixFromText, type Zone } from '../../wordpress/time.ts';
import { type Clock, clockOf, utcClock } from './clock.ts';
import type { CalendarEvent, ExtraDate, Length, Moment } from './event.ts';

/*
 * When an event of a calendar takes place (RFC 5545, 3.6.1 and 3.8.5). Walls are what a clock shows, in seconds read as
 * UTC; moments are Unix seconds. Whole days are walls of their midnights.
 */

/**
 * The clocks by which a file states times. `own`: the zone of what names none, in which also times in UTC are
 * shown.
 */
export interface Clocks {
  readonly own: Zone;
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

/**
 * A time of a series: its event (an override may stand in its place), when it is, and the name of the time within the
 * series.
 */
export interface Time {
  readonly event: CalendarEvent;
  readonly span: Span;
  readonly name: string;
}

/** What can't be followed: a sentence of `exchange:losses`, the event, what exactly. */
export interface Trouble {
  readonly reason: 'ical-rule-cut' | 'ical-last-day' | 'ical-event-unreadable' | 'ical-zone-unknown';
  readonly event: CalendarEvent;
  readonly detail?: string | undefined;
}

/** How often one event may take place within the window: so many times, or four times a day. */
const MOST_TIMES = 2000;
const MOST_A_DAY = 4;
const DAY = 86_400;

/** Zones that an event names and that nobody knows. */
export const unknownZones = ({ start, end, recurrenceId, dates, exceptDates }: CalendarEvent, clocks: Clocks): string[] => {
  const { find } = clocks;
  const moments = [start, end, recurrenceId, ...dates.flatMap((date) => [date.start, date.end]), ...exceptDates];
  const named = moments.flatMap((moment) => (moment?.in === 'zone' && moment.zone !== undefined ? [moment.zone] : []));
  const isOverruled = (id: string) => id === start?.zone && end !== undefined && isSurer(end, start, clocks);
  return [...new Set(named)].filter((id) => find(id) === undefined || isOverruled(id));
};

/** When an event takes place that does not repeat; undefined where it has no start. */
export function spanOf({ start, end, length }: CalendarEvent, clocks: Clocks): Span | undefined {
  return start && spanFrom(start, end, length, clocks);
}

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
    return inOrder(true, wall, after, clock.zoneAt(clock.toMoment(wall)));
  }
  const from = clock.toMoment(wall);
  const to = end ? momentOf(end, clocks, clock) : endAfter(from, length ?? { days: 0, seconds: 0 }, clock);
  return inOrder(false, from, to, clock.zoneAt(from));
}

/** The clock of an event; a start that names no zone, or one that has to be guessed, is in the zone of its end. */
const startClock = (start: Moment, end: Moment | undefined, clocks: Clocks): Clock =>
  clockFor(end && end.in !== 'day' && (start.in === 'anywhere' || start.in === 'day' || isSurer(end, start, clocks)) ? end : start, clocks);

/** Whether one moment names a zone for certain, and the other one that is not known or has to be guessed. */
function isSurer(one: Moment, other: Moment, { find }: Clocks): boolean {
  const [sure, unsure] = [one, other].map((moment) => (moment.in === 'zone' ? (find(moment.zone ?? '')?.isGuess ?? 'unknown') : undefined));
  return sure === false && (unsure === true || unsure === 'unknown');
}

/** Some files have the end before the start; then each is the other. */
const inOrder = (allDay: boolean, start: number, end: number, zone: Zone): Span => ({
  allDay,
  start: Math.min(start, end),
  end: allDay ? Math.max(start, end, Math.min(start, end) + DAY) : Math.max(start, end),
  zone,
  isTurned: end < start,
});

/** Days are days of the clock, also across a change of its offset; seconds are exact. */
const endAfter = (moment: number, { days, seconds }: Length, clock: Clock): number =>
  (days === 0 ? moment : clock.toMoment(clock.toWall(moment) + days * DAY)) + seconds;

/** The clock by which a moment is stated. */
function clockFor(moment: Moment, { own, find }: Clocks): Clock {
  if (moment.in === 'utc') return utcClock(own);
  return (moment.in === 'zone' ? find(moment.zone ?? '') : undefined) ?? clockOf(own);
}

/** The moment of a time; what names no zone, and the midnight of a day, are on the given clock. */
const momentOf = (moment: Moment, clocks: Clocks, clock: Clock): number =>
  (moment.in === 'day' || moment.in === 'anywhere' ? clock : clockFor(moment, clocks)).toMoment(unixFromText(moment.wall));

/** Whether a span touches a window of walls in the calendar's zone. */
const touches = ({ start, end, allDay }: Span, [first, last]: readonly [number, number], own: Clock): boolean => {
  const [from, to] = allDay ? [start, end - 1] : [own.toWall(start), own.toWall(end)];
  return to >= first && from <= last;
};

/**
 * The times of a series within a window of walls of the calendar's zone, overrides in the place of what they replace. A
 * rule, a date or an override that can't be followed comes as trouble.
 */
export function* timesOf(
  core: CalendarEvent,
  overrides: readonly CalendarEvent[],
  window: readonly [first: number, last: number],
  clocks: Clocks,
): Generator<Time | Trouble> {
  const span = spanOf(core, clocks);
  if (!core.start || !span) {
    yield { reason: 'ical-event-unreadable', event: core, detail: 'DTSTART' };
    return;
  }
  const series: Series = { core, span, clock: span.allDay ? dayClock(span.zone) : startClock(core.start, core.end, clocks), clocks };
  const own = clockOf(clocks.own);
  const left = new Set(core.exceptDates.map((moment) => keyOf(moment, series)));
  const standing = overrides
    .map((event) => ({ event: inherited(event, core), key: keyOf(event.recurrenceId!, series), at: placeOf(event.recurrenceId!, series) }))
    .filter(({ event, key }) => !(event.sequence < core.sequence && left.has(key)));
  const replaced = new Set(standing.map(({ key }) => key));
  const later = standing.filter(({ event }) => event.andFuture).sort((one, other) => one.at - other.at);
  const { starts, trouble } = startsOf(series, window, later.length > 0);
  yield* trouble;
  for (const { wall, date } of starts) {
    if (left.size + replaced.size > 0 && keysOf(wall, series).some((key) => left.has(key) || replaced.has(key))) continue;
    const changed = later.findLast(({ at }) => at <= wall);
    const time = changed ? shifted(changed, wall, series) : { event: core, span: spanAt(wall, date, series) };
    if (touches(time.span, window, own)) yield { ...time, name: nameOf(wall, series) };
  }
  for (const { event } of standing) yield* overrideTime(event, window, clocks, nameOfMoment(event.recurrenceId!, series));
}

/** An override whose series is not in the file stands for itself. */
export function* orphanTime(event: CalendarEvent, window: readonly [number, number], clocks: Clocks): Generator<Time | Trouble> {
  const wall = unixFromText(event.recurrenceId!.wall);
  const name = compact(wall, event.recurrenceId!.in === 'day');
  yield* overrideTime(event, window, clocks, event.recurrenceId!.in === 'utc' ? `${name}Z` : name);
}

function* overrideTime(event: CalendarEvent, window: readonly [number, number], clocks: Clocks, name: string): Generator<Time | Trouble> {
  const span = spanOf(event, clocks);
  if (!span) yield { reason: 'ical-event-unreadable', event, detail: 'DTSTART' };
  else if (touches(span, window, clockOf(clocks.own))) yield { event, span, name };
}

/** An event that repeats, and the clock that its rules count on. */
interface Series {
  readonly core: CalendarEvent;
  readonly span: Span;
  readonly clock: Clock;
  readonly clocks: Clocks;
}

/** Whole days have no zone: their walls are their moments. */
const dayClock = (zone: Zone): Clock => ({ toMoment: (wall) => wall, toWall: (moment) => moment, zoneAt: () => zone, isGuess: false });

// ------------------------------------------------------------------------------------------------- starts
interface Start {
  readonly wall: number;
  /** The RDATE that it comes from, if it has an end of its own. */
  readonly date?: ExtraDate;
}

/**
 * The walls at which a series begins, in order, and what can't be followed. `shifts`: overrides may move them, so that
 * some days more count.
 */
function startsOf(series: Series, [first, last]: readonly [number, number], shifts: boolean): { starts: Start[]; trouble: Trouble[] } {
  const { core, span, clock } = series;
  const begin = clock.toWall(span.start);
  const room = span.end - span.start + (shifts ? 31 : 2) * DAY;
  const [from, to] = [first - room, last + room - (span.end - span.start)];
  const { rules, exceptRules } = core;
  const trouble: Trouble[] = [];
  const starts = new Map<number, Start>();
  const left = { count: 0, last: begin };
  const most = Math.max(MOST_TIMES, Math.ceil((last - first) / DAY) * MOST_A_DAY);
  /**
   * Takes a start as long as there are not too many; from then on it only counts. False: there is nothing more to
   * learn.
   */
  const add = (start: Start): boolean => {
    if (starts.size < most || starts.has(start.wall)) {
      starts.set(start.wall, start);
      return true;
    }
    if (start.wall > last) return false;
    left.count += 1;
    left.last = Math.max(left.last, start.wall);
    return left.count < MOST_COUNTED;
  };
  if (begin >= from) add({ wall: begin });
  for (const rule of rules) {
    // A start that one of several rules does not name is none of those that this rule counts.
    for (const wall of wallsOf(rule, series, [from, to], rules.length === 1)) if (!add({ wall })) break;
  }
  for (const date of core.dates) {
    const wall = wallOf(date.start, series, begin);
    if (wall >= from && wall <= to) add(date.end || date.length ? { wall, date } : { wall });
  }
  if (left.count > 0)
    trouble.push({ reason: 'ical-rule-cut', event: core, detail: cutText(Math.max(...starts.keys()), left, last, series) });
  trouble.push(
    ...rules.flatMap((rule) => {
      const wall = timeOnLastDay(rule, series, [from, to]);
      return wall === undefined || starts.has(wall)
        ? []
        : [{ reason: 'ical-last-day', event: core, detail: shownIn(series, wall) } as const];
    }),
  );
  let seen = 0;
  for (const rule of exceptRules) {
    for (const wall of wallsOf(rule, series, [from, to], false)) {
      starts.delete(wall);
      seen += 1;
      if (seen > MOST_EXCLUDED) break;
    }
  }
  return { starts: [...starts.values()].sort((one, other) => one.wall - other.wall), trouble };
}

const MOST_EXCLUDED = 50_000;
/** Of the times that are too many no more are counted. */
const MOST_COUNTED = 50_000;

/**
 * The last time that is taken in, how many are left out, and the last of those, as they are shown: `2026-11-24 20:33:19
 * · 1200 · 2026-11-24 20:53:19`. Where they are too many to be counted, the end of the window stands for the last.
 */
function cutText(taken: number, left: { readonly count: number; readonly last: number }, end: number, series: Series): string {
  const isAll = left.count < MOST_COUNTED;
  return [shownIn(series, taken), isAll ? left.count : `${left.count}+`, isAll ? shownIn(series, left.last) : textFromUnix(end)].join(
    ' · ',
  );
}

/** A wall as people read it: a day, or the local time where the event takes place. */
function shownIn({ span, clock }: Series, wall: number): string {
  if (span.allDay) return textFromUnix(wall).slice(0, 10);
  const moment = clock.toMoment(wall);
  return localFromUnix(moment, clock.zoneAt(moment));
}

/**
 * The walls of a rule. An end in UTC is one on the clock of the series. For whole days only its day counts. For times
 * an end that is only a day, which the standard does not allow, means the midnight at which that day begins, as in
 * nearly every program.
 */
function* wallsOf(rule: Rule, { span, clock }: Series, [from, to]: readonly [number, number], startCounts: boolean): Generator<number> {
  const begin = clock.toWall(span.start);
  const [day, time = ''] = (rule.until ?? '').split('T');
  const bounded: Rule = rule.until === undefined ? rule : { ...rule, until: span.allDay ? day : `${day}T${time || '000000'}` };
  const until = !span.allDay && time.endsWith('Z') ? clock.toWall(unixFromText(utcText(rule.until ?? ''))) : Number.POSITIVE_INFINITY;
  yield* occurrences(bounded, begin, Math.min(to, until), { from: Math.max(begin, from), startCounts });
}

/**
 * The time on the day at which a rule ends, where the rule says a day and is of times: `wallsOf` leaves it out, and
 * whoever wrote the file may have meant it. Undefined: there is none.
 */
function timeOnLastDay(rule: Rule, { span, clock }: Series, [from, to]: readonly [number, number]): number | undefined {
  if (span.allDay || rule.until === undefined || rule.until.includes('T')) return undefined;
  const begin = clock.toWall(span.start);
  const [wall] = occurrences({ ...rule, until: `${rule.until}T235959` }, begin, to, {
    from: Math.max(begin, from, unixFromText(dayText(rule.until))),
    startCounts: false,
  });
  return wall;
}

const dayText = (basic: string): string => basic.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3 00:00:00');

// ------------------------------------------------------------------------------------------------- names and keys
/** The wall of the series that a moment means; a day means the time of the series on that day. */
function wallOf(moment: Moment, { span, clock, clocks }: Series, begin: number): number {
  const wall = unixFromText(moment.wall);
  if (span.allDay) return moment.in === 'utc' ? nearestMidnight(wall) : wall - within(wall);
  return moment.in === 'day' ? wall + within(begin) : clock.toWall(momentOf(moment, clocks, clock));
}

const utcText = (until: string): string => until.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3 $4:$5:$6');

/**
 * Some programs write days as the moments of their midnights: in any zone that is the midnight in UTC that is nearest.
 */
const nearestMidnight = (moment: number): number => Math.floor((moment + DAY / 2) / DAY) * DAY;
const within = (wall: number): number => ((wall % DAY) + DAY) % DAY;

/** Where in its series an override begins to count. */
const placeOf = (moment: Moment, series: Series): number => wallOf(moment, series, series.clock.toWall(series.span.start));

/** What a RECURRENCE-ID or EXDATE names: all that begins on a day, or what begins at a moment. */
function keyOf(moment: Moment, series: Series): string {
  const wall = placeOf(moment, series);
  return series.span.allDay || moment.in === 'day' ? `day ${compact(wall, true)}` : `time ${series.clock.toMoment(wall)}`;
}

const keysOf = (wall: number, { span, clock }: Series): string[] => [
  `day ${compact(wall, true)}`,
  ...(span.allDay ? [] : [`time ${clock.toMoment(wall)}`]),
];

/**
 * The name of a time within its series: `20261120T190000`, with a Z where the series is stated in UTC, or `20261120`.
 */
const nameOf = (wall: number, { span, core }: Series): string =>
  `${compact(wall, span.allDay)}${!span.allDay && core.start?.in === 'utc' ? 'Z' : ''}`;

const nameOfMoment = (moment: Moment, series: Series): string =>
  moment.in === 'day' ? compact(unixFromText(moment.wall), true) : nameOf(placeOf(moment, series), series);

function compact(wall: number, isDay: boolean): string {
  const text = textFromUnix(wall);
  return (isDay ? text.slice(0, 10) : text.replace(' ', 'T')).replace(/[-:]/g, '');
}

// ------------------------------------------------------------------------------------------------- spans
/** One time of a series: as long as the first, or as its RDATE says. */
function spanAt(wall: number, date: ExtraDate | undefined, { core, span, clock, clocks }: Series): Span {
  const start = clock.toMoment(wall);
  const zone = span.allDay ? span.zone : clock.zoneAt(start);
  if (date?.end) return { ...inOrder(false, start, momentOf(date.end, clocks, clock), zone) };
  const length = date?.length ?? (core.end ? undefined : core.length);
  const end = length && !span.allDay ? endAfter(start, length, clock) : start + span.end - span.start;
  return { allDay: span.allDay, start, end, zone, isTurned: false };
}

/**
 * A time that an override changes together with all later ones: by as much as it moves its own, and as long as it is.
 */
function shifted({ event, at }: { event: CalendarEvent; at: number }, wall: number, series: Series): Pick<Time, 'event' | 'span'> {
  const span = spanOf(event, series.clocks) ?? series.span;
  const moved = wall + (span.allDay ? span.start : series.clock.toWall(span.start)) - at;
  const start = span.allDay ? moved : series.clock.toMoment(moved);
  return {
    event,
    span: { ...span, start, end: start + span.end - span.start, zone: span.allDay ? span.zone : series.clock.zoneAt(start) },
  };
}

/** What an override does not say is as in its series; without a start it is at the time that it names. */
function inherited(event: CalendarEvent, core: CalendarEvent): CalendarEvent {
  const own = Object.entries(PROPERTIES).flatMap(([field, property]) =>
    event.propertyNames.has(property) ? [] : [[field, core[field as keyof CalendarEvent]]],
  );
  const start = event.start ?? event.recurrenceId;
  return { ...event, ...Object.fromEntries(own), start, ...(event.end || event.length ? {} : { length: lengthLike(core, start) }) };
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
const PROPERTIES = {
  summary: 'summary',
  description: 'description',
  html: 'x-alt-desc',
  location: 'location',
  geo: 'geo',
  organizer: 'organizer',
  contacts: 'contact',
  categories: 'categories',
  url: 'url',
  attachments: 'attach',
  status: 'status',
  isPrivate: 'class',
} as const;
