import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { createGunzip } from 'node:zlib';
import type { z } from 'zod';
import { linesIn, type NumberedLine } from '../exchange/items/file-text.ts';
import { SourceFault } from '../exchange/items/items.ts';
import { isObject } from '../objects.ts';
import { backupTables, type Row, rowsOfSqlite, type SnapshotTable, sitesInSqlite } from '../storage/audit/snapshot.ts';
import { jsonExcess } from '../wordpress/json.ts';
import { END, HEAD, parseRow, ROW, TABLE } from './backup-lines.ts';

/** A validated backup, whose tables can be read any number of times. */
export interface Backup {
  readonly rows: number;
  readonly prefix: string;
  /** Names of its tables, without unknown ones. */
  readonly names: ReadonlySet<string>;
  readonly tables: () => AsyncGenerator<SnapshotTable>;
}

/**
 * Reads a backup to its end to validate it.
 *
 * @throws SourceFault `unreadable`, `backup-none`, `backup-broken`, `backup-damaged`, `backup-several`
 */
export async function openBackup(file: string, prefix: string): Promise<Backup> {
  const start = await readStart(file);
  if (start.subarray(0, 15).toString('latin1') === 'SQLite format 3') return openDatabaseCopy(file, prefix);
  if (start[0] !== 0x1f || start[1] !== 0x8b) throw new SourceFault('backup-none', { file: basename(file) });
  return openLinesBackup(file);
}

/** A table that has rows in every site. A backup without them would replace a site by nothing. */
const OPTIONS_TABLE = 'options';

async function readStart(file: string): Promise<Buffer> {
  try {
    const handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0).finally(() => handle.close());
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw new SourceFault('unreadable', { file, what: (error as NodeJS.ErrnoException).code ?? '' }, error);
  }
}

async function openDatabaseCopy(file: string, wantedPrefix: string): Promise<Backup> {
  const { isSound, prefixes } = sitesInSqlite(file);
  if (!isSound) throw damageError(basename(file), 0);
  const prefix = prefixes.find((one) => one === wantedPrefix) ?? prefixes[0];
  if (prefix === undefined) throw new SourceFault('backup-none', { file: basename(file) });
  if (prefix !== wantedPrefix && prefixes.length > 1)
    throw new SourceFault('backup-several', { file: basename(file), prefixes: prefixes.join(', ') });
  const tables = () => rowsOfSqlite(file, prefix);
  const names: string[] = [];
  let [rows, options] = [0, 0];
  for await (const table of tables()) {
    names.push(table.name);
    for await (const _ of table.rows) {
      rows += 1;
      if (table.name === OPTIONS_TABLE) options += 1;
    }
  }
  if (options === 0) throw new SourceFault('backup-none', { file: basename(file) });
  return { rows, prefix, names: new Set(names), tables };
}

/** Returns the error for a damaged backup. `line`: 0 if the damage is not in a certain line. */
const damageError = (file: string, line: number, cause?: unknown): SourceFault =>
  line === 0 ? new SourceFault('backup-broken', { file }, cause) : new SourceFault('backup-damaged', { file, line }, cause);

async function openLinesBackup(file: string): Promise<Backup> {
  const name = basename(file);
  let prefix = '';
  let [count, knownRows, options] = [0, 0, 0];
  let hasEnded = false;
  let current: string | undefined;
  const names: string[] = [];
  let number = 0;
  const damageAtLine = (cause?: unknown) => damageError(name, number, cause);
  const knownTables = new Set<string>(backupTables());
  try {
    for await (const { line, text } of linesOf(file)) {
      number = line;
      const value = parseLine(text);
      if (number === 1) {
        const head = HEAD.safeParse(value);
        if (!head.success) throw new SourceFault('backup-none', { file: name }, head.error);
        prefix = head.data.prefix;
        continue;
      }
      const end = END.safeParse(value);
      const table = tableNameIn(value);
      if (hasEnded || (end.success && end.data.rows !== count)) throw damageAtLine();
      if (end.success) hasEnded = true;
      else if (table !== '') {
        current = table;
        names.push(table);
      } else {
        if (current === undefined || !ROW.safeParse(value).success) throw damageAtLine();
        count += 1;
        if (knownTables.has(current)) knownRows += 1;
        if (current === OPTIONS_TABLE) options += 1;
      }
    }
  } catch (error) {
    throw error instanceof SourceFault ? error : damageAtLine(error);
  }
  if (!hasEnded) throw damageAtLine();
  if (options === 0) throw new SourceFault('backup-none', { file: name });
  return { rows: knownRows, prefix, names: new Set(names), tables: () => tablesIn(file, knownTables) };
}

/** Returns the table that a line introduces; empty for other lines. No row has exactly these columns. */
function tableNameIn(value: unknown): string {
  const isShort = isObject(value) && 'table' in value;
  return isShort ? (TABLE.safeParse(value).data?.table ?? '') : '';
}

/** Whether a line is the last one. Rows contain no booleans. */
const isEnd = (value: unknown): boolean => (value as { readonly end?: unknown }).end === true;

/** Maximum length of a line: several values of the maximum size of MySQL, with all characters escaped. */
const MAX_LINE_LENGTH = 256 * 2 ** 20;

function linesOf(file: string): AsyncGenerator<NumberedLine> {
  const unzipped = createGunzip();
  const source = createReadStream(file).on('error', (error) => unzipped.destroy(error));
  source.pipe(unzipped).setEncoding('utf8');
  return linesIn(unzipped as AsyncIterable<string>, MAX_LINE_LENGTH, (line) => damageError(basename(file), line));
}

/** Limits for a line. Rows are flat except for binary values. */
const LIMITS = { depth: 2, values: 1000 };

function parseLine(text: string): unknown {
  if (jsonExcess(text, LIMITS)) throw new SyntaxError('not a line of a backup');
  return JSON.parse(text);
}

/**
 * Yields the known tables of a backup in lines; each must be read to its end before the next. Newer versions may write
 * further tables.
 */
async function* tablesIn(file: string, knownTables: ReadonlySet<string>): AsyncGenerator<SnapshotTable> {
  const lines = linesOf(file);
  let next = await lines.next();
  next = await lines.next();
  while (!next.done) {
    const value = parseLine(next.value.text);
    if (isEnd(value)) return;
    const { table, last = 0 } = TABLE.parse(value);
    const rows = async function* (): AsyncGenerator<Row> {
      for (;;) {
        next = await lines.next();
        if (next.done) return;
        const value = parseLine(next.value.text);
        if (isEnd(value) || tableNameIn(value) !== '') return;
        yield parseRow(value as z.output<typeof ROW>);
      }
    };
    if (knownTables.has(table)) yield { name: table, last, rows: rows() };
    else for await (const _ of rows());
  }
}
