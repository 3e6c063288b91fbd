/*
 * Expansion of recurrence rules (RFC 5545, 3.3.10). The iCalendar library's own expansion never ends for some rules
 * that match no day; this one iterates over the periods of a limited time span, so that it ends for any rule. Moments
 * are local times, as seconds since 1970 read as UTC.
 */

/** A rule. Weekdays are numbered from 0, Sunday; `nth` 0 means every one. */
export interface Rule {
  readonly freq: 'SECONDLY' | 'MINUTELY' | 'HOURLY' | 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY';
  readonly interval: number;
  readonly count: number | undefined;
  /** `20261231`, `20261231T235959` or `20261231T225959Z`. */
  readonly until: string | undefined;
  readonly byMonth: readonly number[];
  readonly byMonthDay: readonly number[];
  readonly byYearDay: readonly number[];
  readonly byWeekNo: readonly number[];
  readonly byDay: readonly { readonly nth: number; readonly day: number }[];
  readonly byHour: readonly number[];
  readonly byMinute: readonly number[];
  readonly bySecond: readonly number[];
  readonly bySetPos: readonly number[];
  readonly weekStart: number;
  /**
   * A day that a month lacks is replaced by its last one (`SKIP=BACKWARD` of RFC 7529); otherwise such a month is
   * skipped.
   */
  readonly skipsBack: boolean;
}

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const MAX_VALUES = 400;

