import { addToGroup } from '../../grouped-by.ts';
import { codeOf } from '../../objects.ts';
import type { Binding, Builder } from './builder.ts';
import type { ChangeSigns, SignedTables } from './change-signs.ts';
import type { Cluster } from './cluster.ts';
import type { Asker, Driver, RunQuery } from './driver.ts';
import type { TableName } from './tables.ts';

/** A piece of SQL with its bindings, ready to be spread: `query.whereRaw(...dialect.search('post_title', text))`. */
export type Sql = readonly [sql: string, bindings: Binding[]];

/** A table as WordPress or the calendar defines it; the types of columns are written as MySQL writes them. */
export interface TableDefinition {
  readonly name: TableName;
  readonly columns: Readonly<Record<string, string>>;
  readonly primary: readonly string[];
  /**
   * Name of the key (`{prefix}` is replaced by the table prefix) -> its columns; `name(191)` is a key on the first 191
   * characters.
   */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  readonly unique?: Readonly<Record<string, readonly string[]>>;
  /** Columns that are looked up case-insensitively. MySQL's collation does this for all columns. */
  readonly anyCase?: readonly string[];
  /** Whether the rows are stored in the order of the primary key. In MySQL they always are. */
  readonly clustered?: boolean;
}

/**
 * Statistics of tables, for a database that does not collect them itself: name of a table -> name of a key, including
 * `primary` -> number of rows, and average number of rows that share the first column of the key, the first two
 * columns, and so on.
 */
export type TableStatistics = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

/** The actual differences between MySQL (MariaDB) and SQLite. Both run the same SQL for everything else. */
export interface Dialect {
  readonly name: 'mysql' | 'sqlite';

  /**
   * Maximum number of transactions that may write at the same time: one on SQLite; on MySQL, fewer than the number of
   * connections, since some of these are reserved for readers.
   */
  readonly maxWriters: number;

  /**
   * Number of requests that may read at the same time: on SQLite few, since all queries run in the thread that serves
   * requests; on MySQL as many as there are connections.
   */
  readonly maxReaders: number;

  /**
   * Number of waiting transactions that share one COMMIT, and the time in milliseconds for which they may keep other
   * processes from writing. A flush to disk takes as long as the rest of a small transaction. MySQL groups the commits
   * of concurrent transactions by itself.
   */
  readonly groupCommit: { readonly maxPieces: number; readonly maxMs: number };

  /**
   * The longest pause, in milliseconds, before a transaction is retried after a conflict. SQLite does not notify a
   * process that waits for another one, so it has to be polled often. MySQL queues waiting transactions itself, and
   * after a deadlock a longer pause is better.
   */
  readonly maxRetryPauseMs: number;

  /**
   * Condition: `column` contains `text`, ignoring case and accents, with `%` and `_` as plain characters. knex's
   * `whereLike` names a collation that utf8mb4 refuses. SQLite's LIKE folds ASCII only and refuses patterns above
   * 50,000 bytes.
   */
  search(column: string, text: string): Sql;

  /**
   * Condition: `column` equals one of the values under WordPress's collation, which SQLite does not have. It takes a
   * list instead of one condition for each value, since SQLite allows a thousand conditions at most. Not for indexed
   * look-ups of slugs: slugs are ASCII.
   */
  equalsFolded(column: string, ...values: [string, ...string[]]): Sql;

  /**
   * Condition: `column` equals one of these texts exactly, including case, accents and trailing spaces. MySQL's
   * collation ignores all of these.
   */
  equalsExactly(column: string, ...values: [string, ...string[]]): Sql;

  /**
   * Condition: an indexed `column` of slugs begins with `start`, ignoring case. On SQLite this is a range, since SQLite
   * prepares a statement again for each pattern of LIKE.
   */
  startsWith(column: string, start: string): Sql;

  /** Sort expression for `orderByRaw`: text under WordPress's collation. SQLite would sort `É` and `é` after `z`. */
  orderFolded(column: string, direction?: 'asc' | 'desc'): Sql;

  /**
   * Expression for a key by which our own code sorts rows as `orderFolded` would, after conversion by `orderOf`. For
   * few rows with long texts, which MySQL would sort on disk.
   */
  sortKey(column: string): Sql;
  /** Converts a sort key to a text whose characters give the order. */
  orderOf(key: string): string;

  /**
   * The number at the start of a text column (metas are text), for comparing and sorting. The databases differ in the
   * names of the types.
   */
  asNumber(column: string): Sql;

