import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { storeImage } from '../../media/library.ts';
import { ImageUnreadable } from '../../media/picture.ts';
import { type FetchOptions, FetchRefused, fetchImage } from '../../media/safe-fetch.ts';
import { sizeRules } from '../../media/sizes.ts';
import type { Caller } from '../../records/caller.ts';
import type { Site } from '../../site.ts';
import { percentDecoded } from '../../wordpress/web-url.ts';
import { isImageUrl } from '../items/image-item.ts';
import type { PostItem } from '../items/items.ts';
import type { FetchedFile } from './options.ts';

/** A path in the library by year and month, as WordPress makes them. */
const BY_MONTH = /^(\d{4}\/\d\d)\/[^/]+$/;

/** Options for fetching a file. `stored`: path at which the file of an existing attachment should be. */
interface FileOptions extends FetchOptions {
  readonly stored?: string | undefined;
}

/**
 * Fetches the file of an attachment of the source and puts it into the library, at the same path if it is free. Never
 * requests private addresses (A7). If nothing is fetched, returns the item unchanged, with the reason.
 */
export async function fetchFile(
  site: Site,
  caller: Caller,
  item: PostItem,
  { stored, ...options }: FileOptions = {},
): Promise<FetchedFile> {
  if (item.url === undefined || (stored !== undefined && !(await isGone(site, stored)))) return { item };
  try {
    const { bytes, type } = await fetchImage(item.url, options);
    const at = item.metas.find(([key]) => key === '_wp_attached_file')?.[1] ?? '';
    if (await isHere(site, at, bytes)) return { item };
    const month = BY_MONTH.exec(at)?.[1] ?? '';
    const library = {
      folder: site.config.uploadsDir,
      address: caller.uploads,
      byMonth: month !== '',
      sizes: sizeRules(caller.settings.raw),
    };
    const name = percentDecoded(new URL(item.url).pathname.split('/').at(-1) ?? '');
    const { attachment, undo } = await storeImage({ bytes, type, name, source: item.url }, library, month);
    const newMetas = Object.entries(attachment.metas).flatMap(([key, values]) => values.map((value) => [key, value] as const));
    return {
      item: {
        ...item,
        columns: { post_title: attachment.title, ...item.columns, post_mime_type: attachment.mime },
        metas: [...item.metas.filter(([key]) => !newMetas.some(([name]) => name === key)), ...newMetas],
      },
      undo,
    };
  } catch (error) {
    if (error instanceof FetchRefused) return { item, fault: error.fault };
    if (error instanceof ImageUnreadable) return { item, fault: 'type' };
    throw error;
  }
}

/** Whether an image is missing in the library. Other files are never fetched, and so not requested again. */
async function isGone({ config }: Site, path: string): Promise<boolean> {
  if (!isImageUrl(path) || /^https?:/i.test(path) || path.includes('..')) return false;
  return (await stat(join(config.uploadsDir, path)).catch(() => undefined)) === undefined;
}

/**
 * Whether the library has this very file already: somebody copied it, or an import was interrupted after fetching it.
 */
async function isHere({ config }: Site, path: string, bytes: Buffer): Promise<boolean> {
  if (!BY_MONTH.test(path) || path.includes('..')) return false;
  const storedBytes = await readFile(join(config.uploadsDir, path)).catch(() => undefined);
  return storedBytes?.equals(bytes) ?? false;
}
