import { groupedBy } from '../../grouped-by.ts';
import { metasAt, pageOfDatedPost, pageOfOccurrence } from '../../kinds/events/occurrence.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Bundle, BundleLanguages, OccurrencePage } from '../../kinds/rendering.ts';
import { galleryParentsIn, imageIdsIn } from '../../wordpress/content/render.ts';
import type { ContentLanguages, Membership } from '../../wordpress/content-languages.ts';
import { asStored, type StoredValue } from '../../wordpress/php/serialized.ts';
import { idsIn, type Post, type StoredMetas, type Term } from '../../wordpress/rows.ts';
import { isPublic } from '../../wordpress/status.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { unionAll } from '../engine/expressions.ts';
import { pagesOf, readInParts } from '../engine/pages.ts';
import { Piece } from '../engine/statement.ts';
import { allPosts, dependingOn } from '../journal/dependencies.ts';
import type { ObjectMemory } from '../journal/object-memory.ts';
import { formOf } from '../languages/forms.ts';
import { loadOccurrences, recurringByRows } from './recurring-events.ts';
import { type SharedRows, sharedRows } from './shared-rows.ts';
import { loadCalendarTerms, loadTermsOf } from './terms.ts';

/** Further information about the records that a bundle is loaded for. */
export interface BundleOptions {
  /** Ids that the records probably refer to; they are loaded with the first query. */
  readonly expected?: readonly number[];
  /** Ids above this one are ids of occurrences: their rows are those of the event with the dates of the occurrence. */
  readonly base?: number | undefined;
  /** The languages of the content, if it has languages. */
  readonly languages?: ContentLanguages | undefined;
  /** Whether linked records are shown in the language of the record that links to them. */
  readonly translatesLinks?: boolean;
  /**
   * Cache for the rows of posts that several records refer to. Only given if the answer is the same for all callers.
   */
  readonly memory?: ObjectMemory | undefined;
}

/**
 * Loads everything that the records of these posts consist of: their rows and metas, their terms, the posts they link
 * to with metas, and the images of all of these. The number of queries does not depend on the number of ids. Ids
 * without a row are missing from the result.
 */
export async function loadBundle(
  db: Database,
  kind: Pick<PostKind, 'hasDates' | 'terms'> & { readonly links: object },
  records: readonly number[],
  { expected = [], base = Number.POSITIVE_INFINITY, languages: siteLanguages, translatesLinks = false, memory }: BundleOptions,
): Promise<Bundle> {
  const dates = kind.hasDates ? await loadOccurrences(db, records, base) : [];
  const ids = dates.length > 0 ? unique([...records.filter((id) => id <= base), ...dates.map((date) => date.post)]) : records;
  const loaded: Loaded = { posts: new Map(), metas: new Map(), sharedRows: memory && sharedRows(db, memory, ids) };
  const [terms] = await Promise.all([
    kind.terms.length > 0 ? loadTermsOf(db, ids) : new Map<number, Term[]>(),
    loadMore(db, loaded, [...ids, ...expected]),
  ]);
  const links = new Map(ids.map((id) => [id, Object.keys(kind.links).flatMap((key) => idsInMetas(loaded, [id], key))]));
  const linkedIds = unique([...links.values()].flat());
  const parents = kind.hasDates ? parentsOf(loaded, ids) : [];
  const languages = siteLanguages && (await loadLanguages(db, siteLanguages, { ids, linkedIds, terms, translatesLinks }));
  const translated = languages && translatesLinks ? standIns(languages.posts, links, languages.posts) : [];
  const siblings = languages ? membersOf(languages.posts, ids) : [];
  const loadedIds = new Set([...ids, ...linkedIds].filter((id) => loaded.posts.has(id)));
  const others = await loadMore(db, loaded, [...linkedIds, ...translated, ...parents, ...imagesOf(loaded, [...loadedIds])], siblings);
  const attached = await loadAttached(
    db,
    [...ids, ...linkedIds, ...translated].flatMap((id) => galleryParentsOf(loaded.posts.get(id))),
  );
  const added = [...linkedIds, ...translated].filter((id) => !loadedIds.has(id));
  await loadMore(db, loaded, [...[...attached].flat(2), ...imagesOf(loaded, added)]);
  await loadFileParents(db, loaded, [...ids, ...linkedIds, ...translated]);
  const pages = kind.hasDates ? await pagesOfPosts(db, loaded, records, base) : new Map<number, OccurrencePage>();
  for (const date of dates) {
    const post = loaded.posts.get(date.post);
    const metas = loaded.metas.get(date.post) ?? new Map<string, readonly StoredValue[]>();
    if (!post) continue;
    loaded.posts.set(date.id, post);
    loaded.metas.set(date.id, metasAt(metas, date));
    terms.set(date.id, terms.get(date.post) ?? []);
    if (date.recurs) pages.set(date.id, pageOfOccurrence(post, metas, date));
  }
  const { posts, metas } = loaded;
  return { posts, metas, terms, attached, pages, languages: languages && { ...languages, siblings: others } };
}

