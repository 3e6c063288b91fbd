import type { UsesInGroups } from '../../kinds/condition.ts';
import { postKind } from '../../kinds/index.ts';
import type { Term } from '../../wordpress/rows.ts';
import { conditionOf, type QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { formOf } from '../languages/forms.ts';
import { termsOf } from '../rows/terms.ts';
import { whereInLanguage } from './in-language.ts';

/*
 * Terms that are in use, for lists without empty ones. A term without posts of its own is used if an event has a
 * translation of it, in whose place the event shows the term.
 */

export const EVENTS = postKind('event').postType;

/** Condition: a published event has a translation of the term. */
export function whereUsedInGroup(db: Database, where: QueryBuilder, taxonomy: string, uses: UsesInGroups): void {
  const { languages } = uses;
  const isShown = (member: QueryBuilder) => void member.whereExists((sub: QueryBuilder) => eventsOfTerm(db, sub, uses));
  where.where((any: QueryBuilder) => {
    for (const { code } of languages.languages)
      any.orWhere((part: QueryBuilder) =>
        formOf(languages).whereInGroup(db, part, languages, { is: 'term', name: taxonomy }, { code, isShown }),
      );
  });
}

/** Selects the published events of a term (`member`, a row of `term_taxonomy`). */
function eventsOfTerm(db: Database, sub: QueryBuilder, { listedIn }: UsesInGroups): void {
  sub
    .select(db.raw('1'))
    .from({ r: db.table('term_relationships') })
    .join({ ev: db.table('posts') }, 'ev.ID', 'r.object_id')
    .where('r.term_taxonomy_id', db.ref('member.term_taxonomy_id'))
    .where('ev.post_type', EVENTS)
    .where('ev.post_status', 'publish');
  if (!listedIn) return;
  const isShown = (translation: QueryBuilder) => void translation.where('member.post_status', 'publish');
  sub.where((part: QueryBuilder) => whereInLanguage(db, part, listedIn, { is: 'post', name: EVENTS, alias: 'ev' }, isShown));
}

/** All categories. `isUsed`: whether a category is in use by itself; absent: if it has posts. */
export type Tree = Map<number, { readonly parent: number; readonly slug: string; readonly count: number; readonly isUsed?: boolean }>;

/** Reads all categories, like `loadTree`, and whether each is in use by itself. */
export async function treeOfUses(db: Database, taxonomy: string, uses: UsesInGroups): Promise<Tree> {
  const condition = db.query();
  whereUsedInGroup(db, condition, taxonomy, uses);
  const [sql, bindings] = conditionOf(condition);
  const rows: (Pick<Term, 'term_id' | 'slug' | 'parent' | 'count'> & { used: number })[] = await termsOf(db, taxonomy)
    .clearSelect()
    .select('t.term_id', 't.slug', 'tt.parent', 'tt.count')
    .select({ used: db.raw(`CASE WHEN tt.count > 0 OR ${sql} THEN 1 ELSE 0 END`, bindings) });
  return new Map(rows.map(({ term_id: id, used, ...row }) => [id, { ...row, isUsed: used === 1 }]));
}

/** Returns the categories that are in use although they have no posts, and the ancestors of all that are in use. */
export function usedInTree(tree: Tree): number[] {
  const usedIds = new Set<number>();
  for (const [used, { count, isUsed = count > 0, parent }] of tree) {
    if (!isUsed) continue;
    if (count === 0) usedIds.add(used);
    for (let id = parent; id > 0 && !usedIds.has(id); id = tree.get(id)?.parent ?? 0) usedIds.add(id);
  }
  return [...usedIds];
}
