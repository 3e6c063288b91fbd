import { type FileHandle, open } from 'node:fs/promises';
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
 * `beside`: returns the path to use in place of that of a file.
 *
 * @throws SourceFault `unwritable`
 */
export async function writeRejected(source: CsvSource, beside: (path: string) => string = (path) => path): Promise<RejectedFile[]> {
  const files = new Map<string, { path: string; handle: FileHandle; rows: number }>();
  try {
    for await (const row of source.rejected()) {
      const file = files.get(row.path) ?? { ...(await createRejectedFile({ ...row, path: beside(row.path) })), rows: 0 };
      files.set(row.path, file);
      await file.handle.appendFile(toCsvLine(row.cells, row));
      file.rows += 1;
    }
  } finally {
    for (const { handle } of files.values()) await handle.close();
  }
  return Array.from(files.values(), ({ path, rows }) => ({ path, rows }));
}

const toCsvLine = (cells: readonly string[], { delimiter }: RejectedRow): string => stringify([[...cells]], { ...CSV_FORM, delimiter });

/** Number of file names to try before giving up; the error then names the last one. */
const MAX_FILE_NAMES_TRIED = 1000;

async function createRejectedFile(row: RejectedRow): Promise<{ path: string; handle: FileHandle }> {
  const ending = extname(row.path);
  const stem = row.path.slice(0, row.path.length - ending.length);
  for (let number = 1; ; number += 1) {
    const path = `${stem}.rejected${number === 1 ? '' : `-${number}`}${ending}`;
    try {
      const handle = await open(path, 'wx');
      await handle.appendFile(`\ufeff${toCsvLine(row.headers, row)}`);
      return { path, handle };
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EEXIST' && number < MAX_FILE_NAMES_TRIED) continue;
      throw new SourceFault('unwritable', { file: path, what: code }, error);
    }
  }
}
