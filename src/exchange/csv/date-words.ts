/*
 * Names of months and days of the week, whole or cut short to three letters or more: `April`, `apr`, `sett.`, `sabato`;
 * of days also to two, as in German: `Sa`.
 */

/** The languages whose names are understood, all at once: no short name means different months in them. */
const LANGUAGES = ['en', 'it', 'de', 'de-AT'];
const FEWEST_LETTERS = { month: 3, weekday: 2 };

/** The number of a month, from 1; undefined of another word. */
export const monthOf = (word: string): number | undefined => numberIn(MONTHS, word, FEWEST_LETTERS.month);

/** The number of a day of the week, from 1 for Sunday; undefined of another word. */
export const weekdayOf = (word: string): number | undefined => numberIn(WEEKDAYS, word, FEWEST_LETTERS.weekday);

/** Names as the platform knows them (CLDR), of days that are months or days apart. 2023 begins with a Sunday. */
const namesOf = (options: Intl.DateTimeFormatOptions, days: readonly Date[]): string[][] =>
  LANGUAGES.map((language) => days.map((day) => folded(new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' }).format(day))));

const folded = (word: string): string => word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

const MONTHS = namesOf(
  { month: 'long' },
  Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2023, month, 1))),
);
const WEEKDAYS = namesOf(
  { weekday: 'long' },
  Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2023, 0, 1 + day))),
);

function numberIn(languages: readonly (readonly string[])[], word: string, fewest: number): number | undefined {
  const begin = folded(word);
  if (begin.length < fewest) return undefined;
  for (const names of languages) {
    const place = names.findIndex((name) => name.startsWith(begin));
    if (place >= 0) return place + 1;
  }
  return undefined;
}
