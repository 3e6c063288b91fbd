import { fail } from '../../errors.ts';
import { addToGroup, groupedBy } from '../../grouped-by.ts';
import { type StoredValue, storedTexts, textOfStored } from '../../wordpress/php/serialized.ts';
import { POLYLANG_TAXONOMIES } from '../../wordpress/polylang.ts';
import type { Post } from '../../wordpress/rows.ts';
import { DISCARDED_STATUSES } from '../../wordpress/status.ts';
import { foldText } from '../engine/collation.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { isSlugLike, unionAll } from '../engine/expressions.ts';
import { insertRows } from '../engine/insert.ts';
import { pagesOf, readInParts } from '../engine/pages.ts';
import { Piece, verbatim } from '../engine/statement.ts';
import { allPosts, dependingOn } from '../journal/dependencies.ts';
import { partsOfMeta } from '../journal/own-changes.ts';
import {
  loadPostsBefore,
  reportColumnsWritten,
  reportPostBefore,
  reportPostChanged,
  reportPostCreated,
  reportPostRemoved,
} from '../journal/reported-changes.ts';
import { loadPosts } from './bundle.ts';
import { haveOwnNumbers, removeRows } from './own-numbers.ts';
import { preventUserRemoval } from './users.ts';

/** Reads the row of a post; undefined if there is none. */
export async function findPost(db: Database, id: number): Promise<Post | undefined> {
  return (await loadPosts(db, [id])).get(id);
}

/** Reads the row of a post and locks it until the end of the transaction. */
export async function lockPost(db: Database, id: number): Promise<Post | undefined> {
  const [row] = await db.rows<Post>`SELECT * FROM {posts} WHERE ID = ${id} ${verbatim(db.dialect.locks.update)}`;
  if (row) reportPostBefore(db, row);
  return row;
}

/**
 * Locks a post that was found by a name; undefined if no post has the name any more. While this waits for the lock, the
 * post may be renamed or deleted, so it is looked up again. `found`: the id that `find` has returned last.
 */
export async function lockFound(
  db: Database,
  found: number | undefined,
  find: () => Promise<number | undefined>,
): Promise<Post | undefined> {
  let id = found;
  while (id !== undefined) {
    const row = await lockPost(db, id);
    const currentId = await find();
    if (currentId === id) return row;
    id = currentId;
  }
  return undefined;
}

/**
 * Reads the rows of posts and locks them until the end of the transaction, by id. Posts are locked in the order of
 * their ids, so that transactions which lock several do not wait for each other.
 */
export async function lockPosts(db: Database, ids: readonly number[]): Promise<Map<number, Post>> {
  const sortedIds = [...ids].sort((one, other) => one - other);
  const rows = await readInParts(
    sortedIds,
    (page) => db.rows<Post>`SELECT * FROM {posts} WHERE ID IN (${page}) ORDER BY ID ${verbatim(db.dialect.locks.update)}`,
  );
  for (const row of rows) reportPostBefore(db, row);
  return new Map(rows.map((row) => [row.ID, row]));
}

/**
 * Returns the ids of the posts of this type with this path of slugs, the outermost first, in any status
 * (`get_page_by_path`). The lowest id comes first: old data may have several such posts, and translations may share a
 * slug. A path of one slug finds only posts without a parent.
 */
export async function findPostsByPath(db: Database, type: string, path: readonly string[]): Promise<number[]> {
  if (path.includes('')) return [];
  const trackedDb = dependingOn(db, [allPosts(type)]);
  const rows: Pick<Post, 'ID' | 'post_name' | 'post_parent'>[] = await readInParts(path, (page) =>
    trackedDb.from('posts').whereIn('post_name', page).where('post_type', type).orderBy('ID').select('ID', 'post_name', 'post_parent'),
  );
  const bySlug = groupedBy(rows, ({ post_name: slug }) => foldText(slug));
  let ids: number[] = [];
  let parent: number | undefined = 0;
  for (const slug of path) {
    ids = (bySlug.get(foldText(slug)) ?? []).flatMap(({ ID, post_parent: parentId }) => (parentId === parent ? [ID] : []));
    parent = ids[0];
  }
  return ids;
}

/**
 * Returns the ids of the posts of this type that have this slug, in any status; the lowest first. Those with a parent
 * count only if there is no other: they are named by their whole path, but no further post can have their slug
 * (`wp_unique_post_slug`).
 */
export async function findPostsBySlug(db: Database, type: string, slug: string): Promise<number[]> {
  const rows: Pick<Post, 'ID' | 'post_parent'>[] = await dependingOn(db, [allPosts(type)])
    .from('posts')
    .where({ post_name: slug, post_type: type })
    .orderBy('ID')
    .select('ID', 'post_parent');
  const withoutParent = rows.filter(({ post_parent: parent }) => parent === 0);
  return (withoutParent.length > 0 ? withoutParent : rows).map(({ ID }) => ID);
}

