import { TimeoutError, withTimeout } from '../../../host/timeout.ts';
import { createSharedRuns } from '../shared-runs.ts';
import type { MysqlServer } from './address.ts';
import { ask, type Connection, type Connections } from './connections.ts';

/** Waits until a Galera node has applied what was committed through other nodes. */
export interface GaleraSync {
  /** Throws TimeoutError after `limit` milliseconds, or the driver's error. */
  readonly wait: (server: MysqlServer, limit: number) => Promise<void>;
  /**
   * The same for a reader, which continues after a short while. A cluster that has just lost a node does not respond
   * for seconds, but nothing is committed in that time either, so a reader misses nothing. Resolves to whether
   * everything has been applied.
   */
  readonly waitBriefly: (server: MysqlServer) => Promise<boolean>;
  readonly close: () => void;
}

/**
 * In such a session, a node answers a query only after it has applied everything that was committed before, anywhere in
 * the cluster.
 */
const SESSION_SETUP = ['SET SESSION wsrep_sync_wait = 1'];
const CONNECT_TIMEOUT_MS = 3000;
const BRIEF_TIMEOUT_MS = 300;

/** Creates the synchronization. Its connection is opened when it is first needed, and kept open. */
export function createGaleraSync(connections: Connections): GaleraSync {
  let session: { readonly server: MysqlServer; readonly connection: Promise<Connection> } | undefined;
  // A query that was sent before a reader came does not cover what was committed in between.
  const runs = createSharedRuns<void>();
  /** Servers that have a query to answer, and those that have not answered a reader in time, until they do. */
  const busyServers = new Set<MysqlServer>();
  const lateServers = new Set<MysqlServer>();

  const close = (): void => {
    session?.connection.then(connections.drop, () => undefined);
    session = undefined;
  };

  const sync = async (server: MysqlServer): Promise<void> => {
    if (session?.server !== server) {
      close();
      session = { server, connection: connections.open(server, CONNECT_TIMEOUT_MS, SESSION_SETUP) };
    }
    const ownSession = session;
    try {
      await ask(await ownSession.connection, 'SELECT 1');
    } catch (error) {
      if (session === ownSession) close();
      throw error;
    }
  };

  return {
    wait: (server, limit) => withTimeout(limit, sync(server)),
    waitBriefly: async (server) => {
      if (lateServers.has(server)) return false;
      // The query of another reader may have to be answered first.
      const limit = busyServers.has(server) ? 2 * BRIEF_TIMEOUT_MS : BRIEF_TIMEOUT_MS;
      const work = runs(server.name, () => {
        busyServers.add(server);
        return sync(server).finally(() => busyServers.delete(server));
      });
      try {
        await withTimeout(limit, work);
        return true;
      } catch (error) {
        if (!(error instanceof TimeoutError)) return false;
        const onEnd = () => lateServers.delete(server);
        lateServers.add(server);
        work.then(onEnd, onEnd);
        return false;
      }
    },
    close,
  };
}
