import type { UsesInGroups } from '../../kinds/condition.ts';
import { postKind } from '../../kinds/index.ts';
import type { Term } from '../../wordpress/rows.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { readInParts } from '../engine/pages.ts';
import type { NamedTerm } from '../languages/form.ts';
import { formOf } from '../languages/forms.ts';
import { termsOf } from '../rows/terms.ts';
import { whereInLanguage } from './in-language.ts';

/*
 * Terms that are in use, for lists without empty ones. A term without posts of its own is used if an event has a
 * translation of it, in whose place the event shows the term.
 */

export const EVENTS = postKind('event').postType;

/**
 * Returns those of these terms of which a published event has a translation. The groups are read first, since MariaDB
 * would read all events anew for each term.
 */
export async function usedInGroups(db: Database, terms: readonly NamedTerm[], uses: UsesInGroups): Promise<ReadonlySet<number>> {
  const { languages } = uses;
  const groups = await readInParts(terms, async (page) => [
    ...(await formOf(languages).memberships(db, languages, { posts: [], terms: page })).terms,
  ]);
  const memberIds = groups.flatMap(([id, { members }]) => [...members.values()].filter((member) => member !== id));
  const taxonomy = terms[0]?.taxonomy ?? '';
  const usedIds = new Set(await readInParts(memberIds, (page) => termsOfEvents(db, taxonomy, page, uses)));
  return new Set(groups.flatMap(([id, { members }]) => ([...members.values()].some((member) => usedIds.has(member)) ? [id] : [])));
}

/** Reads which of these terms published events have. */
const termsOfEvents = (db: Database, taxonomy: string, ids: readonly number[], uses: UsesInGroups): PromiseLike<number[]> =>
  db
    .from('term_taxonomy', 'member')
    .where('member.taxonomy', taxonomy)
    .whereIn('member.term_id', [...ids])
    .whereExists((sub: QueryBuilder) => eventsOfTerm(db, sub, uses))
    .pluck('member.term_id');

/** Selects the published events of a term (`member`, a row of `term_taxonomy`). */
function eventsOfTerm(db: Database, sub: QueryBuilder, { listedIn }: UsesInGroups): void {
  sub
    .select(db.raw('1'))
    .from({ r: db.table('term_relationships') })
    .joinRaw(`${db.dialect.joinInOrder} ?? ev ON ev.ID = r.object_id`, [db.table('posts')])
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
  const rows: (Pick<Term, 'term_id' | 'term_taxonomy_id' | 'slug' | 'parent' | 'count'> & { taxonomy: string })[] = await termsOf(
    db,
    taxonomy,
  )
    .clearSelect()
    .select('t.term_id', 'tt.term_taxonomy_id', 'tt.taxonomy', 't.slug', 'tt.parent', 'tt.count');
  const emptyTerms = rows.filter(({ count }) => count === 0);
  const usedIds = await usedInGroups(db, emptyTerms, uses);
  return new Map(rows.map(({ term_id: id, parent, slug, count }) => [id, { parent, slug, count, isUsed: count > 0 || usedIds.has(id) }]));
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
