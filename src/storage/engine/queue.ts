import { DatabaseUnavailable } from './dialect.ts';

/** Whoever waits longer is turned away. */
export const LONGEST_WAIT_MS = 8000;
/** When this many wait, the next one is turned away at once. */
const MOST_WAITING = 1000;

/**
 * Those who wait for one of a few places, first come, first served. Whoever leaves hands the place to the next in line,
 * together with what is left there.
 */
export interface Queue<Left> {
  /** How many wait. */
  readonly length: () => number;
  /**
   * Waits for a place and takes it. Gives what was left there.
   *
   * @throws DatabaseUnavailable `exhausted` where that takes too long
   */
  readonly enter: () => Promise<Left | undefined>;
  /** Hands the place on, so that nobody slips in between. Something may be left only where somebody waits. */
  readonly leave: (left?: Left) => void;
}

/** A queue for some places, which are free at first. */
export function createQueue<Left>(places: number): Queue<Left> {
  let free = places;
  const waiting: ((left: Left | undefined) => void)[] = [];
  return {
    length: () => waiting.length,
    enter: async () => {
      if (free > 0) {
        free -= 1;
        return undefined;
      }
      if (waiting.length >= MOST_WAITING) throw new DatabaseUnavailable('exhausted');
      return new Promise((resolve, reject) => {
        const take = (left: Left | undefined): void => {
          clearTimeout(patience);
          resolve(left);
        };
        const patience = setTimeout(() => {
          waiting.splice(waiting.indexOf(take), 1);
          reject(new DatabaseUnavailable('exhausted'));
        }, LONGEST_WAIT_MS);
        waiting.push(take);
      });
    },
    leave: (left) => {
      const next = waiting.shift();
      if (next) next(left);
      else free += 1;
    },
  };
}
