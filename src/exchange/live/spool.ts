import { createHash } from 'node:crypto';
import { appendFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OWNER_ONLY_FILE_MODE } from '../../host/files.ts';
import { lockFile } from '../../storage/engine/file-lock.ts';
import { linesOf, MAX_TEXT_LENGTH } from '../items/file-text.ts';
import { type Entry, isItem, isPostItem, SourceFault, titleOf } from '../items/items.ts';
import { ensurePrivateFolder } from '../items/private-folder.ts';
import { asWholeRecord, lossEntry } from '../items/report.ts';

/**
 * The results of a walk through a site so far, stored in a file. The site is requested only once, however often its
 * entries are read, and an interrupted walk resumes where it stopped.
 */
export interface Spool {
  /** Returns the progress of the walk. Its mark is undefined if the walk has not begun, or its file cannot be read. */
  readonly state: () => Promise<SpoolState>;
  /** Yields the entries of all stored pages. */
  readonly entries: () => AsyncGenerator<Entry>;
  /** Adds a complete page. Returns its entries as they are stored: a loss in place of a record that is too long. */
  readonly add: (entries: readonly Entry[], mark: Mark) => Promise<readonly Entry[]>;
  readonly remove: () => Promise<void>;
  /** Releases the lock, so that other processes can open the spool. */
  readonly close: () => void;
}

/** The identity of a walk. */
export interface Walk {
  readonly source: string;
  /** Other values that identify the walk: the credentials, and the target of the import. */
  readonly identity: readonly string[];
}

/** The page before the one to be read next: the page that was added last, unless earlier pages are read again. */
export interface Mark {
  readonly stage: string;
  readonly page: number;
  /** Number of records in its list, if the site reports it. */
  readonly total?: number | undefined;
  /** Names and labels of the custom fields that events have shown so far. */
  readonly fields?: readonly (readonly [name: string, label: string])[] | undefined;
  /** Whether it was the last one of its stage, and of the walk. */
  readonly last: boolean;
  readonly done: boolean;
}

export interface SpoolState {
  readonly mark: Mark | undefined;
  /** Time of the last write to the file, in milliseconds since 1970. */
  readonly writtenAt: number;
}

/**
 * Opens the spool of a walk, in a folder that only this user can read. Other processes cannot open it until it is
 * closed or this process ends.
 *
 * @throws SourceFault `folder-not-private` if others can open the folder, `import-running` if another import has the
 * spool
 */
export async function openSpool({ source, identity }: Walk, folder = join(tmpdir(), `fasti-${process.geteuid?.() ?? 0}`)): Promise<Spool> {
  await ensurePrivateFolder(folder);
  const name = createHash('sha256')
    .update(JSON.stringify([source, ...identity]))
    .digest('hex')
    .slice(0, 32);
  const path = join(folder, `${name}.jsonl`);
  const release = lockFile(join(folder, `${name}.lock`));
  if (!release) throw new SourceFault('import-running', { source });

  /** Whether the file exists. No other process creates it while we hold the lock. */
  let exists = (await stat(path).catch(() => undefined)) !== undefined;

  async function* lines(): AsyncGenerator<SpoolLine> {
    if (!exists) return;
    for await (const { text } of linesOf(path)) {
      const value = parseLine(text);
      if (value === undefined) return;
      yield { value, bytes: Buffer.byteLength(text) + 1 };
    }
  }

  const remove = async (): Promise<void> => {
    await rm(path, { force: true });
    exists = false;
  };
  return {
    state: async () => {
      const { mark, end } = await lastMarkIn(lines()).catch(async (error: unknown) => {
        if (!(error instanceof SourceFault) || !DAMAGED.includes(error.fault)) throw error;
        await remove();
        return { mark: undefined, end: 0 };
      });
      const file = await stat(path).catch(() => undefined);
      // Cut off a page that was not written completely; it is fetched again.
      if (file && file.size > end) await truncate(path, end);
      return { mark, writtenAt: file?.mtimeMs ?? 0 };
    },
    entries: async function* () {
      for await (const { value } of lines()) if (!('mark' in value)) yield value;
    },
    add: async (entries, mark) => {
      const texts = entries.map((entry) => lineOf(entry));
      const lines = [...texts.map(({ line }) => line), JSON.stringify({ mark })].map((line) => `${line}\n`).join('');
      if (exists) await appendFile(path, lines);
      else await writeFile(path, lines, { mode: OWNER_ONLY_FILE_MODE, flag: 'wx' });
      exists = true;
      return texts.map(({ entry }) => entry);
    },
    remove,
    close: release,
  };
}

/** A line of the file, and its length. */
interface SpoolLine {
  readonly value: Entry | { readonly mark: Mark };
  readonly bytes: number;
}

/** Returns the last mark, and the number of bytes up to its end. */
async function lastMarkIn(lines: AsyncIterable<SpoolLine>): Promise<{ readonly mark: Mark | undefined; readonly end: number }> {
  let [mark, offset, end]: [Mark | undefined, number, number] = [undefined, 0, 0];
  for await (const { value, bytes } of lines) {
    offset += bytes;
    if ('mark' in value) [mark, end] = [value.mark, offset];
  }
  return { mark, end };
}

/** Faults of a file that was not written as this version writes it. */
const DAMAGED: readonly string[] = ['too-long', 'not-utf8'];

/** Returns the line of an entry, or of a loss if the entry is longer than a line may be. */
function lineOf(entry: Entry): { readonly entry: Entry; readonly line: string } {
  const line = JSON.stringify(entry);
  if (line.length <= MAX_TEXT_LENGTH || !isItem(entry)) return { entry, line };
  const loss = lossEntry({ reason: 'record-too-long', kind: entry.kind, of: titleOf(entry).slice(0, 200), place: entry.place });
  const short = asWholeRecord(loss, isPostItem(entry) ? entry.sourceId : undefined);
  return { entry: short, line: JSON.stringify(short) };
}

function parseLine(text: string): Entry | { mark: Mark } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
