import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import type { NewAttachment } from '../storage/media.ts';
import { toSerialized } from '../wordpress/serialized.ts';
import { sanitizeFileName, uniqueFileName } from './file-name.ts';
import type { ImageType } from './image-type.ts';
import { makeSizes, type SizeRule } from './sizes.ts';

/** Where the library rests and how the site wants it. */
export interface Library {
  /** The folder of uploaded files on disk. */
  readonly folder: string;
  /** Its public address, without trailing slash. */
  readonly address: string;
  /** Whether files lie in folders by year and month (option `uploads_use_yearmonth_folders`). */
  readonly byMonth: boolean;
  readonly sizes: readonly SizeRule[];
}

/** An image to be stored. `name`: what its file should be called; `source`: the URL it was fetched from. */
export interface NewImage {
  readonly bytes: Buffer;
  readonly type: ImageType;
  readonly name: string;
  readonly source?: string;
}

/** An image whose files are on disk and whose rows are not in the database yet. */
export interface StoredImage {
  readonly attachment: NewAttachment;
  /** Full paths of all files that were written. */
  readonly files: readonly string[];
  /** Removes the files again, for a write that failed. */
  readonly undo: () => Promise<void>;
}

/**
 * Writes an image and its sizes into the library, under a name that no other file has there (`wp_upload_bits`, `wp_generate_attachment_metadata`).
 * Either all files are written or none stay.
 *
 * @param month the folder by date, `YYYY/MM`, in the site's own time
 * @throws ImageUnreadable, or the error of the file system
 */
export async function storeImage(image: NewImage, library: Library, month: string): Promise<StoredImage> {
  const below = library.byMonth ? `${month}/` : '';
  const folder = resolve(library.folder, below);
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  const undo = async () => {
    await Promise.all(files.map((file) => rm(file, { force: true })));
  };
  try {
    const name = await claim(folder, sanitizeFileName(image.name, image.type), image.bytes);
    files.push(join(folder, name));
    const made = await makeSizes({ bytes: image.bytes, type: image.type, folder, file: name, below }, library.sizes, (file) =>
      files.push(file),
    );
    return { attachment: attachmentOf(image, library, below, name, made), files, undo };
  } catch (error) {
    await undo();
    throw error;
  }
}

function attachmentOf(
  image: NewImage,
  library: Library,
  below: string,
  name: string,
  made: { file: string; metadata: object },
): NewAttachment {
  return {
    title: name.replace(/\.[^.]+$/, ''),
    mime: image.type.mime,
    guid: `${library.address}/${below}${name}`,
    metas: {
      _wp_attached_file: [below + made.file],
      _wp_attachment_metadata: [toSerialized(made.metadata)],
      ...(image.source === undefined ? {} : { _tribe_importer_original_url: [image.source] }),
    },
  };
}

/** Writes the file under the first name that is free; another process may take one at the same moment, and then it is the next one. */
async function claim(folder: string, wanted: string, bytes: Buffer): Promise<string> {
  for (;;) {
    const name = uniqueFileName(wanted, await readdir(folder));
    try {
      await writeFile(join(folder, name), bytes, { flag: 'wx' });
      return name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/**
 * Removes files of the library, by their paths below its folder; what would lie outside of it is passed over, and what is gone already is no fault
 * (`wp_delete_attachment_files`).
 */
export async function removeFiles(folder: string, files: readonly string[]): Promise<void> {
  const root = resolve(folder);
  const inside = files.map((file) => resolve(root, file)).filter((file) => file.startsWith(`${root}${sep}`));
  await Promise.all(inside.map((file) => rm(file, { force: true })));
}
