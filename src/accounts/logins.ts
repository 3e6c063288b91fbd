import { randomBytes } from 'node:crypto';
import type { SiteSettings } from '../calendar/settings.ts';
import type { Keys } from '../config/config.ts';
import { fail } from '../errors.ts';
import { isObject } from '../objects.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import {
  capabilitiesKey,
  findUserByLogin,
  findUserByLoginOrEmail,
  isSpammer,
  loadUsers,
  lockUser,
  type StoredUser,
  writeUserMeta,
} from '../storage/rows/users.ts';
import {
  type CookieSecrets,
  type LoginCookie,
  loginCookieName,
  parseLoginCookie,
  type Session,
  sessionKey,
  signLoginCookie,
  verifyLoginCookie,
} from '../wordpress/cookies.ts';
import { NETWORK_ADDRESS } from '../wordpress/network.ts';
import { createNonce, verifyNonce } from '../wordpress/nonces.ts';
import { parseSerialized, toSerialized } from '../wordpress/php/serialized.ts';
import { unixFromDate } from '../wordpress/time.ts';
import { trimEndOf } from '../wordpress/trim.ts';
import { addressKey, attemptsOf } from './attempts.ts';
import { decoysBeside } from './decoy-hashes.ts';
import { hashFormatOf } from './hash-format.ts';
import { loginKeys, requireLoginKeys } from './login-keys.ts';
import { accountAttemptsOf, countedName, refuseSignIn } from './refused-sign-in.ts';
import { requireRoomForCheck, verifyInThread } from './slow-passwords.ts';

/*
 * Sign-in with the name and password of WordPress. Cookie and sessions have WordPress's format, so a login is valid on
 * both sides if both have the same keys.
 */

/** A user who is signed in by a cookie. */
export interface Login {
  readonly user: StoredUser;
  /** The token of the session. */
  readonly token: string;
  readonly session: Session;
}

/** A cookie to set. `maxAge` in seconds; undefined: until the browser is closed. */
export interface NewCookie {
  readonly name: string;
  readonly value: string;
  readonly maxAge: number | undefined;
}

const SESSIONS_KEY = 'session_tokens';
const DAY_SECONDS = 86_400;
/** Duration of a login (`wp_set_auth_cookie`). */
const SESSION_SECONDS = 2 * DAY_SECONDS;
const LONG_SESSION_SECONDS = 14 * DAY_SECONDS;
/**
 * Additional time for which the browser keeps the cookie after the login has expired, so that the owner of a late form
 * is still known.
 */
const COOKIE_GRACE_SECONDS = 43_200;
const MAX_AGENT_LENGTH = 250;

/**
 * Returns the name of the login cookie of a site. WordPress derives it from the option, whether that is an address or
 * not. The sites of a network share one name, derived from the network's stored address (`wp_cookie_constants`).
 */
export const loginCookieNameOf = ({ raw }: Pick<SiteSettings, 'raw'>): string =>
  loginCookieName(raw.get(NETWORK_ADDRESS) || trimEndOf(raw.get('siteurl') ?? '', '/'));

/** The cookies of a request. `post`: whether it is a form. */
interface CookieRequest {
  readonly cookie?: string | undefined;
  readonly post?: boolean;
}

/** Returns the user whose genuine login cookie comes with a request, and its token. */
export const loginOf = async (site: Site, settings: SiteSettings, request: CookieRequest): Promise<Login | undefined> =>
  (await loginsOf(site, settings, request))[0];

/**
 * Returns the logins of all genuine cookies of a request. Browsers keep a cookie for each path for which it was set,
 * and send that of the longest one first, even if it has become invalid since.
 */
export async function loginsOf(site: Site, settings: SiteSettings, { cookie: header, post = false }: CookieRequest): Promise<Login[]> {
  const cookies = loginCookies(header, loginCookieNameOf(settings));
  const keys = cookies.length === 0 ? undefined : await loginKeys(site, settings);
  if (!keys) return [];
  const logins = await Promise.all(
    cookies.map(async (cookie): Promise<Login[]> => {
      const user = await findUserByLogin(site.db, cookie.login, [capabilitiesKey(site.db), 'locale']);
      if (!user) return [];
      const session = await verifyLoginCookie(cookie, {
        ...cookieSecrets(settings, keys, user),
        loadSessions: () => loadSessions(site.db, user.row.ID),
        now: unixFromDate(site.clock()),
        post,
      });
      return session ? [{ user, token: cookie.token, session }] : [];
    }),
  );
  return logins.flat();
}

