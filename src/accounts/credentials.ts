import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SiteSettings } from '../calendar/settings.ts';
import { fail } from '../errors.ts';
import type { Site } from '../site.ts';
import { capabilitiesKey, findUserByLoginOrEmail, loadUsers, replaceUserMeta, type StoredUser } from '../storage/rows/users.ts';
import { createNonce, verifyNonce } from '../wordpress/nonces.ts';
import { fastHash, normalizeApplicationPassword } from '../wordpress/passwords.ts';
import { toSerialized } from '../wordpress/php/serialized.ts';
import { unixFromDate } from '../wordpress/time.ts';
import { ANONYMOUS, type Viewer } from '../wordpress/viewer.ts';
import { attemptsOf, purposeOf } from './attempts.ts';
import { loginKeys } from './login-keys.ts';
import { loginOf } from './logins.ts';
import { refuseSignIn } from './refused-sign-in.ts';
import { requireRoomForCheck, verifyInThread } from './slow-passwords.ts';
import { areApplicationPasswordsInUse, PASSWORDS_KEY, parsePasswords, type StoredPassword } from './stored-passwords.ts';
import { toViewer } from './viewer.ts';

/** Credentials in the head of a request. */
export interface Credentials {
  /** The header `Authorization`. */
  readonly authorization?: string | undefined;
  /** The header `Cookie`. */
  readonly cookie?: string | undefined;
  /** Whether the connection is encrypted. */
  readonly secure: boolean;
  /** Address of the client. */
  readonly address: string;
  /** Whether the request comes from a page of another site, according to the browser. */
  readonly isForeignPage: boolean;
  /** Whether it is a POST. A cookie that expired while a long form was filled in is then valid for another hour. */
  readonly post?: boolean;
}

export interface Identity {
  readonly viewer: Viewer;
  /** A fresh nonce to send as `X-WP-Nonce`. */
  readonly nonce?: string;
}

/** The identity that a request claims. The database is queried for each proof only when it is needed, and only once. */
export interface Claim {
  /** Returns the owner of a genuine login cookie. Without a nonce this is not sufficient to act as that user. */
  readonly userOfCookie: () => Promise<Viewer | undefined>;
  /** Identifies the sender, given the nonce: parameter `_wpnonce`, otherwise the header `X-WP-Nonce`. */
  readonly identify: (nonce: string | undefined) => Promise<Identity>;
}

/**
 * Reads the sender of a request: WordPress's login cookie with a nonce, otherwise an application password by Basic
 * authentication, otherwise anonymous. Any other `Authorization`, a cookie without a nonce, and Basic without a
 * password count as anonymous. Roles are the current ones.
 *
 * `identify` throws `incorrect_password` for any wrong pair of name and password (D16), `too-many-requests` instead if
 * there were too many of them (`data.retry_after` in seconds), `rest_cookie_invalid_nonce` for an invalid nonce.
 */
export function readClaim(site: Site, settings: SiteSettings, credentials: Credentials): Claim {
  const login = once(() => loginOf(site, settings, credentials));
  const byPassword = once(() => userOfPassword(site, settings, credentials));
  return {
    userOfCookie: async () => {
      const owner = await login();
      return owner && toViewer(site.db, settings, owner.user);
    },
    identify: async (nonce) => {
      const owner = nonce === undefined ? undefined : await login();
      if (owner)
        return {
          viewer: toViewer(site.db, settings, owner.user),
          nonce: await renewNonce(site, settings, nonce!, { user: owner.user.row.ID, token: owner.token }),
        };
      const viewer = await byPassword();
      if (viewer) return { viewer };
      return nonce === undefined
        ? { viewer: ANONYMOUS }
        : { viewer: ANONYMOUS, nonce: await renewNonce(site, settings, nonce, { user: 0, token: '' }) };
    },
  };
}

/**
 * Identifies again a viewer of a long-running request, with the roles that the database has now. Undefined if the
 * account, the session or the application password does not exist any more.
 */
