import { imageMimeOf } from '../../media/image-type.ts';
import { isObject } from '../../objects.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { toSerialized } from '../../wordpress/php/serialized.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import type { PostItem } from '../items/items.ts';
import { dateColumns, discussionOf, type LiveContext, type LiveItem, metaPair } from './items.ts';
import type { CoreMedia, LiveImage } from './records.ts';
import { type Guess, storedExcerpt } from './texts.ts';

/** Facts about an image that its record does not contain. */
interface ImageContext extends Pick<LiveContext, 'settings' | 'place' | 'author'> {
  /** Whether its stored texts could not be read, although the site has them. */
  readonly hidesStored: boolean;
}

/** Columns that only WordPress's own route shows, some of them only to users who may edit. */
const TEXTS = ['post_title', 'post_excerpt', 'post_content'];

/**
 * Returns an image, preferably as WordPress's own route returns it, otherwise as the record shows it. `author`: name of
 * the user who uploaded it.
 */
export function imageItem(
  image: LiveImage,
  media: CoreMedia | undefined,
  { settings, place, author, hidesStored }: ImageContext,
): LiveItem {
  const url = media?.source_url || image.url;
  const file = fileBelow(url);
  const name = (url.split('/').at(-1) ?? '').replace(/\.[^.]+$/, '');
  const mime = media?.mime_type || (imageMimeOf(url) ?? 'image/jpeg');
  const title = media?.title?.raw ?? decodeEntities(media?.title?.rendered ?? name);
  const stamps = media ? dateColumns(media.date, media.date_gmt, media.modified, media.modified_gmt) : {};
  const caption = captionOf(media, settings);
  const item: PostItem = {
    kind: 'attachment',
    sourceId: String(image.id),
    id: image.id,
    place,
    columns: {
      post_title: title,
      post_excerpt: caption?.text ?? '',
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
      ['_wp_attachment_metadata', toSerialized(metadataOf(image, media, file ?? name))],
      ...(media?.alt_text ? metaPair('_wp_attachment_image_alt', media.alt_text) : []),
    ],
    // A site that does not show the member says nothing about the text.
    absent: media?.alt_text === '' ? ['_wp_attachment_image_alt'] : [],
    // Without the route, the title is only guessed from the file.
    initial: [...(hidesStored ? TEXTS : []), ...(media ? [] : ['post_title', 'guid']), ...(caption ? [] : ['post_excerpt'])],
    links: [],
    complete: false,
    url,
  };
  return { item, guessedMembers: caption?.isExact === false ? ['caption'] : [] };
}

/** Returns the stored caption, as far as it is shown. */
function captionOf(media: CoreMedia | undefined, { smilies }: LiveContext['settings']): Guess | undefined {
  if (media?.caption === undefined) return undefined;
  const { raw, rendered } = media.caption;
  return raw === undefined ? storedExcerpt(rendered.trim(), { smilies, images: () => undefined }) : { text: raw, isExact: true };
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
    const sizeEntries = isObject(rawSizes)
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
