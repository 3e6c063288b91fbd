import { writeFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { codeOf } from './dialect.ts';

const OWNER_ALONE = 0o600;

/**
 * Takes a lock by the name of a file, made if it is not there. The lock is the operating system's, by way of SQLite: it ends with the process, however that
 * ends, so that none is ever left behind. The file stays, empty. Gives what releases the lock, to be held on to until then; undefined: somebody else has it, in this
 * process or another.
 *
 * @throws the error of the file system where the file can't be made
 */
export function lockFile(path: string): (() => void) | undefined {
  makeFile(path);
  const file = new Sqlite(path, { timeout: 0 });
  try {
    file.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
  return () => {
    file.close();
  };
}

/** Makes the file if it is not there. One that is there must not be opened: closing it would end all locks that this process has on it. */
function makeFile(path: string): void {
  try {
    writeFileSync(path, '', { flag: 'wx', mode: OWNER_ALONE });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
