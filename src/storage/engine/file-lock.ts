import { makeOwnFile } from '../../host/files.ts';
import { codeOf } from './dialect.ts';
import { Sqlite } from './sqlite/library.ts';

/**
 * Locks a file, which is created if necessary and stays behind, empty. The lock is the operating system's, by way of
 * SQLite: it ends with the process, however that ends, so there are no stale locks. Returns the function that releases
 * it, which must be kept until then; undefined if the file is locked already, by this process or another.
 *
 * @throws the error of the file system if the file can't be created
 */
export function lockFile(path: string): (() => void) | undefined {
  // An existing file must not be opened in another way: closing it would release all locks of this process on it.
  makeOwnFile(path);
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
