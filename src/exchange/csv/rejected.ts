import { type FileHandle, open, rm } from 'node:fs/promises';
import { extname } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { codeOf } from '../../objects.ts';
import { SourceFault } from '../items/items.ts';
import { CSV_FORM } from './csv-form.ts';
import type { CsvSource, RejectedRow } from './read.ts';

/** A file that was written with rejected rows. */
export interface RejectedFile {
  readonly path: string;
  readonly rows: number;
}

/**
 * Writes the rejected rows of each file into a file next to it (`events.rejected.csv`), with the same header line and
 * delimiter, in UTF-8, so that they can be corrected and imported. Existing files are kept; the new one gets a number.
 * If one cannot be written, all are removed, since a part could be taken for the whole. `beside`: returns the path to
 * use in place of that of a file.
 *
 * @throws SourceFault `unwritable`
 */
export async function writeRejected(source: CsvSource, beside: (path: string) => string = (path) => path): Promise<RejectedFile[]> {
  const files = new Map<string, OpenFile>();
  let isWhole = false;
  try {
    for await (const row of source.rejected()) {
      const file = files.get(row.path) ?? (await createRejectedFile(beside(row.path)));
      files.set(row.path, file);
      if (file.rows === 0) await append(file, `\ufeff${toCsvLine(row.headers, row)}`);
      await append(file, toCsvLine(row.cells, row));
      file.rows += 1;
    }
    isWhole = true;
  } finally {
    for (const { path, handle } of files.values()) {
      await handle.close();
      if (!isWhole) await rm(path, { force: true });
    }
  }
  return Array.from(files.values(), ({ path, rows }) => ({ path, rows }));
}

interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  rows: number;
}

async function append({ path, handle }: OpenFile, text: string): Promise<void> {
  try {
    await handle.appendFile(text);
  } catch (error) {
    throw new SourceFault('unwritable', { file: path, what: codeOf(error) }, error);
  }
}

const toCsvLine = (cells: readonly string[], { delimiter }: RejectedRow): string => stringify([[...cells]], { ...CSV_FORM, delimiter });

/** Number of file names to try before giving up; the error then names the last one. */
const MAX_FILE_NAMES_TRIED = 1000;

async function createRejectedFile(original: string): Promise<OpenFile> {
  const ending = extname(original);
  const stem = original.slice(0, original.length - ending.length);
  for (let number = 1; ; number += 1) {
    const path = `${stem}.rejected${number === 1 ? '' : `-${number}`}${ending}`;
    try {
      return { path, handle: await open(path, 'wx'), rows: 0 };
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EEXIST' && number < MAX_FILE_NAMES_TRIED) continue;
      throw new SourceFault('unwritable', { file: path, what: code }, error);
    }
  }
}
