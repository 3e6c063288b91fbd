import { taxonomies } from '../../kinds/index.ts';
import type { StoredValue } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { reportPostChanged, reportPostCreated, reportTaxonomyRows, reportTerm } from '../journal/reported-changes.ts';
import { DEFAULT_COLUMNS, removeCommentsOf } from './posts.ts';
import { increaseCounts } from './term-links.ts';
import { removeTermMetas } from './term-metas.ts';

/* Inserts many rows with few statements, for imports. The rows must be new: none of them may exist yet. */

/** Inserts posts with the ids given in them. */
export async function insertPosts(db: Database, posts: readonly Partial<Post>[]): Promise<void> {
  await insertRows(
    db,
    'posts',
    posts.map((columns) => ({ ...DEFAULT_COLUMNS, ...columns })),
  );
  for (const { ID, ...columns } of posts) if (ID !== undefined) reportPostCreated(db, ID, columns);
}

/** Inserts metas of posts. */
export async function insertMetaRows(
  db: Database,
  metas: readonly { post_id: number; meta_key: string; meta_value: StoredValue }[],
): Promise<void> {
  await insertRows(db, 'postmeta', metas);
  for (const { post_id: id } of metas) reportPostChanged(db, id);
}

/** Links posts to rows of `term_taxonomy`. */
export async function insertLinkRows(db: Database, links: readonly { object_id: number; term_taxonomy_id: number }[]): Promise<void> {
  await insertRows(
    db,
    'term_relationships',
    links.map((link) => ({ ...link, term_order: 0 })),
  );
  for (const { object_id: id } of links) reportPostChanged(db, id);
}

/** Inserts a term, with these ids if they are given. Returns its `term_id` and `term_taxonomy_id`. */
export async function insertTermAs(
  db: Database,
  taxonomy: string,
  term: { id: number | undefined; taxonomyId: number | undefined; name: string; slug: string; description: string; parent: number },
): Promise<{ id: number; taxonomyId: number }> {
  const { id, taxonomyId, name, slug, description, parent } = term;
  const termRow = { name, slug, term_group: 0 };
  const term_id = (await insertRows(db, 'terms', [id === undefined ? termRow : { ...termRow, term_id: id }])) || id!;
  const taxonomyRow = { term_id, taxonomy, description, parent, count: 0 };
  const insertedId = await insertRows(db, 'term_taxonomy', [
    taxonomyId === undefined ? taxonomyRow : { ...taxonomyRow, term_taxonomy_id: taxonomyId },
  ]);
  const ids = { id: term_id, taxonomyId: insertedId || taxonomyId! };
  await removeLeftoversOfTerm(db, ids);
  reportTerm(db, { term_id, taxonomy }, 'made');
  return ids;
}

/** Deletes the remaining rows of a deleted term, so that a new term with its ids inherits neither metas nor posts. */
async function removeLeftoversOfTerm(
  db: Database,
  { id, taxonomyId }: { readonly id: number; readonly taxonomyId: number },
): Promise<void> {
  await removeTermMetas(db, id);
  await db.from('term_relationships').where('term_taxonomy_id', taxonomyId).delete();
}

/** Adds to the counts of terms, by `term_taxonomy_id`. */
export async function addToCounts(db: Database, increments: ReadonlyMap<number, number>): Promise<void> {
  reportTaxonomyRows(db, increments.keys());
  await increaseCounts(db, increments);
}

/** Deletes the remaining rows of posts that no longer exist, so that new posts with their ids do not inherit them. */
export async function removeLeftoverRows(db: Database, ids: readonly number[], occurrences: boolean): Promise<void> {
  if (ids.length === 0) return;
  for (const id of ids) reportPostChanged(db, id);
  const ourTerms = db.from('term_taxonomy').whereIn('taxonomy', taxonomies).select('term_taxonomy_id');
  await db
    .from('postmeta')
    .whereIn('post_id', [...ids])
    .delete();
  await db
    .from('term_relationships')
    .whereIn('object_id', [...ids])
    .whereIn('term_taxonomy_id', ourTerms)
    .delete();
  await removeCommentsOf(db, ids);
  if (!occurrences) return;
  for (const table of ['tec_occurrences', 'tec_events'] as const)
    await db
      .from(table)
      .whereIn('post_id', [...ids])
      .delete();
}
