import { setImmediate as nextTurn } from 'node:timers/promises';

/** After this many milliseconds other requests get their turn. */
const MAX_TURN_MS = 20;

/**
 * Applies `work` to all items, in order. If it takes long, other requests are served between two items, since a page of
 * records may hold very long texts.
 */
export async function mapYielding<Item, Result>(items: readonly Item[], work: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = [];
  let turnStart = performance.now();
  for (const item of items) {
    results.push(work(item));
    if (performance.now() - turnStart < MAX_TURN_MS) continue;
    await nextTurn();
    turnStart = performance.now();
  }
  return results;
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
