import { memoizeByObject } from '../../memo.ts';

/*
 * Names of months and weekdays, in full or abbreviated to at least three letters: `April`, `apr`, `sett.`, `sabato`;
 * weekdays also to two letters, as in German: `Sa`.
 */

/** Languages whose names are understood, all at the same time: no abbreviation means different months in them. */
const LANGUAGES = ['en', 'it', 'de', 'de-AT'];

/** Months or weekdays: a sample day for each of them, the format that shows its name, and the shortest abbreviation. */
interface Unit {
  readonly format: Intl.DateTimeFormatOptions;
  readonly days: readonly Date[];
  readonly minLetters: number;
}

const MONTH: Unit = {
  format: { month: 'long' },
  days: Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2023, month, 1))),
  minLetters: 3,
};
/** 2023 begins with a Sunday. */
const WEEKDAY: Unit = {
  format: { weekday: 'long' },
  days: Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2023, 0, 1 + day))),
  minLetters: 2,
};

/** Returns the number of a month, from 1, or undefined if the word is no month. */
export const monthOf = (word: string): number | undefined => numberIn(MONTH, word);

/** Returns the number of a weekday, from 1 for Sunday, or undefined if the word is no weekday. */
export const weekdayOf = (word: string): number | undefined => numberIn(WEEKDAY, word);

function numberIn(unit: Unit, word: string): number | undefined {
  const prefix = fold(word);
  if (prefix.length < unit.minLetters) return undefined;
  for (const names of namesOf(unit)) {
    const place = names.findIndex((name) => name.startsWith(prefix));
    if (place >= 0) return place + 1;
  }
  return undefined;
}

/**
 * Returns the names in each language (CLDR data of the platform). They are made when they are first needed, since that
 * takes a noticeable part of the time in which a command starts.
 */
const namesOf = memoizeByObject(({ format, days }: Unit): string[][] =>
  LANGUAGES.map((language) => days.map((day) => fold(new Intl.DateTimeFormat(language, { ...format, timeZone: 'UTC' }).format(day)))),
);

const fold = (word: string): string => word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
