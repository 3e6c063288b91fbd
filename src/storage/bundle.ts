import type { Bundle, PostKind } from '../kinds/kind.ts';
import { galleryParentsIn, imageIdsIn } from '../wordpress/render.ts';
import type { Metas, Post, Term } from '../wordpress/rows.ts';
import type { Database } from './database.ts';
import { loadTermsOf } from './terms.ts';

/**
 * Everything that the records of these posts are made of: their rows and metas, their terms, the posts they link to with metas, and the
 * images of all. A fixed number of queries for any number of ids; ids without a row are simply missing.
 */
export async function loadBundle(db: Database, kind: PostKind, ids: readonly number[]): Promise<Bundle> {
  const [own, ownMetas, terms] = await Promise.all([
    loadPosts(db, ids),
    loadMetas(db, ids),
    kind.terms.length > 0 ? loadTermsOf(db, ids) : new Map<number, Term[]>(),
  ]);
  const linkedIds = Object.keys(kind.links).flatMap((key) => idsIn(ownMetas, key));
  const [linked, linkedMetas] = await Promise.all([loadPosts(db, linkedIds), loadMetas(db, linkedIds)]);
  const rows = [...own.values(), ...linked.values()];
  const contents = rows.map((row) => row.post_content);
  const attached = await loadAttached(db, rows.flatMap(galleryParentsOf));
  const imageIds = [
    ...[...attached.values()].flat(),
    ...idsIn(ownMetas, '_thumbnail_id'),
    ...idsIn(linkedMetas, '_thumbnail_id'),
    ...contents.flatMap(imageIdsIn),
  ];
  const [images, imageMetas] = await Promise.all([loadPosts(db, imageIds), loadMetas(db, imageIds)]);
  return { posts: new Map([...images, ...linked, ...own]), metas: new Map([...imageMetas, ...linkedMetas, ...ownMetas]), terms, attached };
}

/** What the galleries of a post may show: one that names nothing, what is attached to nothing or to the post itself, as the interface has it. */
const galleryParentsOf = ({ ID, post_content }: Post) =>
  galleryParentsIn(post_content).flatMap((parent) => (parent === 0 ? [0, ID] : [parent]));

/** Rows of `posts` by id. */
export async function loadPosts(db: Database, ids: readonly number[]): Promise<Map<number, Post>> {
  const rows: Post[] = ids.length === 0 ? [] : await db.knex(db.table('posts')).whereIn('ID', unique(ids));
  return new Map(rows.map((row) => [row.ID, row]));
}

/** Metas of posts by post id; every value of a key in the order of the rows. */
export async function loadMetas(db: Database, ids: readonly number[]): Promise<Map<number, Metas>> {
  if (ids.length === 0) return new Map();
  const rows: { post_id: number; meta_key: string; meta_value: string | null }[] = await db
    .knex(db.table('postmeta'))
    .select('post_id', 'meta_key', 'meta_value')
    .whereIn('post_id', unique(ids))
    .orderBy('meta_id');
  const metas = new Map<number, Map<string, string[]>>();
  for (const { post_id: id, meta_key: key, meta_value: value } of rows) {
    const ofPost = metas.get(id) ?? new Map<string, string[]>();
    metas.set(id, ofPost);
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
    .knex(db.table('posts'))
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
const idsIn = (metas: ReadonlyMap<number, Metas>, key: string) =>
  [...metas.values()].flatMap((ofPost) => (ofPost.get(key) ?? []).map(Number).filter((id) => Number.isSafeInteger(id) && id > 0));
