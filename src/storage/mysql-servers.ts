import type { Cluster, ServerChange } from './cluster.ts';
import { codeOf } from './dialect.ts';
import type { MysqlServer } from './mysql-address.ts';
import { createPulse } from './pulse.ts';
import { chooseServers, type Look } from './servers.ts';
import { Silence, within } from './within.ts';

/** A connection of the driver, as far as it is used here. */
export interface Connection {
  query(sql: string, bindings: readonly unknown[], done: (error: unknown, rows?: unknown, fields?: unknown) => void): void;
  once(event: 'connect', listener: () => void): void;
  on(event: 'error', listener: (error: unknown) => void): void;
  destroy(): void;
  readonly stream: { once(event: 'close', listener: () => void): void; destroy(): void };
}

/** What the errors of the driver say of a server. */
export interface ErrorTable {
  /** It can't be reached, or has broken off. */
  readonly isCut: (error: unknown) => boolean;
  /** It must not be used: it is going down, or its part of the cluster has lost the majority. */
  readonly isLeaving: (error: unknown) => boolean;
  /** It takes no writes. */
  readonly isReadOnly: (error: unknown) => boolean;
  /** It has no connection left for us. */
  readonly isCrowded: (error: unknown) => boolean;
}

export interface MysqlServersOptions {
  readonly servers: readonly [MysqlServer, ...MysqlServer[]];
  /** Begins to connect. */
  readonly open: (options: object) => Connection;
  readonly errors: ErrorTable;
  /** Whether it is to be written to: a server that takes no writes comes last then. */
  readonly writes: boolean;
  readonly told: (change: ServerChange) => void;
}

/** Connections to the one of several servers that is in use, and what has to be noticed about it. */
export interface MysqlServers extends Cluster {
  /** Waits until there is one to use. Throws DatabaseUnavailable. */
  readonly ready: () => Promise<void>;
  /** A connection to the one in use, with our session settings. Throws DatabaseUnavailable, or the driver's error. */
  readonly connect: () => Promise<Connection>;
  /** Whether a connection leads to the one in use. */
  readonly isInUse: (connection: Connection) => boolean;
  /** To be called when something is asked. Gives what to call when it was answered, with the driver's error if it failed. */
  readonly asked: (connection: Connection) => (error?: unknown) => void;
  /** To be called when a COMMIT came through: what it wrote can be read afterwards, should another server be in use by now. */
  readonly committed: (connection: Connection) => Promise<void>;
  readonly close: () => void;
}

/**
 * What each session is told once. The sql_mode leaves out all that WordPress removes (`wpdb::set_sql_mode`: strict modes, NO_ZERO_DATE), and
 * what would change how texts are quoted. READ COMMITTED, because a transaction that waited for a lock must see what the one before it wrote,
 * or two could choose the same slug. Waiting for locks is short: the transaction is run again instead. MySQL 8 would tell the times of the last
 * changes as they were up to a day ago; MariaDB, which knows no such setting, passes over the comment.
 */
const SESSION = [
  `SET SESSION sql_mode = 'NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', innodb_lock_wait_timeout = 5, lock_wait_timeout = 10
   /*!80003 , information_schema_stats_expiry = 0 */`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];
/** In such a session a Galera node answers a question once it has applied what was committed through other nodes before. */
const CAUSAL_SESSION = ['SET SESSION wsrep_sync_wait = 1'];

/** What is to be known of a server. A node that answers nothing else still answers SHOW. */
const VARIABLES = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'innodb_read_only', 'wsrep_provider')";
const STATUS = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment', 'wsrep_cluster_size')";

const CONNECT_MS = 3000;
/** How long a look takes at most. With one server alone there is nowhere else to go: it gets more time before all that is asked of it is given up. */
const LOOK_MS = 1500;
const LONE_LOOK_MS = 3000;
/** What was written through one node is on all others after this time at the latest, or they are no longer part of the cluster. */
const SPREAD_MS = 60_000;
/** How long a server that is to be used may take to bring itself up to date: a cluster needs seconds to find out that a node is gone. */
const SETTLE_MS = 8000;
/** A reader waits no longer than this for what was written through other nodes. */
const CATCH_UP_MS = 300;

