import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { MIN_FREE_BYTES, makePrivateFile, makePrivateFolder } from '../../../host/files.ts';
import { SettingError } from '../../../host/setting-error.ts';
import { turnKeeper } from '../../../yielding.ts';
import { builders } from '../builder.ts';
import { NO_SERVERS } from '../cluster.ts';
import { asUnavailable, DatabaseUnavailable, type Engine } from '../dialect.ts';
import {
  createListeners,
  type Driver,
  isHandwritten,
  isRead,
  type Outcome,
  plainQuery,
  type Query,
  type Session,
  withoutQuoted,
  withoutStatement,
} from '../driver.ts';
import { createPool } from '../pool.ts';
import {
  beginWrite,
  type Connection,
  connect,
  type FileUse,
  fileIdentity,
  IN_MEMORY,
  run,
  sqliteFile,
  withoutWaiting,
} from './connection.ts';
import { sqlite } from './dialect.ts';

/**
 * Time that a caller waits for the single writing connection. It waits behind transactions of a few milliseconds each.
 */
const ACQUIRE_TIMEOUT_MS = 10_000;
const FOREVER_MS = 2 ** 31 - 1;
/** Returns a different number after another connection has committed. */
const STATE: Query = { method: 'rows', sql: 'PRAGMA data_version', bindings: [] };

/**
 * Opens a database in a file, which is created together with its folder if necessary and if it may be written, or in
 * memory.
 *
 * @param address `sqlite:PATH`, relative to the working directory, or `sqlite::memory:`
 * @throws SettingError if the file can't be opened or is not a database
 */
export function openSqlite(address: string, use: FileUse): Engine {
  const filename = sqliteFile(address) ?? '';
  if (filename === '') throw new SettingError('sqlite-without-file', { name: 'DATABASE_URL' });
  if (filename !== IN_MEMORY) checkFile(filename, use);
  return { dialect: sqlite, cluster: NO_SERVERS, driver: fileDriver(filename, use), builderFor: builders('better-sqlite3') };
}

/**
 * Creates the file if necessary, and opens it once in advance, so that a wrong file stops the start instead of failing
 * each request.
 */
function checkFile(filename: string, use: FileUse): void {
  try {
    if (use === 'write') {
      makePrivateFolder(dirname(filename));
      makePrivateFile(filename);
      // SQLite would open it for reading, and leave files beside it that its owner may not be able to write.
      accessSync(filename, constants.W_OK);
    }
    connect(filename, use).close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingError('sqlite-unopened', { file: filename, reason }, { cause: error });
  }
}

/**
 * Creates a driver with one connection that writes and one that only reads. A read outside of transactions never waits
 * for an open transaction: meanwhile it uses the second connection. Otherwise it uses the writing connection, which has
 * the pages it wrote in its cache, while the other one would have to read all pages again. Every statement is finished
 * before the next one begins.
 */
function fileDriver(filename: string, use: FileUse): Driver {
  const listeners = createListeners();
  const file = guardFile(filename, use);
  const reader = readerOf(file);
  let writer: Connection | undefined;
  const runQuery: Ask = (connection, query) => {
    listeners.notify(query);
    try {
      return run(connection, query);
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
    ...{ min: 1, max: 1, acquireTimeoutMs: ACQUIRE_TIMEOUT_MS, idleTimeoutMs: FOREVER_MS },
  });

  return {
    readNow: (query) => {
      if (filename === IN_MEMORY || isHandwritten(query.method) || !isRead(query)) return undefined;
      const idle = writer?.open && !writer.inTransaction ? writer : undefined;
      return runQuery(idle ?? reader.connection(), query);
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
        return sessionOn(connection, { file, runQuery, notify: listeners.notify, release: () => pool.release(connection) });
      } catch (error) {
        throw asUnavailable(sqlite, error);
      }
    },
    fallbackAfter: () => undefined,
    checkWritable: async () => {
      if (filename === IN_MEMORY) return;
      if (use === 'read') checkPermissions(filename);
      file.requireUnchanged();
      checkDiskSpace(filename, reader.connection);
    },
    snapshot: undefined,
    listen: listeners.add,
    close: async () => {
      reader.close();
      await pool.close();
    },
  };
}

/**
 * Removes the names from an error message of SQLite, which states the problem first and then the object: `no such
 * table: wp_posts`.
 */
