import { setImmediate as nextTurn } from 'node:timers/promises';

/** After so many milliseconds others get their turn. */
const TURN_MS = 20;

/**
 * What `work` gives for each of these, in order. Where it takes long, others are served between two of them: a page of
 * records may hold as much text as people like to write.
 */
export async function inTurns<Item, Result>(items: readonly Item[], work: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = [];
  let begun = performance.now();
  for (const item of items) {
    results.push(work(item));
    if (performance.now() - begun < TURN_MS) continue;
    await nextTurn();
    begun = performance.now();
  }
  return results;
}

/** Lets this many works run at a time; the others wait, first come, first served. */
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
