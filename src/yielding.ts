import { setImmediate as nextTurn } from 'node:timers/promises';

/** After this many milliseconds other requests get their turn. */
const MAX_TURN_MS = 20;

/**
 * Applies `work` to all items, in order. If it takes long, other requests are served between two items, since a page of
 * records may hold very long texts.
 */
export async function mapYielding<Item, Result>(items: readonly Item[], work: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = [];
  const endOfTurn = turnKeeper();
  for (const item of items) {
    results.push(work(item));
    const pause = endOfTurn();
    if (pause) await pause;
  }
  return results;
}

/**
 * Creates a function to call between the steps of something long. If its turn is over, it returns a promise that
 * resolves in the next one, after other requests have been served.
 */
export function turnKeeper(): () => Promise<void> | undefined {
  let start = performance.now();
  const restart = () => {
    start = performance.now();
  };
  return () => (performance.now() - start < MAX_TURN_MS ? undefined : nextTurn().then(restart));
}

/** Limits the number of concurrent runs of `work`; further ones wait in order of arrival. */
export function limitConcurrency(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let runningCount = 0;
  const queue: (() => void)[] = [];
  return async (work) => {
    if (runningCount >= limit) await new Promise<void>((start) => queue.push(start));
    else runningCount += 1;
    try {
      return await work();
    } finally {
      const startNext = queue.shift();
      if (startNext) startNext();
      else runningCount -= 1;
    }
  };
}
