import { createConnection, createServer, type Socket } from 'node:net';

/** A TCP proxy to a MySQL server that can be closed. Each proxy acts like a separate server with the same data. */
export interface Door {
  /** `mysql://` URL of the database through this proxy. */
  readonly url: string;
  readonly port: number;
  /** Refuses new connections and closes the existing ones. */
  readonly shut: () => Promise<void>;
  /** Accepts connections again. */
  readonly open: () => Promise<void>;
  /**
   * Forwards no data in either direction until `thaw`, like a machine that is cut off. Connections are still accepted.
   */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Closes the connection that sends this text, before or after the server has received it and replied. */
  readonly cutAt: (text: string, when: 'before' | 'after') => void;
  /** Number of connections so far. */
  readonly visits: () => number;
}

/** Opens a proxy to the database of this URL (`mysql://user@host:port/name`). */
export async function openDoor(address: string): Promise<Door> {
  const target = new URL(address);
  const inside = new Set<Socket>();
  let frozen = false;
  let cut: { text: string; when: 'before' | 'after' } | undefined;
  let visits = 0;

  const visit = (guest: Socket): void => {
    visits += 1;
    const server = createConnection(Number(target.port), target.hostname);
    const leave = () => {
      for (const socket of [guest, server]) {
        socket.destroy();
        inside.delete(socket);
      }
    };
    let leaving = false;
    for (const socket of [guest, server]) {
      inside.add(socket);
      if (frozen) socket.pause();
      socket.on('error', leave).on('close', leave);
    }
    guest.on('data', (said) => {
      if (cut && said.includes(cut.text)) {
        if (cut.when === 'before') return leave();
        leaving = true;
        cut = undefined;
      }
      server.write(said);
    });
    server.on('data', (said) => (leaving ? leave() : guest.write(said)));
  };
  const throwOut = () => {
    for (const socket of inside) socket.destroy();
  };

  let listener = createServer(visit);
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
    shut: async () => {
      const closed = new Promise((resolve) => listener.close(resolve));
      throwOut();
      await closed;
    },
    open: async () => {
      listener = createServer(visit);
      await listen(port);
    },
    freeze: () => {
      frozen = true;
      for (const socket of inside) socket.pause();
    },
    thaw: () => {
      frozen = false;
      for (const socket of inside) socket.resume();
    },
    cutAt: (text, when) => {
      cut = { text, when };
    },
    visits: () => visits,
  };
}

/** The database URL that names several proxies, in this order. */
export const through = (...doors: readonly Door[]): string => {
  const [first, ...others] = doors.map(({ url }) => new URL(url));
  if (!first) throw new Error('no door');
  return first.href.replace(first.host, [first, ...others].map(({ host }) => host).join());
};
