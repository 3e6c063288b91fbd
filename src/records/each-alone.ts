import type { Site } from '../site.ts';

/**
 * Does something for each of these records, and gives the sum of what that gives. One that fails is told in the log
 * (`failure`), and keeps none of the others from its turn.
 */
export async function sumOfEach(
  { log }: Pick<Site, 'log'>,
  ids: Iterable<number>,
  failure: string,
  work: (id: number) => Promise<number>,
): Promise<number> {
  let sum = 0;
  for (const id of ids) {
    try {
      sum += await work(id);
    } catch (err) {
      log.warn({ err, id }, failure);
    }
  }
  return sum;
}
