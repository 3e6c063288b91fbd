import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { storeImage, storeSizes } from '../../media/library.ts';
import { ImageUnreadable } from '../../media/picture.ts';
import { type FetchOptions, FetchRefused, fetchImage } from '../../media/safe-fetch.ts';
import { sizeRules } from '../../media/sizes.ts';
import type { Caller } from '../../records/caller.ts';
import type { Site } from '../../site.ts';
import { SOURCE_URL_META, sizeFilesOf } from '../../storage/rows/media.ts';
import { type StoredValue, storedText } from '../../wordpress/php/serialized.ts';
import { type Metas, metaOf } from '../../wordpress/rows.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import { isImageUrl } from '../items/image-item.ts';
import type { PostItem } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';
import type { FetchedFile, RequestStart } from './options.ts';

/** A path in the library by year and month, as WordPress makes them. */
const BY_MONTH = /^(\d{4}\/\d\d)\/[^/]+$/;

/** Options for fetching a file. `stored`: the metas of an existing attachment. */
interface FileOptions extends FetchOptions {
  readonly stored?: Metas | undefined;
  readonly request?: RequestStart;
}

/**
 * Fetches the file of an attachment of the source and puts it into the library, at the same path if it is free. Never
 * requests private addresses (A7). If nothing is fetched, returns the item unchanged, with the reason.
 */
export async function fetchFile(
  site: Site,
  caller: Caller,
  item: PostItem,
  { stored, request, ...options }: FileOptions = {},
): Promise<FetchedFile> {
  if (item.url === undefined || (stored !== undefined && !(await isWanted(site, item, stored)))) return { item };
  if (request && !(await request())) return { item, fault: 'time' };
  try {
    const { bytes, type } = await fetchImage(item.url, options);
    const metas = metaMap(item.metas);
    const sourcePath = metaOf(metas, '_wp_attached_file') ?? '';
    const isCopied = BY_MONTH.test(sourcePath) && (await hasFile(site, sourcePath, bytes));
    // Somebody copied it with its sizes.
    if (isCopied && (await hasSizes(site, metas)))
      return { item: stored === undefined ? item : withMetas(item, { [SOURCE_URL_META]: [storedText(item.url)] }) };
    const ownPath = isFetchedFrom(item.url, stored) ? (metaOf(stored, '_wp_attached_file') ?? '') : '';
    const isOwn = !isCopied && ownPath !== '' && (await hasFile(site, ownPath, bytes));
    const at = isOwn ? ownPath : sourcePath;
    const month = BY_MONTH.exec(at)?.[1] ?? '';
    const library = {
      folder: site.config.uploadsDir,
      address: caller.uploads,
      byMonth: month !== '',
      sizes: sizeRules(caller.settings.raw),
    };
    const name = percentDecoded(new URL(item.url).pathname.split('/').at(-1) ?? '');
    const image = { bytes, type, name, source: item.url };
    const { attachment, undo } = await (isCopied || isOwn ? storeSizes(image, library, at) : storeImage(image, library, month));
    const columns = { post_title: attachment.title, ...item.columns, post_mime_type: attachment.mime };
    return { item: { ...withMetas(item, attachment.metas), columns }, undo };
  } catch (error) {
    if (error instanceof FetchRefused) return { item, fault: error.fault };
    if (error instanceof ImageUnreadable) return { item, fault: 'type' };
    throw error;
  }
}

/** Returns an item with these metas in place of its own ones. */
const withMetas = (item: PostItem, metas: Readonly<Record<string, readonly StoredValue[]>>): PostItem => ({
  ...item,
  metas: [
    ...item.metas.filter(([key]) => !(key in metas)),
    ...Object.entries(metas).flatMap(([key, values]) => values.map((value) => [key, value] as const)),
  ],
});

/**
 * Whether the file of an existing attachment is to be fetched: it is missing in the library, or the source has replaced
 * it, as WordPress does when a picture is edited. Other files than images are never fetched, and so not requested
 * again.
 */
async function isWanted(site: Site, { url = '', metas }: PostItem, stored: Metas): Promise<boolean> {
  if ((metaOf(stored, SOURCE_URL_META) ?? '') !== '') return !isFetchedFrom(url, stored) || isIncomplete(site, stored);
  // Where nothing was fetched, the metas of the source will be stored.
  const stated = metaMap(metas);
  return isIncomplete(site, stated.has('_wp_attached_file') ? stated : stored);
}

/** Whether the file of an existing attachment was fetched from this URL. */
function isFetchedFrom(url: string, stored: Metas | undefined): stored is Metas {
  const source = metaOf(stored, SOURCE_URL_META) ?? '';
  return source !== '' && pathOf(source) === pathOf(url);
}

/** Returns the path of a URL: the host of a site may change. */
const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : url);

/** Whether an image, or one of its sizes, is missing in the library. */
async function isIncomplete(site: Site, metas: Metas): Promise<boolean> {
  const path = metaOf(metas, '_wp_attached_file') ?? '';
  if (!isImageUrl(path) || /^https?:/i.test(path) || path.includes('..')) return false;
  return !(await exists(site, path)) || !(await hasSizes(site, metas));
}

const exists = async ({ config }: Site, path: string): Promise<boolean> =>
  (await stat(join(config.uploadsDir, path)).catch(() => undefined)) !== undefined;

/** Whether the library has the files of all sizes that the metadata of an image name. */
async function hasSizes(site: Site, metas: Metas): Promise<boolean> {
  const files = await Promise.all(sizeFilesOf(metas).map((path) => exists(site, path)));
  return files.every(Boolean);
}

/** Whether the library has this very file: somebody copied it, or an import was interrupted after fetching it. */
async function hasFile({ config }: Site, path: string, bytes: Buffer): Promise<boolean> {
  if (path.includes('..')) return false;
  const storedBytes = await readFile(join(config.uploadsDir, path)).catch(() => undefined);
  return storedBytes?.equals(bytes) ?? false;
}