/** Opens nothing before it is needed, so that all servers may be absent. */
export function openServers({ servers, open, errors, writes, told }: MysqlServersOptions): MysqlServers {
  const alone = servers.length === 1;
  const lookMs = alone ? LONE_LOOK_MS : LOOK_MS;
  const leadsTo = new Map<Connection, MysqlServer>();
  const isNode = new Map<MysqlServer, boolean>();
  const details = new Map<MysqlServer, string>();
  let causal: { readonly server: MysqlServer; readonly connection: Promise<Connection> } | undefined;
  let catchingUp: Promise<void> | undefined;
  /** A wait that takes too long to wait for: while the cluster finds out that a node is gone, nothing is written that could be missed. */
  let late: Promise<void> | undefined;
  let lastCommit = Number.NEGATIVE_INFINITY;

  const drop = (connection: Connection): void => {
    leadsTo.delete(connection);
    connection.stream.destroy();
  };

  /** Opens a connection and runs some statements on it, all of that within so many milliseconds. */
  const connectTo = async (server: MysqlServer, limit: number, session: readonly string[]): Promise<Connection> => {
    const connection = open({ ...server.options, connectTimeout: limit });
    leadsTo.set(connection, server);
    connection.stream.once('close', () => leadsTo.delete(connection));
    const begun = async (): Promise<Connection> => {
      await connected(connection);
      for (const sql of session) await query(connection, sql);
      return connection;
    };
    try {
      return await within(limit, begun());
    } catch (error) {
      drop(connection);
      throw error;
    }
  };

  const see = async (server: MysqlServer): Promise<Look> => {
    const connection = await connectTo(server, lookMs, []);
    try {
      const found = await within(lookMs, shown(connection));
      const seen = lookOf(found, writes);
      isNode.set(server, isGalera(found));
      details.set(server, seen.detail);
      return seen;
    } catch (error) {
      if (isSilence(error) || errors.isCut(error) || errors.isLeaving(error)) throw error;
      // A proxy that lets us in, and does not know of these statements.
      isNode.set(server, false);
      return { fitness: 'fit', detail: '' };
    } finally {
      drop(connection);
    }
  };

  const look = async (server: MysqlServer): Promise<Look> => {
    try {
      return await see(server);
    } catch (error) {
      const fitness = errors.isCrowded(error) ? 'strained' : 'unfit';
      return { fitness, detail: `${server.name}: ${messageOf(error)}`, silent: isSilence(error) };
    }
  };

  const isGaleraNode = async (server: MysqlServer): Promise<boolean> => {
    if (!isNode.has(server)) await look(server);
    return isNode.get(server) ?? false;
  };

  /** Waits until a node has applied what was committed before. Its connection is kept for the next time. */
  const sync = async (server: MysqlServer): Promise<void> => {
    if (causal?.server !== server) {
      causal?.connection.then(drop, () => undefined);
      causal = { server, connection: connectTo(server, CONNECT_MS, CAUSAL_SESSION) };
    }
    const mine = causal;
    try {
      await query(await mine.connection, 'SELECT 1');
    } catch (error) {
      if (causal === mine) causal = undefined;
      mine.connection.then(drop, () => undefined);
      throw error;
    }
  };

  const settled = async (server: MysqlServer): Promise<void> => {
    if (await isGaleraNode(server)) await within(SETTLE_MS, sync(server));
  };

  const chosen = chooseServers(servers, {
    look,
    settle: async (server) => {
      if (performance.now() - lastCommit < SPREAD_MS) await settled(server);
    },
    left: (server, { detail, silent }) => {
      // A server that says nothing would let everybody wait; others end what they were asked themselves.
      if (silent) for (const [connection, target] of leadsTo) if (target === server) connection.stream.destroy();
      told({ left: server.name, reason: detail });
    },
    taken: (server) => told({ taken: server.name }),
  });

  const doubt = async (): Promise<void> => {
    const server = chosen.current();
    if (server) await chosen.doubt(server);
  };
  const pulse = createPulse(doubt);

  const failed = (connection: Connection, error: unknown): void => {
    const server = leadsTo.get(connection) ?? chosen.current();
    if (!server) return;
    if (errors.isLeaving(error)) chosen.leave(server, { detail: messageOf(error) });
    else if (errors.isReadOnly(error)) chosen.reconsider();
    else if (errors.isCut(error)) void chosen.doubt(server);
  };

  return {
    era: chosen.era,
    ready: async () => {
      await chosen.choose();
    },
    connect: async () => {
      for (let left = servers.length; ; left -= 1) {
        const server = await chosen.choose();
        try {
          return await connectTo(server, CONNECT_MS, SESSION);
        } catch (error) {
          const gone = isSilence(error) || errors.isCut(error) || errors.isLeaving(error);
          if (gone) chosen.leave(server, { detail: messageOf(error), silent: isSilence(error) });
          if (!gone || left === 1) throw error;
        }
      }
    },
    isInUse: (connection) => leadsTo.get(connection) === chosen.current(),
    asked: (connection) => {
      const answered = pulse.asked();
      return (error) => {
        answered();
        if (error !== undefined && error !== null) failed(connection, error);
      };
    },
    committed: async (connection) => {
      lastCommit = performance.now();
      if (leadsTo.get(connection) === chosen.current()) return;
      // Where none can be used, the next one brings itself up to date before it is.
      const server = await chosen.choose().catch(() => undefined);
      if (server) await settled(server).catch((error: unknown) => chosen.leave(server, { detail: messageOf(error) }));
    },
    catchUp: async () => {
      // Whoever asks something next is told that there is no server.
      const server = await chosen.choose().catch(() => undefined);
      if (!server || !(await isGaleraNode(server)) || (late !== undefined && late === catchingUp)) return;
      const mine = catchingUp ?? sync(server);
      catchingUp = mine;
      const over = () => {
        if (catchingUp === mine) catchingUp = undefined;
      };
      mine.then(over, over);
      await within(CATCH_UP_MS, mine).catch(() => {
        late = mine;
      });
    },
    report: async () => {
      const looks = await chosen.looks();
      return servers.map((server, place) => ({
        name: server.name,
        inUse: server === chosen.current(),
        fitness: looks[place]?.fitness ?? 'unfit',
        detail: looks[place]?.detail ?? '',
      }));
    },
    place: () => {
      const server = chosen.current();
      return { inUse: server ? servers.indexOf(server) + 1 : 0, of: servers.length, detail: (server && details.get(server)) ?? '' };
    },
    close: () => {
      causal?.connection.then(drop, () => undefined);
      causal = undefined;
    },
  };
}

