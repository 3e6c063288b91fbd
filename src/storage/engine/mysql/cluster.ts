import type { Cluster, ServerChange } from '../cluster.ts';
import type { MysqlServer } from './address.ts';
import { type Connection, trackConnections } from './connections.ts';
import { createGaleraSync } from './galera-sync.ts';
import { type ErrorTable, isNoAnswer, lookAtServers, messageOf } from './look.ts';
import { createPulse } from './pulse.ts';
import { chooseServers, type Servers, type ServersOptions } from './server-choice.ts';

export interface MysqlServersOptions {
  readonly servers: readonly [MysqlServer, ...MysqlServer[]];
  /** Begins to connect, with these options. */
  readonly connect: (options: object) => Connection;
  readonly errors: ErrorTable;
  /** Whether it will be written to: a server that takes no writes comes last then. */
  readonly writes: boolean;
  readonly onServerChange: (change: ServerChange) => void;
}

/** Connections to the server in use, of several, and everything that has to be noticed about it. */
export interface MysqlServers extends Cluster {
  /** Whether there is a server to use right away. */
  readonly isReady: () => boolean;
  /** Waits until there is a server to use. Throws DatabaseUnavailable. */
  readonly ready: () => Promise<void>;
  /** A connection to the server in use, with our session settings. Throws DatabaseUnavailable or the driver's error. */
  readonly connect: () => Promise<Connection>;
  /** Whether a connection leads to the server in use. */
  readonly isInUse: (connection: Connection) => boolean;
  /**
   * Call it when a query is sent. Returns what to call when it is answered, with the driver's error if it failed.
   */
  readonly asked: (connection: Connection) => (error?: unknown) => void;
  /**
   * Call it after a successful COMMIT: waits until what it wrote can be read, if another server is in use by now.
   */
  readonly committed: (connection: Connection) => Promise<void>;
  readonly close: () => void;
}

/**
 * What each session runs once when it begins. The sql_mode leaves out all that WordPress removes (`wpdb::set_sql_mode`:
 * strict modes, NO_ZERO_DATE), and what would change how texts are quoted. READ COMMITTED, because a transaction that
 * waited for a lock must see what the one before it wrote, or two could choose the same slug. Waiting for locks is
 * short: the transaction is run again instead. Some hosts refuse what they take for too large a join (`max_join_size`).
 * MySQL 8 would give the times of the last changes as they were up to a day ago; MariaDB, which knows no such setting,
 * passes over the comment.
 */
const SESSION = [
  `SET SESSION sql_mode = 'NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', innodb_lock_wait_timeout = 5, lock_wait_timeout = 10
   , group_concat_max_len = 67108864, sql_big_selects = 1 /*!80003 , information_schema_stats_expiry = 0 */`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];

/**
 * How long a connection or a look may take. With a single server there is nowhere else to go, so it gets more time
 * before everything asked of it is given up.
 */
const PATIENCE_MS = 1500;
const LONE_PATIENCE_MS = 3000;
/** After this time, what was written through one node is on all nodes that are still part of the cluster. */
const SPREAD_MS = 60_000;
/**
 * How long a server may take to catch up before it is used. A cluster needs seconds to find out that a node is gone.
 */
const SETTLE_MS = 8000;

