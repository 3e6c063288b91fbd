import type { SiteSettings } from '../calendar/settings.ts';
import type { LogDetail } from '../errors.ts';
import type { Database, Gathering } from '../storage/engine/database.ts';
import { codeOf } from '../storage/engine/dialect.ts';
import { imageLock, lockNames } from '../storage/rows/locks.ts';
import { findImage, insertAttachment, SOURCE } from '../storage/rows/media.ts';
import { nowUtc } from '../wordpress/time.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { percentDecoded } from '../wordpress/web-url.ts';
import { nowLocal } from '../wordpress/zones.ts';
import { namesAnotherType } from './file-name.ts';
import { imageType } from './image-type.ts';
import { type Library, type StoredImage, storeImage } from './library.ts';
import { type FetchOptions, FetchRefused, fetchImage } from './safe-fetch.ts';
import { ImageUnreadable, sizeRules } from './sizes.ts';

/** Where the site's own addresses begin: its home and its folder of uploads, both without trailing slash. */
export interface OwnAddresses {
  readonly home: string;
  readonly uploads: string;
}

/** What storing an image needs to know of the site: its folder of uploads on disk. */
interface ImageSite {
  readonly config: { readonly uploadsDir: string };
}

/** What storing an image needs to know of the request. */
interface ImageCaller extends OwnAddresses {
  readonly settings: Pick<SiteSettings, 'raw' | 'zone'>;
  readonly now: Date;
}

/** Whose image it becomes, and when. */
interface Uploader extends Pick<ImageCaller, 'now'> {
  readonly viewer: { readonly id: number };
  readonly settings: Pick<SiteSettings, 'zone'>;
}

/** An image with its files on disk, to be inserted in a transaction or undone. */
export type PreparedImage = StoredImage;

/** Called with the reason, for the log, why there is no image. Callers do not learn what is behind an address. */
export type Refused = (detail: LogDetail) => void;

/** Whether the viewer may bring new images into the library, and so name one by URL. */
export const mayUpload = (viewer: Viewer): boolean => viewer.can('upload_files');

/**
 * The id that an `image` value is, a number or digits; 0 where no record can have it, undefined where the value must be
 * an address.
 */
export function imageNumber(value: number | string): number | undefined {
  const text = String(value).trim();
  if (!/^\d+$/.test(text)) return undefined;
  return Number.isSafeInteger(Number(text)) ? Number(text) : 0;
}

/** The id of the image in the library that an address means, without any network; undefined where it means none. */
export async function imageIdAt(db: Database, address: string, { home, uploads }: OwnAddresses): Promise<number | undefined> {
  const url = webAddress(address.trim(), home);
  return url === undefined ? undefined : findImage(db, { url, file: fileBelow(url, uploads) });
}

/**
 * Fetches an image that the library does not hold yet and puts its files there; undefined where the URL leads to no
 * image that may be fetched: the site's own addresses never are. Before any transaction, since it takes its time.
 *
 * @throws the error of the file system when the files can't be written
 */
export async function fetchForLibrary(
  value: string,
  site: ImageSite,
  caller: ImageCaller,
  { refused = () => undefined, ...options }: FetchOptions & { readonly refused?: Refused } = {},
): Promise<PreparedImage | undefined> {
  const url = webAddress(value.trim(), caller.home);
  if (url === undefined || isOwn(url, caller)) {
    refused({ image: url === undefined ? 'no address' : 'an address of this site' });
    return undefined;
  }
  try {
    const { bytes, type } = await fetchImage(url, options);
    return await storeImage({ bytes, type, name: lastPart(url), source: url }, libraryOf(site, caller), monthOf(caller));
  } catch (error) {
    if (!(error instanceof FetchRefused || error instanceof ImageUnreadable)) throw error;
    refused({ image: error.message, cause: codeOf(error.cause) || undefined });
    return undefined;
  }
}

/** A file as it came. `month`: the folder by date that it belongs in, `YYYY/MM`; without one that of today. */
interface Upload {
  readonly bytes: Buffer;
  readonly name: string;
  readonly month?: string | undefined;
}

/**
 * Puts the files of an uploaded image into the library; undefined where the bytes are no image, or the name says that
 * they are something else. Throws the error of the file system.
 */
export async function prepareUpload(
  site: ImageSite,
  caller: ImageCaller,
  { bytes, name, month }: Upload,
): Promise<PreparedImage | undefined> {
  const type = imageType(bytes);
  if (!type || namesAnotherType(name)) return undefined;
  try {
    return await storeImage({ bytes, type, name }, libraryOf(site, caller), month ?? monthOf(caller));
  } catch (error) {
    if (error instanceof ImageUnreadable) return undefined;
    throw error;
  }
}

/**
 * Inserts the rows of a prepared image, in the transaction that uses it. Returns its id. May run again; on failure call
 * `prepared.undo()`. Where another write has fetched the same image meanwhile, that one is used, and the files of this
 * one are deleted once that is certain.
 */
export async function insertPrepared(db: Database, prepared: PreparedImage, { viewer, now, settings }: Uploader): Promise<number> {
  const [source] = prepared.attachment.metas[SOURCE] ?? [];
  if (source !== undefined) {
    await lockNames(db, [imageLock(source)]);
    const known = await findImage(db, { url: source });
    if (known !== undefined) {
      db.gathered(UNUSED)?.add(prepared);
      return known;
    }
  }
  const date = nowLocal(now, settings.zone);
  return insertAttachment(db, prepared.attachment, { author: viewer.id, date, dateUtc: nowUtc(now) });
}

/** Images that a transaction has no use for, since they are in the library by now. */
const UNUSED: Gathering<Set<PreparedImage>> = {
  begin: () => new Set(),
  copy: (unused) => new Set(unused),
  namesRecords: () => false,
  settle: async () => undefined,
  committed: (_db, unused) => {
    for (const prepared of unused) void prepared.undo();
  },
};

const LONGEST_URL = 4096;

/** An http or https URL in its ASCII form (D38), or undefined. A path alone counts from the home of the site. */
function webAddress(text: string, home: string): string | undefined {
  if (text === '' || text.length > LONGEST_URL) return undefined;
  const full = /^\/[^/]/.test(text) ? new URL(home).origin + text : text;
  if (!/^https?:\/\//i.test(full) || !URL.canParse(full)) return undefined;
  const url = new URL(full);
  url.hash = '';
  return url.href;
}

/** The path of a file below the folder of uploads, decoded, whichever of http and https its URL says. */
function fileBelow(url: string, uploads: string): string | undefined {
  const [place, base] = [new URL(url), new URL(uploads)];
  const folder = `${base.pathname.replace(/\/$/, '')}/`;
  if (place.host !== base.host || !place.pathname.startsWith(folder)) return undefined;
  return percentDecoded(place.pathname.slice(folder.length));
}

/** Whether a URL leads to this very site, the pages of its host among it. */
const isOwn = (url: string, { home, uploads }: OwnAddresses): boolean =>
  [home, uploads].some((own) => new URL(own).host === new URL(url).host);

const lastPart = (url: string): string => percentDecoded(new URL(url).pathname.split('/').at(-1) ?? '');

function libraryOf({ config }: ImageSite, { uploads, settings }: ImageCaller): Library {
  const byMonth = !['', '0'].includes(settings.raw.get('uploads_use_yearmonth_folders') ?? '1');
  return { folder: config.uploadsDir, address: uploads, byMonth, sizes: sizeRules(settings.raw) };
}

/** `YYYY/MM` by the site's clock. */
const monthOf = ({ now, settings }: ImageCaller): string => nowLocal(now, settings.zone).slice(0, 7).replace('-', '/');