function connected(connection: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.once('connect', resolve);
    // Later ones are told to whoever asks something then; without a listener they would end the process.
    connection.on('error', reject);
  });
}

function query(connection: Connection, sql: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    connection.query(sql, [], (error, rows) => (error ? reject(error) : resolve(rows)));
  });
}

/** What a server says of itself, by name. */
async function shown(connection: Connection): Promise<Map<string, string>> {
  const rows = [await query(connection, VARIABLES), await query(connection, STATUS)].flat() as { Variable_name: string; Value: string }[];
  return new Map(rows.map(({ Variable_name: name, Value: value }) => [name.toLowerCase(), value]));
}

const isGalera = (found: ReadonlyMap<string, string>): boolean => !['', 'none', undefined].includes(found.get('wsrep_provider'));

function lookOf(found: ReadonlyMap<string, string>, writes: boolean): Look {
  // Readers of Aurora say so by the second alone.
  const readOnly = writes && ['read_only', 'innodb_read_only'].some((name) => !['OFF', '0', undefined].includes(found.get(name)));
  if (!isGalera(found)) return { fitness: readOnly ? 'read-only' : 'fit', detail: readOnly ? 'read only' : '' };
  const state = found.get('wsrep_local_state_comment') ?? '';
  const detail = `Galera: ${state}, nodes: ${found.get('wsrep_cluster_size')}`;
  if (found.get('wsrep_ready') !== 'ON') return { fitness: 'unfit', detail: `${detail}, not ready` };
  if (readOnly) return { fitness: 'read-only', detail: `${detail}, read only` };
  return { fitness: state === 'Synced' ? 'fit' : 'strained', detail };
}

const isSilence = (error: unknown): boolean => error instanceof Silence || codeOf(error) === 'ETIMEDOUT';

/** What an error says; Node's of a name with several addresses says nothing but its code. */
function messageOf(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : '';
  return message || codeOf(error) || String(error);
}
