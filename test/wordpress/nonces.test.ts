import { describe, expect, it } from '@jest/globals';
import { createNonce, verifyNonce } from '../../src/wordpress/nonces.ts';

const salt = 'keykeykeysaltsalt';
const now = 1_795_162_000;
const HALF_DAY = 43_200;
const user = { user: 7, token: 'tok0123456789' };
const visitor = { user: 0, token: '' };

describe('nonces', () => {
  it.each([
    ['a user', user, '2d9b9c24ce'],
    ['a visitor', visitor, '594aa19a44'],
  ])('for %s are those of WordPress', (_, subject, nonce) => {
    expect(createNonce(subject, salt, now)).toBe(nonce);
    expect(verifyNonce(nonce, subject, salt, now)).toBe(1);
  });
  it('are valid in the next half day, but no longer', () => {
    const nonce = createNonce(user, salt, now);
    expect([1, 2, 3].map((age) => verifyNonce(nonce, user, salt, now + (age - 1) * HALF_DAY))).toEqual([1, 2, false]);
  });
  it.each([
    ['another user', { ...user, user: 8 }],
    ['another session', { ...user, token: 'x' }],
    ['another action', { ...user, action: 'edit' }],
  ])('are not valid for %s', (_, subject) => expect(verifyNonce('2d9b9c24ce', subject, salt, now)).toBe(false));
  it.each(['', '2d9b9c24c', '2d9b9c24ce0', 'é'])('are rejected if malformed: %j', (nonce) =>
    expect(verifyNonce(nonce, user, salt, now)).toBe(false),
  );
});