const FREQUENCIES = ['SECONDLY', 'MINUTELY', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;

/**
 * Parses a rule; undefined if it is invalid, has a part that cannot be read, uses another calendar than the Gregorian,
 * or moves days that a month lacks (`SKIP` of RFC 7529) in another way than to the last day of the month. White space,
 * empty parts, extensions (`X-`), the case of letters, and hyphens and colons in the end are ignored.
 */
export function parseRule(text: string): Rule | undefined {
  const parts = new Map<string, string>();
  for (const part of text.toUpperCase().replace(/\s/g, '').split(';')) {
    const [name = '', value = ''] = part.split('=', 2);
    if (value === '' ? part.includes('=') || part === '' : name.startsWith('X-')) continue;
    const cleanValue = name === 'UNTIL' ? value.replace(/[-:]/g, '') : value;
    if (!PARTS.get(name)?.(cleanValue)) return undefined;
    parts.set(name, cleanValue);
  }
  const freq = FREQUENCIES.find((name) => name === parts.get('FREQ'));
  if (freq === undefined) return undefined;
  const numbers = (name: string): number[] => listOf(parts.get(name)).map(Number);
  const integer = (name: string): number | undefined => (/^\d/.test(parts.get(name) ?? '') ? Number(parts.get(name)) : undefined);
  const skipsBack = parts.get('SKIP') === BACKWARD;
  if (skipsBack && !canSkipBack(freq, parts)) return undefined;
  return {
    freq,
    interval: Math.max(1, integer('INTERVAL') ?? 1),
    count: integer('COUNT'),
    until: parts.get('UNTIL')?.replace(/(T\d{4})(?=Z?$)/, '$100'),
    byMonth: numbers('BYMONTH'),
    byMonthDay: numbers('BYMONTHDAY'),
    byYearDay: numbers('BYYEARDAY'),
    byWeekNo: numbers('BYWEEKNO'),
    byDay: listOf(parts.get('BYDAY')).map((piece) => ({ nth: Number(piece.slice(0, -2)) || 0, day: WEEKDAYS.indexOf(piece.slice(-2)) })),
    byHour: numbers('BYHOUR'),
    byMinute: numbers('BYMINUTE'),
    // Second 60, a leap second, is treated as second 59.
    bySecond: numbers('BYSECOND').map((second) => Math.min(second, 59)),
    bySetPos: numbers('BYSETPOS'),
    weekStart: WEEKDAYS.indexOf(parts.get('WKST') ?? 'MO'),
    skipsBack,
  };
}

const BACKWARD = 'BACKWARD';

/**
 * Returns whether a rule can have `SKIP=BACKWARD`: it only selects days by their number from the start of the month,
 * since a month may lack such a day and always has one before it.
 */
const canSkipBack = (freq: Rule['freq'], parts: ReadonlyMap<string, string>): boolean =>
  (freq === 'MONTHLY' || freq === 'YEARLY') &&
  !['BYDAY', 'BYYEARDAY', 'BYWEEKNO'].some((name) => parts.has(name)) &&
  !parts.get('BYMONTHDAY')?.includes('-');

const listOf = (value: string | undefined): string[] => (value ?? '').split(',').filter((piece) => piece !== '');

/** Returns a test for lists of integers within bounds; with `fromEnd`, negative ones count from the end. */
const numbersIn =
  (min: number, max: number, { fromEnd = false } = {}) =>
  (value: string): boolean => {
    const items = listOf(value);
    const isOne = (item: string) => {
      const number = Math.abs(Number(item));
      return (fromEnd ? /^[+-]?\d{1,3}$/ : /^\+?\d{1,3}$/).test(item) && number >= min && number <= max;
    };
    return items.length <= MAX_VALUES && items.every(isOne);
  };

/** The parts of a rule (RFC 5545, 3.3.10, and RFC 7529), each with a test of whether its value is supported. */
const PARTS = new Map<string, (value: string) => boolean>(
  Object.entries({
    FREQ: (value) => FREQUENCIES.some((name) => name === value),
    INTERVAL: (value) => /^-?\d{1,9}$/.test(value),
    // Some programs write -1 for no limit.
    COUNT: (value) => /^-?\d{1,9}$/.test(value),
    UNTIL: (value) => /^\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:T\d{4}(?:\d\d)?Z?)?$/.test(value),
    BYMONTH: numbersIn(1, 12),
    BYMONTHDAY: numbersIn(1, 31, { fromEnd: true }),
    BYYEARDAY: numbersIn(1, 366, { fromEnd: true }),
    BYWEEKNO: numbersIn(1, 53, { fromEnd: true }),
    BYDAY: (value) =>
      listOf(value).length <= MAX_VALUES && listOf(value).every((piece) => /^[+-]?\d{0,2}(?:SU|MO|TU|WE|TH|FR|SA)$/.test(piece)),
    BYHOUR: numbersIn(0, 23),
    BYMINUTE: numbersIn(0, 59),
    BYSECOND: numbersIn(0, 60),
    BYSETPOS: numbersIn(1, 366, { fromEnd: true }),
    WKST: (value) => WEEKDAYS.includes(value),
    RSCALE: (value) => value === 'GREGORIAN',
    SKIP: (value) => value === 'OMIT' || value === BACKWARD,
  }),
);

/**
 * `from`: the first moment wanted. `startCounts`: whether the start is an occurrence even if the rule does not match
 * it.
 */
export interface OccurrenceOptions {
  readonly from?: number;
  readonly startCounts?: boolean;
}

/**
 * Returns the moments of an event that begins at `start` and repeats by a rule, in order, none before `from` or after
 * `last`. The start itself is the first one, unless `startCounts` is false and the rule does not match it. The caller,
 * who knows the zone, must apply an `UNTIL` in UTC to `last`.
 */
export function* occurrences(
  rule: Rule,
  start: number,
  last: number,
  { from = start, startCounts = true }: OccurrenceOptions = {},
): Generator<number> {
  const end = Math.min(last, untilOf(rule));
  let remaining = Math.min(rule.count ?? MAX_MOMENTS, MAX_MOMENTS);
  if (start > end || remaining < 1) return;
  if (startCounts) {
    if (start >= from) yield start;
    remaining -= 1;
  }
  // Without a count, periods before `from` can be skipped.
  for (const moments of periodsOf(rule, start, end, rule.count === undefined ? from : start)) {
    for (const moment of pickPositions(moments, rule.bySetPos)) {
      if (moment < start || (startCounts && moment === start)) continue;
      if (moment > end || remaining < 1) return;
      if (moment >= from) yield moment;
      remaining -= 1;
    }
    if (remaining < 1) return;
  }
}

