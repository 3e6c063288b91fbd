import { LRUCache } from 'lru-cache';
import { fail } from '../errors.ts';
import { BLOG_BASES } from '../kinds/core/blog.ts';
import { ORGANIZER_LINK, VENUE_LINK } from '../kinds/events/metas.ts';
import { postTypes } from '../kinds/index.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { linksOfPosts } from '../storage/lists/named-by-posts.ts';
import { recordPasswords } from '../storage/lists/post-visibility.ts';
import { loadPosts } from '../storage/rows/bundle.ts';
import { addressKey, attemptsOf } from './attempts.ts';

/** The origin of a password: the address of the client, and the post that the request names, if it names one. */
export interface PasswordSource {
  readonly address: string;
  readonly findNamedPost?: () => Promise<number | undefined>;
}

/**
 * Admits a request with the password of a protected record, unless its address has sent too many wrong ones. These
 * failures are counted separately from sign-ins, so that visitors who guess do not lock out other users of the same
 * address, such as all users in an office.
 *
 * A password is wrong if it opens neither the record that the request names nor one that this record shows. In a list,
 * and if the named record shows nothing that is protected, it is wrong if it opens no published record, although some
 * are protected. Otherwise somebody could store guesses as passwords of own records, so that they never count.
 *
 * Once the limit is reached, the right password is refused too. Otherwise the errors would not prevent anybody from
 * trying all passwords. It continues to work from other addresses.
 *
 * @param password parameter `password` as it was sent; an empty one, or one that is not a text, counts as none
 * @throws too-many-requests with `data.retry_after` in seconds
 */
export async function checkRecordPassword(site: Site, password: unknown, { address, findNamedPost }: PasswordSource): Promise<void> {
  if (typeof password !== 'string' || password === '') return;
  const attempts = attemptsOf(site, 'record-password');
  const wait = attempts.secondsToWait(address, site.clock());
  if (wait !== undefined) fail('too-many-requests', { data: { retry_after: wait }, detail: { tried: 'password of a record' } });
  const namedPost = await findNamedPost?.();
  const shownPasswords = namedPost === undefined ? NONE : await passwordsShownIn(site.db, namedPost);
  const passwords = shownPasswords.size > 0 ? shownPasswords : await passwordsOf(site);
  if (passwords.size === 0) return;
  if (!passwords.has(password) || isOneOfMany(site, address, password)) attempts.countFailure(address, undefined, site.clock());
}

const NONE: ReadonlySet<string> = new Set();

/** Types that passwords can open: records of the calendar, blog posts and pages. */
const PROTECTABLE_TYPES = [...postTypes, ...Object.keys(BLOG_BASES)];

/** Returns the passwords of a post, and of the venues and organizers that it shows. */
async function passwordsShownIn(db: Database, id: number): Promise<ReadonlySet<string>> {
  const links = await linksOfPosts(db, [id], [VENUE_LINK, ORGANIZER_LINK]);
  const posts = await loadPosts(db, [id, ...links.map((link) => link.id)]);
  const protectedPosts = [...posts.values()].filter((row) => row.post_password !== '' && PROTECTABLE_TYPES.includes(row.post_type));
  return new Set(protectedPosts.map((row) => row.post_password));
}

/** Requests with passwords load the list of all passwords from the database at most this often, in milliseconds. */
const CACHE_MS = 1000;

const passwordsBySite = new WeakMap<Site, { readonly at: number; readonly passwords: Promise<ReadonlySet<string>> }>();

/**
 * Returns all passwords of published records, at most a moment old. The records that they open are looked up again for
 * each request.
 */
function passwordsOf(site: Site): Promise<ReadonlySet<string>> {
  const [cached, now] = [passwordsBySite.get(site), site.clock().getTime()];
  if (cached && now >= cached.at && now < cached.at + CACHE_MS) return cached.passwords;
  const passwords = recordPasswords(site.db, PROTECTABLE_TYPES);
  passwordsBySite.set(site, { at: now, passwords });
  passwords.catch(() => passwordsBySite.delete(site));
  return passwords;
}

// ------------------------------------------------------------------------------------------------- right ones
/**
 * Number of different right passwords that an address may send within the window without limit. Each further one counts
 * once as a wrong one: a user who may publish can make guesses at the password of another record right ones, since a
 * list shows both records, and an event shows its venue.
 */
const UNCOUNTED_PASSWORDS = 20;
/** Length of the window, in milliseconds. */
const WINDOW_MS = 900_000;
/** Maximum number of addresses that are kept. The least recently used ones are forgotten. */
const MAX_ADDRESSES = 1000;

/** The different right passwords that an address has sent since its window began, and the end of the window. */
interface SentPasswords {
  readonly passwords: Set<string>;
  readonly until: number;
}

/** By the configuration, which a site and its replicas share. */
const sentByConfig = new WeakMap<Site['config'], LRUCache<string, SentPasswords>>();

/** Whether a right password is new for this address, and the address has sent many others before. */
function isOneOfMany({ config, clock }: Site, address: string, password: string): boolean {
  const sent = sentByConfig.get(config) ?? new LRUCache<string, SentPasswords>({ max: MAX_ADDRESSES });
  sentByConfig.set(config, sent);
  const [key, now] = [addressKey(address), clock().getTime()];
  const stored = sent.get(key);
  const current =
    stored && now < stored.until && stored.until <= now + WINDOW_MS ? stored : { passwords: new Set<string>(), until: now + WINDOW_MS };
  sent.set(key, current);
  if (current.passwords.has(password)) return false;
  current.passwords.add(password);
  return current.passwords.size > UNCOUNTED_PASSWORDS;
}
