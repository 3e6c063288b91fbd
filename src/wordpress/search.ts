import { trimOf } from './trim.ts';

/** A piece of a search phrase; `exclude`: texts that hold it are left out. */
export interface SearchTerm {
  readonly text: string;
  readonly exclude: boolean;
}

/** The English words that a search of several words passes over (`WP_Query::get_search_stopwords`). */
const STOPWORDS = new Set(
  'about an are as at be by com for from how in is it of on or that the this to was what when where who will with www'.split(' '),
);
const MOST_TERMS = 9;

/**
 * The terms of a search phrase as `WP_Query::parse_search` sees them: words apart at blanks, commas and plus signs, `"a
 * phrase"` as one, `-word` excluded; stop words, single letters, single hyphens and `0` are passed over. Where nothing
 * or too much remains the phrase itself is the one term. Backslashes are taken for PHP's added ones (`stripslashes`).
 */
export function parseSearch(phrase: string): SearchTerm[] {
  const whole = phrase.replace(/\\(.?)/gs, '$1').replace(/[\r\n]/g, '');
  const terms: string[] = [];
  for (const [piece] of whole.matchAll(/"[^"]*(?:"|$)|[^\t ",+]+/g)) {
    const term = trimQuotes(piece);
    if (!/^[a-z0-]?$/i.test(term) && !STOPWORDS.has(term.toLowerCase())) terms.push(term);
    if (terms.length > MOST_TERMS) break;
  }
  const kept = terms.length === 0 || terms.length > MOST_TERMS ? [whole] : terms;
  return kept.map((text) => (text.startsWith('-') ? { text: text.slice(1), exclude: true } : { text, exclude: false }));
}

const trimQuotes = (piece: string) => trimOf(piece, /^".+"$/.test(piece) ? `"'` : `"' `);

/** Each piece is a condition on each column, and databases take a limited number of these. */
const MOST_PIECES = 50;

/**
 * The pieces of a venue or organizer search: runs of letters, digits and hyphens of any script (decision D22), each
 * once; of more than fifty the longest, which narrow most.
 */
export function searchPieces(phrase: string): SearchTerm[] {
  const pieces = [...new Set(phrase.toLowerCase().split(/[^\p{L}\p{M}\p{N}-]+/u))].filter((piece) => piece !== '');
  const kept = pieces.length > MOST_PIECES ? pieces.sort((one, other) => other.length - one.length).slice(0, MOST_PIECES) : pieces;
  return kept.map((text) => ({ text, exclude: false }));
}
