/*
 * Marks of print, which a search treats like those of the keyboard (decision D54). WordPress stores `L'acqua - storia`
 * as it is typed and shows `L’acqua – storia` (`wptexturize`), so a text copied from a page is not the stored one;
 * phones and word processors type the marks of print themselves.
 */

/** The mark on the keyboard and those of print that it stands for. */
const MARKS: readonly (readonly [typed: string, printed: string])[] = [
  ["'", '‘’‚‛′ʼ'],
  ['"', '“”„‟″«»'],
  ['-', '‐‑‒–—―−'],
  ['...', '…'],
];

const TYPED = new Map(MARKS.flatMap(([typed, printed]) => [...printed].map((mark) => [mark, typed] as const)));

/** Returns the mark on the keyboard for a mark of print; undefined for any other character. */
export const typedMark = (character: string): string | undefined => TYPED.get(character);

/** Returns a text with the marks of the keyboard. */
export const withTypedMarks = (text: string): string => text.replace(PRINTED, (mark) => TYPED.get(mark) ?? mark);

const PRINTED = new RegExp(`[${[...TYPED.keys()].join('')}]`, 'g');

/** Returns the marks of print that must be replaced in a text before it is searched for a text with keyboard marks. */
export const printedForms = (text: string): readonly (readonly [mark: string, typed: string])[] =>
  MARKS.filter(([typed]) => text.includes(typed)).flatMap(([typed, printed]) => [...printed].map((mark) => [mark, typed] as const));

/** Returns a phrase whose printed quotation marks, and the spaces of French inside them, are plain ones. */
export const withPlainQuotes = (phrase: string): string => phrase.replace(/[“”„‟]|«\s?|\s?»/g, '"');
