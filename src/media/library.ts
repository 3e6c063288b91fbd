import { access, chmod, constants, type FileHandle, mkdir, open, readdir, realpath, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { MIN_FREE_BYTES } from '../host/files.ts';
import { codeOf } from '../objects.ts';
import { type NewAttachment, SOURCE_URL_META } from '../storage/rows/media.ts';
import { storedText, toSerialized } from '../wordpress/php/serialized.ts';
import { sanitizeFileName, uniqueFileName } from './file-name.ts';
import type { ImageType } from './image-type.ts';
import { makeSizes, type SizeRule } from './sizes.ts';

/** Location of the library and the site's settings for it. */
export interface Library {
  /** The uploads folder on disk. */
  readonly folder: string;
  /** Its public URL, without trailing slash. */
  readonly address: string;
  /** Whether files are stored in folders by year and month (option `uploads_use_yearmonth_folders`). */
  readonly byMonth: boolean;
  readonly sizes: readonly SizeRule[];
}

/** An image to be stored. `name`: its preferred file name; `source`: the URL from which it was fetched. */
export interface NewImage {
  readonly bytes: Buffer;
  readonly type: ImageType;
  readonly name: string;
  readonly source?: string;
}

/** An image whose files are on disk and whose rows are not in the database yet. */
export interface StoredImage {
  readonly attachment: NewAttachment;
  /** Full paths of all written files. */
  readonly files: readonly string[];
  /** Deletes the files, for a write that failed. */
  readonly undo: () => Promise<void>;
}

/** The reason why the library cannot store files: its disk is full, or it is not writable. */
export type LibraryFault = 'full' | 'read-only';

/** The only error thrown here for file system errors; the original error is its `cause`. */
export class LibraryUnavailable extends Error {
  override readonly name = 'LibraryUnavailable';
  readonly reason: LibraryFault;

  constructor(reason: LibraryFault, cause: unknown) {
    super(`uploads ${reason}${cause instanceof Error ? `: ${cause.message}` : ''}`, { cause });
    this.reason = reason;
  }
}

/**
 * Writes an image and its sizes into the library, under a name that is not used there (`wp_upload_bits`,
 * `wp_generate_attachment_metadata`). Either all files are written or none remain.
 *
 * @param month the folder by date, `YYYY/MM`, in the site's local time
 * @throws ImageUnreadable, LibraryUnavailable
 */
export const storeImage = (image: NewImage, library: Library, month: string): Promise<StoredImage> =>
  storeFiles(image, library, library.byMonth ? `${month}/` : '', (folder, write) =>
    writeUnderFreeName(folder, sanitizeFileName(image.name, image.type), (free) => write(free, image.bytes)),
  );

/**
 * Makes the sizes of an image that is in the library already, at a path relative to its folder. If this fails, that
 * file stays.
 *
 * @throws ImageUnreadable, LibraryUnavailable
 */
export const storeSizes = (image: NewImage, library: Library, path: string): Promise<StoredImage> =>
  storeFiles(image, library, path.slice(0, path.lastIndexOf('/') + 1), async () => basename(path));

/** Writes a new file into a folder of the library. Fails if the folder has a file of this name. */
type WriteNew = (name: string, bytes: Buffer) => Promise<void>;

/** Writes the sizes of an image into a folder of the library. `place` returns the name of the image there. */
async function storeFiles(
  image: NewImage,
  library: Library,
  subfolder: string,
  place: (folder: string, write: WriteNew) => Promise<string>,
): Promise<StoredImage> {
  const folder = resolve(library.folder, subfolder);
  const files: string[] = [];
  // If a file cannot be removed, the others are still removed.
  const undo = async () => {
    await Promise.allSettled(files.map((file) => rm(file, { force: true })));
  };
  const writeNew: WriteNew = async (name, bytes) => {
    const path = join(folder, name);
    const handle = await open(path, 'wx');
    files.push(path);
    await writeContent(handle, bytes, folder).finally(() => handle.close());
  };
  const write = async (name: string, bytes: Buffer) => {
    try {
      await writeNew(name, bytes);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      const handle = await open(join(folder, name), 'w');
      await writeContent(handle, bytes, folder).finally(() => handle.close());
    }
  };
  try {
    await makeFolder(folder);
    if (await leadsOutside(library.folder, subfolder))
      throw new LibraryUnavailable('read-only', new Error(`${subfolder} is a link to another folder`));
    const name = await place(folder, writeNew);
    const madeSizes = await makeSizes({ bytes: image.bytes, type: image.type, file: name, subfolder }, library.sizes, write);
    await flushNames(folder);
    return { attachment: attachmentOf(image, library, subfolder, name, madeSizes), files, undo };
  } catch (error) {
    await undo();
    throw toLibraryError(error);
  }
}

function attachmentOf(
  image: NewImage,
  library: Library,
  subfolder: string,
  name: string,
  madeSizes: { file: string; metadata: object },
): NewAttachment {
  return {
    title: name.replace(/\.[^.]+$/, ''),
    mime: image.type.mime,
    guid: `${library.address}/${subfolder}${name}`,
    metas: {
      _wp_attached_file: [storedText(subfolder + madeSizes.file)],
      _wp_attachment_metadata: [toSerialized(madeSizes.metadata)],
      ...(image.source === undefined ? {} : { [SOURCE_URL_META]: [storedText(image.source)] }),
    },
  };
}

/**
 * Writes the file under the first free name. If another process takes that name at the same moment, the next one is
 * used.
 */
async function writeUnderFreeName(folder: string, baseName: string, write: (name: string) => Promise<void>): Promise<string> {
  for (;;) {
    const name = uniqueFileName(baseName, await readdir(folder));
    try {
      await write(name);
      return name;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/**
 * Writes the content of a file and gives it the permissions of its folder, as in WordPress, except write permission for
 * everybody. Then the file is on the disk: a power failure must not leave a row without its file.
 */
async function writeContent(handle: FileHandle, bytes: Buffer, folder: string): Promise<void> {
  await handle.writeFile(bytes);
  const { mode } = await stat(folder);
  await handle.chmod(mode & 0o664).catch(ignoreError);
  await handle.sync();
}

/** Waits until the names of the files in a folder are on the disk, which some file systems cannot do. */
async function flushNames(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(ignoreError);
  await handle?.sync().catch(ignoreError);
  await handle?.close();
}

/** Creates a folder of the library and its parents (`wp_mkdir_p`), with the permissions of the parent folder. */
async function makeFolder(folder: string): Promise<void> {
  if ((await stat(folder).catch(ignoreError))?.isDirectory()) return;
  const parent = dirname(folder);
  await makeFolder(parent);
  try {
    await mkdir(folder);
  } catch (error) {
    // Another process has just created it, or it is no folder; its permissions are not ours to set.
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  const { mode } = await stat(parent);
  await chmod(folder, mode & 0o2775).catch(ignoreError);
  await flushNames(parent);
}

const ignoreError = (): undefined => undefined;

const DISK_FULL_CODES = new Set(['ENOSPC', 'EDQUOT']);

/** Returns a file system error as LibraryUnavailable, any other error unchanged. */
const toLibraryError = (error: unknown): unknown =>
  /^E[A-Z0-9]+$/.test(codeOf(error)) ? new LibraryUnavailable(DISK_FULL_CODES.has(codeOf(error)) ? 'full' : 'read-only', error) : error;

/** Makes sure that there is a folder to store files in; it may be read-only. Throws the error of the file system. */
export async function openLibrary(folder: string): Promise<void> {
  await makeFolder(resolve(folder));
  await readdir(folder);
}

/**
 * Returns the reason why files cannot be stored in a folder. If it does not exist, the parent folder is checked, in
 * which it will be created.
 */
export async function findFolderFault(folder: string): Promise<LibraryFault | undefined> {
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < MIN_FREE_BYTES ? 'full' : undefined;
  } catch (error) {
    const parent = dirname(resolve(folder));
    return codeOf(error) === 'ENOENT' && parent !== resolve(folder) ? findFolderFault(parent) : 'read-only';
  }
}

/**
 * Returns whether a path below a folder leads out of it by symbolic links. The folder itself may be a link; a path that
 * does not exist returns false.
 */
export async function leadsOutside(folder: string, path: string): Promise<boolean> {
  try {
    const [root, target] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
    return target !== root && !target.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
  } catch {
    return false;
  }
}
