import { createHash, createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { argon2iAsync, argon2idAsync } from '@noble/hashes/argon2.js';
import { blake2b } from '@noble/hashes/blake2.js';
import { compare, hash } from 'bcryptjs';
import { trimAscii } from './trim.ts';

/** Longest password WordPress looks at, in bytes. */
const MAX_BYTES = 4096;
/** Work factor of new hashes: PHP's default for bcrypt below 8.4. */
const BCRYPT_COST = 10;
const FAST_HASH = '$generic$';
const FAST_HASH_KEY = new TextEncoder().encode('wp_fast_hash_6.8+');
const FAST_HASH_BYTES = 30;
const APPLICATION_PASSWORD_LENGTH = 24;
const ALPHANUMERICS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * Whether a password is the one behind a stored hash (WordPress `wp_check_password`, `wp_verify_fast_hash`). Knows
 * `$wp$2y$`, plain bcrypt, Argon2, `$P$` and `$H$` of phpass, bare MD5 and `$generic$`; anything else never matches.
 * Long computations give way to other work.
 */
export async function verifyPassword(plain: string, stored: string): Promise<boolean> {
  if (Buffer.byteLength(plain) > MAX_BYTES || stored === '') return false;
  if (stored.startsWith(FAST_HASH)) return equal(fastHash(plain), stored);
  if (stored.startsWith('$wp$2')) return compare(digestForBcrypt(plain), stored.slice('$wp'.length));
  if (/^\$2[aby]\$/.test(stored)) return compare(plain, stored);
  if (stored.startsWith('$argon2')) return verifyArgon2(plain, stored);
  if (/^\$[PH]\$/.test(stored)) return equal(await portableHash(plain, stored), stored);
  if (/^[0-9a-f]{32}$/.test(stored)) return equal(createHash('md5').update(plain).digest('hex'), stored);
  return false;
}

/**
 * A password as WordPress gets it from its forms, and hashes it: with backslashes before quotes and backslashes
 * (`wp_magic_quotes`), which nobody takes away again, and without white space around it.
 */
export const passwordFromForm = (typed: string): string => trimAscii(typed.replace(/['"\\]/g, '\\$&').replaceAll('\0', '\\0'));

/**
 * Whether somebody types the password behind a stored hash: as a form of WordPress sends it, or as it stands, which is
 * how programs set it.
 */
export async function verifyTypedPassword(typed: string, stored: string): Promise<boolean> {
  for (const plain of new Set([passwordFromForm(typed), typed])) if (await verifyPassword(plain, stored)) return true;
  return false;
}

/** A hash of an account's password as WordPress 6.8 and later store it: `$wp$2y$...` (`wp_hash_password`). */
export async function hashPassword(plain: string): Promise<string> {
  return `$wp${(await hash(digestForBcrypt(plain), BCRYPT_COST)).replace(/^\$2[ab]\$/, '$2y$')}`;
}

/** A hash of an application password as WordPress 6.8 and later store it: `$generic$...` (`wp_fast_hash`). */
export const hashApplicationPassword = (plain: string): string => fastHash(plain);

/** A new application password: 24 letters and digits (`WP_Application_Passwords::create_new_application_password`). */
export const newApplicationPassword = (): string =>
  Array.from({ length: APPLICATION_PASSWORD_LENGTH }, () => ALPHANUMERICS[randomInt(ALPHANUMERICS.length)]).join('');

/** In groups of four, as people are shown it (`WP_Application_Passwords::chunk_password`); the spaces don't count. */
export const groupedPassword = (password: string): string => password.replace(/(.{4})(?=.)/g, '$1 ');

/**
 * An application password as it was made, without the spaces and dashes people write it with
 * (`wp_authenticate_application_password`).
 */
export const normalizeApplicationPassword = (typed: string): string => typed.replace(/[^a-z0-9]/gi, '');

function fastHash(plain: string): string {
  const digest = blake2b(Buffer.from(plain), { key: FAST_HASH_KEY, dkLen: FAST_HASH_BYTES });
  return FAST_HASH + Buffer.from(digest).toString('base64url');
}

/** What bcrypt gets to see: a digest, since bcrypt itself reads 72 bytes only. PHP's `trim`, not JavaScript's. */
function digestForBcrypt(plain: string): string {
  const trimmed = trimAscii(plain);
  return createHmac('sha384', 'wp-sha384').update(trimmed).digest('base64');
}

/** As PHP stores it (`password_hash`), where a site has chosen it (`wp_hash_password_algorithm`). */
const ARGON2 = /^\$argon2(id|i)\$v=19\$m=(\d{1,9}),t=(\d{1,9}),p=(\d{1,2})\$([A-Za-z0-9+/]{8,128})\$([A-Za-z0-9+/]{8,128})$/;
/** Kibibytes of memory, and those times the passes, that are used at most: four times as many as PHP does unasked. */
const MOST_MEMORY = 262_144;
const MOST_WORK = 1_048_576;

/** Whether a password is the one behind an Argon2 hash. Without native code it takes seconds. */
async function verifyArgon2(plain: string, stored: string): Promise<boolean> {
  const [, kind, memory, passes, lanes, salt = '', sum = ''] = ARGON2.exec(stored) ?? [];
  const [m, t, p] = [Number(memory), Number(passes), Number(lanes)];
  if (kind === undefined || t < 1 || p < 1 || m < 8 * p || m > MOST_MEMORY || m * t > MOST_WORK) return false;
  const expected = Buffer.from(sum, 'base64');
  const compute = kind === 'id' ? argon2idAsync : argon2iAsync;
  const computed = await compute(Buffer.from(plain), Buffer.from(salt, 'base64'), { m, t, p, dkLen: expected.length });
  return timingSafeEqual(computed, expected);
}

const PHPASS_DIGITS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Rounds between two pauses: a few milliseconds of work. */
const ROUNDS_AT_ONCE = 4096;
/** Exponent of the most rounds that are computed: more would be an attack through the database. */
const MAX_LOG_ROUNDS = 20;

/**
 * The portable hash of phpass: MD5 in 2^n rounds with the salt and the n of `setting`. Empty for a setting out of
 * range.
 */
async function portableHash(plain: string, setting: string): Promise<string> {
  const logRounds = PHPASS_DIGITS.indexOf(setting[3] ?? '?');
  const salt = setting.slice(4, 12);
  if (logRounds < 7 || logRounds > MAX_LOG_ROUNDS || salt.length < 8) return '';
  const password = Buffer.from(plain);
  let digest = createHash('md5').update(salt).update(password).digest();
  for (let round = 1; round <= 2 ** logRounds; round += 1) {
    digest = createHash('md5').update(digest).update(password).digest();
    if (round % ROUNDS_AT_ONCE === 0) await setImmediate();
  }
  return setting.slice(0, 12) + phpassBase64(digest);
}

/** Base 64 of phpass: least significant bits first, digits of its own, no padding. */
function phpassBase64(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const group = bytes.subarray(index, index + 3);
    const value = group.reduce((sum, byte, place) => sum + byte * 256 ** place, 0);
    for (let digit = 0; digit <= group.length; digit += 1) text += PHPASS_DIGITS[Math.floor(value / 64 ** digit) % 64];
  }
  return text;
}

/** Comparison in a time that does not reveal where two texts differ (PHP `hash_equals`). */
function equal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
