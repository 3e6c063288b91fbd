import { occurrences, parseRule, type Rule } from '../../calendar/recurrence-rule.ts';
import { isRecord } from '../../objects.ts';
import { addMonths, isRealDate, textFromUnix, unixFromText } from '../../wordpress/time.ts';
import { localFromUnix, parseZone, unixFromLocal, type Zone } from '../../wordpress/zones.ts';
import { offsetIn, offsetZone } from '../items/unambiguous-zone.ts';
import { offsetOf } from './dates.ts';
import { listOf, type Node, nodeInheriting, textOf } from './nodes.ts';

/** Dates of schedules: events with the members of the scheduled one, each with its own dates. */
export interface ScheduledTimes {
  readonly nodes: readonly Node[];
  /** Frequencies of the schedules that cannot be followed, as they are written. */
  readonly unknown: readonly string[];
  /** Whether there are more dates than are imported. */
  readonly isCut: boolean;
  /** Number of schedules that were skipped because there are too many. */
  readonly skippedSchedules: number;
}

/** Maximum number of dates of an event. */
const MAX_DATES = 2000;
/** Maximum number of dates that are looked at, since several schedules may contain the same ones. */
const MAX_DATES_EXAMINED = 10 * MAX_DATES;
/** Maximum number of schedules of an event. */
const MAX_SCHEDULES = 100;
const DAY = 86_400;

/**
 * Returns the dates of a repeating event (schema.org `eventSchedule`), from one year ago to two years ahead, without
 * duplicates; only the first ones if there are more than `limit`. Undefined if it has no schedule, or lists its dates
 * individually (`subEvent`). `site`: zone of times without an offset whose schedule names no zone.
 */
export function scheduledTimes(
  node: Node,
  { site, now, limit }: { readonly site: Zone; readonly now: string; readonly limit: number },
): ScheduledTimes | undefined {
  const schedules = listOf(node.eventSchedule).filter(isRecord);
  if (schedules.length === 0 || node.subEvent !== undefined || node.subEvents !== undefined) return undefined;
  const window: Window = [unixFromText(addMonths(now, -12)), unixFromText(addMonths(now, 24))];
  const results = schedules.slice(0, MAX_SCHEDULES).map((schedule) => ({
    repeat: repetitionOf(schedule) || 'eventSchedule',
    times: timesOf(schedule, node, site, window),
  }));
  const { times, isCut } = mergeSchedules(
    results.flatMap(({ times }) => times ?? []),
    Math.min(limit, MAX_DATES),
  );
  return {
    nodes: times.map((time) => nodeInheriting(node, { ...time, duration: undefined })),
    unknown: results.flatMap(({ repeat, times }) => (times ? [] : [repeat])),
    isCut,
    skippedSchedules: Math.max(0, schedules.length - MAX_SCHEDULES),
  };
}

/** First and last wall time of the dates that are imported. */
type Window = readonly [first: number, last: number];
interface Time {
  readonly startDate: string;
  readonly endDate: string;
}
/** Iterator over the dates of one schedule, in order. */
type Times = Iterator<Time, undefined>;

const repetitionOf = (schedule: Node): string => textOf(schedule.repeatFrequency);

/**
 * Returns the first dates of all schedules together, without duplicates, and whether there are more. Dates are computed
 * lazily. If two begin at the same time, the one of the later schedule counts.
 */
function mergeSchedules(schedules: readonly Times[], limit: number): { times: Time[]; isCut: boolean } {
  const byStart = new Map<string, Time>();
  const next = schedules.map((times) => times.next().value);
  for (let examined = 0; examined < MAX_DATES_EXAMINED && byStart.size <= limit; examined += 1) {
    let first: number | undefined;
    for (const [index, time] of next.entries()) {
      if (time && (first === undefined || time.startDate < next[first]!.startDate)) first = index;
    }
    if (first === undefined) break;
    byStart.set(next[first]!.startDate, next[first]!);
    next[first] = schedules[first]!.next().value;
  }
  const times = [...byStart.values()].sort((one, other) => (one.startDate < other.startDate ? -1 : 1));
  return { times: times.slice(0, limit), isCut: times.length > limit || next.some((time) => time !== undefined) };
}

/** Returns the dates of one schedule; undefined if it cannot be followed. */
function timesOf(schedule: Node, event: Node, site: Zone, window: Window): Times | undefined {
  const startText = textOf(schedule.startDate) || textOf(event.startDate);
  const writtenStart = parseStart(startText);
  if (!writtenStart) return undefined;
  const clock = parseClock(textOf(schedule.startTime));
  const zone = zoneOf(schedule, event, `${writtenStart.day} ${clock ?? writtenStart.time ?? MIDNIGHT}`, site);
  const read = zone && createReader(zone, offsetOf(startText));
  const rule = read && ruleOf(schedule, read(textOf(schedule.endDate)));
  if (!rule) return undefined;
  const start = read(startText) ?? writtenStart;
  const time = clock ?? start.time ?? writtenStart.time;
  const length = lengthOf(schedule, event, time);
  const except = new Set(listOf(schedule.exceptDate).flatMap((date) => exclusionOf(read(textOf(date)), rule)));
  const datesOf = (wall: number) => (time === undefined ? daysFrom(wall, length) : momentsFrom(textFromUnix(wall), length, zone));
  return datesWithin(occurrencesOf(rule, unixFromText(`${start.day} ${time ?? MIDNIGHT}`), window), except, datesOf);
}

