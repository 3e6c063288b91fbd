import { DatabaseUnavailable } from './dialect.ts';

/** Waiting longer than this is refused. */
export const MAX_WAIT_MS = 8000;
/** Maximum number of waiting callers; further ones are refused at once. */
const MAX_WAITING = 1000;

/**
 * A queue for a limited number of places, first come, first served. A caller that leaves passes its place to the next
 * one in the queue, together with something that it may leave there.
 */
export interface Queue<Handover> {
  /** Number of callers that wait. */
  readonly length: () => number;
  /**
   * Waits for a place and takes it. Resolves to what the previous holder left there.
   *
   * @throws DatabaseUnavailable `exhausted` if the wait is too long or too many callers are waiting
   */
  readonly enter: () => Promise<Handover | undefined>;
  /**
   * Passes the place to the next caller in the queue, so that no newcomer can take it. Something may be left only if a
   * caller is waiting.
   */
  readonly leave: (handover?: Handover) => void;
}

/** Creates a queue for `places` places, all of which are free. */
export function createQueue<Handover>(places: number): Queue<Handover> {
  let freePlaces = places;
  const waiters: ((handover: Handover | undefined) => void)[] = [];
  return {
    length: () => waiters.length,
    enter: async () => {
      if (freePlaces > 0) {
        freePlaces -= 1;
        return undefined;
      }
      if (waiters.length >= MAX_WAITING) throw new DatabaseUnavailable('exhausted');
      return new Promise((resolve, reject) => {
        const take = (handover: Handover | undefined): void => {
          clearTimeout(patience);
          resolve(handover);
        };
        const patience = setTimeout(() => {
          waiters.splice(waiters.indexOf(take), 1);
          reject(new DatabaseUnavailable('exhausted'));
        }, MAX_WAIT_MS);
        waiters.push(take);
      });
    },
    leave: (handover) => {
      const next = waiters.shift();
      if (next) next(handover);
      else freePlaces += 1;
    },
  };
}
