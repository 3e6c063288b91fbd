import { addToGroup } from '../../grouped-by.ts';
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
   * Name of the key (`{prefix}` stands for the table prefix) -> its columns; `name(191)` is a key on the first 191
   * characters.
   */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  readonly unique?: Readonly<Record<string, readonly string[]>>;
  /** Columns that are looked up whatever the case; MySQL's collation does so for all. */
  readonly anyCase?: readonly string[];
  /** The rows are stored in the order of the primary key. MySQL's always do. */
  readonly clustered?: boolean;
}

/**
 * What tables look like, for a database that does not look itself: name of a table -> name of a key, `primary` among
 * them -> how many rows there are, and how many have the same first column of the key, the same first two, and so on.
 */
export type Shapes = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

/** What truly differs between MySQL (MariaDB) and SQLite. Everything else is the same SQL for both. */
export interface Dialect {
  readonly name: 'mysql' | 'sqlite';

  /**
   * How many transactions may write at a time: SQLite has one writer; on MySQL some connections are kept for readers.
   */
  readonly writers: number;

  /**
   * How many transactions that wait for each other one COMMIT writes, and for how many milliseconds they may keep other
   * processes out. A flush to disk takes as long as all the rest of a small one. MySQL does this by itself, for those
   * that run side by side.
   */
  readonly together: { readonly pieces: number; readonly milliseconds: number };

  /**
   * The longest pause, in milliseconds, before a transaction that found someone in its way runs again. SQLite wakes
   * nobody who waits for another process: one has to ask often. MySQL queues them itself, and after a deadlock some
   * distance is better.
   */
  readonly longestPause: number;

  /**
   * Condition: `column` contains `text`, without regard to case and accents, `%` and `_` being plain characters. knex's
   * `whereLike` names a collation that utf8mb4 refuses, and SQLite's LIKE folds ASCII only and refuses patterns above
   * 50,000 bytes.
   */
  search(column: string, text: string): Sql;

  /**
   * Condition: `column` equals one of the values under WordPress's collation. SQLite has no such collation. A list
   * rather than one condition each: SQLite takes no more than a thousand of these. Not for indexed look-ups of slugs:
   * these are ASCII.
   */
  equalsFolded(column: string, ...values: [string, ...string[]]): Sql;

  /**
   * Condition: `column` is one of these very texts, to the case, the accent and the last blank. MySQL's collation
   * tells none of these apart.
   */
  equalsExactly(column: string, ...values: [string, ...string[]]): Sql;

  /**
   * Condition: an indexed `column` of slugs begins with `start`, whatever the case. A list of all that lie between, on
   * SQLite: it prepares a statement again for each pattern of LIKE.
   */
  startsWith(column: string, start: string): Sql;

  /** Order by text under WordPress's collation, for `orderByRaw`. SQLite would put `É` and `é` after `z`. */
  orderFolded(column: string, direction?: 'asc' | 'desc'): Sql;

  /**
   * What rows are sorted by here, as `orderFolded` does it, once `orderOf` has made a text of it: few rows with long
   * texts in them, which MySQL would sort on disk.
   */
  sortKey(column: string): Sql;
  /** The text by whose characters a sort key is compared. */
  orderOf(key: string): string;

  /**
   * The number at the start of a text column (metas are text), for comparing and sorting. The names of the types
   * differ.
   */
  asNumber(column: string): Sql;

  /**
   * What follows the values of an insert, before the changes of the row with the same unique keys that is there
   * already.
   */
  orUpdate(keys: readonly string[]): string;

  /** In such a change: what would have been inserted into a column. */
  inserted(column: string): string;

  /**
   * For an UPDATE of one row, sent as an insert, that gives the number it makes of a column: what the column becomes,
   * and what ends the statement.
   */
  raised(expression: string, column: string): { readonly given: string; readonly returning: string };

  /**
   * A join that reads the left table first, so that rows come in the order of its key. Left to themselves, both may
   * turn it round and sort.
   */
  readonly joinInOrder: string;

  /**
   * What ends a statement whose rows others may not change, or may not read to change them, until the end of the
   * transaction. SQLite's write alone anyway.
   */
  readonly locks: { readonly share: string; readonly update: string };

  /**
   * What the database shows of changes to tables, whoever made them. No more rights are needed than to read the
   * tables. MySQL notes the time of the last change of each table, to the second; SQLite counts the commits of other
   * connections.
   *
   * @param known what it has shown before, settled, of the same tables: it is asked for less where it shows that nobody
   *   has committed anything since
   */
  changeSigns(db: Asker, tables: SignedTables, known?: ChangeSigns): Promise<ChangeSigns>;

  /** Whether every change shows in `changeSigns`. */
  readonly showsEveryChange: boolean;

  /**
   * An aggregate expression over many rows: a digest of all values of the expression `text`, in any order. It differs
   * where one of them differs, but for one case in 2^64.
   */
  fingerprint(text: string): string;

  /**
   * The same, made faster, for a few rows that belong together. It may differ when they come in another order. NULL
   * without rows.
   */
  joinedPrint(text: string): string;

  /**
   * The same, as fast as can be: it may miss one difference in 2^32. NULL or anything else without rows. `key`: an
   * expression for the number of the row. Its form is `ROWS DIGEST`: that of several sets of rows together is the sum
   * of their rows and the XOR of their digests.
   */
  quickPrint(text: string, key: string): string;

