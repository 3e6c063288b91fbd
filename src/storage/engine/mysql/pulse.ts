/** Monitors whether a server responds at all. */
export interface Pulse {
  /** Must be called when a query is sent. Returns a function to call when it is answered or fails. */
  readonly asked: () => () => void;
}

/** A server that answers nothing for this long although queries are pending may be gone. */
const QUIET_MS = 1000;
const TICK_MS = 250;

/**
 * Calls `doubt` if queries are pending and none has been answered for a while: either they are slow, or the machine is
 * gone. Any response to any query is a sign of life. No timer runs while there are no queries.
 */
export function createPulse(doubt: () => Promise<void>, clock: () => number = () => performance.now()): Pulse {
  let open = 0;
  let heard = 0;
  let timer: NodeJS.Timeout | undefined;
  let doubting = false;

  const tick = async (): Promise<void> => {
    if (open === 0) {
      clearInterval(timer);
      timer = undefined;
    } else if (!doubting && clock() - heard > QUIET_MS) {
      doubting = true;
      await doubt();
      heard = clock();
      doubting = false;
    }
  };

  return {
    asked: () => {
      if (open === 0) heard = clock();
      open += 1;
      timer ??= setInterval(tick, TICK_MS).unref();
      return () => {
        open -= 1;
        heard = clock();
      };
    },
  };
}