export async function identifyAgain(
  site: Site,
  settings: SiteSettings,
  { viewer, credentials }: { readonly viewer: Viewer; readonly credentials: Credentials },
): Promise<Viewer | undefined> {
  const { id, applicationPassword: uuid } = viewer;
  if (id === ANONYMOUS.id) return ANONYMOUS;
  if (uuid === undefined) {
    const user = (await loginOf(site, settings, credentials))?.user;
    return user?.row.ID === id ? toViewer(site.db, settings, user) : undefined;
  }
  const user = (await loadUsers(site.db, [id], [capabilitiesKey(site.db), PASSWORDS_KEY])).get(id);
  const isKept = parsePasswords(user?.metas.get(PASSWORDS_KEY)).some((entry) => entry.uuid === uuid);
  return user && isKept ? { ...toViewer(site.db, settings, user), applicationPassword: uuid } : undefined;
}

const once = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work();
    return result;
  };
};

/** Time for which the result of a slow verification is remembered, in milliseconds. */
const CACHE_MS = 5000;
const MAX_CACHED = 1000;
/** WordPress records the last use of an application password at most once a day. */
const LAST_USE_INTERVAL_SECONDS = 86_400;

/** The verifications that this process remembers for one site. */
interface VerificationCache {
  /** Digest of a stored hash and its verified password -> expiry in milliseconds. */
  readonly expiryByKey: LRUCache<string, number>;
  /** Passwords whose use is being recorded. */
  readonly pendingUuids: Set<string>;
}

const caches = new WeakMap<Site, VerificationCache>();

function cacheOf(site: Site): VerificationCache {
  const cached = caches.get(site);
  if (cached) return cached;
  const cache: VerificationCache = {
    expiryByKey: new LRUCache({ max: MAX_CACHED }),
    pendingUuids: new Set(),
  };
  caches.set(site, cache);
  return cache;
}

/** Parses name and password of a Basic header. An empty password counts as none, as in PHP. */
function parseBasic(authorization: string | undefined): { name: string; password: string } | undefined {
  const encoded = /^basic +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const password = decoded.slice(colon + 1);
  return colon < 0 || password === '' ? undefined : { name: decoded.slice(0, colon).trim(), password };
}

/** Returns the user whose application password was sent; undefined if none was, or if the site accepts none. */
async function userOfPassword(site: Site, settings: SiteSettings, credentials: Credentials): Promise<Viewer | undefined> {
  const pair = parseBasic(credentials.authorization);
  if (!pair || !(site.config.basicAuth === 'always' || credentials.secure)) return undefined;
  // Cached options may be outdated: the first password of a site must work as soon as any process has stored it.
  if (!settings.applicationPasswords && !(await areApplicationPasswordsInUse(site.db))) return undefined;
  const { name, password } = pair;
  const { address, isForeignPage } = credentials;
  const startedAt = performance.now();
  const user = await findUserByLoginOrEmail(site.db, name, [capabilitiesKey(site.db), PASSWORDS_KEY]);
  const { entry, hashingMs } = await findMatching(site, user, normalizeApplicationPassword(password), credentials);
  if (user && entry) {
    recordUse(site, user, entry, address);
    return { ...toViewer(site.db, settings, user), applicationPassword: entry.uuid };
  }
  return refuseSignIn(site, { name, address, guessed: { isForeignPage }, user, startedAt, hashingMs });
}

/**
 * Finds the application password that was sent, and returns the time that old hashes took for it. The fast hash is
 * computed exactly once, whether or not the user exists. Hashes of old WordPress versions are slow, so they are
 * computed in a separate thread, and not at all for an address that has failed too often. This never
 * locks out the owner of a correct password at another address, nor anyone who uses a password created since WordPress
 * 6.8.
 *
 * @throws too-many-requests if too many checks are waiting, also for users who have no old hashes
 */
