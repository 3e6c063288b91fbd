import { lstat, rm } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { leadsOutside } from './library.ts';
import { isPrivateFile } from './private-files.ts';

/**
 * Deletes files of the library, by their paths relative to its folder. Files that do not exist are ignored
 * (`wp_delete_attachment_files`). Those that are not at a place of the library stay, since imports and other programs
 * can store any path. Returns the files that are still there.
 */
export async function removeFiles(config: Pick<Config, 'databaseUrl' | 'uploadsDir'>, files: readonly string[]): Promise<string[]> {
  const root = resolve(config.uploadsDir);
  const areRemoved = await Promise.all(
    files.map(async (file) => {
      const place = resolve(root, file);
      if (await isLibraryFile(config, relative(root, place))) await rm(place, { force: true }).catch(() => undefined);
      return lstat(place).then(
        () => false,
        () => true,
      );
    }),
  );
  return files.filter((_, at) => !areRemoved[at]).map((file) => resolve(root, file));
}

/**
 * Where `wp_upload_dir` and `wp_unique_filename` put files: in the folder itself or in those by month, under a name
 * that has an extension and does not begin with a dot (`sanitize_file_name`). Backups and other files of plugins, and
 * the files of other sites of a network, are in other folders.
 */
const LIBRARY_PLACE = /^(?:\d{4}\/\d{2}\/)?[^/.][^/]*\.[^/.]+$/;

/** Whether a path in the uploads folder is that of a file of the library, as far as paths can tell. */
const isLibraryFile = async (config: Pick<Config, 'databaseUrl' | 'uploadsDir'>, path: string): Promise<boolean> =>
  LIBRARY_PLACE.test(path) && !(await leadsOutside(config.uploadsDir, dirname(path))) && !(await isPrivateFile(config, path));
