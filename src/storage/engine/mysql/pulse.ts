/** Watches whether a server answers at all. */
export interface Pulse {
  /** Call it when a query is sent. Returns what to call when it is answered or fails. */
  readonly asked: () => () => void;
}

/** A server that answers nothing for this long, though there are queries, may be gone. */
const QUIET_MS = 1000;
const TICK_MS = 250;

/**
 * Calls `doubt` when there are queries and none of them has been answered for a while: either they are slow, or the
 * machine is gone. Any answer to any query is a sign of life. No timer runs while there are no queries.
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
