import { tableOf } from '../table.ts';
import { trimEndOf } from '../trim.ts';
import { escAttr } from './entities.ts';

/** A file of an image: its URL and size in pixels. */
export interface ImageFile {
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

/** An image of the media library, with the properties that a content needs to show it. */
export interface ContentImage extends ImageFile {
  /** The smaller files by name of size, in the order of the attachment's metadata. */
  readonly sizes: Readonly<Record<string, ImageFile>>;
  readonly alt?: string;
  /** The URL of the attachment's page; galleries link to it. */
  readonly link?: string;
  readonly caption?: string;
  /** Whether galleries leave it out. */
  readonly isHidden?: boolean;
}

export type ImageLookup = (id: number) => ContentImage | undefined;

/**
 * Adds attributes to `img` and `iframe` tags that improve loading in browsers (`wp_filter_content_tags`, outside the
 * main query, as for the REST interface): width and height, `srcset` and `sizes` for images of the library (class
 * `wp-image-N`), `decoding`, and `loading` if the size is known.
 */
export function addImageAttributes(html: string, images: ImageLookup): string {
  return html.replace(/<(img|iframe)[ \t\n\r\f\v][^<>]*>/g, (tag, name) =>
    name === 'img' ? improveImage(tag, images) : improveIframe(tag),
  );
}

/** Returns the ids of library images named in the tags of a content. */
export const taggedImageIds = (html: string): number[] => [
  ...new Set([...html.matchAll(/<img[ \t\n\r\f\v][^<>]*>/g)].flatMap(([tag]) => imageId(tag) ?? [])),
];

/**
 * Returns the tag of a library image in a named size (`wp_get_attachment_image` within a content, which does not add
 * `loading`).
 */
export function imageTag(image: ContentImage, size: string, extraAttributes = ''): string {
  const file = size === 'full' ? image : (Object.hasOwn(image.sizes, size) && image.sizes[size]) || fitToSize(image, size);
  const attributes = [
    `width="${file.width}"`,
    `height="${file.height}"`,
    `src="${escAttr(file.url)}"`,
    `class="attachment-${escAttr(size)} size-${escAttr(size)}"`,
    `alt="${escAttr((image.alt ?? '').trim())}"`,
  ];
  const srcset = sourceSet(image, file, file.url);
  if (extraAttributes !== '') attributes.push(extraAttributes);
  if (srcset !== null) attributes.push(`srcset="${escAttr(srcset)}"`, `sizes="${sizesOf(file)}"`);
  return `<img ${attributes.join(' ')} />`;
}

/** Maximum width of files offered in `srcset`, except the file that the tag names. */
const MAX_SOURCE_WIDTH = 2048;
/** Bounds of the default sizes, for an image too small to have a file of that size. */
const SIZE_BOUNDS: ReadonlyMap<string, number> = tableOf({ thumbnail: 150, medium: 300, medium_large: 768, large: 1024 });

function fitToSize(image: ContentImage, size: string): ImageFile {
  const bound = SIZE_BOUNDS.get(size);
  if (bound === undefined) return image;
  const scale = Math.min(1, bound / image.width, size === 'medium_large' ? 1 : bound / image.height);
  return { url: image.url, width: Math.max(1, Math.round(image.width * scale)), height: Math.max(1, Math.round(image.height * scale)) };
}

const imageId = (tag: string): number | null => {
  const id = Number(/wp-image-([0-9]+)/i.exec(tag)?.[1] ?? 0);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
};

function improveImage(tag: string, images: ImageLookup): string {
  const id = imageId(tag);
  const image = id === null ? undefined : images(id);
  let out = tag;
  if (image !== undefined && !out.includes(' width=') && !out.includes(' height=')) out = addSize(out, image);
  if (image !== undefined && !out.includes(' srcset=')) out = addSources(out, image);
  return addAutoSizes(addLoading(out));
}

const sourceOf = (tag: string): string => (/src="([^"]+)"/.exec(tag)?.[1] ?? '').split('?', 1)[0] as string;

function addSize(tag: string, image: ContentImage): string {
  const file = findFile(sourceOf(tag), image);
  if (file === null || file.width === 0 || file.height === 0) return tag;
  // A width set by a style (an inline image) scales both dimensions.
  const forced = Number(/style="width:[ \t\n\r\f\v]*(\d+)px;"/.exec(tag)?.[1] ?? 0);
  const width = forced === 0 ? file.width : forced;
  const height = forced === 0 ? file.height : Math.round((file.height * forced) / file.width);
  return tag.replace('<img', `<img width="${width}" height="${height}"`);
}

