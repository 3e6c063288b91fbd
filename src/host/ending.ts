/**
 * For what still keeps the process alive when all its work is done, such as a look-up of a name that nobody waits for
 * any more.
 */
const LAST_MS = 1000;

/**
 * Lets the process end by itself with this code. What keeps it any longer is cut off by the signal that it was told to
 * end with.
 */
export function endByItself(signal: NodeJS.Signals, code: number): void {
  process.exitCode = code;
  if (process.connected) process.disconnect();
  setTimeout(endAtOnce, LAST_MS, signal).unref();
}

/**
 * Ends the process now, by what the system does with this signal if nobody handles it. `process.exit` would wait for
 * work in other threads, a write that is blocked among it.
 */
export function endAtOnce(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Only the first process of a container comes here: the system does not end it by signals of its own.
  process.exit();
}
