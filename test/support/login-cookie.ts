import { createHmac, randomBytes } from 'node:crypto';
import { passwordFragment, sessionKey } from '../../src/wordpress/cookies.ts';

/** Settings with the keys of a site's `wp-config.php`, which make a login valid for WordPress, too. */
export const LOGIN_KEYS = { LOGGED_IN_KEY: 'a-key', LOGGED_IN_SALT: 'a-salt', NONCE_KEY: 'n-key', NONCE_SALT: 'n-salt' };

/** The user of a login cookie. `userPass` is the column `user_pass`; `expiration` is in Unix seconds. */
interface Holder {
  readonly login: string;
  readonly userPass: string;
  readonly expiration: number;
}

/**
 * A login cookie's value as WordPress makes it (`wp_generate_auth_cookie`), not yet URL-encoded, and the key under
 * which its session must be kept in `session_tokens`.
 */
export function createLoginCookie(
  { login, userPass, expiration }: Holder,
  salt: string,
  token = randomBytes(32).toString('hex').slice(0, 43),
): { value: string; token: string; sessionKey: string } {
  const key = createHmac('md5', salt)
    .update([login, passwordFragment(userPass, 'current'), expiration, token].join('|'))
    .digest('hex');
  const hmac = createHmac('sha256', key).update([login, expiration, token].join('|')).digest('hex');
  return { value: [login, expiration, token, hmac].join('|'), token, sessionKey: sessionKey(token) };
}
