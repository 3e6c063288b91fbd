import { createHash } from 'node:crypto';
import { appendFile, lstat, mkdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { OWN_FILE, OWN_FOLDER } from '../host/files.ts';
import { linesOf } from './file-text.ts';
import { type Entry, SourceFault } from './items.ts';

/**
 * What a walk through a site has given so far, in a file: the site is asked once, however often its entries are read, and a walk that was cut short goes on
 * where it stopped.
 */
export interface Spool {
  /** How far the walk has come: its stages and pages, the last one first to be done again. Undefined: it has not begun. */
  readonly state: () => Promise<SpoolState>;
  /** The entries of all pages that are there. */
  readonly entries: () => AsyncGenerator<Entry>;
  /** Adds a page, whole. */
  readonly add: (entries: readonly Entry[], mark: Mark) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** The page that was added last. */
export interface Mark {
  readonly stage: string;
  readonly page: number;
  /** Whether it was the last one of its stage, and of the walk. */
  readonly last: boolean;
  readonly done: boolean;
}

export interface SpoolState {
  readonly mark: Mark | undefined;
  /** When the file was written to, in milliseconds since 1970. */
  readonly touched: number;
}

/** Opens the spool of a source, in a folder that is this user's alone. Throws SourceFault `unreadable` where it is not. */
export async function openSpool(name: string, folder = join(tmpdir(), `fasti-${userInfo().uid}`)): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: OWN_FOLDER });
  const place = await lstat(folder);
  if (!place.isDirectory() || (place.uid !== userInfo().uid && userInfo().uid >= 0))
    throw new SourceFault('unreadable', { file: folder, what: 'EPERM' });
  const path = join(folder, `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.jsonl`);

  async function* lines(): AsyncGenerator<{ value: Entry | { mark: Mark }; bytes: number }> {
    if ((await stat(path).catch(() => undefined)) === undefined) return;
    for await (const { text } of linesOf(path)) {
      const value = parsed(text);
      if (value === undefined) return;
      yield { value, bytes: Buffer.byteLength(text) + 1 };
    }
  }

  return {
    state: async () => {
      let [mark, at, end]: [Mark | undefined, number, number] = [undefined, 0, 0];
      for await (const { value, bytes } of lines()) {
        at += bytes;
        if ('mark' in value) [mark, end] = [value.mark, at];
      }
      const file = await stat(path).catch(() => undefined);
      // A page that was not written to its end is fetched again.
      if (file && file.size > end) await truncate(path, end);
      return { mark, touched: file?.mtimeMs ?? 0 };
    },
    entries: async function* () {
      for await (const { value } of lines()) if (!('mark' in value)) yield value;
    },
    add: (entries, mark) =>
      appendFile(path, [...entries, { mark }].map((value) => `${JSON.stringify(value)}\n`).join(''), { mode: OWN_FILE }),
    remove: () => rm(path, { force: true }),
  };
}

function parsed(text: string): Entry | { mark: Mark } | undefined {
  try {
    return JSON.parse(text) as Entry | { mark: Mark };
  } catch {
    return undefined;
  }
}
