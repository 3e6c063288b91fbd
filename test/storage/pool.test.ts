import { afterEach, describe, expect, it } from '@jest/globals';
import { createPool, type PoolOptions } from '../../src/storage/engine/pool.ts';
import { until } from '../support/until.mjs';

interface Line {
  readonly number: number;
  isBroken: boolean;
}

const closing: (() => Promise<void>)[] = [];

/** A pool that records the connections it opens and closes. */
function openPool(options: Partial<PoolOptions<Line>> = {}) {
  const opened: Line[] = [];
  const closed: Line[] = [];
  const pool = createPool<Line>({
    open: async () => {
      const line = { number: opened.length + 1, isBroken: false };
      opened.push(line);
      return line;
    },
    close: async (line) => {
      closed.push(line);
    },
    isUsable: ({ isBroken }) => !isBroken,
    ...{ min: 0, max: 2, acquireTimeoutMs: 300, idleTimeoutMs: 30_000 },
    ...options,
  });
  closing.push(pool.close);
  return { pool, opened, closed };
}

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe('connection pool', () => {
  it('reuses idle connections without waiting and never gives one to two callers', async () => {
    const { pool, opened } = openPool();
    expect(pool.idle()).toBeUndefined();
    const first = await pool.acquire();
    expect(pool.idle()).toBeUndefined();
    const second = await pool.acquire();
    expect(pool.counts()).toEqual({ used: 2, idle: 0, waiting: 0 });
    pool.release(first);
    expect(pool.counts()).toEqual({ used: 1, idle: 1, waiting: 0 });
    expect(pool.idle()).toBe(first);
    expect(pool.idle()).toBeUndefined();
    pool.release(second);
    expect(await pool.acquire()).toBe(second);
    pool.release(first);
    pool.release(second);
    expect(opened).toHaveLength(2);
  });

  it('gives a released connection to the waiting callers in order', async () => {
    const { pool, opened } = openPool({ max: 1 });
    const line = await pool.acquire();
    const served: string[] = [];
    const waiting = ['first', 'second', 'third'].map(async (name) => {
      const given = await pool.acquire();
      served.push(name);
      pool.release(given);
    });
    expect(pool.counts()).toEqual({ used: 1, idle: 0, waiting: 3 });
    pool.release(line);
    await Promise.all(waiting);
    expect(served).toEqual(['first', 'second', 'third']);
    expect(opened).toHaveLength(1);
    expect(pool.counts()).toEqual({ used: 0, idle: 1, waiting: 0 });
  });

  it('rejects a caller that has waited too long', async () => {
    const { pool } = openPool({ max: 1, acquireTimeoutMs: 20 });
    const line = await pool.acquire();
    await expect(pool.acquire()).rejects.toMatchObject({ reason: 'exhausted' });
    pool.release(line);
    expect(pool.idle()).toBe(line);
    pool.release(line);
  });

  it('closes connections that break while idle or in use, and opens another', async () => {
    const { pool, closed } = openPool();
    const [one, other] = await Promise.all([pool.acquire(), pool.acquire()]);
    pool.release(one);
    one.isBroken = true;
    other.isBroken = true;
    pool.release(other);
    expect(pool.idle()).toBeUndefined();
    const third = await pool.acquire();
    expect(third.number).toBe(3);
    await until('both are closed', () => closed.length === 2);
    pool.release(third);
  });

  it('closes a connection that has been idle for a while', async () => {
    const { pool, closed } = openPool({ idleTimeoutMs: 10 });
    pool.release(await pool.acquire());
    await until('it is closed', () => closed.length === 1);
    expect(pool.counts()).toEqual({ used: 0, idle: 0, waiting: 0 });
  });

  it('closes idle connections at its end and waits for those in use', async () => {
    const { pool, closed } = openPool();
    const [one, other] = await Promise.all([pool.acquire(), pool.acquire()]);
    pool.release(one);
    let isClosed = false;
    const end = pool.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isClosed).toBe(false);
    pool.release(other);
    await end;
    expect(closed).toHaveLength(2);
  });
});
