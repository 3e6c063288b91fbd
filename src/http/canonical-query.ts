import type { Raw } from './input.ts';

/** A query in canonical form. */
export interface CanonicalQuery {
  /** The same for all queries that get the same answer: sorted, and without parameters that change nothing. */
  readonly text: string;
  /** Whether nothing was left out or put in other words. */
  readonly whole: boolean;
}

/**
 * The canonical form of a query to `place`. `taken`: the parameters that have an effect there; `meant`: values with the
 * same effect as those that were sent, where many have the same, as numbers beyond the greatest.
 */
export function canonicalQuery(place: string, query: Raw, taken: ReadonlySet<string>, meant: Raw = {}): CanonicalQuery {
  const names = Object.keys(query);
  const known = names.filter((name) => taken.has(name)).sort();
  const pairs = known.map((name) => [name, meant[name] ?? query[name]] as const);
  return {
    text: `${place}?${JSON.stringify(pairs)}`,
    whole: known.length === names.length && pairs.every(([name, value]) => value === query[name]),
  };
}
