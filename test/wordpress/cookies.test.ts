import { describe, expect, it } from '@jest/globals';
import { loginCookieName, parseLoginCookie, passwordFragment, verifyLoginCookie } from '../../src/wordpress/cookies.ts';
import { createLoginCookie } from '../support/login-cookie.ts';

const salt = 'keykeykeysaltsalt';
const userPass = '$wp$2y$10$abcdefghijklmnopqrstuv1234';
const expiration = 1_800_000_000;
const token = 'tok0123456789';
const key = 'd83eea103f7cfc351dae29c53e8fbc2866fb0678097f78965a19f36279a5d2c4';
const value = `admin|${expiration}|${token}|0c1083b2b370ee1f3761bdcece67173e9633b1383c75f125d7c772977ed7b731`;
const cookie = parseLoginCookie(value)!;
const check = { salt, userPass, sessions: { [key]: { expiration } }, now: expiration - 10 };

describe('login cookies', () => {
  it('are named after the address of the site', () =>
    expect(loginCookieName('http://127.0.0.1:8081')).toBe('wordpress_logged_in_868d72495b7d63175cfbaed4ef4dd9ea'));
  it('have four parts', () => expect(cookie).toMatchObject({ login: 'admin', expiration, token }));
  it.each(['', 'admin', 'admin|1|x', 'admin|1|x|y|z', 'admin|soon|x|y', '|1|x|y', 'admin|-1|x|y'])(
    'are rejected if malformed: %j',
    (broken) => expect(parseLoginCookie(broken)).toBeUndefined(),
  );

  it('are accepted if made by WordPress', () => expect(verifyLoginCookie(cookie, check)).toBe(true));
  it('use another part of a phpass hash', () => {
    const hmac = 'd2ced303efdc8b9b8f50f475aa20fc30ce59a4023c4e186a9e9fee4b351eafcd';
    expect(verifyLoginCookie({ ...cookie, hmac }, { ...check, userPass: '$P$BABCDEFGHIJKLMNOPQ' })).toBe(true);
  });
  it.each([
    ['another login', { login: 'ed' }, {}],
    ['a longer life', { expiration: expiration + 1 }, {}],
    ['another token', { token: 'x' }, {}],
    ['a wrong signature', { hmac: 'x' }, {}],
    ['another salt', {}, { salt: 'x' }],
    ['a new password', {}, { userPass: `${userPass}5678` }],
    ['an ended session', {}, { sessions: {} }],
    ['an expired session', {}, { sessions: { [key]: { expiration: check.now - 1 } } }],
    ['its time over', {}, { now: expiration + 1 }],
  ])('are refused with %s', (_, change, other) => expect(verifyLoginCookie({ ...cookie, ...change }, { ...check, ...other })).toBe(false));
  it('are valid for another hour for a POST request', () => {
    const late = { ...check, now: expiration + 3600, sessions: { [key]: { expiration: expiration + 7200 } } };
    expect(verifyLoginCookie(cookie, { ...late, post: true })).toBe(true);
    expect(verifyLoginCookie(cookie, { ...late, now: late.now + 1, post: true })).toBe(false);
  });

  it('are created as WordPress creates them', () => {
    expect(createLoginCookie({ login: 'admin', userPass, expiration }, salt, token)).toEqual({ value, token, sessionKey: key });
  });
  it.each([
    ['$P$BABCDEFGHIJ', 'EFGH'],
    ['$2y$10$abcdefgh', 'bcde'],
    ['$wp$2y$10$abcdefgh', 'efgh'],
    ['149603e6c03516362a8da23f624db945', 'b945'],
  ])('use this fragment of the hash %s: %s', (stored, fragment) => expect(passwordFragment(stored)).toBe(fragment));
});
