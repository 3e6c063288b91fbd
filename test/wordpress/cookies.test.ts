import { describe, expect, it } from '@jest/globals';
import { loginCookieName, parseLoginCookie, passwordFragment, type Session, verifyLoginCookie } from '../../src/wordpress/cookies.ts';
import { createLoginCookie } from '../support/login-cookie.ts';

const salt = 'keykeykeysaltsalt';
const userPass = '$wp$2y$10$abcdefghijklmnopqrstuv1234';
const expiration = 1_800_000_000;
const token = 'tok0123456789';
const key = 'd83eea103f7cfc351dae29c53e8fbc2866fb0678097f78965a19f36279a5d2c4';
const value = `admin|${expiration}|${token}|0c1083b2b370ee1f3761bdcece67173e9633b1383c75f125d7c772977ed7b731`;
const cookie = parseLoginCookie(value)!;
const holding = (sessions: Readonly<Record<string, Session>>) => ({ loadSessions: async () => sessions });
const check = { salt, userPass, format: 'current' as const, ...holding({ [key]: { expiration, login: 7 } }), now: expiration - 10 };
const unread = {
  loadSessions: () => {
    throw new Error('sessions were loaded');
  },
};

describe('login cookies', () => {
  it('are named after the address of the site', () =>
    expect(loginCookieName('http://127.0.0.1:8081')).toBe('wordpress_logged_in_868d72495b7d63175cfbaed4ef4dd9ea'));
  it('have four parts', () => expect(cookie).toMatchObject({ login: 'admin', expiration, token }));
  it.each(['', 'admin', 'admin|1|x', 'admin|1|x|y|z', 'admin|soon|x|y', '|1|x|y', 'admin|-1|x|y'])(
    'are rejected if malformed: %j',
    (broken) => expect(parseLoginCookie(broken)).toBeUndefined(),
  );

  it('are accepted if made by WordPress', async () => expect(await verifyLoginCookie(cookie, check)).toEqual({ expiration, login: 7 }));
  it('use another part of a phpass hash', async () => {
    const hmac = 'd2ced303efdc8b9b8f50f475aa20fc30ce59a4023c4e186a9e9fee4b351eafcd';
    expect(await verifyLoginCookie({ ...cookie, hmac }, { ...check, userPass: '$P$BABCDEFGHIJKLMNOPQ' })).toBeDefined();
  });
  it.each([
    ['an ended session', {}, holding({})],
    ['an inherited name as session', {}, holding(Object.create({ [key]: { expiration } }))],
    ['an expired session', {}, holding({ [key]: { expiration: check.now - 1 } })],
    // A user can have many sessions, and anybody can send the following ones.
    ['another login', { login: 'ed' }, unread],
    ['a longer life', { expiration: expiration + 1 }, unread],
    ['another token', { token: 'x' }, unread],
    ['a wrong signature', { hmac: 'x' }, unread],
    ['a wrong signature of the right length', { hmac: '0'.repeat(64) }, unread],
    ['another salt', {}, { ...unread, salt: 'x' }],
    ['a new password', {}, { ...unread, userPass: `${userPass}5678` }],
    ['its time over', {}, { ...unread, now: expiration + 1 }],
  ])('are refused with %s', async (_, change, other) =>
    expect(await verifyLoginCookie({ ...cookie, ...change }, { ...check, ...other })).toBeUndefined(),
  );
  it('are valid for another hour for a POST request', async () => {
    const late = { ...check, now: expiration + 3600, ...holding({ [key]: { expiration: expiration + 7200 } }) };
    expect(await verifyLoginCookie(cookie, { ...late, post: true })).toBeDefined();
    expect(await verifyLoginCookie(cookie, { ...late, now: late.now + 1, post: true })).toBeUndefined();
  });

  it('are created as WordPress creates them', () => {
    expect(createLoginCookie({ login: 'admin', userPass, expiration }, salt, token)).toEqual({ value, token, sessionKey: key });
  });
  it.each([
    ['$P$BABCDEFGHIJ', 'EFGH'],
    ['$2y$10$abcdefgh', 'bcde'],
    ['$wp$2y$10$abcdefgh', 'efgh'],
    ['149603e6c03516362a8da23f624db945', 'b945'],
  ])('use this fragment of the hash %s: %s', (stored, fragment) => expect(passwordFragment(stored, 'current')).toBe(fragment));
  it.each([
    ['$P$BABCDEFGHIJ', 'EFGH'],
    ['$2y$10$abcdefgh', 'bcde'],
    ['149603e6c03516362a8da23f624db945', 'c035'],
  ])('use this fragment of the hash %s before WordPress 6.8: %s', (stored, fragment) =>
    expect(passwordFragment(stored, 'phpass')).toBe(fragment),
  );
});
