import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { HashFormat } from './passwords.ts';

/**
 * A salt of WordPress's configuration: `LOGGED_IN_KEY` followed by `LOGGED_IN_SALT`, or the pair of another scheme
 * (`wp_salt`).
 */
export type Salt = string;

/** Options in which WordPress stores keys and salts if its configuration has none (`wp_salt`). */
export const LOGIN_KEY_OPTIONS = {
  loggedInKey: 'logged_in_key',
  loggedInSalt: 'logged_in_salt',
  nonceKey: 'nonce_key',
  nonceSalt: 'nonce_salt',
} as const;

/** A session as stored in usermeta `session_tokens`, under the SHA-256 of its token. Times are Unix seconds. */
export interface Session {
  readonly expiration: number;
  readonly login?: number;
  readonly ip?: string;
  readonly ua?: string;
}

/** The four elements of a login cookie. `expiration` in Unix seconds. */
export interface LoginCookie {
  readonly login: string;
  readonly expiration: number;
  readonly token: string;
  readonly hmac: string;
}

/** Seconds by which WordPress extends the expiration for a POST, so that a long form is not lost. */
const POST_GRACE_SECONDS = 3600;

/**
 * Returns the name of the login cookie of a site (`LOGGED_IN_COOKIE`). `siteUrl`: its option without trailing slash, or
 * the stored URL of its network.
 */
export const loginCookieName = (siteUrl: string): string => `wordpress_logged_in_${createHash('md5').update(siteUrl).digest('hex')}`;

/** Returns the elements of a login cookie's decoded value, or undefined if it is invalid (`wp_parse_auth_cookie`). */
export function parseLoginCookie(value: string): LoginCookie | undefined {
  const [login, expiration, token, hmac, ...rest] = value.split('|');
  if (!login || !expiration || !token || !hmac || rest.length > 0 || !/^\d{1,15}$/.test(expiration)) return undefined;
  return { login, expiration: Number(expiration), token, hmac };
}

/**
 * Returns the part of an account's password hash that cookies depend on, so that a new password invalidates them
 * (`wp_generate_auth_cookie`). WordPress before 6.8 takes the same part of all hashes; it writes none with `$wp$`.
 */
export const passwordFragment = (userPass: string, format: HashFormat): string =>
  /^\$(P|2y)\$/.test(userPass) || (format === 'phpass' && !userPass.startsWith('$wp$')) ? userPass.slice(8, 12) : userPass.slice(-4);

/** The values on which the signature of a user's cookies depends. */
export interface CookieSecrets {
  readonly salt: Salt;
  /** Column `user_pass` of the user named by the cookie. */
  readonly userPass: string;
  /** The format of new hashes of the site. */
  readonly format: HashFormat;
}

export interface CookieCheck extends CookieSecrets {
  /** Loads the user's sessions by key, as in `session_tokens`. Called only for a cookie whose signature is right. */
  readonly loadSessions: () => Promise<Readonly<Record<string, Session>>>;
  /** Unix seconds. */
  readonly now: number;
  /** Whether the request is a POST. */
  readonly post?: boolean;
}

/**
 * Returns the session of a login cookie that is genuine and not expired (`wp_validate_auth_cookie`). Anybody can send a
 * cookie with the name of a user, and a user can have many sessions: they are not looked at for a wrong signature.
 */
export async function verifyLoginCookie(
  cookie: LoginCookie,
  { loadSessions, now, post = false, ...secrets }: CookieCheck,
): Promise<Session | undefined> {
  if (cookie.expiration + (post ? POST_GRACE_SECONDS : 0) < now) return undefined;
  const expected = Buffer.from(signature(cookie, secrets));
  const actual = Buffer.from(cookie.hmac);
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) return undefined;
  const session = new Map(Object.entries(await loadSessions())).get(sessionKey(cookie.token));
  return session !== undefined && session.expiration >= now ? session : undefined;
}

/** Returns the value of a login cookie, not yet encoded for a header (`wp_generate_auth_cookie`). */
export const signLoginCookie = (cookie: Omit<LoginCookie, 'hmac'>, secrets: CookieSecrets): string =>
  [cookie.login, cookie.expiration, cookie.token, signature(cookie, secrets)].join('|');

/** Returns the key of a session in `session_tokens`: the SHA-256 of its token, in hexadecimal. */
export const sessionKey = (token: string): string => createHash('sha256').update(token).digest('hex');

function signature({ login, expiration, token }: Omit<LoginCookie, 'hmac'>, { salt, userPass, format }: CookieSecrets): string {
  const key = createHmac('md5', salt)
    .update([login, passwordFragment(userPass, format), expiration, token].join('|'))
    .digest('hex');
  return createHmac('sha256', key).update([login, expiration, token].join('|')).digest('hex');
}
