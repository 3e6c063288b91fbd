import { Pool, TimeoutError } from 'tarn';
import { DatabaseUnavailable } from './dialect.ts';
import type { ConnectionCounts } from './driver.ts';

/** Connections that are open, for whoever needs one next. */
export interface ConnectionPool<Connection> {
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

/** Opens nothing before the first connection is needed. */
export function createPool<Connection>(options: PoolOptions<Connection>): ConnectionPool<Connection> {
  const { open, close, isUsable, least, most, patience, idle } = options;
  const pool = new Pool<Connection>({
    create: open,
    destroy: close,
    validate: isUsable,
    min: least,
    max: most,
    acquireTimeoutMillis: patience,
    idleTimeoutMillis: idle,
    propagateCreateError: true,
  });
  return {
    acquire: async () => {
      try {
        return await pool.acquire().promise;
      } catch (error) {
        throw error instanceof TimeoutError ? new DatabaseUnavailable('exhausted', error) : error;
      }
    },
    release: (connection) => {
      pool.release(connection);
    },
    counts: () => ({ used: pool.numUsed(), idle: pool.numFree(), waiting: pool.numPendingAcquires() }),
    close: async () => {
      await pool.destroy();
    },
  };
}
