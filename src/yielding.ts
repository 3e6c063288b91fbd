import { setImmediate as nextTurn } from 'node:timers/promises';

/** After this many milliseconds other requests get their turn. */
const MAX_TURN_MS = 20;

/**
 * Applies `work` to all items, in order. If it takes long, other requests are served between two items, since a page of
 * records may hold very long texts.
 */
export async function mapYielding<Item, Result>(items: readonly Item[], work: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = [];
  let begun = performance.now();
  for (const item of items) {
    results.push(work(item));
    if (performance.now() - begun < MAX_TURN_MS) continue;
    await nextTurn();
    begun = performance.now();
  }
  return results;
}

/** Limits the number of concurrent runs of `work`; further ones wait in order of arrival. */
export function limitConcurrency(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= limit) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work();
    } finally {
      const first = waiting.shift();
      if (first) first();
      else running -= 1;
    }
  };
}
