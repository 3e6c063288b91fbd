import type { SiteSettings } from '../calendar/settings.ts';
import type { LogDetail } from '../errors.ts';
import { codeOf } from '../objects.ts';
import type { Database, TransactionData } from '../storage/engine/database.ts';
import { imageLock, lockNames } from '../storage/rows/locks.ts';
import { findImages, insertAttachment, SOURCE_URL_META } from '../storage/rows/media.ts';
import { lockFound } from '../storage/rows/posts.ts';
import { utcFromDate } from '../wordpress/time.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { percentDecoded } from '../wordpress/web-url.ts';
import { localFromDate } from '../wordpress/zones.ts';
import { hasOtherExtension } from './file-name.ts';
import { imageType } from './image-type.ts';
import { type Library, type StoredImage, storeImage } from './library.ts';
import { ImageUnreadable } from './picture.ts';
import { type FetchOptions, FetchRefused, fetchImage, MAX_URL_LENGTH } from './safe-fetch.ts';
import { sizeRules } from './sizes.ts';

/** The site's own URLs: its home and its uploads folder, both without trailing slash. */
export interface SiteUrls {
  readonly home: string;
  readonly uploads: string;
}

/** Site data for storing an image: the uploads folder on disk. */
interface ImageSite {
  readonly config: { readonly uploadsDir: string };
}

/** Request data for storing an image. */
interface ImageCaller extends SiteUrls {
  readonly settings: Pick<SiteSettings, 'raw' | 'zone'>;
  readonly now: Date;
}

/** Author and time of an uploaded image. */
interface Uploader extends Pick<ImageCaller, 'now'> {
  readonly viewer: { readonly id: number };
  readonly settings: Pick<SiteSettings, 'zone'>;
}

/** An image whose files are on disk, to be inserted in a transaction or undone. */
export type PreparedImage = StoredImage;

/**
 * Called with the reason why there is no image, for the log. Callers of the API do not get it, since it would reveal
 * what is at a URL.
 */
export type ReportRefusal = (detail: LogDetail) => void;

/** Returns whether the viewer may add images to the library, and therefore name one by URL. */
export const mayUpload = (viewer: Viewer): boolean => viewer.can('upload_files');

/**
 * Returns the id in an `image` value, a number or digits; 0 if no record can have it, undefined if the value must be a
 * URL.
 */
export function parseImageId(value: number | string): number | undefined {
  const text = String(value).trim();
  if (!/^\d+$/.test(text)) return undefined;
  return Number.isSafeInteger(Number(text)) ? Number(text) : 0;
}

/**
 * Returns the id of the library image with a URL, without using the network; undefined if there is none. It may be
 * hidden from the caller.
 */
export const imageIdAt = async (db: Database, address: string, urls: SiteUrls): Promise<number | undefined> =>
  (await imageIdsAt(db, address, urls))[0];

/** Returns the ids of all library images with a URL, the best match first, including those hidden from the caller. */
export async function imageIdsAt(db: Database, address: string, { home, uploads }: SiteUrls): Promise<number[]> {
  const url = toWebUrl(address.trim(), home);
  return url === undefined ? [] : findImages(db, { url, file: uploadPathOf(url, uploads) });
}

/**
 * Fetches an image that is not in the library yet and stores its files; undefined if there is no image at the URL or it
 * may not be fetched, which is always so for the site's own URLs. Must run before any transaction, since it takes time.
 *
 * @throws LibraryUnavailable if the files cannot be written
 */
export async function fetchForLibrary(
  value: string,
  site: ImageSite,
  caller: ImageCaller,
  { reportRefusal = () => undefined, ...options }: FetchOptions & { readonly reportRefusal?: ReportRefusal } = {},
): Promise<PreparedImage | undefined> {
  const url = toWebUrl(value.trim(), caller.home);
  if (url === undefined || isOnOwnHost(url, caller)) {
    reportRefusal({ image: url === undefined ? 'no address' : 'an address of this site' });
    return undefined;
  }
  try {
    const { bytes, type } = await fetchImage(url, options);
    return await storeImage({ bytes, type, name: fileNameOf(url), source: url }, libraryOf(site, caller), monthOf(caller));
  } catch (error) {
    if (!(error instanceof FetchRefused || error instanceof ImageUnreadable)) throw error;
    reportRefusal({ image: error.message, cause: codeOf(error.cause) || undefined });
    return undefined;
  }
}

