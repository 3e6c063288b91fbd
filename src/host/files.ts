import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Permissions for files and folders that only the user of this process may access: databases, backups, exports,
 * temporary files.
 */
export const OWN_FILE = 0o600;
export const OWN_FOLDER = 0o700;

/** Extension of backups. */
export const BACKUP_ENDING = '.backup';
/** Prefix of the names of files with the administrator's first password; they end with `.txt`. */
export const PASSWORD_FILE = 'administrator-password';

/** Creates a folder and its parents, if they do not exist. */
export function makeOwnFolder(path: string): void {
  if (existsSync(path)) return;
  makeOwnFolder(dirname(resolve(path)));
  // Node's recursive option never returns if the system does not allow any folder, such as below /proc.
  unlessThere(() => mkdirSync(path, OWN_FOLDER));
}

/** Creates an empty file if it does not exist. */
export function makeOwnFile(path: string): void {
  unlessThere(() => closeSync(openSync(path, 'wx', OWN_FILE)));
}

function unlessThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
