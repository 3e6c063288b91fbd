import { trimOf } from './trim.ts';
import { withPlainQuotes, withTypedMarks } from './typographic-marks.ts';

/** A term of a search phrase; `exclude`: texts that contain it do not match. */
export interface SearchTerm {
  readonly text: string;
  /** The text without its backslashes, if it has any. Texts that contain this form match, too. */
  readonly unslashed?: string;
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
 * terms or too many remain, the whole phrase is the only term. WordPress removes backslashes, as if PHP had added them
 * (`stripslashes`), and so does the plugin when it stores a text. We keep them in texts (decision D41), and the editor
 * of WordPress does, too; so a term matches in either form. Quotation marks and hyphens of print are read like those of
 * the keyboard (decision D54).
 */
export function parseSearch(phrase: string): SearchTerm[] {
  const fullPhrase = withPlainQuotes(phrase.replace(/[\r\n]/g, ''));
  const terms: string[] = [];
  for (const [piece] of fullPhrase.matchAll(/"[^"]*(?:"|$)|[^\t ",+]+/g)) {
    const term = trimQuotes(piece);
    if (!isIgnored(withoutSlashes(term))) terms.push(term);
    if (terms.length > MAX_TERMS) break;
  }
  const texts = terms.length === 0 || terms.length > MAX_TERMS ? [fullPhrase] : terms;
  return texts.map((text) => (EXCLUDING_HYPHEN.test(text) ? termOf(text.slice(1), { exclude: true }) : termOf(text, { exclude: false })));
}

/**
 * A hyphen or a minus sign, of the keyboard or of print. The dashes of print do not exclude a word: before one, they
 * begin an insertion (`Roma –di notte–`), and whoever copies such a title looks for it.
 */
const EXCLUDING_HYPHEN = /^[-‐‑−]/;

/** Returns the forms of a term. A text matches if it contains one of them. */
export const formsOf = ({ text, unslashed }: SearchTerm): readonly string[] => (unslashed === undefined ? [text] : [text, unslashed]);

function termOf(text: string, { exclude }: Pick<SearchTerm, 'exclude'>): SearchTerm {
  const unslashed = withoutSlashes(text);
  // Every text contains the empty one.
  return unslashed === text || unslashed === '' ? { text, exclude } : { text, unslashed, exclude };
}

/** Removes backslashes like PHP's `stripslashes`; of two, one stays. */
const withoutSlashes = (text: string): string => text.replace(/\\(.?)/gs, '$1');

const isIgnored = (term: string): boolean => /^[a-z0-]?$/i.test(withTypedMarks(term)) || STOPWORDS.has(term.toLowerCase());

const trimQuotes = (piece: string) => trimOf(piece, /^".+"$/.test(piece) ? `"'‘’` : `"'‘’ `);

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
