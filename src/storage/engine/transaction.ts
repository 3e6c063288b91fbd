import type { Knex } from 'knex';
import type { Client, Compiled } from 'knex/lib/execution/runner.js';
import makeKnex from 'knex/lib/knex-builder/make-knex.js';
import { DatabaseUnavailable, type Dialect } from './dialect.ts';
import { within as inTime } from './within.ts';

/** What a piece of work asks and writes through. */
export interface Transaction {
  /** Runs one statement in it and gives what knex would give for its method. */
  readonly run: (query: Compiled) => Promise<unknown>;
  /** knex within it, made when it is first asked for: that takes as long as a few statements. */
  readonly knex: Knex;
}

/** A server that is gone is given so long to undo what was begun. */
const ROLLBACK_MS = 5000;

/**
 * A transaction of the database in which one piece of work follows the other. What one of them did is undone when it fails; one COMMIT writes what the
 * others did, and flushes it to disk once for all. Where nobody waits there is one piece alone.
 *
 * Once the database has ended the transaction by itself (a deadlock, a full disk, a lost connection) everything that follows is refused: it would be
 * written for good, though what came before is lost.
 */
export interface SharedTransaction {
  /** Settled when it is known whether everything was written. Fails with what the database said. */
  readonly written: Promise<void>;
  /** Whether another piece may follow, or COMMIT. */
  readonly isOpen: () => boolean;
  /** How many pieces of work it holds. */
  readonly pieces: () => number;
  /** For how many milliseconds it has been open. */
  readonly age: () => number;
  /**
   * Runs a piece of work in it. What it gives counts once everything is `written`.
   *
   * @throws DatabaseUnavailable where the database failed, even if `work` passed over it; else whatever `work` throws
   */
  readonly take: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>;
  /**
   * Writes everything for good, or nothing.
   *
   * @throws what the database said
   */
  readonly commit: () => Promise<void>;
}

/**
 * Begins one on a connection of its own.
 *
 * @throws DatabaseUnavailable
 */
export async function beginShared(client: Client, dialect: Dialect): Promise<SharedTransaction> {
  const connection = await client.acquireConnection();
  try {
    await client.begin(connection);
  } catch (error) {
    await client.releaseConnection(connection);
    throw error;
  }
  const begun = performance.now();
  let pieces = 0;
  let isOpen = true;
  let lost: DatabaseUnavailable | undefined;
  let told = { yes: () => {}, no: (_: unknown) => {} };
  const written = new Promise<void>((yes, no) => {
    told = { yes, no };
  });
  // Those who have a piece in it ask for themselves.
  written.catch(() => undefined);

  const query = async (compiled: Compiled | string): Promise<unknown> => {
    if (lost) throw lost;
    try {
      return await client.query(connection, compiled);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) lost ??= error;
      throw error;
    }
  };
  const end = async (): Promise<void> => {
    isOpen = false;
    await client.releaseConnection(connection);
  };
  const undo = async (reason: unknown): Promise<void> => {
    await rollBack(client, connection);
    await end();
    told.no(reason);
  };
  /** Undoes what the last piece did; those before it stay, where the database lets them. */
  const undoPiece = async (reason: unknown): Promise<void> => {
    if (pieces === 0 || lost) return undo(lost ?? reason);
    try {
      await query('ROLLBACK TO piece');
      await query('RELEASE piece');
    } catch (error) {
      await undo(error);
    }
  };

  return {
    written,
    isOpen: () => isOpen,
    pieces: () => pieces,
    age: () => performance.now() - begun,
    take: async (work) => {
      const isFirst = pieces === 0;
      let over = false;
      const ask = async (compiled: Compiled): Promise<unknown> => {
        if (over) throw new Error(`the transaction is over: ${compiled.sql}`);
        return query(compiled);
      };
      try {
        if (!isFirst) await query('SAVEPOINT piece');
        const result = await work(within(client, connection, ask));
        if (lost) throw lost;
        over = true;
        if (!isFirst) await query('RELEASE piece');
        pieces += 1;
        return result;
      } catch (error) {
        over = true;
        await undoPiece(error);
        throw lost ?? error;
      }
    },
    commit: async () => {
      try {
        await query('COMMIT');
      } catch (error) {
        const outcome = outcomeOf(dialect, error);
        await undo(outcome);
        throw outcome;
      }
      await client.committed?.(connection);
      await end();
      told.yes();
    },
  };
}

/** What a piece of work is given. */
function within(client: Client, connection: Connection, query: (compiled: Compiled) => Promise<unknown>): Transaction {
  let built: Knex | undefined;
  return {
    run: async (compiled) => client.processResponse(await query(compiled), undefined),
    get knex() {
      built ??= knexOn(client, connection, query);
      return built;
    },
  };
}

/** Undoes what was begun, as far as the database has not done so. A connection that does not answer is given up, and what it began with it. */
async function rollBack(client: Client, connection: Connection): Promise<void> {
  try {
    await inTime(ROLLBACK_MS, client.query(connection, 'ROLLBACK'));
  } catch {
    connection.destroy?.();
  }
}

/** The error of a failed COMMIT. Only if it is certain that nothing was written may the work be done again. */
function outcomeOf(dialect: Dialect, error: unknown): unknown {
  const said = error instanceof DatabaseUnavailable ? error.cause : error;
  return dialect.isUndone(said) ? error : new DatabaseUnavailable('uncertain', said);
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
    elsewhere: () => undefined,
    query: (_: Connection, compiled: Compiled) => query(compiled),
  });
  return makeKnex(bound);
}

/** A connection of a driver; MySQL's can be given up. */
interface Connection {
  destroy?(): void;
}