const occurrencesOf = (rule: Rule, start: number, [first, last]: Window) =>
  occurrences(rule, start, last, { from: Math.max(start, first), startCounts: false });

function* datesWithin(walls: Iterable<number>, except: ReadonlySet<string>, datesOf: (wall: number) => Time): Generator<Time, undefined> {
  for (const wall of walls) {
    const local = textFromUnix(wall);
    if (!except.has(local) && !except.has(local.slice(0, 10))) yield datesOf(wall);
  }
  return undefined;
}

/**
 * Returns the zone of a schedule: the named one, or else that of its start's offset, which is the site's zone if that
 * has the same offset at that time. Undefined if the named zone does not exist. `start`: in local time.
 */
function zoneOf(schedule: Node, event: Node, start: string, site: Zone): Zone | undefined {
  const name = textOf(schedule.scheduleTimezone);
  if (name !== '') return parseZone(name) ?? undefined;
  const clock = textOf(schedule.startTime).replace(/^T/i, '');
  const dates = [textOf(schedule.startDate), textOf(event.startDate)].filter((text) => text !== '').map(offsetOf);
  // Many programs write all dates in UTC, which says nothing about the zone of a separate time.
  const offset = clock === '' ? dates[0] : (offsetOf(`${start.slice(0, 10)}T${clock}`) ?? dates.find((some) => some));
  return offset === undefined || offsetIn(site, unixFromText(start) - offset) === offset ? site : offsetZone(offset);
}

const daysFrom = (wall: number, length: number) => ({
  startDate: textFromUnix(wall).slice(0, 10),
  endDate: textFromUnix(wall + Math.max(0, length - DAY)).slice(0, 10),
});

/** Returns start and end with their offsets, since the zone may not be the site's. */
function momentsFrom(local: string, length: number, zone: Zone) {
  const start = unixFromLocal(local, zone);
  const withOffset = (moment: number) => {
    const wall = localFromUnix(moment, zone);
    const minutes = (unixFromText(wall) - moment) / 60;
    const offset = [Math.abs(minutes) / 60, Math.abs(minutes) % 60].map((part) => String(Math.trunc(part)).padStart(2, '0')).join(':');
    return `${wall.replace(' ', 'T')}${minutes < 0 ? '-' : '+'}${offset}`;
  };
  return { startDate: withOffset(start), endDate: withOffset(start + length) };
}

// ------------------------------------------------------------------------------------------------- when
interface StatedStart {
  readonly day: string;
  readonly time: string | undefined;
}

/** Parses a day with an optional time, in the local time that it is written in. */
function parseStart(text: string): StatedStart | undefined {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d{1,9})?\s?(?:Z|[+-]\d\d:?\d\d)?)?$/i.exec(text) ?? [];
  if (day === undefined || !isRealDate(day)) return undefined;
  return { day, time: clock === undefined ? undefined : parseClock(clock) };
}

