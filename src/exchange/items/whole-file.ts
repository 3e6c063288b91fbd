import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { OWN_FILE } from '../../host/files.ts';
import { codeOf } from '../../storage/engine/dialect.ts';
import { SourceFault } from './items.ts';

/** What SQLite puts beside a file that it writes, and leaves there where it fails. */
const BESIDE = ['-journal', '-wal', '-shm'];
/** How the name of a part goes on behind that of its file. */
export const PART = new RegExp(`^\\.[0-9a-f]{8}\\.part(?:${BESIDE.join('|')})?$`);

/** A part file untouched for this long is what remains of a process that was killed. */
const LEFT_MS = 3_600_000;

/**
 * Writes a file that is there whole or not at all: `write` fills a part beside it, which takes its name when it is on
 * the disk. Several may do so at once: each has a part of its own, and the last one stays. Devices and pipes take what
 * comes; `/dev/stdout` stands for the file that it leads to. `mode`: who may read it, from the beginning on; what it
 * holds is not for everybody.
 *
 * @throws SourceFault `unwritable`
 */
export async function writeWhole<Result>(named: string, write: (part: string) => Promise<Result>, mode = OWN_FILE): Promise<Result> {
  const present = await stat(named).catch(() => undefined);
  if (present?.isDirectory()) throw new SourceFault('unwritable', { file: named, what: 'EISDIR' });
  if (present && !present.isFile()) {
    return write(named).catch((error: unknown) => {
      throw namedFault(named, error);
    });
  }
  const file = DESCRIPTOR.test(resolve(named)) ? await realpath(named) : named;
  await removeLeft(file);
  const part = `${file}.${randomBytes(4).toString('hex')}.part`;
  try {
    await (await open(part, 'wx', mode)).close();
    const result = await write(part);
    const written = await open(part, 'r+');
    await written.sync().finally(() => written.close());
    await rename(part, file);
    return result;
  } catch (error) {
    for (const ending of ['', ...BESIDE]) await rm(part + ending, { force: true });
    throw namedFault(named, error);
  }
}

/** What leads to whatever the process has open already. In its place nothing can be put: others need it. */
const DESCRIPTOR = /^\/(dev\/(stdin|stdout|stderr|fd\/\d+)|proc\/(self|thread-self|\d+)\/fd\/\d+)$/;

/** Whether a file takes what comes, as devices and pipes do. */
export const takesWhatComes = async (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => !found.isFile() && !found.isDirectory(),
    () => false,
  );

/** Whether something would be lost that stands under a name: what the process has open, it has chosen already. */
export const wouldReplace = async (file: string): Promise<boolean> =>
  !DESCRIPTOR.test(resolve(file)) && !(await takesWhatComes(file)) && existsSync(file);

/** What the system says of a place where a file cannot be put. */
const UNWRITABLE: ReadonlySet<unknown> = new Set(
  'EACCES EDQUOT EFBIG EISDIR EMFILE ENAMETOOLONG ENOENT ENOSPC ENOTDIR EPERM EROFS'.split(' '),
);

/** Why a file cannot be written, as the fault of that file: nobody knows its part. Every other error as it is. */
function namedFault(file: string, error: unknown): unknown {
  const code = codeOf(error);
  // SQLite, which writes copies of databases itself, has words of its own.
  const what = code === 'SQLITE_FULL' ? 'ENOSPC' : code;
  return UNWRITABLE.has(what) || /^SQLITE_(CANTOPEN|IOERR(?!_READ))/.test(code)
    ? new SourceFault('unwritable', { file, what }, error)
    : error;
}

/** Removes the parts of a file that nobody writes to any more. */
async function removeLeft(file: string): Promise<void> {
  const [folder, name] = [dirname(file), basename(file)];
  const parts = (await readdir(folder).catch(() => [])).filter((one) => one.startsWith(name) && PART.test(one.slice(name.length)));
  for (const part of parts.map((one) => join(folder, one))) {
    const found = await stat(part).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > LEFT_MS) await rm(part, { force: true });
  }
}
