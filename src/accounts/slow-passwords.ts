import { Worker } from 'node:worker_threads';
import { entryPointUrl } from '../host/entry-point.ts';

/** Maximum number of waiting checks. Each takes some hundredths of a second. */
const MAX_WAITING = 64;
/** Timeout of a check. WordPress creates no hash that takes longer to compute. */
const CHECK_TIMEOUT_MS = 30_000;

interface QueuedCheck {
  readonly plain: string;
  readonly stored: string;
  readonly resolve: (right: boolean) => void;
}

const waiting: QueuedCheck[] = [];
let current: QueuedCheck | undefined;
let thread: Worker | undefined;

/** Whether too many checks are waiting for another one to be accepted. */
export const isQueueFull = (): boolean => waiting.length >= MAX_WAITING;

/**
 * Whether a password matches a stored hash that is slow to compute (`verifyTypedPassword`). Hashes are computed in a
 * separate thread, one after the other. Also false if too many are waiting, or if the hash cannot be computed.
 */
export function verifyInThread(plain: string, stored: string): Promise<boolean> {
  return new Promise((done) => {
    if (isQueueFull()) return done(false);
    waiting.push({ plain, stored, resolve: done });
    checkNext();
  });
}

function checkNext(): void {
  if (current) return;
  current = waiting.shift();
  if (!current) {
    thread?.unref();
    return;
  }
  const { plain, stored, resolve } = current;
  thread ??= startThread();
  const mine = thread;
  const end = (right: boolean): void => {
    clearTimeout(late);
    mine.off('message', end).off('exit', wrong);
    current = undefined;
    resolve(right);
    checkNext();
  };
  const wrong = (): void => end(false);
  const late = setTimeout(() => void mine.terminate(), CHECK_TIMEOUT_MS);
  // A pending check keeps the process alive.
  mine.ref();
  mine.once('message', end).once('exit', wrong);
  mine.postMessage({ plain, stored });
}

/**
 * Starts the thread. There is one for the process, from the first check on. If it ends, the next check starts another
 * one.
 */
function startThread(): Worker {
  const worker = new Worker(entryPointUrl('accounts/password-thread'));
  worker.on('error', () => undefined);
  worker.once('exit', () => {
    if (thread === worker) thread = undefined;
  });
  return worker;
}