/** Maximum number of moments of a rule. */
const MAX_MOMENTS = 500_000;

/**
 * Returns the last moment that the rule itself allows. One in UTC is extended by a day; the caller, who knows the zone,
 * cuts it.
 */
function untilOf({ until }: Rule): number {
  if (until === undefined) return Number.POSITIVE_INFINITY;
  const [year, month, day, hour = '23', minute = '59', second = '59'] = until
    .match(/^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d))?/)!
    .slice(1);
  return (
    seconds(Number(year), Number(month), Number(day)) +
    Number(hour) * 3600 +
    Number(minute) * 60 +
    Number(second) +
    (until.endsWith('Z') ? DAY : 0)
  );
}

const DAY = 86_400;
/** Maximum number of years evaluated for rules without end. */
const MAX_YEARS = 300;

const seconds = (year: number, month: number, day: number): number => {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() / 1000;
};

/** A day, with the properties that rules test. */
interface Day {
  readonly midnight: number;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
}

function dayAt(midnight: number): Day {
  const date = new Date(midnight * 1000);
  return { midnight, year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), weekday: date.getUTCDay() };
}

const daysBetween = (from: number, to: number): Day[] =>
  Array.from({ length: Math.max(0, Math.round((to - from) / DAY)) }, (_, index) => dayAt(from + index * DAY));

/** Seconds of the periods shorter than a day. */
const SHORT_PERIOD_S = { SECONDLY: 1, MINUTELY: 60, HOURLY: 3600 } as const;

/** Yields for each period the moments that the rule may select. */
function* periodsOf(rule: Rule, start: number, end: number, earliest: number): Generator<readonly number[]> {
  const { freq } = rule;
  if (freq === 'SECONDLY' || freq === 'MINUTELY' || freq === 'HOURLY')
    yield* shortPeriods(rule, SHORT_PERIOD_S[freq], start, end, earliest);
  else for (const days of periods({ ...rule, freq }, start, end, earliest)) yield momentsOnDays(rule, days, start);
}

/** Maximum number of short periods tried to find one that the rule allows. */
const MAX_SHORT_PERIODS = 500_000;

/**
 * Yields hours, minutes or seconds that match the rule's other parts (RFC 5545, 3.3.10, the table). Parts for units
 * shorter than the period expand it.
 */
function* shortPeriods(rule: Rule, length: number, start: number, end: number, earliest: number): Generator<readonly number[]> {
  const step = length * rule.interval;
  const first = start - offsetWithin(start, length);
  const suits = createDayTest(rule, dayAt(Math.floor(start / DAY) * DAY));
  const isIn = (values: readonly number[], value: number) => values.length === 0 || values.includes(value);
  const skippedCount = Math.max(0, Math.floor((earliest - first) / step) - 1);
  let day: { midnight: number; suits: boolean } | undefined;
  for (let number = 0, moment = first + skippedCount * step; moment <= end && number < MAX_SHORT_PERIODS; number += 1, moment += step) {
    const midnight = Math.floor(moment / DAY) * DAY;
    if (day?.midnight !== midnight) day = { midnight, suits: suits(dayAt(midnight)) };
    const [hour, minute, second] = [
      Math.floor((moment - midnight) / 3600),
      Math.floor(offsetWithin(moment, 3600) / 60),
      offsetWithin(moment, 60),
    ];
    if (!day.suits || !isIn(rule.byHour, hour)) continue;
    if (length < 3600 && !isIn(rule.byMinute, minute)) continue;
    if (length === 1 && !isIn(rule.bySecond, second)) continue;
    yield timesWithin(rule, length, start).map((time) => moment + time);
  }
}

