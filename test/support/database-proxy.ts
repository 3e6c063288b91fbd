import { createConnection, createServer, type Socket } from 'node:net';

/** A TCP proxy to a MySQL server that can be closed. Each proxy acts like a separate server with the same data. */
export interface DatabaseProxy {
  /** `mysql://` URL of the database through this proxy. */
  readonly url: string;
  readonly port: number;
  /** Refuses new connections and closes the existing ones. */
  readonly close: () => Promise<void>;
  /** Accepts connections again. */
  readonly reopen: () => Promise<void>;
  /**
   * Forwards no data until `unfreeze`, like a machine that is cut off. Connections are still accepted.
   */
  readonly freeze: () => void;
  readonly unfreeze: () => void;
  /** Closes the connection that sends this text, before or after the server has received it and replied. */
  readonly disconnectAt: (text: string, when: 'before' | 'after') => void;
  /** Number of connections so far. */
  readonly connectionCount: () => number;
}

/** Opens a proxy to the database of this URL (`mysql://user@host:port/name`). */
export async function openProxy(address: string): Promise<DatabaseProxy> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let cutPoint: { text: string; when: 'before' | 'after' } | undefined;
  let visits = 0;

  const connectClient = (client: Socket): void => {
    visits += 1;
    const server = createConnection(Number(target.port), target.hostname);
    const disconnect = () => {
      for (const socket of [client, server]) {
        socket.destroy();
        sockets.delete(socket);
      }
    };
    let isLeaving = false;
    for (const socket of [client, server]) {
      sockets.add(socket);
      if (isFrozen) socket.pause();
      socket.on('error', disconnect).on('close', disconnect);
    }
    client.on('data', (data) => {
      if (cutPoint && data.includes(cutPoint.text)) {
        if (cutPoint.when === 'before') return disconnect();
        isLeaving = true;
        cutPoint = undefined;
      }
      server.write(data);
    });
    server.on('data', (data) => (isLeaving ? disconnect() : client.write(data)));
  };
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };

  let listener = createServer(connectClient);
  const listen = (port: number) =>
    new Promise<void>((resolve) => {
      listener.listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const place = listener.address();
  const port = typeof place === 'object' && place ? place.port : 0;
  const url = new URL(address);
  url.port = String(port);
  // A Unix socket would bypass the proxy.
  url.searchParams.delete('socketPath');
  return {
    url: url.href,
    port,
    close: async () => {
      const closing = new Promise((resolve) => listener.close(resolve));
      destroyAll();
      await closing;
    },
    reopen: async () => {
      listener = createServer(connectClient);
      await listen(port);
    },
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    unfreeze: () => {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    disconnectAt: (text, when) => {
      cutPoint = { text, when };
    },
    connectionCount: () => visits,
  };
}

/** The database URL that names several proxies, in this order. */
export const urlThrough = (...proxies: readonly DatabaseProxy[]): string => {
  const [first, ...rest] = proxies.map(({ url }) => new URL(url));
  if (!first) throw new Error('no door');
  return first.href.replace(first.host, [first, ...rest].map(({ host }) => host).join());
};
