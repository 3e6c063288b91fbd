import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isOpenDescriptor } from '../exchange/items/atomic-file.ts';
import { SourceFault } from '../exchange/items/items.ts';
import { OWNER_ONLY_FILE_MODE } from '../host/files.ts';
import { codeOf } from '../storage/engine/dialect.ts';
import type { Io } from './io.ts';

/** The name that means standard input. */
const STANDARD_INPUT = '-';

/** Name of the copy of what was piped, without an extension. Reports and the names of sources show it. */
const COPY_NAME = 'stdin';

const FOLDER_PREFIX = 'fasti-input-';

/** Returns the path of a file as users know it. What was piped has only a name, in the current folder. */
export const knownPath = (file: string): string => (basename(dirname(file)).startsWith(FOLDER_PREFIX) ? basename(file) : file);

/** Whether this can be read only once: standard input, or a pipe such as `/dev/stdin` and `<(command)` in a shell. */
export const isPiped = async (place: string): Promise<boolean> => place === STANDARD_INPUT || (await isOpenDescriptor(place));

/**
 * Calls `use` with these files. Everything that is piped is copied to a temporary file first, since readers read a file
 * more than once. Only this user may read the copy, and it is removed afterwards, even if the command is interrupted.
 * `extension`: of the copy, such as `.csv`. Other places, such as addresses, are handed on as they are.
 *
 * @throws SourceFault `unreadable`
 */
export async function withFiles<Result>(
  { input, temporary }: Pick<Io, 'input' | 'temporary'>,
  places: readonly string[],
  use: (files: readonly string[]) => Promise<Result>,
  extension = '',
): Promise<Result> {
  const folders: string[] = [];
  const removeCopies = () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  };
  const stopWatching = atEnd(removeCopies);
  try {
    const files: string[] = [];
    for (const place of places) {
      if (!(await isPiped(place))) {
        files.push(place);
        continue;
      }
      const folder = await mkdtemp(join(temporary ?? tmpdir(), FOLDER_PREFIX));
      folders.push(folder);
      const copy = join(folder, `${COPY_NAME}${extension}`);
      const source = place === STANDARD_INPUT ? (input?.() ?? process.stdin) : createReadStream(place);
      await pipeline(source, createWriteStream(copy, { flags: 'wx', mode: OWNER_ONLY_FILE_MODE })).catch((error: unknown) => {
        throw new SourceFault('unreadable', { file: place, what: codeOf(error) }, error);
      });
      files.push(copy);
    }
    return await use(files);
  } finally {
    removeCopies();
    stopWatching();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `act` when the process ends, also by a signal, until the returned function is called. */
function atEnd(act: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    act();
    // Without another listener, the signal ends the process as if nobody had listened.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.on('exit', act);
  for (const signal of SIGNALS) process.once(signal, onSignal);
  return () => {
    process.off('exit', act);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