/** Returns the slugs of posts of this type that begin with `base`, except the slug of the post `id`. */
export async function slugsLike(db: Database, type: string, base: string, id: number): Promise<Set<string>> {
  return new Set((await postsWithSlugsFrom(db, type, [base], id)).map(({ slug }) => slug));
}

/**
 * Returns the posts of this type, other than `id`, whose slugs begin with one of `bases`; a post that matches two of
 * them is returned twice. Each base gets a separate SELECT: with many conditions, SQLite would scan all posts of the
 * type.
 */
export async function postsWithSlugsFrom(
  db: Database,
  type: string,
  bases: readonly string[],
  id: number,
): Promise<{ readonly id: number; readonly slug: string }[]> {
  if (bases.length === 0) return [];
  const holders = [...new Set(bases)].map((base): Sql => {
    const [like, bindings] = isSlugLike(db, 'post_name', base);
    return [
      `SELECT ID AS id, post_name AS slug FROM ?? WHERE post_type = ? AND NOT ID = ? AND ${like}`,
      [db.table('posts'), type, id, ...bindings],
    ];
  });
  return db.rows`${new Piece(unionAll(holders), 'posts')}`;
}

/** Maximum number of scheduled posts that are published at once. */
const MAX_DUE_POSTS = 500;

/**
 * Returns the ids of scheduled posts of these types that are due, the earliest first. Programs may leave out the date
 * in UTC, or write it as zeros; then the local date counts.
 */
export async function findDuePosts(
  db: Database,
  types: readonly string[],
  now: { readonly utc: string; readonly local: string },
): Promise<number[]> {
  const rows = await db
    .from('posts')
    .whereIn('post_type', [...types])
    .where('post_status', 'future')
    .where((due) =>
      due
        .whereBetween('post_date_gmt', [FIRST_DATE, now.utc])
        .orWhere((undated) => undated.where('post_date_gmt', '<', FIRST_DATE).whereBetween('post_date', [FIRST_DATE, now.local])),
    )
    .orderBy('post_date')
    .limit(MAX_DUE_POSTS)
    .select('ID');
  return rows.map(({ ID }) => ID);
}

/** The first date that is not made of zeros. */
const FIRST_DATE = '0001-01-01 00:00:00';

/**
 * Returns venues or organizers outside the trash with this title under the collation; `content`: also with this text.
 */
export async function findByTitle(
  db: Database,
  type: string,
  title: string,
  content: string | undefined,
): Promise<Pick<Post, 'ID' | 'post_title' | 'post_status'>[]> {
  const query = db
    .from('posts')
    .where('post_type', type)
    .whereNotIn('post_status', DISCARDED_STATUSES)
    .whereRaw(...db.dialect.equalsFolded('post_title', title));
  if (content !== undefined) query.whereRaw(...db.dialect.equalsFolded('post_content', content));
  return query.orderBy('ID').select('ID', 'post_title', 'post_status');
}

/** Returns those of these posts that are in the trash. */
export async function trashedPosts(db: Database, ids: readonly number[]): Promise<Pick<Post, 'ID' | 'post_title'>[]> {
  return readInParts(ids, (page) => db.from('posts').whereIn('ID', page).where('post_status', 'trash').select('ID', 'post_title'));
}

/** Reads the titles of posts by id, as stored. */
export async function storedTitles(db: Database, ids: readonly number[]): Promise<Map<number, string>> {
  const trackedDb = dependingOn(db, ids);
  const rows: Pick<Post, 'ID' | 'post_title'>[] = await readInParts(ids, (page) =>
    trackedDb.from('posts').whereIn('ID', page).select('ID', 'post_title'),
  );
  return new Map(rows.map(({ ID, post_title: title }) => [ID, title]));
}

/**
 * Returns the ids of the published posts of a type that formerly had this slug (WordPress `_find_post_by_old_slug`);
 * the one that had it last comes first. The first query uses only the metas: if it joined the posts of a type, a server
 * might read all metas of all these posts.
 */
export async function findByOldSlug(db: Database, type: string, slug: string): Promise<number[]> {
  const isIt = db.dialect.equalsExactly('meta_value', slug);
  const rows = await db.rows<{ post_id: number }>`
    SELECT post_id FROM {postmeta} WHERE meta_key = '_wp_old_slug' AND ${new Piece(isIt)} ORDER BY meta_id DESC`;
  const ids = [...new Set(rows.map(({ post_id: id }) => id))];
  const posts: Pick<Post, 'ID'>[] = await readInParts(ids, (page) =>
    db.from('posts').whereIn('ID', page).where({ post_type: type, post_status: 'publish' }).select('ID'),
  );
  const publishedIds = new Set(posts.map(({ ID }) => ID));
  return ids.filter((id) => publishedIds.has(id));
}

