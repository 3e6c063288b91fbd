import { tableOf } from './table.ts';

/**
 * Accented letters and their plain spellings, as in WordPress's `remove_accents`. Letters that Unicode decomposes into
 * a plain letter and combining marks are listed by range; the others each have a spelling. Letters in neither table
 * stay unchanged.
 */
const DECOMPOSED = /[À-ÖÙ-ÝÀ-öù-ýÿĀ-ſƠơƯưǍ-ǜȘ-țẠ-ỹ]/gu;

const SPELLED: ReadonlyMap<string, string> = tableOf({
  ª: 'a', º: 'o', Æ: 'AE', æ: 'ae', Ð: 'D', ð: 'd', Ø: 'O', ø: 'o', Þ: 'TH', þ: 'th', ß: 's',
  Đ: 'D', đ: 'd', Ħ: 'H', ħ: 'h', ı: 'i', Ĳ: 'IJ', ĳ: 'ij', ĸ: 'k', Ŀ: 'L', ŀ: 'l', Ł: 'L', ł: 'l', ŉ: 'n', Ŋ: 'N', ŋ: 'n',
  Œ: 'OE', œ: 'oe', Ŧ: 'T', ŧ: 't', ſ: 's', Ə: 'E', ǝ: 'e', ɑ: 'a', '€': 'E', '£': '',
}); // biome-ignore format: a table

/** Spellings specific to a language, by locale. */
const BY_LOCALE: readonly (readonly [RegExp, Readonly<Record<string, string>>])[] = [
  [/^de/, { Ä: 'Ae', ä: 'ae', Ö: 'Oe', ö: 'oe', Ü: 'Ue', ü: 'ue', ß: 'ss' }],
  [/^da_DK$/, { Æ: 'Ae', æ: 'ae', Ø: 'Oe', ø: 'oe', Å: 'Aa', å: 'aa' }],
  [/^ca$/, { 'l·l': 'll' }],
  [/^(sr_RS|bs_BA)$/, { Đ: 'DJ', đ: 'dj' }],
]; // biome-ignore format: a table

/**
 * Returns the text with accented Latin letters spelled plainly (WordPress `remove_accents`); letters of other scripts
 * stay. Letters followed by combining marks are composed first. `locale`: a WordPress locale such as `de_DE`, for
 * languages with specific spellings.
 */
export function removeAccents(text: string, locale = 'en_US'): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  const spellings = BY_LOCALE.find(([pattern]) => pattern.test(locale))?.[1] ?? {};
  let plain = text.normalize('NFC');
  for (const [letter, spelling] of Object.entries(spellings)) plain = plain.replaceAll(letter, spelling);
  plain = plain.replace(/[^\x00-\x7f]/gu, (letter) => SPELLED.get(letter) ?? letter);
  return plain.replace(DECOMPOSED, (letter) => letter.normalize('NFD').replace(/\p{M}/gu, ''));
}
