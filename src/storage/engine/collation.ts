import { LRUCache } from 'lru-cache';
import { memoize } from '../../memo.ts';
import { trimEndOf } from '../../wordpress/trim.ts';
import { typedMark } from '../../wordpress/typographic-marks.ts';

/*
 * Text as compared by MySQL's `utf8mb4_unicode_520_ci` (WordPress's collation), for databases without that collation:
 * case, accents and ligatures are ignored. Correct for Latin, Greek, Cyrillic, Hebrew, Arabic, kana, Hangul and CJK; in
 * other scripts only case is ignored.
 */

/**
 * Returns a key that is the same for two texts exactly if the collation considers them equal. For ASCII text
 * (punctuation, digits, letters), the order of the keys by code point is the order of the collation. Trailing spaces
 * are ignored (PAD SPACE).
 */
export function foldText(text: string): string {
  const trimmed = trimEndOf(text, ' ');
  return replaceWide(trimmed.toLowerCase(), foldedCharacter).replace(PUNCTUATION, (mark) => RANKS.get(mark) ?? mark);
}

/** A memoized `foldText`: the names of terms are sorted with every list. */
export const knownFold = memoize(foldText);

/**
 * Returns the form in which texts are searched. LIKE compares character by character, so `ß` is found by `ß` and `ẞ`
 * but not by `ss`. Characters that fold to several characters are therefore left unchanged, except for marks of print
 * (decision D54).
 */
export function foldForSearch(text: string): string {
  return replaceWide(text.toLowerCase(), searchedCharacter);
}

/** ASCII punctuation in the order of the collation. All of it sorts before the digits. */
const ORDER = '`^_-,;:!?.\'"()[]{}@*/\\&#%+<=>|~$';
const FIRST_RANK = 0x10;
/**
 * Sort keys of punctuation. The 32 marks fit exactly between U+0010 and U+002F, just below the digits; the space sorts
 * below them.
 */
const RANKS = new Map<string, string>([
  [' ', '\u000f'],
  ...[...ORDER].map((mark, index): [string, string] => [mark, String.fromCharCode(FIRST_RANK + index)]),
]);
const PUNCTUATION = /[ -/:-@[-`{-~]/g;

/** Lower-case letters that have a weight of their own in the collation although Unicode decomposes them. */
const WHOLE = new Set('¨¯´¸˘˙˚˛˜˝ͺ΄΅йїќѓўѷӑӓӗӛӝӟӥӧөӫӭӱӳӵӹآأؤإئ゛゜');

/** Letters that Unicode does not decompose, or decomposes differently from the collation. */
const LETTERS = new Map(
  Object.entries({
    ß: 'ss',
    æ: 'ae',
    ǽ: 'ae',
    ǣ: 'ae',
    œ: 'oe',
    ø: 'o',
    ǿ: 'o',
    ł: 'l',
    đ: 'd',
    ð: 'd',
    ħ: 'h',
    ŀ: 'l',
    ς: 'σ',
    ϲ: 'σ',
    ґ: 'г',
    ך: 'כ',
    ם: 'מ',
    ן: 'נ',
    ף: 'פ',
    ץ: 'צ',
  }),
);

/**
 * Marks and invisible characters without weight. The marks of Indic and similar scripts count as letters and are kept.
 */
const WEIGHTLESS =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: these are ranges of single marks, not a letter with a mark
  /(?![\u0363-\u036f\u0700-\u109f\u1100-\u1aaf\u1b00-\u1dbf\u1dd3-\u1dff\u2de0-\u2dff\ua66f-\uabff])[\p{Mn}\p{Me}\p{Cf}]/gu;
const SMALL_KANA = new Map([...'ぁぃぅぇぉっゃゅょゎゕゖ'].map((small, index) => [small, [...'あいうえおつやゆよわかけ'][index] ?? small]));
const NEVER_FOLDED = /[\u3400-\u9fff\uac00-\ud7a3]/;

/** Cache limit: requests may contain any character of Unicode, so only the most recently used ones are kept. */
const MAX_CACHED_CHARACTERS = 10_000;
const folded = new LRUCache<string, string>({ max: MAX_CACHED_CHARACTERS });
const searched = new LRUCache<string, string>({ max: MAX_CACHED_CHARACTERS });

/** Changes the non-ASCII characters of a text. Most text is ASCII and returned without examining each character. */
function replaceWide(text: string, change: (character: string) => string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : text.replace(/[^\0-\x7f]/gu, change);
}

function foldedCharacter(character: string): string {
  return folding(folded, character, () => {
    if (NEVER_FOLDED.test(character) || WHOLE.has(character)) return character;
    const plain = LETTERS.get(character) ?? character.normalize('NFKD').toLowerCase().replace(WEIGHTLESS, '');
    return [...plain].map((part) => LETTERS.get(part) ?? hiragana(part)).join('');
  });
}

function searchedCharacter(character: string): string {
  return folding(searched, character, () => {
    const plain = foldedCharacter(character);
    return typedMark(character) ?? ([...plain].length > 1 ? character : plain);
  });
}

/** Maps katakana to hiragana, and small kana to full-size kana. */
function hiragana(character: string): string {
  const kana = /[\u30a1-\u30f6]/.test(character) ? String.fromCharCode(character.charCodeAt(0) - 0x60) : character;
  return SMALL_KANA.get(kana) ?? kana;
}

function folding(memory: LRUCache<string, string>, character: string, find: () => string): string {
  const cached = memory.get(character);
  if (cached !== undefined) return cached;
  const result = find();
  memory.set(character, result);
  return result;
}