  /**
   * Expression for any value as text, in the same character set and collation whatever the column has, so that the rows
   * of several tables can be read together. NULL stays NULL.
   */
  asText(expression: string): string;

  /** Expression: 1 if a column of texts is stored in UTF-8, otherwise 0. */
  isUtf8(column: string): Sql;

  /** Condition: a text column contains a number and nothing else. */
  isNumber(column: string): Sql;

  /**
   * The clause that follows the values of an INSERT and precedes the changes that apply if a row with the same unique
   * keys exists.
   */
  orUpdate(keys: readonly string[]): string;

  /** In such a change: the value that would have been inserted into a column. */
  insertedValue(column: string): string;

  /**
   * For an UPDATE of one row that is sent as an insert, so that it returns the new number in a column: `value` is the
   * new value of the column, `returning` ends the statement.
   */
  updateReturning(expression: string, column: string): { readonly value: string; readonly returning: string };

  /**
   * A join that reads the left table first, so that rows come in the order of its key. With a plain join, both
   * databases may swap the tables and sort.
   */
  readonly joinInOrder: string;

  /**
   * The end of a statement that locks its rows until the end of the transaction: other transactions may not change them
   * (`share`), or may not read them in order to change them (`update`). Empty on SQLite, which has a single writer.
   */
  readonly locks: { readonly share: string; readonly update: string };

  /**
   * Reads what the database shows about changes to tables by any process. This needs only the right to read the tables.
   * MySQL records the time of the last change of each table, to the second; SQLite counts the commits of other
   * connections.
   *
   * @param previous settled signs of the same tables, read before: fewer queries are made if the database shows
   * that nothing has been committed since
   */
  changeSigns(db: Asker, tables: SignedTables, previous?: ChangeSigns): Promise<ChangeSigns>;

  /** Whether every change shows in `changeSigns`. */
  readonly showsEveryChange: boolean;

  /**
   * An aggregate expression over many rows: a digest of all values of the expression `text`, independent of their
   * order. A difference in any value gives a different digest, except in one case in 2^64.
   */
  fingerprint(text: string): string;

  /** A faster digest for a few rows that belong together. It may depend on the order of the rows. NULL without rows. */
  joinedPrint(text: string): string;

  /**
   * The fastest digest: it may miss one difference in 2^32. Without rows the result is NULL or arbitrary. `key`: an
   * expression for the number of the row. The result has the form `ROWS DIGEST`. The digest of several sets of rows
   * together is the sum of their row counts and the XOR of their digests.
   */
  quickPrint(text: string, key: string): string;

  /**
   * Returns the current position of the log of a primary, which feeds its replicas; empty if the server does not show
   * it. MySQL and MariaDB number the transactions they write (GTID), each in its own format; SQLite has no replicas.
   */
  logPosition(db: Asker): Promise<string>;

  /** Whether a replica has reached this position; true if it can't be determined. */
  hasReached(db: Asker, position: string): Promise<boolean>;

  /** The statements that create a table unless one of that name exists. Its name is `prefix` + `definition.name`. */
  createTable(definition: TableDefinition, prefix: string): string[];

  /** The statement that adds a column to a table, which is named with its prefix. `type`: as in a definition. */
  addColumn(table: string, column: string, type: string): string;

  /** The statement that adds one of the keys of a definition to its table. */
  addKey(definition: TableDefinition, label: string, prefix: string): string;

  /**
   * The statement that gives a table its primary key and lets the database number its rows; undefined if the database
   * can't change an existing table in that way. `hasKey`: the table has the key, but does not number its rows.
   */
  addPrimaryKey(definition: TableDefinition, prefix: string, hasKey: boolean): string | undefined;

  /**
   * The statements that store the statistics of tables in a database that has not collected them itself. MySQL's InnoDB
   * always collects them.
   */
  storeStatistics(shapes: TableStatistics, prefix: string): string[];

  /** Returns the names of all tables of the database, whoever they belong to. */
  tables(db: Asker): Promise<string[]>;

  /** Returns the names of the columns of a table, in order; empty if there is no such table. */
  columns(db: Asker, table: string): Promise<string[]>;

  /** Returns the version of the database, and the keys and faults of these tables. */
  inspect(db: Asker, tables: readonly string[]): Promise<Inspection>;

  /** Returns the damage that the database reports, in its own words. It may read the whole database. */
  findDamage(db: Asker): Promise<string[]>;

