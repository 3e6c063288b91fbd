import { rm } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import type { Config } from '../config/config.ts';
import { isMediaPath } from '../wordpress/media-extensions.ts';
import { isInOtherSite } from '../wordpress/network.ts';
import { leadsOutside } from './library.ts';
import { isPrivateFile } from './private-files.ts';

/**
 * Deletes files of the library, by their paths relative to its folder. Paths outside of it are ignored, and so are
 * files that do not exist (`wp_delete_attachment_files`), and files there that belong to no library or to that of
 * another site of the network: imports and other programs can store any path. Returns the files that could not be
 * deleted.
 */
export async function removeFiles(
  config: Pick<Config, 'databaseUrl' | 'uploadsDir' | 'networkSite'>,
  files: readonly string[],
): Promise<string[]> {
  const root = resolve(config.uploadsDir);
  const paths = files.map((file) => resolve(root, file)).filter((file) => file.startsWith(`${root}${sep}`));
  const areOwn = await Promise.all(
    paths.map(async (file) => {
      const path = relative(root, file);
      if (!isMediaPath(path) || isInOtherSite(config.networkSite, path)) return false;
      return !(await leadsOutside(root, dirname(path))) && !(await isPrivateFile(config, path));
    }),
  );
  const ownPaths = paths.filter((_, at) => areOwn[at]);
  const removed = await Promise.allSettled(ownPaths.map((file) => rm(file, { force: true })));
  return ownPaths.filter((_, at) => removed[at]?.status === 'rejected');
}
