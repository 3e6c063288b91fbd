import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Time without requests after which a connection counts as idle. */
const IDLE_MS = 1000;
const POLL_INTERVAL_MS = 20;

export interface Drainable {
  /** Returns the number of connections. */
  readonly connections: () => number;
  /**
   * Closes the connections of a server that accepts no new ones: each after its next response, or when it has been idle
   * for a second. Those that remain at the deadline, in milliseconds of `performance.now()`, are cut.
   */
  readonly drain: (deadline: number) => Promise<void>;
}

/** Prepares a server for draining; must be called before it has connections. */
export function drainable(server: Server): Drainable {
  const sockets = new Set<Socket>();
  let draining = false;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.prependListener('request', (_req, res) => {
    if (draining) res.shouldKeepAlive = false;
  });

  const drain = async (deadline: number): Promise<void> => {
    draining = true;
    const idleSince = performance.now() + IDLE_MS;
    while (sockets.size > 0 && performance.now() < deadline) {
      await sleep(POLL_INTERVAL_MS);
      if (performance.now() < idleSince) continue;
      // After this turn, all data that had arrived has been read.
      await nextTurn();
      server.closeIdleConnections();
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    }
    server.closeAllConnections();
  };
  return { connections: () => sockets.size, drain };
}
