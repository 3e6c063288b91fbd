import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { onProcessEnd } from '../../host/ending.ts';
import { BACKUP_EXTENSION, OWNER_ONLY_FILE_MODE, SQLITE_SUFFIXES } from '../../host/files.ts';
import { codeOf } from '../../objects.ts';
import { SourceFault } from './items.ts';

/** Suffix of a part file after the name of its file, and of files that SQLite may leave beside it after a failure. */
const PART_FILE_SUFFIX = new RegExp(`^\\.[0-9a-f]{8}\\.part(?:${SQLITE_SUFFIXES.join('|')})$`);

/** Whether a file is the part file of a backup that is being written. */
export function isPartOfBackup(name: string): boolean {
  const index = name.lastIndexOf(BACKUP_EXTENSION);
  return index >= 0 && PART_FILE_SUFFIX.test(name.slice(index + BACKUP_EXTENSION.length));
}

/** Part files that were not modified for this long belong to processes that were killed. */
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Writes a file atomically: `write` fills a part file next to it, which is renamed when it has been flushed to disk.
 * Processes may do so concurrently: each has its own part file, and the last one wins. Devices and pipes are written
 * directly; `/dev/stdout` means the file that it is redirected to. Only the owner may read the file, from the start,
 * since the contents are confidential.
 *
 * @throws SourceFault `unwritable`
 */
export async function writeAtomically<Result>(path: string, write: (part: string) => Promise<Result>): Promise<Result> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory()) throw new SourceFault('unwritable', { file: path, what: 'EISDIR' });
  if (stats && !stats.isFile()) {
    return write(path).catch((error: unknown) => {
      throw faultOfFile(path, error);
    });
  }
  // A link stays: the file that it leads to is the one that others read.
  const file = stats ? await realpath(path) : path;
  await removeAbandoned(file);
  const part = `${file}.${randomBytes(4).toString('hex')}.part`;
  const removePart = (): void => {
    for (const suffix of SQLITE_SUFFIXES) rmSync(part + suffix, { force: true });
  };
  const stopListening = onProcessEnd(removePart);
  try {
    await (await open(part, 'wx', OWNER_ONLY_FILE_MODE)).close();
    const result = await write(part);
    const handle = await open(part, 'r+');
    await handle.sync().finally(() => handle.close());
    await rename(part, file);
    return result;
  } catch (error) {
    removePart();
    throw faultOfFile(path, error);
  } finally {
    stopListening();
  }
}

/**
 * Paths of files that the process has open already. They are links and must not be replaced, because other processes
 * need them.
 */
const DESCRIPTOR = /^\/(dev\/(stdin|stdout|stderr|fd\/\d+)|proc\/(self|thread-self|\d+)\/fd\/\d+)$/;

/** Whether a file is written directly, as devices and pipes are. */
export const isOpenDescriptor = async (file: string): Promise<boolean> =>
  stat(file).then(
    (stats) => !stats.isFile() && !stats.isDirectory(),
    () => false,
  );

/**
 * Whether writing to a path would replace an existing file. Files that the process has open were chosen deliberately
 * and do not count.
 */
export const wouldReplace = async (file: string): Promise<boolean> =>
  !DESCRIPTOR.test(resolve(file)) && !(await isOpenDescriptor(file)) && existsSync(file);

/**
 * Refuses a file that is part of an SQLite database. Replacing it would leave other processes with a deleted file open.
 * `database`: its path; undefined if it is no file.
 *
 * @throws SourceFault `over-database`
 */
export async function refuseOverDatabase(file: string, database: string | undefined): Promise<void> {
  if (database === undefined) return;
  const [fileStats, ...databaseStats] = await Promise.all(
    [file, ...SQLITE_SUFFIXES.map((suffix) => database + suffix)].map((one) => stat(one).catch(() => undefined)),
  );
  if (fileStats !== undefined && databaseStats.some((part) => part?.ino === fileStats.ino && part.dev === fileStats.dev))
    throw new SourceFault('over-database', { file });
}

/** Error codes for places where a file cannot be written. */
const UNWRITABLE: ReadonlySet<unknown> = new Set(
  'EACCES EDQUOT EFBIG EISDIR EMFILE ENAMETOOLONG ENOENT ENOSPC ENOTDIR EPERM EPIPE EROFS'.split(' '),
);

/**
 * Returns an error as fault of the file that was named, since users do not know its part file. Other errors are
 * returned unchanged.
 */
export function faultOfFile(file: string, error: unknown): unknown {
  const code = codeOf(error);
  // SQLite, which writes copies of databases itself, has its own error codes.
  const faultCode = code === 'SQLITE_FULL' ? 'ENOSPC' : code;
  return UNWRITABLE.has(faultCode) || /^SQLITE_(CANTOPEN|IOERR(?!_READ))/.test(code)
    ? new SourceFault('unwritable', { file, what: faultCode }, error)
    : error;
}

/**
 * Removes part files that were left behind: those of this file, and those of all backups in the folder if it is one,
 * since backups with a date in their names never use the same name again.
 */
async function removeAbandoned(file: string): Promise<void> {
  const [folder, name] = [dirname(file), basename(file)];
  const isOwnPart = (one: string): boolean => one.startsWith(name) && PART_FILE_SUFFIX.test(one.slice(name.length));
  const parts = (await readdir(folder).catch(() => [])).filter(
    (one) => isOwnPart(one) || (name.endsWith(BACKUP_EXTENSION) && isPartOfBackup(one)),
  );
  for (const part of parts.map((one) => join(folder, one))) {
    const stats = await stat(part).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS) await rm(part, { force: true });
  }
}
