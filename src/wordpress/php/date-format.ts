import { memoize } from '../../memo.ts';
import { tableOf } from '../table.ts';
import { unixFromText } from '../time.ts';
import { abbreviation, isoWithOffset, unixFromLocal, type Zone } from '../zones.ts';

/** Returns the name of a month or weekday in a language, long or short. */
function names(language: string, part: 'month' | 'weekday', width: 'long' | 'short', date: Date): string {
  return formatOf(`${part} ${width} ${language}`).format(date);
}

/** Cached, since creating a format takes eighty times as long as using it. */
const formatOf = memoize((key: string) => {
  const [part = '', width, language] = key.split(' ');
  return new Intl.DateTimeFormat(language, { [part]: width, timeZone: 'UTC' });
}, 10_000);

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** A local time to be formatted, with its fields as if they were UTC. */
interface Moment {
  readonly local: string;
  readonly date: Date;
  readonly language: string;
  readonly zone: Zone;
}

const DAY_MS = 86_400_000;

const weekday = ({ date }: Moment): number => date.getUTCDay() || 7;
const dayOfYear = (date: Date): number => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS);
const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
/** Returns the Thursday of the same week, whose year is the year of the week (ISO 8601). */
const thursday = (moment: Moment): Date => new Date(moment.date.getTime() + (4 - weekday(moment)) * DAY_MS);
/** Returns the offset as `+01:00`. */
const offset = ({ local, zone }: Moment): string => isoWithOffset(local, zone).slice(19);
const offsetSeconds = ({ local, zone }: Moment): number => unixFromText(local) - unixFromLocal(local, zone);
const isSummer = (moment: Moment): boolean => {
  const seasons = ['01', '07'].map((month) => offsetSeconds({ ...moment, local: `${moment.local.slice(0, 4)}-${month}-01 12:00:00` }));
  return offsetSeconds(moment) > Math.min(...seasons);
};
/** Returns the thousandth of the day in the time zone of Biel (Swatch beat), three digits. */
const swatchBeat = ({ local, zone }: Moment): string => {
  const seconds = (((unixFromLocal(local, zone) + 3600) % 86_400) + 86_400) % 86_400;
  // In whole numbers: 86.4 has no exact binary form.
  return String(Math.floor((seconds * 10) / 864)).padStart(3, '0');
};
/** Returns whether PHP names a zone by its offset. That does not include `UTC+2` and the like. */
const isOffset = ({ zone }: Moment): boolean => zone.rules === null && zone.name !== 'UTC';

/** The function of each letter of a format (PHP `date`, WordPress `wp_date`). */
const LETTERS: ReadonlyMap<string, (moment: Moment) => string | number> = tableOf({
  d: ({ date }) => twoDigits(date.getUTCDate()),
  j: ({ date }) => date.getUTCDate(),
  D: ({ date, language }) => names(language, 'weekday', 'short', date),
  l: ({ date, language }) => names(language, 'weekday', 'long', date),
  N: weekday,
  w: ({ date }) => date.getUTCDay(),
  z: ({ date }) => dayOfYear(date),
  S: ({ date }) => ordinal(date.getUTCDate()),
  W: (moment) => twoDigits(1 + Math.floor(dayOfYear(thursday(moment)) / 7)),
  F: ({ date, language }) => names(language, 'month', 'long', date),
  M: ({ date, language }) => names(language, 'month', 'short', date),
  m: ({ date }) => twoDigits(date.getUTCMonth() + 1),
  n: ({ date }) => date.getUTCMonth() + 1,
  t: ({ date }) => daysIn(date.getUTCFullYear(), date.getUTCMonth()),
  L: ({ date }) => (daysIn(date.getUTCFullYear(), 1) === 29 ? 1 : 0),
  o: (moment) => thursday(moment).getUTCFullYear(),
  Y: ({ date }) => String(date.getUTCFullYear()).padStart(4, '0'),
  y: ({ date }) => twoDigits(date.getUTCFullYear() % 100),
  a: ({ date }) => (date.getUTCHours() < 12 ? 'am' : 'pm'),
  A: ({ date }) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  B: swatchBeat,
  g: ({ date }) => date.getUTCHours() % 12 || 12,
  h: ({ date }) => twoDigits(date.getUTCHours() % 12 || 12),
  G: ({ date }) => date.getUTCHours(),
  H: ({ date }) => twoDigits(date.getUTCHours()),
  i: ({ date }) => twoDigits(date.getUTCMinutes()),
  s: ({ date }) => twoDigits(date.getUTCSeconds()),
  u: () => '000000',
  v: () => '000',
  e: (moment) => (isOffset(moment) ? offset(moment) : moment.zone.name),
  T: (moment) => (isOffset(moment) ? `GMT${offset(moment).replace(':', '')}` : abbreviation(moment.local, moment.zone)),
  I: (moment) => (isSummer(moment) ? 1 : 0),
  P: offset,
  p: (moment) => (offset(moment) === '+00:00' ? 'Z' : offset(moment)),
  O: (moment) => offset(moment).replace(':', ''),
  Z: offsetSeconds,
  c: ({ local, zone }) => isoWithOffset(local, zone),
  r: (moment) => formatMoment({ ...moment, language: 'en' }, 'D, d M Y H:i:s O'),
  U: ({ local, zone }) => unixFromLocal(local, zone),
});

/**
 * Returns a local time in a PHP format (`F j, Y`, `g:i a T`), with the names of a language. A letter after a backslash
 * and an unknown letter are copied. An invalid date gives the empty text.
 *
 * @param local `YYYY-MM-DD HH:MM:SS`
 * @param zone the time zone of `local`
 */
export function formatDate(local: string, format: string, language: string, zone: Zone): string {
  const date = new Date(unixFromText(local) * 1000);
  return Number.isNaN(date.getTime()) ? '' : formatMoment({ local, date, language, zone }, format);
}

const formatMoment = (moment: Moment, format: string): string =>
  format.replace(/\\(.)|[a-zA-Z]/g, (letter, escaped?: string) => escaped ?? String(LETTERS.get(letter)?.(moment) ?? letter));

/** Returns the English ordinal suffix of a day's number. */
function ordinal(day: number): string {
  if (day >= 11 && day <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}