function addSources(tag: string, image: ContentImage): string {
  const source = sourceOf(tag);
  if (source === '' || Object.keys(image.sizes).length === 0) return tag;
  // The image was edited after it was inserted, and the tag shows the older version.
  const edit = /-e[0-9]{13}/.exec(image.url)?.[0];
  if (edit !== undefined && !baseName(source).includes(edit)) return tag;
  const width = Number(/ width="([0-9]+)"/.exec(tag)?.[1] ?? 0);
  const height = Number(/ height="([0-9]+)"/.exec(tag)?.[1] ?? 0);
  const size = width > 0 && height > 0 ? { width, height } : findFile(source, image);
  if (size === null) return tag;
  const srcset = sourceSet(image, size, source);
  if (srcset === null) return tag;
  const sizes = tag.includes(' sizes=') ? '' : ` sizes="${sizesOf(size)}"`;
  return `<img ${trimEndOf(tag.slice('<img '.length, -1), '/ ')} srcset="${escAttr(srcset)}"${sizes} />`;
}

const sizesOf = ({ width }: { width: number }) => `(max-width: ${width}px) 100vw, ${width}px`;

/**
 * Returns the files with the same aspect ratio as candidates of a `srcset`, the file of the tag first; null if there is
 * only one (`wp_calculate_image_srcset`).
 */
function sourceSet(image: ContentImage, size: { width: number; height: number }, source: string): string | null {
  const files: ImageFile[] = Object.values(image.sizes);
  if (files.length === 0 || size.width < 1) return null;
  // The smaller files of a GIF are not animated, so the full file and the smaller ones are never mixed.
  if (/\.gif$/i.test(image.url)) {
    if (source.includes(libraryPath(image.url))) return null;
  } else files.push(image);
  const edit = /-e[0-9]{13}/.exec(baseName(source))?.[0];
  let hasMatched = false;
  let sources = new Map<number, string>();
  for (const file of files) {
    const isSource: boolean = !hasMatched && source.includes(libraryPath(file.url));
    hasMatched ||= isSource;
    if (edit !== undefined && !baseName(file.url).includes(edit)) continue;
    if (file.width > MAX_SOURCE_WIDTH && !isSource) continue;
    if (!isSameRatio(size, file)) continue;
    if (isSource) sources = new Map([[file.width, file.url], ...[...sources].filter(([width]) => width !== file.width)]);
    else sources.set(file.width, file.url);
  }
  if (!hasMatched || sources.size < 2) return null;
  return [...sources].map(([width, url]) => `${url.replaceAll(' ', '%20')} ${width}w`).join(', ');
}

/** Returns whether two sizes have the same aspect ratio, to one pixel (`wp_image_matches_ratio`). */
function isSameRatio(a: { width: number; height: number }, b: { width: number; height: number }): boolean {
  const [large, small] = a.width > b.width ? [a, b] : [b, a];
  const scale = Math.min(1, small.width / large.width);
  const height = Math.max(1, Math.round(large.height * scale));
  return Math.abs(height - small.height) <= 1;
}

const baseName = (url: string) => url.slice(url.lastIndexOf('/') + 1);

/** Returns the part of a URL below the uploads folder, which stays the same when a site moves. */
const libraryPath = (url: string) => url.split('/uploads/').slice(1).join('/uploads/') || url.replace(/^[a-z]+:\/\/[^/]*\//i, '');

function findFile(source: string, image: ContentImage): ImageFile | null {
  if (source === '') return null;
  if (source.includes(baseName(image.url))) return image;
  return Object.values(image.sizes).find((file) => baseName(file.url) === baseName(source)) ?? null;
}

function addLoading(tag: string): string {
  if (!tag.includes(' src="')) return tag;
  const decoding = /^<img\b/.test(tag) && !/ decoding=["'][a-z]+["']/.test(tag) ? ' decoding="async"' : '';
  const hasDimensions = /^<img\b/.test(tag) && tag.includes(' width="') && tag.includes(' height="');
  const hasNumericDimensions = / width=["'][0-9]+["']/.test(tag) && / height=["'][0-9]+["']/.test(tag);
  // An image with high priority is not loaded lazily.
  const isUrgent = / fetchpriority=["']high["']/.test(tag);
  const loading = hasDimensions && hasNumericDimensions && !isUrgent && !/ loading=["'][a-z]+["']/.test(tag) ? ' loading="lazy"' : '';
  return tag.replace('<img', `<img${loading}${decoding}`);
}

/**
 * Adds `auto` at the start of `sizes` of a lazy image, since its layout is known when it is loaded
 * (`wp_img_tag_add_auto_sizes`).
 */
function addAutoSizes(tag: string): string {
  if (!/ loading=(?:"lazy"|'lazy'|lazy)(?=[ />])/i.test(tag) || !/ width=["']?[0-9]/.test(tag)) return tag;
  return tag.replace(/ sizes="([^"]*)"/, (match, sizes: string) =>
    /^[ \t\n\r\f\v]*auto(?:[ \t\n\r\f\v]*,|[ \t\n\r\f\v]*$)/i.test(sizes) ? match : ` sizes="auto, ${sizes}"`,
  );
}

function improveIframe(tag: string): string {
  // Embeds of other WordPress sites (data-secret) are made visible by a script, which needs them to be loaded.
  if (tag.includes(' loading=') || tag.includes(' data-secret="')) return tag;
  const isReady = [' src="', ' width="', ' height="'].every((attribute) => tag.includes(attribute));
  return isReady ? tag.replace('<iframe', '<iframe loading="lazy"') : tag;
}
