import { type AddressInfo, connect, type ListenOptions, type Socket, Server as TcpServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The address to listen on: a port, or a socket that was passed to the process. */
export type ListenAddress = ListenOptions & ({ readonly port: number; readonly host: string } | { readonly fd: number });

/**
 * Number of connections that may wait to be accepted while the process is busy; the system may allow fewer
 * (`net.core.somaxconn`).
 */
const BACKLOG = 4096;

/** The first file descriptor that is passed (`SD_LISTEN_FDS_START`). */
const FIRST_HANDED_OVER = 3;

/**
 * Returns the address to listen on. A socket that the parent process has opened (`sd_listen_fds(3)` of systemd) takes
 * precedence over the settings. It outlives the process, so that connections wait for the next process instead of being
 * refused.
 */
export function placeOf(
  { port, host }: { readonly port: number; readonly host: string },
  { LISTEN_PID, LISTEN_FDS }: Readonly<Record<string, string | undefined>>,
): ListenAddress {
  return Number(LISTEN_PID) === process.pid && Number(LISTEN_FDS) > 0 ? { fd: FIRST_HANDED_OVER } : { port, host, backlog: BACKLOG };
}

/** Maximum time for attempts to close a busy port. */
const CLOSING_MS = 5000;

/**
 * Stops accepting connections without cutting any that the system has accepted: the server receives these first. If the
 * socket was passed to the process, waiting connections continue to wait. Open connections stay open; Node's own
 * `close` of an HTTP server would close idle ones, even if their next request is on its way.
 */
export async function closePort(server: TcpServer, place: ListenAddress): Promise<void> {
  if ('port' in place) await untilQueueIsOurs(server);
  TcpServer.prototype.close.call(server);
}

/**
 * Waits for a moment at which the port can be closed. The system resets connections that it has accepted and the
 * process has not. Therefore, the backlog is reduced to one connection, and retried until that one is our own. See
 * docs/decisions/0019.
 */
async function untilQueueIsOurs(server: TcpServer): Promise<void> {
  const { _handle: handle } = server as TcpServer & Partial<Handled>;
  const address = server.address();
  if (!handle?.listen || address === null || typeof address === 'string') return;
  const until = performance.now() + CLOSING_MS;
  while (performance.now() < until) {
    // After this turn, connections have been accepted from the queue.
    await nextTurn();
    handle.listen(0);
    const own = connect(address.port, reachable(address));
    own.on('error', () => undefined);
    // It is sent at the end of this tick, and answered at once within one machine.
    await new Promise<void>((sent) => process.nextTick(sent));
    const { _handle: way } = own as Socket & Partial<Handled>;
    if (way?.getpeername === undefined || way.getpeername({}) === 0) return;
    own.destroy();
  }
}

/** Undocumented members of Node's servers and sockets. */
interface Handled {
  readonly _handle: {
    /** Changes the backlog. */
    readonly listen?: (backlog: number) => number;
    /** Returns 0 if the socket is connected. */
    readonly getpeername?: (into: object) => number;
  } | null;
}

/** Returns an address by which the machine can reach its own port. */
const reachable = ({ address }: AddressInfo): string => (address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address);