/** Connects to nothing before it is needed, so all servers may be absent. */
export function openServers(options: MysqlServersOptions): MysqlServers {
  const { servers, connect, errors, writes } = options;
  const patience = servers.length === 1 ? LONE_PATIENCE_MS : PATIENCE_MS;
  const connections = trackConnections(connect);
  const looks = lookAtServers(connections, errors, { limit: patience, writes });
  const galera = createGaleraSync(connections);
  let lastCommit = Number.NEGATIVE_INFINITY;

  const settle = async (server: MysqlServer): Promise<void> => {
    if (await looks.isNode(server)) await galera.wait(server, SETTLE_MS);
  };
  const chosen = chooseServers(servers, {
    look: looks.look,
    settle: async (server) => {
      if (performance.now() - lastCommit < SPREAD_MS) await settle(server);
    },
    ...serverListeners(options, connections),
  });
  const pulse = createPulse(async () => {
    const server = chosen.current();
    if (server) await chosen.doubt(server);
  });
  const isInUse = (connection: Connection): boolean => connections.serverOf(connection) === chosen.current();

  return {
    isReady: () => chosen.chosen() !== undefined,
    ready: async () => {
      await chosen.choose();
    },
    connect: () => connectToChosen({ options, connections, chosen, patience }),
    isInUse,
    asked: (connection) => {
      const answered = pulse.asked();
      return (error) => {
        answered();
        if (error !== undefined && error !== null) afterFailure({ options, connections, chosen }, connection, error);
      };
    },
    committed: async (connection) => {
      lastCommit = performance.now();
      if (isInUse(connection)) return;
      // If no server can be used now, the next one catches up before it is.
      const server = await chosen.choose().catch(() => undefined);
      if (server) await settle(server).catch((error: unknown) => chosen.leave(server, { detail: messageOf(error) }));
    },
    era: chosen.era,
    catchUp: async () => {
      // If there is no server, the next query says so.
      const server = await chosen.choose().catch(() => undefined);
      return server === undefined || !(await looks.isNode(server)) || galera.waitBriefly(server);
    },
    report: () => reportOn(servers, chosen),
    place: () => {
      const server = chosen.current();
      return { inUse: server ? servers.indexOf(server) + 1 : 0, of: servers.length, detail: server ? looks.detailOf(server) : '' };
    },
    close: galera.close,
  };
}

type Connections = ReturnType<typeof trackConnections>;
type Chosen = Servers<MysqlServer>;

/** The servers, the connections to them, and the one that was chosen. */
interface Choice {
  readonly options: MysqlServersOptions;
  readonly connections: Connections;
  readonly chosen: Chosen;
}

const serverListeners = (
  { onServerChange }: MysqlServersOptions,
  connections: Connections,
): Pick<ServersOptions<MysqlServer>, 'left' | 'taken'> => ({
  left: (server, { detail, silent }) => {
    // A silent server would keep everybody waiting; any other one finishes or breaks off by itself.
    if (silent) connections.dropAll(server);
    onServerChange({ left: server.name, reason: detail });
  },
  taken: (server) => onServerChange({ taken: server.name }),
});

/** A connection to the server in use; where it is gone, to the next one. */
async function connectToChosen({
  options: { servers, errors },
  connections,
  chosen,
  patience,
}: Choice & { readonly patience: number }): Promise<Connection> {
  for (let left = servers.length; ; left -= 1) {
    const server = await chosen.choose();
    try {
      return await connections.open(server, patience, SESSION);
    } catch (error) {
      const isGone = isNoAnswer(error) || errors.isCut(error) || errors.isLeaving(error);
      if (isGone) chosen.leave(server, { detail: messageOf(error), silent: isNoAnswer(error) });
      if (!isGone || left === 1) throw error;
    }
  }
}

/** What follows from the failure of a query. */
function afterFailure({ options: { errors }, connections, chosen }: Choice, connection: Connection, error: unknown): void {
  const server = connections.serverOf(connection) ?? chosen.current();
  if (!server) return;
  if (errors.isLeaving(error)) chosen.leave(server, { detail: messageOf(error) });
  else if (errors.isReadOnly(error)) chosen.reconsider();
  else if (errors.isCut(error)) void chosen.doubt(server);
}

async function reportOn(servers: readonly MysqlServer[], chosen: Chosen): ReturnType<Cluster['report']> {
  const seen = await chosen.looks();
  return servers.map((server, place) => {
    const { fitness, detail } = seen[place] ?? { fitness: 'unfit', detail: '' };
    return { name: server.name, inUse: server === chosen.current(), fitness, detail };
  });
}
