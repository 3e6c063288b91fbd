import type { z } from 'zod';
import { memoize } from '../memo.ts';
import { isObject, objectOf } from '../objects.ts';
import { blogUrl } from '../wordpress/blog-links.ts';
import { postUrl } from '../wordpress/links.ts';
import { jsonValue, parseSerialized } from '../wordpress/php/serialized.ts';
import { metaOf, type Post } from '../wordpress/rows.ts';
import { isPrivate, isPublic } from '../wordpress/status.ts';
import type { Bundle, RenderContext } from './rendering.ts';
import type { image } from './shapes.ts';

export type ImageRecord = z.output<typeof image>;
type Sizes = NonNullable<ImageRecord['sizes']>;

/** A size of an image in the metadata of its attachment. */
interface StoredSize {
  readonly file?: unknown;
  readonly [member: string]: unknown;
}

/** Returns the published image of an attachment, or false if there is none. */
export function imageRecord(id: number | undefined, bundle: Bundle, context: RenderContext): ImageRecord | false {
  const url = attachmentUrl(id, bundle, context);
  if (id === undefined || url === undefined) return false;
  const file = metaOf(bundle.metas.get(id), '_wp_attached_file') ?? url;
  const extension = /\.([^./]+)$/.exec(file)?.[1];
  const { members, sizes } = publishedMetadata(id, bundle);
  return {
    url,
    id,
    ...(extension ? { extension } : {}),
    ...members,
    ...(sizes.length > 0 ? { sizes: sizesWithUrls(url, sizes) } : {}),
  };
}

/** Returns the URL of the featured image of a post, or undefined if it has none. */
export function featuredImageUrl(postId: number, bundle: Bundle, context: RenderContext): string | undefined {
  return attachmentUrl(thumbnailOf(postId, bundle), bundle, context);
}

/** Returns the id of the featured image of a post. */
export function thumbnailOf(postId: number, bundle: Bundle): number | undefined {
  return Number(metaOf(bundle.metas.get(postId), '_thumbnail_id')) || undefined;
}

/** Returns the alternative text of the featured image of a post; empty if there is none. */
export const featuredImageAlt = (postId: number, bundle: Bundle): string => altTextOf(thumbnailOf(postId, bundle) ?? 0, bundle);

const altTextOf = (id: number, bundle: Bundle): string => metaOf(bundle.metas.get(id), '_wp_attachment_image_alt') ?? '';

/** Returns the data of a local image that the content of the post `owner` needs (`wp_calculate_image_srcset`). */
export function contentImage(id: number, owner: Post, bundle: Bundle, context: RenderContext) {
  const url = attachmentUrl(id, bundle, context);
  if (url === undefined) return undefined;
  const { width, height } = metadataOf(id, bundle);
  const row = bundle.posts.get(id)!;
  return {
    url,
    width: pixels(width),
    height: pixels(height),
    alt: altTextOf(id, bundle),
    caption: row.post_excerpt,
    link: attachmentPage(row, bundle, context),
    sizes: sizesInPixels(sizesWithUrls(url, publishedMetadata(id, bundle).sizes)),
    isHidden: isHiddenFrom(owner, row, bundle, context),
  };
}

/**
 * Whether galleries in the content of the post `owner` leave out an image: a private or trashed one
 * (`gallery_shortcode`) and, until the post is published, one that the caller may not read.
 */
const isHiddenFrom = (owner: Post, image: Post, bundle: Bundle, context: RenderContext): boolean =>
  image.post_status !== 'inherit' || (!isPublic(owner.post_status) && !context.mayReadFile(image, bundle.posts.get(image.post_parent)));

/** Returns a stored width or height as a number, since it is written into tags and may be any text. */
const pixels = (stored: unknown): number => Math.max(0, Math.trunc(Number(stored))) || 0;

/** Returns the sizes that have a width and a height. */
const sizesInPixels = (sizes: Sizes) =>
  Object.fromEntries(
    Object.entries(sizes)
      .map(([name, { url, width, height }]) => [name, { url, width: pixels(width), height: pixels(height) }] as const)
      .filter(([, { width, height }]) => width > 0 && height > 0),
  );

