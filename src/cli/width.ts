/* Width of texts on a terminal, where a Chinese character is two columns wide. */

/** Returns the number of terminal columns that a text takes. */
export const widthOf = (text: string): number => graphemesOf(text).reduce((width, letter) => width + widthOfGrapheme(letter), 0);

/** Shortens a text to a number of columns. A longer text ends in an ellipsis; graphemes are not split. */
export function truncateTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let [prefix, width] = ['', 0];
  for (const letter of graphemesOf(text)) {
    width += widthOfGrapheme(letter);
    if (width >= columns) break;
    prefix += letter;
  }
  return `${prefix}…`;
}

/** Pads a text with spaces on the right to a number of columns. */
export const padEndTo = (text: string, columns: number): string => text + spacesFor(text, columns);

/** Pads a text with spaces on the left. */
export const padStartTo = (text: string, columns: number): string => spacesFor(text, columns) + text;

const spacesFor = (text: string, columns: number): string => ' '.repeat(Math.max(0, columns - widthOf(text)));

const graphemeSegmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Splits a text into graphemes: letters with their accents, and emoji made of several characters. */
const graphemesOf = (text: string): string[] =>
  SINGLE_WIDTH_TEXT.test(text) ? [...text] : [...graphemeSegmenter.segment(text)].map(({ segment }) => segment);

/** Matches texts in which each character is a grapheme of one column, as in nearly all texts. */
const SINGLE_WIDTH_TEXT = /^[\x20-\x7e\xa0-\xac\xae-\xff]*$/;

function widthOfGrapheme(letter: string): number {
  if (SINGLE_WIDTH_TEXT.test(letter)) return letter.length;
  if (/^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]+$/u.test(letter)) return 0;
  if (/^\p{Emoji_Presentation}|^\p{Emoji}\ufe0f/u.test(letter) || WIDE_CHARACTER.test(letter)) return 2;
  // The marks of half-width kana take a column of their own.
  return 1 + (letter.match(/[\uff9e\uff9f]/g)?.length ?? 0);
}

/** Matches characters of two columns (`East_Asian_Width` W and F of Unicode). */
const WIDE_CHARACTER = new RegExp(
  '^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff' +
    '\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}]',
  'u',
);
