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
