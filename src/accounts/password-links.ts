import { fail } from '../errors.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { capabilitiesKey, findUserByLogin, isSpammer, lockUser, type StoredUser, updateUser } from '../storage/rows/users.ts';
import {
  hashGeneratedPassword,
  hashPassword,
  isPasswordTooLong,
  newApplicationPassword,
  passwordFromForm,
  verifyPassword,
} from '../wordpress/passwords.ts';
import { unixFromDate } from '../wordpress/time.ts';
import { limitConcurrencyOfEach } from '../yielding.ts';
import { AccountError } from './account-error.ts';
import { attemptsOf } from './attempts.ts';
import { hashFormatOf } from './hash-format.ts';
import { accountKeys, endAllSessions, secondsToWaitAt } from './logins.ts';
import { refuseSignIn } from './refused-sign-in.ts';
import { verifyInThread } from './slow-passwords.ts';
import { requireUser, type UserReference } from './users.ts';

/*
 * Links for choosing a password: for the administrator of a new site, for invited users, and for users who have lost
 * theirs. The key is stored like that of WordPress's own links (`get_password_reset_key`), so WordPress accepts it too,
 * and a new link of either program invalidates the other's.
 */

/** WordPress accepts a key for a day after the time stored with it. */
const DAY_SECONDS = 86_400;

/** Validity of links, in seconds. */
export const LINK_LIFETIME_SECONDS = { first: 1800, invitation: DAY_SECONDS } as const;

/** Minimum length of a password in characters. */
export const MIN_PASSWORD_LENGTH = 10;

/** The parts of a link. */
export interface PasswordLink {
  readonly login: string;
  readonly key: string;
}

/**
 * Creates the only valid link of a user (`get_password_reset_key`); earlier ones become invalid. `seconds`: its
 * validity, at most a day.
 *
 * @throws AccountError `user-unknown`, `user-is-spam`
 */
export async function createPasswordLink(
  site: Pick<Site, 'db' | 'clock' | 'settings'>,
  reference: UserReference,
  seconds: number,
): Promise<PasswordLink> {
  const key = newApplicationPassword();
  const issuedAt = unixFromDate(site.clock()) - DAY_SECONDS + Math.min(seconds, DAY_SECONDS);
  const hash = await hashGeneratedPassword(key, hashFormatOf(await site.settings()));
  return site.db.transaction(async (db) => {
    const user = await requireUser(db, reference, []);
    const { row } = user;
    if (await isSpammer(db, user)) throw new AccountError('user-is-spam', { login: row.user_login });
    await updateUser(db, row.ID, { user_activation_key: `${issuedAt}:${hash}` });
    return { login: row.user_login, key };
  });
}

/** Returns the query of a link. The parameter is named `token` because the log hides that name. */
export const linkQuery = ({ login, key }: PasswordLink): string => new URLSearchParams({ login, token: key }).toString();

/**
 * Returns the owner of a link, without using it up.
 *
 * @throws password-link-invalid for a wrong, used or expired one, and for users marked as spam; too-many-requests
 */
export async function ownerOfLink(site: Site, link: PasswordLink, address: string): Promise<StoredUser> {
  // Apart from sign-ins, since a page of another site can make browsers open wrong links. Not a kind of its own, which
  // a first process of an earlier version could not count while the service is upgraded.
  const attempts = attemptsOf(site, 'record-password', 'link ');
  const wait = attempts.secondsToWait(address, site.clock());
  if (wait !== undefined) return fail('too-many-requests', { data: { retry_after: wait } });
  const user = await findUserByLogin(site.db, link.login, [capabilitiesKey(site.db)]);
  const isOwner = user !== undefined && (await isKeyOf(link.key, user, unixFromDate(site.clock())));
  // Opening the link would begin a session, which such users do not get.
  if (isOwner && !(await isSpammer(site.db, user))) return user;
  attempts.countFailure(address, undefined, site.clock());
  return fail('password-link-invalid');
}

/**
 * Sets a new password for the owner of a link. Invalidates the link and ends all sessions.
 *
 * @throws password-link-invalid, too-many-requests; AccountError `password-short`, `password-long`
 */
export async function choosePassword(site: Site, link: PasswordLink, password: string, address: string): Promise<StoredUser> {
  const { row } = await ownerOfLink(site, link, address);
  const currentOwner = async (db: Database): Promise<StoredUser> => {
    const user = await requireUser(db, row.ID, [capabilitiesKey(db)]);
    return (await isKeyOf(link.key, user, unixFromDate(site.clock()))) ? user : fail('password-link-invalid');
  };
  return oneAtATime(row.ID, async () => {
    await currentOwner(site.db);
    const hash = await hashOf(site, password);
    return site.db.transaction(async (db) => {
      await lockUser(db, row.ID);
      const user = await currentOwner(db);
      await setPassword(db, user.row.ID, hash);
      return { ...user, row: { ...user.row, user_pass: hash } };
    });
  });
}

/**
 * Runs work for one user at a time. A link that is sent many times at once is hashed for once: hashing takes turns only
 * with itself, and would keep the process from all other work.
 */
const oneAtATime = limitConcurrencyOfEach(1);

/**
 * Sets a new password for a signed-in user who knows the current one. Ends all sessions.
 *
 * @throws incorrect_password, too-many-requests; AccountError `password-short`, `password-long`
 */
export async function changePassword(
  site: Site,
  id: number,
  { currentPassword, password, address }: { readonly currentPassword: string; readonly password: string; readonly address: string },
): Promise<StoredUser> {
  const startedAt = performance.now();
  const user = await requireUser(site.db, id, accountKeys(site.db));
  const wait = secondsToWaitAt(site, { name: user.row.user_login, address, user });
  if (wait !== undefined) return fail('too-many-requests', { data: { retry_after: wait } });
  const { matching, durationMs: hashingMs } = await verifyInThread({ password: currentPassword, address }, [user.row.user_pass]);
  if (matching < 0) return refuseSignIn(site, { name: user.row.user_login, address, guessed: 'account', user, startedAt, hashingMs });
  const hash = await hashOf(site, password);
  await site.db.transaction(async (db) => {
    await lockUser(db, id);
    // The password may have been changed since it was checked.
    const { row } = await requireUser(db, id, []);
    if (row.user_pass !== user.row.user_pass) fail('incorrect_password');
    await setPassword(db, id, hash);
  });
  return { ...user, row: { ...user.row, user_pass: hash } };
}

async function setPassword(db: Database, id: number, hash: string): Promise<void> {
  await updateUser(db, id, { user_pass: hash, user_activation_key: '' });
  await endAllSessions(db, id);
}

async function hashOf(site: Site, password: string): Promise<string> {
  if ([...password.trim()].length < MIN_PASSWORD_LENGTH) throw new AccountError('password-short', { letters: MIN_PASSWORD_LENGTH });
  if (isPasswordTooLong(password)) throw new AccountError('password-long');
  return hashPassword(passwordFromForm(password), hashFormatOf(await site.settings()));
}

/** Whether a key belongs to a user's link (`check_password_reset_key`). */
async function isKeyOf(key: string, { row }: StoredUser, now: number): Promise<boolean> {
  const [, issuedAt, hash = ''] = /^(\d{1,15}):(.+)$/.exec(row.user_activation_key) ?? [];
  return issuedAt !== undefined && now < Number(issuedAt) + DAY_SECONDS && verifyPassword(key, hash);
}
