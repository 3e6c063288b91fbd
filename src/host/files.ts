import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** What only the user may read or change who runs this: databases, backups, exports, what is kept for a while. */
export const OWN_FILE = 0o600;
export const OWN_FOLDER = 0o700;

/** How the name of a backup ends. */
export const BACKUP_ENDING = '.backup';
/** How the name of a file with the administrator's first password begins; it ends with `.txt`. */
export const PASSWORD_FILE = 'administrator-password';

/** Makes a folder and those above it, where they are missing. */
export function makeOwnFolder(path: string): void {
  if (existsSync(path)) return;
  makeOwnFolder(dirname(resolve(path)));
  // Node's own way to make those above never ends where the system lets nobody make any, such as below /proc.
  unlessThere(() => mkdirSync(path, OWN_FOLDER));
}

/** Makes an empty file where there is none. */
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