/**
 * Returns the ids of the posts of this type that have a meta with exactly one of these texts, in any status, by this
 * text; the lowest first.
 */
export async function findByMeta(db: Database, type: string, key: string, values: readonly string[]): Promise<Map<string, number[]>> {
  const [first, ...others] = storedTexts(values);
  if (first === undefined) return new Map();
  const isOne = db.dialect.equalsExactly('m.meta_value', first, ...others);
  const rows = await db.rows<{ id: number; value: string }>`
    SELECT DISTINCT p.ID AS id, m.meta_value AS value FROM {postmeta} m JOIN {posts} p ON p.ID = m.post_id
    WHERE m.meta_key = ${key} AND ${new Piece(isOne)} AND p.post_type = ${type} ORDER BY p.ID`;
  const holders = new Map<string, number[]>();
  for (const { id, value } of rows) addToGroup(holders, textOfStored(value), id);
  return holders;
}

/**
 * Inserts a post; columns that are not given get WordPress's defaults. Returns its id.
 *
 * @throws rest_invalid_author if its author does not exist any more
 */
export async function insertPost(db: Database, columns: Partial<Post>): Promise<number> {
  await requireAuthor(db, columns.post_author ?? 0);
  const id = await insertRows(db, 'posts', [{ ...DEFAULT_COLUMNS, ...columns }]);
  reportPostCreated(db, columns.ID ?? id, columns);
  return id;
}

/**
 * Prevents the author of posts from being deleted until the end of the transaction. `author`: 0 for no author.
 *
 * @throws rest_invalid_author if the user does not exist any more
 */
export async function requireAuthor(db: Database, author: number): Promise<void> {
  if (author > 0 && !(await preventUserRemoval(db, author))) fail('rest_invalid_author');
}

/** Default values of the columns of a post. */
export const DEFAULT_COLUMNS = {
  post_content: '',
  post_title: '',
  post_excerpt: '',
  comment_status: 'closed',
  ping_status: 'closed',
  post_password: '',
  post_name: '',
  to_ping: '',
  pinged: '',
  post_content_filtered: '',
  post_parent: 0,
  guid: '',
  menu_order: 0,
  post_mime_type: '',
  comment_count: 0,
};

/**
 * Changes columns of a post.
 *
 * @throws rest_invalid_author if the new author does not exist any more
 */
export async function updatePost(db: Database, id: number, columns: Partial<Post>): Promise<void> {
  if (Object.keys(columns).length === 0) return;
  if (columns.post_author !== undefined) await requireAuthor(db, columns.post_author);
  if (columns.post_status !== undefined || columns.post_parent !== undefined) await loadPostsBefore(db, [id]);
  await db.from('posts').where('ID', id).update(columns);
  reportColumnsWritten(db, id, columns);
}

/** Inserts the metas of posts that have none yet, by post id: each key with these values in this order. */
export async function insertMetas(
  db: Database,
  posts: ReadonlyMap<number, Readonly<Record<string, readonly StoredValue[]>>>,
): Promise<void> {
  const rowsOf = (post_id: number, metas: Readonly<Record<string, readonly StoredValue[]>>) =>
    Object.entries(metas).flatMap(([meta_key, values]) => values.map((meta_value) => ({ post_id, meta_key, meta_value })));
  await insertRows(
    db,
    'postmeta',
    [...posts].flatMap(([id, metas]) => rowsOf(id, metas)),
  );
  for (const id of posts.keys()) reportPostChanged(db, id);
}

/**
 * Sets the values of each key to exactly these, in this order; an empty list removes the key. Rows that already have
 * the right values are left unchanged: of former slugs and dates, `meta_id` tells which one is the latest, also among
 * different posts.
 */
export async function writeMetas(db: Database, id: number, metas: Readonly<Record<string, readonly StoredValue[]>>): Promise<void> {
  const keys = Object.keys(metas);
  if (keys.length === 0) return;
  const table = () => db.from('postmeta');
  const storedRows = await table()
    .where('post_id', id)
    .whereIn('meta_key', keys)
    .orderBy('meta_id')
    .select('meta_id', 'meta_key', 'meta_value');
  const insert: { post_id: number; meta_key: string; meta_value: string }[] = [];
  const remove: { meta_id: number; post_id: number; meta_key: string }[] = [];
  for (const key of keys) {
    const [before, after] = [storedRows.filter((row) => row.meta_key === key), metas[key] ?? []];
    const kept = keptRows(before, after);
    if (before.length === kept.length && after.length === kept.length) continue;
    reportPostChanged(db, id, partsOfMeta(key));
    if (before.length === 1 && after.length === 1 && !FORMER_ADDRESSES.has(key)) {
      const { meta_id } = before[0]!;
      const rowCount = await table().where({ meta_id, post_id: id, meta_key: key }).update({ meta_value: after[0]! });
      // The row may have been deleted since it was read, with the record that it linked to.
      if (rowCount === 0) insert.push({ post_id: id, meta_key: key, meta_value: after[0]! });
      continue;
    }
    const keeps = haveOwnNumbers(before, 'meta_id') ? kept : [];
    for (const { meta_id } of before.filter((row) => !keeps.includes(row))) remove.push({ meta_id, post_id: id, meta_key: key });
    for (const value of after.slice(keeps.length)) insert.push({ post_id: id, meta_key: key, meta_value: value });
  }
  await removeRows(db, 'postmeta', remove);
  await insertRows(db, 'postmeta', insert);
}

