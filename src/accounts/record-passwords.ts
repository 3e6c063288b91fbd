import { fail } from '../errors.ts';
import { BLOG_BASES } from '../kinds/core/blog.ts';
import { postTypes } from '../kinds/index.ts';
import type { Site } from '../site.ts';
import { recordPasswords } from '../storage/lists/post-visibility.ts';
import { attemptsOf } from './attempts.ts';

/**
 * Lets a request go on that brings the password of a protected record, unless its address has been wrong too often. A
 * password is wrong when it opens no record of the site, though some are protected. This is counted apart from signing
 * in: visitors who guess lock nobody out who shares their address, as all do within one office.
 *
 * The right one is refused along with the others then: else the errors would not keep anybody from trying them all.
 * From other addresses it goes on working.
 *
 * @param password parameter `password` as it came; what is no text, or empty, opens nothing and counts as none
 * @throws too-many-requests with `data.retry_after` in seconds
 */
export async function admitRecordPassword(site: Site, password: unknown, address: string): Promise<void> {
  if (typeof password !== 'string' || password === '') return;
  const attempts = attemptsOf(site, 'record-password');
  const wait = attempts.secondsToWait(address, site.clock());
  if (wait !== undefined) fail('too-many-requests', { data: { retry_after: wait }, detail: { tried: 'password of a record' } });
  const right = await passwordsOf(site);
  if (right.size > 0 && !right.has(password)) attempts.failed(address, undefined, site.clock());
}

/** What passwords open: records of the calendar, and what is shown of the blog and its pages. */
const OPENED_TYPES = [...postTypes, ...Object.keys(BLOG_BASES)];

/** Nobody who sends passwords makes the database look for all of them more often than this. */
const REMEMBERED_MS = 1000;

const known = new WeakMap<Site, { readonly at: number; readonly passwords: Promise<ReadonlySet<string>> }>();

/** All passwords of records, as they were a moment ago: what they open is looked up again each time. */
function passwordsOf(site: Site): Promise<ReadonlySet<string>> {
  const [last, now] = [known.get(site), site.clock().getTime()];
  if (last && now >= last.at && now < last.at + REMEMBERED_MS) return last.passwords;
  const passwords = recordPasswords(site.db, OPENED_TYPES);
  known.set(site, { at: now, passwords });
  passwords.catch(() => known.delete(site));
  return passwords;
}
