import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { expect, it } from '@jest/globals';
import { handlePortErrors } from '../../src/host/port.ts';
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
