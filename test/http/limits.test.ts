import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { disconnectSlowDownload, disconnectSlowReader } from '../../src/http/limits.ts';
import { until } from '../support/until.mjs';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Counts the timers that some work sets; also those that do not keep the process from ending. */
function timersSetBy(work: () => void): number {
  const { setTimeout: original } = globalThis;
  let count = 0;
  globalThis.setTimeout = ((...args: Parameters<typeof setTimeout>) => {
    count += 1;
    return original(...args);
  }) as typeof setTimeout;
  try {
    work();
  } finally {
    globalThis.setTimeout = original;
  }
  return count;
}

interface Sent {
  readonly atOnce: boolean;
  /** Whether the client has received everything in the end. */
  readonly whole: boolean;
  /** Number of timers that were set. */
  readonly timers: number;
}

/**
 * Sends this many bytes to a client that reads them or does not. Resolves once the connection of the response is
 * closed.
 */
async function answerTo(client: 'reads' | 'waits', bytes: number, timeoutMs: number): Promise<Sent> {
  const over = new Promise<Omit<Sent, 'whole'>>((resolve) => {
    server = createServer((_req, res) => {
      res.end(Buffer.alloc(bytes));
      const timers = timersSetBy(() => disconnectSlowReader(res, 0, { timeoutMs }));
      const result = { atOnce: res.writableFinished, timers };
      res.on('close', () => resolve(result));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let received = 0;
  socket.on('data', (chunk) => {
    received += chunk.length;
  });
  const closed = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
  if (client === 'waits') socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const result = await over;
  socket.resume();
  await closed;
  return { ...result, whole: received > bytes };
}

it('disconnectSlowReader closes the connection of a client that does not read the response', async () => {
  expect(await answerTo('waits', 2 ** 26, 50)).toEqual({ atOnce: false, whole: false, timers: 1 });
});

it('disconnectSlowReader does not delay the end of a response that the client reads', async () => {
  expect(await answerTo('reads', 2 ** 26, 600_000)).toEqual({ atOnce: false, whole: true, timers: 1 });
});

it('disconnectSlowReader sets no timer for a response that is sent at once', async () => {
  expect(await answerTo('reads', 1000, 600_000)).toMatchObject({ whole: true, timers: 0 });
});

it('disconnectSlowReader closes the oldest connections if clients leave too much unread', async () => {
  const closed: string[] = [];
  server = createServer((req, res) => {
    res.on('close', () => closed.push(String(req.url)));
    res.end(Buffer.alloc(2 ** 26));
    disconnectSlowReader(res, 0, { maxUnreadBytes: 2.5 * 2 ** 26 });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const sockets = [];
  for (const name of ['/first', '/second', '/third', '/fourth']) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket.pause());
    const handled = once(server, 'request');
    socket.write(`GET ${name} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await handled;
  }
  const fourth = sockets.at(-1)!;
  while (closed.length < 2) await once(fourth.resume(), 'data');
  expect(closed).toEqual(['/first', '/second']);
});

/**
 * Sends a file of 64 MB to a client that reads it in its own way. Resolves with the bytes that the client has received
 * when the connection is closed.
 */
async function download(read: (socket: Socket) => void, lengthForLimit: number, timeoutMs: number): Promise<number> {
  const part = Buffer.alloc(2 ** 16);
  server = createServer((_req, res) => {
    disconnectSlowDownload(res, lengthForLimit, timeoutMs);
    Readable.from(Array.from({ length: 1024 }, () => part)).pipe(res);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const [connection] = (await once(server, 'connection')) as [Socket];
  const [sent, received] = [connection, socket].map((end) => once(end, 'close'));
  read(socket);
  await sent;
  socket.resume();
  await received;
  return socket.bytesRead;
}

it.each([
  ['nothing', (socket: Socket) => void socket.pause(), 2 ** 30],
  [
    'only a little of it in its time',
    (socket: Socket) => {
      socket.pause();
      setInterval(() => socket.read(2 ** 16), 5).unref();
    },
    0,
  ],
])('disconnectSlowDownload closes the connection of a client that reads of a file %s', async (_what, read, lengthForLimit) => {
  expect(await download(read, lengthForLimit, 100)).toBeLessThan(2 ** 26);
});

it('disconnectSlowDownload does not disturb a client that reads a file', async () => {
  const read = async (socket: Socket) => {
    socket.pause();
    while (!socket.readableEnded && !socket.destroyed) {
      socket.resume();
      await sleep(5);
      socket.pause();
      await sleep(5);
    }
  };
  expect(await download((socket) => void read(socket), 2 ** 30, 2000)).toBeGreaterThan(2 ** 26);
});

it('does not disconnect a client that reads a part of an answer without end in time', async () => {
  const READER_MS = 2000;
  let answer: ServerResponse | undefined;
  server = createServer(({ url }, res) => {
    answer = res;
    res.write(Buffer.alloc(4_000_000));
    disconnectSlowReader(res, 0, { timeoutMs: url === '/reader' ? READER_MS : 50 });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const open = () => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  const slow = open();
  slow.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  slow.pause();
  await once(slow, 'ready');
  await until('the disconnection', () => answer?.destroyed === true);
  const reader = open().resume();
  answer = undefined;
  reader.write('GET /reader HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('the answer', () => answer?.writableNeedDrain === false);
  await sleep(READER_MS + 500);
  expect(answer).toMatchObject({ destroyed: false });
});
