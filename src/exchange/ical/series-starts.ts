import { occurrences, type Rule } from '../../calendar/recurrence-rule.ts';
import { textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { localFromUnix } from '../../wordpress/zones.ts';
import type { Clock } from './clock.ts';
import type { CalendarEvent, ExtraDate, Moment } from './event.ts';
import { type Clocks, midnightClock, momentOf, type Span } from './spans.ts';

type SeriesReason =
  | 'ical-rule-cut'
  | 'ical-last-day'
  | 'ical-last-day-unsure'
  | 'ical-event-unreadable'
  | 'ical-zone-unknown'
  | 'ical-dates-later'
  | 'ical-series-past';

/** A part of a series that cannot be followed: the key of a sentence in `exchange:losses`, the event, and details. */
export interface SeriesProblem {
  readonly reason: SeriesReason;
  readonly event: CalendarEvent;
  readonly detail?: string | undefined;
  /** Local time up to which all dates of the series are known all the same; absent if there is none. */
  readonly knownUntil?: string | undefined;
}

/** Maximum number of dates of one event within the window: the larger one of this number and four for each day. */
const MAX_DATES = 2000;
const MAX_DATES_PER_DAY = 4;
const DAY = 86_400;

/** A repeating event, and the clock by which its rules are expanded. */
export interface Series {
  readonly core: CalendarEvent;
  readonly span: Span;
  readonly clock: Clock;
  readonly clocks: Clocks;
}

/** A wall time at which a date of a series begins. */
export interface Start {
  readonly wall: number;
  /** The RDATE that it comes from, if that has its own end. */
  readonly date?: ExtraDate;
}

/**
 * Returns the start times of a series in order, and the problems found. `mayShift`: overrides may move dates, so that
 * dates up to a month outside of the window are included.
 */
export function startsWithin(
  series: Series,
  [first, last]: readonly [number, number],
  { mayShift }: { readonly mayShift: boolean },
): { starts: Start[]; problems: SeriesProblem[] } {
  const { core, span, clock } = series;
  const { rules, exclusionRules } = core;
  const firstStart = clock.toWall(span.start);
  const remaining = span.end - span.start + (mayShift ? 31 : 2) * DAY;
  const range = [first - remaining, last + remaining - (span.end - span.start)] as const;
  const [from, to] = range;
  const { starts, omitted, add } = collectStarts([first, last], firstStart);
  if (firstStart >= from) add({ wall: firstStart });
  for (const rule of rules) {
    // If there are several rules, a start that a rule does not match does not count towards its COUNT.
    for (const wall of wallTimesOf(rule, series, range, { startCounts: rules.length === 1 })) if (!add({ wall })) break;
  }
  for (const date of core.dates) {
    const wall = wallTimeOf(date.start, series, firstStart);
    if (wall >= from && wall <= to) add(date.end || date.length ? { wall, date } : { wall });
  }
  // Dates that are moved may come before those that are unknown.
  const problemAt = (reason: SeriesReason, wall: number, detail = shownIn(series, wall)): SeriesProblem => ({
    reason,
    event: core,
    detail,
    ...(mayShift ? {} : { knownUntil: shortlyBefore(series, wall) }),
  });
  const cutProblems =
    omitted.count === 0 ? [] : [problemAt('ical-rule-cut', omitted.first, describeCut(lastWallTime(starts.keys()), omitted, last, series))];
  const missedProblems = rules.flatMap((rule) => {
    const wall = timeOnLastDay(rule, series, range);
    return wall === undefined || starts.has(wall) ? [] : [problemAt('ical-last-day', wall)];
  });
  const uncertainDays = rules.flatMap((rule) => uncertainDayOf(rule, series, range) ?? []);
  const uncertainDay = uncertainDays.map((wall) => problemAt('ical-last-day-unsure', wall));
  for (const rule of exclusionRules) removeExcluded(starts, wallTimesOf(rule, series, range, { startCounts: false }));
  return {
    starts: [...starts.values()].sort((one, other) => one.wall - other.wall),
    problems: [...cutProblems, ...missedProblems, ...uncertainDay],
  };
}

const lastWallTime = (walls: Iterable<number>): number => {
  let last = Number.NEGATIVE_INFINITY;
  for (const wall of walls) last = Math.max(last, wall);
  return last;
};

/**
 * Collects the start times of a series up to a limit. Beyond it, `add` only counts the starts that are left out; it
 * returns false when no more of them need to be passed.
 */
function collectStarts([first, last]: readonly [number, number], firstStart: number) {
  const starts = new Map<number, Start>();
  const omitted = { count: 0, first: Number.POSITIVE_INFINITY, last: firstStart };
  const limit = Math.max(MAX_DATES, Math.ceil((last - first) / DAY) * MAX_DATES_PER_DAY);
  const add = (start: Start): boolean => {
    if (starts.size < limit || starts.has(start.wall)) {
      starts.set(start.wall, start);
      return true;
    }
    if (start.wall > last) return false;
    omitted.count += 1;
    omitted.first = Math.min(omitted.first, start.wall);
    omitted.last = Math.max(omitted.last, start.wall);
    return omitted.count < MAX_COUNTED;
  };
  return { starts, omitted, add };
}

/** Removes the dates that an exception rule matches. */
function removeExcluded(starts: Map<number, Start>, walls: Iterable<number>): void {
  let count = 0;
  for (const wall of walls) {
    starts.delete(wall);
    count += 1;
    if (count > MAX_EXCLUDED) break;
  }
}

const MAX_EXCLUDED = 50_000;
/** Maximum number of left-out starts that are counted. */
const MAX_COUNTED = 50_000;

/**
 * Describes what was cut: the last start that is imported, the number of those left out, and the last one of them:
 * `2026-11-24 20:33:19 · 1200 · 2026-11-24 20:53:19`. If there are too many to be counted, the end of the window
 * replaces the last one.
 */
function describeCut(lastTaken: number, omitted: { readonly count: number; readonly last: number }, end: number, series: Series): string {
  const isAll = omitted.count < MAX_COUNTED;
  return [
    shownIn(series, lastTaken),
    isAll ? omitted.count : `${omitted.count}+`,
    isAll ? shownIn(series, omitted.last) : textFromUnix(end),
  ].join(' · ');
}

/**
 * Returns the first start of a series after a wall time, or undefined if its rules go on for ever, if it has rules for
 * exceptions, or if the next start is so far away that looking for it would take long. `isExcluded`: whether an
 * exception removes a start.
 */
export function laterStart(
  { core, span, clock, clocks }: Series,
  after: number,
  isExcluded: (wall: number) => boolean,
): number | undefined {
  const series = { core, span, clock, clocks };
  const firstStart = clock.toWall(span.start);
  if (core.exclusionRules.length > 0 || core.rules.some(({ count, until }) => count === undefined && until === undefined)) return undefined;
  const candidates = core.dates
    .map((date) => wallTimeOf(date.start, series, firstStart))
    .filter((wall) => wall > after && !isExcluded(wall));
  if (firstStart > after && !isExcluded(firstStart)) candidates.push(firstStart);
  for (const rule of core.rules) {
    const range = [after + 1, after + LOOK_AHEAD_DAYS[rule.freq] * DAY] as const;
    for (const wall of wallTimesOf(rule, series, range, { startCounts: core.rules.length === 1 })) {
      if (isExcluded(wall)) continue;
      candidates.push(wall);
      break;
    }
  }
  return candidates.length === 0 ? undefined : Math.min(...candidates);
}

/** Days within which a next start is looked for: ten years, or less for rules with many times a day. */
const LOOK_AHEAD_DAYS: Readonly<Record<Rule['freq'], number>> = {
  ...{ SECONDLY: 1, MINUTELY: 8, HOURLY: 370 },
  ...{ DAILY: 3653, WEEKLY: 3653, MONTHLY: 3653, YEARLY: 3653 },
};

/** Formats a wall time for people: a day, or the local time at the event's place. */
export function shownIn({ span, clock }: Series, wall: number): string {
  if (span.allDay) return textFromUnix(wall).slice(0, 10);
  const moment = clock.toMoment(wall);
  return localFromUnix(moment, clock.zoneAt(moment));
}

/**
 * Returns a local time before a date of a series and after the date of the previous day. A date in the hour that its
 * zone repeats is stored in another zone, some hours earlier.
 */
function shortlyBefore({ span, clock }: Series, wall: number): string {
  const before = wall - DAY / 2;
  return span.allDay ? textFromUnix(before) : localFromUnix(clock.toMoment(before), clock.zoneAt(clock.toMoment(wall)));
}

/**
 * Yields the wall times of a rule. An end in UTC is converted to the clock of the series. For all-day events, only the
 * day of the end counts. For timed events, an end that is only a day, which the standard does not allow, means midnight
 * at the start of that day, as in nearly every program.
 */
function* wallTimesOf(
  rule: Rule,
  series: Series,
  [from, to]: readonly [number, number],
  { startCounts }: { readonly startCounts: boolean },
): Generator<number> {
  const { span, clock } = series;
  const firstStart = clock.toWall(span.start);
  const [day, time = ''] = (lastMidnight(rule, series) ?? rule.until ?? '').split('T');
  const boundedRule: Rule = rule.until === undefined ? rule : { ...rule, until: span.allDay ? day : `${day}T${time || '000000'}` };
  const until = !span.allDay && time.endsWith('Z') ? clock.toWall(unixFromText(utcText(rule.until ?? ''))) : Number.POSITIVE_INFINITY;
  yield* occurrences(boundedRule, firstStart, Math.min(to, until), { from: Math.max(firstStart, from), startCounts });
}

/**
 * Returns the last day of a rule if the series is all-day but written as times: its end in UTC, converted to the clock
 * of those times.
 */
function lastMidnight({ until }: Rule, { core: { start, end }, span, clocks }: Series): string | undefined {
  if (!until?.endsWith('Z') || !span.allDay || !start || start.in === 'day') return undefined;
  const wall = midnightClock(start, end, clocks).toWall(unixFromText(utcText(until)));
  return textFromUnix(wall).slice(0, 10).replaceAll('-', '');
}

/**
 * Returns the date on the last day of a rule if the series has times and the rule ends with a day only. `wallTimesOf`
 * leaves that date out, although the author of the file may have meant it. Undefined if there is no such date.
 */
function timeOnLastDay(rule: Rule, { span, clock }: Series, [from, to]: readonly [number, number]): number | undefined {
  if (span.allDay || rule.until === undefined || rule.until.includes('T')) return undefined;
  const firstStart = clock.toWall(span.start);
  const [wall] = occurrences({ ...rule, until: `${rule.until}T235959` }, firstStart, to, {
    from: Math.max(firstStart, from, unixFromText(dayText(rule.until))),
    startCounts: false,
  });
  return wall;
}

/**
 * Returns the day that a rule includes or excludes, depending on how its end is read. The standard requires that
 * all-day rules end with a day (RFC 5545, 3.3.10). If the end is a moment, its day in UTC counts, as in nearly every
 * program, but some programs write the local midnight at which the last day begins or ends. Undefined if both readings
 * give the same day, if the end is a midnight in UTC, or if the rule does not match the day in question.
 */
function uncertainDayOf(rule: Rule, { core, span, clocks }: Series, [from, to]: readonly [number, number]): number | undefined {
  const { until } = rule;
  if (core.start?.in !== 'day' || !span.allDay || !until?.endsWith('Z') || /T(000000|235959)Z$/.test(until)) return undefined;
  const moment = unixFromText(utcText(until));
  const [utc, ownDay] = [moment, clocks.calendar.toWall(moment)].map((wall) => wall - timeOfDay(wall)) as [number, number];
  if (utc === ownDay) return undefined;
  const laterDay = Math.max(utc, ownDay);
  const [wall] = occurrences({ ...rule, until: undefined }, span.start, Math.min(to, laterDay), {
    from: Math.max(span.start, from, laterDay),
    startCounts: false,
  });
  return wall;
}

const dayText = (basic: string): string => basic.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3 00:00:00');

/** Returns the wall time of the series that a moment means; a day means the time of the series on that day. */
export function wallTimeOf(moment: Moment, { span, clock, clocks }: Series, firstStart: number): number {
  const wall = unixFromText(moment.wall);
  if (span.allDay) return moment.in === 'utc' ? midnightMeantBy(wall, clocks.calendar) : wall - timeOfDay(wall);
  return moment.in === 'day' ? wall + timeOfDay(firstStart) : clock.toWall(momentOf(moment, clocks, clock));
}

const utcText = (until: string): string => until.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3 $4:$5:$6');

/**
 * Returns the midnight that a UTC time stands for, since some programs write days as the moments of their midnights. If
 * it is a midnight by the calendar's clock, that day is used; otherwise, the nearest midnight in UTC.
 */
function midnightMeantBy(moment: number, clock: Clock): number {
  const wall = clock.toWall(moment);
  return timeOfDay(wall) === 0 ? wall : Math.floor((moment + DAY / 2) / DAY) * DAY;
}
const timeOfDay = (wall: number): number => ((wall % DAY) + DAY) % DAY;
