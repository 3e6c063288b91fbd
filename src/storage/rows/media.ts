import { isObject, objectOf } from '../../objects.ts';
import { guidOf } from '../../wordpress/links.ts';
import { parseSerialized, type StoredValue } from '../../wordpress/php/serialized.ts';
import { type Metas, metaOf, type Post } from '../../wordpress/rows.ts';
import { sanitizeTitle, uniqueSlug } from '../../wordpress/slug.ts';
import type { Database } from '../engine/database.ts';
import type { Sql } from '../engine/dialect.ts';
import { either, equalsAny, isSlugLike } from '../engine/expressions.ts';
import { reportPostChanged } from '../journal/reported-changes.ts';
import { loadMetas, loadPosts } from './bundle.ts';
import { lockNames, slugLock } from './locks.ts';
import { readOptions } from './options.ts';
import { insertPost, removePost, writeMetas } from './posts.ts';

/** An image identified by the URL of its file. `file`: the path below the folder of uploads, if the URL leads there. */
export interface WantedImage {
  readonly url: string;
  readonly file?: string | undefined;
}

/** The meta with the URL that an image was fetched from. */
export const SOURCE_URL_META = '_tribe_importer_original_url';

/** An attachment to be inserted, with all its metas by key. */
export interface NewAttachment {
  readonly title: string;
  /** The text that the slug is made from, instead of the title. */
  readonly slug?: string;
  readonly mime: string;
  readonly guid: string;
  readonly metas: Readonly<Record<string, readonly StoredValue[]>>;
}

/** Author and time of an insertion: `YYYY-MM-DD HH:MM:SS` in the site's zone and in UTC. */
export interface Insertion {
  readonly author: number;
  readonly date: string;
  readonly dateUtc: string;
}

/**
 * Returns the ids of the matching images in the library, the best match first. An image matches if its file is at the
 * URL, if it was created there (`guid`), if it was fetched from there (`_tribe_importer_original_url`), or if one of
 * its sizes or its original is there (WordPress `attachment_url_to_postid`).
 */
export async function findImages(db: Database, { url, file }: WantedImage): Promise<number[]> {
  const [guidIds, metaIds] = await Promise.all([idsByGuid(db, url), idsByMeta(db, url, file)]);
  const images = await imagesAmong(db, [...guidIds, ...metaIds]);
  if (images.length === 0) return [];
  const metas = await loadMetas(
    db,
    images.map(({ ID }) => ID),
  );
  // The databases compare texts more loosely than file systems compare names.
  const tests: ((image: ImageRow, of: Metas | undefined) => boolean)[] = [
    (_, of) => file !== undefined && metaOf(of, '_wp_attached_file') === file,
    ({ guid }) => isSameAddress(guid, url),
    (_, of) => metaOf(of, SOURCE_URL_META) === url,
    (_, of) => file !== undefined && derivedFiles(of).has(file),
  ];
  const matches = tests.flatMap((test) => images.filter((image) => test(image, metas.get(image.ID))));
  return [...new Set(matches.map(({ ID }) => ID))];
}

/**
 * Inserts an attachment with its metas, as `wp_insert_attachment` does. Returns its id. Must be called in a
 * transaction.
 */
export async function insertAttachment(
  db: Database,
  { title, slug, mime, guid, metas }: NewAttachment,
  { author, date, dateUtc }: Insertion,
): Promise<number> {
  const base = sanitizeTitle(slug ?? title);
  await lockNames(db, [slugLock('attachment', base)]);
  const comments = (await readOptions(db, ['default_comment_status'])).get('default_comment_status') === 'open';
  const id = await insertPost(db, {
    post_author: author,
    post_date: date,
    post_date_gmt: dateUtc,
    post_modified: date,
    post_modified_gmt: dateUtc,
    post_title: title,
    post_name: base === '' ? '' : uniqueSlug(base, await slugsOfAllTypes(db, base)),
    post_status: 'inherit',
    post_type: 'attachment',
    post_mime_type: mime,
    comment_status: comments ? 'open' : 'closed',
    guid: guidOf(guid),
  });
  if (base === '')
    await db
      .from('posts')
      .where('ID', id)
      .update({ post_name: String(id) });
  await writeMetas(db, id, metas);
  return id;
}