/** Returns the ids of the events that these events name as their parent. */
const parentsOf = ({ posts }: Loaded, ids: readonly number[]): number[] =>
  ids.flatMap((id) => {
    const parent = posts.get(id)?.post_parent ?? 0;
    return parent > 0 ? [parent] : [];
  });

/**
 * Returns the pages of events in the old format of recurrence, in which each date is a post. Events that recur
 * according to the tables have the new format: their post itself has a page without a date.
 */
async function pagesOfPosts(
  db: Database,
  { posts, metas }: Loaded,
  ids: readonly number[],
  base: number,
): Promise<Map<number, OccurrencePage>> {
  const pages = new Map<number, OccurrencePage>();
  for (const id of ids) {
    const post = posts.get(id);
    const page = post && pageOfDatedPost(post, metas.get(id), posts.get(post.post_parent));
    if (page) pages.set(id, page);
  }
  if (Number.isFinite(base)) for (const id of await recurringByRows(db, [...pages.keys()])) pages.delete(id);
  return pages;
}

/** The posts loaded so far, with their metas. */
interface Loaded {
  readonly posts: Map<number, Post>;
  readonly metas: Map<number, StoredMetas>;
  /** Undefined: nothing is cached. */
  readonly sharedRows: SharedRows | undefined;
}

/**
 * Loads those of these ids that are not loaded yet. Returns the rows of `others` that are not loaded yet: they are read
 * by the same query, without metas.
 */
async function loadMore(db: Database, loaded: Loaded, ids: readonly number[], others: readonly number[] = []): Promise<Map<number, Post>> {
  loaded.sharedRows?.recall(loaded, ids);
  // The id 0 refers to nothing.
  const missingIds = ids.filter((id) => id > 0 && !loaded.posts.has(id));
  const otherIds = others.filter((id) => !loaded.posts.has(id) && !missingIds.includes(id));
  if (missingIds.length + otherIds.length === 0) return new Map();
  const [posts, metas] = await Promise.all([loadPosts(db, [...missingIds, ...otherIds]), loadMetas(db, missingIds)]);
  const rows = new Map(otherIds.flatMap((id) => (posts.has(id) ? [[id, posts.get(id)!] as const] : [])));
  for (const [id, post] of posts) if (!rows.has(id)) loaded.posts.set(id, post);
  for (const [id, ofPost] of metas) loaded.metas.set(id, ofPost);
  loaded.sharedRows?.keep(loaded, missingIds);
  return rows;
}

interface Translatable {
  readonly ids: readonly number[];
  readonly linkedIds: readonly number[];
  readonly terms: ReadonlyMap<number, readonly Term[]>;
  readonly translatesLinks: boolean;
}

/**
 * Loads the languages of records and of the records they link to, and the terms that are shown in place of terms in
 * another language. This takes one or two queries.
 */
async function loadLanguages(
  db: Database,
  languages: ContentLanguages,
  { ids, linkedIds, terms, translatesLinks }: Translatable,
): Promise<Omit<BundleLanguages, 'siblings'>> {
  const linkingIds = [...terms.values()].flat();
  const memberships = await formOf(languages).memberships(db, languages, { posts: [...ids, ...linkedIds], terms: linkingIds });
  const linkedTerms = new Map(linkingIds.map((term) => [term.term_id, term]));
  const termsOf = new Map([...terms].map(([id, ofPost]) => [id, ofPost.map((term) => term.term_id)]));
  const termIds = translatesLinks ? standIns(memberships.posts, termsOf, memberships.terms).filter((id) => !linkedTerms.has(id)) : [];
  const termMembers = new Map([...linkedTerms, ...(await loadCalendarTerms(db, unique(termIds)))]);
  return { posts: withMembers(memberships.posts), terms: withMembers(memberships.terms), termMembers };
}

/** Adds the other members of each group under their own ids. */
function withMembers(memberships: ReadonlyMap<number, Membership>): Map<number, Membership> {
  const all = new Map<number, Membership>();
  for (const { members } of memberships.values()) for (const [language, id] of members) all.set(id, { language, members });
  for (const [id, membership] of memberships) all.set(id, membership);
  return all;
}

/** Returns the members of the translation groups of these records. */
const membersOf = (memberships: ReadonlyMap<number, Membership>, ids: Iterable<number>): number[] =>
  [...ids].flatMap((id) => [...(memberships.get(id)?.members.values() ?? [])]);

/**
 * Returns the records that may be shown in place of those that the records link to (`linkedIds`, with the translation
 * groups `groups`): the group members in the language of the linking record. Usually that is the linked record itself.
 */
const standIns = (
  records: ReadonlyMap<number, Membership>,
  linkedIds: ReadonlyMap<number, readonly number[]>,
  groups: ReadonlyMap<number, Membership>,
): number[] =>
  [...linkedIds].flatMap(([id, ofRecord]) => {
    const language = records.get(id)?.language;
    return language ? ofRecord.flatMap((one) => groups.get(one)?.members.get(language) ?? []) : [];
  });

