import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeOwnFile, makeOwnFolder } from '../../../host/files.ts';
import { builders } from '../builder.ts';
import { NO_SERVERS } from '../cluster.ts';
import { asUnavailable, DatabaseUnavailable, type Engine } from '../dialect.ts';
import {
  createListeners,
  type Driver,
  isRead,
  isUnbuilt,
  type Outcome,
  plain,
  type Query,
  type Session,
  withoutQuoted,
  withoutStatement,
} from '../driver.ts';
import { createPool } from '../pool.ts';
import { askToWrite, type Connection, connect, IN_MEMORY, identityOf, run, sqliteFile } from './connection.ts';
import { sqlite } from './dialect.ts';

/** What writes takes turns on the one connection for it, behind transactions of a few milliseconds each. */
const ACQUIRE_MS = 10_000;
const FOREVER_MS = 2 ** 31 - 1;
/** Another number whenever another connection has committed. */
const STATE: Query = { method: 'rows', sql: 'PRAGMA data_version', bindings: [] };
/** Where the disk has less, in bytes, writes are about to fail. */
const LEAST_ROOM = 2 ** 18;

/**
 * The database in a file, which is created with its folder if need be, or in memory.
 *
 * @param address `sqlite:PATH`, relative to the working directory, or `sqlite::memory:`
 * @throws Error when the file can't be opened or is no database
 */
export function openSqlite(address: string): Engine {
  const filename = sqliteFile(address) ?? '';
  if (filename === '') throw new Error('the address of an SQLite database must name its file: sqlite:PATH');
  if (filename !== IN_MEMORY) tryFile(filename);
  return { dialect: sqlite, cluster: NO_SERVERS, driver: fileDriver(filename), builderFor: builders('better-sqlite3') };
}

/**
 * Makes the file if need be, and opens it once before it is needed, so that a wrong one stops the start rather than
 * each request.
 */
