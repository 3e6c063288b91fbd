import { type AddressInfo, connect, type ListenOptions, type Socket, Server as TcpServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Where a server listens: at a port of its own, or at a socket that was opened for it. */
export type ListenAddress = ListenOptions & ({ readonly port: number; readonly host: string } | { readonly fd: number });

/**
 * How many new connections may wait to be accepted while the process is busy; the system may allow fewer
 * (`net.core.somaxconn`).
 */
const BACKLOG = 4096;

/** The first descriptor that is handed over (`SD_LISTEN_FDS_START`). */
const FIRST_HANDED_OVER = 3;

/**
 * Where this process is to listen. A socket that whoever started it has opened (`sd_listen_fds(3)` of systemd) comes
 * before the settings; it outlives the process, so that connections wait for the next one instead of being refused.
 */
export function placeOf(
  { port, host }: { readonly port: number; readonly host: string },
  { LISTEN_PID, LISTEN_FDS }: Readonly<Record<string, string | undefined>>,
): ListenAddress {
  return Number(LISTEN_PID) === process.pid && Number(LISTEN_FDS) > 0 ? { fd: FIRST_HANDED_OVER } : { port, host, backlog: BACKLOG };
}

/** For how long a port that is busy is tried to be closed. */
const CLOSING_MS = 5000;

/**
 * Takes no new connections, and cuts none that the system has taken: these come to the server first. Where the socket
 * is somebody else's, what waits there goes on waiting. Connections that there are stay as they are; Node's own `close`
 * of a server for HTTP would end idle ones, even those whose next request is on its way.
 */
export async function closePort(server: TcpServer, place: ListenAddress): Promise<void> {
  if ('port' in place) await untilQueueIsOurs(server);
  TcpServer.prototype.close.call(server);
}

/**
 * Waits for a moment in which the port can be closed. The system resets the connections that it has taken and the
 * process has not: so its queue is made as short as can be, one connection, and tried until that one is our own. See
 * docs/decisions/0019.
 */
async function untilQueueIsOurs(server: TcpServer): Promise<void> {
  const { _handle: handle } = server as TcpServer & Partial<Handled>;
  const address = server.address();
  if (!handle?.listen || address === null || typeof address === 'string') return;
  const until = performance.now() + CLOSING_MS;
  while (performance.now() < until) {
    // After this, connections have been taken from the queue.
    await nextTurn();
    handle.listen(0);
    const own = connect(address.port, reachable(address));
    own.on('error', () => undefined);
    // It is sent off at the end of this tick, and within one machine it is answered at once.
    await new Promise<void>((sent) => process.nextTick(sent));
    const { _handle: way } = own as Socket & Partial<Handled>;
    if (way?.getpeername === undefined || way.getpeername({}) === 0) return;
    own.destroy();
  }
}

/** What Node keeps behind a server or a socket and does not document. */
interface Handled {
  readonly _handle: {
    /** Changes how many connections may wait. */
    readonly listen?: (backlog: number) => number;
    /** 0 where there is a connection. */
    readonly getpeername?: (into: object) => number;
  } | null;
}

/** An address by which a machine reaches its own port. */
const reachable = ({ address }: AddressInfo): string => (address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address);