/**
 * Returns the URL of an attachment's page (`get_attachment_link`): its slug below the page of its parent post, or at
 * the root of the site. If the parent's page has no permalink yet, the URL contains the id of the attachment. `slug`:
 * another slug than its own; null puts a placeholder in its place.
 */
export function attachmentPage(row: Post, bundle: Bundle, context: RenderContext, slug: string | null = row.post_name): string {
  const { home, settings } = context;
  const { permalinkStructure: structure } = settings;
  const parent = row.post_parent === row.ID ? undefined : bundle.posts.get(row.post_parent);
  const parentUrl = parent === undefined ? home : pageOf(parent, context);
  // Without a parent, WordPress has no form of the URL with a placeholder.
  if (structure === '' || parentUrl.includes('?') || (parent === undefined && slug === null)) return `${home}/?attachment_id=${row.ID}`;
  const isUnsure = parent !== undefined && slug !== null && (/^\d+$/.test(slug) || structure.includes('%category%'));
  return `${parentUrl.replace(/\/$/, '')}/${isUnsure ? 'attachment/' : ''}${slug ?? '%postname%'}${structure.endsWith('/') ? '/' : ''}`;
}

const eventPlace = ({ home, settings }: RenderContext) => ({
  home,
  permalinkStructure: settings.permalinkStructure,
  singleEventSlug: settings.calendar.singleEventSlug,
});

/** Returns the URL of the page of an attachment's parent. */
function pageOf(parent: Post, context: RenderContext): string {
  if (!['post', 'page'].includes(parent.post_type)) return postUrl(eventPlace(context), parent);
  const { home, settings } = context;
  return isPublic(parent.post_status) || isPrivate(parent.post_status)
    ? blogUrl({ home, permalinkStructure: settings.permalinkStructure }, parent)
    : `${home}/?p=${parent.ID}`;
}

/** Returns the URL of an image in the library; undefined if there is no image with this id. */
function attachmentUrl(id: number | undefined, bundle: Bundle, context: RenderContext): string | undefined {
  const row = id === undefined ? undefined : bundle.posts.get(id);
  if (id === undefined || row?.post_type !== 'attachment' || !row.post_mime_type.startsWith('image/')) return undefined;
  const file = metaOf(bundle.metas.get(id), '_wp_attached_file');
  return file ? `${context.uploads}/${file}` : row.guid;
}

/** Returns the unserialized metadata of an attachment; empty if they are missing or invalid. */
export const metadataOf = (id: number, bundle: Bundle): Record<string, unknown> => cachedMetadata(storedMetadata(id, bundle));

const storedMetadata = (id: number, bundle: Bundle) => metaOf(bundle.metas.get(id), '_wp_attachment_metadata') ?? '';

const cachedMetadata = memoize(
  (text): Record<string, unknown> => ({ ...objectOf(text === '' ? undefined : jsonValue(parseSerialized(text))) }),
);

/** Returns the sizes in metadata; invalid entries are ignored. */
export const storedSizes = ({ sizes }: Readonly<Record<string, unknown>>): [string, StoredSize][] =>
  Object.entries(objectOf(sizes)).filter((entry): entry is [string, StoredSize] => isObject(entry[1]));

/**
 * Returns the part of the metadata that is published: members of the image itself, and its sizes with their file names.
 */
const publishedMetadata = (id: number, bundle: Bundle) => cachedPublished(storedMetadata(id, bundle));

const cachedPublished = memoize((text) => {
  const metadata = cachedMetadata(text);
  const { image_meta: _, file: __, sizes: ___, ...members } = metadata;
  return {
    members: withoutEmpty(members),
    sizes: storedSizes(metadata).map(([name, { file, ...otherMembers }]) => ({
      name,
      file: String(file),
      members: withoutEmpty(otherMembers),
    })),
  };
});

/** Returns the sizes with their URLs. Their files are in the same folder as the full image. */
function sizesWithUrls(url: string, sizes: ReturnType<typeof cachedPublished>['sizes']): Sizes {
  const folder = url.slice(0, url.lastIndexOf('/') + 1);
  // The members are those that WordPress stored about the file; they are published unchanged.
  return Object.fromEntries(sizes.map(({ name, file, members }) => [name, { ...members, url: folder + file }])) as Sizes;
}

const withoutEmpty = (members: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => value !== '' && value !== 0 && value !== '0' && value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );
