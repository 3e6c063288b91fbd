import type { TermCondition, TermOrder, UsesInGroups } from '../../kinds/condition.ts';
import type { TermKind } from '../../kinds/kind.ts';
import type { Term } from '../../wordpress/rows.ts';
import { tableOf } from '../../wordpress/table.ts';
import type { QueryBuilder } from '../engine/builder.ts';
import type { Database } from '../engine/database.ts';
import { placeAmong } from '../engine/expressions.ts';
import { allPosts, allTerms, dependingOn } from '../journal/dependencies.ts';
import type { NamedTerm } from '../languages/form.ts';
import { pageWithTotal } from '../rows/row-count.ts';
import { loadTree, termsOf } from '../rows/terms.ts';
import { whereInLanguage } from './in-language.ts';
import { EVENTS, type Tree, treeOfUses, usedInGroups, usedInTree } from './used-terms.ts';

export interface TermQuery extends TermCondition {
  readonly kind: Pick<TermKind, 'taxonomy' | 'hierarchical'>;
  readonly order: TermOrder;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Returns one page of terms and the total number. As in WordPress, if empty terms are hidden, an empty category with a
 * used descendant is still listed; it is counted, too, so that the pages contain all terms (decision D55). A term that
 * only stands for its translation in events is used as well. `tree`: all categories, for the URLs of those on the page;
 * empty for tags.
 */
export async function findTerms(
  database: Database,
  query: TermQuery,
): Promise<{ terms: Term[]; total: number; tree: Map<number, { parent: number; slug: string }> }> {
  const { kind, hideEmpty, post } = query;
  const uses = hideEmpty ? query.usesInGroups : undefined;
  const eventsUsed = uses ? [allPosts(EVENTS)] : [];
  const db = dependingOn(database, [allTerms(kind.taxonomy), ...(post === undefined ? [] : [post]), ...eventsUsed]);
  const tree: Tree = kind.hierarchical ? await (uses ? treeOfUses(db, kind.taxonomy, uses) : loadTree(db, kind.taxonomy)) : new Map();
  const usedIds = kind.hierarchical ? usedInTree(tree) : uses ? await usedAmongTags(db, query, uses) : [];
  const listed = () => {
    const all = narrowedTerms(db, query);
    if (!hideEmpty) return all;
    return all.where((used: QueryBuilder) => used.where('tt.count', '>', 0).orWhereIn('t.term_id', usedIds));
  };
  const page = listed();
  orderTerms(db, page, query);
  const counted = () => listed().clearSelect();
  const { rows, total } = await pageWithTotal<Term>(page.limit(query.limit).offset(query.offset), query.offset, counted);
  return { terms: rows, total, tree };
}

/** Returns the tags that match a query and are in use although they have no posts. */
async function usedAmongTags(db: Database, query: TermQuery, uses: UsesInGroups): Promise<number[]> {
  const rows: NamedTerm[] = await narrowedTerms(db, query)
    .where('tt.count', 0)
    .clearSelect()
    .select('t.term_id', 'tt.term_taxonomy_id', 'tt.taxonomy');
  return [...(await usedInGroups(db, rows, uses))];
}

function narrowedTerms(db: Database, { kind, search, include, exclude, parent, parents, slugs, post, language }: TermQuery): QueryBuilder {
  const builder: QueryBuilder = termsOf(db, kind.taxonomy);
  if (search !== undefined) {
    builder.where((any: QueryBuilder) => {
      for (const column of ['t.name', 't.slug']) {
        any.orWhereRaw(...db.dialect.search(column, search));
      }
    });
  }
  if (include) builder.whereIn('t.term_id', [...include]);
  if (exclude?.length) builder.whereNotIn('t.term_id', [...exclude]);
  if (parent !== undefined) builder.where('tt.parent', parent);
  if (parents) builder.whereIn('tt.parent', [...parents]);
  if (slugs) builder.whereIn('t.slug', [...slugs]);
  if (post !== undefined)
    builder.whereIn('tt.term_taxonomy_id', (sub: QueryBuilder) =>
      sub
        .select('r.term_taxonomy_id')
        .from({ r: db.table('term_relationships') })
        .where('r.object_id', post),
    );
  if (language) builder.where((where: QueryBuilder) => whereInLanguage(db, where, language, { is: 'term', name: kind.taxonomy }));
  return builder;
}

/** Orders that are the order of a column. */
const SORT_COLUMNS = tableOf({
  id: 't.term_id',
  count: 'tt.count',
  parent: 'tt.parent',
  term_group: 't.term_group',
});

/** Text columns, sorted by the collation. */
const TEXT_SORT_COLUMNS = tableOf({ slug: 't.slug', description: 'tt.description' });

/**
 * Sorts like `WP_Term_Query`: `include` and `include_slugs` follow the order of the given values or its reverse;
 * without values, the order is by name.
 */
function orderTerms(db: Database, builder: QueryBuilder, { order: by, descending, include, slugs }: TermQuery): void {
  const direction = descending ? 'desc' : 'asc';
  const column = SORT_COLUMNS.get(by);
  if (by === 'include' && include?.length) builder.orderByRaw(...placeAmong('t.term_id', include, direction));
  else if (by === 'include_slugs' && slugs?.length) builder.orderByRaw(...placeAmong('t.slug', slugs, direction));
  else if (column) builder.orderBy(column, direction);
  else builder.orderByRaw(...db.dialect.orderFolded(TEXT_SORT_COLUMNS.get(by) ?? 't.name', direction));
  builder.orderBy('t.term_id', direction);
}
