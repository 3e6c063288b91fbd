import type { Raw } from './input.ts';

/** A query in canonical form. */
export interface CanonicalQuery {
  /** The same for all queries that get the same answer: sorted, and without parameters that change nothing. */
  readonly text: string;
  /** Whether nothing was left out. */
  readonly whole: boolean;
}

/** The canonical form of a query to `place`. `taken`: the parameters that have an effect there. */
export function canonicalQuery(place: string, query: Raw, taken: ReadonlySet<string>): CanonicalQuery {
  const names = Object.keys(query);
  const known = names.filter((name) => taken.has(name)).sort();
  return { text: `${place}?${JSON.stringify(known.map((name) => [name, query[name]]))}`, whole: known.length === names.length };
}
