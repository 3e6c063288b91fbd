import type { Bundle, PostKind } from '../kinds/kind.ts';
import { galleryParentsIn, imageIdsIn } from '../wordpress/render.ts';
import type { Metas, Post, Term } from '../wordpress/rows.ts';
import type { Database } from './database.ts';
import { loadTermsOf } from './terms.ts';

/**
 * Everything that the records of these posts are made of: their rows and metas, their terms, the posts they link to with metas, and the
 * images of all. A fixed number of queries for any number of ids; ids without a row are simply missing. `expected`: ids that they are likely to name.
 */
export async function loadBundle(db: Database, kind: PostKind, ids: readonly number[], expected: readonly number[] = []): Promise<Bundle> {
  const [[first, firstMetas], terms] = await Promise.all([
    loadBoth(db, [...ids, ...expected]),
    kind.terms.length > 0 ? loadTermsOf(db, ids) : new Map<number, Term[]>(),
  ]);
  const [own, ownMetas] = [only(first, ids), only(firstMetas, ids)];
  const linkedIds = Object.keys(kind.links).flatMap((key) => idsIn(ownMetas, key));
  const [named, namedMetas] = await loadOthers(db, [...linkedIds, ...imagesOf(own, ownMetas)], first, firstMetas);
  const linked = only(named, linkedIds);
  const attached = await loadAttached(db, [...own.values(), ...linked.values()].flatMap(galleryParentsOf));
  const images = [...[...attached.values()].flat(), ...imagesOf(linked, only(namedMetas, linkedIds))];
  const [posts, metas] = await loadOthers(db, images, named, namedMetas);
  return { posts, metas, terms, attached };
}

const loadBoth = (db: Database, ids: readonly number[]) => Promise.all([loadPosts(db, ids), loadMetas(db, ids)]);

/** What is known already, and beside it the posts of these ids that are not, with their metas. */
async function loadOthers(
  db: Database,
  ids: readonly number[],
  posts: ReadonlyMap<number, Post>,
  metas: ReadonlyMap<number, Metas>,
): Promise<[ReadonlyMap<number, Post>, ReadonlyMap<number, Metas>]> {
  const unknown = ids.filter((id) => !posts.has(id));
  if (unknown.length === 0) return [posts, metas];
  const [others, otherMetas] = await loadBoth(db, unknown);
  return [new Map([...posts, ...others]), new Map([...metas, ...otherMetas])];
}

/** Ids of the images that posts name: as the one beside them, or in their texts. */
const imagesOf = (posts: ReadonlyMap<number, Post>, metas: ReadonlyMap<number, Metas>): number[] => [
  ...idsIn(metas, '_thumbnail_id'),
  ...[...posts.values()].flatMap((post) => imageIdsIn(post.post_content)),
];

const only = <Value>(all: ReadonlyMap<number, Value>, ids: readonly number[]): Map<number, Value> =>
  new Map(ids.flatMap((id) => (all.has(id) ? [[id, all.get(id)!] as const] : [])));

/** What the galleries of a post may show: one that names nothing, what is attached to nothing or to the post itself, as the interface has it. */
const galleryParentsOf = ({ ID, post_content }: Post) =>
  galleryParentsIn(post_content).flatMap((parent) => (parent === 0 ? [0, ID] : [parent]));

/** Rows of `posts` by id. */
export async function loadPosts(db: Database, ids: readonly number[]): Promise<Map<number, Post>> {
  const rows = ids.length === 0 ? [] : await db.rows<Post>`SELECT * FROM {posts} WHERE ID IN (${unique(ids)})`;
  return new Map(rows.map((row) => [row.ID, row]));
}

/** Metas of posts by post id; every value of a key in the order of the rows. */
export async function loadMetas(db: Database, ids: readonly number[]): Promise<Map<number, Metas>> {
  if (ids.length === 0) return new Map();
  const rows = await db.rows<{ post_id: number; meta_key: string; meta_value: string | null }>`
    SELECT post_id, meta_key, meta_value FROM {postmeta} WHERE post_id IN (${unique(ids)}) ORDER BY meta_id`;
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
