import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Permissions for files and folders that only the user of this process may access: databases, backups, exports,
 * temporary files.
 */
export const OWNER_ONLY_FILE_MODE = 0o600;
export const OWNER_ONLY_FOLDER_MODE = 0o700;

/** Minimum free disk space in bytes; with less, writes are about to fail. */
export const MIN_FREE_BYTES = 2 ** 18;

/** Extension of backups. */
export const BACKUP_EXTENSION = '.backup';
/** Prefix of the names of files with the administrator's first password; they end with `.txt`. */
export const PASSWORD_FILE_PREFIX = 'administrator-password';

/** Suffixes of the files of an SQLite database: the database itself, and those that SQLite creates beside it. */
export const SQLITE_SUFFIXES = ['', '-wal', '-shm', '-journal'] as const;

/** Creates a folder and its parents, if they do not exist. */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return;
  makePrivateFolder(dirname(resolve(path)));
  // Node's recursive option never returns if the system does not allow any folder, such as below /proc.
  ignoreIfExists(() => mkdirSync(path, OWNER_ONLY_FOLDER_MODE));
}

/** Returns the path of a file or folder without symbolic links, also if it does not exist yet. */
export async function realPathOf(path: string): Promise<string> {
  const whole = resolve(path);
  const parent = dirname(whole);
  return realpath(whole).catch(async () => (parent === whole ? whole : join(await realPathOf(parent), basename(whole))));
}

/** Creates an empty file if it does not exist. */
export function makePrivateFile(path: string): void {
  ignoreIfExists(() => closeSync(openSync(path, 'wx', OWNER_ONLY_FILE_MODE)));
}

function ignoreIfExists(make: () => void): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
