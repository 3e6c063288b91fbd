import { fail } from '../errors.ts';
import { BLOG_BASES } from '../kinds/core/blog.ts';
import { postTypes } from '../kinds/index.ts';
import type { Site } from '../site.ts';
import { recordPasswords } from '../storage/lists/post-visibility.ts';
import { attemptsOf } from './attempts.ts';

/**
 * Admits a request with the password of a protected record, unless its address has sent too many wrong ones. A password
 * is wrong if it opens no record of the site, although some are protected. These failures are counted separately from
 * sign-ins, so that visitors who guess do not lock out other users of the same address, such as all users in an office.
 *
 * Once the limit is reached, the right password is refused too. Otherwise the errors would not prevent anybody from
 * trying all passwords. It continues to work from other addresses.
 *
 * @param password parameter `password` as it was sent; an empty one, or one that is not a text, counts as none
 * @throws too-many-requests with `data.retry_after` in seconds
 */
export async function checkRecordPassword(site: Site, password: unknown, address: string): Promise<void> {
  if (typeof password !== 'string' || password === '') return;
  const attempts = attemptsOf(site, 'record-password');
  const wait = attempts.secondsToWait(address, site.clock());
  if (wait !== undefined) fail('too-many-requests', { data: { retry_after: wait }, detail: { tried: 'password of a record' } });
  const passwords = await passwordsOf(site);
  if (passwords.size > 0 && !passwords.has(password)) attempts.countFailure(address, undefined, site.clock());
}

/** Types that passwords can open: records of the calendar, blog posts and pages. */
const PROTECTABLE_TYPES = [...postTypes, ...Object.keys(BLOG_BASES)];

/** Requests with passwords load the list of all passwords from the database at most this often, in milliseconds. */
const CACHE_MS = 1000;

const passwordsBySite = new WeakMap<Site, { readonly at: number; readonly passwords: Promise<ReadonlySet<string>> }>();

/**
 * Returns all passwords of records, at most a moment old. The records that they open are looked up again for each
 * request.
 */
function passwordsOf(site: Site): Promise<ReadonlySet<string>> {
  const [cached, now] = [passwordsBySite.get(site), site.clock().getTime()];
  if (cached && now >= cached.at && now < cached.at + CACHE_MS) return cached.passwords;
  const passwords = recordPasswords(site.db, PROTECTABLE_TYPES);
  passwordsBySite.set(site, { at: now, passwords });
  passwords.catch(() => passwordsBySite.delete(site));
  return passwords;
}
