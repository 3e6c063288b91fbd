import { closeSync, mkdirSync, openSync } from 'node:fs';

/** What only the user may read or change who runs this: databases, backups, exports, what is kept for a while. */
export const OWN_FILE = 0o600;
export const OWN_FOLDER = 0o700;

/** Makes a folder and those above it, where they are missing. */
export function makeOwnFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: OWN_FOLDER });
}

/** Makes an empty file where there is none. */
export function makeOwnFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWN_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