/** An uploaded file. `month`: the folder by date in which it is stored, `YYYY/MM`; the current one by default. */
interface Upload {
  readonly bytes: Buffer;
  readonly name: string;
  readonly month?: string | undefined;
}

/**
 * Stores the files of an uploaded image; undefined if the bytes are not an image, or the name has the extension of
 * another type. Throws LibraryUnavailable.
 */
export async function prepareUpload(
  site: ImageSite,
  caller: ImageCaller,
  { bytes, name, month }: Upload,
): Promise<PreparedImage | undefined> {
  const type = imageType(bytes);
  if (!type || hasOtherExtension(name)) return undefined;
  try {
    return await storeImage({ bytes, type, name }, libraryOf(site, caller), month ?? monthOf(caller));
  } catch (error) {
    if (error instanceof ImageUnreadable) return undefined;
    throw error;
  }
}

/**
 * Inserts the rows of a prepared image, in the transaction that uses it, and returns its id. It can run again after a
 * rollback; on failure, call `prepared.undo()`. If another write has fetched the same image in the meantime, that one
 * is used, and the files of this one are deleted after the commit. `shownAmong`: which of these images the uploader may
 * use; no other one is.
 */
export async function insertPrepared(
  db: Database,
  prepared: PreparedImage,
  { viewer, now, settings }: Uploader,
  shownAmong: (ids: readonly number[]) => Promise<ReadonlySet<number>> = async (ids) => new Set(ids),
): Promise<number> {
  const [source] = prepared.attachment.metas[SOURCE_URL_META] ?? [];
  if (source !== undefined) {
    await lockNames(db, [imageLock(source)]);
    const find = async (): Promise<number | undefined> => {
      const ids = await findImages(db, { url: source });
      const shownIds = ids.length === 0 ? undefined : await shownAmong(ids);
      return ids.find((id) => shownIds?.has(id));
    };
    const existing = await lockFound(db, await find(), find);
    if (existing) {
      db.transactionData(UNUSED)?.add(prepared);
      return existing.ID;
    }
  }
  const date = localFromDate(now, settings.zone);
  return insertAttachment(db, prepared.attachment, { author: viewer.id, date, dateUtc: utcFromDate(now) });
}

/** Images that a transaction does not need, since the same images have been added to the library in the meantime. */
const UNUSED: TransactionData<Set<PreparedImage>> = {
  create: () => new Set(),
  copy: (unused) => new Set(unused),
  namesRecords: () => false,
  write: async () => undefined,
  afterCommit: (_db, unused) => {
    for (const prepared of unused) void prepared.undo();
  },
};

/**
 * Returns an http or https URL in its ASCII form (D38), or undefined. A path alone is relative to the host of the
 * site's home.
 */
function toWebUrl(text: string, home: string): string | undefined {
  if (text === '' || text.length > MAX_URL_LENGTH) return undefined;
  const address = /^\/[^/]/.test(text) ? new URL(home).origin + text : text;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  url.hash = '';
  return url.href;
}

/** Returns the decoded path of a file below the uploads folder, independent of whether the URL has http or https. */
function uploadPathOf(url: string, uploads: string): string | undefined {
  const [place, base] = [new URL(url), new URL(uploads)];
  const folder = `${base.pathname.replace(/\/$/, '')}/`;
  if (place.host !== base.host || !place.pathname.startsWith(folder)) return undefined;
  return percentDecoded(place.pathname.slice(folder.length));
}

/** Returns whether a URL is on the site's own host, or on that of its uploads. */
const isOnOwnHost = (url: string, { home, uploads }: SiteUrls): boolean =>
  [home, uploads].some((base) => new URL(base).host === new URL(url).host);

const fileNameOf = (url: string): string => percentDecoded(new URL(url).pathname.split('/').at(-1) ?? '');

function libraryOf({ config }: ImageSite, { uploads, settings }: ImageCaller): Library {
  const byMonth = !['', '0'].includes(settings.raw.get('uploads_use_yearmonth_folders') ?? '1');
  return { folder: config.uploadsDir, address: uploads, byMonth, sizes: sizeRules(settings.raw) };
}

/** Returns `YYYY/MM` in the site's local time. */
const monthOf = ({ now, settings }: ImageCaller): string => localFromDate(now, settings.zone).slice(0, 7).replace('-', '/');
