import { Worker } from 'node:worker_threads';
import { fail } from '../errors.ts';
import { entryPointUrl } from '../host/entry-point.ts';
import { addressKey } from './attempts.ts';

/** Maximum number of waiting checks. Most take some tenths of a second, those of Argon2 seconds. */
const MAX_WAITING = 64;
/** Those that may wait for clients at one address, so that none keeps out all others. It may be that of an office. */
const MAX_WAITING_PER_ADDRESS = 16;
/** Seconds to wait if too many checks are waiting. */
const BUSY_WAIT_SECONDS = 5;
/** Timeout of a check with its decoys. WordPress creates no hash that takes nearly as long, and decoys are quick. */
const CHECK_TIMEOUT_MS = 30_000;

/** The message to the thread that checks a password. */
export interface PasswordCheck {
  readonly plain: string;
  readonly stored: readonly string[];
  /**
   * Hashes that are computed too if no stored one matches, for the sake of the time that this takes. They are computed
   * for as many spellings of the password as a stored one.
   */
  readonly decoys: readonly string[];
}

/** The result of a check. */
export interface Verification {
  /** Position of the hash that the password matches, -1 if none. */
  readonly matching: number;
  /** The time that the hashes took to compute, without waiting for other checks or for the thread to start. */
  readonly durationMs: number;
}

interface QueuedCheck {
  readonly check: PasswordCheck;
  /** `addressKey` of the client. */
  readonly client: string;
  readonly resolve: (verification: Verification) => void;
  readonly reject: (error: Error) => void;
}

const queue: QueuedCheck[] = [];
let currentCheck: QueuedCheck | undefined;
let thread: Worker | undefined;

/**
 * Refuses an attempt if too many checks, or too many from the same address, are waiting for another one to be accepted.
 * Nothing has been verified then, so it does not count as a failure.
 *
 * @throws too-many-requests (`data.retry_after` in seconds)
 */
export function requireRoomForCheck(address: string): void {
  const client = addressKey(address);
  const isCrowded = queue.length >= MAX_WAITING || queue.filter((queued) => queued.client === client).length >= MAX_WAITING_PER_ADDRESS;
  if (isCrowded) fail('too-many-requests', { data: { retry_after: BUSY_WAIT_SECONDS }, detail: { crowded: true } });
}

/** A password to verify. */
export interface TypedPassword {
  readonly password: string;
  /** Address of the client. */
  readonly address: string;
}

/**
 * Verifies a password against stored hashes that are slow to compute (`verifyTypedPassword`), until one matches. They
 * are computed in a separate thread, one after the other. A hash that cannot be computed does not match. Throws if the
 * thread cannot start, ends or takes too long, since a correct password must not be called wrong then.
 *
 * @throws too-many-requests if too many are waiting (`requireRoomForCheck`)
 */
export async function verifyInThread(
  { password, address }: TypedPassword,
  hashes: readonly string[],
  decoys: readonly string[] = [],
): Promise<Verification> {
  requireRoomForCheck(address);
  return new Promise((resolve, reject) => {
    queue.push({ check: { plain: password, stored: hashes, decoys }, client: addressKey(address), resolve, reject });
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
  const { check, resolve, reject } = currentCheck;
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
  const onMessage = (verification: Verification): void => end(() => resolve(verification));
  const onError = (error: unknown): void => {
    cause = error;
  };
  const onExit = (): void => end(() => reject(new Error('The thread that checks passwords ended before its answer.', { cause })));
  const timeout = setTimeout(() => void currentThread.terminate(), CHECK_TIMEOUT_MS);
  // A pending check keeps the process alive.
  currentThread.ref();
  currentThread.once('message', onMessage).once('error', onError).once('exit', onExit);
  currentThread.postMessage(check);
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
