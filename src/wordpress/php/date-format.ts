import { memoize } from '../../memo.ts';
import { tableOf } from '../table.ts';
import { unixFromText } from '../time.ts';

/** Names of months and days as a language writes them, long and short. */
function names(language: string, part: 'month' | 'weekday', width: 'long' | 'short', date: Date): string {
  return formatOf(`${part} ${width} ${language}`).format(date);
}

/** To make a format takes eighty times as long as to use it. */
const formatOf = memoize((key: string) => {
  const [part = '', width, language] = key.split(' ');
  return new Intl.DateTimeFormat(language, { [part]: width, timeZone: 'UTC' });
}, 10_000);

const two = (value: number) => String(value).padStart(2, '0');

/** What each letter of a format stands for (PHP `date`, WordPress `wp_date`), of a wall clock. */
const LETTERS: ReadonlyMap<string, (date: Date, language: string) => string | number> = tableOf({
  d: (date) => two(date.getUTCDate()),
  j: (date) => date.getUTCDate(),
  D: (date, language) => names(language, 'weekday', 'short', date),
  l: (date, language) => names(language, 'weekday', 'long', date),
  N: (date) => date.getUTCDay() || 7,
  w: (date) => date.getUTCDay(),
  S: (date) => ordinal(date.getUTCDate()),
  F: (date, language) => names(language, 'month', 'long', date),
  M: (date, language) => names(language, 'month', 'short', date),
  m: (date) => two(date.getUTCMonth() + 1),
  n: (date) => date.getUTCMonth() + 1,
  t: (date) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(),
  Y: (date) => String(date.getUTCFullYear()).padStart(4, '0'),
  y: (date) => two(date.getUTCFullYear() % 100),
  a: (date) => (date.getUTCHours() < 12 ? 'am' : 'pm'),
  A: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  g: (date) => date.getUTCHours() % 12 || 12,
  h: (date) => two(date.getUTCHours() % 12 || 12),
  G: (date) => date.getUTCHours(),
  H: (date) => two(date.getUTCHours()),
  i: (date) => two(date.getUTCMinutes()),
  s: (date) => two(date.getUTCSeconds()),
});

/**
 * A wall clock in a format of PHP's (`F j, Y`, `g:i a`), with the names of a language. A letter after a backslash
 * stands for itself, and so does one that is none of the format's. What is no date comes out empty.
 *
 * @param local `YYYY-MM-DD HH:MM:SS`
 */
export function formatDate(local: string, format: string, language: string): string {
  const date = new Date(unixFromText(local) * 1000);
  if (Number.isNaN(date.getTime())) return '';
  return format.replace(
    /\\(.)|[a-zA-Z]/g,
    (letter, escaped?: string) => escaped ?? String(LETTERS.get(letter)?.(date, language) ?? letter),
  );
}

/** The English ending of a day's number. */
function ordinal(day: number): string {
  if (day >= 11 && day <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}
