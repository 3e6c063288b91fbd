import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { runnable } from './runnable.ts';

/** Data for the thread. */
export interface WatchdogData {
  /** A counter that the main thread increments. */
  readonly beats: Int32Array;
  /** Number of seconds for which the counter may stand still; 0 means unlimited. */
  readonly seconds: number;
}

export interface Watchdog {
  /** Kills the process after this many milliseconds, whatever it is doing then. */
  readonly endWithin: (milliseconds: number) => void;
}

const BEAT_MS = 500;

/**
 * Watches this process from a separate thread. A process whose main thread is stuck for `seconds` (an endless loop, a
 * write that never returns) can neither respond nor be told to end, so that it is killed and can be restarted. A
 * process that is being debugged is left alone.
 */
export function startWatchdog(seconds: number): Watchdog {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: WatchdogData = { beats, seconds: debuggerUrl() === undefined ? seconds : 0 };
  const thread = new Worker(runnable('host/watchdog-thread'), { workerData });
  thread.unref();
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  return { endWithin: (milliseconds) => thread.postMessage(milliseconds) };
}
