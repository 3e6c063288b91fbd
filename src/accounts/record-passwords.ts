import { fail } from '../errors.ts';
import { BLOG_BASES } from '../kinds/core/blog.ts';
import { ORGANIZER_LINK, VENUE_LINK } from '../kinds/events/metas.ts';
import { postTypes } from '../kinds/index.ts';
import type { Site } from '../site.ts';
import { formOf } from '../storage/languages/forms.ts';
import { linksOfPosts } from '../storage/lists/named-by-posts.ts';
import { recordPasswords } from '../storage/lists/post-visibility.ts';
import { loadPosts } from '../storage/rows/bundle.ts';
import { attemptsOf, purposeOf } from './attempts.ts';

/**
 * The origin of a password: the address of the client, whether a page of another site sent it, and the post that the
 * request names, if it names one.
 */
export interface PasswordSource {
  readonly address: string;
  readonly isForeignPage: boolean;
  readonly findNamedPost?: () => Promise<number | undefined>;
}

/**
 * Admits a request with the password of a protected record, unless its address has sent too many wrong ones. These
 * failures are counted separately from sign-ins, so that visitors who guess do not lock out other users of the same
 * address, such as all users in an office. Nor does a page of another site that one of them visits.
 *
 * A password is wrong if it opens neither the record that the request names nor one that this record shows. In a list,
 * and if the named record shows nothing that is protected, it is wrong if it opens no published record, although some
 * are protected. Otherwise somebody could store guesses as passwords of own records, so that they never count. For the
 * same reason each further right password counts once an address has sent many different ones.
 *
 * Once the limit is reached, the right password is refused too. Otherwise the errors would not prevent anybody from
 * trying all passwords. It continues to work from other addresses.
 *
 * @param password parameter `password` as it was sent; an empty one, or one that is not a text, counts as none
 * @throws too-many-requests with `data.retry_after` in seconds
 */
export async function checkRecordPassword(site: Site, password: unknown, source: PasswordSource): Promise<void> {
  if (typeof password !== 'string' || password === '') return;
  const { address, findNamedPost } = source;
  const purpose = purposeOf(source);
  const attempts = attemptsOf(site, 'record-password', purpose);
  const wait = attempts.secondsToWait(address, site.clock());
  if (wait !== undefined) fail('too-many-requests', { data: { retry_after: wait }, detail: { tried: 'password of a record' } });
  const namedPost = await findNamedPost?.();
  const shownPasswords = namedPost === undefined ? NONE : await passwordsShownIn(site, namedPost);
  const passwords = shownPasswords.size > 0 ? shownPasswords : await passwordsOf(site);
  if (passwords.size === 0) return;
  const isOneOfMany = () => attemptsOf(site, 'right-password', purpose).countNew(address, password, site.clock()) !== undefined;
  if (!passwords.has(password) || isOneOfMany()) attempts.countFailure(address, undefined, site.clock());
}

const NONE: ReadonlySet<string> = new Set();

/** Types that passwords can open: records of the calendar, blog posts and pages. */
const PROTECTABLE_TYPES = [...postTypes, ...Object.keys(BLOG_BASES)];

/**
 * Returns the passwords of a post, and of the venues and organizers that it shows: those that it links to, and their
 * translations into its language, which some routes show instead.
 */
async function passwordsShownIn(site: Site, id: number): Promise<ReadonlySet<string>> {
  const { db } = site;
  const links = (await linksOfPosts(db, [id], [VENUE_LINK, ORGANIZER_LINK])).map((link) => link.id);
  const posts = await loadPosts(db, [id, ...links, ...(await translationsOf(site, links, id))]);
  const protectedPosts = [...posts.values()].filter((row) => row.post_password !== '' && PROTECTABLE_TYPES.includes(row.post_type));
  return new Set(protectedPosts.map((row) => row.post_password));
}

/** Returns the translations of linked records into the language of the post that links to them. */
async function translationsOf(site: Site, links: readonly number[], post: number): Promise<number[]> {
  const { contentLanguages } = await site.settings();
  if (!contentLanguages || links.length === 0) return [];
  const { posts } = await formOf(contentLanguages).memberships(site.db, contentLanguages, { posts: [post, ...links], terms: [] });
  const language = posts.get(post)?.language ?? undefined;
  return language === undefined ? [] : links.flatMap((id) => posts.get(id)?.members.get(language) ?? []);
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
