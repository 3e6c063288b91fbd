import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnavailable } from './dialect.ts';
import { MAX_WAIT_MS } from './queue.ts';

const FIRST_PAUSE_MS = 2;

/**
 * Whether work may be repeated after it met locked rows or a locked file, which has undone all of it. Undefined if it
 * failed for another reason. `waited`: milliseconds since the first attempt.
 */
export const mayRepeat = (error: unknown, waited: number): boolean | undefined =>
  error instanceof DatabaseUnavailable && error.reason === 'busy' ? waited < MAX_WAIT_MS : undefined;

/**
 * Runs work until it succeeds or a repetition is not worthwhile, with growing pauses.
 *
 * @param longestPause milliseconds
 * @param isWorthwhile receives the error and the milliseconds since the first attempt
 */
export async function retry<T>(
  longestPause: number,
  isWorthwhile: (error: unknown, waited: number) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, longestPause)) {
    try {
      return await work();
    } catch (error) {
      if (!isWorthwhile(error, performance.now() - startedAt)) throw error;
      await sleep(pause * (0.5 + Math.random()));
    }
  }
}
