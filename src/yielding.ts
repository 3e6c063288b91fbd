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

type Limited = <T>(work: () => Promise<T>) => Promise<T>;

/** Limits the number of concurrent runs of `work`; further ones wait in order of arrival. */
export function limitConcurrency(limit: number): Limited {
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

/** Limits the number of concurrent runs of `work` for each key in the same way. Keys without runs are forgotten. */
export function limitConcurrencyOfEach(limit: number): <T>(key: number, work: () => Promise<T>) => Promise<T> {
  const keys = new Map<number, { readonly run: Limited; runs: number }>();
  return async (key, work) => {
    const own = keys.get(key) ?? { run: limitConcurrency(limit), runs: 0 };
    keys.set(key, own);
    own.runs += 1;
    try {
      return await own.run(work);
    } finally {
      own.runs -= 1;
      if (own.runs === 0) keys.delete(key);
    }
  };
}
