import { keyText } from '../memo.ts';
import type { RawParams } from './input.ts';

/** A query in canonical form. */
export interface CanonicalQuery {
  /** The same text for all queries that get the same answer: sorted, without parameters that have no effect. */
  readonly text: string;
  /** Whether no parameter was dropped or rewritten. */
  readonly isComplete: boolean;
}

/**
 * Returns the canonical form of a query to `address`. `effectiveNames`: the parameters that have an effect there.
 * `equivalents`: equivalent values to use instead of the ones sent, for parameters where many values have the same
 * effect, such as numbers above the maximum.
 */
export function canonicalQuery(
  address: string,
  query: RawParams,
  effectiveNames: ReadonlySet<string>,
  equivalents: RawParams = {},
): CanonicalQuery {
  const names = Object.keys(query);
  const knownNames = names.filter((name) => effectiveNames.has(name)).sort();
  const pairs = knownNames.map((name) => [name, equivalents[name] ?? query[name]] as const);
  return {
    text: `${address}?${keyText(pairs)}`,
    isComplete: knownNames.length === names.length && pairs.every(([name, value]) => value === query[name]),
  };
}