/** Returns the seconds within an hour, a minute or a second at which the rule matches. */
function timesWithin({ byMinute, bySecond }: Rule, length: number, start: number): number[] {
  const ownSeconds = length === 1 ? [0] : valuesOrOwn(bySecond, offsetWithin(start, 60));
  const minutes = length < 3600 ? [0] : valuesOrOwn(byMinute, Math.floor(offsetWithin(start, 3600) / 60));
  return minutes.flatMap((minute) => ownSeconds.map((second) => minute * 60 + second));
}

/** A rule with days or longer periods. */
type DayRule = Rule & { readonly freq: keyof typeof MAX_PERIOD_S };

/** Yields for each period the days that the rule may select. */
function* periods(rule: DayRule, start: number, end: number, earliest: number): Generator<Day[]> {
  const first = dayAt(Math.floor(start / DAY) * DAY);
  const limit = Math.min(end, seconds(first.year + MAX_YEARS, 1, 1));
  const matches = createDayTest(rule, first);
  const skippedCount = Math.floor((earliest - first.midnight) / MAX_PERIOD_S[rule.freq] / rule.interval) - 1;
  for (let number = Math.max(0, skippedCount) * rule.interval; ; number += rule.interval) {
    const [from, to] = boundsOf(rule, first, number);
    // The comparison is also false for NaN, which results beyond the range of dates.
    if (!(from <= limit)) return;
    yield daysBetween(from, to).filter(matches);
  }
}

/** Maximum length of each period in seconds, so that no period is skipped by mistake. */
const MAX_PERIOD_S = { DAILY: DAY, WEEKLY: 7 * DAY, MONTHLY: 31 * DAY, YEARLY: 366 * DAY } as const;

/** Returns start and end of a period; `number`: counted from the first, which is 0. */
function boundsOf({ freq, byWeekNo, weekStart }: Rule, first: Day, number: number): [number, number] {
  if (freq === 'DAILY') return [first.midnight + number * DAY, first.midnight + (number + 1) * DAY];
  if (freq === 'WEEKLY') {
    const periodStart = first.midnight - ((first.weekday - weekStart + 7) % 7) * DAY + number * 7 * DAY;
    return [periodStart, periodStart + 7 * DAY];
  }
  if (freq === 'MONTHLY') return [seconds(first.year, first.month + number, 1), seconds(first.year, first.month + number + 1, 1)];
  const year = first.year + number;
  // The weeks of a year may include days of the adjacent years.
  return byWeekNo.length > 0 ? [weekOne(year, weekStart), weekOne(year + 1, weekStart)] : [seconds(year, 1, 1), seconds(year + 1, 1, 1)];
}

/** Returns the start of the first week with at least four days in a year. */
function weekOne(year: number, weekStart: number): number {
  const fourth = dayAt(seconds(year, 1, 4));
  return fourth.midnight - ((fourth.weekday - weekStart + 7) % 7) * DAY;
}

/** Returns a test of whether a day matches the rule. Parts that the rule lacks follow from the first day. */
function createDayTest(rule: Rule, first: Day): (day: Day) => boolean {
  const { freq, byMonth, byMonthDay, byYearDay, byWeekNo, byDay, skipsBack } = rule;
  const dayIn = (monthDay: number, { year, month }: Day) => (skipsBack ? Math.min(monthDay, lengthOfMonth(year, month)) : monthDay);
  const hasDayParts = byMonthDay.length + byYearDay.length + byWeekNo.length + byDay.length > 0;
  const tests: ((day: Day) => boolean)[] = [];
  if (byMonth.length > 0) tests.push(({ month }) => byMonth.includes(month));
  if (byMonthDay.length > 0)
    tests.push((day) =>
      byMonthDay.some((value) => day.day === (value > 0 ? dayIn(value, day) : lengthOfMonth(day.year, day.month) + value + 1)),
    );
  if (byYearDay.length > 0)
    tests.push(({ midnight, year }) => {
      const [number, length] = [(midnight - seconds(year, 1, 1)) / DAY + 1, (seconds(year + 1, 1, 1) - seconds(year, 1, 1)) / DAY];
      return byYearDay.some((value) => number === (value > 0 ? value : length + value + 1));
    });
  if (byWeekNo.length > 0 && freq === 'YEARLY') tests.push((day) => inWeeks(day, rule));
  if (byDay.length > 0)
    tests.push((day) => byDay.some(({ nth, day: weekday }) => day.weekday === weekday && (nth === 0 || isNth(day, nth, rule))));
  else if (freq === 'WEEKLY' || (freq === 'YEARLY' && byWeekNo.length > 0 && byMonthDay.length + byYearDay.length === 0))
    tests.push(({ weekday }) => weekday === first.weekday);
  if (!hasDayParts && (freq === 'MONTHLY' || freq === 'YEARLY')) tests.push((day) => day.day === dayIn(first.day, day));
  if (!hasDayParts && freq === 'YEARLY' && byMonth.length === 0) tests.push(({ month }) => month === first.month);
  return (day) => tests.every((test) => test(day));
}

