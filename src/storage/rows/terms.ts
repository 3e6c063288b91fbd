import { fail } from '../../errors.ts';
import { groupedBy } from '../../grouped-by.ts';
import { blogCategory } from '../../kinds/core/term.ts';
import { taxonomies } from '../../kinds/index.ts';
import type { TermKind } from '../../kinds/kind.ts';
import { FORMAT_TAXONOMY } from '../../wordpress/post-formats.ts';
import type { Term } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { either, equalsAny, isSlugLike } from '../engine/expressions.ts';
import { insertRows } from '../engine/insert.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import { addDependencies, allTerms, dependingOn, termDependency } from '../journal/dependencies.ts';
import { reportPostChanged, reportTerm } from '../journal/reported-changes.ts';
import { removeTermMetas } from './term-metas.ts';

const COLUMNS = [
  't.term_id',
  't.name',
  't.slug',
  't.term_group',
  'tt.term_taxonomy_id',
  'tt.taxonomy',
  'tt.description',
  'tt.parent',
  'tt.count',
];

/** Starts a query on the terms of a taxonomy, joined with `term_taxonomy`. */
export function termsOf(db: Database, taxonomy: string) {
  return db
    .from('term_taxonomy', 'tt')
    .join({ t: db.table('terms') }, 't.term_id', 'tt.term_id')
    .where('tt.taxonomy', taxonomy)
    .select<Term[]>(COLUMNS);
}

/** Reads the first terms of a taxonomy in the order of their ids. */
export const firstTerms = async (db: Database, taxonomy: string, limit: number): Promise<Term[]> =>
  termsOf(db, taxonomy).orderBy('t.term_id').limit(limit);

/** Reads a term of a taxonomy; undefined if there is none. */
export const findTerm = async (db: Database, taxonomy: string, id: number): Promise<Term | undefined> =>
  (await loadTerms(db, taxonomy, [id])).get(id);

/** Locks a term until the end of the transaction. */
export async function lockTerm(db: Database, id: number): Promise<void> {
  if (db.dialect.maxWriters === 1) return;
  await db.rows`SELECT term_id FROM {terms} WHERE term_id = ${id} ${verbatim(db.dialect.locks.update)}`;
}

/** Reads terms of a taxonomy by their ids. */
export const loadTerms = (db: Database, taxonomy: string, ids: readonly number[]): Promise<Map<number, Term>> =>
  loadTermsIn(db, [taxonomy], ids);

/** Reads terms of any taxonomy of the calendar by their ids. */
export const loadCalendarTerms = (db: Database, ids: readonly number[]): Promise<Map<number, Term>> => loadTermsIn(db, taxonomies, ids);

async function loadTermsIn(db: Database, taxonomyNames: readonly string[], ids: readonly number[]): Promise<Map<number, Term>> {
  if (ids.length === 0) return new Map();
  const rows = await dependingOn(db, ids.map(termDependency)).rows<Term>`
    SELECT ${verbatim(COLUMNS.join())} FROM {term_taxonomy} tt JOIN {terms} t ON t.term_id = tt.term_id
    WHERE t.term_id IN (${ids}) AND tt.taxonomy IN (${taxonomyNames})`;
  return new Map(rows.map((row) => [row.term_id, row]));
}

/**
 * Returns the terms that match one of these slugs, names or ids, in one query. Names are compared under the collation.
 */
export async function findTermsLike(
  db: Database,
  taxonomy: string,
  { ids, slugs, names }: { ids: readonly number[]; slugs: readonly string[]; names: readonly string[] },
): Promise<Term[]> {
  if (ids.length + slugs.length + names.length === 0) return [];
  const [first, ...others] = new Set(names);
  const any: Sql[] = [
    ...(ids.length > 0 ? [equalsAny('t.term_id', ids)] : []),
    ...(slugs.length > 0 ? [equalsAny('t.slug', slugs)] : []),
    ...(first === undefined ? [] : [db.dialect.equalsFolded('t.name', first, ...others)]),
  ];
  const isById = slugs.length + names.length === 0;
  return dependingOn(db, isById ? ids.map(termDependency) : [allTerms(taxonomy)]).rows<Term>`
    SELECT ${verbatim(COLUMNS.join())}
    FROM {term_taxonomy} tt JOIN {terms} t ON t.term_id = tt.term_id
    WHERE tt.taxonomy = ${taxonomy} AND ${new Piece(either(any))} ORDER BY t.term_id`;
}

/** Returns the terms of any taxonomy, except `exceptId`, whose slug is this one, possibly with a number appended. */
export async function takenTermSlugs(db: Database, base: string, exceptId: number): Promise<Term[]> {
  return db
    .from('terms', 't')
    .join({ tt: db.table('term_taxonomy') }, 't.term_id', 'tt.term_id')
    .whereNot('t.term_id', exceptId)
    .whereRaw(...isSlugLike(db, 't.slug', base))
    .select(COLUMNS);
}

