import { statSync } from 'node:fs';
import { type Database, hasTable } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { IN_MEMORY, sqliteFile } from '../engine/sqlite/connection.ts';
import { Sqlite } from '../engine/sqlite/library.ts';
import type { TableName } from '../engine/tables.ts';
import { tableDefinitions } from '../schema/migrate.ts';
import { wpmlTables } from '../schema/wpml-tables.ts';

/*
 * All rows of a site as they were at one moment, whatever is written meanwhile, and all rows of a site replaced at
 * once.
 */

/** A row as it is stored; with bytes in columns that are not ours. */
export type Row = Readonly<Record<string, string | number | null | Uint8Array>>;

/** A table of a snapshot; its name without the prefix. */
export interface SnapshotTable {
  readonly name: string;
  /** The last number that it gave to a row, which may be gone; 0: none. */
  readonly last: number;
  readonly rows: AsyncIterable<Row>;
}

/** Rows that only stand there while something is going on, and what was noted of changes: it is no part of the site. */
const PASSING = new Set<TableName>(['fasti_locks', 'fasti_journal', 'fasti_journal_inbox', 'fasti_prints', 'fasti_hook_messages']);

/** Names of the tables that make up a site, without the prefix. */
export const siteTables = (): TableName[] =>
  tableDefinitions()
    .map(({ name }) => name)
    .filter((name) => !PASSING.has(name));

/** There only where events may recur: then other tables have further columns, too. */
export const RECURRENCE_TABLE = 'tec_series_relationships';

/** Tables that not every site has. */
const optionalTables = (): TableName[] => [RECURRENCE_TABLE, ...wpmlTables()];

/** Names of all tables that a backup may hold, in their order. */
export const backupTables = (): TableName[] => [...optionalTables(), ...siteTables()];

/** The path of an SQLite database; undefined for other addresses and for one in memory. */
export function sqlitePath(address: string): string | undefined {
  const file = sqliteFile(address);
  return file === IN_MEMORY ? undefined : file;
}

/** How many rows there are in all tables. */
export async function rowsIn(tables: AsyncIterable<SnapshotTable>): Promise<number> {
  let count = 0;
  for await (const { rows } of tables) for await (const _ of rows) count += 1;
  return count;
}

/**
 * Copies an SQLite database into a new file by SQLite's own backup, in one step: it is the database of one moment, and
 * writers go on in the log meanwhile. The copy is one file and checked.
 *
 * @throws Error where the copy is not sound
 */
export async function copySqlite(path: string, file: string): Promise<void> {
  const source = new Sqlite(path, { readonly: true, fileMustExist: true });
  try {
    await source.backup(file, { progress: () => WHOLE });
  } finally {
    source.close();
  }
  const copy = new Sqlite(file);
  try {
    // A log beside it would be half of the copy.
    copy.pragma('journal_mode = DELETE');
    const [{ quick_check: result } = { quick_check: '' }] = copy.pragma('quick_check(1)') as { quick_check: string }[];
    if (result !== 'ok') throw new Error(`the copy is damaged: ${result}`);
  } finally {
    copy.close();
  }
}

/** More pages than any database has. */
const WHOLE = 2 ** 31 - 1;

/** Whether a file is an SQLite database that can be read as a whole; the prefixes of the sites in it. */
export function sitesInSqlite(file: string): { sound: boolean; prefixes: string[] } {
  try {
    if (statSync(file).size === 0) return { sound: false, prefixes: [] };
    const source = new Sqlite(file, { readonly: true, fileMustExist: true });
    try {
      const sound = (source.pragma('quick_check(1)') as { quick_check: string }[])[0]?.quick_check === 'ok';
      const names = source.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
      const prefixes = names.filter((name) => name.endsWith('postmeta')).map((name) => name.slice(0, -'postmeta'.length));
      return { sound, prefixes: prefixes.filter((prefix) => names.includes(`${prefix}options`) && names.includes(`${prefix}posts`)) };
    } finally {
      source.close();
    }
  } catch {
    return { sound: false, prefixes: [] };
  }
}

/** What is damaged in an SQLite file, of which all is read. */
export function damageInSqlite(file: string): string[] {
  const source = new Sqlite(file, { readonly: true, fileMustExist: true });
  try {
    const found = source.pragma('quick_check(10)') as { quick_check: string }[];
    return found.flatMap(({ quick_check: text }) => (text === 'ok' ? [] : [text]));
  } catch (error) {
    // Of some damage SQLite does not even say where it is.
    if (!(error instanceof Sqlite.SqliteError) || !/^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) throw error;
    return [error.message];
  } finally {
    source.close();
  }
}

/** The rows of a site in an SQLite file, all of one moment. */
export async function* rowsOfSqlite(file: string, prefix: string): AsyncGenerator<SnapshotTable> {
  const source = new Sqlite(file, { readonly: true, fileMustExist: true });
  try {
    source.exec('BEGIN');
    const numbers = numbersIn(source);
    for (const name of backupTables()) {
      if (source.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(prefix + name) === undefined) continue;
      const rows = toAsync(source.prepare<[], Row>(`SELECT * FROM \`${prefix}${name}\``).iterate());
      yield { name, last: numbers.get(prefix + name) ?? 0, rows };
    }
  } finally {
    source.close();
  }
}

/** The last numbers that tables of a file gave to rows. */
function numbersIn(source: InstanceType<typeof Sqlite>): Map<string, number> {
  const isThere = source.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").get() !== undefined;
  const rows = isThere ? source.prepare<[], { name: string; seq: number }>('SELECT name, seq FROM sqlite_sequence').all() : [];
  return new Map(rows.map(({ name, seq }) => [name, seq]));
}

async function* toAsync(rows: IterableIterator<Row>): AsyncGenerator<Row> {
  yield* rows;
}

/**
 * The rows of a site on MySQL, all of one moment: one transaction whose first question fixes what it sees (REPEATABLE
 * READ). Tables without transactions are as they are when they are read.
 */
export async function* rowsOfMysql(db: Database): AsyncGenerator<SnapshotTable> {
  if (!db.driver.snapshot) throw new Error('the database is a file, which is copied instead');
  const snapshot = await db.driver.snapshot();
  try {
    for (const name of backupTables()) {
      const table = db.table(name);
      if ((await db.dialect.columns(snapshot, table)).length === 0) continue;
      const [numbering] = await snapshot.ask<{ next: number | null }>(
        'SELECT AUTO_INCREMENT AS `next` FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?',
        [table],
      );
      yield { name, last: Math.max(0, Number(numbering?.next ?? 1) - 1), rows: snapshot.stream(table) as AsyncIterable<Row> };
    }
  } finally {
    await snapshot.close();
  }
}

/**
 * Empties the tables of a site. Call it in a transaction. Messages that wait go too: webhooks of other rows may get the
 * ids of theirs.
 */
export async function emptySite(db: Database): Promise<void> {
  for (const name of [...siteTables(), 'fasti_hook_messages', ...optionalTables()] as const)
    if (await hasTable(db, name)) await db.from(name).delete();
}

/**
 * Has an empty table give no number up to this one: something may still name the row that had it, and would mean the
 * new one. Call it in a transaction.
 */
export async function numberOn(db: Database, name: TableName, last: number): Promise<void> {
  const { columns = {} } = tableDefinitions().find((table) => table.name === name) ?? {};
  const [column] = Object.entries(columns).find(([, type]) => type.includes('AUTO_INCREMENT')) ?? [];
  if (column === undefined || last === 0) return;
  // Databases go on from the highest number that there ever was.
  await insertRows(db, name, [{ [column]: last }]);
  await db.from(name).where(column, last).delete();
}

/** Names of the columns of a table, in order. */
export const columnsOf = (db: Database, name: TableName): Promise<string[]> => db.dialect.columns(db, db.table(name));

/** Whether there is nothing in the tables of a site that could be lost. */
export async function isEmptySite(db: Database): Promise<boolean> {
  for (const name of ['options', 'posts', 'users', 'terms'] as const) {
    if ((await hasTable(db, name)) && (await db.from(name).first()) !== undefined) return false;
  }
  return true;
}