function tryFile(filename: string): void {
  try {
    makeOwnFolder(dirname(filename));
    makeOwnFile(filename);
    connect(filename).close();
  } catch (error) {
    throw new Error(`the database ${filename} cannot be opened: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/**
 * One connection that writes, and one that only reads. What is only read, outside of transactions, never waits for a
 * transaction that is open: meanwhile it goes to the second connection. Otherwise it takes the one that writes, which
 * knows what it wrote, while another would read all pages again. Every statement is done before the next begins.
 */
function fileDriver(filename: string): Driver {
  const listeners = createListeners();
  const file = sameFile(filename);
  const reader = readerOf(file);
  let writer: Connection | undefined;
  const query: Ask = (connection, asked) => {
    listeners.notify(asked);
    try {
      return run(connection, asked);
    } catch (error) {
      throw asUnavailable(sqlite, withoutStatement(error, reasonOf));
    }
  };
  const pool = createPool<Connection>({
    open: async () => {
      writer = file.connect();
      return writer;
    },
    close: async (connection) => {
      connection.close();
    },
    isUsable: () => true,
    ...{ least: 1, most: 1, patience: ACQUIRE_MS, idle: FOREVER_MS },
  });

  return {
    readNow: (asked) => {
      if (filename === IN_MEMORY || isUnbuilt(asked.method) || !isRead(asked)) return undefined;
      const idle = writer?.open && !writer.inTransaction ? writer : undefined;
      return query(idle ?? reader.connection(), asked);
    },
    state: () => {
      if (!writer?.open || writer.inTransaction) return undefined;
      const [row] = run(writer, STATE).rows as readonly [{ data_version: number }];
      return String(row.data_version);
    },
    connections: pool.counts,
    acquire: async () => {
      try {
        const connection = await pool.acquire();
        return sessionOn(connection, { file, query, notify: listeners.notify, release: () => pool.release(connection) });
      } catch (error) {
        throw asUnavailable(sqlite, error);
      }
    },
    elsewhere: () => undefined,
    checkWritable: async () => {
      if (filename === IN_MEMORY) return;
      file.require();
      checkRoom(filename, reader.connection);
    },
    snapshot: undefined,
    listen: listeners.add,
    close: async () => {
      reader.close();
      await pool.close();
    },
  };
}

/** SQLite says first what is wrong, and then of what: `no such table: wp_posts`. */
const reasonOf = (message: string): string =>
  withoutQuoted(message)
    .replace(/\b(table|index) \S+ (?=has|already)/, '$1 ')
    .replace(/^([^':]+): .*$/s, '$1');

type Ask = (connection: Connection, asked: Query) => Outcome;

/** The connection that only reads, opened when it is needed. */
function readerOf(file: SameFile): { readonly connection: () => Connection; readonly close: () => void } {
  let reader: Connection | undefined;
  return {
    connection: () => {
      try {
        reader ??= file.connect();
        return reader;
      } catch (error) {
        throw asUnavailable(sqlite, error);
      }
    },
    close: () => {
      reader?.close();
      reader = undefined;
    },
  };
}

/** What a session works with. */
interface SessionMeans {
  readonly file: SameFile;
  readonly query: Ask;
  readonly notify: (asked: Query) => unknown;
  readonly release: () => void;
}

const sessionOn = (connection: Connection, { file, query, notify, release }: SessionMeans): Session => ({
  query: async (asked) => {
    if (!connection.inTransaction && !isRead(asked)) file.require();
    return query(connection, asked);
  },
  // BEGIN alone reads first and asks for the right to write later, when it may be refused for good; BEGIN IMMEDIATE
  // asks before it reads. Where another process has it, the connection is given back to readers until the next try.
  begin: async () => {
    file.require();
    notify(plain('BEGIN IMMEDIATE'));
    try {
      askToWrite(connection);
    } catch (error) {
      throw asUnavailable(sqlite, error);
    }
  },
  committed: async () => {},
  discard: () => {},
  release,
});

/**
 * Asks for the right to write and gives it back, within one tick. Where somebody has it, the file can be written.
 *
 * @throws DatabaseUnavailable
 */
function checkRoom(filename: string, connect: () => Connection): void {
  const { bavail, bsize } = statfsSync(dirname(filename));
  if (bavail * bsize < LEAST_ROOM) throw new DatabaseUnavailable('full');
  const connection = connect();
  try {
    askToWrite(connection);
    connection.exec('ROLLBACK');
  } catch (error) {
    if (!sqlite.isBusy(error)) throw asUnavailable(sqlite, error);
  }
}

interface SameFile {
  readonly require: () => void;
  readonly connect: () => Connection;
}

/** What is written stands in the second until it comes into the first; processes find it there by the third. */
const FILES = ['', '-wal', '-shm'];

/**
 * All connections are to the same files: SQLite goes on writing into files that were deleted or replaced, where nobody
 * else sees it, and all of it may be lost at the end. They are not opened anew from here: another process may hold the
 * old ones, and find in the new what does not belong together. Whoever is the last to close them, as at the end of the
 * service, puts what stands in the log into the database.
 *
 * @throws DatabaseUnavailable `replaced` from both functions
 */
function sameFile(filename: string): SameFile {
  /** Those that were there when a connection was, as they stay while there is one. */
  const opened = new Map<string, string>();
  const require = (): void => {
    for (const [file, identity] of opened)
      if (identityOf(file) !== identity) throw new DatabaseUnavailable('replaced', new Error(`${file} is not the file that was opened`));
  };
  const note = (endings: readonly string[]): void => {
    for (const file of endings.map((ending) => filename + ending)) {
      const identity = filename === IN_MEMORY || opened.has(file) ? '' : identityOf(file);
      if (identity) opened.set(file, identity);
    }
  };
  return {
    require,
    connect: () => {
      note(FILES.slice(0, 1));
      require();
      const connection = connect(filename);
      note(FILES);
      return connection;
    },
  };
}
