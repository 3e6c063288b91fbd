import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import type { Site } from '../site.ts';
import { insertRows } from '../storage/bulk.ts';
import type { Database } from '../storage/database.ts';
import { migrate } from '../storage/migrate.ts';
import {
  columnsOf,
  copySqlite,
  emptySite,
  isEmptySite,
  type Row,
  rowsOfMysql,
  rowsOfSqlite,
  type SnapshotTable,
  sitesInSqlite,
  siteTables,
  sqlitePath,
} from '../storage/snapshot.ts';
import type { TableName } from '../storage/tables.ts';
import { nowUtc } from '../wordpress/time.ts';
import { SourceFault } from './items.ts';

/** What a backup or its restoring came to. */
export interface Transfer {
  readonly rows: number;
}

type Progress = (rows: number) => void;

/** Rows between two reports of how far it is. */
const STEP = 1000;
const VERSION = 1;

/**
 * Writes everything that makes up a site into one file, as it was at one moment, while others write on: of SQLite a copy that is a database itself, of MySQL
 * compressed lines of JSON. Uploaded files are not in it. The file is there whole or not at all, and readable by its owner alone.
 */
export async function backUp(site: Site, file: string, onProgress: Progress = () => undefined): Promise<Transfer> {
  const path = sqlitePath(site.config.databaseUrl);
  const part = `${file}.part`;
  try {
    await rm(part, { force: true });
    // What it holds, password hashes among it, is nobody else's business.
    await (await open(part, 'w', 0o600)).close();
    const rows = path === undefined ? await writeLines(site, part, onProgress) : await copied(site, path, part);
    const written = await open(part, 'r+');
    await written.sync().finally(() => written.close());
    await rename(part, file);
    return { rows };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function copied({ db }: Site, path: string, part: string): Promise<number> {
  await copySqlite(path, part);
  let count = 0;
  for await (const { rows } of rowsOfSqlite(part, db.prefix)) for await (const _ of rows) count += 1;
  return count;
}

async function writeLines({ db, clock }: Site, part: string, onProgress: Progress): Promise<number> {
  let count = 0;
  const lines = async function* (): AsyncGenerator<string> {
    yield line({ format: 'fasti-backup', version: VERSION, engine: db.dialect.name, prefix: db.prefix, made_at: nowUtc(clock()) });
    for await (const { name, rows } of rowsOfMysql(db)) {
      yield line({ table: name });
      for await (const row of rows) {
        count += 1;
        if (count % STEP === 0) onProgress(count);
        yield line(row);
      }
    }
    yield line({ end: true, rows: count });
  };
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(part, { flags: 'w', mode: 0o600 }));
  return count;
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

// ------------------------------------------------------------------------------------------------- restoring
/** A backup that was looked through: its tables, as often as one likes. */
export interface Backup {
  readonly rows: number;
  readonly prefix: string;
  readonly tables: () => AsyncGenerator<SnapshotTable>;
}

/**
 * Looks a backup through to its end.
 *
 * @throws SourceFault `unreadable`, `backup-none`, `backup-damaged`, `backup-several`
 */
export async function openBackup(file: string, prefix: string): Promise<Backup> {
  const begin = await beginOf(file);
  if (begin.subarray(0, 15).toString('latin1') === 'SQLite format 3') return openCopy(file, prefix);
  if (begin[0] !== 0x1f || begin[1] !== 0x8b) throw new SourceFault('backup-none', { file: basename(file) });
  return openLines(file);
}

/** What a line of a backup can be, but for rows. */
const HEAD = z.object({ format: z.literal('fasti-backup'), version: z.literal(VERSION), prefix: z.string().regex(/^\w*$/) });
const TABLE = z.strictObject({ table: z.string() });
const END = z.strictObject({ end: z.literal(true), rows: z.int() });
const ROW = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

async function beginOf(file: string): Promise<Buffer> {
  try {
    const handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0).finally(() => handle.close());
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw new SourceFault('unreadable', { file, what: (error as NodeJS.ErrnoException).code ?? '' }, error);
  }
}

async function openCopy(file: string, wished: string): Promise<Backup> {
  const { sound, prefixes } = sitesInSqlite(file);
  if (!sound) throw new SourceFault('backup-damaged', { file: basename(file), line: 0 });
  const prefix = prefixes.find((one) => one === wished) ?? prefixes[0];
  if (prefix === undefined) throw new SourceFault('backup-none', { file: basename(file) });
  if (prefix !== wished && prefixes.length > 1)
    throw new SourceFault('backup-several', { file: basename(file), prefixes: prefixes.join(', ') });
  const tables = () => rowsOfSqlite(file, prefix);
  let count = 0;
  for await (const { rows } of tables()) for await (const _ of rows) count += 1;
  return { rows: count, prefix, tables };
}

async function openLines(file: string): Promise<Backup> {
  const name = basename(file);
  let prefix = '';
  let count = 0;
  let ended = false;
  let number = 0;
  const damaged = (cause?: unknown) => new SourceFault('backup-damaged', { file: name, line: number }, cause);
  const known = new Set(siteTables());
  try {
    for await (const text of linesOf(file)) {
      number += 1;
      const value = JSON.parse(text) as unknown;
      if (number === 1) {
        const head = HEAD.safeParse(value);
        if (!head.success) throw new SourceFault('backup-none', { file: name }, head.error);
        prefix = head.data.prefix;
        continue;
      }
      const end = END.safeParse(value);
      if (ended || (end.success && end.data.rows !== count)) throw damaged();
      if (end.success) ended = true;
      else if (!TABLE.safeParse(value).success || !known.has(TABLE.parse(value).table)) {
        if (!ROW.safeParse(value).success) throw damaged();
        count += 1;
      }
    }
  } catch (error) {
    throw error instanceof SourceFault ? error : damaged(error);
  }
  if (!ended) throw damaged();
  return { rows: count, prefix, tables: () => tablesIn(file, known) };
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const unzipped = createGunzip();
  const source = createReadStream(file).on('error', (error) => unzipped.destroy(error));
  source.pipe(unzipped).setEncoding('utf8');
  let rest = '';
  for await (const chunk of unzipped as AsyncIterable<string>) {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  if (rest !== '') yield rest;
}

/** The tables of a file of lines, each to be read to its end before the next. */
async function* tablesIn(file: string, known: ReadonlySet<string>): AsyncGenerator<SnapshotTable> {
  const lines = linesOf(file);
  let next = await lines.next();
  next = await lines.next();
  while (!next.done) {
    const { table, end } = JSON.parse(next.value) as { table?: string; end?: boolean };
    if (end === true) return;
    const rows = async function* (): AsyncGenerator<Row> {
      for (;;) {
        next = await lines.next();
        if (next.done) return;
        const value = JSON.parse(next.value) as Row & { table?: string; end?: boolean };
        if (value.end === true || (Object.keys(value).length === 1 && typeof value.table === 'string' && known.has(value.table))) return;
        yield value;
      }
    };
    yield { name: table ?? '', rows: rows() };
  }
}

/**
 * Puts a backup in the place of what a database holds, in one transaction: until its end the others see what was there before, and if it fails nothing has
 * changed. Tables and columns that are not known here are left out.
 */
export async function restore(site: Site, backup: Backup, onProgress: Progress = () => undefined): Promise<Transfer> {
  await migrate(site.db);
  return site.db.transaction(async (db) => {
    const counter = await counterOf(db);
    await emptySite(db);
    let count = 0;
    for await (const { name, rows } of backup.tables()) {
      const columns = await columnsOf(db, name);
      for await (const some of pieces(rows)) {
        await insertRows(
          db,
          name as TableName,
          some.map((row) => renamed(name, fitting(row, columns), backup.prefix, db.prefix)),
        );
        count += some.length;
        onProgress(count);
      }
    }
    await keepCounting(db, counter, nowUtc(site.clock()));
    return { rows: count };
  });
}

/** Whether there is nothing to be lost. */
export const isEmptyDatabase = ({ db }: Site): Promise<boolean> => isEmptySite(db);

const ROWS = 200;
const CHARACTERS = 2 ** 20;

/** Rows in pieces that one statement takes. */
async function* pieces(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let piece: Row[] = [];
  let size = 0;
  for await (const row of rows) {
    piece.push(row);
    for (const value of Object.values(row)) size += typeof value === 'string' ? value.length : 8;
    if (piece.length < ROWS && size < CHARACTERS) continue;
    yield piece;
    [piece, size] = [[], 0];
  }
  if (piece.length > 0) yield piece;
}

const fitting = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(columns.filter((column) => column in row).map((column) => [column, row[column]!]));

/** Some names begin with the prefix of the tables: roles, and who has which. */
function renamed(table: string, row: Row, before: string, after: string): Row {
  if (before === after) return row;
  const rename = (column: string): Row => {
    const value = row[column];
    return typeof value === 'string' && value.startsWith(before) ? { ...row, [column]: after + value.slice(before.length) } : row;
  };
  if (table === 'options') return row.option_name === `${before}user_roles` ? rename('option_name') : row;
  return table === 'usermeta' ? rename('meta_key') : row;
}

const counterOf = async (db: Database): Promise<number> => Number((await db.from('fasti_changes').where('id', 1).first())?.counter ?? 0);

/** The count of changes goes on from the higher of both, so that nobody takes what he remembers for what is. */
async function keepCounting(db: Database, before: number, now: string): Promise<void> {
  const counter = Math.max(before, await counterOf(db)) + 1;
  await db.from('fasti_changes').delete();
  await db.from('fasti_changes').insert({ id: 1, counter, changed_at: now } as never);
}
