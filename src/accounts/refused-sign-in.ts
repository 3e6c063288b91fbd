import { fail } from '../errors.ts';
import type { Site } from '../site.ts';
import { foldText } from '../storage/engine/collation.ts';
import type { StoredUser } from '../storage/rows/users.ts';
import { stripControlCharacters } from '../wordpress/content/plain-text.ts';
import { attemptsOf, purposeOf } from './attempts.ts';
import { delayFailure } from './failure-time.ts';

/** Longer names cannot exist: a login has at most 60 characters, an e-mail address 100. */
const MAX_NAME_LENGTH = 100;

/** A failed attempt to sign in. */
export interface FailedSignIn {
  /** Login or e-mail address, as it was sent. */
  readonly name: string;
  readonly address: string;
  /**
   * The password that was wrong: an application password, which nobody can guess, sent by a page of another site or
   * not; or that of the account.
   */
  readonly guessed: { readonly isForeignPage: boolean } | 'account';
  /** The user of that name, if there is one. */
  readonly user: StoredUser | undefined;
  /** Start of the attempt, by `performance.now()`. */
  readonly startedAt: number;
  /** The time that slow hashes took for it, in milliseconds; 0 if none was computed. */
  readonly hashingMs: number;
  /** Seconds until the address may try again, if it was locked out already, or for this name. */
  readonly waitSeconds?: number | undefined;
}

/** Returns the attempts at passwords of accounts for each name. For each address they count as all sign-ins do. */
export const accountAttemptsOf = (site: Site) => attemptsOf(site, 'sign-in', 'account ');

/**
 * Returns the name as which attempts for a name are counted: as it was sent, regardless of case, accents and control
 * characters, which MySQL ignores. Login and e-mail address of a user are two names: counted as one, the second would
 * show that there is a user with both (decision D16).
 */
export const countedName = (name: string): string => foldText(stripControlCharacters(name).trim()).slice(0, MAX_NAME_LENGTH);

/**
 * Counts a failure for its address and for the name, and refuses it after the time that every failure takes.
 *
 * @throws incorrect_password, too-many-requests (`data.retry_after` in seconds)
 */
export async function refuseSignIn(site: Site, failed: FailedSignIn): Promise<never> {
  const { user } = failed;
  const countedSeconds = countFailed(site, failed);
  const wait = failed.waitSeconds ?? countedSeconds;
  await delayFailure(site, failed);
  const detail = { tried: user ? 'known user' : 'unknown user', user: user?.row.ID };
  return wait === undefined ? fail('incorrect_password', { detail }) : fail('too-many-requests', { data: { retry_after: wait }, detail });
}

function countFailed(site: Site, { name, address, guessed }: FailedSignIn): number | undefined {
  const now = site.clock();
  const counted = countedName(name);
  if (guessed !== 'account') return attemptsOf(site, 'sign-in', purposeOf(guessed)).countFailure(address, counted, now);
  const byAddress = attemptsOf(site, 'sign-in').countFailure(address, undefined, now);
  return byAddress ?? accountAttemptsOf(site).countName(address, counted, now);
}
