import { LRUCache } from 'lru-cache';
import { memoize } from '../../memo.ts';
import { trimEndOf } from '../../wordpress/trim.ts';

/*
 * Text as MySQL's `utf8mb4_unicode_520_ci` (WordPress's collation) sees it, for databases without such a collation:
 * neither case nor accents nor ligatures count. Right for Latin, Greek, Cyrillic, Hebrew, Arabic, kana, Hangul and CJK;
 * other scripts lose case only.
 */

/**
 * A key under which two texts are the same exactly if the collation calls them equal, and whose order by code point is
 * the collation's order for ASCII text (punctuation, digits, letters). Trailing spaces do not count (PAD SPACE).
 */
export function foldText(text: string): string {
  const trimmed = trimEndOf(text, ' ');
  return replaceWide(trimmed.toLowerCase(), foldedCharacter).replace(PUNCTUATION, (mark) => RANKS.get(mark) ?? mark);
}

/** The same, remembered: the names of terms are sorted again with every list. */
export const knownFold = memoize(foldText);

/**
 * The form in which texts are searched. LIKE compares character by character, so that `ß` is found by `ß` and `ẞ` but
 * not by `ss`: what folds to several characters stays as it is.
 */
export function foldForSearch(text: string): string {
  return replaceWide(text.toLowerCase(), searchedCharacter);
}

/** The order of ASCII's punctuation in the collation, all of it before the digits. */
const ORDER = '`^_-,;:!?.\'"()[]{}@*/\\&#%+<=>|~$';
const FIRST_RANK = 0x10;
/** 32 marks fit exactly between U+0010 and U+002F, just below the digits; the space goes below them. */
const RANKS = new Map<string, string>([
  [' ', '\u000f'],
  ...[...ORDER].map((mark, place): [string, string] => [mark, String.fromCharCode(FIRST_RANK + place)]),
]);
const PUNCTUATION = /[ -/:-@[-`{-~]/g;

/** Lower-case letters with a weight of their own though Unicode takes them apart. */
const WHOLE = new Set('¨¯´¸˘˙˚˛˜˝ͺ΄΅йїќѓўѷӑӓӗӛӝӟӥӧөӫӭӱӳӵӹآأؤإئ゛゜');

/** Letters that Unicode does not take apart, or takes apart otherwise than the collation. */
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

/** Marks and invisible characters without weight; the marks of Indic and similar scripts are letters and stay. */
const WEIGHTLESS =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: these are ranges of single marks, not a letter with a mark
  /(?![\u0363-\u036f\u0700-\u109f\u1100-\u1aaf\u1b00-\u1dbf\u1dd3-\u1dff\u2de0-\u2dff\ua66f-\uabff])[\p{Mn}\p{Me}\p{Cf}]/gu;
const SMALL_KANA = new Map([...'ぁぃぅぇぉっゃゅょゎゕゖ'].map((small, place) => [small, [...'あいうえおつやゆよわかけ'][place] ?? small]));
const NEVER_FOLDED = /[\u3400-\u9fff\uac00-\ud7a3]/;

/** People ask for any character of Unicode: only those asked for last are kept. */
const MOST_CHARACTERS = 10_000;
const folded = new LRUCache<string, string>({ max: MOST_CHARACTERS });
const searched = new LRUCache<string, string>({ max: MOST_CHARACTERS });

/** Most text is ASCII: only the other characters are looked at one by one. */
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
    return [...plain].length > 1 ? character : plain;
  });
}

/** Katakana is the same as hiragana, a small kana the same as the full one. */
function hiragana(character: string): string {
  const kana = /[\u30a1-\u30f6]/.test(character) ? String.fromCharCode(character.charCodeAt(0) - 0x60) : character;
  return SMALL_KANA.get(kana) ?? kana;
}

function folding(memory: LRUCache<string, string>, character: string, find: () => string): string {
  const known = memory.get(character);
  if (known !== undefined) return known;
  const found = find();
  memory.set(character, found);
  return found;
}