interface ImageRow {
  readonly ID: number;
  readonly guid: string;
}

/** Returns the rows of those of these ids that are images, in the order of their ids. */
async function imagesAmong(db: Database, ids: readonly number[]): Promise<ImageRow[]> {
  if (ids.length === 0) return [];
  return db
    .from('posts')
    .whereIn('ID', [...new Set(ids)])
    .where('post_type', 'attachment')
    .whereRaw("post_mime_type LIKE 'image/%'")
    .orderBy('ID')
    .select('ID', 'guid');
}

async function idsByGuid(db: Database, url: string): Promise<number[]> {
  const forms = ['http:', 'https:'].map((scheme) => url.replace(/^https?:/, scheme));
  const rows = await db.from('posts').where('post_type', 'attachment').whereIn('guid', forms).select('ID');
  return rows.map(({ ID }) => ID);
}

async function idsByMeta(db: Database, url: string, file: string | undefined): Promise<number[]> {
  const query = db.from('postmeta').where((any) => {
    any.where({ meta_key: SOURCE_URL_META, meta_value: url });
    if (file !== undefined) any.orWhere((stored) => stored.where('meta_key', '_wp_attached_file').whereRaw(...mayBelongTo(db, [file])));
  });
  const rows = await query.select('post_id');
  return rows.map(({ post_id: id }) => id);
}

/**
 * Condition: an attachment may refer to one of these files, by the value of its `_wp_attached_file`. That is the file
 * itself, or the one of which it is a size or the original, or that one after it was edited in WordPress
 * (`wp_save_image`), whose sizes may still be those from before.
 */
function mayBelongTo({ dialect }: Pick<Database, 'dialect'>, files: readonly string[]): Sql {
  const originals = new Set(files.map((file) => file.replace(/-\d+x\d+(\.[^./]+)$/, '$1')));
  const copies = [...originals].flatMap((original) =>
    ['', '-scaled', '-rotated'].map((suffix) => original.replace(/(\.[^./]+)$/, `${suffix}$1`)),
  );
  const editedStarts = new Set(copies.map((copy) => copy.replace(/(?:-e\d+)?\.[^./]+$/, '-e')));
  return either([
    equalsAny('meta_value', [...new Set([...files, ...copies])]),
    ...[...editedStarts].map((start) => dialect.startsWith('meta_value', start)),
  ]);
}

/** Returns the folder of a path, including the final slash. */
const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);

/**
 * Returns the files that an attachment's metadata name in addition to the attached file: sizes and the original, with
 * the path of the attached file.
 */
function derivedFiles(metas: Metas | undefined): ReadonlySet<string> {
  const folder = folderOf(metaOf(metas, '_wp_attached_file') ?? '');
  const { original_image: original } = metadataOf(metas);
  return new Set([...(typeof original === 'string' ? [folder + original] : []), ...sizeFilesOf(metas)]);
}

/** Returns the files of the sizes that the metadata of an attachment name, with the path of the attached file. */
export const sizeFilesOf = (metas: Metas | undefined): readonly string[] => {
  const folder = folderOf(metaOf(metas, '_wp_attached_file') ?? '');
  return fileNamesOfSizes(metadataOf(metas).sizes)
    .filter((name) => typeof name === 'string')
    .map((name) => folder + name);
};

function metadataOf(metas: Metas | undefined): Readonly<Record<string, unknown>> {
  return objectOf(parseSerialized(metaOf(metas, '_wp_attachment_metadata') ?? ''));
}

