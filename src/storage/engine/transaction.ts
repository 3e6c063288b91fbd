import { withTimeout } from '../../host/timeout.ts';
import type { Builder } from './builder.ts';
import { DatabaseUnavailable, type Dialect, type Engine } from './dialect.ts';
import { type Outcome, plain, type Query, type RunQuery, resultOf, type Session } from './driver.ts';

/** Runs statements: outside of transactions, or in one. */
export interface Executor {
  /** Runs one statement. */
  readonly run: RunQuery;
  /** Builds statements that it runs. */
  readonly builder: Builder;
}

/** How long a server that is gone is given to undo what was begun. */
const ROLLBACK_MS = 5000;

/**
 * A transaction of the database in which one piece of work follows the other. What one of them did is undone when it
 * fails; one COMMIT writes what the others did, and flushes it to disk once for all. Where nobody waits there is one
 * piece alone.
 *
 * Once the database has ended the transaction by itself (a deadlock, a full disk, a lost connection) everything that
 * follows is refused: it would be written for good, though what came before is lost.
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
  readonly take: <T>(work: (transaction: Executor) => Promise<T>) => Promise<T>;
  /**
   * Writes everything for good, or nothing.
   *
   * @throws what the database said
   */
  readonly commit: () => Promise<void>;
}

/** What a transaction needs of its engine. */
type Means = Pick<Engine, 'dialect' | 'builderFor'>;

/**
 * Begins one on a connection of its own, which is released with its end.
 *
 * @throws DatabaseUnavailable
 */
export async function beginShared(session: Session, means: Means): Promise<SharedTransaction> {
  try {
    await session.begin();
  } catch (error) {
    session.release();
    throw error;
  }
  const begun = performance.now();
  const connection = failFast(session);
  const end = ending();
  const open: OpenTransaction = { session, means, connection, end, pieces: 0 };
  return {
    written: end.written,
    isOpen: () => !end.isReached,
    pieces: () => open.pieces,
    age: () => performance.now() - begun,
    take: (work) => takePiece(open, work),
    commit: () => commitAll(open),
  };
}

/** A transaction that was begun. */
interface OpenTransaction {
  readonly session: Session;
  readonly means: Means;
  readonly connection: ReturnType<typeof failFast>;
  readonly end: Ending;
  /** How many pieces of work it holds. */
  pieces: number;
}

async function takePiece<T>(open: OpenTransaction, work: (transaction: Executor) => Promise<T>): Promise<T> {
  const { connection, means } = open;
  const isFirst = open.pieces === 0;
  const piece = pieceOf(connection.query, means);
  try {
    if (!isFirst) await connection.query(plain('SAVEPOINT piece'));
    const result = await work(piece.transaction);
    const lost = connection.lost();
    if (lost) throw lost;
    piece.end();
    if (!isFirst) await connection.query(plain('RELEASE piece'));
    open.pieces += 1;
    return result;
  } catch (error) {
    piece.end();
    await undoPiece(open, error);
    throw connection.lost() ?? error;
  }
}

async function commitAll(open: OpenTransaction): Promise<void> {
  const { session, means, connection, end } = open;
  try {
    await connection.query(plain('COMMIT'));
  } catch (error) {
    const outcome = outcomeOf(means.dialect, error);
    await undo(open, outcome);
    throw outcome;
  }
  await session.committed();
  close(open);
  end.settle();
}

/** Undoes what the last piece did; those before it stay, where the database lets them. */
async function undoPiece(open: OpenTransaction, reason: unknown): Promise<void> {
  const { connection, pieces } = open;
  const lost = connection.lost();
  if (pieces === 0 || lost) return undo(open, lost ?? reason);
  try {
    await connection.query(plain('ROLLBACK TO piece'));
    await connection.query(plain('RELEASE piece'));
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
 * Runs statements until the database has ended the transaction by itself. From then on all of them fail with what it
 * said.
 */
function failFast(session: Session): { readonly query: RunOutcome; readonly lost: () => DatabaseUnavailable | undefined } {
  let lost: DatabaseUnavailable | undefined;
  return {
    lost: () => lost,
    query: async (query) => {
      if (lost) throw lost;
      try {
        return await session.query(query);
      } catch (error) {
        if (error instanceof DatabaseUnavailable) lost ??= error;
        throw error;
      }
    },
  };
}

/** The end of a transaction, and the promise of it. */
interface Ending {
  isReached: boolean;
  readonly written: Promise<void>;
  /** Settles the promise; it fails where there is a reason. */
  readonly settle: (reason?: unknown) => void;
}

function ending(): Ending {
  let settle: Ending['settle'] = () => {};
  const written = new Promise<void>((resolve, reject) => {
    settle = (reason) => (reason === undefined ? resolve() : reject(reason));
  });
  // Those who have a piece in it ask for themselves.
  written.catch(() => undefined);
  return { isReached: false, written, settle };
}

/** What a piece of work is given, until it is over. */
function pieceOf(query: RunOutcome, { builderFor }: Means): { readonly transaction: Executor; readonly end: () => void } {
  let isOver = false;
  let builder: Builder | undefined;
  const run: RunQuery = async (asked) => {
    if (isOver) throw new Error(`the transaction is over: ${asked.sql}`);
    return resultOf(asked, await query(asked));
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
 * Undoes what was begun, as far as the database has not done so. A connection that does not answer is given up, and
 * what it began with it.
 */
async function rollBack(session: Session): Promise<void> {
  try {
    await withTimeout(ROLLBACK_MS, session.query(plain('ROLLBACK')));
  } catch {
    session.discard();
  }
}

/** The error of a failed COMMIT. Only if it is certain that nothing was written may the work be done again. */
function outcomeOf(dialect: Dialect, error: unknown): unknown {
  const said = error instanceof DatabaseUnavailable ? error.cause : error;
  return dialect.isUndone(said) ? error : new DatabaseUnavailable('uncertain', said);
}
