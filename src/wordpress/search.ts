import { trimOf } from './trim.ts';

/** A term of a search phrase; `exclude`: texts that contain it do not match. */
export interface SearchTerm {
  readonly text: string;
  readonly exclude: boolean;
}

/** English stop words of a search of several words (`WP_Query::get_search_stopwords`). */
const STOPWORDS = new Set(
  'about an are as at be by com for from how in is it of on or that the this to was what when where who will with www'.split(' '),
);
const MAX_TERMS = 9;

/**
 * Returns the terms of a search phrase like `WP_Query::parse_search`: words separated by spaces, commas and plus signs,
 * `"a phrase"` as one term, `-word` excluded; stop words, single letters, single hyphens and `0` are ignored. If no
 * terms or too many remain, the whole phrase is the only term. Backslashes are removed, as if PHP had added them
 * (`stripslashes`).
 */
export function parseSearch(phrase: string): SearchTerm[] {
  const fullPhrase = phrase.replace(/\\(.?)/gs, '$1').replace(/[\r\n]/g, '');
  const terms: string[] = [];
  for (const [piece] of fullPhrase.matchAll(/"[^"]*(?:"|$)|[^\t ",+]+/g)) {
    const term = trimQuotes(piece);
    if (!/^[a-z0-]?$/i.test(term) && !STOPWORDS.has(term.toLowerCase())) terms.push(term);
    if (terms.length > MAX_TERMS) break;
  }
  const texts = terms.length === 0 || terms.length > MAX_TERMS ? [fullPhrase] : terms;
  return texts.map((text) => (text.startsWith('-') ? { text: text.slice(1), exclude: true } : { text, exclude: false }));
}

const trimQuotes = (piece: string) => trimOf(piece, /^".+"$/.test(piece) ? `"'` : `"' `);

/** Maximum number of pieces: each is a condition on each column, and databases limit the number of conditions. */
const MAX_PIECES = 50;

/**
 * Returns the pieces of a venue or organizer search: runs of letters, digits and hyphens in any script (decision D22),
 * without duplicates. Of more than fifty the longest are used, since they are the most selective.
 */
export function searchPieces(phrase: string): SearchTerm[] {
  const pieces = [...new Set(phrase.toLowerCase().split(/[^\p{L}\p{M}\p{N}-]+/u))].filter((piece) => piece !== '');
  const texts = pieces.length > MAX_PIECES ? pieces.sort((one, other) => other.length - one.length).slice(0, MAX_PIECES) : pieces;
  return texts.map((text) => ({ text, exclude: false }));
}