/** Reads every term of a taxonomy with its parent, for traversing the tree. Trees are small. */
export async function loadTree(db: Database, taxonomy: string): Promise<Map<number, { parent: number; slug: string; count: number }>> {
  const rows = await dependingOn(db, [allTerms(taxonomy)]).rows<Pick<Term, 'term_id' | 'parent' | 'slug' | 'count'>>`
    SELECT t.term_id, t.slug, tt.parent, tt.count FROM {term_taxonomy} tt JOIN {terms} t ON t.term_id = tt.term_id
    WHERE tt.taxonomy = ${taxonomy}`;
  return new Map(rows.map((row) => [row.term_id, { parent: row.parent, slug: row.slug, count: row.count }]));
}

/**
 * Reads the terms of posts by post id, sorted by name. The join order is fixed because MariaDB would otherwise start
 * with the terms and read all posts that have them.
 */
export async function loadTermsOf(db: Database, ids: readonly number[]): Promise<Map<number, Term[]>> {
  const terms = new Map<number, Term[]>();
  if (ids.length === 0) return terms;
  const join = verbatim(db.dialect.joinInOrder);
  const rows = await dependingOn(db, ids).rows<Term & { object_id: number; sort_key: string }>`
    SELECT r.object_id, ${verbatim(COLUMNS.join())}, ${new Piece(db.dialect.sortKey('t.name'))} AS sort_key
    FROM {term_relationships} r ${join} {term_taxonomy} tt ON tt.term_taxonomy_id = r.term_taxonomy_id ${join} {terms} t ON t.term_id = tt.term_id
    WHERE r.object_id IN (${[...new Set(ids)]}) AND tt.taxonomy IN (${taxonomies})`;
  addDependencies(
    db,
    rows.map((row) => termDependency(row.term_id)),
  );
  const { orderOf } = db.dialect;
  const sorted = rows.map(({ object_id: id, sort_key: key, ...term }) => ({ id, term, order: orderOf(key) }));
  sorted.sort(({ order: one }, { order: other }) => (one < other ? -1 : Number(one > other)));
  for (const { id, term } of sorted) {
    const ofPost = terms.get(id);
    if (ofPost) ofPost.push(term);
    else terms.set(id, [term]);
  }
  return terms;
}

/**
 * Returns the terms that share their slug with another term of their taxonomy, in the order of their ids. WordPress
 * itself does not create such terms; plugins do for terms in several languages.
 */
export const termsOfSharedSlugs = (db: Database): Promise<Pick<Term, 'term_id' | 'slug' | 'taxonomy'>[]> =>
  db.rows<Pick<Term, 'term_id' | 'slug' | 'taxonomy'>>`
    SELECT t.term_id, t.slug, tt.taxonomy FROM {terms} t JOIN {term_taxonomy} tt ON tt.term_id = t.term_id
    WHERE tt.taxonomy IN (${taxonomies}) AND EXISTS (
      SELECT 1 FROM {terms} o JOIN {term_taxonomy} ot ON ot.term_id = o.term_id
      WHERE ot.taxonomy = tt.taxonomy AND o.slug = t.slug AND o.term_id <> t.term_id)
    ORDER BY t.term_id`;

/** Reads the blog categories and the post formats of these posts, sorted by name. They are not records of the API. */
export async function loadBlogTerms(db: Database, ids: readonly number[]): Promise<Map<number, Term[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db.rows<Term & { object_id: number }>`
    SELECT r.object_id, ${verbatim(COLUMNS.join())}
    FROM {term_relationships} r JOIN {term_taxonomy} tt ON tt.term_taxonomy_id = r.term_taxonomy_id JOIN {terms} t ON t.term_id = tt.term_id
    WHERE r.object_id IN (${[...new Set(ids)]}) AND tt.taxonomy IN (${[blogCategory.taxonomy, FORMAT_TAXONOMY]}) ORDER BY t.name, t.term_id`;
  return groupedBy(
    rows,
    (row) => row.object_id,
    ({ object_id: _, ...term }): Term => term,
  );
}

/** Every term of a taxonomy with its parent. */
export type TermTree = Awaited<ReturnType<typeof loadTree>>;

/**
 * Returns the slugs of a term and its ancestors, starting with the term itself. In old data, terms may form a cycle;
 * each of them occurs once (`get_ancestors`).
 */
export function slugsToRoot(id: number, tree: ReadonlyMap<number, { readonly parent: number; readonly slug: string }>): string[] {
  const slugsById = new Map<number, string>();
  let next = id;
  for (let node = tree.get(next); node && !slugsById.has(next); node = tree.get(next)) {
    slugsById.set(next, node.slug);
    next = node.parent;
  }
  return [...slugsById.values()];
}

/** Returns these terms and all their descendants in a tree that is already loaded. */
export function descendantsIn(tree: TermTree, ids: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const [id, { parent }] of tree) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(id);
    else children.set(parent, [id]);
  }
  const result = new Set(ids);
  for (const id of result) for (const child of children.get(id) ?? []) result.add(child);
  return [...result];
}

