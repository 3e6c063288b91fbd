/** A statement for a driver, and the form of its result. */
export interface Query {
  /**
   * knex's name for the kind of result: `select`, `first`, `pluck`, `insert`, `update`, `del`, `raw`; or `rows`, which
   * `ask` uses.
   */
  readonly method: string;
  readonly sql: string;
  readonly bindings: readonly unknown[];
  /** The table that the statement reads or changes, without the prefix, if the caller has named it. */
  readonly table?: string | undefined;
  /** For `pluck`: the column. */
  readonly pluck?: string | undefined;
  /** Converts the rows to the result; knex provides it for queries about the schema. */
  readonly output?: ((rows: readonly unknown[]) => unknown) | undefined;
}

/** Context of a statement that is built, in addition to its text. */
export interface QueryContext {
  readonly table: string;
}

/** The outcome of a statement. */
export interface Outcome {
  readonly rows: readonly unknown[];
  /** The number that the database assigned to a new row. */
  readonly id: number | bigint;
  /** Number of rows that were changed or deleted. */
  readonly changed: number;
  /** The result as returned by the library for the database. */
  readonly native: unknown;
}

/** Runs one statement and returns the result in the form that its method asks for. */
export type RunQuery = (query: Query) => Promise<unknown>;

/** Something that answers plain SQL queries: a database, or a transaction in it. */
export interface Asker {
  /** Runs handwritten SQL and returns its rows. */
  ask<Row>(sql: string, bindings?: readonly unknown[]): Promise<Row[]>;
}

/** A connection that is used exclusively until it is released. */
export interface Session {
  readonly query: (query: Query) => Promise<Outcome>;
  /** Begins a transaction that may write. */
  readonly begin: () => Promise<void>;
  /** Must be called after a COMMIT, before the write is acknowledged. */
  readonly afterCommit: () => Promise<void>;
  /** Closes the connection and so undoes the transaction that was begun on it. */
  readonly discard: () => void;
  readonly release: () => void;
}

/** The rows of whole tables, all from the same moment. */
export interface Snapshot extends Asker {
  readonly stream: (table: string) => AsyncIterable<unknown>;
  readonly close: () => Promise<void>;
}

