import { statSync } from 'node:fs';
import { prefixesOfSites } from '../../wordpress/network.ts';
import { type Database, hasTable } from '../engine/database.ts';
import { insertRows } from '../engine/insert.ts';
import { openReadOnly } from '../engine/sqlite/connection.ts';
import { Sqlite } from '../engine/sqlite/library.ts';
import { type TableName, tablePrefixes } from '../engine/tables.ts';
import { tableDefinitions } from '../schema/migrate.ts';
import { wpmlTables } from '../schema/wpml-tables.ts';

/* Reads all rows of a site at one moment, independent of concurrent writes, and replaces all rows of a site at once. */

/** A row as stored; columns of other programs may contain bytes. */
export type Row = Readonly<Record<string, string | number | null | Uint8Array>>;

/** A table of a snapshot; its name is without the prefix. */
export interface SnapshotTable {
  readonly name: string;
  /** The last id that the table assigned, whose row may not exist any more; 0 if none. */
  readonly last: number;
  readonly rows: AsyncIterable<Row>;
}

/** Tables that are not part of the site: temporary rows, and records of changes. */
const TRANSIENT_TABLES = new Set<TableName>(['fasti_locks', 'fasti_journal', 'fasti_journal_inbox', 'fasti_prints', 'fasti_hook_messages']);

/** Returns the names of the tables that make up a site, without the prefix. */
export const siteTables = (): TableName[] =>
  tableDefinitions()
    .map(({ name }) => name)
    .filter((name) => !TRANSIENT_TABLES.has(name));

/** A table that exists only if events may recur. In that case other tables also have additional columns. */
export const RECURRENCE_TABLE = 'tec_series_relationships';

/** Returns the tables that not every site has. */
const optionalTables = (): TableName[] => [RECURRENCE_TABLE, ...wpmlTables()];

/** Returns the names of all tables that a backup may contain, in order. */
export const backupTables = (): TableName[] => [...optionalTables(), ...siteTables()];

/**
 * Returns the tables with the prefix of the site that backups do not know: those of other plugins. Tables of other
 * sites, whose longer prefixes begin with the same letters, are left out.
 */
export async function unknownTables(db: Database): Promise<string[]> {
  const names = await db.dialect.tables(db);
  const otherPrefixes = prefixesOfSites(names).filter((prefix) => prefix.length > db.prefix.length);
  const known = new Set<string>(backupTables().map((name) => db.table(name)));
  return names.filter(
    (name) =>
      name.startsWith(db.prefix) &&
      !name.startsWith(`${db.prefix}fasti_`) &&
      !known.has(name) &&
      !otherPrefixes.some((prefix) => name.startsWith(prefix)),
  );
}

/** Counts the rows of all tables. */
export async function rowsIn(tables: AsyncIterable<SnapshotTable>): Promise<number> {
  let count = 0;
  for await (const { rows } of tables) for await (const _ of rows) count += 1;
  return count;
}

/**
 * Copies an SQLite database to a new file with SQLite's own backup, in one step. The copy is the database at one
 * moment, and writers continue in the log in the meantime. The copy is a single file, and is checked.
 *
 * @throws Error if the copy is damaged
 */
export async function copySqlite(path: string, file: string): Promise<void> {
  const source = openReadOnly(path);
  try {
    await source.backup(file, { progress: () => ALL_PAGES });
  } finally {
    source.close();
  }
  const copy = new Sqlite(file);
  try {
    // With a separate log file, the copy would be incomplete.
    copy.pragma('journal_mode = DELETE');
    const [{ quick_check: result } = { quick_check: '' }] = copy.pragma('quick_check(1)') as { quick_check: string }[];
    if (result !== 'ok') throw new Error(`the copy is damaged: ${result}`);
  } finally {
    copy.close();
  }
}

/** More pages than any database has. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Checks whether a file is an SQLite database that can be read completely, and returns the prefixes of the sites in it.
 */
export function sitesInSqlite(file: string): { isSound: boolean; prefixes: string[] } {
  try {
    if (statSync(file).size === 0) return { isSound: false, prefixes: [] };
    const source = openReadOnly(file);
    try {
      const isSound = (source.pragma('quick_check(1)') as { quick_check: string }[])[0]?.quick_check === 'ok';
      const names = source.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
      return { isSound, prefixes: prefixesOfSites(names) };
    } finally {
      source.close();
    }
  } catch {
    return { isSound: false, prefixes: [] };
  }
}

/** Returns the damage in an SQLite file, which is read completely. */
export function damageInSqlite(file: string): string[] {
  const source = openReadOnly(file);
  try {
    const rows = source.pragma('quick_check(10)') as { quick_check: string }[];
    return rows.flatMap(({ quick_check: text }) => (text === 'ok' ? [] : [text]));
  } catch (error) {
    // For some kinds of damage, SQLite does not report the location but throws.
    if (!(error instanceof Sqlite.SqliteError) || !/^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) throw error;
    return [error.message];
  } finally {
    source.close();
  }
}

/** Reads the rows of a site from an SQLite file, all from the same moment. */
export async function* rowsOfSqlite(file: string, prefix: string): AsyncGenerator<SnapshotTable> {
  const source = openReadOnly(file);
  try {
    source.exec('BEGIN');
    const numbers = numbersIn(source);
    const isThere = source.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
    for (const name of backupTables()) {
      const table = namesOf(prefix, name).find((one) => isThere.get(one) !== undefined);
      if (table === undefined) continue;
      const rows = toAsync(source.prepare<[], Row>(`SELECT * FROM \`${table}\``).iterate());
      yield { name, last: numbers.get(table) ?? 0, rows };
    }
  } finally {
    source.close();
  }
}

/**
 * Returns the possible names of a table: sites of a network other than the first share some tables with the network.
 */
function namesOf(prefix: string, name: TableName): string[] {
  const site = /(?<!\d)\d+_$/.exec(prefix);
  return [prefix + name, ...(site ? [tablePrefixes(prefix.slice(0, site.index), Number.parseInt(site[0], 10))(name) + name] : [])];
}

/** Returns the last ids that the tables of a file assigned. */
function numbersIn(source: InstanceType<typeof Sqlite>): Map<string, number> {
  const isThere = source.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").get() !== undefined;
  const rows = isThere ? source.prepare<[], { name: string; seq: number }>('SELECT name, seq FROM sqlite_sequence').all() : [];
  return new Map(rows.map(({ name, seq }) => [name, seq]));
}

async function* toAsync(rows: IterableIterator<Row>): AsyncGenerator<Row> {
  yield* rows;
}

/**
 * Reads the rows of a site from MySQL, all from the same moment: in one transaction whose first query determines what
 * it sees (REPEATABLE READ). Tables without transactions have the state of the moment at which they are read.
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
 * Empties the tables of a site. Must be called in a transaction. Waiting messages are deleted too, since other webhooks
 * may later have the ids that these messages refer to, and prints, which would say that the index has taken over other
 * rows.
 */
export async function emptySite(db: Database): Promise<void> {
  for (const name of [...siteTables(), 'fasti_hook_messages', 'fasti_prints', ...optionalTables()] as const)
    if (await hasTable(db, name)) await db.from(name).delete();
}

/**
 * Makes an empty table assign only ids above this one. Other data may still refer to an old row with such an id, and
 * would refer to the new row instead. Must be called in a transaction.
 */
export async function setNextId(db: Database, name: TableName, last: number): Promise<void> {
  const { columns = {} } = tableDefinitions().find((table) => table.name === name) ?? {};
  const [column] = Object.entries(columns).find(([, type]) => type.includes('AUTO_INCREMENT')) ?? [];
  if (column === undefined || last === 0) return;
  // Databases continue from the highest id that ever existed.
  await insertRows(db, name, [{ [column]: last }]);
  await db.from(name).where(column, last).delete();
}

/** Returns the names of the columns of a table, in order. */
export const columnsOf = (db: Database, name: TableName): Promise<string[]> => db.dialect.columns(db, db.table(name));

/** Whether the tables of a site have no data that could be lost. */
export async function isEmptySite(db: Database): Promise<boolean> {
  for (const name of ['options', 'posts', 'users', 'terms'] as const) {
    if ((await hasTable(db, name)) && (await db.from(name).first()) !== undefined) return false;
  }
  return true;
}
