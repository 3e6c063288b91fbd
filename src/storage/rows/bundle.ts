import type { Bundle, PostKind } from '../../kinds/kind.ts';
import { galleryParentsIn, imageIdsIn } from '../../wordpress/render.ts';
import type { Metas, Post, Term } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { loadTermsOf } from './terms.ts';

/**
 * Everything that the records of these posts are made of: their rows and metas, their terms, the posts they link to with metas, and the
 * images of all. A fixed number of queries for any number of ids; ids without a row are simply missing. `expected`: ids that they are likely to name.
 */
export async function loadBundle(db: Database, kind: PostKind, ids: readonly number[], expected: readonly number[] = []): Promise<Bundle> {
  const loaded: Loaded = { posts: new Map(), metas: new Map() };
  const [terms] = await Promise.all([
    kind.terms.length > 0 ? loadTermsOf(db, ids) : new Map<number, Term[]>(),
    loadMore(db, loaded, [...ids, ...expected]),
  ]);
  const linked = unique(Object.keys(kind.links).flatMap((key) => idsIn(loaded, ids, key)));
  await loadMore(db, loaded, [...linked, ...imagesOf(loaded, [...ids, ...linked])]);
  const attached = await loadAttached(
    db,
    [...ids, ...linked].flatMap((id) => galleryParentsOf(loaded.posts.get(id))),
  );
  await loadMore(db, loaded, [...[...attached].flat(2), ...imagesOf(loaded, linked)]);
  return { ...loaded, terms, attached };
}

/** Posts with their metas, as far as they are loaded yet. */
interface Loaded {
  readonly posts: Map<number, Post>;
  readonly metas: Map<number, Metas>;
}

/** Adds those of these ids that are not there yet. */
async function loadMore(db: Database, loaded: Loaded, ids: readonly number[]): Promise<void> {
  const missing = ids.filter((id) => !loaded.posts.has(id));
  if (missing.length === 0) return;
  const [posts, metas] = await Promise.all([loadPosts(db, missing), loadMetas(db, missing)]);
  for (const [id, post] of posts) loaded.posts.set(id, post);
  for (const [id, ofPost] of metas) loaded.metas.set(id, ofPost);
}

/** Ids of the images that these posts name: as the one beside them, or in their texts. */
const imagesOf = (loaded: Loaded, ids: readonly number[]): number[] => [
  ...idsIn(loaded, ids, '_thumbnail_id'),
  ...ids.flatMap((id) => imageIdsIn(loaded.posts.get(id)?.post_content ?? '')),
];

/** Ids that these posts name in a meta. */
const idsIn = ({ metas }: Loaded, ids: readonly number[], key: string): number[] =>
  ids
    .flatMap((id) => metas.get(id)?.get(key) ?? [])
    .map(Number)
    .filter((id) => Number.isSafeInteger(id) && id > 0);

/** What the galleries of a post may show: one that names nothing, what is attached to nothing or to the post itself, as the interface has it. */
const galleryParentsOf = (post: Post | undefined): number[] =>
  post ? galleryParentsIn(post.post_content).flatMap((parent) => (parent === 0 ? [0, post.ID] : [parent])) : [];

/** Rows of `posts` by id. */
export async function loadPosts(db: Database, ids: readonly number[]): Promise<Map<number, Post>> {
  const rows = ids.length === 0 ? [] : await db.rows<Post>`SELECT * FROM {posts} WHERE ID IN (${unique(ids)})`;
  return new Map(rows.map((row) => [row.ID, row]));
}

/** Metas of posts by post id; every value of a key in the order of the rows. */
export async function loadMetas(db: Database, ids: readonly number[]): Promise<Map<number, Metas>> {
  if (ids.length === 0) return new Map();
  const rows = await db.rows<{ post_id: number; meta_key: string; meta_value: string | null }>`
    SELECT post_id, meta_key, meta_value FROM {postmeta} WHERE post_id IN (${unique(ids)}) ORDER BY post_id, meta_id`;
  const metas = new Map<number, Map<string, string[]>>();
  for (const { post_id: id, meta_key: key, meta_value: value } of rows) {
    let ofPost = metas.get(id);
    if (!ofPost) {
      ofPost = new Map();
      metas.set(id, ofPost);
    }
    const values = ofPost.get(key);
    if (values) values.push(value ?? '');
    else ofPost.set(key, [value ?? '']);
  }
  return metas;
}

/** The most images that a gallery without a choice of its own shows. */
const LARGEST_GALLERY = 500;

/** Ids of the images attached to posts, in the order of their menu; 0 stands for those attached to none. */
async function loadAttached(db: Database, parents: readonly number[]): Promise<Map<number, number[]>> {
  const attached = new Map<number, number[]>();
  if (parents.length === 0) return attached;
  const rows: { ID: number; post_parent: number }[] = await db
    .from('posts')
    .select('ID', 'post_parent')
    .where('post_type', 'attachment')
    .where('post_mime_type', 'like', 'image/%')
    .whereIn('post_parent', unique(parents))
    .orderBy(['menu_order', 'ID'])
    .limit(LARGEST_GALLERY);
  for (const { ID, post_parent: parent } of rows) attached.set(parent, [...(attached.get(parent) ?? []), ID]);
  return attached;
}

const unique = (ids: readonly number[]) => [...new Set(ids)];
