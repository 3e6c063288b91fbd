import { setImmediate as nextTurn } from 'node:timers/promises';
import { limitConcurrency } from '../yielding.ts';

/** Number of readings and answers that are in progress at the same time; other requests are served between them. */
const MAX_AT_ONCE = 2;

/** Readings that several streams share, so that a change is not read and rendered again for each of them. */
export interface SharedReadings<Found> {
  /**
   * Returns what `read` finds, or what another reading with the same key finds that knows everything up to the last
   * notice. Without a key, the reading is not shared.
   */
  readonly share: (key: string | undefined, read: () => Promise<Found>) => Promise<Found>;
  /** To be called with each notice of a change: readings that have begun may lack it, so that nobody joins them now. */
  readonly noteChange: () => void;
  /** Carries out `work` when it is its turn, in order of arrival, each time after other requests have had theirs. */
  readonly inTurn: <Result>(work: () => Result | Promise<Result>) => Promise<Result>;
}

/** A reading that streams can join. */
interface Reading<Found> {
  readonly found: Promise<Found>;
  readonly hasBegun: () => boolean;
}

/** Creates shared readings, none of which is in progress. They are forgotten when they end. */
export function createSharedReadings<Found>(): SharedReadings<Found> {
  const limited = limitConcurrency(MAX_AT_ONCE);
  const inTurn: SharedReadings<Found>['inTurn'] = (work) =>
    limited(async () => {
      await nextTurn();
      return work();
    });
  const readings = new Map<string, Reading<Found>>();

  const start = (read: () => Promise<Found>): Reading<Found> => {
    let hasBegun = false;
    const found = inTurn(() => {
      hasBegun = true;
      return read();
    });
    return { found, hasBegun: () => hasBegun };
  };

  return {
    share: async (key, read) => {
      if (key === undefined) return inTurn(read);
      const known = readings.get(key);
      if (known) return known.found;
      const reading = start(read);
      readings.set(key, reading);
      try {
        return await reading.found;
      } finally {
        if (readings.get(key) === reading) readings.delete(key);
      }
    },
    noteChange: () => {
      for (const [key, { hasBegun }] of readings) if (hasBegun()) readings.delete(key);
    },
    inTurn,
  };
}
