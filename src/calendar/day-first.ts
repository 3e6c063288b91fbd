/*
 * Dates in the usual form of languages that write the day first. The API's own grammar is PHP's, in which 31/12/2026 is
 * not a date and 05/06/2026 is 6 May.
 */

const SLASHED = /^\s*(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)(.*)$/s;
const MONTHS = 12;

/**
 * Converts `31/12/2026 21:00` to `2026-12-31 21:00` if it is unambiguous: the first number cannot be a month, and the
 * language writes the day first. Other texts are returned unchanged.
 *
 * @param language a BCP 47 tag, or a WordPress locale (`it_IT`)
 */
export function convertDayFirst(text: string, language: string): string {
  const [, day = '', month = '', year = '', rest = ''] = SLASHED.exec(text) ?? [];
  if (year === '' || Number(day) <= MONTHS || Number(month) < 1 || Number(month) > MONTHS || !writesDayFirst(language)) return text;
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${rest}`;
}

/**
 * Converts `31/12/2026` and `31.12.2026` to `2026-12-31`: browsers without a date input send the text as typed, and all
 * forms of the site are day-first. Other texts, such as `12/31/2026`, are returned without spaces around them.
 */
export function toIsoDate(text: string): string {
  const [, day = '', month = '', year = ''] = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/.exec(text.trim()) ?? [];
  return year === '' || Number(month) > MONTHS ? text.trim() : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

function writesDayFirst(language: string): boolean {
  const parts = new Intl.DateTimeFormat(wellFormed(language), { dateStyle: 'short' }).formatToParts(0);
  return parts.find(({ type }) => type !== 'literal')?.type === 'day';
}

/** Returns the valid language tag at the start of a WordPress locale such as `de_DE_formal`, which is not a tag. */
function wellFormed(language: string): string {
  return /^[a-z]{2,3}(?:_[A-Z]{2})?/.exec(language.replace('-', '_'))?.[0].replace('_', '-') ?? 'en-US';
}
