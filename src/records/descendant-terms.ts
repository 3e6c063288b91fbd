import type { Condition, ConditionBy } from '../kinds/condition.ts';
import { termKindOf } from '../kinds/index.ts';
import type { Database } from '../storage/engine/database.ts';
import { descendantsIn, loadTree } from '../storage/rows/terms.ts';

/*
 * The descendants of the terms by which a list is filtered.
 */

/** Adds the descendants of their terms to conditions that include them, also within alternatives. */
export const withDescendants = (db: Database, conditions: readonly Condition[]): Promise<Condition[]> =>
  Promise.all(conditions.map((condition) => withOwnDescendants(db, condition)));

async function withOwnDescendants(db: Database, condition: Condition): Promise<Condition> {
  if (condition.by === 'either') return { ...condition, conditions: await withDescendants(db, condition.conditions) };
  return condition.by === 'terms' ? withDescendantTerms(db, condition) : condition;
}

/**
 * Returns a condition on these terms and, if it includes them (`withDescendants`), on all their descendants. Flat
 * taxonomies have none (`WP_Tax_Query::clean_query`).
 *
 * @param requestedIds the terms, if different from those of the condition; awaited in parallel with the tree
 */
export async function withDescendantTerms(
  db: Database,
  condition: ConditionBy<'terms'>,
  requestedIds: Promise<readonly number[]> | readonly number[] = condition.ids,
): Promise<Condition> {
  const { taxonomy } = condition;
  const isExtended = condition.withDescendants && termKindOf(taxonomy)?.hierarchical !== false;
  const [roots, tree] = await Promise.all([requestedIds, isExtended ? loadTree(db, taxonomy) : undefined]);
  return tree ? { ...condition, withDescendants: false, roots, ids: descendantsIn(tree, roots) } : { ...condition, ids: roots };
}
