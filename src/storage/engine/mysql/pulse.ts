/** Monitors whether a server responds at all. */
export interface Pulse {
  /** Must be called when a query is sent. Returns a function to call when it is answered or fails. */
  readonly trackQuery: () => () => void;
  /** Must be called when a part of an answer arrives, such as a row of many. */
  readonly noteAnswer: () => void;
}

/** A server that answers nothing for this long although queries are pending may be gone. */
const SILENCE_MS = 1000;
const CHECK_INTERVAL_MS = 250;

/**
 * Calls `checkServer` if queries are pending and none was answered for a while: either they are slow, or the machine is
 * gone. Any response to any query is a sign of life. No timer runs while there are no queries.
 */
export function createPulse(checkServer: () => Promise<void>, clock: () => number = () => performance.now()): Pulse {
  let openCount = 0;
  let heard = 0;
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;

  const tick = async (): Promise<void> => {
    if (openCount === 0) {
      clearInterval(timer);
      timer = undefined;
    } else if (!isChecking && clock() - heard > SILENCE_MS) {
      isChecking = true;
      await checkServer();
      heard = clock();
      isChecking = false;
    }
  };

  return {
    trackQuery: () => {
      if (openCount === 0) heard = clock();
      openCount += 1;
      timer ??= setInterval(tick, CHECK_INTERVAL_MS).unref();
      return () => {
        openCount -= 1;
        heard = clock();
      };
    },
    noteAnswer: () => {
      heard = clock();
    },
  };
}