async function findMatching(
  site: Site,
  user: StoredUser | undefined,
  typedPassword: string,
  { address, isForeignPage }: Pick<Credentials, 'address' | 'isForeignPage'>,
): Promise<{ readonly entry?: StoredPassword | undefined; readonly hashingMs: number }> {
  const typedHash = Buffer.from(fastHash(typedPassword));
  const entries = parsePasswords(user?.metas.get(PASSWORDS_KEY));
  const slowEntries = entries.filter(({ password }) => !password.startsWith('$generic$'));
  const match =
    entries.find(
      ({ password }) =>
        password.length === typedHash.length && timingSafeEqual(Buffer.from(password).subarray(0, typedHash.length), typedHash),
    ) ?? slowEntries.find(({ password }) => wasVerified(site, password, typedPassword));
  if (match) return { entry: match, hashingMs: 0 };
  if (attemptsOf(site, 'sign-in', purposeOf({ isForeignPage })).secondsToWait(address, site.clock()) !== undefined) return { hashingMs: 0 };
  requireRoomForCheck(address);
  if (slowEntries.length === 0) return { hashingMs: 0 };
  const hashes = slowEntries.map(({ password }) => password);
  const { matching, durationMs: hashingMs } = await verifyInThread({ password: typedPassword, address }, hashes);
  const entry = slowEntries[matching];
  if (entry) cacheOf(site).expiryByKey.set(cacheKeyOf(entry.password, typedPassword), site.clock().getTime() + CACHE_MS);
  return { entry, hashingMs };
}

/** Whether a slow verification has succeeded a moment ago. */
const wasVerified = (site: Site, hash: string, typedPassword: string): boolean =>
  (cacheOf(site).expiryByKey.get(cacheKeyOf(hash, typedPassword)) ?? 0) > site.clock().getTime();

/**
 * Returns the key of a result: by hash and password, so that a revoked or replaced password is refused at once, by
 * every process.
 */
const cacheKeyOf = (hash: string, typedPassword: string): string =>
  createHash('sha256').update(`${hash}\n${typedPassword}`).digest('base64');

/**
 * Records the use of a password in the background; neither the answer nor the success of the request depends on it
 * (`record_application_password_usage`). If the list is changed at the same moment, nothing is recorded; the next use
 * will be.
 */
function recordUse(site: Site, { row, metas }: StoredUser, { uuid, last_used: lastUsed }: StoredPassword, address: string): void {
  const { pendingUuids } = cacheOf(site);
  const now = unixFromDate(site.clock());
  if ((lastUsed ?? 0) + LAST_USE_INTERVAL_SECONDS > now || pendingUuids.has(uuid)) return;
  pendingUuids.add(uuid);
  const before = metas.get(PASSWORDS_KEY) ?? '';
  const after = parsePasswords(before).map((entry) => (entry.uuid === uuid ? { ...entry, last_used: now, last_ip: address } : entry));
  replaceUserMeta(site.db, row.ID, PASSWORDS_KEY, { before, after: toSerialized(after) })
    .catch((error: unknown) => site.log.warn({ err: error, user: row.ID }, 'the last use of an application password could not be stored'))
    .finally(() => pendingUuids.delete(uuid));
}

/** Returns a fresh nonce for a valid one. Without keys no nonce is valid. */
async function renewNonce(
  site: Site,
  settings: SiteSettings,
  nonce: string,
  { user, token }: { readonly user: number; readonly token: string },
): Promise<string> {
  const keys = await loginKeys(site, settings);
  const salt = keys && keys.nonceKey + keys.nonceSalt;
  const now = unixFromDate(site.clock());
  if (salt === undefined)
    return fail('rest_cookie_invalid_nonce', { detail: { because: 'the keys and salts of WordPress are not configured' } });
  if (!verifyNonce(nonce, { user, token }, salt, now)) {
    const because = user > 0 ? 'the nonce is wrong or has expired' : 'no genuine login cookie came with the nonce';
    return fail('rest_cookie_invalid_nonce', { detail: { because, user } });
  }
  return createNonce({ user, token }, salt, now);
}
