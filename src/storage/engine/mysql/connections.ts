import { withTimeout } from '../../../host/timeout.ts';
import type { MysqlServer } from './address.ts';

/** A query whose rows are streamed. `typeCast`: converts each value; `next` converts it as in other queries. */
interface StreamedQuery {
  readonly sql: string;
  readonly typeCast: (field: { readonly type: string; readonly string: () => string | null }, next: () => unknown) => unknown;
}

/** The part of the driver's connection that is used here. */
export interface Connection {
  query(sql: string, bindings: readonly unknown[], done: (error: unknown, result?: unknown, fields?: unknown) => void): void;
  query(options: StreamedQuery): { stream(): AsyncIterable<unknown> & { destroy(error: unknown): void } };
  once(event: 'connect', listener: () => void): void;
  on(event: 'error', listener: (error: unknown) => void): void;
  off(event: 'error', listener: (error: unknown) => void): void;
  end(done: (error: unknown) => void): void;
  destroy(): void;
  readonly stream: { once(event: 'close', listener: () => void): void; destroy(): void };
}

/** All open connections of a database, and the server that each of them leads to. */
export interface Connections {
  /**
   * Opens a connection and runs some statements on it, within `limit` milliseconds in total. Throws the driver's error,
   * or TimeoutError.
   */
  readonly open: (server: MysqlServer, limit: number, statements: readonly string[]) => Promise<Connection>;
  readonly serverOf: (connection: Connection) => MysqlServer | undefined;
  /** Closes a connection without notifying the server. Its pending queries fail. */
  readonly drop: (connection: Connection) => void;
  /** Drops all connections to a server. */
  readonly dropAll: (server: MysqlServer) => void;
}

/** Keeps track of connections and their servers. `connect`: starts connecting, with these options. */
export function trackConnections(connect: (options: object) => Connection): Connections {
  const leadsTo = new Map<Connection, MysqlServer>();
  // The failing queries learn of it before the `close` event, and may still need to know which server it was.
  const drop = (connection: Connection): void => connection.stream.destroy();
  return {
    open: async (server, limit, statements) => {
      const connection = connect({ ...server.options, connectTimeout: limit });
      leadsTo.set(connection, server);
      connection.stream.once('close', () => leadsTo.delete(connection));
      try {
        return await withTimeout(limit, begin(connection, statements));
      } catch (error) {
        drop(connection);
        throw error;
      }
    },
    serverOf: (connection) => leadsTo.get(connection),
    drop,
    dropAll: (server) => {
      for (const [connection, target] of leadsTo) if (target === server) drop(connection);
    },
  };
}

async function begin(connection: Connection, statements: readonly string[]): Promise<Connection> {
  await new Promise<void>((resolve, reject) => {
    connection.once('connect', resolve);
    // Later errors are passed to the queries; without a listener they would end the process.
    connection.on('error', reject);
  });
  for (const sql of statements) await ask(connection, sql);
  return connection;
}

/** Runs one statement and returns its rows. */
export function ask<Row>(connection: Connection, sql: string): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, [], (error, rows) => (error ? reject(error) : resolve(rows as Row[])));
  });
}
