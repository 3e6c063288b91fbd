import { withTimeout } from '../../host/timeout.ts';
import type { Builder } from './builder.ts';
import { DatabaseUnavailable, type Dialect, type Engine } from './dialect.ts';
import { type Outcome, plainQuery, type Query, type RunQuery, resultOf, type Session } from './driver.ts';

/** Runs statements, either outside of transactions or in one. */
export interface Executor {
  /** Runs one statement. */
  readonly run: RunQuery;
  /** Builds statements that this executor runs. */
  readonly builder: Builder;
}

/** Time that a server which does not respond may take to roll back. */
const ROLLBACK_TIMEOUT_MS = 5000;

/**
 * A database transaction in which several pieces of work run one after the other. If a piece fails, its writes are
 * undone. One COMMIT writes all other pieces and flushes them to disk together. If no further work is waiting, there is
 * only one piece.
 *
 * Once the database has ended the transaction by itself (a deadlock, a full disk, a lost connection), all further
 * statements are refused: they would be committed although the earlier writes are lost.
 */
export interface SharedTransaction {
  /** Resolves when everything is known to be written. Rejects with the error of the database. */
  readonly written: Promise<void>;
  /** Whether another piece of work or COMMIT may follow. */
  readonly isOpen: () => boolean;
  /** Number of pieces of work in the transaction. */
  readonly pieces: () => number;
  /** Time for which it has been open, in milliseconds. */
  readonly age: () => number;
  /**
   * Runs a piece of work in the transaction. Its result is final only when `written` has resolved.
   *
   * @throws DatabaseUnavailable if the database failed, even if `work` caught that error; otherwise whatever `work`
   * throws
   */
  readonly run: <T>(work: (transaction: Executor) => Promise<T>) => Promise<T>;
  /**
   * Commits everything, or nothing.
   *
   * @throws the error of the database
   */
  readonly commit: () => Promise<void>;
}

/** The parts of its engine that a transaction needs. */
type TransactionContext = Pick<Engine, 'dialect' | 'builderFor'>;

/**
 * Begins a shared transaction on a connection, which is released when the transaction ends.
 *
 * @throws DatabaseUnavailable
 */
export async function beginShared(session: Session, context: TransactionContext): Promise<SharedTransaction> {
  try {
    await session.begin();
  } catch (error) {
    session.release();
    throw error;
  }
  const startedAt = performance.now();
  const connection = failFast(session);
  const end = ending();
  const open: OpenTransaction = { session, context, connection, end, pieces: 0 };
  return {
    written: end.written,
    isOpen: () => !end.isReached,
    pieces: () => open.pieces,
    age: () => performance.now() - startedAt,
    run: (work) => runPiece(open, work),
    commit: () => commitAll(open),
  };
}

/** State of a transaction that has begun. */
interface OpenTransaction {
  readonly session: Session;
  readonly context: TransactionContext;
  readonly connection: ReturnType<typeof failFast>;
  readonly end: Ending;
  /** Number of pieces of work in the transaction. */
  pieces: number;
}

async function runPiece<T>(open: OpenTransaction, work: (transaction: Executor) => Promise<T>): Promise<T> {
  const { connection, context } = open;
  const isFirst = open.pieces === 0;
  const piece = pieceOf(connection.query, context);
  try {
    if (!isFirst) await connection.query(plainQuery('SAVEPOINT piece'));
    const result = await work(piece.transaction);
    const failure = connection.failure();
    if (failure) throw failure;
    piece.end();
    if (!isFirst) await connection.query(plainQuery('RELEASE piece'));
    open.pieces += 1;
    return result;
  } catch (error) {
    piece.end();
    await undoPiece(open, error);
    throw connection.failure() ?? error;
  }
}

async function commitAll(open: OpenTransaction): Promise<void> {
  const { session, context, connection, end } = open;
  try {
    await connection.query(plainQuery('COMMIT'));
  } catch (error) {
    const outcome = outcomeOf(context.dialect, error);
    await undo(open, outcome);
    throw outcome;
  }
  await session.afterCommit();
  close(open);
  end.settle();
}

/** Undoes the last piece of work. The earlier pieces are kept if the database allows it. */
async function undoPiece(open: OpenTransaction, reason: unknown): Promise<void> {
  const { connection, pieces } = open;
  const failure = connection.failure();
  if (pieces === 0 || failure) return undo(open, failure ?? reason);
  try {
    await connection.query(plainQuery('ROLLBACK TO piece'));
    await connection.query(plainQuery('RELEASE piece'));
  } catch (error) {
    await undo(open, error);
  }
}

async function undo(open: OpenTransaction, reason: unknown): Promise<void> {
  await rollBack(open.session);
  close(open);
  open.end.settle(reason);
}

function close({ session, end }: OpenTransaction): void {
  end.isReached = true;
  session.release();
}

type RunOutcome = (query: Query) => Promise<Outcome>;

/**
 * Runs statements until the database has ended the transaction by itself. After that, all statements fail with the
 * error of the database.
 */
function failFast(session: Session): { readonly query: RunOutcome; readonly failure: () => DatabaseUnavailable | undefined } {
  let failure: DatabaseUnavailable | undefined;
  return {
    failure: () => failure,
    query: async (query) => {
      if (failure) throw failure;
      try {
        return await session.query(query);
      } catch (error) {
        if (error instanceof DatabaseUnavailable) failure ??= error;
        throw error;
      }
    },
  };
}

/** The end of a transaction, with a promise for it. */
interface Ending {
  isReached: boolean;
  readonly written: Promise<void>;
  /** Settles the promise; rejects it if there is a reason. */
  readonly settle: (reason?: unknown) => void;
}

function ending(): Ending {
  let settle: Ending['settle'] = () => {};
  const written = new Promise<void>((resolve, reject) => {
    settle = (reason) => (reason === undefined ? resolve() : reject(reason));
  });
  // Callers that have a piece of work in the transaction handle the rejection themselves.
  written.catch(() => undefined);
  return { isReached: false, written, settle };
}

/** Creates the executor for a piece of work. It can be used until the piece ends. */
function pieceOf(runOutcome: RunOutcome, { builderFor }: TransactionContext): { readonly transaction: Executor; readonly end: () => void } {
  let isOver = false;
  let builder: Builder | undefined;
  const run: RunQuery = async (query) => {
    if (isOver) throw new Error(`the transaction is over: ${query.sql}`);
    return resultOf(query, await runOutcome(query));
  };
  const transaction: Executor = {
    run,
    get builder() {
      builder ??= builderFor(run);
      return builder;
    },
  };
  return {
    transaction,
    end: () => {
      isOver = true;
    },
  };
}

/**
 * Rolls the transaction back, unless the database has already done so. If the connection does not respond, it is
 * closed, which ends the transaction as well.
 */
async function rollBack(session: Session): Promise<void> {
  try {
    await withTimeout(ROLLBACK_TIMEOUT_MS, session.query(plainQuery('ROLLBACK')));
  } catch {
    session.discard();
  }
}

/** Returns the error of a failed COMMIT. The work may run again only if it is certain that nothing was written. */
function outcomeOf(dialect: Dialect, error: unknown): unknown {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  return dialect.isRolledBack(cause) ? error : new DatabaseUnavailable('uncertain', cause);
}
