import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Salt } from './cookies.ts';

/** Seconds of half a nonce's life: it is valid in the half day in which it was made and in the next one. */
const TICK_SECONDS = 43_200;

/** The user and the action that a nonce is for. `user`: 0 and an empty `token` for visitors. */
export interface NonceSubject {
  readonly user: number;
  /** Token of the login cookie. */
  readonly token: string;
  /** `wp_rest` for the REST interface. */
  readonly action?: string;
}

/**
 * Returns a nonce: ten characters (`wp_create_nonce`). `salt`: `NONCE_KEY` followed by `NONCE_SALT`; `now` in Unix
 * seconds.
 */
export const createNonce = (subject: NonceSubject, salt: Salt, now: number): string => nonceAt(tick(now), subject, salt);

/**
 * Returns 1 for a nonce of the current half day, 2 for one of the previous half day, false for any other
 * (`wp_verify_nonce`).
 */
export function verifyNonce(nonce: string, subject: NonceSubject, salt: Salt, now: number): 1 | 2 | false {
  const actual = Buffer.from(nonce);
  const matches = (age: number) => {
    const expected = Buffer.from(nonceAt(tick(now) - age, subject, salt));
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  };
  if (matches(0)) return 1;
  return matches(1) ? 2 : false;
}

const tick = (now: number) => Math.ceil(now / TICK_SECONDS);

const nonceAt = (at: number, { user, token, action = 'wp_rest' }: NonceSubject, salt: Salt) =>
  createHmac('md5', salt).update([at, action, user, token].join('|')).digest('hex').slice(-12, -2);
