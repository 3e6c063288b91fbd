import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { entryPointUrl } from './entry-point.ts';

/** Data for the thread. */
export interface WatchdogData {
  /** A counter that the main thread increments. */
  readonly heartbeats: Int32Array;
  /** Number of seconds for which the counter may stand still; 0 means unlimited. */
  readonly seconds: number;
}

export interface Watchdog {
  /** Kills the process after this many milliseconds, whatever it is doing then. */
  readonly killAfter: (milliseconds: number) => void;
}

const HEARTBEAT_INTERVAL_MS = 500;

/**
 * Watches this process from a separate thread. A process whose main thread is stuck for `seconds` (an endless loop, a
 * write that never returns) can neither respond nor be told to end, so that it is killed and can be restarted. A
 * process that is being debugged is left alone.
 */
export function startWatchdog(seconds: number): Watchdog {
  const heartbeats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: WatchdogData = { heartbeats, seconds: debuggerUrl() === undefined ? seconds : 0 };
  const thread = new Worker(entryPointUrl('host/watchdog-thread'), { workerData });
  thread.unref();
  setInterval(() => Atomics.add(heartbeats, 0, 1), HEARTBEAT_INTERVAL_MS).unref();
  return { killAfter: (milliseconds) => thread.postMessage(milliseconds) };
}
