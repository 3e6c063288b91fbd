import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 300_000;
const POLL_INTERVAL_MS = 20;

/**
 * Waits until `condition()`, which may be asynchronous, returns a truthy value, and resolves with it. Throws an error
 * with `what` after `timeoutMs`, so that no test waits forever for a process that is gone or stuck.
 */
export async function until(what, condition, { timeoutMs = TIMEOUT_MS, pollMs = POLL_INTERVAL_MS } = {}) {
  const end = performance.now() + timeoutMs;
  for (let found = await condition(); ; found = await condition()) {
    if (found) return found;
    if (performance.now() > end) throw new Error(`${what} did not come within ${Math.round(timeoutMs / 1000)} s`);
    await sleep(pollMs);
  }
}
