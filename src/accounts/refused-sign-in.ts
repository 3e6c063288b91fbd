import { fail } from '../errors.ts';
import type { Site } from '../site.ts';
import { foldText } from '../storage/engine/collation.ts';
import type { StoredUser } from '../storage/rows/users.ts';
import { attemptsOf } from './attempts.ts';
import { delayFailure } from './failure-time.ts';

/** Longer names cannot exist: a login has at most 60 characters, an e-mail address 100. */
const MAX_NAME_LENGTH = 100;
/** Seconds to wait if too many attempts are waiting for a hash to be computed. */
const BUSY_WAIT_SECONDS = 5;

/** A failed attempt to sign in. */
export interface FailedSignIn {
  /** Login or e-mail address, as it was sent. */
  readonly name: string;
  readonly address: string;
  /** The user of that name, if there is one. */
  readonly user: StoredUser | undefined;
  /** Start of the attempt, by `performance.now()`. */
  readonly startedAt: number;
  /** Whether a slow hash was computed for it. */
  readonly wasHashed: boolean;
  /** Whether too many attempts were waiting for such a hash. */
  readonly wasQueueFull: boolean;
  /** Seconds until the address may try again, if it was locked out already. */
  readonly waitSeconds?: number | undefined;
}

/**
 * Counts a failure for its address and for the name, regardless of case and accents, and refuses it after the time that
 * every failure takes.
 *
 * @throws incorrect_password, too-many-requests (`data.retry_after` in seconds)
 */
export async function refuseSignIn(
  site: Site,
  { name, address, user, startedAt, wasHashed, wasQueueFull, waitSeconds }: FailedSignIn,
): Promise<never> {
  const countedSeconds = attemptsOf(site, 'sign-in').countFailure(address, foldText(name.trim().slice(0, MAX_NAME_LENGTH)), site.clock());
  const wait = waitSeconds ?? countedSeconds ?? (wasQueueFull ? BUSY_WAIT_SECONDS : undefined);
  await delayFailure(site, { startedAt, wasHashed });
  const detail = { tried: user ? 'known user' : 'unknown user', user: user?.row.ID, crowded: wasQueueFull };
  return wait === undefined ? fail('incorrect_password', { detail }) : fail('too-many-requests', { data: { retry_after: wait }, detail });
}