const lengthOfMonth = (year: number, month: number): number => (seconds(year, month + 1, 1) - seconds(year, month, 1)) / DAY;

function inWeeks({ midnight, year }: Day, { byWeekNo, weekStart }: Rule): boolean {
  const weekYear = [year + 1, year, year - 1].find((candidate) => weekOne(candidate, weekStart) <= midnight)!;
  const yearStart = weekOne(weekYear, weekStart);
  const [number, length] = [
    Math.floor((midnight - yearStart) / (7 * DAY)) + 1,
    Math.round((weekOne(weekYear + 1, weekStart) - yearStart) / (7 * DAY)),
  ];
  return byWeekNo.some((value) => number === (value > 0 ? value : length + value + 1));
}

/**
 * Returns whether a day is the nth of its weekday, counted from the start or the end of its month, or of its year if
 * the rule refers to years.
 */
function isNth({ midnight, year, month, day }: Day, nth: number, { freq, byMonth }: Rule): boolean {
  if (freq !== 'MONTHLY' && freq !== 'YEARLY') return true;
  const isOfMonth = freq === 'MONTHLY' || byMonth.length > 0;
  const [place, length] = isOfMonth
    ? [day, lengthOfMonth(year, month)]
    : [(midnight - seconds(year, 1, 1)) / DAY + 1, (seconds(year + 1, 1, 1) - seconds(year, 1, 1)) / DAY];
  return nth > 0 ? Math.ceil(place / 7) === nth : Math.ceil((length - place + 1) / 7) === -nth;
}

function momentsOnDays({ byHour, byMinute, bySecond }: Rule, days: readonly Day[], start: number): number[] {
  const [hour, minute, second] = [
    Math.floor(offsetWithin(start, DAY) / 3600),
    Math.floor(offsetWithin(start, 3600) / 60),
    offsetWithin(start, 60),
  ];
  const times = valuesOrOwn(byHour, hour).flatMap((h) =>
    valuesOrOwn(byMinute, minute).flatMap((m) => valuesOrOwn(bySecond, second).map((s) => h * 3600 + m * 60 + s)),
  );
  return days.flatMap(({ midnight }) => times.map((time) => midnight + time));
}

/** Returns the values in a rule, in order, or that of the start if it has none. */
const valuesOrOwn = (values: readonly number[], ownValue: number): readonly number[] =>
  values.length > 0 ? [...new Set(values)].sort((a, b) => a - b) : [ownValue];

/** Returns the offset of a moment within its period; also for moments before 1970. */
const offsetWithin = (moment: number, length: number): number => ((moment % length) + length) % length;

/** Returns the moments at the given positions of a period, counted from its start or its end. */
function pickPositions(moments: readonly number[], places: readonly number[]): readonly number[] {
  if (places.length === 0) return moments;
  const pickedMoments = places.map((place) => moments.at(place > 0 ? place - 1 : place)).filter((moment) => moment !== undefined);
  return [...new Set(pickedMoments)].sort((a, b) => a - b);
}
