/** Watches whether what is asked of a server is answered at all. */
export interface Pulse {
  /** To be called when something is asked. Gives what to call when it was answered, or broke off. */
  readonly asked: () => () => void;
}

/** A server that answers nothing for so long, though it is asked, may be gone without a word. */
const QUIET_MS = 1000;
const TICK_MS = 250;

/**
 * Calls `doubt` when nothing that is asked has been answered for a while, be it a slow query or a machine that is cut off. Any answer to anybody is a sign
 * of life. Nothing runs while nothing is asked.
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
