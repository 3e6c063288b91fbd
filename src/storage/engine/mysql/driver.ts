import { type ConnectionOptions, createConnection } from 'mysql2';
import { ApiError } from '../../../errors.ts';
import { builders } from '../builder.ts';
import type { ServerChange } from '../cluster.ts';
import { asUnavailable, DatabaseUnavailable, type Engine } from '../dialect.ts';
import {
  createListeners,
  type Driver,
  type Outcome,
  plainQuery,
  type Query,
  runOutsideTransaction,
  type Session,
  type Snapshot,
  withoutStatement,
} from '../driver.ts';
import { type ConnectionPool, createPool } from '../pool.ts';
import { mysqlServers } from './address.ts';
import { type MysqlServers, openServers, SESSION_COLLATION } from './cluster.ts';
import type { Connection } from './connections.ts';
import { asTextNotStorable, hasWarnings, refuseDataLoss } from './data-loss.ts';
import { MAX_CONNECTIONS, mysql } from './dialect.ts';
import { hasTooManyConnections, isAssignedIdTaken, isConnectionFailure, isFatal, isServerReadOnly, isServerUnusable } from './errors.ts';
import { hasLongTexts, refuseTooLong } from './packet.ts';

/** A request that finds no connection for this long is answered with 503. */
const ACQUIRE_TIMEOUT_MS = 1000;
const IDLE_TIMEOUT_MS = 30_000;

export interface MysqlOptions {
  /** For a replica, which is only read: the database that is queried if the replica does not answer. */
  readonly primary?: Driver;
  readonly onServerChange?: (change: ServerChange) => void;
}

/**
 * Opens a pool of connections to MySQL or MariaDB: to one of the servers that the address names, as long as that server
 * can be used. Nothing connects before the first query, so the servers may be absent.
 *
 * @param address `mysql://user:password@host:port,host:port/database`, optionally with `?socketPath=` and `?ssl=true`
 * @throws Error saying what is wrong with the address
 */
export function openMysql(address: string, { primary, onServerChange = () => {} }: MysqlOptions = {}): Engine {
  const servers = openServers({
    servers: mysqlServers(address),
    // The type of the driver has members that connections of other libraries do not have.
    connect: (options) => createConnection({ ...CONNECTION, ...options }) as unknown as Connection,
    errors: { isConnectionFailure, isServerUnusable, isReadOnly: isServerReadOnly, hasTooManyConnections },
    writes: primary === undefined,
    onServerChange,
  });
  let fallbackReads = 0;
  const fallback = (): Driver | undefined => {
    if (primary) fallbackReads += 1;
    return primary;
  };
  return {
    dialect: mysql,
    // Answers of the primary in place of a replica also come from a different server.
    cluster: { ...servers, era: () => servers.era() + fallbackReads },
    driver: serverDriver(servers, fallback),
    builderFor: builders('mysql2'),
  };
}

/** Options of every connection. */
const CONNECTION: ConnectionOptions = {
  charset: SESSION_COLLATION,
  timezone: 'Z',
  // Dates are text from the database to the caller, zero dates included.
  dateStrings: true,
  // bigint and decimal as numbers; a bigint beyond 2^53 stays text, so that no digits are lost.
  supportBigNumbers: true,
  bigNumberStrings: false,
  decimalNumbers: true,
  // JSON as text: plugins may have JSON columns.
  jsonStrings: true,
  // An object that is bound by mistake must not become `key = value` pairs.
  stringifyObjects: true,
  multipleStatements: false,
};

/** Creates the driver. `fallback`: returns the driver to use if these servers do not answer. */
function serverDriver(servers: MysqlServers, fallback: () => Driver | undefined): Driver {
  const listeners = createListeners();
  const brokenConnections = new WeakSet<Connection>();
  const pool = poolOf(servers, brokenConnections);
  const context: SessionContext = { servers, brokenConnections, pool, notify: listeners.notify };

  /** Returns a connection without waiting if a server is in use and has an idle connection. */
  const connected = (): Connection | Promise<Connection> => (servers.isReady() ? pool.idle() : undefined) ?? connectionInTime();
  const connectionInTime = async (): Promise<Connection> => {
    try {
      await servers.ready();
      return await pool.acquire();
    } catch (error) {
      throw asUnavailable(mysql, error);
    }
  };

  const driver: Driver = {
    connections: pool.counts,
    acquire: () => {
      const connection = connected();
      return connection instanceof Promise ? connection.then((one) => sessionOn(one, context)) : sessionOn(connection, context);
    },
    fallbackAfter: (error) => (isServerError(error) ? (servers.place().of > 1 ? driver : fallback()) : undefined),
    // The server checks the user's rights even though the statement inserts no row.
    checkWritable: async (prefix) => {
      const posts = `\`${prefix}posts\``;
      await runOutsideTransaction(
        driver,
        plainQuery(`INSERT INTO ${posts} (ID) SELECT p.ID FROM ${posts} p WHERE 1 = 0 ON DUPLICATE KEY UPDATE ID = VALUES(ID)`),
      );
    },
    snapshot: async () => {
      const connection = await connected();
      const session = sessionOn(connection, context);
      try {
        await session.query(plainQuery('SET TRANSACTION ISOLATION LEVEL repeatable read'));
        await session.begin();
      } catch (error) {
        session.release();
        throw error;
      }
      return snapshotOn(connection, session, context);
    },
    listen: listeners.add,
    close: async () => {
      servers.close();
      await pool.close();
    },
  };
  return driver;
}

