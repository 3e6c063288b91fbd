import { Worker } from 'node:worker_threads';
import { entryPointUrl } from '../host/entry-point.ts';

/** Maximum number of waiting checks. Each takes some hundredths of a second. */
const MAX_WAITING = 64;
/** Timeout of a check. WordPress creates no hash that takes longer to compute. */
const CHECK_TIMEOUT_MS = 30_000;

/** The message to the thread that checks a password. */
export interface PasswordCheck {
  readonly plain: string;
  readonly stored: string;
}

interface QueuedCheck {
  readonly password: string;
  readonly hash: string;
  readonly resolve: (right: boolean) => void;
  readonly reject: (error: Error) => void;
}

const queue: QueuedCheck[] = [];
let currentCheck: QueuedCheck | undefined;
let thread: Worker | undefined;

/** Whether too many checks are waiting for another one to be accepted. */
export const isQueueFull = (): boolean => queue.length >= MAX_WAITING;

/**
 * Whether a password matches a stored hash that is slow to compute (`verifyTypedPassword`). Hashes are computed in a
 * separate thread, one after the other. Also false if too many are waiting, or if the hash cannot be computed. Throws
 * if the thread cannot start, ends or takes too long, since a correct password must not be called wrong then.
 */
export function verifyInThread(password: string, hash: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    if (isQueueFull()) return resolve(false);
    queue.push({ password, hash, resolve, reject });
    checkNext();
  });
}

function checkNext(): void {
  if (currentCheck) return;
  currentCheck = queue.shift();
  if (!currentCheck) {
    thread?.unref();
    return;
  }
  const { password, hash, resolve, reject } = currentCheck;
  let currentThread: Worker;
  try {
    thread ??= startThread();
    currentThread = thread;
  } catch (error) {
    // The system has no room for another thread.
    currentCheck = undefined;
    reject(error instanceof Error ? error : new Error(String(error)));
    checkNext();
    return;
  }
  let cause: unknown;
  const end = (settle: () => void): void => {
    clearTimeout(timeout);
    currentThread.off('message', onMessage).off('error', onError).off('exit', onExit);
    currentCheck = undefined;
    settle();
    checkNext();
  };
  const onMessage = (isCorrect: boolean): void => end(() => resolve(isCorrect));
  const onError = (error: unknown): void => {
    cause = error;
  };
  const onExit = (): void => end(() => reject(new Error('The thread that checks passwords ended before its answer.', { cause })));
  const timeout = setTimeout(() => void currentThread.terminate(), CHECK_TIMEOUT_MS);
  // A pending check keeps the process alive.
  currentThread.ref();
  currentThread.once('message', onMessage).once('error', onError).once('exit', onExit);
  currentThread.postMessage({ plain: password, stored: hash } satisfies PasswordCheck);
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