const reasonOf = (message: string): string =>
  withoutQuoted(message)
    .replace(/\b(table|index) \S+ (?=has|already)/, '$1 ')
    .replace(/^([^':]+): .*$/s, '$1');

type Ask = (connection: Connection, query: Query) => Outcome;

/** The connection that only reads, opened when it is needed. */
function readerOf(file: GuardedFile): { readonly connection: () => Connection; readonly close: () => void } {
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

/** The objects that a session works with. */
interface SessionContext {
  readonly file: GuardedFile;
  readonly runQuery: Ask;
  readonly notify: (query: Query) => unknown;
  readonly release: () => void;
}

function sessionOn(connection: Connection, { file, runQuery, notify, release }: SessionContext): Session {
  const endOfTurn = turnKeeper();
  const writeAlone = (query: Query): Outcome => {
    file.requireUnchanged();
    return withoutWaiting(connection, () => runQuery(connection, query));
  };
  return {
    // SQLite answers at once, so that a transaction of many statements would keep all other requests waiting. The pause
    // comes after the statement: one that waited could run after the end of its transaction.
    query: async (query) => {
      const outcome = connection.inTransaction || isRead(query) ? runQuery(connection, query) : writeAlone(query);
      const pause = endOfTurn();
      if (pause) await pause;
      return outcome;
    },
    // Plain BEGIN starts with a read lock and requests the write lock later, when it may be refused for good; BEGIN
    // IMMEDIATE requests it before reading. If another process holds the lock, the connection is available to readers
    // until the next attempt.
    begin: async () => {
      file.requireUnchanged();
      notify(plainQuery('BEGIN IMMEDIATE'));
      try {
        beginWrite(connection);
      } catch (error) {
        throw asUnavailable(sqlite, error);
      }
    },
    afterCommit: async () => {},
    discard: () => {},
    release,
  };
}

/** Checks that the file and its folder may be written, for a connection that itself only reads. */
function checkPermissions(filename: string): void {
  try {
    for (const path of [filename, dirname(filename)]) accessSync(path, constants.W_OK);
  } catch (error) {
    throw new DatabaseUnavailable('read-only', error);
  }
}

/**
 * Checks that the disk has room and that a write lock can be obtained, which is released within the same tick. If
 * another process holds the lock, the file is writable.
 *
 * @throws DatabaseUnavailable
 */
function checkDiskSpace(filename: string, connect: () => Connection): void {
  const { bavail, bsize } = statfsSync(dirname(filename));
  if (bavail * bsize < MIN_FREE_BYTES) throw new DatabaseUnavailable('full');
  const connection = connect();
  try {
    beginWrite(connection);
    connection.exec('ROLLBACK');
  } catch (error) {
    if (!sqlite.isBusy(error)) throw asUnavailable(sqlite, error);
  }
}

interface GuardedFile {
  readonly requireUnchanged: () => void;
  readonly connect: () => Connection;
}

/**
 * Suffixes of the files: the database; the log, which holds writes until they are moved to the database; and the shared
 * memory by which processes find them in the log.
 */
const WAL_SUFFIXES = ['', '-wal', '-shm'];

/**
 * Ensures that all connections use the same files. SQLite continues to write to files that were deleted or replaced,
 * where no other process sees the data, and all of it may be lost in the end. The files are not reopened here: another
 * process may still have the old files open, and would find data in the new ones that do not belong together. The last
 * connection that closes them, for example at the end of the service, moves the log into the database.
 *
 * @throws DatabaseUnavailable `replaced` from both functions
 */
function guardFile(filename: string, use: FileUse): GuardedFile {
  /** The files that existed when a connection was opened. They stay in place as long as a connection exists. */
  const identities = new Map<string, string>();
  const requireUnchanged = (): void => {
    for (const [file, identity] of identities)
      if (fileIdentity(file) !== identity) throw new DatabaseUnavailable('replaced', new Error(`${file} is not the file that was opened`));
  };
  const note = (endings: readonly string[]): void => {
    for (const file of endings.map((ending) => filename + ending)) {
      const identity = filename === IN_MEMORY || identities.has(file) ? '' : fileIdentity(file);
      if (identity) identities.set(file, identity);
    }
  };
  return {
    requireUnchanged,
    connect: () => {
      note(WAL_SUFFIXES.slice(0, 1));
      requireUnchanged();
      const connection = connect(filename, use);
      note(WAL_SUFFIXES);
      return connection;
    },
  };
}
