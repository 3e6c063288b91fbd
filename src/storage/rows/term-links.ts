import { groupedBy } from '../../grouped-by.ts';
import type { Term } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { either, equalsAny } from '../engine/expressions.ts';
import { insertRows } from '../engine/insert.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import { TERMS_PART } from '../journal/own-changes.ts';
import { reportPostChanged, reportTaxonomyRows, reportTerm } from '../journal/reported-changes.ts';

/** Waits for transactions that assign a term to posts, and blocks further ones until the end of this transaction. */
export async function lockTermLinks(db: Database, { term_taxonomy_id: id }: Term): Promise<void> {
  await lockTerms(db, inTaxonomies([id]));
}

/** A term that is assigned to a post, with its row in `term_taxonomy`. */
export type TermLink = Pick<Term, 'term_taxonomy_id' | 'term_id' | 'taxonomy' | 'parent'>;

/** Ids of terms by their taxonomy. */
type TermsByTaxonomy = ReadonlyMap<string, readonly number[]>;

/** Assigns terms to posts that have none yet. Returns the terms that exist, by the ids of the posts. */
export async function insertTermLinks(db: Database, posts: ReadonlyMap<number, TermsByTaxonomy>): Promise<Map<number, TermLink[]>> {
  const assignments = [...posts.values()].flatMap((terms) => [...terms].flatMap(([taxonomy, ids]) => ids.map((id) => ({ taxonomy, id }))));
  const idsByTaxonomy = groupedBy(
    assignments,
    ({ taxonomy }) => taxonomy,
    ({ id }) => id,
  );
  if (idsByTaxonomy.size === 0) return new Map();
  const termLinks = await lockTerms(db, either([...idsByTaxonomy].map(([taxonomy, ids]) => taxonomyTerms(taxonomy, [...new Set(ids)]))));
  const links = new Map(
    Array.from(posts, ([id, terms]) => [id, termLinks.filter((link) => terms.get(link.taxonomy)?.includes(link.term_id))]),
  );
  await insertRows(
    db,
    'term_relationships',
    [...links].flatMap(([id, ofPost]) => linkRows(id, idsOf(ofPost))),
  );
  for (const id of links.keys()) reportPostChanged(db, id);
  return links;
}

/**
 * Increases the counts of the terms of new published posts, with one link for each post and term. The rows of the terms
 * must be locked.
 */
export async function countNewLinks(db: Database, links: readonly TermLink[]): Promise<void> {
  const increments = new Map<number, number>();
  for (const link of links) {
    reportTerm(db, link, 'changed');
    increments.set(link.term_taxonomy_id, (increments.get(link.term_taxonomy_id) ?? 0) + 1);
  }
  await increaseCounts(db, increments);
}

/** Adds to the counts of terms, by `term_taxonomy_id`, with one statement for each distinct number. */
export async function increaseCounts(db: Database, increments: ReadonlyMap<number, number>): Promise<void> {
  const byNumber = groupedBy(
    increments,
    ([, number]) => number,
    ([id]) => id,
  );
  for (const [number, ids] of byNumber)
    await db.change`UPDATE {term_taxonomy} SET count = count + ${number} WHERE term_taxonomy_id IN (${ids})`;
}

/**
 * Sets the terms of a post in one taxonomy. Returns the ids of the rows in `term_taxonomy` whose counts may have
 * changed.
 */
export const setTermsOf = async (db: Database, postId: number, taxonomy: string, termIds: readonly number[]): Promise<number[]> =>
  (await assignTerms(db, postId, taxonomy, termIds)).changedRows;

/** Does the same as `setTermsOf`, and also returns the ids of those terms that exist. */
export async function assignTerms(
  db: Database,
  postId: number,
  taxonomy: string,
  termIds: readonly number[],
): Promise<{ readonly changedRows: number[]; readonly assignedIds: number[] }> {
  const links = termIds.length === 0 ? [] : await lockTerms(db, taxonomyTerms(taxonomy, termIds));
  const after = idsOf(links);
  const before = await termTaxonomyIdsOf(db, [postId], [taxonomy]);
  const [removedIds, addedIds] = [before.filter((id) => !after.includes(id)), after.filter((id) => !before.includes(id))];
  const table = () => db.from('term_relationships');
  if (removedIds.length > 0) await table().where('object_id', postId).whereIn('term_taxonomy_id', removedIds).delete();
  await insertRows(db, 'term_relationships', linkRows(postId, addedIds));
  if (removedIds.length + addedIds.length > 0) reportPostChanged(db, postId, [TERMS_PART]);
  return { changedRows: [...removedIds, ...addedIds], assignedIds: links.map(({ term_id: id }) => id) };
}

