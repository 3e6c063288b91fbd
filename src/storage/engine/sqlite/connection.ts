import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import type Better from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { memoize } from '../../../memo.ts';
import { foldForSearch, knownFold } from '../collation.ts';
import type { Outcome, Query } from '../driver.ts';
import { Sqlite } from './library.ts';

/**
 * better-sqlite3 waits for other processes inside SQLite, and the whole process with it: a short while for single
 * statements, not at all for BEGIN.
 */
const BUSY_MS = 100;
const STATEMENTS_KEPT = 300;

export type Connection = Better.Database;

/** What an address says of a database that is in no file. */
export const IN_MEMORY = ':memory:';

/** The file that an address names, or `IN_MEMORY`; undefined where it is not one of SQLite. */
export const sqliteFile = (address: string): string | undefined => /^sqlite:(?:\/\/(?=\/))?(.*)$/s.exec(address)?.[1];

/** Runs a statement. */
export function run(connection: Connection, { sql, bindings }: Query): Outcome {
  const { statement, rowOf } = preparedStatement(connection, sql);
  const bound = bindings.map(bindable);
  if (rowOf) {
    const rows = statement.all(bound).map(rowOf);
    // Of a statement that says what it returns (`Dialect.raised`).
    return { rows, id: Number(rows[0]?.id ?? 0), changed: 0, native: rows };
  }
  const { lastInsertRowid: id, changes: changed } = statement.run(bound);
  return { rows: [], id, changed, native: { lastInsertRowid: id, changes: changed } };
}

/** Begins a transaction that may write, without waiting for other processes. */
export function askToWrite(connection: Connection): void {
  preparedStatement(connection, 'PRAGMA busy_timeout = 0').statement.all();
  try {
    preparedStatement(connection, 'BEGIN IMMEDIATE').statement.run();
  } finally {
    preparedStatement(connection, `PRAGMA busy_timeout = ${BUSY_MS}`).statement.all();
  }
}

/**
 * What tells a file from another one that takes its name; undefined where it is in memory, empty where there is none.
 */
export function identityOf(filename: string): string | undefined {
  if (filename === IN_MEMORY) return undefined;
  const found = statSync(filename, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : '';
}

/**
 * The texts of a row are searched for one word after the other: of the last few the form in which they are searched is
 * known.
 */
function searchedForms(): (text: string) => string {
  const last = Array.from({ length: 4 }, () => ({ text: '', form: '' }));
  let oldest = 0;
  return (text) => {
    for (const known of last) if (known.text === text) return known.form;
    const form = foldForSearch(text);
    last[oldest] = { text, form };
    oldest = (oldest + 1) % last.length;
    return form;
  };
}

/**
 * Opens the file, with the functions that SQLite lacks.
 *
 * @throws the library's error where the file can't be opened or is no database
 */
export function connect(filename: string): Connection {
  const connection = new Sqlite(filename, { timeout: BUSY_MS, fileMustExist: filename !== IN_MEMORY });
  try {
    connection.pragma('journal_mode = WAL');
    // What was acknowledged survives a loss of power.
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = OFF');
    connection.function('fold', { deterministic: true }, (text) => (text === null ? null : knownFold(String(text))));
    const formOf = searchedForms();
    connection.function('holds', { deterministic: true }, (text, part) =>
      text === null || part === null ? null : Number(formOf(String(text)).includes(String(part))),
    );
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

const digestOf = (text: string): bigint => hash('sha1', text, 'buffer').readBigUInt64BE();

/** Rows come as lists of values: the library takes half as long again to make objects of them. */
interface Prepared {
  readonly statement: Better.Statement<unknown[], unknown[]>;
  /**
   * Makes a row of the values that it gives; undefined: it only writes. Asking the statement for its columns each time
   * costs as much as a small query.
   */
  readonly rowOf: RowMaker | undefined;
}

/** What no name of a column holds. */
const BETWEEN = '\0';

type RowMaker = (values: readonly unknown[]) => Record<string, unknown>;

/** A value as rows have it: everything but bytes that the library gives is a text, a number or null. */
const plain = (value: unknown): unknown => (typeof value === 'object' && value !== null ? textIn(value as Uint8Array) : value);

/**
 * A function that makes objects of lists of values. `columns`: the names of their members, put together with
 * `BETWEEN`. It is compiled from its text, as mysql2 does it too: members that are written out take an eighth of the
 * time of those that are set one after the other. Many statements have the same columns, and share it.
 */
const rowMaker = memoize((columns: string): RowMaker => {
  // Written as a plain name, `__proto__` would be no member. All others are faster so.
  const members = columns
    .split(BETWEEN)
    .map((name, at) => `${name === '__proto__' ? `['${name}']` : JSON.stringify(name)}: plain(values[${at}])`);
  return new Function('plain', `return (values) => ({ ${members.join()} })`)(plain) as RowMaker;
});

/**
 * SQLite keeps bytes in any column, whatever its type; no table here has a use for them, and what is there as bytes was
 * meant as text.
 */
const textIn = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

const statements = new WeakMap<Connection, LRUCache<string, Prepared>>();

/** The statement prepared before for the same text. The oldest go when there are many: lists of ids make many texts. */
function preparedStatement(connection: Connection, sql: string): Prepared {
  let kept = statements.get(connection);
  if (!kept) {
    kept = new LRUCache<string, Prepared>({ max: STATEMENTS_KEPT });
    statements.set(connection, kept);
  }
  const known = kept.get(sql);
  if (known) return known;
  const statement = connection.prepare<unknown[], unknown[]>(sql);
  const columns = statement.reader ? statement.raw().columns() : undefined;
  const fresh = { statement, rowOf: columns && rowMaker(columns.map(({ name }) => name).join(BETWEEN)) };
  kept.set(sql, fresh);
  return fresh;
}

/**
 * better-sqlite3 binds every number as a float, so that a text column would hold `10.0` for 10; a BigInt is bound as an
 * integer.
 */
function bindable(value: unknown): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return value instanceof Date ? value.toISOString() : value;
}
