import { decodeEntities } from '../../wordpress/content/entities.ts';
import { toSerialized } from '../../wordpress/php/serialized.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import type { PostItem } from '../items/items.ts';
import { dateColumns, discussionOf, metaPair } from './items.ts';
import type { CoreMedia, LiveImage } from './records.ts';

/**
 * Returns an image, preferably as WordPress's own route returns it, otherwise as the record shows it. `author`: name of
 * the user who uploaded it.
 */
export function imageItem(image: LiveImage, media: CoreMedia | undefined, author: string | undefined, place: string): PostItem {
  const url = media?.source_url || image.url;
  const file = fileBelow(url);
  const name = (url.split('/').at(-1) ?? '').replace(/\.[^.]+$/, '');
  const mime = media?.mime_type || `image/${(/\.(\w+)$/.exec(url)?.[1] ?? 'jpeg').toLowerCase().replace('jpg', 'jpeg')}`;
  const title = media?.title?.raw ?? decodeEntities(media?.title?.rendered ?? name);
  const stamps = media ? dateColumns(media.date, media.date_gmt, media.modified, media.modified_gmt) : {};
  return {
    kind: 'attachment',
    sourceId: String(image.id),
    id: image.id,
    place,
    columns: {
      post_title: title,
      post_excerpt: media?.caption?.raw ?? '',
      ...(media?.description?.raw === undefined ? {} : { post_content: media.description.raw }),
      ...discussionOf(media),
      post_status: 'inherit',
      post_mime_type: mime,
      guid: media?.guid?.rendered || url,
      ...(media?.slug ? { post_name: media.slug } : {}),
      ...stamps,
    },
    ...(author === undefined ? {} : { author }),
    ...(media && media.post > 0 ? { parent: String(media.post) } : {}),
    metas: [
      ...(file === undefined ? [] : metaPair('_wp_attached_file', file)),
      ...metaPair('_wp_attachment_metadata', toSerialized(metadataOf(image, media, file ?? name))),
      ...(media?.alt_text ? metaPair('_wp_attachment_image_alt', media.alt_text) : []),
    ],
    links: [],
    complete: false,
    url,
  };
}

/** Returns the path of a file within the uploads folder. */
function fileBelow(url: string): string | undefined {
  const path = URL.canParse(url) ? new URL(url).pathname : url;
  const relativePath = path
    .split('/uploads/')
    .slice(1)
    .join('/uploads/')
    .replace(/^sites\/\d+\//, '');
  const file = relativePath.split('/').includes('') ? path.split('/').at(-1) : relativePath;
  return file ? percentDecoded(file) : undefined;
}

const lastPart = (url: string): string => fileBelow(url)?.split('/').at(-1) ?? '';

/** Returns the metadata that WordPress stores about an image and its sizes. */
function metadataOf({ width, height, filesize, sizes }: LiveImage, media: CoreMedia | undefined, file: string): object {
  const details = media?.media_details ?? {};
  if (details.width !== undefined && details.sizes !== undefined) {
    const { sizes: rawSizes, ...rest } = details as { sizes: unknown };
    const sizeEntries =
      rawSizes !== null && typeof rawSizes === 'object'
        ? Object.entries(rawSizes as Record<string, Record<string, unknown>>).filter(([name]) => name !== 'full')
        : [];
    const toStoredSize = (size: Record<string, unknown>) => {
      const { source_url: _, mime_type: mime, ...members } = size;
      return { ...members, ...(mime === undefined ? {} : { 'mime-type': mime }) };
    };
    return { ...rest, sizes: Object.fromEntries(sizeEntries.map(([name, size]) => [name, toStoredSize(size)])) };
  }
  return {
    width,
    height,
    file,
    ...(filesize === undefined ? {} : { filesize }),
    sizes: Object.fromEntries(
      Object.entries(sizes).map(([name, { width: w, height: h, url, 'mime-type': mime, filesize: bytes }]) => [
        name,
        {
          file: lastPart(url),
          width: w,
          height: h,
          ...(mime ? { 'mime-type': mime } : {}),
          ...(bytes === undefined ? {} : { filesize: bytes }),
        },
      ]),
    ),
  };
}
