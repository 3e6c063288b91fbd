/*
 * The meaning of each format of date-grammar.ts, as timelib's scanner records it: fields, a time zone, relative steps.
 * Nothing is computed here; date.ts does that when the whole text has been read.
 */

import { tableOf } from '../table.ts';
import { dayOfWeek, unixFromFields } from '../time.ts';
import { trimEndOf, trimStartOf } from '../trim.ts';
import { parsePhpZone, UTC, type Zone } from '../zones.ts';
import type { FormatName } from './date-grammar.ts';

/** A field of the date; null until the text contains it. */
export type Field = number | null;

/** The information collected from a text so far. */
export type Notes = {
  y: Field;
  m: Field;
  d: Field;
  h: Field;
  i: Field;
  s: Field;
  us: number;
  hasDate: boolean;
  hasTime: boolean;
  /** Whether four digits after a time have been read as a year, which happens only once. */
  yearAsClock: boolean;
  /** The zone in the text, and how many zones were named. */
  zone: Zone | null;
  zones: number;
  step: { y: number; m: number; d: number; h: number; i: number; s: number; us: number };
  /**
   * A weekday to move to. `behavior` 0: strictly after today, 1: today counts, 2: within this week (timelib's
   * weekday_behavior).
   */
  weekday: { set: boolean; day: number; behavior: number };
  /** A number of working days, or the n-th (or last) weekday of a month. */
  special: { kind: 'weekdays'; amount: number } | { kind: 'nth' | 'lastOf' } | null;
  monthEdge: 'first' | 'last' | null;
};

/** Thrown if PHP reports an error; the functions that read a text catch it. */
export const REFUSED = Symbol('refused');

/** Returns the notes of an empty text. */
export function emptyNotes(): Notes {
  const step = { y: 0, m: 0, d: 0, h: 0, i: 0, s: 0, us: 0 };
  const fields = { y: null, m: null, d: null, h: null, i: null, s: null, us: 0, zone: null, zones: 0 };
  const flags = { hasDate: false, hasTime: false, yearAsClock: false };
  return { ...fields, ...flags, step, weekday: { set: false, day: 0, behavior: 0 }, special: null, monthEdge: null };
}

/**
 * Records the meaning of a token in the notes.
 * @throws REFUSED if PHP returns false: a second date or time, a zone that does not exist
 */
export function note(name: FormatName, token: string, notes: Notes): void {
  TOKEN_MEANINGS[name](reader(token.replace(/\0$/, '')), notes);
}

type Reader = ReturnType<typeof reader>;

/**
 * Returns functions that read numbers and words from a token from left to right and skip the text between, as timelib's
 * readers do.
 */
function reader(token: string) {
  let rest = token;
  const take = (pattern: RegExp) => {
    const match = pattern.exec(rest)?.[0] ?? '';
    rest = rest.slice(match.length);
    return match;
  };
  const digits = (limit: number) => {
    take(/^[^0-9]*/);
    const match = (/^[0-9]*/.exec(rest)?.[0] ?? '').slice(0, limit);
    rest = rest.slice(match.length);
    return match;
  };
  return {
    rest: () => rest,
    next: (characters: string) => rest !== '' && characters.includes(rest[0]!),
    number: (limit = 2): Field => {
      const match = digits(limit);
      return match === '' ? null : Number(match);
    },
    signed: () => {
      const minus = take(/^[^0-9]*/).split('-').length % 2 === 0;
      const number = Number(take(/^[0-9]*/));
      return minus ? 0 - number : number;
    },
    /** A year: one with fewer than four digits and below 100 means 1970 to 2069 (timelib: TIMELIB_PROCESS_YEAR). */
    year: (): Field => {
      const match = digits(4);
      const year = Number(match);
      if (match === '') return null;
      return match.length >= 4 || year >= 100 ? year : year + (year < 70 ? 2000 : 1900);
    },
    /** Microseconds of a fraction. */
    fraction: () =>
      Math.floor(
        Number(
          take(/^[.:][0-9]*/)
            .replace(':', '.')
            .padEnd(2, '0'),
        ) * 1e6,
      ),
    skip: (pattern: RegExp) => void take(pattern),
    monthName: () => {
      take(/^[ \t./-]*/);
      return monthNumber(take(/^[A-Za-z]*/).toLowerCase());
    },
    word: () => {
      take(/^[ \t]*/);
      return take(/^[^ \t,;:/.()-]*/).toLowerCase();
    },
  };
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const ROMAN = ['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x', 'xi', 'xii'];
const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth', 'eleventh', 'twelfth'];

function monthNumber(word: string): number {
  const roman = ROMAN.indexOf(word);
  return 1 + (roman >= 0 ? roman : MONTHS.indexOf(word.slice(0, 3)));
}

/**
 * Returns the number of steps that a word (`next`, `last`, an ordinal) means, and the behavior of a weekday after it.
 */
function stepsOfWord(word: string): { amount: number; behavior: number } {
  if (word === 'this') return { amount: 0, behavior: 1 };
  if (word === 'next') return { amount: 1, behavior: 0 };
  if (word === 'last' || word === 'previous') return { amount: -1, behavior: 0 };
  const ordinal = word === 'eight' ? 7 : ORDINALS.indexOf(word);
  return { amount: ordinal + 1, behavior: 0 };
}

type Step = keyof Notes['step'];
const UNITS: ReadonlyMap<string, [Step, number]> = tableOf({
  ms: ['us', 1000],
  msec: ['us', 1000],
  millisecond: ['us', 1000],
  µs: ['us', 1],
  µsec: ['us', 1],
  usec: ['us', 1],
  microsecond: ['us', 1],
  sec: ['s', 1],
  second: ['s', 1],
  min: ['i', 1],
  minute: ['i', 1],
  hour: ['h', 1],
  day: ['d', 1],
  week: ['d', 7],
  fortnight: ['d', 14],
  forthnight: ['d', 14],
  month: ['m', 1],
  year: ['y', 1],
});

/** A number of units; `keepsTime`: weekdays and working days do not change the time of day. */
interface Amount {
  readonly amount: number;
  readonly behavior: number;
  readonly keepsTime?: boolean;
}

/** timelib_set_relative: adds an amount of a unit. A weekday or working days after a word reset the time of day. */
function addUnit(notes: Notes, word: string, { amount, behavior, keepsTime = false }: Amount): void {
  const unit = UNITS.get(word) ?? UNITS.get(word.replace(/s$/, ''));
  if (unit) {
    notes.step[unit[0]] += amount * unit[1];
    return;
  }
  if (!keepsTime) resetTime(notes);
  if (word.startsWith('weekday')) {
    notes.special = { kind: 'weekdays', amount };
    return;
  }
  notes.step.d += (amount > 0 ? amount - 1 : amount) * 7;
  notes.weekday = { set: true, day: DAYS.indexOf(word.slice(0, 3)), behavior };
}

function markDate(notes: Notes): void {
  if (notes.hasDate) throw REFUSED;
  notes.hasDate = true;
}

function markTime(notes: Notes): void {
  if (notes.hasTime) throw REFUSED;
  notes.hasTime = true;
  Object.assign(notes, { h: 0, i: 0, s: 0, us: 0 });
}

function resetTime(notes: Notes): void {
  notes.hasTime = false;
  Object.assign(notes, { h: 0, i: 0, s: 0, us: 0 });
}

/**
 * Counts a zone and returns whether it is the first one. A second zone is ignored, a third one refused (timelib:
 * TIMELIB_HAVE_TZ).
 */
function anotherZone(notes: Notes): boolean {
  notes.zones += 1;
  if (notes.zones > 2) throw REFUSED;
  return notes.zones === 1;
}

function zoneOf(text: string): Zone {
  const zone = parsePhpZone(trimEndOf(trimStartOf(text, ' \t('), ')'));
  if (zone === null) throw REFUSED;
  return zone;
}

function clock24(reader: Reader, notes: Notes): void {
  markTime(notes);
  notes.h = reader.number();
  if (reader.next(':.')) notes.i = reader.number();
  if (reader.next(':.')) notes.s = reader.number();
  if (reader.next('.')) notes.us = reader.fraction();
}

function clock12(reader: Reader, notes: Notes, fraction = '.'): void {
  markTime(notes);
  notes.h = reader.number();
  if (reader.next(':.')) notes.i = reader.number();
  if (reader.next(':.')) notes.s = reader.number();
  if (reader.next(fraction)) notes.us = reader.fraction();
  notes.h = toHour24(notes.h!, reader.rest());
}

function toHour24(hour: number, rest: string): number {
  const letter = /[ap]/i.exec(rest)?.[0].toLowerCase();
  if (letter === 'a') return hour === 12 ? 0 : hour;
  return letter === 'p' && hour !== 12 ? hour + 12 : hour;
}

function date(notes: Notes, y: Field, m: Field, d: Field): void {
  markDate(notes);
  if (y !== null) notes.y = y;
  notes.m = m;
  notes.d = d;
}

/** Returns the number of days from 1 January to a day of an ISO week (timelib_daynr_from_weeknr). */
function daysToWeek(year: number, week: number, day: number): number {
  const first = dayOfWeek(unixFromFields(year, 1, 1) / 86400);
  return (first > 4 ? 7 - first : -first) + (week - 1) * 7 + day;
}

/** Reads a week of a year; `readDay` then reads the day of the week, from 1 for Monday. */
function isoWeek(reader: Reader, notes: Notes, readDay: () => number): void {
  const year = reader.number(4)!;
  const week = reader.number()!;
  date(notes, year, 1, 1);
  notes.step.d = daysToWeek(year, week, readDay());
}

const TOKEN_MEANINGS: Record<FormatName, (reader: Reader, notes: Notes) => void> = {
  separator: () => {},
  now: () => {},
  yesterday: (_, notes) => {
    resetTime(notes);
    notes.step.d = -1;
  },
  today: (_, notes) => resetTime(notes),
  noon: (_, notes) => {
    resetTime(notes);
    markTime(notes);
    notes.h = 12;
  },
  tomorrow: (_, notes) => {
    resetTime(notes);
    notes.step.d = 1;
  },
  timestamp: (reader, notes) => {
    const [seconds = '', fraction = '0'] = reader.rest().slice(1).split('.');
    notes.hasDate = false;
    resetTime(notes);
    Object.assign(notes, { y: 0, m: 0, d: 0 });
    if (!anotherZone(notes)) return; // after a zone PHP stops half-way, in the year 0
    if (fraction === '') throw REFUSED;
    Object.assign(notes, { y: 1970, m: 1, d: 1 });
    notes.step.s += Number(seconds);
    notes.step.us += (seconds.startsWith('-') ? -1 : 1) * Number(fraction.padEnd(6, '0'));
    notes.zone = { ...UTC, name: '+00:00', label: 'GMT+0000' };
  },
  dayOfMonth: (reader, notes) => {
    notes.monthEdge = reader.next('lL') ? 'last' : 'first';
  },
  quarterHour: (reader, notes) => {
    const back = reader.next('b'); // PHP only recognises the lower-case letter
    resetTime(notes);
    markTime(notes);
    const hour = reader.number()!;
    notes.h = toHour24(back ? hour : hour - 1, reader.rest());
    notes.i = back ? 15 : 45;
  },
  weekdayOf: (reader, notes) => {
    resetTime(notes);
    const { amount, behavior } = stepsOfWord(reader.word());
    addUnit(notes, reader.word(), { amount, behavior: amount > 0 ? 1 : behavior });
    notes.special = { kind: amount > 0 ? 'nth' : 'lastOf' };
  },
  time12: (reader, notes) => clock12(reader, notes),
  mssql: (reader, notes) => clock12(reader, notes, '.:'),
  time24: clock24,
  hourMinute: (reader, notes) => {
    if (notes.hasTime && !notes.yearAsClock) {
      notes.y = reader.number(4);
      notes.yearAsClock = true;
      return;
    }
    markTime(notes);
    notes.h = reader.number();
    notes.i = reader.number();
  },
  hourMinuteSecond: (reader, notes) => {
    markTime(notes);
    notes.h = reader.number();
    notes.i = reader.number();
    notes.s = reader.number();
  },
  american: (reader, notes) => {
    const [m, d] = [reader.number(), reader.number()];
    reader.skip(/^(?:st|nd|rd|th)/i);
    date(notes, reader.next('/') ? reader.year() : null, m, d);
  },
  isoDate: (reader, notes) => date(notes, reader.next('+-') ? reader.signed() : reader.number(4), reader.number(), reader.number()),
  isoDateShort: (reader, notes) => date(notes, twoDigits(reader.number()), reader.number(), reader.number()),
  isoDateLong: (reader, notes) => date(notes, reader.signed(), reader.number(), reader.number()),
  yearMonth: (reader, notes) => date(notes, reader.number(4), reader.number(), 1),
  yearMonthDay: (reader, notes) => date(notes, reader.year(), reader.number(), reader.number()),
  dayMonthYear: (reader, notes) => {
    const d = reader.number();
    reader.skip(/^(?:st|nd|rd|th)/i);
    const m = reader.monthName();
    date(notes, reader.year(), m, d);
  },
  pointed: (reader, notes) => {
    const [d, m] = [reader.number(), reader.number()];
    date(notes, reader.number(4), m, d);
  },
  pointedShort: (reader, notes) => {
    const [d, m] = [reader.number(), reader.number()];
    date(notes, reader.year(), m, d);
  },
  monthYear: (reader, notes) => {
    const m = reader.monthName();
    date(notes, reader.number(4), m, 1);
  },
  yearMonthName: (reader, notes) => date(notes, reader.number(4), reader.monthName(), 1),
  monthDay: (reader, notes) => {
    const [m, d] = [reader.monthName(), reader.number()];
    const y = reader.year();
    date(notes, y, m, d);
    notes.y = y; // a missing year also resets an earlier one
  },
  dayMonth: (reader, notes) => {
    const d = reader.number();
    reader.skip(/^(?:st|nd|rd|th)/i);
    date(notes, null, reader.monthName(), d);
  },
  compactDate: (reader, notes) => date(notes, reader.number(4), reader.number(), reader.number()),
  dateTime: (reader, notes) => {
    date(notes, reader.number(4), reader.number(), reader.number());
    markTime(notes);
    notes.h = reader.number();
    notes.i = reader.number();
    notes.s = reader.number();
    if (!reader.next('.')) return;
    notes.us = reader.fraction();
    if (reader.rest() !== '') notes.zone = zoneOf(reader.rest());
  },
  yearDay: (reader, notes) => date(notes, reader.number(4), 1, reader.number(3)),
  isoWeekday: (reader, notes) => isoWeek(reader, notes, () => reader.number(1)!),
  isoWeek: (reader, notes) => isoWeek(reader, notes, () => 1),
  monthDayYear: (reader, notes) => {
    const [m, d] = [reader.monthName(), reader.number()];
    date(notes, reader.year(), m, d);
  },
  yearMonthNameDay: (reader, notes) => date(notes, reader.year(), reader.monthName(), reader.number()),
  commonLog: (reader, notes) => {
    const [d, m] = [reader.number(), reader.monthName()];
    markTime(notes);
    date(notes, reader.number(4), m, d);
    notes.h = reader.number();
    notes.i = reader.number();
    notes.s = reader.number();
    notes.zone = zoneOf(reader.rest());
  },
  year: (reader, notes) => {
    notes.y = reader.number(4);
  },
  ago: (_, notes) => {
    const { step, weekday, special } = notes;
    for (const unit of ['y', 'm', 'd', 'h', 'i', 's'] as const) step[unit] = 0 - step[unit];
    weekday.day = weekday.day === 0 ? -7 : 0 - weekday.day;
    if (special?.kind === 'weekdays') special.amount = 0 - special.amount;
  },
  weekday: (reader, notes) => {
    const word = reader.word();
    resetTime(notes);
    const behavior = notes.weekday.behavior === 2 ? 2 : 1;
    notes.weekday = { set: true, day: word.startsWith('weekday') ? 1 : DAYS.indexOf(word.slice(0, 3)), behavior };
  },
  relativeWeek: (reader, notes) => {
    const { amount, behavior } = stepsOfWord(reader.word());
    addUnit(notes, 'week', { amount, behavior });
    notes.weekday = notes.weekday.set ? { ...notes.weekday, behavior: 2 } : { set: true, day: 1, behavior: 2 };
  },
  relativeText: (reader, notes) => {
    const { amount, behavior } = stepsOfWord(reader.word());
    addUnit(notes, reader.word(), { amount, behavior });
  },
  month: (reader, notes) => {
    markDate(notes);
    notes.m = reader.monthName();
  },
  zone: (reader, notes) => {
    if (anotherZone(notes)) notes.zone = zoneOf(reader.rest());
  },
  monthDayTime12: (reader, notes) => {
    date(notes, null, reader.monthName(), reader.number());
    clock12(reader, notes);
  },
  monthDayTime24: (reader, notes) => {
    date(notes, null, reader.monthName(), reader.number());
    markTime(notes);
    notes.h = reader.number();
    notes.i = reader.number();
    if (reader.next(':')) notes.s = reader.number();
    if (reader.next('.')) notes.us = reader.fraction();
    if (reader.rest() !== '') notes.zone = zoneOf(reader.rest());
  },
  relative: (reader, notes) => {
    const amount = reader.signed();
    addUnit(notes, reader.word(), { amount, behavior: 1, keepsTime: true });
  },
};

function twoDigits(year: Field): Field {
  return year === null ? null : year + (year < 70 ? 2000 : 1900);
}
