import { createReadStream, rmSync } from 'node:fs';
import { mkdir, mkdtemp, open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { isOpenDescriptor } from '../exchange/items/atomic-file.ts';
import { extensionOf, type ReadFormat } from '../exchange/items/file-formats.ts';
import { SourceFault } from '../exchange/items/items.ts';
import { fetchBytes, fetchOptionsFor } from '../exchange/live/named-address.ts';
import { formatOfWebFile } from '../exchange/sources.ts';
import { onProcessEnd } from '../host/ending.ts';
import { OWNER_ONLY_FILE_MODE, OWNER_ONLY_FOLDER_MODE } from '../host/files.ts';
import { codeOf } from '../objects.ts';
import { percentDecoded } from '../wordpress/web-url.ts';
import type { Io } from './io.ts';

/** The name that means standard input. */
const STANDARD_INPUT = '-';

/** Name of the copy of what was piped, without an extension. */
const COPY_NAME = 'stdin';

const FOLDER_PREFIX = 'fasti-input-';

/** Returns the path of a file as messages show it: for a copy, its name alone. */
export const shownPath = (file: string): string => (basename(dirname(file)).startsWith(FOLDER_PREFIX) ? basename(file) : file);

/** Whether this can be read only once: standard input, or a pipe such as `/dev/stdin` and `<(command)` in a shell. */
export const isPiped = async (place: string): Promise<boolean> => place === STANDARD_INPUT || (await isOpenDescriptor(place));

/**
 * Calls `use` with files whose readers may read them more than once: everything that is piped, and files on the web
 * that readers do not fetch themselves, are copied to a temporary file first. Only this user may read the copies. They
 * are removed afterwards, even if the command is interrupted. `format`: of the files, if it is known. Other places are
 * handed on as they are.
 *
 * @throws SourceFault `unreadable`, `unwritable`, `feed-not-fetched`, `site-address`, `site-credentials`
 */
export async function withLocalFiles<Result>(
  { input, temporary }: Pick<Io, 'input' | 'temporary'>,
  places: readonly string[],
  format: ReadFormat | undefined,
  use: (files: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const folders: string[] = [];
  const removeCopies = () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  };
  const newPath = async (name: string): Promise<string> => {
    const parent = temporary ?? tmpdir();
    const folder = await writing(parent, async () => {
      await mkdir(parent, { recursive: true, mode: OWNER_ONLY_FOLDER_MODE });
      return mkdtemp(join(parent, FOLDER_PREFIX));
    });
    folders.push(folder);
    return join(folder, name);
  };
  const stopListening = onProcessEnd(removeCopies);
  try {
    // A place that is named twice is read once.
    const files = new Map<string, string>();
    for (const place of new Set(places)) {
      const webFormat = formatOfWebFile(place, format);
      if (await isPiped(place)) {
        files.set(place, await newPath(`${COPY_NAME}${(format && extensionOf(format)) ?? ''}`));
        await copyPiped(place === STANDARD_INPUT ? (input?.() ?? process.stdin) : createReadStream(place), files.get(place)!, place);
      } else if (webFormat) {
        const bytes = await fetchBytes(place, '*/*', await fetchOptionsFor(place));
        const copy = await newPath(nameOfFetched(new URL(place), webFormat));
        files.set(place, copy);
        await writing(copy, () => writeFile(copy, bytes, { flag: 'wx', mode: OWNER_ONLY_FILE_MODE }));
      }
    }
    return await use(places.map((place) => files.get(place) ?? place));
  } finally {
    removeCopies();
    stopListening();
  }
}

async function copyPiped(source: NodeJS.ReadableStream, copy: string, place: string): Promise<void> {
  const handle = await writing(copy, () => open(copy, 'wx', OWNER_ONLY_FILE_MODE));
  try {
    for await (const piece of source) await writing(copy, () => handle.appendFile(piece));
  } catch (error) {
    throw error instanceof SourceFault ? error : new SourceFault('unreadable', { file: place, what: codeOf(error) }, error);
  } finally {
    await handle.close();
  }
}

/** Writes to a file or a folder. Throws SourceFault `unwritable` which names it. */
async function writing<Result>(file: string, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    throw new SourceFault('unwritable', { file, what: codeOf(error) }, error);
  }
}

const MAX_NAME_LENGTH = 60;

/** Returns a file name for an address: its last segment, with an extension of the format. */
function nameOfFetched({ pathname, hostname }: URL, format: ReadFormat): string {
  const segment = percentDecoded(pathname.split('/').findLast((one) => one !== '') ?? hostname)
    .replace(/[^\p{L}\p{N} ._-]/gu, '_')
    .slice(-MAX_NAME_LENGTH);
  return extname(segment) === '' ? `${segment}${extensionOf(format) ?? ''}` : segment;
}
