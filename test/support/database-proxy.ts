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
  let frozen = false;
  let cut: { text: string; when: 'before' | 'after' } | undefined;
  let visits = 0;

  const connectClient = (client: Socket): void => {
    visits += 1;
    const server = createConnection(Number(target.port), target.hostname);
    const leave = () => {
      for (const socket of [client, server]) {
        socket.destroy();
        sockets.delete(socket);
      }
    };
    let leaving = false;
    for (const socket of [client, server]) {
      sockets.add(socket);
      if (frozen) socket.pause();
      socket.on('error', leave).on('close', leave);
    }
    client.on('data', (data) => {
      if (cut && data.includes(cut.text)) {
        if (cut.when === 'before') return leave();
        leaving = true;
        cut = undefined;
      }
      server.write(data);
    });
    server.on('data', (data) => (leaving ? leave() : client.write(data)));
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
      const closed = new Promise((resolve) => listener.close(resolve));
      destroyAll();
      await closed;
    },
    reopen: async () => {
      listener = createServer(connectClient);
      await listen(port);
    },
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    unfreeze: () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    disconnectAt: (text, when) => {
      cut = { text, when };
    },
    connectionCount: () => visits,
  };
}

/** The database URL that names several proxies, in this order. */
export const urlThrough = (...doors: readonly DatabaseProxy[]): string => {
  const [first, ...others] = doors.map(({ url }) => new URL(url));
  if (!first) throw new Error('no door');
  return first.href.replace(first.host, [first, ...others].map(({ host }) => host).join());
};