/** Inserts a term and its row in `term_taxonomy`. Returns its id, which also becomes its slug if none is given. */
export async function insertTerm(
  db: Database,
  kind: TermKind,
  term: { name: string; slug: string; description: string; parent: number },
): Promise<number> {
  const id = await insertRows(db, 'terms', [{ name: term.name, slug: term.slug, term_group: 0 }]);
  if (term.slug === '')
    await db
      .from('terms')
      .where('term_id', id)
      .update({ slug: String(id) });
  const { description, parent } = term;
  await insertRows(db, 'term_taxonomy', [{ term_id: id, taxonomy: kind.taxonomy, description, parent, count: 0 }]);
  reportTerm(db, { term_id: id, taxonomy: kind.taxonomy }, 'made');
  return id;
}

/**
 * Changes the given columns of a term. The URLs of all descendants contain its slug, so they change together with its
 * slug or parent.
 *
 * @throws term-shared for a new name or slug of a row that is a term of another taxonomy, too
 */
export async function updateTerm(
  db: Database,
  term: Term,
  changes: Partial<Pick<Term, 'name' | 'slug' | 'description' | 'parent'>>,
): Promise<void> {
  const { name, slug, description, parent } = changes;
  const termColumns = { ...(name === undefined ? {} : { name }), ...(slug === undefined ? {} : { slug }) };
  const taxonomyColumns = { ...(description === undefined ? {} : { description }), ...(parent === undefined ? {} : { parent }) };
  const isRenamed = (name ?? term.name) !== term.name || (slug ?? term.slug) !== term.slug;
  if (isRenamed && (await isShared(db, term))) fail('term-shared');
  if (Object.keys(termColumns).length > 0) await db.from('terms').where('term_id', term.term_id).update(termColumns);
  if (Object.keys(taxonomyColumns).length > 0) await db.from('term_taxonomy').where(taxonomyRow(term)).update(taxonomyColumns);
  reportTerm(db, term, 'changed');
  const isMoved = (slug !== undefined && slug !== term.slug) || (parent !== undefined && parent !== term.parent);
  if (isMoved) await reportDescendants(db, term);
}

/**
 * Whether a term of another taxonomy has the same row. Before version 4.2, WordPress used one row for a tag and a
 * category of the same name. It separates them when one of them is saved, which gives that one another id
 * (`_split_shared_term`).
 */
export async function isShared(db: Database, { term_id, term_taxonomy_id }: Term): Promise<boolean> {
  return (await db.from('term_taxonomy').where({ term_id }).whereNot({ term_taxonomy_id }).first('term_id')) !== undefined;
}

const taxonomyRow = ({ term_taxonomy_id, term_id, taxonomy }: Term) => ({ term_taxonomy_id, term_id, taxonomy });

/** Reports all descendants of a term as changed. */
async function reportDescendants(db: Database, { term_id: parent, taxonomy }: Term): Promise<void> {
  for (const term_id of await termsBelow(db, taxonomy, [parent])) reportTerm(db, { term_id, taxonomy }, 'changed');
}

/** Returns those of these terms that exist, in any taxonomy. */
export async function existingTerms(db: Database, ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db.rows<{ id: number }>`SELECT term_id AS id FROM {term_taxonomy} WHERE term_id IN (${[...ids]})`;
  return new Set(rows.map(({ id }) => id));
}

/** Returns all descendants of these terms, without the terms themselves. */
export async function termsBelow(db: Database, taxonomy: string, ids: readonly number[]): Promise<number[]> {
  const [descendants, roots] = [new Set<number>(), new Set(ids)];
  for (let parents = [...roots]; parents.length > 0; ) {
    const rows = await db.rows<{ id: number }>`
      SELECT term_id AS id FROM {term_taxonomy} WHERE taxonomy = ${taxonomy} AND parent IN (${parents})`;
    parents = rows.map(({ id }) => id).filter((id) => !descendants.has(id) && !roots.has(id));
    for (const id of parents) descendants.add(id);
  }
  return [...descendants];
}

/**
 * Deletes a term permanently: its children move up to its parent, and posts lose it (`wp_delete_term`). The term must
 * be locked (`lockTermLinks`).
 */
export async function removeTerm(db: Database, term: Term): Promise<void> {
  await reportDescendants(db, term);
  await db.from('term_taxonomy').where({ taxonomy: term.taxonomy, parent: term.term_id }).update({ parent: term.parent });
  const links = () => db.from('term_relationships').where('term_taxonomy_id', term.term_taxonomy_id);
  for (const { object_id: id } of await links().select('object_id')) reportPostChanged(db, id);
  await links().delete();
  reportTerm(db, term, 'removed');
  await db.from('term_taxonomy').where(taxonomyRow(term)).delete();
  const otherRow = await db.from('term_taxonomy').where('term_id', term.term_id).first();
  if (otherRow) return;
  await removeTermMetas(db, term.term_id);
  await db.from('terms').where('term_id', term.term_id).delete();
}
