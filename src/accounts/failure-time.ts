import { setTimeout as sleep } from 'node:timers/promises';

/** Failed attempts are answered after this time, whatever was computed for them. */
const MIN_FAILURE_MS = 60;
/**
 * If old hashes take longer, all failed attempts take as long as the slowest recent one with a margin, up to a limit,
 * so that the time reveals nothing about the name.
 */
const SLOWEST_FACTOR = 1.5;
const MAX_FAILURE_MS = 10_000;
const RECENT_MS = 60_000;

/** Duration of the slowest recent failed attempt with a slow hash, and its end, both in milliseconds. */
interface SlowestFailure {
  readonly durationMs: number;
  readonly failedAt: number;
}

const slowestBySite = new WeakMap<object, SlowestFailure>();

/**
 * Waits until a failed attempt may be answered, so that all failures at a site take the same time. `startedAt`: by
 * `performance.now()`; `wasHashed`: whether a slow hash was computed for this attempt.
 */
export async function delayFailure(
  site: object,
  { startedAt, wasHashed }: { readonly startedAt: number; readonly wasHashed: boolean },
): Promise<void> {
  const now = performance.now();
  const slowest = slowestBySite.get(site);
  const recentMs = slowest && now - slowest.failedAt < RECENT_MS ? slowest.durationMs : 0;
  if (wasHashed && now - startedAt > recentMs) slowestBySite.set(site, { durationMs: now - startedAt, failedAt: now });
  const answerAt = startedAt + Math.max(MIN_FAILURE_MS, Math.min(SLOWEST_FACTOR * recentMs, MAX_FAILURE_MS));
  await sleep(Math.max(0, answerAt - now));
}
