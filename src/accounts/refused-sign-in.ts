import { fail } from '../errors.ts';
import type { Site } from '../site.ts';
import { foldText } from '../storage/engine/collation.ts';
import type { StoredUser } from '../storage/rows/users.ts';
import { attemptsOf } from './attempts.ts';
import { delayFailure } from './failure-time.ts';

/** Longer names cannot exist: a login has at most 60 characters, an e-mail address 100. */
const MAX_NAME_LENGTH = 100;

/** A failed attempt to sign in. */
export interface FailedSignIn {
  /** Login or e-mail address, as it was sent. */
  readonly name: string;
  readonly address: string;
  /** The user of that name, if there is one. */
  readonly user: StoredUser | undefined;
  /** Start of the attempt, by `performance.now()`. */
  readonly startedAt: number;
  /** The time that slow hashes took for it, in milliseconds; 0 if none was computed. */
  readonly hashingMs: number;
  /** Seconds until the address may try again, if it was locked out already. */
  readonly waitSeconds?: number | undefined;
}

/**
 * Counts a failure for its address and for the name, regardless of case and accents, and refuses it after the time that
 * every failure takes.
 *
 * @throws incorrect_password, too-many-requests (`data.retry_after` in seconds)
 */
export async function refuseSignIn(site: Site, { name, address, user, startedAt, hashingMs, waitSeconds }: FailedSignIn): Promise<never> {
  const countedSeconds = attemptsOf(site, 'sign-in').countFailure(address, foldText(name.trim().slice(0, MAX_NAME_LENGTH)), site.clock());
  const wait = waitSeconds ?? countedSeconds;
  await delayFailure(site, { startedAt, hashingMs });
  const detail = { tried: user ? 'known user' : 'unknown user', user: user?.row.ID };
  return wait === undefined ? fail('incorrect_password', { detail }) : fail('too-many-requests', { data: { retry_after: wait }, detail });
}
