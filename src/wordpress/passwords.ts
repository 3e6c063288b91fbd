import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { argon2iAsync, argon2idAsync } from '@noble/hashes/argon2.js';
import { blake2b } from '@noble/hashes/blake2.js';
import { compare, hash } from 'bcryptjs';
import { trimAscii } from './trim.ts';

/** Maximum length of passwords that WordPress checks, in bytes. */
const MAX_PASSWORD_BYTES = 4096;
/** Work factor of new hashes: PHP's default for bcrypt below 8.4. */
const BCRYPT_COST = 10;
const FAST_HASH = '$generic$';
const FAST_HASH_KEY = new TextEncoder().encode('wp_fast_hash_6.8+');
const FAST_HASH_BYTES = 30;
const APPLICATION_PASSWORD_LENGTH = 24;
const ALPHANUMERICS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * Returns whether a password matches a stored hash (WordPress `wp_check_password`, `wp_verify_fast_hash`). Supports
 * `$wp$2y$`, plain bcrypt, Argon2, `$P$` and `$H$` of phpass, plain MD5 and `$generic$`; other formats never match.
 * Long computations yield to other work.
 */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES || hash === '') return false;
  if (hash.startsWith(FAST_HASH)) return isEqualInConstantTime(fastHash(password), hash);
  if (hash.startsWith('$wp$2')) return compare(digestForBcrypt(password), hash.slice('$wp'.length));
  if (/^\$2[aby]\$/.test(hash)) return compare(password, hash);
  if (hash.startsWith('$argon2')) return verifyArgon2(password, hash);
  if (/^\$[PH]\$/.test(hash)) return isEqualInConstantTime(await portableHash(password, hash), hash);
  if (/^[0-9a-f]{32}$/.test(hash)) return isEqualInConstantTime(createHash('md5').update(password).digest('hex'), hash);
  return false;
}

/**
 * Returns a password as WordPress's forms pass it on to be hashed: with backslashes before quotes and backslashes
 * (`wp_magic_quotes`), which WordPress does not remove, and without surrounding white space.
 */
