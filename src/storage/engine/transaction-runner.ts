import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseUnavailable, type Engine } from './dialect.ts';
import { createQueue } from './queue.ts';
import { mayRepeat, retry } from './retry.ts';
import { beginShared, type Executor, type SharedTransaction } from './transaction.ts';

/** Runs a piece of work as one transaction: either everything is written or nothing. */
export type RunTransaction = <T>(work: (transaction: Executor) => Promise<T>) => Promise<T>;

/** A request that finds no server within this time is refused. */
const MAX_SERVER_SEARCH_MS = 3000;

/**
 * Creates the function that runs the transactions of an engine, as many at a time as the database has writers. Other
 * transactions wait in a queue; some of them continue in the transaction that is open. After a conflict the work runs
 * again.
 */
export function transactionRunner({ driver, dialect, builderFor }: Omit<Engine, 'cluster'>): RunTransaction {
  const { maxWriters, groupCommit, maxRetryPauseMs } = dialect;
  const queue = createQueue<SharedTransaction>(maxWriters);

  /**
   * Whether to try again: after a conflict, or if the server is lost and there is another one. Never after an uncertain
   * COMMIT, since the work could be written twice.
   */
  const isWorthwhile = (error: unknown, waited: number): boolean =>
    mayRepeat(error, waited) ??
    (error instanceof DatabaseUnavailable && driver.fallbackAfter(error) === driver && waited < MAX_SERVER_SEARCH_MS);

  /** Whether the next piece of work in the queue continues in this transaction. */
  const acceptsMore = ({ pieces, age }: SharedTransaction): boolean =>
    queue.length() > 0 && pieces() < groupCommit.maxPieces && age() < groupCommit.maxMs;

  /**
   * Yields to the event loop. Before COMMIT, requests that have arrived can enter the queue; after it, other processes
   * can get access to the database.
   */
  const yieldToOthers = async (): Promise<void> => {
    if (groupCommit.maxPieces > 1) await nextTurn();
  };

  return async (work) => {
    let shared = await queue.enter();
    let result: Awaited<ReturnType<typeof work>>;
    try {
      result = await retry(maxRetryPauseMs, isWorthwhile, async () => {
        if (!shared?.isOpen()) shared = await beginShared(await driver.acquire(), { dialect, builderFor });
        const pieceResult = await shared.run(work);
        if (!acceptsMore(shared)) await yieldToOthers();
        if (!acceptsMore(shared)) await shared.commit();
        return pieceResult;
      });
    } finally {
      // The earlier pieces of work learn the outcome from `written`, even if this one failed.
      if (shared?.isOpen() && !acceptsMore(shared)) await shared.commit().catch(() => undefined);
      if (!shared?.isOpen() && queue.length() > 0) await yieldToOthers();
      queue.leave(shared?.isOpen() ? shared : undefined);
    }
    await shared?.written;
    return result;
  };
}
