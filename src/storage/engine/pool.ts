import { Pool, TimeoutError } from 'tarn';
import { DatabaseUnavailable } from './dialect.ts';
import type { ConnectionCounts } from './driver.ts';

/** Connections that are open, for whoever needs one next. */
export interface ConnectionPool<Connection> {
  /** One that is idle and can be used right away; undefined: it has to be waited for. */
  readonly idle: () => Connection | undefined;
  /**
   * Waits for one.
   *
   * @throws DatabaseUnavailable `exhausted` where none becomes free in time; or what `open` throws
   */
  readonly acquire: () => Promise<Connection>;
  readonly release: (connection: Connection) => void;
  /** How many there are. */
  readonly counts: () => ConnectionCounts;
  /** Closes all of them, those in use as soon as they are released. */
  readonly close: () => Promise<void>;
}

export interface PoolOptions<Connection> {
  readonly open: () => Promise<Connection>;
  readonly close: (connection: Connection) => Promise<void>;
  /** Whether it can be used once more. */
  readonly isUsable: (connection: Connection) => boolean;
  /** How many are kept open, and how many there are at most. */
  readonly least: number;
  readonly most: number;
  /** For how many milliseconds one waits for a connection, and after how many an idle one is closed. */
  readonly patience: number;
  readonly idle: number;
}

/** For how long a connection rests beside the library's pool before it is given back to it, in milliseconds. */
const REST_MS = 1000;

/**
 * Opens nothing before the first connection is needed. What is released while nobody waits rests for a moment, and goes
 * to the next who needs one: the library takes two timers and two dozen promises to give one out, for each statement.
 */
export function createPool<Connection>(options: PoolOptions<Connection>): ConnectionPool<Connection> {
  const { open, close, isUsable, least, most, patience } = options;
  const pool = new Pool<Connection>({
    create: open,
    destroy: close,
    validate: isUsable,
    min: least,
    max: most,
    acquireTimeoutMillis: patience,
    idleTimeoutMillis: options.idle,
    propagateCreateError: true,
  });
  // The one used last is taken first: the server's thread for it is still warm, and those not needed become idle.
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
    acquire: async () => {
      try {
        return idle() ?? (await pool.acquire().promise);
      } catch (error) {
        throw error instanceof TimeoutError ? new DatabaseUnavailable('exhausted', error) : error;
      }
    },
    release: (connection) => {
      if (isClosing || pool.numPendingAcquires() > 0 || !isUsable(connection)) {
        pool.release(connection);
        return;
      }
      resting.push(connection);
      timer ??= setTimeout(endRest, REST_MS).unref();
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