const cookieSecrets = (settings: SiteSettings, keys: Keys, { row }: StoredUser): CookieSecrets => ({
  salt: keys.loggedInKey + keys.loggedInSalt,
  userPass: row.user_pass,
  format: hashFormatOf(settings),
});

/** Whether the user asked to stay signed in when the session began: such sessions last longer (`wp_update_user`). */
export const isRemembered = ({ session }: Login): boolean =>
  session.expiration - Number(session.login ?? session.expiration) > SESSION_SECONDS;

/** A sign-in request. */
export interface SignIn {
  /** Login or e-mail address. */
  readonly name: string;
  readonly password: string;
  readonly remember: boolean;
  readonly address: string;
  /** The header `User-Agent`. */
  readonly agent: string | undefined;
}

/**
 * Begins a session for the owner of a name and password. Existing sessions continue, since each sign-in has a separate
 * token.
 *
 * @throws incorrect_password, too-many-requests (`data.retry_after` in seconds), spammer_account
 *   (`wp_authenticate_spam_check`)
 */
export async function signIn(site: Site, settings: SiteSettings, attempt: SignIn): Promise<BegunSession> {
  const { name, password, address } = attempt;
  const startedAt = performance.now();
  const user = await findUserByLoginOrEmail(site.db, name.trim(), accountKeys(site.db));
  const waitSeconds = secondsToWaitAt(site, { name, address, user });
  const ownHash = user?.row.user_pass ?? '';
  const isChecked = waitSeconds === undefined && password !== '';
  // Before the decoys, which may take a look at every user.
  if (isChecked) requireRoomForCheck(address);
  const { matching, durationMs: hashingMs } = isChecked
    ? await verifyInThread({ password, address }, [ownHash], await decoysBeside(site, ownHash))
    : { matching: -1, durationMs: 0 };
  if (user && matching === 0 && (await isSpammer(site.db, user))) fail('spammer_account', { detail: { user: user.row.ID } });
  if (user && matching === 0) return beginSession(site, settings, user, attempt);
  return refuseSignIn(site, { name, address, guessed: 'account', user, startedAt, hashingMs, waitSeconds });
}

/** The metas of a user whose password is checked. */
export const accountKeys = (db: Database): readonly string[] => [capabilitiesKey(db), SESSIONS_KEY];

/**
 * Returns the seconds until an address may try the password of an account again, if it has failed too often, or too
 * many have failed for the name. `user`: the user of that name, if there is one, with the metas `accountKeys`.
 */
export function secondsToWaitAt(
  site: Site,
  { name, address, user }: { readonly name: string; readonly address: string; readonly user: StoredUser | undefined },
): number | undefined {
  const seconds = attemptsOf(site, 'sign-in').secondsToWait(address, site.clock());
  const nameSeconds = accountAttemptsOf(site).secondsToWaitFor(address, countedName(name), site.clock());
  return seconds ?? (nameSeconds !== undefined && user && hasSessionAt(user, address) ? undefined : nameSeconds);
}

/**
 * Whether a user, loaded with the sessions, has one that began at this address. There, the right password is accepted
 * even if others have failed too often for the name.
 */
const hasSessionAt = ({ metas }: StoredUser, address: string): boolean =>
  Object.values(sessionsOf(metas.get(SESSIONS_KEY))).some(({ ip }) => ip !== undefined && addressKey(String(ip)) === addressKey(address));

/** A session that has begun. */
export interface BegunSession {
  readonly login: Login;
  readonly cookie: NewCookie;
}

/** Begins a session for an authenticated user. */
export async function beginSession(
  site: Site,
  settings: SiteSettings,
  user: StoredUser,
  { remember, address, agent }: Pick<SignIn, 'remember' | 'address' | 'agent'>,
): Promise<BegunSession> {
  const { row } = user;
  const keys = await requireLoginKeys(site, settings);
  const token = randomBytes(32).toString('hex').slice(0, 43);
  const now = unixFromDate(site.clock());
  const expiration = now + (remember ? LONG_SESSION_SECONDS : SESSION_SECONDS);
  const session: Session = {
    expiration,
    ip: address,
    ...(agent === undefined ? {} : { ua: agent.slice(0, MAX_AGENT_LENGTH) }),
    login: now,
  };
  await changeSessions(site, row.ID, (sessions) => ({ ...newestSessions(sessions, MAX_SESSIONS - 1), [sessionKey(token)]: session }));
  const cookie: NewCookie = {
    name: loginCookieNameOf(settings),
    value: signLoginCookie({ login: row.user_login, expiration, token }, cookieSecrets(settings, keys, user)),
    maxAge: remember ? LONG_SESSION_SECONDS + COOKIE_GRACE_SECONDS : undefined,
  };
  return { login: { user, token, session }, cookie };
}

