import type { Cluster, ServerChange } from '../cluster.ts';
import type { MysqlServer } from './address.ts';
import { type Connection, trackConnections } from './connections.ts';
import { createGaleraSync } from './galera-sync.ts';
import { type ErrorChecks, isNoAnswer, lookAtServers, messageOf } from './look.ts';
import { createPulse } from './pulse.ts';
import { chooseServers, type Servers, type ServersOptions } from './server-choice.ts';

export interface MysqlServersOptions {
  readonly servers: readonly [MysqlServer, ...MysqlServer[]];
  /** Starts connecting, with these options. */
  readonly connect: (options: object) => Connection;
  readonly errors: ErrorChecks;
  /** Whether the database will be written to. If so, a read-only server is used last. */
  readonly writes: boolean;
  readonly onServerChange: (change: ServerChange) => void;
}

/** Connections to the server in use, one of several, and the handling of everything that affects it. */
export interface MysqlServers extends Cluster {
  /** Whether there is a server that can be used immediately. */
  readonly isReady: () => boolean;
  /** Waits until there is a server to use. Throws DatabaseUnavailable. */
  readonly ready: () => Promise<void>;
  /** A connection to the server in use, with our session settings. Throws DatabaseUnavailable or the driver's error. */
  readonly connect: () => Promise<Connection>;
  /** Whether a connection leads to the server in use. */
  readonly isInUse: (connection: Connection) => boolean;
  /**
   * Must be called when a query is sent. Returns a function to call when the response arrives, with the driver's error
   * if the query failed.
   */
  readonly trackQuery: (connection: Connection) => (error?: unknown) => void;
  /** Must be called when a part of a response arrives. */
  readonly noteAnswer: () => void;
  /**
   * Must be called after a successful COMMIT. If a different server is in use by then, waits until the committed data
   * can be read from it.
   */
  readonly afterCommit: (connection: Connection) => Promise<void>;
  readonly close: () => void;
}

/** The collation of texts in statements and answers: that of WordPress's tables. */
export const SESSION_COLLATION = 'utf8mb4_unicode_520_ci';

/**
 * Statements that each session runs once when it begins. A server may ignore the character set of the handshake
 * (`skip-character-set-client-handshake`) or replace it (`init_connect`), so it is named again, as WordPress does.
 * With `max_error_count` 0 the warnings about lost data could not be read. The sql_mode excludes everything that
 * WordPress removes (`wpdb::set_sql_mode`: strict modes, NO_ZERO_DATE), and modes that would change how texts are
 * quoted. READ COMMITTED, because a transaction that waited for a lock must see what the previous one wrote; otherwise
 * two could choose the same slug. Lock waits are short, since the transaction is retried instead. Some hosts refuse
 * joins that they consider too large (`max_join_size`). MySQL 8 would return times of the last changes that are up to
 * a day old; MariaDB does not know that setting and ignores the versioned comment.
 */
const SESSION_SETUP = [
  `SET NAMES utf8mb4 COLLATE ${SESSION_COLLATION}, @@SESSION.sql_mode = 'NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'
   , max_error_count = 1024, innodb_lock_wait_timeout = 5, lock_wait_timeout = 10, group_concat_max_len = 67108864, sql_big_selects = 1 /*!80003 , information_schema_stats_expiry = 0 */`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];

/**
 * Maximum duration of a connection attempt or a look. A single server has no alternative, so it gets more time before
 * its queries are given up.
 */
const LOOK_TIMEOUT_MS = 1500;
const SINGLE_SERVER_TIMEOUT_MS = 3000;
/** After this time, data written through one node are on all nodes that are still part of the cluster. */
const REPLICATION_MS = 60_000;
/** Time that a server may take to catch up before it is used. A cluster needs seconds to detect that a node is gone. */
const CATCH_UP_TIMEOUT_MS = 8000;

/**
 * Creates the connections to a list of servers. Nothing is connected before it is needed, so all servers may be absent.
 */
