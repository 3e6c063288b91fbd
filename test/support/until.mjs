import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 300_000;
const LOOK_MS = 20;

/**
 * Waits until `isSo()`, which may be a promise, and gives what it gave. Throws that `what` did not come where it takes
 * longer than `patienceMs`: nothing waits for ever for a process that is gone or stuck.
 */
export async function until(what, isSo, { patienceMs = PATIENCE_MS, lookMs = LOOK_MS } = {}) {
  const end = performance.now() + patienceMs;
  for (let found = await isSo(); ; found = await isSo()) {
    if (found) return found;
    if (performance.now() > end) throw new Error(`${what} did not come within ${Math.round(patienceMs / 1000)} s`);
    await sleep(lookMs);
  }
}
