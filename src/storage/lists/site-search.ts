import type { Post, Term } from '../../wordpress/rows.ts';
import type { SearchTerm } from '../../wordpress/search.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { either, equalsAny, every } from '../engine/expressions.ts';
import { Piece } from '../engine/statement.ts';
import { totalWith } from '../rows/row-count.ts';
import { withoutPassword } from './post-visibility.ts';
import { contains, relevanceOf } from './relevance.ts';

/** One page of results, and the total number. */
interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** A search in published posts of several types. */
export interface PostSearch {
  readonly types: readonly string[];
  /**
   * Types of which the caller may edit all published posts, and types of which only their own: the texts of these posts
   * are open to the caller.
   */
  readonly editsAll: readonly string[];
  readonly editsOwn: readonly string[];
  readonly viewer: number;
  readonly phrase: string;
  readonly terms: readonly SearchTerm[];
  readonly include: readonly number[];
  readonly exclude: readonly number[];
  readonly limit: number;
  readonly offset: number;
}

/** The columns that results need. */
export type FoundPost = Pick<
  Post,
  'ID' | 'post_author' | 'post_date' | 'post_name' | 'post_parent' | 'post_status' | 'post_title' | 'post_type'
>;

/**
 * Returns published posts that contain the terms of a search in texts that the caller may read, the best match first
 * (`WP_Query::parse_search_order`).
 */
export async function searchPosts(db: Database, search: PostSearch): Promise<Page<FoundPost>> {
  const condition = all([
    ['p.post_status = ?', ['publish']],
    equalsAny('p.post_type', search.types),
    ...matching(db, search),
    ...idConditions('p.ID', search),
  ]);
  const rank = new Piece(relevanceOf(db, search, openTo(search)) ?? NO_RANK);
  // Every text is searched for the page anyway, so the total comes with its rows.
  const rows = await db.rows<FoundPost & { readonly total: number | string }>`
    SELECT p.ID, p.post_author, p.post_date, p.post_name, p.post_parent, p.post_status, p.post_title, p.post_type, COUNT(*) OVER () AS total
    FROM {posts} p WHERE ${new Piece(condition)} ORDER BY ${rank}, p.post_date DESC, p.ID DESC LIMIT ${search.limit} OFFSET ${search.offset}`;
  const total = await totalWith(rows, search.offset, async () => {
    const [row] = await db.rows<{ total: number }>`SELECT COUNT(*) AS total FROM {posts} p WHERE ${new Piece(condition)}`;
    return Number(row?.total ?? 0);
  });
  return { rows: rows.map(({ total: _, ...row }) => row), total };
}

/**
 * Condition: the protected texts of the post are open to the caller. Words in other protected texts do not match
 * (decision D13).
 */
function openTo({ editsAll, editsOwn, viewer }: PostSearch): Sql {
  return either([
    withoutPassword('p'),
    ...(editsAll.length > 0 ? [equalsAny('p.post_type', editsAll)] : []),
    ...(editsOwn.length > 0 ? [all([['p.post_author = ?', [viewer]], equalsAny('p.post_type', editsOwn)])] : []),
  ]);
}

function matching(db: Database, search: PostSearch): Sql[] {
  const open = openTo(search);
  const holds = (term: SearchTerm): Sql => {
    const inHidden = either([contains(db, 'p.post_excerpt', term), contains(db, 'p.post_content', term)]);
    return either([contains(db, 'p.post_title', term), all([open, inHidden])]);
  };
  return [
    // Protected posts are skipped only if there are words, and only for visitors, as in `WP_Query::parse_search`.
    ...(search.viewer === 0 && search.terms.length > 0 ? [withoutPassword('p')] : []),
    ...search.terms.map((term) => (term.exclude ? not(holds(term)) : holds(term))),
  ];
}

/** A constant order. A number would be interpreted as the position of a column. */
const NO_RANK: Sql = ['NULL', []];

/** A search in terms of several taxonomies. */
export interface TermSearch {
  readonly taxonomies: readonly string[];
  readonly phrase: string;
  readonly include: readonly number[];
  readonly exclude: readonly number[];
  readonly limit: number;
  readonly offset: number;
}

/** Returns terms whose name or slug contains a phrase, by name. */
export async function searchTerms(db: Database, search: TermSearch): Promise<Page<Term>> {
  const { phrase, taxonomies } = search;
  const conditions = phrase === '' ? [] : [either([db.dialect.search('t.name', phrase), db.dialect.search('t.slug', phrase)])];
  const where = new Piece(all([...conditions, ...idConditions('t.term_id', search)]));
  const order = new Piece(db.dialect.orderFolded('t.name', 'asc'));
  const [rows, totals] = await Promise.all([
    db.rows<Term>`
      SELECT t.term_id, t.name, t.slug, t.term_group, tt.term_taxonomy_id, tt.taxonomy, tt.description, tt.parent, tt.count
      FROM {terms} t JOIN {term_taxonomy} tt ON tt.term_id = t.term_id
      WHERE tt.taxonomy IN (${taxonomies}) AND ${where} ORDER BY ${order}, t.term_id LIMIT ${search.limit} OFFSET ${search.offset}`,
    db.rows<{ total: number }>`
      SELECT COUNT(*) AS total FROM {terms} t JOIN {term_taxonomy} tt ON tt.term_id = t.term_id
      WHERE tt.taxonomy IN (${taxonomies}) AND ${where}`,
  ]);
  return { rows, total: Number(totals[0]?.total ?? 0) };
}

/**
 * Conditions: the chosen ids. Those in `include` are found even if `exclude` names them (`WP_Query`, `WP_Term_Query`).
 */
function idConditions(column: string, { include, exclude }: Pick<TermSearch, 'include' | 'exclude'>): Sql[] {
  if (include.length > 0) return [equalsAny(column, include)];
  return exclude.length > 0 ? [not(equalsAny(column, exclude))] : [];
}

/** Condition: all of these are true; always true for an empty list. */
const all = (conditions: readonly Sql[]): Sql => (conditions.length === 0 ? ['1 = 1', []] : every(conditions));
const not = ([sql, bindings]: Sql): Sql => [`NOT (${sql})`, bindings];
