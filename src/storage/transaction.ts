import type { Knex } from 'knex';
import type { Client, Compiled } from 'knex/lib/execution/runner.js';
import makeKnex from 'knex/lib/knex-builder/make-knex.js';
import { DatabaseUnavailable } from './dialect.ts';

/** A transaction that is open. */
export interface Transaction {
  /** Runs one statement in it and gives what knex would give for its method. */
  readonly run: (query: Compiled) => Promise<unknown>;
  /** knex within it, made when it is first asked for: that takes as long as a few statements. */
  readonly knex: Knex;
}

/** A server that is gone is given so long to undo what was begun. */
const ROLLBACK_MS = 5000;

/**
 * Runs `work` as one transaction of a client: all of it is written or nothing. Once the database has ended the transaction by itself (a deadlock, a full
 * disk, a lost connection) everything that follows is refused: it would be written for good, though what came before is lost.
 *
 * @throws DatabaseUnavailable where the database failed, even if `work` passed over it; else whatever `work` throws
 */
export async function transact<T>(client: Client, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const connection = await client.acquireConnection();
  let over = false;
  let lost: DatabaseUnavailable | undefined;
  const query = async (compiled: Compiled): Promise<unknown> => {
    if (over) throw new Error(`the transaction is over: ${compiled.sql}`);
    if (lost) throw lost;
    try {
      return await client.query(connection, compiled);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) lost ??= error;
      throw error;
    }
  };
  let built: Knex | undefined;
  const transaction: Transaction = {
    run: async (compiled) => client.processResponse(await query(compiled), undefined),
    get knex() {
      built ??= knexOn(client, connection, query);
      return built;
    },
  };
  try {
    await client.begin(connection);
    try {
      const result = await work(transaction);
      if (lost) throw lost;
      over = true;
      await client.query(connection, 'COMMIT');
      return result;
    } catch (error) {
      over = true;
      await rollBack(client, connection);
      throw lost ?? error;
    }
  } finally {
    await client.releaseConnection(connection);
  }
}

/** Undoes what was begun, as far as the database has not done so. A connection that does not answer is given up, and what it began with it. */
async function rollBack(client: Client, connection: Connection): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((_, reject) => {
    timer = setTimeout(reject, ROLLBACK_MS, new Error('no answer to ROLLBACK'));
  });
  try {
    await Promise.race([client.query(connection, 'ROLLBACK'), patience]);
  } catch {
    connection.destroy?.();
  } finally {
    clearTimeout(timer);
  }
}

/** knex whose statements all take this way. */
function knexOn(client: Client, connection: Connection, query: (compiled: Compiled) => Promise<unknown>): Knex {
  const { version, config, driver, connectionSettings, valueForUndefined, logger } = client;
  const bound = Object.assign(Object.create(Object.getPrototypeOf(client)), {
    version,
    config,
    driver,
    connectionSettings,
    valueForUndefined,
    logger,
    transacting: true,
    acquireConnection: async () => connection,
    releaseConnection: async () => undefined,
    query: (_: Connection, compiled: Compiled) => query(compiled),
  });
  return makeKnex(bound);
}

/** A connection of a driver; MySQL's can be given up. */
interface Connection {
  destroy?(): void;
}
