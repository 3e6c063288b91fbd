import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { faultOfFile, isOpenDescriptor, refuseOverDatabase, writeAtomically } from '../exchange/items/atomic-file.ts';
import { SourceFault } from '../exchange/items/items.ts';
import { onProcessEnd } from '../host/ending.ts';
import type { Site } from '../site.ts';
import { copySqlite, rowsIn, rowsOfMysql, rowsOfSqlite } from '../storage/audit/snapshot.ts';
import { sqlitePath } from '../storage/engine/sqlite/connection.ts';
import { utcFromDate } from '../wordpress/time.ts';
import { endLine, headLine, rowLine, tableLine } from './backup-lines.ts';

type Progress = (rows: number) => void;

/** An SQLite file to be copied, and the part file for the copy. */
export interface CopyRequest {
  readonly path: string;
  readonly part: string;
  readonly prefix: string;
}

/** Number of rows between two calls of `onProgress`. */
const PROGRESS_INTERVAL_ROWS = 1000;

/**
 * Writes a consistent snapshot of a site into one file, while others continue to write: for SQLite, a copy that is
 * itself a database; for MySQL, compressed lines of JSON. Uploaded files are not included. The file is created
 * atomically and readable by its owner only. Returns the number of rows. `copy`: function that copies an SQLite file.
 *
 * @throws SourceFault `unwritable`, `over-database`, `backup-not-streamed`
 */
export async function backUp(site: Site, file: string, onProgress: Progress = () => undefined, copy = copyDatabase): Promise<number> {
  const path = sqlitePath(site.config.databaseUrl);
  await refuseOverDatabase(file, path);
  // SQLite writes the copy itself, and not sequentially.
  if (path !== undefined && (await isOpenDescriptor(file))) throw new SourceFault('backup-not-streamed', { file });
  return writeAtomically(file, (part) =>
    path === undefined ? writeLines(site, createWriteStream(part), onProgress) : copy({ path, part, prefix: site.db.prefix }),
  );
}

/** An open output, and its name in messages. */
interface Output {
  readonly stream: NodeJS.WritableStream;
  readonly name: string;
}

/**
 * Writes such a snapshot to an open output. Standard output stays open. SQLite does not write its copy sequentially, so
 * that a temporary file is made of it first. Returns the number of rows.
 *
 * @throws SourceFault `unwritable`
 */
export async function backUpTo(site: Site, { stream, name }: Output, onProgress: Progress = () => undefined): Promise<number> {
  const path = sqlitePath(site.config.databaseUrl);
  if (path === undefined) return inFile(name, () => writeLines(site, stream, onProgress));
  return withTemporaryFolder(async (folder) => {
    const copy = join(folder, 'copy');
    const rows = await inFile(tmpdir(), () => copyDatabase({ path, part: copy, prefix: site.db.prefix }));
    await inFile(name, () => pipeline(createReadStream(copy), stream, { end: false }));
    return rows;
  });
}

/**
 * Runs a task that writes into a file or folder.
 *
 * @throws SourceFault `unwritable` which names it
 */
async function inFile<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    throw faultOfFile(name, error);
  }
}

/** Calls `use` with a new folder, which is removed afterwards, even if the process is interrupted. */
async function withTemporaryFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await inFile(tmpdir(), async () => mkdtempSync(join(tmpdir(), 'fasti-backup-')));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const stopListening = onProcessEnd(remove);
  try {
    return await use(folder);
  } finally {
    remove();
    stopListening();
  }
}

async function copyDatabase({ path, part, prefix }: CopyRequest): Promise<number> {
  await copySqlite(path, part);
  return rowsIn(rowsOfSqlite(part, prefix));
}

async function writeLines({ db, clock }: Site, output: NodeJS.WritableStream, onProgress: Progress): Promise<number> {
  let count = 0;
  const lines = async function* (): AsyncGenerator<string> {
    yield headLine(db.prefix, { engine: db.dialect.name, made_at: utcFromDate(clock()) });
    for await (const { name, last, rows } of rowsOfMysql(db)) {
      yield tableLine(name, last);
      for await (const row of rows) {
        count += 1;
        if (count % PROGRESS_INTERVAL_ROWS === 0) onProgress(count);
        yield rowLine(row);
      }
    }
    yield endLine(count);
  };
  await pipeline(Readable.from(lines()), createGzip(), output, { end: output !== process.stdout });
  return count;
}
