import { realpath } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { BACKUP_EXTENSION, PASSWORD_FILE_PREFIX } from '../host/files.ts';
import { sqlitePath } from '../storage/audit/snapshot.ts';
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

/** Returns those of some existing files that are in the uploads folder; none if the folder does not exist. */
export async function filesInUploads({ uploadsDir }: Paths, files: readonly string[]): Promise<string[]> {
  const folder = await realpath(uploadsDir).catch(() => undefined);
  if (folder === undefined) return [];
  const isOutside = await Promise.all(files.map((file) => leadsOutside(folder, relative(folder, file))));
  return files.filter((_, at) => !isOutside[at]);
}
