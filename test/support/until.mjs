import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 300_000;
const LOOK_MS = 20;

/**
 * Waits until `isSo()`, which may be asynchronous, returns a truthy value, and resolves with it. Throws an error with
 * `what` after `patienceMs`, so that no test waits forever for a process that is gone or stuck.
 */
export async function until(what, isSo, { patienceMs = PATIENCE_MS, lookMs = LOOK_MS } = {}) {
  const end = performance.now() + patienceMs;
  for (let found = await isSo(); ; found = await isSo()) {
    if (found) return found;
    if (performance.now() > end) throw new Error(`${what} did not come within ${Math.round(patienceMs / 1000)} s`);
    await sleep(lookMs);
  }
}