  /**
   * How far the log of a primary has come, from which its replicas are fed; empty if it doesn't say. MySQL and MariaDB
   * number what they write (GTID), each in its own way; SQLite has no replicas.
   */
  logPosition(db: Asker): Promise<string>;

  /** Whether a replica has come so far; true if it can't be known. */
  hasReached(db: Asker, position: string): Promise<boolean>;

  /** The statements that create a table if there is none of that name. `prefix` + `definition.name` is its name. */
  createTable(definition: TableDefinition, prefix: string): string[];

  /** The statement that adds a column to a table, which is named with its prefix. `type`: as in a definition. */
  addColumn(table: string, column: string, type: string): string;

  /** The statement that adds one of the keys of a definition to its table. */
  addKey(definition: TableDefinition, label: string, prefix: string): string;

  /**
   * The statements that describe to the database what its tables look like, where it has not looked itself. MySQL's
   * InnoDB always has.
   */
  describeShapes(shapes: Shapes, prefix: string): string[];

  /** The names of the columns of a table, in order; none where there is no such table. */
  columns(db: Asker, table: string): Promise<string[]>;

  /** What the database says of itself and of these tables. */
  inspect(db: Asker, tables: readonly string[]): Promise<Inspection>;

  /** What is damaged, in the words of the database. It may read all that there is. */
  findDamage(db: Asker): Promise<string[]>;

  /** What the database is, and about how many bytes these tables take up; of a file, all of it. */
  measure(db: Asker, tables: readonly string[]): Promise<Measure>;

  /** A row with this unique key is there already. Each driver has codes of its own, as for those that follow. */
  isDuplicate(error: unknown): boolean;

  /**
   * Someone else was in the way (deadlock, lock wait, conflict of a cluster, SQLITE_BUSY): the same transaction may
   * succeed when run again.
   */
  isBusy(error: unknown): boolean;

  /** The database can be read, but takes no writes, or none from this user. */
  isReadOnly(error: unknown): boolean;

  /** The database can't be reached, is going down, or refuses us. */
  isUnavailable(error: unknown): boolean;

  /**
   * A COMMIT that fails with this error has written nothing. After any other error nobody knows: the server may have
   * written everything, and been lost before it could say so. With SQLite a COMMIT that fails is always rolled back.
   */
  isUndone(error: unknown): boolean;

  /** No room on the disk of the database. */
  isFull(error: unknown): boolean;
}

/** What a database says of itself. */
export interface Measure {
  /** `SQLite 3.50.1`, `MariaDB 10.11.14`. */
  readonly version: string;
  readonly bytes: number;
}

export interface Inspection extends Pick<Measure, 'version'> {
  /** Name of a table -> the columns of each of its keys, in order. */
  readonly keys: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** Tables that can't roll back, or that hold fewer characters than there are. */
  readonly faults: readonly { readonly what: 'engine' | 'charset'; readonly of: string; readonly value: string }[];
}

/** The keys that these rows describe, in the order of their columns. */
export function keysOf(rows: readonly { readonly of: string; readonly key: string; readonly part: string }[]): Map<string, string[][]> {
  const keys = new Map<string, Map<string, string[]>>();
  for (const { of, key, part } of rows) {
    const ofTable = keys.get(of) ?? new Map<string, string[]>();
    keys.set(of, ofTable);
    addToGroup(ofTable, key, part);
  }
  return new Map([...keys].map(([of, named]) => [of, [...named.values()]]));
}

/**
 * Why the database did not do what it was asked: `busy` after all retries, `unreachable`, `exhausted` (no connection
 * free in time), `full` (disk), `read-only` (it takes no writes, or none from this user), `replaced` (its files are no
 * longer those that were opened), `uncertain` (lost during COMMIT: everything was written, or nothing).
 */
export type UnavailableReason = 'busy' | 'unreachable' | 'exhausted' | 'full' | 'read-only' | 'replaced' | 'uncertain';

/**
 * The one error for a database that can't do its work now, whatever the driver calls it; the driver's own error is its
 * `cause`.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  readonly reason: UnavailableReason;

  constructor(reason: UnavailableReason, cause?: unknown) {
    super(`database ${reason}${cause instanceof Error ? `: ${cause.message || codeOf(cause)}` : ''}`, { cause });
    this.reason = reason;
  }
}

/** The driver's error as DatabaseUnavailable if it is one of these, else the error itself. */
export function asUnavailable(dialect: Dialect, error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  if (dialect.isBusy(error)) return new DatabaseUnavailable('busy', error);
  if (dialect.isFull(error)) return new DatabaseUnavailable('full', error);
  if (dialect.isReadOnly(error)) return new DatabaseUnavailable('read-only', error);
  return dialect.isUnavailable(error) ? new DatabaseUnavailable('unreachable', error) : error;
}

/** The code of a driver's or the system's error (`ER_DUP_ENTRY`, `SQLITE_BUSY`, `ECONNREFUSED`), or an empty text. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

/** What an engine hands to `openDatabase`. */
export interface Engine {
  /** Runs statements on the database that the address names. */
  readonly driver: Driver;
  /** Makes builders whose statements take the way that they are given. */
  readonly builderFor: (run: RunQuery) => Builder;
  readonly dialect: Dialect;
  readonly cluster: Cluster;
}