/** Returns the ids of the images of these posts: the featured images and those in their texts. */
const imagesOf = (loaded: Loaded, ids: readonly number[]): number[] => [
  ...idsInMetas(loaded, ids, '_thumbnail_id'),
  ...ids.flatMap((id) => imageIdsIn(loaded.posts.get(id)?.post_content ?? '')),
];

/**
 * Loads the rows of the posts that images in the texts of unpublished posts are attached to: whether such a text shows
 * an image depends on them.
 */
async function loadFileParents(db: Database, { posts }: Loaded, ids: readonly number[]): Promise<void> {
  const unpublished = ids.flatMap((id) => posts.get(id) ?? []).filter((post) => !isPublic(post.post_status));
  const images = unpublished.flatMap((post) => imageIdsIn(post.post_content)).flatMap((id) => posts.get(id) ?? []);
  const parents = images.map((image) => image.post_parent).filter((parent) => parent > 0 && !posts.has(parent));
  for (const [id, post] of await loadPosts(db, parents)) posts.set(id, post);
}

/** Returns the ids that these posts store in a meta. */
const idsInMetas = ({ metas }: Loaded, ids: readonly number[], key: string): number[] =>
  idsIn(ids.flatMap((id) => metas.get(id)?.get(key) ?? []));

/**
 * Returns the parents whose attachments the galleries of a post may show. A gallery without a parent may show
 * unattached images and those of the post itself, as in the API.
 */
const galleryParentsOf = (post: Post | undefined): number[] =>
  post ? galleryParentsIn(post.post_content).flatMap((parent) => (parent === 0 ? [0, post.ID] : [parent])) : [];

/** Reads rows of `posts` by id. */
export async function loadPosts(db: Database, ids: readonly number[]): Promise<Map<number, Post>> {
  const trackedDb = dependingOn(db, ids);
  const rows = await readInParts(ids, (page) => trackedDb.rows<Post>`SELECT * FROM {posts} WHERE ID IN (${page})`);
  return new Map(rows.map((row) => [row.ID, row]));
}

/** Reads the metas of posts by post id, with all values of a key in the order of the rows. */
export async function loadMetas(db: Database, ids: readonly number[]): Promise<Map<number, StoredMetas>> {
  const trackedDb = dependingOn(db, ids);
  const rows = await readInParts(
    ids,
    (page) => trackedDb.rows<{ post_id: number; meta_key: string; meta_value: StoredValue | null }>`
      SELECT post_id, meta_key, meta_value FROM {postmeta} WHERE post_id IN (${page}) ORDER BY post_id, meta_id`,
  );
  const metas = new Map<number, Map<string, StoredValue[]>>();
  for (const { post_id: id, meta_key: key, meta_value: value } of rows) {
    let ofPost = metas.get(id);
    if (!ofPost) {
      ofPost = new Map();
      metas.set(id, ofPost);
    }
    const values = ofPost.get(key);
    if (values) values.push(value ?? EMPTY);
    else ofPost.set(key, [value ?? EMPTY]);
  }
  return metas;
}

const EMPTY = asStored('');

/** Reads the metas of one post, like `loadMetas`; empty if it has none. */
export const loadMetasOf = async (db: Database, id: number): Promise<StoredMetas> => (await loadMetas(db, [id])).get(id) ?? new Map();

/** Maximum number of images in a gallery that does not list its images. */
const MAX_GALLERY_IMAGES = 500;
/** Maximum number of SELECTs that are joined by UNION; SQLite allows no more. */
const MAX_UNION_SELECTS = 100;

/** Reads the ids of the images attached to posts, in menu order; 0 means images that are not attached to a post. */
async function loadAttached(db: Database, parents: readonly number[]): Promise<Map<number, number[]>> {
  const trackedDb = dependingOn(db, parents.length === 0 ? [] : [allPosts('attachment')]);
  const ofParent = (parent: number): Sql => [
    `SELECT * FROM (SELECT ID, post_parent, menu_order FROM ?? WHERE post_type = 'attachment' AND post_status = 'inherit'
     AND post_mime_type LIKE 'image/%' AND post_parent = ? ORDER BY menu_order, ID LIMIT ${MAX_GALLERY_IMAGES}) x`,
    [db.table('posts'), parent],
  ];
  const rows: Pick<Post, 'ID' | 'post_parent' | 'menu_order'>[] = [];
  for (const page of pagesOf(unique(parents), MAX_UNION_SELECTS))
    for (const row of await trackedDb.rows<(typeof rows)[number]>`${new Piece(unionAll(page.map(ofParent)), 'posts')}`) rows.push(row);
  return groupedBy(
    rows.sort((one, other) => one.menu_order - other.menu_order || one.ID - other.ID),
    ({ post_parent: parent }) => parent,
    ({ ID }) => ID,
  );
}

const unique = (ids: readonly number[]) => [...new Set(ids)];
