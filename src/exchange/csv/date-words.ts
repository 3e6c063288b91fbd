/*
 * Names of months and weekdays, in full or abbreviated to at least three letters: `April`, `apr`, `sett.`, `sabato`;
 * weekdays also to two letters, as in German: `Sa`.
 */

/** Languages whose names are understood, all at the same time: no abbreviation means different months in them. */
const LANGUAGES = ['en', 'it', 'de', 'de-AT'];
const MIN_LETTERS = { month: 3, weekday: 2 };

/** Returns the number of a month, from 1, or undefined if the word is no month. */
export const monthOf = (word: string): number | undefined => numberIn(MONTHS, word, MIN_LETTERS.month);

/** Returns the number of a weekday, from 1 for Sunday, or undefined if the word is no weekday. */
export const weekdayOf = (word: string): number | undefined => numberIn(WEEKDAYS, word, MIN_LETTERS.weekday);

/**
 * Returns the names of months or weekdays in each language (CLDR data of the platform), for sample days. 2023 begins
 * with a Sunday.
 */
const namesOf = (options: Intl.DateTimeFormatOptions, days: readonly Date[]): string[][] =>
  LANGUAGES.map((language) => days.map((day) => fold(new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' }).format(day))));

const fold = (word: string): string => word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

const MONTHS = namesOf(
  { month: 'long' },
  Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2023, month, 1))),
);
const WEEKDAYS = namesOf(
  { weekday: 'long' },
  Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2023, 0, 1 + day))),
);

function numberIn(languages: readonly (readonly string[])[], word: string, minLength: number): number | undefined {
  const prefix = fold(word);
  if (prefix.length < minLength) return undefined;
  for (const names of languages) {
    const place = names.findIndex((name) => name.startsWith(prefix));
    if (place >= 0) return place + 1;
  }
  return undefined;
}
