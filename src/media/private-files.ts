import { readdir, realpath } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { BACKUP_EXTENSION, PASSWORD_FILE_PREFIX, realPathOf } from '../host/files.ts';
import { sqlitePath } from '../storage/engine/sqlite/connection.ts';
import { leadsOutside } from './library.ts';

type Paths = Pick<Config, 'databaseUrl' | 'uploadsDir'>;

/**
 * Returns whether a path below the uploads folder, which is public, is that of a private file: the database and
 * SQLite's files next to it, a backup, the administrator's initial password. They are in that folder if the settings
 * put everything into one folder.
 */
export async function isPrivateFile({ databaseUrl, uploadsDir }: Paths, path: string): Promise<boolean> {
  const file = await realpath(join(uploadsDir, path)).catch(() => undefined);
  if (file === undefined) return false;
  if (isPrivateName(basename(file).toLowerCase())) return true;
  const database = sqlitePath(databaseUrl);
  return database !== undefined && file.startsWith(await realpath(database).catch(() => resolve(database)));
}

function isPrivateName(name: string): boolean {
  if (name.startsWith(PASSWORD_FILE_PREFIX) && name.endsWith('.txt')) return true;
  const extensionStart = name.lastIndexOf(BACKUP_EXTENSION);
  return extensionStart >= 0 && BACKUP_NAME_END.test(name.slice(extensionStart + BACKUP_EXTENSION.length));
}

/** Text after the extension in the name of a backup: none, or the suffix of an incomplete one (`.part`). */
const BACKUP_NAME_END = /^(?:$|\.[0-9a-f]{8}\.part)/;

/**
 * Returns the private files in the uploads folder: those of some known files that are there, and those whose name says
 * so, in the folder itself and the folders in it. None if the folder does not exist.
 */
export async function privateFilesInUploads({ uploadsDir }: Paths, knownFiles: readonly string[]): Promise<string[]> {
  const folder = await realpath(uploadsDir).catch(() => undefined);
  if (folder === undefined) return [];
  const isOutside = await Promise.all(knownFiles.map((file) => leadsOutside(folder, relative(folder, file))));
  const files = [...knownFiles.filter((_, at) => !isOutside[at]), ...(await findNamedPrivately(uploadsDir, 1))];
  const realFiles = await Promise.all(files.map(realPathOf));
  return files.filter((_, at) => realFiles.indexOf(realFiles[at]!) === at);
}

/** `depth`: number of levels of folders below this one. */
async function findNamedPrivately(folder: string, depth: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = entries.map(async (entry): Promise<string[]> => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? findNamedPrivately(path, depth - 1) : [];
    return isPrivateName(entry.name.toLowerCase()) ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}
