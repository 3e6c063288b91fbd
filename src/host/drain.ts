import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A connection that asks nothing for this long is taken to be idle. */
const IDLE_MS = 1000;
const LOOK_MS = 20;

export interface Drainable {
  /** How many connections there are. */
  readonly connections: () => number;
  /**
   * Ends the connections of a server that gets no new ones: each with its next answer, and when nothing has been asked
   * for a second. What is left at the deadline, in milliseconds of `performance.now()`, is cut.
   */
  readonly drain: (deadline: number) => Promise<void>;
}

/** Prepares a server for a quiet end, before it has connections. */
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
    const idleFrom = performance.now() + IDLE_MS;
    while (sockets.size > 0 && performance.now() < deadline) {
      await sleep(LOOK_MS);
      if (performance.now() < idleFrom) continue;
      // After this, whatever had arrived has been read.
      await nextTurn();
      server.closeIdleConnections();
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    }
    server.closeAllConnections();
  };
  return { connections: () => sockets.size, drain };
}
