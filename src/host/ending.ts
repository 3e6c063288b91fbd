/**
 * Time for operations that keep the process alive after its work is done, such as a DNS lookup whose result is not
 * needed.
 */
const EXIT_TIMEOUT_MS = 1000;

/**
 * Lets the process end by itself with this exit code. If something keeps it alive too long, it is killed by the signal
 * that it was told to end with.
 */
export function exitWhenIdle(signal: NodeJS.Signals, code: number): void {
  process.exitCode = code;
  if (process.connected) process.disconnect();
  setTimeout(killSelf, EXIT_TIMEOUT_MS, signal).unref();
}

/** The acts that remain before the process ends. */
const lastActs = new Set<() => void>();

/**
 * Ends the process immediately, by the default action of this signal. `process.exit` would wait for work in other
 * threads, including blocked writes.
 */
export function killSelf(signal: NodeJS.Signals): void {
  actForTheLastTime();
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Only reached by the first process of a container, for which signals have no default action.
  process.exit();
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Calls `act` when the process ends, also by a signal, until the returned function is called. If others listen to the
 * signal too, they decide whether it ends the process, and the work that is under way may still be completed.
 */
export function onProcessEnd(act: () => void): () => void {
  if (lastActs.size === 0) {
    process.on('exit', actForTheLastTime);
    for (const signal of SIGNALS) process.on(signal, endUnlessOthersListen);
  }
  lastActs.add(act);
  return () => {
    lastActs.delete(act);
    if (lastActs.size > 0) return;
    process.off('exit', actForTheLastTime);
    for (const signal of SIGNALS) process.off(signal, endUnlessOthersListen);
  };
}

function actForTheLastTime(): void {
  for (const act of lastActs) act();
  lastActs.clear();
}

/** Ends the process as if nobody had listened. */
function endUnlessOthersListen(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) === 1) killSelf(signal);
}