  /**
   * Returns the name and version of the database, and the approximate size of these tables in bytes. For a file it is
   * the size of the whole file.
   */
  measure(db: Asker, tables: readonly string[]): Promise<Measure>;

  /**
   * Whether a row with this unique key already exists. The error codes of this and the following functions depend on
   * the driver.
   */
  isDuplicate(error: unknown): boolean;

  /**
   * Whether the statement conflicted with another transaction (deadlock, lock wait, conflict of a cluster,
   * SQLITE_BUSY): the same transaction may succeed if it runs again.
   */
  isBusy(error: unknown): boolean;

  /** Whether the database can be read but accepts no writes, or none from this user. */
  isReadOnly(error: unknown): boolean;

  /**
   * Whether the server has stopped the statement after the time that it allows. Neither a repetition nor another server
   * helps.
   */
  isOverLimit(error: unknown): boolean;

  /** Whether the database can't be reached, is shutting down, or refuses the connection. */
  isUnavailable(error: unknown): boolean;

  /**
   * Whether a COMMIT that fails with this error has certainly written nothing. After any other error this is unknown:
   * the server may have written everything and been lost before it could respond. On SQLite a failed COMMIT is always
   * rolled back.
   */
  isRolledBack(error: unknown): boolean;

  /** Whether the disk of the database is full. */
  isDiskFull(error: unknown): boolean;
}

/** Description of a database. */
export interface Measure {
  /** `SQLite 3.50.1`, `MariaDB 10.11.14`. */
  readonly version: string;
  readonly bytes: number;
}

export interface Inspection extends Pick<Measure, 'version'> {
  /** Name of a table that exists -> the columns of each of its keys, in order. */
  readonly keys: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** Tables whose new rows get a number from the database. */
  readonly numbered: ReadonlySet<string>;
  /** Tables that can't roll back, or whose character set lacks some characters. */
  readonly faults: readonly { readonly attribute: 'engine' | 'charset'; readonly of: string; readonly value: string }[];
}

/** Returns the keys that these rows describe, with their columns in order. */
export function keysOf(rows: readonly { readonly of: string; readonly key: string; readonly part: string }[]): Map<string, string[][]> {
  const keys = new Map<string, Map<string, string[]>>();
  for (const { of, key, part } of rows) {
    const ofTable = keys.get(of) ?? new Map<string, string[]>();
    keys.set(of, ofTable);
    addToGroup(ofTable, key, part);
  }
  return new Map([...keys].map(([of, keysByName]) => [of, [...keysByName.values()]]));
}

/**
 * Reason why the database did not do what it was asked: `busy` after all retries, `unreachable`, `exhausted` (no
 * connection was free in time, or a limit of the server was reached), `full` (disk), `read-only` (it accepts no writes,
 * or none from this user), `replaced` (its files are not the files that were opened), `uncertain` (lost during COMMIT:
 * everything was written, or nothing).
 */
export type UnavailableReason = 'busy' | 'unreachable' | 'exhausted' | 'full' | 'read-only' | 'replaced' | 'uncertain';

/**
 * The error for a database that can't do its work at the moment, independent of the driver. The driver's own error is
 * its `cause`.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  readonly reason: UnavailableReason;

  constructor(reason: UnavailableReason, cause?: unknown) {
    super(`database ${reason}${cause instanceof Error ? `: ${cause.message || codeOf(cause)}` : ''}`, { cause });
    this.reason = reason;
  }
}

/** Converts a driver's error to DatabaseUnavailable if it means that; otherwise returns the error itself. */
export function asUnavailable(dialect: Dialect, error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  if (dialect.isBusy(error)) return new DatabaseUnavailable('busy', error);
  if (dialect.isDiskFull(error)) return new DatabaseUnavailable('full', error);
  if (dialect.isReadOnly(error)) return new DatabaseUnavailable('read-only', error);
  if (dialect.isOverLimit(error)) return new DatabaseUnavailable('exhausted', error);
  return dialect.isUnavailable(error) ? new DatabaseUnavailable('unreachable', error) : error;
}

/** The parts that an engine passes to `openDatabase`. */
export interface Engine {
  /** Runs statements on the database that the address names. */
  readonly driver: Driver;
  /** Makes builders whose statements are run by the given function. */
  readonly builderFor: (run: RunQuery) => Builder;
  readonly dialect: Dialect;
  readonly cluster: Cluster;
}