/** Parses `19:30` or `T19:30:00+01:00` to `19:30:00`. */
function parseClock(text: string): string | undefined {
  const [, hour, minute, second = '00'] = /^T?([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?:Z|[+-]\d\d:?\d\d)?$/i.exec(text) ?? [];
  return hour === undefined ? undefined : `${hour}:${minute}:${second}`;
}

type ReadDate = (text: string) => StatedStart | undefined;

/**
 * Returns a function that reads a date of a schedule by the clock of its zone. Midnight in UTC is how programs write a
 * day. `ownOffset`: the offset that the start states, which means the zone's clock even if it is wrong there.
 */
const createReader =
  (zone: Zone, ownOffset: number | undefined): ReadDate =>
  (text) => {
    const stated = parseStart(text);
    const offset = offsetOf(text);
    if (stated?.time === undefined || offset === undefined || (offset !== 0 && offset === ownOffset)) return stated;
    if (offset === 0 && stated.time === MIDNIGHT) return { day: stated.day, time: undefined };
    const [day = '', time] = localFromUnix(unixFromText(`${stated.day} ${stated.time}`) - offset, zone).split(' ');
    return { day, time };
  };

const MIDNIGHT = '00:00:00';

/** Returns the day or time that is excluded. Midnight means the day, unless the dates of a day have several times. */
function exclusionOf(date: StatedStart | undefined, { freq }: Rule): string[] {
  if (!date) return [];
  const isDay = date.time === undefined || (date.time === MIDNIGHT && freq !== 'HOURLY');
  return [isDay ? date.day : `${date.day} ${date.time}`];
}

/**
 * Returns the duration of each date in seconds: up to the end time; otherwise the stated duration; otherwise the
 * event's own.
 */
function lengthOf(schedule: Node, event: Node, time: string | undefined): number {
  const end = parseClock(textOf(schedule.endTime));
  if (end !== undefined && time !== undefined) return (secondsOfDay(end) - secondsOfDay(time) + DAY) % DAY;
  const duration = parseDuration(textOf(schedule.duration) || textOf(event.duration));
  if (duration) return duration.seconds;
  const [from, to] = [parseStart(textOf(event.startDate)), parseStart(textOf(event.endDate))];
  if (!from || !to) return 0;
  const days = unixFromText(`${to.day} 00:00:00`) - unixFromText(`${from.day} 00:00:00`);
  if (from.time === undefined || to.time === undefined) return time === undefined && days >= 0 ? days + DAY : 0;
  const [offset, endOffset] = [offsetOf(textOf(event.startDate)), offsetOf(textOf(event.endDate))];
  const shift = offset === undefined || endOffset === undefined ? 0 : offset - endOffset;
  const seconds = days + secondsOfDay(to.time) - secondsOfDay(from.time) + shift;
  // The end of an event is often that of its last date.
  return seconds >= 0 && seconds <= DAY ? seconds : Math.max(0, (seconds % DAY) + DAY) % DAY;
}

const secondsOfDay = (clock: string): number => unixFromText(`1970-01-01 ${clock}`);

/** Parses a duration of ISO 8601: its parts, and the seconds of its weeks, days and shorter units. */
function parseDuration(text: string) {
  const [match, years = '0', months = '0', weeks = '0', days = '0', hours = '0', minutes = '0', seconds = '0'] =
    /^P(?:(\d{1,3})Y)?(?:(\d{1,3})M)?(?:(\d{1,3})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?$/i.exec(text) ?? [];
  if (match === undefined || !/\d/.test(match)) return undefined;
  return {
    parts: { YEARLY: Number(years), MONTHLY: Number(months), WEEKLY: Number(weeks), DAILY: Number(days), HOURLY: Number(hours) },
    seconds: Number(weeks) * 7 * DAY + Number(days) * DAY + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
  };
}

// ------------------------------------------------------------------------------------------------- how often
const FREQUENCY_WORDS = new Map([
  ['daily', 'DAILY'],
  ['weekly', 'WEEKLY'],
  ['biweekly', 'WEEKLY;INTERVAL=2'],
  ['monthly', 'MONTHLY'],
  ['yearly', 'YEARLY'],
  ['annually', 'YEARLY'],
]);

/** Upper bound for the weekdays of a month, counted from its beginning and from its end. */
const MAX_WEEKDAYS = 100;

/**
 * Translates a schedule to an iCalendar rule; returns undefined if that is not possible. `end`: its last day or time.
 */
function ruleOf(schedule: Node, end: StatedStart | undefined): Rule | undefined {
  const freq = frequencyOf(repetitionOf(schedule));
  const days = listOf(schedule.byDay).map((day) => weekdayOf(textOf(day)));
  const weeks = listOf(schedule.byMonthWeek).map(textOf);
  if (freq === undefined || days.includes(undefined) || days.length * weeks.length > MAX_WEEKDAYS) return undefined;
  const positionedDays = weeks.length === 0 ? days : weeks.flatMap((week) => days.map((day) => `${week}${day}`));
  const list = (name: string, values: readonly unknown[]) => (values.length === 0 ? [] : [`${name}=${values.map(textOf).join()}`]);
  return parseRule(
    [
      `FREQ=${freq}`,
      ...list('BYDAY', positionedDays),
      ...list('BYMONTH', listOf(schedule.byMonth)),
      ...list('BYMONTHDAY', listOf(schedule.byMonthDay)),
      ...list('COUNT', listOf(schedule.repeatCount).slice(0, 1)),
      ...(end ? [`UNTIL=${end.day}T${end.time ?? '23:59:59'}`] : []),
    ].join(';'),
  );
}

function frequencyOf(text: string): string | undefined {
  const namedFrequency = FREQUENCY_WORDS.get(text.toLowerCase());
  if (namedFrequency) return namedFrequency;
  const nonZeroParts = Object.entries(parseDuration(text)?.parts ?? {}).filter(([, count]) => count > 0);
  const [[freq, interval] = []] = nonZeroParts;
  return nonZeroParts.length === 1 ? `${freq};INTERVAL=${interval}` : undefined;
}

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const WEEKDAY_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Parses `https://schema.org/Monday`, `Monday`, `MO` or `2MO`. */
function weekdayOf(text: string): string | undefined {
  const word = text.split(/[/#:]/).at(-1) ?? '';
  if (/^[+-]?\d?(?:SU|MO|TU|WE|TH|FR|SA)$/.test(word)) return word;
  return WEEKDAYS[WEEKDAY_NAMES.indexOf(word.toLowerCase())];
}
