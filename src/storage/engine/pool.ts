import { setImmediate as nextTurn } from 'node:timers/promises';
import { Pool, TimeoutError } from 'tarn';
import { DatabaseUnavailable } from './dialect.ts';
import type { ConnectionCounts } from './driver.ts';

/** A pool of open connections. */
export interface ConnectionPool<Connection> {
  /** Returns an idle, usable connection; undefined if the caller has to wait for one. */
  readonly idle: () => Connection | undefined;
  /**
   * Waits for a connection.
   *
   * @throws DatabaseUnavailable `exhausted` if none becomes free in time; or whatever `open` throws
   */
  readonly acquire: () => Promise<Connection>;
  readonly release: (connection: Connection) => void;
  /** Returns the numbers of connections. */
  readonly counts: () => ConnectionCounts;
  /** Closes all connections; those in use are closed when they are released. */
  readonly close: () => Promise<void>;
}

export interface PoolOptions<Connection> {
  readonly open: () => Promise<Connection>;
  readonly close: (connection: Connection) => Promise<void>;
  /** Whether a connection can be used again. */
  readonly isUsable: (connection: Connection) => boolean;
  /** Minimum and maximum number of open connections. */
  readonly min: number;
  readonly max: number;
  /** Time that a caller waits for a connection, and time that an idle connection stays open, both in milliseconds. */
  readonly acquireTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/**
 * Time for which a released connection is kept outside of the library's pool before it is returned to it, in
 * milliseconds.
 */
const KEEP_MS = 1000;

/** A timer that fires this much later than it should, in milliseconds, shows that the process was busy meanwhile. */
const LATE_MS = 100;
/** Number of times that a caller waits if the process was busy, so that an overloaded process refuses requests too. */
const MAX_WAITS = 3;

/**
 * Creates a pool. It opens no connection before the first one is needed. A connection that is released while no caller
 * waits is kept aside for a moment, and the next caller gets it. For each connection it hands out, the library needs
 * two timers and two dozen promises, which is too much for every statement.
 */
export function createPool<Connection>(options: PoolOptions<Connection>): ConnectionPool<Connection> {
  const { open, close, isUsable, min, max, acquireTimeoutMs } = options;
  const pool = new Pool<Connection>({
    create: open,
    destroy: close,
    validate: isUsable,
    min,
    max,
    acquireTimeoutMillis: acquireTimeoutMs,
    idleTimeoutMillis: options.idleTimeoutMs,
    propagateCreateError: true,
  });
  // The most recently used connection is taken first: the server's thread for it is still warm, and surplus connections
  // become idle.
  const resting: Connection[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isClosing = false;
  const endRest = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const connection of resting.splice(0)) pool.release(connection);
  };
  const idle = (): Connection | undefined => {
    for (let connection = resting.pop(); connection !== undefined; connection = resting.pop()) {
      if (isUsable(connection)) return connection;
      pool.release(connection);
    }
    return undefined;
  };
  return {
    idle,
    acquire: () => acquireWhileBusy(acquireTimeoutMs, async () => idle() ?? (await pool.acquire().promise)),
    release: (connection) => {
      if (isClosing || pool.numPendingAcquires() > 0 || !isUsable(connection)) {
        pool.release(connection);
        return;
      }
      resting.push(connection);
      timer ??= setTimeout(endRest, KEEP_MS).unref();
    },
    counts: () => ({
      used: pool.numUsed() - resting.length,
      idle: pool.numFree() + resting.length,
      waiting: pool.numPendingAcquires(),
    }),
    close: async () => {
      isClosing = true;
      endRest();
      await pool.destroy();
    },
  };
}

/**
 * Calls `acquire`, which waits for this time at most; again if the process was busy meanwhile, so that it could not
 * notice that connections had become free.
 */
async function acquireWhileBusy<Connection>(timeoutMs: number, acquire: () => Promise<Connection>): Promise<Connection> {
  for (let waits = 1; ; waits += 1) {
    const startedAt = performance.now();
    try {
      return await acquire();
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      const isLate = performance.now() - startedAt > timeoutMs + LATE_MS;
      if (!isLate || waits === MAX_WAITS) throw new DatabaseUnavailable('exhausted', error);
    }
    // After this turn, the answers of the database that have arrived are read.
    await nextTurn();
  }
}
