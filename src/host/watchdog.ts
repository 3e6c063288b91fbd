import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { runnable } from './runnable.ts';

/** What the thread gets at its start. */
export interface WatchdogData {
  /** One number, which the main thread counts up. */
  readonly beats: Int32Array;
  /** For how many seconds it may stand still; 0: for ever. */
  readonly seconds: number;
}

export interface Watchdog {
  /**
   * Kills the process after this many milliseconds, whatever it is doing then. Resolves when the watchdog has heard of
   * it.
   */
  readonly endWithin: (milliseconds: number) => void;
}

const BEAT_MS = 500;

/**
 * Watches this process from a thread of its own: one whose main thread is stuck for `seconds` (an endless loop, a write
 * that never returns) can neither answer nor be told to end, so it is killed for whoever started it to start it again.
 * A process that is being debugged is left alone.
 */
export function startWatchdog(seconds: number): Watchdog {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: WatchdogData = { beats, seconds: debuggerUrl() === undefined ? seconds : 0 };
  const thread = new Worker(runnable('host/watchdog-thread'), { workerData });
  thread.unref();
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  return { endWithin: (milliseconds) => thread.postMessage(milliseconds) };
}
