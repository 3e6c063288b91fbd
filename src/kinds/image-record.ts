import { remembered } from '../wordpress/remembered.ts';
import { metaOf, type Post } from '../wordpress/rows.ts';
import { parseSerialized } from '../wordpress/serialized.ts';
import type { Bundle, RenderContext } from './kind.ts';

/** A size of an image as its attachment's metadata holds it. */
interface StoredSize {
  readonly file?: unknown;
  readonly [member: string]: unknown;
}

/** The published image of an attachment, or false where there is none. */
export function imageRecord(id: number | undefined, bundle: Bundle, context: RenderContext): Record<string, unknown> | false {
  const url = attachmentUrl(id, bundle, context);
  if (id === undefined || url === undefined) return false;
  const file = metaOf(bundle.metas.get(id), '_wp_attached_file') ?? url;
  const extension = /\.([^./]+)$/.exec(file)?.[1];
  const { image_meta: _, file: __, sizes, ...members } = metadataOf(id, bundle);
  return {
    url,
    id,
    ...(extension ? { extension } : {}),
    ...withoutEmpty(members),
    ...(sizes && typeof sizes === 'object' && Object.keys(sizes).length > 0
      ? { sizes: publishedSizes(sizes as Record<string, StoredSize>, url) }
      : {}),
  };
}

/** Address of the featured image of a post, undefined where there is none. */
export function imageAddress(postId: number, bundle: Bundle, context: RenderContext): string | undefined {
  return attachmentUrl(thumbnailOf(postId, bundle), bundle, context);
}

export function thumbnailOf(postId: number, bundle: Bundle): number | undefined {
  return Number(metaOf(bundle.metas.get(postId), '_thumbnail_id')) || undefined;
}

/** What the content of a post may want to know of a local image (`wp_calculate_image_srcset`). */
export function contentImage(id: number, bundle: Bundle, context: RenderContext) {
  const url = attachmentUrl(id, bundle, context);
  if (url === undefined) return undefined;
  const { width, height, sizes } = metadataOf(id, bundle);
  const row = bundle.posts.get(id)!;
  const published = sizes && typeof sizes === 'object' ? publishedSizes(sizes as Record<string, StoredSize>, url) : {};
  return {
    url,
    width: Number(width) || 0,
    height: Number(height) || 0,
    alt: metaOf(bundle.metas.get(id), '_wp_attachment_image_alt') ?? '',
    caption: row.post_excerpt,
    link: attachmentPage(row, context),
    sizes: published as Record<string, { url: string; width: number; height: number }>,
  };
}

/** Address of an attachment's page: its slug at the root of the site. */
export const attachmentPage = ({ ID, post_name: slug }: Post, { home, settings }: RenderContext) =>
  settings.permalinkStructure === ''
    ? `${home}/?attachment_id=${ID}`
    : `${home}/${slug}${settings.permalinkStructure.endsWith('/') ? '/' : ''}`;

/** Address of an image of the library; undefined: there is none of this id. */
export function attachmentUrl(id: number | undefined, bundle: Bundle, context: RenderContext): string | undefined {
  const row = id === undefined ? undefined : bundle.posts.get(id);
  if (id === undefined || row?.post_type !== 'attachment' || !row.post_mime_type.startsWith('image/')) return undefined;
  const file = metaOf(bundle.metas.get(id), '_wp_attached_file');
  return file ? `${context.uploads}/${file}` : row.guid;
}

const knownMetadata = remembered((stored) => parseSerialized(stored) ?? null);

/** What an attachment's metadata say, unserialized; empty where they are missing or broken. */
export function metadataOf(id: number, bundle: Bundle): Record<string, unknown> {
  const stored = metaOf(bundle.metas.get(id), '_wp_attachment_metadata');
  const value = stored === undefined ? undefined : knownMetadata(stored);
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}

/** Sizes lie beside the full image. */
function publishedSizes(sizes: Record<string, StoredSize>, url: string): Record<string, unknown> {
  const folder = url.slice(0, url.lastIndexOf('/') + 1);
  return Object.fromEntries(
    Object.entries(sizes).map(([name, { file, ...members }]) => [name, { ...withoutEmpty(members), url: `${folder}${String(file)}` }]),
  );
}

const withoutEmpty = (members: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => value !== '' && value !== 0 && value !== '0' && value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );
