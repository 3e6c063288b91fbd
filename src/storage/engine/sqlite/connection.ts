import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import type Better from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { memoize } from '../../../memo.ts';
import { isObject } from '../../../objects.ts';
import { isDecimalNumber } from '../../../wordpress/decimal-number.ts';
import { foldForSearch, knownFold } from '../collation.ts';
import type { Outcome, Query } from '../driver.ts';
import { Sqlite } from './library.ts';
import { readUnwritable } from './unwritable.ts';

/**
 * Time that SQLite waits for other processes in a statement that reads, which is rarely necessary. A statement that
 * writes does not wait at all, since better-sqlite3 waits inside SQLite, which blocks the whole process.
 */
const BUSY_TIMEOUT_MS = 100;
const MAX_CACHED_STATEMENTS = 300;

export type Connection = Better.Database;

/** The name that an address uses for a database in memory. */
export const IN_MEMORY = ':memory:';

/** Returns the file that an address names, or `IN_MEMORY`; undefined if it is not an address of SQLite. */
export const sqliteFile = (address: string): string | undefined => /^sqlite:(?:\/\/(?=\/))?(.*)$/s.exec(address)?.[1];

/** Returns the path of an SQLite database; undefined for other addresses and for a database in memory. */
export function sqlitePath(address: string): string | undefined {
  const file = sqliteFile(address);
  return file === IN_MEMORY ? undefined : file;
}

/** Runs a statement. */
export function run(connection: Connection, { sql, bindings }: Query): Outcome {
  const { statement, rowOf } = preparedStatement(connection, sql);
  const values = bindings.map(bindableValue);
  if (rowOf) {
    const rows = statement.all(values).map(rowOf);
    // Only statements with a RETURNING clause have an id here (`Dialect.updateReturning`).
    return { rows, id: Number(rows[0]?.id ?? 0), changed: 0, native: rows };
  }
  const { lastInsertRowid: id, changes: changed } = statement.run(values);
  return { rows: [], id, changed, native: { lastInsertRowid: id, changes: changed } };
}

/** Begins a transaction that may write, without waiting for other processes. */
export const beginWrite = (connection: Connection): void =>
  withoutWaiting(connection, () => {
    preparedStatement(connection, 'BEGIN IMMEDIATE').statement.run();
  });

/** Does work that is refused at once if another process holds the lock, so that the process does not stand still. */
export function withoutWaiting<T>(connection: Connection, work: () => T): T {
  preparedStatement(connection, 'PRAGMA busy_timeout = 0').statement.all();
  try {
    return work();
  } finally {
    preparedStatement(connection, `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`).statement.all();
  }
}

/**
 * Returns an identity that distinguishes a file from another one that later has the same name; undefined for a database
 * in memory, empty if the file does not exist.
 */
export function fileIdentity(filename: string): string | undefined {
  if (filename === IN_MEMORY) return undefined;
  const stats = statSync(filename, { bigint: true, throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : '';
}

/** Caches the search forms of the last few texts: each text of a row is searched for one word after the other. */
function createSearchFormCache(): (text: string) => string {
  const last = Array.from({ length: 4 }, () => ({ text: '', form: '' }));
  let oldest = 0;
  return (text) => {
    for (const entry of last) if (entry.text === text) return entry.form;
    const form = foldForSearch(text);
    last[oldest] = { text, form };
    oldest = (oldest + 1) % last.length;
    return form;
  };
}

/** The purpose of a connection. Reading also works without the right to write the file. */
export type FileUse = 'read' | 'write';

/**
 * Opens the file, and adds the functions that SQLite lacks.
 *
 * @throws the library's error if the file can't be opened or is not a database
 */
export function connect(filename: string, use: FileUse): Connection {
  const content = use === 'read' && filename !== IN_MEMORY ? readUnwritable(filename) : undefined;
  const connection = new Sqlite(content ?? filename, { timeout: BUSY_TIMEOUT_MS, fileMustExist: filename !== IN_MEMORY });
  try {
    if (content) connection.pragma('query_only = ON');
    else if (use === 'write') connection.pragma('journal_mode = WAL');
    // Acknowledged writes survive a loss of power.
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = OFF');
    connection.function('fold', { deterministic: true }, (text) => (text === null ? null : knownFold(String(text))));
    const formOf = createSearchFormCache();
    connection.function('holds', { deterministic: true }, (text, part) =>
      text === null || part === null ? null : Number(formOf(String(text)).includes(String(part))),
    );
    connection.function('is_number', { deterministic: true }, (text) => (text === null ? null : Number(isDecimalNumber(String(text)))));
    connection.aggregate('fingerprint', {
      start: () => ({ rows: 0, digest: 0n }),
      step: ({ rows, digest }, text) => ({ rows: rows + 1, digest: digest ^ digestOf(String(text)) }),
      result: ({ rows, digest }) => (rows === 0 ? null : `${rows} ${digest}`),
    });
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Opens an existing file without the functions that are added for the site, for reading only.
 *
 * @throws the library's error if the file can't be opened
 */
export const openReadOnly = (filename: string): Connection =>
  new Sqlite(readUnwritable(filename) ?? filename, { readonly: true, fileMustExist: true });

const digestOf = (text: string): bigint => hash('sha1', text, 'buffer').readBigUInt64BE();

/**
 * A prepared statement. Its rows are read as lists of values, since the library takes half as long again to make
 * objects.
 */
interface Prepared {
  readonly statement: Better.Statement<unknown[], unknown[]>;
  /**
   * Converts the values of a row to an object; undefined if the statement only writes. Asking the statement for its
   * columns each time costs as much as a small query.
   */
  readonly rowOf: RowMaker | undefined;
}

/** A separator that cannot occur in a column name. */
const SEPARATOR = '\0';

type RowMaker = (values: readonly unknown[]) => Record<string, unknown>;

/** Converts a value of a row: the library returns texts, numbers, null or bytes. */
const plainValue = (value: unknown): unknown => (isObject(value) ? decodeText(value as Uint8Array) : value);

/**
 * Makes a function that converts lists of values to objects. `columns`: the names of their members, joined with
 * `SEPARATOR`. The function is compiled from source, as in mysql2: an object literal takes an eighth of the time of
 * setting the members one after the other. Statements with the same columns share the function.
 */
const rowMaker = memoize((columns: string): RowMaker => {
  // Written as a plain name, `__proto__` would not become a member. All other names are faster as plain names.
  const members = columns
    .split(SEPARATOR)
    .map((name, at) => `${name === '__proto__' ? `['${name}']` : JSON.stringify(name)}: plain(values[${at}])`);
  return new Function('plain', `return (values) => ({ ${members.join()} })`)(plainValue) as RowMaker;
});

/**
 * Converts bytes to text. SQLite stores bytes in any column, whatever its type. No table here needs bytes, so they were
 * meant as text.
 */
const decodeText = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

const statements = new WeakMap<Connection, LRUCache<string, Prepared>>();

/**
 * Returns the prepared statement for a text, from the cache if possible. The cache evicts the oldest: lists of ids make
 * many different texts.
 */
function preparedStatement(connection: Connection, sql: string): Prepared {
  let cache = statements.get(connection);
  if (!cache) {
    cache = new LRUCache<string, Prepared>({ max: MAX_CACHED_STATEMENTS });
    statements.set(connection, cache);
  }
  const prepared = cache.get(sql);
  if (prepared) return prepared;
  const statement = connection.prepare<unknown[], unknown[]>(sql);
  const columns = statement.reader ? statement.raw().columns() : undefined;
  const fresh = { statement, rowOf: columns && rowMaker(columns.map(({ name }) => name).join(SEPARATOR)) };
  cache.set(sql, fresh);
  return fresh;
}

/**
 * Converts a value for binding. better-sqlite3 binds every number as a float, so a text column would contain `10.0` for
 * 10; a BigInt is bound as an integer.
 */
function bindableValue(value: unknown): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return value instanceof Date ? value.toISOString() : value;
}
