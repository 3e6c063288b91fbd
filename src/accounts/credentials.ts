import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SiteSettings } from '../calendar/settings.ts';
import { fail } from '../errors.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { readOptions } from '../storage/rows/options.ts';
import { capabilitiesKey, findUserByLoginOrEmail, loadUsers, replaceUserMeta, type StoredUser } from '../storage/rows/users.ts';
import { createNonce, verifyNonce } from '../wordpress/nonces.ts';
import { hashApplicationPassword, normalizeApplicationPassword } from '../wordpress/passwords.ts';
import { toSerialized } from '../wordpress/php/serialized.ts';
import { unixFromDate } from '../wordpress/time.ts';
import { ANONYMOUS, type Viewer } from '../wordpress/viewer.ts';
import { attemptsOf } from './attempts.ts';
import { loginKeys } from './login-keys.ts';
import { loginOf } from './logins.ts';
import { refuseSignIn } from './refused-sign-in.ts';
import { isCrowded, verifySlowly } from './slow-passwords.ts';
import { PASSWORDS_KEY, PASSWORDS_OPTION, parsePasswords, type StoredPassword } from './stored-passwords.ts';
import { viewerOf } from './viewer.ts';

/** What the head of a request says about who sends it. */
export interface Credentials {
  /** The header `Authorization`. */
  readonly authorization?: string | undefined;
  /** The header `Cookie`. */
  readonly cookie?: string | undefined;
  /** Whether the connection is encrypted. */
  readonly secure: boolean;
  /** Address of the client. */
  readonly address: string;
  /** Whether it is a POST: a cookie that ran out during a long form is good for an hour more. */
  readonly post?: boolean;
}

export interface Identity {
  readonly viewer: Viewer;
  /** A fresh nonce to send as `X-WP-Nonce`. */
  readonly nonce?: string;
}

/** Who a request claims to come from. The database is asked for each proof when it is needed, and once. */
export interface Claim {
  /** The owner of its genuine login cookie. Without a nonce that is not enough to act for them. */
  readonly cookieOwner: () => Promise<Viewer | undefined>;
  /** Who sends it, by its nonce: parameter `_wpnonce`, else the header `X-WP-Nonce`. */
  readonly identify: (nonce: string | undefined) => Promise<Identity>;
}

/**
 * Reads who sends a request: WordPress's login cookie with a nonce, else an application password by Basic, else nobody
 * in particular. Anything else in `Authorization`, a cookie without a nonce, and Basic without a password are nobody's.
 * Roles are those of this moment.
 *
 * `identify` throws `incorrect_password` for any wrong pair of name and password (D16), `too-many-requests` instead
 * when there were too many of them (`data.retry_after` in seconds), `rest_cookie_invalid_nonce` for a nonce that is not
 * good.
 */
export function claimOf(site: Site, settings: SiteSettings, credentials: Credentials): Claim {
  const login = once(() => loginOf(site, settings, credentials));
  const byPassword = once(() => passwordOwner(site, settings, credentials));
  return {
    cookieOwner: async () => {
      const owner = await login();
      return owner && viewerOf(site.db, settings, owner.user);
    },
    identify: async (nonce) => {
      const owner = nonce === undefined ? undefined : await login();
      if (owner)
        return { viewer: viewerOf(site.db, settings, owner.user), nonce: await freshNonce(site, nonce!, owner.user.row.ID, owner.token) };
      const viewer = await byPassword();
      if (viewer) return { viewer };
      return nonce === undefined ? { viewer: ANONYMOUS } : { viewer: ANONYMOUS, nonce: await freshNonce(site, nonce, 0, '') };
    },
  };
}

/**
 * Who a viewer is at this moment who was identified when something began that goes on for long: with the roles that the
 * database says now. Undefined: the account, the session or the application password is not there any more.
 */
export async function stillIdentified(
  site: Site,
  settings: SiteSettings,
  { viewer, credentials }: { readonly viewer: Viewer; readonly credentials: Credentials },
): Promise<Viewer | undefined> {
  const { id, applicationPassword: uuid } = viewer;
  if (id === ANONYMOUS.id) return ANONYMOUS;
  if (uuid === undefined) {
    const user = (await loginOf(site, settings, credentials))?.user;
    return user?.row.ID === id ? viewerOf(site.db, settings, user) : undefined;
  }
  const user = (await loadUsers(site.db, [id], [capabilitiesKey(site.db), PASSWORDS_KEY])).get(id);
  const isKept = parsePasswords(user?.metas.get(PASSWORDS_KEY)).some((entry) => entry.uuid === uuid);
  return user && isKept ? { ...viewerOf(site.db, settings, user), applicationPassword: uuid } : undefined;
}

const once = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let begun: Promise<T> | undefined;
  return () => {
    begun ??= work();
    return begun;
  };
};

/** How long the outcome of a slow verification is remembered. */
const REMEMBERED_MS = 5000;
const MOST_REMEMBERED = 1000;
/** WordPress notes the last use of an application password once a day. */
const USE_NOTED_SECONDS = 86_400;

/** What this process remembers for one site. */
interface Memory {
  /** Digest of a stored hash and the password that was found behind it -> until when that counts, in milliseconds. */
  readonly verified: LRUCache<string, number>;
  /** Passwords whose use is being noted. */
  readonly noting: Set<string>;
}

