import { fail } from '../errors.ts';
import type { Site } from '../site.ts';
import { foldText } from '../storage/engine/collation.ts';
import type { StoredUser } from '../storage/rows/users.ts';
import { attemptsOf } from './attempts.ts';
import { delayFailure } from './failure-time.ts';

/** A longer name can belong to nobody: a login has 60 letters, an address 100. */
const NAME_LETTERS = 100;
/** How soon another try makes sense when too many wait for a hash to be computed. */
const CROWDED_SECONDS = 5;

/** Somebody's try to show who they are, which failed. */
export interface FailedSignIn {
  /** Login or e-mail address, as it was sent. */
  readonly name: string;
  readonly address: string;
  /** The user of that name, if there is one. */
  readonly user: StoredUser | undefined;
  /** When the try began, as `performance.now()` says it. */
  readonly begun: number;
  /** Whether a slow hash was computed for it. */
  readonly hashed: boolean;
  /** Whether too many were waiting for such a hash. */
  readonly crowded: boolean;
  /** The seconds until the address may try again, if it had to wait already. */
  readonly waiting?: number | undefined;
}

/**
 * Counts a failure for its address and for the name, which is one however it is written, and refuses it after the time
 * that every failure takes.
 *
 * @throws incorrect_password, too-many-requests (`data.retry_after` in seconds)
 */
export async function refuseSignIn(site: Site, { name, address, user, begun, hashed, crowded, waiting }: FailedSignIn): Promise<never> {
  const counted = attemptsOf(site, 'sign-in').failed(address, foldText(name.trim().slice(0, NAME_LETTERS)), site.clock());
  const wait = waiting ?? counted ?? (crowded ? CROWDED_SECONDS : undefined);
  await delayFailure(site, { begun, hashed });
  const detail = { tried: user ? 'known user' : 'unknown user', user: user?.row.ID, crowded };
  return wait === undefined ? fail('incorrect_password', { detail }) : fail('too-many-requests', { data: { retry_after: wait }, detail });
}
