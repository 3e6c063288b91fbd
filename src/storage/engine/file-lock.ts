import { makePrivateFile } from '../../host/files.ts';
import { codeOf } from '../../objects.ts';
import { Sqlite } from './sqlite/library.ts';

/**
 * Locks a file, which is created if necessary and is left behind, empty. The lock is held by the operating system,
 * through SQLite. It ends with the process, however that ends, so there are no stale locks. Returns the function that
 * releases the lock, which must be kept until then; undefined if the file is already locked by this or another process.
 *
 * @throws the error of the file system if the file can't be created
 */
export function lockFile(path: string): (() => void) | undefined {
  // An existing file must not be opened in any other way: closing it would release all locks of this process on it.
  makePrivateFile(path);
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