/** Metas that WordPress deletes and adds, but never changes (`wp_check_for_changed_slugs`, `_dates`). */
const FORMER_ADDRESSES: ReadonlySet<string> = new Set(['_wp_old_slug', '_wp_old_date']);

/** Returns the rows that hold the first of these values, in the same order. All other values are stored after them. */
function keptRows<Row extends { readonly meta_value: string | null }>(rows: readonly Row[], values: readonly string[]): Row[] {
  const kept: Row[] = [];
  for (const row of rows) if (kept.length < values.length && row.meta_value === values[kept.length]) kept.push(row);
  return kept;
}

const LINKS_PER_STATEMENT = 1000;

/** Removes the links to a post from the posts that hold them in this meta. */
export async function removeLinksTo(db: Database, key: string, id: number): Promise<void> {
  const links = await db
    .from('postmeta')
    .where({ meta_key: key, meta_value: String(id) })
    .select('meta_id', 'post_id');
  for (const { post_id: post } of links) reportPostChanged(db, post, partsOfMeta(key));
  for (const some of pagesOf(links, LINKS_PER_STATEMENT))
    await db
      .from('postmeta')
      .whereIn(
        'meta_id',
        some.map((row) => row.meta_id),
      )
      // Another transaction may have given the row a new value since.
      .where({ meta_key: key, meta_value: String(id) })
      .delete();
}

/** Taxonomies whose relationships refer to terms instead of posts (Polylang). */
const TERM_RELATION_TAXONOMIES = Object.values(POLYLANG_TAXONOMIES.term);
const COMMENTS_PER_STATEMENT = 1000;

/**
 * Deletes a post with its metas, its links to terms, its revisions and its comments. Its attachments move up to the
 * parent of the post (`wp_delete_post`).
 */
export async function removePost(db: Database, id: number): Promise<void> {
  await loadPostsBefore(db, [id]);
  const children = await db.rows<Pick<Post, 'ID' | 'post_type'> & { above: number }>`
    SELECT c.ID, c.post_type, p.post_parent AS above FROM {posts} c JOIN {posts} p ON p.ID = c.post_parent
    WHERE c.post_parent = ${id} AND c.post_type IN ('attachment', 'revision')`;
  const idsOf = (type: string) => children.filter(({ post_type }) => post_type === type).map(({ ID }) => ID);
  await moveAttachments(db, idsOf('attachment'), children[0]?.above ?? 0);
  await removeCommentsOf(db, [id]);
  const ids = [id, ...idsOf('revision')];
  await db.from('postmeta').whereIn('post_id', ids).delete();
  await db.change`DELETE FROM {term_relationships} WHERE object_id IN (${ids}) AND term_taxonomy_id NOT IN
    (SELECT term_taxonomy_id FROM {term_taxonomy} WHERE taxonomy IN (${TERM_RELATION_TAXONOMIES}))`;
  await db.from('posts').whereIn('ID', ids).delete();
  reportPostRemoved(db, id);
}

async function moveAttachments(db: Database, ids: readonly number[], parent: number): Promise<void> {
  if (ids.length === 0) return;
  await loadPostsBefore(db, ids);
  await db.from('posts').whereIn('ID', ids).update({ post_parent: parent });
  for (const id of ids) reportColumnsWritten(db, id, { post_parent: parent });
}

/**
 * Deletes the comments of these posts with their metas. Answers do not show comments, so this is not a change of a
 * post.
 */
export async function removeCommentsOf(db: Database, ids: readonly number[]): Promise<void> {
  const comments: number[] = await db.from('comments').whereIn('comment_post_ID', ids).pluck('comment_ID');
  for (const batch of pagesOf(comments, COMMENTS_PER_STATEMENT)) {
    await db.from('comments').whereIn('comment_ID', batch).whereIn('comment_post_ID', ids).delete();
    // Without its primary key, the table may have comments of the same number on other posts.
    await db.change`DELETE FROM {commentmeta} WHERE comment_id IN (${batch}) AND comment_id NOT IN
      (SELECT comment_ID FROM {comments} WHERE comment_ID IN (${batch}))`;
  }
}
