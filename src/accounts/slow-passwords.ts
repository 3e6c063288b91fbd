import { Worker } from 'node:worker_threads';
import { runnable } from '../host/runnable.ts';

/** How many checks may wait. Each takes some hundredths of a second. */
const MOST_WAITING = 64;
/** A hash that takes longer to compute is none that WordPress made. */
const LONGEST_MS = 30_000;

interface Check {
  readonly plain: string;
  readonly stored: string;
  readonly done: (right: boolean) => void;
}

const waiting: Check[] = [];
let current: Check | undefined;
let thread: Worker | undefined;

/** Whether so many checks wait that no other is taken. */
export const isCrowded = (): boolean => waiting.length >= MOST_WAITING;

/**
 * Whether a password is the one behind a stored hash that takes long to compute (`verifyTypedPassword`). It is computed
 * in a thread of its own, one after the other; false too where too many wait, or where it can't be computed.
 */
export function verifySlowly(plain: string, stored: string): Promise<boolean> {
  return new Promise((done) => {
    if (isCrowded()) return done(false);
    waiting.push({ plain, stored, done });
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
  const { plain, stored, done } = current;
  thread ??= startThread();
  const mine = thread;
  const end = (right: boolean): void => {
    clearTimeout(late);
    mine.off('message', end).off('exit', wrong);
    current = undefined;
    done(right);
    checkNext();
  };
  const wrong = (): void => end(false);
  const late = setTimeout(() => void mine.terminate(), LONGEST_MS);
  // Whoever waits for it keeps the process alive.
  mine.ref();
  mine.once('message', end).once('exit', wrong);
  mine.postMessage({ plain, stored });
}

/** One thread for the process, from the first check on. One that ends is replaced when the next comes. */
function startThread(): Worker {
  const worker = new Worker(runnable('accounts/password-thread'));
  worker.on('error', () => undefined);
  worker.once('exit', () => {
    if (thread === worker) thread = undefined;
  });
  return worker;
}
