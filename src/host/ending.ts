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

/**
 * Ends the process immediately, by the default action of this signal. `process.exit` would wait for work in other
 * threads, including blocked writes.
 */
export function killSelf(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Only reached by the first process of a container, for which signals have no default action.
  process.exit();
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `act` when the process ends, also by a signal, until the returned function is called. */
export function onProcessEnd(act: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    act();
    // Without another listener, the signal ends the process as if nobody had listened.
    if (process.listenerCount(signal) === 0) killSelf(signal);
  };
  process.on('exit', act);
  for (const signal of SIGNALS) process.once(signal, onSignal);
  return () => {
    process.off('exit', act);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
