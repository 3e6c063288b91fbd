import { formsOf, type SearchTerm } from '../../wordpress/search.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { either, every } from '../engine/expressions.ts';

/** A search phrase, and its terms (`parseSearch`). */
interface Sought {
  readonly phrase: string;
  readonly terms: readonly SearchTerm[];
}

/** With more words than this, only the whole phrase affects the order. */
const MAX_RANKED_WORDS = 6;

/**
 * Returns the sort expression that puts the best matches of a search among posts (as `p`) first: those with the phrase
 * or its words in the title, then those with the phrase in other texts (`WP_Query::parse_search_order`). Undefined if
 * all posts rank alike. `open`: whether the texts that a password hides may affect the order (decision D13).
 */
export function relevanceOf(db: Database, { phrase, terms }: Sought, open: Sql): Sql | undefined {
  const titleConditions = terms.filter(({ exclude }) => !exclude).map((term) => contains(db, 'p.post_title', term));
  if (titleConditions.length === 0) return undefined;
  if (terms.length === 1) return ranks(titleConditions);
  const ranksPhrase = !terms.some(({ exclude }) => exclude);
  const phraseIn = (column: string) => every([either([open]), db.dialect.search(column, phrase)]);
  return ranks([
    ...(ranksPhrase ? [db.dialect.search('p.post_title', phrase)] : []),
    ...(terms.length <= MAX_RANKED_WORDS ? [every(titleConditions), either(titleConditions)] : []),
    ...(ranksPhrase ? [phraseIn('p.post_excerpt'), phraseIn('p.post_content')] : []),
  ]);
}

/** Condition: a column contains one of the forms of a term. */
export const contains = (db: Database, column: string, term: SearchTerm): Sql =>
  either(formsOf(term).map((text) => db.dialect.search(column, text)));

/** The position of the first of these conditions that is true; undefined without conditions. */
function ranks(conditions: readonly Sql[]): Sql | undefined {
  if (conditions.length === 0) return undefined;
  const cases = conditions.map(([sql], index) => `WHEN ${sql} THEN ${index}`).join(' ');
  return [`CASE ${cases} ELSE ${conditions.length} END`, conditions.flatMap(([, bindings]) => bindings)];
}
