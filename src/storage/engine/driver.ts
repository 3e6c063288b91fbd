/** A statement as a driver takes it, and what its rows are to become. */
export interface Query {
  /**
   * knex's name for the kind of result: `select`, `first`, `pluck`, `insert`, `update`, `del`, `raw`; or `rows`, which
   * a plain question asks for.
   */
  readonly method: string;
  readonly sql: string;
  readonly bindings: readonly unknown[];
  /** The table that it reads or changes, without the prefix, where the one who asks has named it. */
  readonly table?: string | undefined;
  /** Of `pluck`: the column. */
  readonly pluck?: string | undefined;
  /** Makes the result of the rows; knex has it for questions about the schema. */
  readonly output?: ((rows: readonly unknown[]) => unknown) | undefined;
}

/** What is said of a statement that is built, besides its text. */
export interface QueryContext {
  readonly table: string;
}

/** What came of a statement. */
export interface Outcome {
  readonly rows: readonly unknown[];
  /** The number that the database gave to a new row. */
  readonly id: number | bigint;
  /** How many rows were changed or removed. */
  readonly changed: number;
  /** The result as the library for the database gives it. */
  readonly native: unknown;
}

/** Runs one statement and gives the result that its method asks for. */
export type RunQuery = (query: Query) => Promise<unknown>;

/** Something that answers plain questions: a database, or a transaction in it. */
export interface Asker {
  /** Runs SQL that is not built, and returns its rows. */
  ask<Row>(sql: string, bindings?: readonly unknown[]): Promise<Row[]>;
}

/** A connection of its own, until it is released. */
export interface Session {
  readonly query: (query: Query) => Promise<Outcome>;
  /** Begins a transaction that may write. */
  readonly begin: () => Promise<void>;
  /** Call it after a COMMIT, before it is acknowledged. */
  readonly committed: () => Promise<void>;
  /** Gives the connection up, and what was begun on it. */
  readonly discard: () => void;
  readonly release: () => void;
}

/** The rows of whole tables, all of one moment. */
export interface Snapshot extends Asker {
  readonly stream: (table: string) => AsyncIterable<unknown>;
  readonly close: () => Promise<void>;
}

/** Connections in use and idle, and how many ask for one and wait. */
export interface ConnectionCounts {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Runs statements on one kind of database. All errors of an absent database come as DatabaseUnavailable. */
export interface Driver {
  /** Answers a statement that only reads, if nobody has to wait for that; undefined: it has to go the usual way. */
  readonly readNow?: (query: Query) => Outcome | undefined;
  /**
   * Another text after every commit of somebody else, found without waiting. Undefined: it cannot be known at the
   * moment, since this process is writing; absent: nor at any other.
   */
  readonly state?: () => string | undefined;
  /** How many connections there are. */
  readonly connections: () => ConnectionCounts;
  /** A connection: at once where one is idle, otherwise one to wait for. */
  readonly acquire: () => Session | Promise<Session>;
  /** Which driver to ask after such an error: the same one if it has other servers, another one, or none. */
  readonly elsewhere: (error: unknown) => Driver | undefined;
  /** Tries whether the database takes writes, without writing anything. `prefix`: of the tables. */
  readonly checkWritable: (prefix: string) => Promise<void>;
  /** Opens a view of one moment; undefined: the file has to be copied instead. */
  readonly snapshot: (() => Promise<Snapshot>) | undefined;
  /** Has `listener` called with every statement just before it runs. Returns the function that ends that. */
  readonly listen: (listener: QueryListener) => () => void;
  readonly close: () => Promise<void>;
}

export type QueryListener = (query: Query) => void;

/** Those who get every statement just before it runs. */
export interface Listeners {
  readonly add: Driver['listen'];
  /** Passes the statement to them, and gives it back. */
  readonly notify: (query: Query) => Query;
}

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

/** A statement that nothing is wanted back from. */
export const plain = (sql: string): Query => ({ method: 'raw', sql, bindings: [] });

/**
 * Runs one statement outside of transactions. A read that got no answer is repeated if the driver knows another place
 * to ask. A write is never repeated: it may have been done.
 */
export async function runOnce(driver: Driver, query: Query): Promise<unknown> {
  const done = driver.readNow?.(query);
  if (done !== undefined) return resultOf(query, done);
  for (let [asked, tries] = [driver, 1]; ; tries += 1) {
    try {
      return resultOf(query, await outcomeFrom(asked, query));
    } catch (error) {
      const next = isRead(query) && tries < MOST_TRIES ? asked.elsewhere(error) : undefined;
      if (!next) throw error;
      asked = next;
    }
  }
}

/** Enough for two servers that fail one after the other. */
const MOST_TRIES = 3;

async function outcomeFrom(driver: Driver, query: Query): Promise<Outcome> {
  const acquired = driver.acquire();
  const session = acquired instanceof Promise ? await acquired : acquired;
  try {
    return await session.query(query);
  } finally {
    session.release();
  }
}

/** What the method of a statement makes of its outcome. */
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
export const isRead = ({ method, sql }: Query): boolean => READING.has(method) || (isUnbuilt(method) && /^\s*(SELECT|SHOW)\b/i.test(sql));

/** Whether a statement writes, as far as its method says. */
export const isWrite = ({ method }: Query): boolean => WRITING.has(method);

/** Whether the text was written by hand, so that its method does not say what it does. */
export const isUnbuilt = (method: string): boolean => method === 'raw' || method === 'rows';

/** Whether a statement may write: one that was written by hand unless its first word says that it does not. */
export const mayWrite = (query: Query): boolean => (isUnbuilt(query.method) ? !HARMLESS.test(query.sql) : isWrite(query));

const HARMLESS = /^\s*(SELECT|SHOW|PRAGMA|CHECKSUM|SET|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i;
const WRITING = new Set(['insert', 'update', 'del', 'counter']);
const READING = new Set(['select', 'first', 'pluck']);

/**
 * A driver's error that says why a statement failed, and nothing of the statement: it goes to the log, which must hold
 * no SQL, no names of tables and no values. The error's code says exactly what happened, its stack where.
 */
export function withoutStatement(error: unknown, reasonOf: (message: string) => string = withoutQuoted): unknown {
  if (!(error instanceof Error)) return error;
  const carrier: Error & { sql?: string; sqlMessage?: string } = error;
  delete carrier.sql;
  delete carrier.sqlMessage;
  error.message = reasonOf(error.message);
  // The stack begins with the message; that of a server's answer ends at the socket, and does not say who asked.
  Error.captureStackTrace(error, withoutStatement);
  return error;
}

/**
 * A message without what stands between its first and its last quotes: databases put names, values and pieces of SQL
 * there. An apostrophe within a word is none.
 */
export function withoutQuoted(message: string): string {
  const from = message.search(/(?<!\w)['"`]/);
  const to = from < 0 ? -1 : ([...message.matchAll(/['"`](?!\w)/g)].at(-1)?.index ?? -1);
  return to > from ? `${message.slice(0, from)}'…'${message.slice(to + 1)}` : message;
}
