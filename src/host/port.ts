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
const FIRST_PASSED_DESCRIPTOR = 3;

/**
 * Returns the address to listen on. A socket that the parent process has opened (`sd_listen_fds(3)` of systemd) takes
 * precedence over the settings. It outlives the process, so that connections wait for the next process instead of being
 * refused.
 */
export function listenAddressOf(
  { port, host }: { readonly port: number; readonly host: string },
  { LISTEN_PID, LISTEN_FDS }: Readonly<Record<string, string | undefined>>,
): ListenAddress {
  return Number(LISTEN_PID) === process.pid && Number(LISTEN_FDS) > 0 ? { fd: FIRST_PASSED_DESCRIPTOR } : { port, host, backlog: BACKLOG };
}

/** The handlers of errors of a port. */
export interface PortErrors {
  /** The port cannot be opened. */
  readonly onRefused: (error: Error) => void;
  /**
   * A connection cannot be accepted, as when the system has no free file descriptors. The port stays open; while the
   * reason lasts, this may be called many times a second.
   */
  readonly onLost: (error: Error) => void;
}

/** Tells errors while a port is opened from later ones. Must be called before the server listens. */
export function handlePortErrors(server: TcpServer, { onRefused, onLost }: PortErrors): void {
  server.on('error', (error) => (server.listening ? onLost : onRefused)(error));
}

/** Maximum time for attempts to close a busy port, in milliseconds. */
const CLOSE_TIMEOUT_MS = 5000;

/**
 * Stops accepting connections without cutting any that the system has accepted: the server receives these first. If the
 * socket was passed to the process, waiting connections continue to wait. Open connections stay open; Node's own
 * `close` of an HTTP server would close idle ones, even if their next request is on its way.
 *
 * @param deadline time of `performance.now()` after which the port is closed even if it is busy
 */
export async function closePort(server: TcpServer, listenAddress: ListenAddress, deadline: number): Promise<void> {
  if ('port' in listenAddress) await waitForEmptyQueue(server, Math.min(deadline, performance.now() + CLOSE_TIMEOUT_MS));
  TcpServer.prototype.close.call(server);
}

/**
 * Waits for a moment at which the port can be closed. The system resets connections that it has accepted and the
 * process has not. Therefore, the backlog is reduced to one connection, and retried until that one is our own, unless
 * our own are refused. See docs/decisions/0019.
 */
async function waitForEmptyQueue(server: TcpServer, deadline: number): Promise<void> {
  const { _handle: serverHandle } = server as TcpServer & Partial<WithHandle>;
  const address = server.address();
  if (!serverHandle?.listen || address === null || typeof address === 'string') return;
  let isRefused = false;
  // After this turn, connections have been accepted from the queue.
  await nextTurn();
  do {
    serverHandle.listen(0);
    const probe = connect(address.port, reachableAddress(address));
    probe.on('error', () => {
      isRefused = true;
    });
    // It is sent at the end of this tick, and answered at once within one machine.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const { _handle: probeHandle } = probe as Socket & Partial<WithHandle>;
    if (probeHandle?.getpeername === undefined || probeHandle.getpeername({}) === 0) return;
    // A refusal arrives in the next turn.
    await nextTurn();
    probe.destroy();
  } while (!isRefused && performance.now() < deadline);
}

/** Undocumented members of Node's servers and sockets. */
interface WithHandle {
  readonly _handle: {
    /** Changes the backlog. */
    readonly listen?: (backlog: number) => number;
    /** Returns 0 if the socket is connected. */
    readonly getpeername?: (into: object) => number;
  } | null;
}

/** Returns an address by which the machine can reach its own port. */
const reachableAddress = ({ address }: AddressInfo): string => (address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address);