const memories = new WeakMap<Site, Memory>();

function memoryOf(site: Site): Memory {
  const known = memories.get(site);
  if (known) return known;
  const memory: Memory = {
    verified: new LRUCache({ max: MOST_REMEMBERED }),
    noting: new Set(),
  };
  memories.set(site, memory);
  return memory;
}

/**
 * What is known of the options may be a moment old: the first password of a site works from the moment that it is made,
 * whoever makes it.
 */
const passwordsInUse = async (db: Database): Promise<boolean> =>
  !['', '0'].includes((await readOptions(db, [PASSWORDS_OPTION])).get(PASSWORDS_OPTION) ?? '');

/** Name and password of a Basic header. An empty password counts as none, as PHP has it. */
function basicPair(authorization: string | undefined): { name: string; password: string } | undefined {
  const encoded = /^basic +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const password = decoded.slice(colon + 1);
  return colon < 0 || password === '' ? undefined : { name: decoded.slice(0, colon).trim(), password };
}

/** The user whose application password was sent; undefined: none was, or the site takes none. */
async function passwordOwner(site: Site, settings: SiteSettings, credentials: Credentials): Promise<Viewer | undefined> {
  const pair = basicPair(credentials.authorization);
  if (!pair || !(site.config.basicAuth === 'always' || credentials.secure)) return undefined;
  if (!settings.applicationPasswords && !(await passwordsInUse(site.db))) return undefined;
  const { name, password } = pair;
  const { address } = credentials;
  const begun = performance.now();
  const user = await findUserByLoginOrEmail(site.db, name, [capabilitiesKey(site.db), PASSWORDS_KEY]);
  const crowded = isCrowded();
  const { entry, slow } = await findMatching(site, user, normalizeApplicationPassword(password), address);
  if (user && entry) {
    noteUse(site, user, entry, address);
    return { ...viewerOf(site.db, settings, user), applicationPassword: entry.uuid };
  }
  return refuseSignIn(site, { name, address, user, begun, hashed: slow, crowded });
}

/**
 * The application password that was sent, and whether an old hash was computed for it. The fast hash is computed
 * exactly once, whether or not the user exists; hashes of old WordPress versions take long, so that they are tried one
 * at a time, in a thread of their own, and not at all for an address that has failed too often. That never locks out
 * the owner of a right password elsewhere, and nobody at all from passwords made since WordPress 6.8.
 */
async function findMatching(
  site: Site,
  user: StoredUser | undefined,
  plain: string,
  address: string,
): Promise<{ entry: StoredPassword | undefined; slow: boolean }> {
  const fast = Buffer.from(hashApplicationPassword(plain));
  const entries = parsePasswords(user?.metas.get(PASSWORDS_KEY));
  const found = entries.find(
    ({ password }) => password.length === fast.length && timingSafeEqual(Buffer.from(password).subarray(0, fast.length), fast),
  );
  if (found) return { entry: found, slow: false };
  const old = entries.filter(({ password }) => !password.startsWith('$generic$'));
  for (const entry of old) if (await verifiedSlowly(site, entry.password, plain, address)) return { entry, slow: true };
  return { entry: undefined, slow: old.length > 0 };
}

/**
 * Remembered by hash and password, so that a password that was revoked or replaced is refused at once, by whichever
 * process.
 */
async function verifiedSlowly(site: Site, stored: string, plain: string, address: string): Promise<boolean> {
  const memory = memoryOf(site);
  const key = createHash('sha256').update(`${stored}\n${plain}`).digest('base64');
  const now = site.clock().getTime();
  if ((memory.verified.get(key) ?? 0) > now) return true;
  if (attemptsOf(site, 'sign-in').secondsToWait(address, site.clock()) !== undefined) return false;
  const right = await verifySlowly(plain, stored);
  if (right) memory.verified.set(key, now + REMEMBERED_MS);
  return right;
}

/**
 * Notes the use of a password beside the request: neither its answer nor its success depend on it
 * (`record_application_password_usage`). A list that somebody changes at the same moment is left alone; the next use
 * will be noted.
 */
function noteUse(site: Site, { row, metas }: StoredUser, { uuid, last_used: last }: StoredPassword, address: string): void {
  const { noting } = memoryOf(site);
  const now = unixFromDate(site.clock());
  if ((last ?? 0) + USE_NOTED_SECONDS > now || noting.has(uuid)) return;
  noting.add(uuid);
  const before = metas.get(PASSWORDS_KEY) ?? '';
  const after = parsePasswords(before).map((entry) => (entry.uuid === uuid ? { ...entry, last_used: now, last_ip: address } : entry));
  replaceUserMeta(site.db, row.ID, PASSWORDS_KEY, { before, after: toSerialized(after) })
    .catch((error: unknown) => site.log.warn({ err: error, user: row.ID }, 'the use of an application password was not noted'))
    .finally(() => noting.delete(uuid));
}

/** A fresh nonce for the bearer of a good one. Without keys none can be good. */
async function freshNonce(site: Site, nonce: string, user: number, token: string): Promise<string> {
  const keys = await loginKeys(site);
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
