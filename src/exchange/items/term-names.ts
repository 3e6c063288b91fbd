import { groupedBy } from '../../grouped-by.ts';

/*
 * Names of terms in items. Terms of several languages may share a slug: WPML allows it, and Polylang if it is set so.
 */

/** Returns the name of a term: its slug, which has no space, with a number if earlier terms have the same slug. */
export const termName = (slug: string, namesake: number): string => (namesake === 0 ? slug : `${slug} ${namesake + 1}`);

/** Returns the slug of the term that has this name. */
export const slugIn = (name: string): string => name.split(' ', 1)[0] ?? '';

/** Returns for each term of a taxonomy the number of terms with its slug that come before it, by id. */
export function namesakesOf(terms: Iterable<{ readonly id: number; readonly slug: string }>): Map<number, number> {
  const groups = groupedBy(terms, ({ slug }) => slug);
  return new Map([...groups.values()].flatMap((group) => group.map(({ id }, index): [number, number] => [id, index])));
}
