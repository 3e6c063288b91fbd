import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { expect, it } from '@jest/globals';
import { closePort, handlePortErrors } from '../../src/host/port.ts';
import { openMetricsPort } from '../../src/http/metrics-server.ts';
import { createLog, lostConnections } from '../../src/log.ts';

/** Returns the functions for errors of a port, which note them. */
function noting() {
  const noted: string[] = [];
  const note = (name: string) => (error: NodeJS.ErrnoException) => noted.push(`${name} ${error.code}`);
  return { noted, onRefused: note('refused'), onLost: note('lost') };
}

/** Does as Node does if the system cannot give a descriptor to a new connection. */
const failToAccept = (server: Server): boolean => server.emit('error', Object.assign(new Error('accept ENFILE'), { code: 'ENFILE' }));

/**
 * Starts a server and closes its port, while the process takes its address for another one. Returns the number of
 * attempts to find it without waiting connections.
 */
async function attemptsToClose(address: { readonly port: number }, deadline: number): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const handle = (server as unknown as { readonly _handle: { listen: (backlog: number) => number } })._handle;
  let attempts = 0;
  handle.listen = () => {
    attempts += 1;
    return 0;
  };
  server.address = () => ({ address: '127.0.0.1', family: 'IPv4', ...address });
  await closePort(server, { port: 0, host: '127.0.0.1' }, deadline);
  expect(server.listening).toBe(false);
  return attempts;
}

it('a port that this process cannot reach is closed at once', async () => {
  const unused = createServer();
  unused.listen(0, '127.0.0.1');
  await once(unused, 'listening');
  const address = unused.address() as AddressInfo;
  unused.close();
  await once(unused, 'close');
  expect(await attemptsToClose(address, performance.now() + 60_000)).toBe(1);
});

it('a busy port is closed at the deadline', async () => {
  const program = `require('node:net').createServer().listen(0, '127.0.0.1', 1, function () {
    process.stdout.write(String(this.address().port));
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  })`;
  const stuck = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await once(stuck.stdout, 'data');
  const port = Number(output);
  const waiting = [1, 2].map(() => connect(port, '127.0.0.1'));
  await Promise.all(waiting.map((socket) => once(socket, 'connect')));
  expect(await attemptsToClose({ port }, performance.now())).toBe(1);
  for (const socket of waiting) socket.destroy();
  stuck.kill('SIGKILL');
});

it('a port that cannot be opened is told from a connection that cannot be accepted later', async () => {
  const { noted, ...errors } = noting();
  const server = createServer();
  handlePortErrors(server, errors);
  server.listen(0, '192.0.2.1');
  await once(server, 'error');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  failToAccept(server);
  expect(noted).toEqual(['refused EADDRNOTAVAIL', 'lost ENFILE']);
  server.close();
});

it('a connection that cannot be accepted does not end the port of the metrics', async () => {
  const { noted, ...errors } = noting();
  const server = openMetricsPort({ host: '127.0.0.1', port: 0 }, () => undefined, { ...errors, onOpen: () => undefined });
  await once(server, 'listening');
  failToAccept(server);
  expect([noted, server.listening]).toEqual([['lost ENFILE'], true]);
  server.close();
});

it('connections that cannot be accepted are logged once a minute', () => {
  const lines: string[] = [];
  const report = lostConnections(createLog({ logLevel: 'info' }, { write: (line) => lines.push(line) }));
  for (let time = 0; time < 100; time += 1) report(new Error('accept ENFILE'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"level":"warn"');
});
