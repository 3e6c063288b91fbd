import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { withTimeout } from '../../src/host/timeout.ts';
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

/** Blocks the process. */
const beBusy = (milliseconds: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** An answer that has been sent to this process, but was not read yet. */
async function arrivingAnswer(): Promise<{ answer: Promise<unknown>; close: () => void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [[Socket], unknown];
  const close = (): void => {
    client.destroy();
    server.close();
  };
  const answer = once(client, 'data');
  peer.write('answer');
  return { answer, close };
}

describe('timeout', () => {
  it('does not end work whose answer arrived while the process was busy', async () => {
    const { answer, close } = await arrivingAnswer();
    const work = withTimeout(50, answer);
    beBusy(200);
    await expect(work).resolves.toBeDefined();
    await expect(withTimeout(20, new Promise(() => undefined))).rejects.toThrow('no answer within 20 ms');
    close();
  });
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

  it('does not reject a caller for the time in which the process was busy', async () => {
    const { pool } = openPool({ max: 1, acquireTimeoutMs: 300 });
    const { answer, close } = await arrivingAnswer();
    const line = await pool.acquire();
    void answer.then(() => pool.release(line));
    const waiting = pool.acquire();
    beBusy(600);
    expect(await waiting).toBe(line);
    pool.release(line);
    close();
  });

  it('rejects a caller if the process is always busy', async () => {
    const { pool } = openPool({ max: 1, acquireTimeoutMs: 20 });
    const line = await pool.acquire();
    const timer = setInterval(() => beBusy(200));
    await expect(pool.acquire()).rejects.toMatchObject({ reason: 'exhausted' });
    clearInterval(timer);
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