/** Returns the ids of the rows in `term_taxonomy` that are assigned to these posts. */
export async function termTaxonomyIdsOf(db: Database, postIds: readonly number[], taxonomies: readonly string[]): Promise<number[]> {
  if (postIds.length === 0 || taxonomies.length === 0) return [];
  const rows: { id: number }[] = await db
    .from('term_relationships', 'r')
    .joinRaw(`${db.dialect.joinInOrder} ?? tt ON tt.term_taxonomy_id = r.term_taxonomy_id`, [db.table('term_taxonomy')])
    .whereIn('r.object_id', [...postIds])
    .whereIn('tt.taxonomy', [...taxonomies])
    .distinct('tt.term_taxonomy_id as id');
  return rows.map(({ id }) => id);
}

/** Recounts the published posts of each of these terms (`_update_post_term_count`). */
export async function recount(db: Database, termTaxonomyIds: readonly number[]): Promise<void> {
  if (termTaxonomyIds.length === 0) return;
  // The lock waits for other transactions that count the same terms, and makes their writes visible. Without it, the
  // counting statement would use the data from before the wait.
  const ids = idsOf(await lockTerms(db, inTaxonomies([...new Set(termTaxonomyIds)])));
  if (ids.length === 0) return;
  const published = db
    .from('term_relationships', 'r')
    .join({ p: db.table('posts') }, 'p.ID', 'r.object_id')
    .where('r.term_taxonomy_id', db.ref(`${db.table('term_taxonomy')}.term_taxonomy_id`))
    .where('p.post_status', 'publish')
    .count('*');
  await db
    .from('term_taxonomy')
    .whereIn('term_taxonomy_id', ids)
    .update({ count: published as unknown as number });
  reportTaxonomyRows(db, ids);
}

/**
 * Updates the counts of terms for one post: increases those of the terms that it has as a published post from now on
 * (`after`, by `term_taxonomy_id`), and decreases those that it had before. The result is the same as that of a recount
 * (`_update_post_term_count`), without reading all posts of a term. The post must be locked.
 */
export async function moveCounts(db: Database, before: readonly number[], after: readonly number[]): Promise<void> {
  const [removedIds, addedIds] = [before.filter((id) => !after.includes(id)), after.filter((id) => !before.includes(id))];
  if (removedIds.length + addedIds.length === 0) return;
  reportTaxonomyRows(db, [...removedIds, ...addedIds]);
  // A single statement locks its rows in the order of their key; two statements of concurrent transactions could
  // deadlock.
  if (removedIds.length > 0 && addedIds.length > 0) await lockTerms(db, inTaxonomies([...removedIds, ...addedIds]));
  if (addedIds.length > 0) await db.change`UPDATE {term_taxonomy} SET count = count + 1 WHERE term_taxonomy_id IN (${addedIds})`;
  // A count that was already wrong must not become negative.
  if (removedIds.length > 0)
    await db.change`UPDATE {term_taxonomy} SET count = count - 1 WHERE term_taxonomy_id IN (${removedIds}) AND count > 0`;
}

/**
 * Reads rows of `term_taxonomy` and locks them until the end of the transaction, always in the order of their ids, so
 * that transactions do not deadlock.
 */
const lockTerms = (db: Database, condition: Sql): Promise<TermLink[]> =>
  db.rows<TermLink>`
    SELECT term_taxonomy_id, term_id, taxonomy, parent FROM {term_taxonomy} WHERE ${new Piece(condition)} ORDER BY term_taxonomy_id ${verbatim(db.dialect.locks.update)}`;

const inTaxonomies = (ids: readonly number[]): Sql => equalsAny('term_taxonomy_id', ids);
function taxonomyTerms(taxonomy: string, ids: readonly number[]): Sql {
  const [sql, bindings] = equalsAny('term_id', ids);
  return [`(taxonomy = ? AND ${sql})`, [taxonomy, ...bindings]];
}
const linkRows = (postId: number, ids: readonly number[]) => ids.map((id) => ({ object_id: postId, term_taxonomy_id: id, term_order: 0 }));

const idsOf = (links: readonly TermLink[]): number[] => links.map(({ term_taxonomy_id: id }) => id);
