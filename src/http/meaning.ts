import type { Raw } from './input.ts';

/** What a query asks for, as one text. */
export interface Meaning {
  /**
   * The same for all queries that get the same answer: whatever the order of their parameters, and without those that
   * nobody heeds.
   */
  readonly text: string;
  /** Whether everything in the query is heeded. */
  readonly whole: boolean;
}

/** The meaning of a query at a place where these names are heeded; what else is in it changes nothing in the answer. */
export function meaningOf(place: string, query: Raw, heeded: ReadonlySet<string>): Meaning {
  const names = Object.keys(query);
  const known = names.filter((name) => heeded.has(name)).sort();
  return { text: `${place}?${JSON.stringify(known.map((name) => [name, query[name]]))}`, whole: known.length === names.length };
}
