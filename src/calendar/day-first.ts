/*
 * Dates as people write them where the day comes first. The API's own grammar is PHP's, for which 31/12/2026 is no date
 * and 05/06/2026 is the sixth of May.
 */

const SLASHED = /^\s*(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)(.*)$/s;
const MONTHS = 12;

/**
 * `31/12/2026 21:00` as `2026-12-31 21:00`, where nothing else can be meant: the first number cannot be a month, and
 * people who speak this language write the day first. Other texts are given back as they are.
 *
 * @param language a BCP 47 tag, or a locale as WordPress names it (`it_IT`)
 */
export function dayFirst(text: string, language: string): string {
  const [, day = '', month = '', year = '', rest = ''] = SLASHED.exec(text) ?? [];
  if (year === '' || Number(day) <= MONTHS || Number(month) < 1 || Number(month) > MONTHS || !writesDayFirst(language)) return text;
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${rest}`;
}

function writesDayFirst(language: string): boolean {
  const parts = new Intl.DateTimeFormat(wellFormed(language), { dateStyle: 'short' }).formatToParts(0);
  return parts.find(({ type }) => type !== 'literal')?.type === 'day';
}

/** WordPress has names such as `de_DE_formal`, which are no tags; their beginning is one. */
function wellFormed(language: string): string {
  return /^[a-z]{2,3}(?:_[A-Z]{2})?/.exec(language.replace('-', '_'))?.[0].replace('_', '-') ?? 'en-US';
}
