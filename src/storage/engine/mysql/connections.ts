import { withTimeout } from '../../../host/timeout.ts';
import type { MysqlServer } from './address.ts';

/** A connection of the driver, as far as it is used here. */
export interface Connection {
  query(sql: string, bindings: readonly unknown[], done: (error: unknown, result?: unknown, fields?: unknown) => void): void;
  query(sql: string): { stream(): AsyncIterable<unknown> };
  once(event: 'connect', listener: () => void): void;
  on(event: 'error', listener: (error: unknown) => void): void;
  end(done: (error: unknown) => void): void;
  destroy(): void;
  readonly stream: { once(event: 'close', listener: () => void): void; destroy(): void };
}

/** All open connections of a database, and the server that each of them leads to. */
export interface Connections {
  /**
   * Opens one and runs some statements on it, within this many milliseconds in all. Throws the driver's error, or
   * NoAnswer.
   */
  readonly open: (server: MysqlServer, limit: number, statements: readonly string[]) => Promise<Connection>;
  readonly serverOf: (connection: Connection) => MysqlServer | undefined;
  /** Closes it without another word. What is asked on it fails. */
  readonly drop: (connection: Connection) => void;
  /** The same for all that lead to a server. */
  readonly dropAll: (server: MysqlServer) => void;
}

/** `connect`: begins to connect, with these options. */
export function trackConnections(connect: (options: object) => Connection): Connections {
  const leadsTo = new Map<Connection, MysqlServer>();
  // Those who ask something on it learn of it first, and may still want to know which server it was.
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
    // Later errors go to whoever asks something; without a listener they would end the process.
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
