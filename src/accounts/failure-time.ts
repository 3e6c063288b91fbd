import { setTimeout as sleep } from 'node:timers/promises';

/** Failed attempts are answered after this time, whatever was computed for them. */
const MIN_FAILURE_MS = 60;
/**
 * If hashes take longer, all failed attempts take as long as the slowest known one with a margin, up to a limit, so
 * that the time reveals nothing about the name.
 */
const SLOWEST_FACTOR = 1.5;
const MAX_FAILURE_MS = 10_000;
/** Time for which a whole attempt counts, which may have waited for others, in milliseconds. */
const RECENT_MS = 60_000;
/**
 * Time for which the computation of its hashes counts. Somebody who guesses names slowly would otherwise find each time
 * that the slow ones are forgotten. The limit is lower, since a busy machine may make a single computation slow.
 */
const DAY_MS = 86_400_000;
const MAX_DAY_LONG_MS = 3000;

/** The longest of some durations, and the time of its end, both in milliseconds. */
interface Longest {
  readonly durationMs: number;
  readonly at: number;
}

/** The slowest failed attempts at a site: as a whole, and by the computation of their hashes. */
interface SlowFailures {
  readonly whole: Longest;
  readonly hashing: Longest;
}

const NONE: Longest = { durationMs: 0, at: 0 };
const slowestBySite = new WeakMap<object, SlowFailures>();

/** A failed attempt. `startedAt`, `now`: by `performance.now()`; `hashingMs`: time of its slow hashes, 0 if none. */
interface FailedAttempt {
  readonly startedAt: number;
  readonly now: number;
  readonly hashingMs: number;
}

/**
 * Waits until a failed attempt may be answered, so that all failures at a site take the same time. `startedAt`: by
 * `performance.now()`; `hashingMs`: the time that slow hashes took for this attempt, 0 if none was computed.
 */
export async function delayFailure(site: object, attempt: Omit<FailedAttempt, 'now'>): Promise<void> {
  const now = performance.now();
  await sleep(Math.max(0, answerTimeOf(site, { ...attempt, now }) - now));
}

/** Returns when a failed attempt may be answered, by `performance.now()`, and remembers how long it took. */
export function answerTimeOf(site: object, { startedAt, now, hashingMs }: FailedAttempt): number {
  const { whole, hashing } = slowestBySite.get(site) ?? { whole: NONE, hashing: NONE };
  const recentMs = now - whole.at < RECENT_MS ? whole.durationMs : 0;
  const dayLongMs = now - hashing.at < DAY_MS ? hashing.durationMs : 0;
  if (hashingMs > 0) {
    const wholeMs = now - startedAt;
    slowestBySite.set(site, {
      whole: wholeMs > recentMs ? { durationMs: wholeMs, at: now } : whole,
      hashing: hashingMs > dayLongMs ? { durationMs: hashingMs, at: now } : hashing,
    });
  }
  const recentLimit = Math.min(SLOWEST_FACTOR * recentMs, MAX_FAILURE_MS);
  const dayLongLimit = Math.min(SLOWEST_FACTOR * dayLongMs, MAX_DAY_LONG_MS);
  return startedAt + Math.max(MIN_FAILURE_MS, recentLimit, dayLongLimit);
}