/** Number of connections in use and idle, and number of callers that wait for one. */
export interface ConnectionCounts {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Runs statements on one kind of database. All errors of an unavailable database are thrown as DatabaseUnavailable. */
export interface Driver {
  /**
   * Runs a statement that only reads, if this is possible without waiting; undefined: the statement has to go through
   * `acquire`.
   */
  readonly readNow?: (query: Query) => Outcome | undefined;
  /**
   * Returns a text that differs after every commit by another connection, without waiting. Undefined: it cannot be
   * determined at the moment, since this process is writing. Absent: it can never be determined.
   */
  readonly state?: () => string | undefined;
  /** Returns the numbers of connections. */
  readonly connections: () => ConnectionCounts;
  /** Returns a connection: immediately if one is idle, otherwise as a promise. */
  readonly acquire: () => Session | Promise<Session>;
  /**
   * Returns the driver to use after such an error: this one if it has other servers, a different one, or undefined if
   * there is none.
   */
  readonly fallbackAfter: (error: unknown) => Driver | undefined;
  /** Tests whether the database accepts writes, without writing anything. `prefix`: prefix of the tables. */
  readonly checkWritable: (prefix: string) => Promise<void>;
  /** Opens a view of the data at one moment; undefined: the file has to be copied instead. */
  readonly snapshot: (() => Promise<Snapshot>) | undefined;
  /** Calls `listener` with every statement just before it runs. Returns a function that removes the listener. */
  readonly listen: (listener: QueryListener) => () => void;
  readonly close: () => Promise<void>;
}

export type QueryListener = (query: Query) => void;

/** The listeners that receive every statement just before it runs. */
export interface Listeners {
  readonly add: Driver['listen'];
  /** Passes the statement to all listeners, and returns it. */
  readonly notify: (query: Query) => Query;
}

/** Creates an empty set of listeners. */
export function createListeners(): Listeners {
  const all = new Set<QueryListener>();
  return {
    add: (listener) => {
      all.add(listener);
      return () => {
        all.delete(listener);
      };
    },
    notify: (query) => {
      for (const listener of all) listener(query);
      return query;
    },
  };
}

/** Makes a statement whose result is not needed. */
export const plainQuery = (sql: string): Query => ({ method: 'raw', sql, bindings: [] });

/**
 * Runs one statement outside of transactions. A read that got no response is repeated if the driver knows another
 * server to ask. A write is never repeated, since it may have been executed.
 */
export async function runOutsideTransaction(driver: Driver, query: Query): Promise<unknown> {
  const outcome = driver.readNow?.(query);
  if (outcome !== undefined) return resultOf(query, outcome);
  for (let [current, tries] = [driver, 1]; ; tries += 1) {
    try {
      return resultOf(query, await outcomeFrom(current, query));
    } catch (error) {
      const next = isRead(query) && tries < MAX_ATTEMPTS ? current.fallbackAfter(error) : undefined;
      if (!next) throw error;
      current = next;
    }
  }
}

/** Maximum number of attempts: enough for two servers that fail one after the other. */
const MAX_ATTEMPTS = 3;

async function outcomeFrom(driver: Driver, query: Query): Promise<Outcome> {
  const acquired = driver.acquire();
  const session = acquired instanceof Promise ? await acquired : acquired;
  try {
    return await session.query(query);
  } finally {
    session.release();
  }
}

/** Converts the outcome of a statement to the result that its method asks for. */
export function resultOf({ method, pluck = '', output }: Query, { rows, id, changed, native }: Outcome): unknown {
  if (output) return output(rows);
  switch (method) {
    case 'select':
    case 'rows':
      return rows;
    case 'first':
      return rows[0];
    case 'pluck':
      return (rows as readonly Readonly<Record<string, unknown>>[]).map((row) => row[pluck]);
    case 'insert':
      return [id];
    case 'update':
    case 'del':
    case 'counter':
      return changed;
    default:
      return native;
  }
}

/** Whether a statement changes nothing. */
export const isRead = ({ method, sql }: Query): boolean =>
  READING.has(method) || (isHandwritten(method) && /^\s*(SELECT|SHOW)\b/i.test(sql));

/** Whether a statement writes, judging by its method. */
export const isWrite = ({ method }: Query): boolean => WRITING.has(method);

/** Whether the text was written by hand, so that its method does not say what it does. */
export const isHandwritten = (method: string): boolean => method === 'raw' || method === 'rows';

/** Whether a statement may write. Handwritten SQL may, unless its first word shows that it does not. */
export const mayWrite = (query: Query): boolean => (isHandwritten(query.method) ? !HARMLESS_START.test(query.sql) : isWrite(query));

const HARMLESS_START = /^\s*(SELECT|SHOW|PRAGMA|CHECKSUM|SET|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i;
const WRITING = new Set(['insert', 'update', 'del', 'counter']);
const READING = new Set(['select', 'first', 'pluck']);

/**
 * Removes the statement from a driver's error, keeping the reason of the failure. The error goes to the log, which must
 * not contain SQL, table names or values. The code of the error says exactly what happened, its stack says where.
 */
export function withoutStatement(error: unknown, reasonOf: (message: string) => string = withoutQuoted): unknown {
  if (!(error instanceof Error)) return error;
  const carrier: Error & { sql?: string; sqlMessage?: string } = error;
  delete carrier.sql;
  delete carrier.sqlMessage;
  error.message = reasonOf(error.message);
  // The stack begins with the message. The stack of a server's error ends at the socket and does not show the caller.
  Error.captureStackTrace(error, withoutStatement);
  return error;
}

/**
 * Returns a message without the text between its first and its last quotation mark: databases put names, values and
 * pieces of SQL there. An apostrophe within a word does not count as a quotation mark.
 */
export function withoutQuoted(message: string): string {
  const from = message.search(/(?<!\w)['"`]/);
  const to = from < 0 ? -1 : ([...message.matchAll(/['"`](?!\w)/g)].at(-1)?.index ?? -1);
  return to > from ? `${message.slice(0, from)}'…'${message.slice(to + 1)}` : message;
}