export function openServers(options: MysqlServersOptions): MysqlServers {
  const { servers, connect, errors, writes } = options;
  const timeoutMs = servers.length === 1 ? SINGLE_SERVER_TIMEOUT_MS : LOOK_TIMEOUT_MS;
  const connections = trackConnections(connect);
  const looks = lookAtServers(connections, errors, { limit: timeoutMs, writes });
  const galera = createGaleraSync(connections);
  let lastCommit = Number.NEGATIVE_INFINITY;

  const catchUp = async (server: MysqlServer): Promise<void> => {
    if (await looks.isNode(server)) await galera.wait(server, CATCH_UP_TIMEOUT_MS);
  };
  const choice = chooseServers(servers, {
    look: looks.look,
    catchUp: async (server) => {
      if (performance.now() - lastCommit < REPLICATION_MS) await catchUp(server);
    },
    ...serverListeners(options, connections),
  });
  const pulse = createPulse(async () => {
    const server = choice.current();
    if (server) await choice.check(server);
  });
  const isInUse = (connection: Connection): boolean => connections.serverOf(connection) === choice.current();

  return {
    isReady: () => choice.readyServer() !== undefined,
    ready: async () => {
      await choice.choose();
    },
    connect: () => connectToChosen({ options, connections, choice, patience: timeoutMs }),
    isInUse,
    trackQuery: (connection) => {
      const finish = pulse.trackQuery();
      return (error) => {
        finish();
        if (error !== undefined && error !== null) afterFailure({ options, connections, choice }, connection, error);
      };
    },
    noteAnswer: pulse.noteAnswer,
    afterCommit: async (connection) => {
      lastCommit = performance.now();
      if (isInUse(connection)) return;
      // If no server can be used at the moment, the next one catches up before it is used.
      const server = await choice.choose().catch(() => undefined);
      if (server) await catchUp(server).catch((error: unknown) => choice.leave(server, { detail: messageOf(error) }));
    },
    era: choice.era,
    catchUp: async () => {
      // If there is no server, the next query throws the error.
      const server = await choice.choose().catch(() => undefined);
      return server === undefined || !(await looks.isNode(server)) || galera.waitBriefly(server);
    },
    report: () => reportOn(servers, choice),
    place: () => {
      const server = choice.current();
      return { inUse: server ? servers.indexOf(server) + 1 : 0, of: servers.length, detail: server ? looks.detailOf(server) : '' };
    },
    close: galera.close,
  };
}

type Connections = ReturnType<typeof trackConnections>;
type ServerChoice = Servers<MysqlServer>;

/** The options, the connections, and the choice of the server. */
interface Choice {
  readonly options: MysqlServersOptions;
  readonly connections: Connections;
  readonly choice: ServerChoice;
}

const serverListeners = (
  { onServerChange }: MysqlServersOptions,
  connections: Connections,
): Pick<ServersOptions<MysqlServer>, 'onServerLeft' | 'onServerTaken'> => ({
  onServerLeft: (server, { detail, isSilent }) => {
    // Connections to a silent server would keep callers waiting; queries on any other server finish or fail by
    // themselves.
    if (isSilent) connections.dropAll(server);
    onServerChange({ left: server.name, reason: detail });
  },
  onServerTaken: (server) => onServerChange({ taken: server.name }),
});

/** Opens a connection to the server in use; if that server is gone, to the next one. */
async function connectToChosen({
  options: { servers, errors },
  connections,
  choice,
  patience: timeoutMs,
}: Choice & { readonly patience: number }): Promise<Connection> {
  for (let remaining = servers.length; ; remaining -= 1) {
    const server = await choice.choose();
    try {
      return await connections.open(server, timeoutMs, SESSION_SETUP);
    } catch (error) {
      const isGone = isNoAnswer(error) || errors.isConnectionFailure(error) || errors.isServerUnusable(error);
      if (isGone) choice.leave(server, { detail: messageOf(error), isSilent: isNoAnswer(error) });
      if (!isGone || remaining === 1) throw error;
    }
  }
}

/** Handles a failed query: leaves the server, looks for a fitter one, or checks it. */
function afterFailure({ options: { errors }, connections, choice }: Choice, connection: Connection, error: unknown): void {
  const server = connections.serverOf(connection) ?? choice.current();
  if (!server) return;
  if (errors.isServerUnusable(error)) choice.leave(server, { detail: messageOf(error) });
  else if (errors.isReadOnly(error)) choice.reconsider();
  else if (errors.isConnectionFailure(error)) void choice.check(server);
}

async function reportOn(servers: readonly MysqlServer[], choice: ServerChoice): ReturnType<Cluster['report']> {
  const looks = await choice.lookAtAll();
  return servers.map((server, index) => {
    const { fitness, detail } = looks[index] ?? { fitness: 'unfit', detail: '' };
    return { name: server.name, inUse: server === choice.current(), fitness, detail };
  });
}
