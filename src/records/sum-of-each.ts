import { backgroundWarnings } from '../log.ts';
import type { Site } from '../site.ts';

/**
 * Runs `work` for each of these records and returns the sum of its results. If it fails for one of them, the error is
 * logged (`failure`) and the next one follows. An error that comes again each time is logged once a minute.
 */
export async function sumOfEach(
  { log }: Pick<Site, 'log'>,
  ids: Iterable<number>,
  failure: string,
  work: (id: number) => Promise<number>,
): Promise<number> {
  const warn = backgroundWarnings(log);
  let sum = 0;
  for (const id of ids) {
    try {
      sum += await work(id);
    } catch (err) {
      warn({ err, id }, failure);
    }
  }
  return sum;
}