/** Returns the files from before an attachment was edited in WordPress, which keeps them to undo the change. */
function earlierFiles(metas: Metas | undefined): string[] {
  const folder = folderOf(metaOf(metas, '_wp_attached_file') ?? '');
  const names = fileNamesOfSizes(parseSerialized(metaOf(metas, '_wp_attachment_backup_sizes') ?? ''));
  return names.filter((name) => typeof name === 'string').map((name) => folder + name);
}

const fileNamesOfSizes = (sizes: unknown): unknown[] =>
  isObject(sizes) ? Object.values(sizes as Record<string, { file?: unknown } | null>).map((size) => size?.file) : [];

const isSameAddress = (one: string, other: string): boolean => withoutScheme(one) === withoutScheme(other);
const withoutScheme = (url: string): string => url.replaceAll('&#038;', '&').replace(/^https?:/, '');

/**
 * Returns the slugs of posts of any type that begin with `base`: slugs of attachments are unique among all types
 * (`wp_unique_post_slug`).
 */
async function slugsOfAllTypes(db: Database, base: string, id = 0): Promise<Set<string>> {
  const rows = await db
    .from('posts')
    .whereRaw(...isSlugLike(db, 'post_name', base))
    .whereNot('ID', id)
    .select('post_name');
  return new Set(rows.map(({ post_name: name }) => name));
}

/**
 * Returns a free slug for a file, based on the requested one; the id of the file if the requested text has no
 * characters that a slug may contain. Must be called in a transaction.
 */
export async function freeFileSlug(db: Database, requestedSlug: string, id: number): Promise<string> {
  const base = sanitizeTitle(requestedSlug);
  if (base === '') return String(id);
  await lockNames(db, [slugLock('attachment', base)]);
  return uniqueSlug(base, await slugsOfAllTypes(db, base, id));
}

/** Returns the posts that have one of these images as their featured image. */
export async function postsWithImages(db: Database, ids: readonly number[]): Promise<{ readonly image: number; readonly post: Post }[]> {
  if (ids.length === 0) return [];
  const rows = await db.rows<{ post_id: number; meta_value: string }>`
    SELECT post_id, meta_value FROM {postmeta} WHERE meta_key = '_thumbnail_id' AND meta_value IN (${ids.map(String)})`;
  const posts = await loadPosts(
    db,
    rows.map((row) => row.post_id),
  );
  return rows.flatMap(({ post_id: id, meta_value: image }) => {
    const post = posts.get(id);
    return post ? [{ image: Number(image), post }] : [];
  });
}

/**
 * Returns the files of an attachment, as paths below the folder of uploads: the file itself, its sizes, the original,
 * and their versions from before it was edited (`wp_delete_attachment_files`).
 */
export function filesOf(metas: Metas | undefined): string[] {
  const file = metaOf(metas, '_wp_attached_file');
  return file ? [...new Set([file, ...derivedFiles(metas), ...earlierFiles(metas)])] : [];
}

/**
 * Returns those of these files that no attachment refers to, by the rules of `filesOf`. Several attachments may share a
 * file: the language plugins create a separate attachment for each translation.
 */
export async function unreferencedFiles(db: Database, files: readonly string[]): Promise<string[]> {
  if (files.length === 0) return [];
  const sharing = await db
    .from('postmeta')
    .where('meta_key', '_wp_attached_file')
    .whereRaw(...mayBelongTo(db, files))
    .select('post_id');
  const metas = await loadMetas(
    db,
    sharing.map(({ post_id: id }) => id),
  );
  const referencedFiles = new Set([...metas.values()].flatMap(filesOf));
  return files.filter((file) => !referencedFiles.has(file));
}

/** Deletes an attachment, and removes it from the posts that have it as their featured image. */
export async function removeAttachment(db: Database, id: number): Promise<void> {
  const links = () => db.from('postmeta').where({ meta_key: '_thumbnail_id', meta_value: String(id) });
  for (const { post_id: post } of await links().select('post_id')) reportPostChanged(db, post);
  await links().delete();
  await removePost(db, id);
}
