import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { disconnectSlowReader } from '../../src/http/limits.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

/**
 * Sends this many bytes to a client that reads them or does not. Resolves once the response has ended, with whether it
 * was sent at once and how many timers were set.
 */
async function answerTo(client: 'reads' | 'waits', bytes: number, patience: number): Promise<{ atOnce: boolean; timers: number }> {
  const over = new Promise<{ atOnce: boolean; timers: number }>((resolve) => {
    server = createServer((_req, res) => {
      res.end(Buffer.alloc(bytes));
      const before = timers();
      disconnectSlowReader(res, 0, patience);
      const result = { atOnce: res.writableFinished, timers: timers() - before };
      res.on('close', () => resolve(result));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  if (client === 'reads') socket.resume();
  else socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const result = await over;
  socket.destroy();
  return result;
}

it('disconnectSlowReader closes the connection of a client that does not read the response', async () => {
  expect(await answerTo('waits', 2 ** 26, 50)).toMatchObject({ atOnce: false });
});

it('disconnectSlowReader does not delay the end of a response that the client reads', async () => {
  expect(await answerTo('reads', 2 ** 26, 600_000)).toMatchObject({ atOnce: false });
});

it('disconnectSlowReader sets no timer for a response that is sent at once', async () => {
  expect((await answerTo('reads', 1000, 600_000)).timers).toBe(0);
});