/** Whether another server may succeed after this error. */
const isServerError = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable &&
  (error.reason === 'unreachable' || (error.reason === 'read-only' && isServerReadOnly(error.cause)));

/** The objects that sessions work with. */
interface SessionContext {
  readonly servers: MysqlServers;
  readonly brokenConnections: WeakSet<Connection>;
  readonly pool: ConnectionPool<Connection>;
  readonly notify: (query: Query) => Query;
}

function sessionOn(connection: Connection, context: SessionContext): Session {
  const { servers, brokenConnections, pool } = context;
  return {
    query: (query) => queryOn(connection, query, context),
    begin: async () => {
      await queryOn(connection, plainQuery('BEGIN'), context);
    },
    afterCommit: () => servers.afterCommit(connection),
    discard: () => {
      brokenConnections.add(connection);
      connection.destroy();
    },
    release: () => pool.release(connection),
  };
}

async function queryOn(connection: Connection, query: Query, { servers, brokenConnections, notify }: SessionContext): Promise<Outcome> {
  const finish = servers.trackQuery(connection);
  try {
    const outcome = await outcomeFrom(connection, notify(query));
    finish();
    return outcome;
  } catch (error) {
    finish(error);
    if (isFatal(error)) brokenConnections.add(connection);
    if (isAssignedIdTaken(error, query.bindings)) throw new DatabaseUnavailable('busy', withoutStatement(error));
    const refused = asTextNotStorable(error, query);
    throw refused instanceof ApiError ? refused : asUnavailable(mysql, withoutStatement(refused));
  }
}

/** Creates the pool of connections to the server in use. `brokenConnections`: those that can't be used any more. */
const poolOf = (servers: MysqlServers, brokenConnections: WeakSet<Connection>): ConnectionPool<Connection> =>
  createPool<Connection>({
    open: async () => {
      const connection = await servers.connect();
      const markBroken = () => brokenConnections.add(connection);
      connection.on('error', markBroken);
      connection.stream.once('close', markBroken);
      return connection;
    },
    close: closeGracefully,
    isUsable: (connection) => !brokenConnections.has(connection) && servers.isInUse(connection),
    ...{ min: 0, max: MAX_CONNECTIONS, acquireTimeoutMs: ACQUIRE_TIMEOUT_MS, idleTimeoutMs: IDLE_TIMEOUT_MS },
  });

/** Runs one statement; throws the library's error. */
async function outcomeFrom(connection: Connection, query: Query): Promise<Outcome> {
  const { sql, bindings } = query;
  if (hasLongTexts(query)) await refuseTooLong(connection, query);
  const [result, fields] = await new Promise<[unknown, unknown]>((resolve, reject) => {
    connection.query(sql, bindings, (error, ...answer) => (error ? reject(error) : resolve([answer[0], answer[1]])));
  });
  if (hasWarnings(result)) await refuseDataLoss(connection, query);
  return outcomeOf(result, fields);
}

/** Converts the library's result: a list of rows, or a header with the effects of a write. */
function outcomeOf(result: unknown, fields: unknown): Outcome {
  const native = [result, fields];
  if (Array.isArray(result)) return { rows: result, id: 0, changed: 0, native };
  const { insertId: id, affectedRows: changed } = result as { insertId: number; affectedRows: number };
  return { rows: [], id, changed, native };
}

/** A transaction whose first query determines what it sees. */
function snapshotOn(connection: Connection, session: Session, context: SessionContext): Snapshot {
  return {
    ask: async <Row>(sql: string, bindings: readonly unknown[] = []) =>
      (await session.query({ method: 'rows', sql, bindings })).rows as Row[],
    stream: (table) => streamOf(connection, table, context),
    close: async () => {
      try {
        await session.query(plainQuery('ROLLBACK'));
      } finally {
        session.release();
      }
    },
  };
}

/** Streams all rows of a table. Each row shows that the server still answers. */
async function* streamOf(connection: Connection, table: string, { servers, brokenConnections }: SessionContext): AsyncIterable<unknown> {
  const finish = servers.trackQuery(connection);
  const rows = connection
    .query({
      sql: `SELECT * FROM \`${table}\``,
      // Decimals as text: as numbers they would have only about 15 digits.
      typeCast: (field, next) => (field.type === 'NEWDECIMAL' ? field.string() : next()),
    })
    .stream();
  // The library tells only the connection, and not the stream, that the connection is lost.
  const endRows = (error: unknown): void => rows.destroy(error);
  connection.on('error', endRows);
  let failure: unknown;
  try {
    for await (const row of rows) {
      servers.noteAnswer();
      yield row;
    }
  } catch (error) {
    failure = error;
    if (isFatal(error)) brokenConnections.add(connection);
    throw asUnavailable(mysql, withoutStatement(error));
  } finally {
    connection.off('error', endRows);
    finish(failure);
  }
}

/** Closes a connection with a goodbye to the server, without requiring a response. */
async function closeGracefully(connection: Connection): Promise<void> {
  await new Promise<void>((resolve) => {
    connection.end(() => resolve());
  });
}