/**
 * Maximum number of sessions of a user. All of them are parsed with each request of the user, and sign-ins with the
 * right password are not limited.
 */
const MAX_SESSIONS = 100;

/** Returns the sessions that began last. */
const newestSessions = (sessions: Sessions, count: number): Sessions =>
  Object.fromEntries(
    Object.entries(sessions)
      .sort(([, one], [, other]) => beginningOf(other) - beginningOf(one))
      .slice(0, count),
  );

/** Returns when a session began, in Unix seconds; for one of an old WordPress version the earliest time. */
const beginningOf = ({ login, expiration }: Session): number => Number(login) || expiration - LONG_SESSION_SECONDS;

/** Ends one session of a user. Its cookie becomes invalid, here and in WordPress. */
export const endSession = (site: Site, userId: number, token: string): Promise<void> =>
  changeSessions(site, userId, ({ [sessionKey(token)]: _ended, ...otherSessions }) => otherSessions);

/** Changes the current sessions of a user, with the user locked, and removes expired ones. */
async function changeSessions(site: Site, userId: number, change: (sessions: Sessions) => Sessions): Promise<void> {
  const now = unixFromDate(site.clock());
  await site.db.transaction(async (db) => {
    await lockUser(db, userId);
    const storedSessions = Object.entries(await loadSessions(db, userId));
    const sessions = change(Object.fromEntries(storedSessions.filter(([, { expiration }]) => expiration >= now)));
    await writeUserMeta(db, userId, SESSIONS_KEY, Object.keys(sessions).length > 0 ? toSerialized(sessions) : undefined);
  });
}

/** Ends all sessions of a user, within a transaction. */
export const endAllSessions = (db: Database, userId: number): Promise<void> => writeUserMeta(db, userId, SESSIONS_KEY, undefined);

// ------------------------------------------------------------------------------------------------- nonces
/** The action of the nonces in the desk's forms. */
const FORM_ACTION = 'fasti-desk';

/** Creates a nonce for the forms of a signed-in user. */
export async function formNonce(site: Site, settings: SiteSettings, { user, token }: Login): Promise<string> {
  const keys = await requireLoginKeys(site, settings);
  return createNonce({ user: user.row.ID, token, action: FORM_ACTION }, keys.nonceKey + keys.nonceSalt, unixFromDate(site.clock()));
}

/** Whether a form has a nonce that was created for this session, at most a day ago. */
export async function isFormNonce(site: Site, settings: SiteSettings, { user, token }: Login, nonce: unknown): Promise<boolean> {
  const keys = await loginKeys(site, settings);
  if (typeof nonce !== 'string' || !keys) return false;
  const subject = { user: user.row.ID, token, action: FORM_ACTION };
  return verifyNonce(nonce, subject, keys.nonceKey + keys.nonceSalt, unixFromDate(site.clock())) !== false;
}

// ------------------------------------------------------------------------------------------------- reading
/** Maximum number of login cookies that are looked at: each takes a query. */
const MAX_LOGIN_COOKIES = 4;

function loginCookies(header: string | undefined, name: string): LoginCookie[] {
  const values = (header?.split(';') ?? []).flatMap((part) => {
    const [key, ...value] = part.split('=');
    return key!.trim() === name ? [value.join('=').trim().replaceAll('+', ' ')] : [];
  });
  return [...new Set(values)].slice(0, MAX_LOGIN_COOKIES).flatMap((value) => {
    try {
      return parseLoginCookie(decodeURIComponent(value)) ?? [];
    } catch {
      return [];
    }
  });
}

type Sessions = Readonly<Record<string, Session>>;

const loadSessions = async (db: Database, userId: number): Promise<Sessions> =>
  sessionsOf((await loadUsers(db, [userId], [SESSIONS_KEY])).get(userId)?.metas.get(SESSIONS_KEY));

/**
 * Parses sessions by the digest of their token, with all their stored members. Old WordPress versions stored only the
 * expiry.
 */
function sessionsOf(text: string | undefined): Sessions {
  const list = text === undefined ? undefined : parseSerialized(text);
  if (!isObject(list)) return {};
  return Object.fromEntries(
    Object.entries(list).map(([key, session]: [string, unknown]) => {
      const members = isObject(session) ? session : { expiration: session };
      return [key, { ...members, expiration: Number('expiration' in members ? members.expiration : 0) || 0 }];
    }),
  );
}
