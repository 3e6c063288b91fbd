import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { listenAddressOf } from '../host/port.ts';
import { DatabaseUnavailable, openDatabase, ping } from '../storage/engine/database.ts';
import { unavailableSentence } from './error-report.ts';
import type { Session } from './session.ts';

/** Interval between two attempts to reach the database, in milliseconds. */
const RETRY_MS = 1000;

/**
 * Runs `work`, which only reads, and repeats it until the database does what it is asked. Meanwhile, the port of the
 * service answers that the process is alive but not ready, so that a supervisor does not end it. At a terminal, the
 * address may be misspelt: nothing is repeated there.
 *
 * @throws DatabaseUnavailable at a terminal, and if the database accepts no writes; or whatever else `work` throws
 */
export async function onceReachable<T>({ io, say }: Session, config: Config, work: () => Promise<T>): Promise<T> {
  const { isTerminal, wait = (milliseconds) => sleep(milliseconds, true) } = io;
  let substitute: Substitute | undefined;
  try {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (isTerminal || !(error instanceof DatabaseUnavailable) || error.reason === 'read-only') throw error;
        if (!substitute) io.err(`${say('database.waiting', { reason: unavailableSentence(say, error) })}\n`);
        substitute ??= openSubstitute(config, io.env);
        substitute.reason = `database ${error.reason}`;
        // A service also waits if nobody reads its output.
        do if (!(await wait(RETRY_MS))) await sleep(RETRY_MS);
        while (!(await answers(config)));
      }
    }
  } finally {
    await substitute?.close();
  }
}

/** Whether the database answers. Unlike a whole attempt, this logs nothing. */
async function answers({ databaseUrl: url, tablePrefix: prefix }: Config): Promise<boolean> {
  const db = await openDatabase({ url, prefix });
  try {
    await ping(db);
    return true;
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return false;
    throw error;
  } finally {
    await db.close();
  }
}

/** Answers on the port of the service until that can be started. */
interface Substitute {
  /** Why the service is not ready. */
  reason: string;
  readonly close: () => Promise<void>;
}

function openSubstitute(config: Config, env: Session['io']['env']): Substitute {
  const server = createServer((req, res) => {
    const isLive = req.url?.split('?')[0] === '/health/live';
    const body = isLive ? { status: 'live' } : { status: 'not ready', reason: substitute.reason };
    const headers = { 'Content-Type': 'application/json; charset=UTF-8', 'Cache-Control': 'no-store' };
    res.writeHead(isLive ? 200 : 503, isLive ? headers : { ...headers, 'Retry-After': '1' }).end(JSON.stringify(body));
  });
  const substitute: Substitute = { reason: '', close: () => closed(server) };
  // If the port is taken, the service says so when it opens it.
  server.on('error', () => undefined);
  const address = listenAddressOf(config, env);
  // A socket that was passed to the process could not be opened again.
  if ('port' in address) server.listen(address);
  return substitute;
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
