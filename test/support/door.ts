import { createConnection, createServer, type Socket } from 'node:net';

/** A way to a server of MySQL that can be closed: each is like a server of its own, with the same data behind. */
export interface Door {
  /** `mysql://` address of the database behind it, through this way. */
  readonly url: string;
  readonly port: number;
  /** Nobody gets in any more, and whoever is inside is thrown out. */
  readonly shut: () => Promise<void>;
  /** Lets in again. */
  readonly open: () => Promise<void>;
  /**
   * What is said goes nowhere, in either direction, until `thaw`: a machine that is cut off. Connections are still
   * taken.
   */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Throws out whoever says this, before or after the server has heard it and answered. */
  readonly cutAt: (text: string, when: 'before' | 'after') => void;
  /** How many came in so far. */
  readonly visits: () => number;
}

/** Opens a way to the database of this address (`mysql://user@host:port/name`). */
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
  // A socket would lead past it.
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

/** The address that names several of them, in this order. */
export const through = (...doors: readonly Door[]): string => {
  const [first, ...others] = doors.map(({ url }) => new URL(url));
  if (!first) throw new Error('no door');
  return first.href.replace(first.host, [first, ...others].map(({ host }) => host).join());
};