export const passwordFromForm = (password: string): string => trimAscii(password.replace(/['"\\]/g, '\\$&').replaceAll('\0', '\\0'));

/** Whether a typed password is too long for WordPress to check it: a form may pass it on longer than it was typed. */
export const isPasswordTooLong = (typed: string): boolean => Buffer.byteLength(passwordFromForm(typed)) > MAX_PASSWORD_BYTES;

/**
 * Returns whether a typed password matches a stored hash, either as a WordPress form sends it or unchanged, as programs
 * set it.
 */
export async function verifyTypedPassword(password: string, hash: string): Promise<boolean> {
  for (const candidate of new Set([passwordFromForm(password), password])) if (await verifyPassword(candidate, hash)) return true;
  return false;
}

/** The format of new hashes: that of WordPress 6.8 and later, or of phpass, which earlier versions understand. */
export type HashFormat = 'current' | 'phpass';

/** Returns the hash of an account's password as WordPress stores it: `$wp$2y$...` or `$P$...` (`wp_hash_password`). */
export async function hashPassword(password: string, format: HashFormat): Promise<string> {
  if (format === 'phpass') return newPortableHash(trimAscii(password));
  return `$wp${(await hash(digestForBcrypt(password), BCRYPT_COST)).replace(/^\$2[ab]\$/, '$2y$')}`;
}

/** The algorithm of an account's stored hash and its work factor, of which each one more takes twice as long. */
export interface HashCost {
  readonly algorithm: 'bcrypt' | 'phpass';
  readonly factor: number;
}

/**
 * Returns how much work an account's stored hash is: those of one algorithm and factor take equally long to compute.
 * Undefined for hashes that are fast, invalid or of another algorithm.
 */
export function costOfHash(stored: string): HashCost | undefined {
  const bcryptFactor = /^(?:\$wp)?\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(stored)?.[1];
  if (bcryptFactor !== undefined) return { algorithm: 'bcrypt', factor: Number(bcryptFactor) };
  const phpassDigit = /^\$[PH]\$([./A-Za-z0-9]).{30}$/.exec(stored)?.[1];
  return phpassDigit === undefined ? undefined : { algorithm: 'phpass', factor: PHPASS_DIGITS.indexOf(phpassDigit) };
}

/**
 * Returns the hash of a generated password, such as an application password or the key of a link, as WordPress stores
 * it: `$generic$...` (`wp_fast_hash`) or `$P$...`.
 */
export const hashGeneratedPassword = async (password: string, format: HashFormat): Promise<string> =>
  format === 'phpass' ? newPortableHash(password) : fastHash(password);

/**
 * Returns a new application password: 24 letters and digits
 * (`WP_Application_Passwords::create_new_application_password`).
 */
export const newApplicationPassword = (): string =>
  Array.from({ length: APPLICATION_PASSWORD_LENGTH }, () => ALPHANUMERICS[randomInt(ALPHANUMERICS.length)]).join('');

/**
 * Returns a password in groups of four characters, as it is shown (`WP_Application_Passwords::chunk_password`). The
 * spaces are not part of it.
 */
export const groupedPassword = (password: string): string => password.replace(/(.{4})(?=.)/g, '$1 ');

/**
 * Returns an application password as it was created, without the spaces and dashes that people type
 * (`wp_authenticate_application_password`).
 */
export const normalizeApplicationPassword = (password: string): string => password.replace(/[^a-z0-9]/gi, '');

/** Returns the hash of a generated password as WordPress 6.8 and later store it (`wp_fast_hash`). */
export function fastHash(password: string): string {
  const digest = blake2b(Buffer.from(password), { key: FAST_HASH_KEY, dkLen: FAST_HASH_BYTES });
  return FAST_HASH + Buffer.from(digest).toString('base64url');
}

/**
 * Returns the input for bcrypt: a digest, since bcrypt only reads 72 bytes. Trims like PHP's `trim`, not JavaScript's.
 */
function digestForBcrypt(password: string): string {
  const trimmed = trimAscii(password);
  return createHmac('sha384', 'wp-sha384').update(trimmed).digest('base64');
}

/**
 * An Argon2 hash as PHP stores it (`password_hash`), on sites that chose this algorithm (`wp_hash_password_algorithm`).
 */
const ARGON2 = /^\$argon2(id|i)\$v=19\$m=(\d{1,9}),t=(\d{1,9}),p=(\d{1,2})\$([A-Za-z0-9+/]{8,128})\$([A-Za-z0-9+/]{8,128})$/;
/** Maximum memory in kibibytes, and maximum product of memory and passes: four times PHP's defaults. */
const MAX_MEMORY_KIB = 262_144;
const MAX_WORK = 1_048_576;

/** Returns whether a password matches an Argon2 hash. Takes seconds, since there is no native code. */
async function verifyArgon2(password: string, stored: string): Promise<boolean> {
  const [, kind, memory, passes, lanes, salt = '', sum = ''] = ARGON2.exec(stored) ?? [];
  const [m, t, p] = [Number(memory), Number(passes), Number(lanes)];
  if (kind === undefined || t < 1 || p < 1 || m < 8 * p || m > MAX_MEMORY_KIB || m * t > MAX_WORK) return false;
  const expected = Buffer.from(sum, 'base64');
  const compute = kind === 'id' ? argon2idAsync : argon2iAsync;
  const hash = await compute(Buffer.from(password), Buffer.from(salt, 'base64'), { m, t, p, dkLen: expected.length });
  return timingSafeEqual(hash, expected);
}

const PHPASS_DIGITS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Number of rounds between two pauses: a few milliseconds of work. */
const ROUNDS_PER_TURN = 4096;
/** Exponent of the maximum number of rounds: more would allow an attack through the database. */
const MAX_LOG_ROUNDS = 20;
/** Exponent of the number of rounds of new hashes, and the length of their salt before it is encoded. */
const LOG_ROUNDS = 13;
const SALT_BYTES = 6;

/** Returns a new portable hash of phpass, with WordPress's number of rounds (`PasswordHash::HashPassword`). */
const newPortableHash = (password: string): Promise<string> =>
  portableHash(password, `$P$${PHPASS_DIGITS[LOG_ROUNDS]}${phpassBase64(randomBytes(SALT_BYTES))}`);

/**
 * Returns the portable hash of phpass: MD5 in 2^n rounds with the salt and the n of `setting`. Empty if the setting is
 * out of range.
 */
async function portableHash(password: string, setting: string): Promise<string> {
  const logRounds = PHPASS_DIGITS.indexOf(setting[3] ?? '?');
  const salt = setting.slice(4, 12);
  if (logRounds < 7 || logRounds > MAX_LOG_ROUNDS || salt.length < 8) return '';
  const bytes = Buffer.from(password);
  let digest = createHash('md5').update(salt).update(bytes).digest();
  for (let round = 1; round <= 2 ** logRounds; round += 1) {
    digest = createHash('md5').update(digest).update(bytes).digest();
    if (round % ROUNDS_PER_TURN === 0) await setImmediate();
  }
  return setting.slice(0, 12) + phpassBase64(digest);
}

/** Returns phpass's base 64: least significant bits first, its own digits, no padding. */
function phpassBase64(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const group = bytes.subarray(index, index + 3);
    const value = group.reduce((sum, byte, index) => sum + byte * 256 ** index, 0);
    for (let digit = 0; digit <= group.length; digit += 1) text += PHPASS_DIGITS[Math.floor(value / 64 ** digit) % 64];
  }
  return text;
}

/** Compares two texts in constant time, so that the time does not reveal where they differ (PHP `hash_equals`). */
function isEqualInConstantTime(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
