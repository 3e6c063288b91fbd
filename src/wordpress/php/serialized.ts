import { unserialize } from 'php-serialize';
import { isObject, objectOf } from '../../objects.ts';
import { trimAscii } from '../trim.ts';

/**
 * Returns whether a stored text is a value serialized by PHP (WordPress `is_serialized`), judged by its start and end,
 * as WordPress does.
 */
export function looksSerialized(text: string): boolean {
  if (!mayBeSerialized(text)) return false;
  const trimmed = trimAscii(text);
  if (trimmed === 'N;') return true;
  if (trimmed.length < 4 || !/[;}]$/.test(trimmed)) return false;
  if (trimmed.startsWith('s:') && trimmed.at(-2) !== '"') return false;
  return /^[saOE]:\d+:/.test(trimmed) || /^[bid]:[0-9.E+-]+;$/.test(trimmed);
}

/** Whether the text starts like a serialized value. Nearly every text is told from one by its second character. */
const mayBeSerialized = (text: string): boolean => {
  const second = text.charAt(1);
  return second === ':' || second === ';' || START.test(text);
};
const START = /^[ \t\n\r\0\v]+[A-Za-z][:;]/;

/**
 * Returns the value of a stored text: arrays with keys 0, 1, 2... as arrays, others as objects; integers beyond 2^53 as
 * bigint. A text that is not serialized, is invalid, or contains a PHP object or reference is returned unchanged:
 * objects are never created. Never throws.
 */
export function parseSerialized(text: string): unknown {
  if (!looksSerialized(text)) return text;
  const trimmed = trimAscii(text);
  try {
    if (trimmed.startsWith('s:')) return parseString(trimmed);
    if (hasOddLength(trimmed)) requireSound(trimmed);
    return trimmed.includes(PROTOTYPE) ? parseBesidePrototype(trimmed) : parse(trimmed);
  } catch {
    return text;
  }
}

/** Parses a serialized string that is not within another value. Throws if it is invalid. */
function parseString(text: string): string {
  const bytes = requireSound(text);
  return bytes.toString('utf8', text.indexOf('"') + 1, bytes.length - '";'.length);
}

/**
 * Whether something in a text looks like a length that is not a plain number. The parser reads negative ones, and goes
 * back by them as often as a count says.
 */
const hasOddLength = (text: string): boolean => /[saSOCE]:(?!\d{1,15}:)/.test(text);

/** Returns the bytes of a serialized value. Throws if they do not end where the value does. */
function requireSound(text: string): Buffer {
  const bytes = Buffer.from(text);
  const end = endOf(bytes, 0);
  return end === bytes.length ? bytes : fault(end);
}

// With an empty scope in strict mode the parser refuses every class. The scope has no prototype, so that names such as
// `constructor` are not found.
const parse = (text: string): unknown => unserialize(text, Object.create(null), { strict: true });

/** The parser would use a member with this name as the prototype of the object. */
const PROTOTYPE = '"__proto__"';

/** Parses a text that contains the string `__proto__` as a value. Throws if it is, or may be, the name of a member. */
function parseBesidePrototype(text: string): unknown {
  let mark = '';
  for (let number = 0; mark === '' || text.includes(mark); number += 1) mark = `\u0001${String(number).padStart(7, '0')}\u0001`;
  const marked = text.replaceAll(`s:9:${PROTOTYPE};`, `s:9:"${mark}";`);
  if (marked.includes(PROTOTYPE)) throw new Error('a name is written otherwise than PHP writes it');
  const restoreName = (name: string) => name.replaceAll(mark, '__proto__');
  const restore = (value: unknown): unknown => {
    if (typeof value === 'string') return restoreName(value);
    if (Array.isArray(value)) return value.map(restore);
    if (!isObject(value)) return value;
    if (Object.hasOwn(value, mark)) throw new Error('a member is called __proto__');
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [restoreName(name), restore(member)]));
  };
  return restore(parse(marked));
}

/** Whether WordPress would create a PHP object when it reads a stored value. */
export const holdsObject = (stored: string): boolean =>
  looksSerialized(stored) && /(?:^|[;{])[OCE]:\d+:"/.test(trimAscii(stored)) && parseSerialized(stored) === stored;

declare const STORED: unique symbol;

/**
 * A value as a row of metas or options holds it (WordPress `maybe_serialize`): what `storedText` makes of a text, or
 * `toSerialized` of any other value. WordPress unserializes what it reads and creates the objects in it, so no text may
 * be stored as it is without a look at it; this type says that it has been looked at.
 */
export type StoredValue = string & { readonly [STORED]: true };

/**
 * Returns a text as it is stored: unchanged, or serialized if WordPress would otherwise take it for a serialized value
 * (`maybe_serialize`, whose test is less strict than the one for reading).
 */
export function storedText(text: string): StoredValue {
  return mayBeSerialized(text) && resemblesSerialized(trimAscii(text)) ? toSerialized(text) : asStored(text);
}

/** Returns texts as they are stored, one row for each. */
export const storedTexts = (texts: readonly string[]): StoredValue[] => texts.map(storedText);

/** Marks a text as a stored value: one that comes from a row, or one of ours that is no text of a person. */
// The symbol exists only for the compiler.
export const asStored = (value: string): StoredValue => value as StoredValue;

/** Whether a trimmed text is a serialized value or starts like one (`is_serialized` without `strict`). */
function resemblesSerialized(text: string): boolean {
  if (text === 'N;') return true;
  const [semicolon, brace] = [text.indexOf(';'), text.indexOf('}')];
  if (text.length < 4 || (semicolon < 0 && brace < 0)) return false;
  if ((semicolon >= 0 && semicolon < 3) || (brace >= 0 && brace < 4)) return false;
  if (/^s:\d+:/.test(text)) return text.includes('"');
  return /^[aOE]:\d+:/.test(text) || /^[bid]:[0-9.E+-]+;/.test(text);
}

/** Returns the text that a stored value stands for (`maybe_unserialize`); other values as they are stored. */
export function textOfStored(stored: string): string {
  if (!stored.startsWith('s:')) return stored;
  const value = parseSerialized(stored);
  return typeof value === 'string' ? value : stored;
}

/** Returns a parsed value as it can be written as JSON: integers beyond 2^53 as the nearest numbers. */
export function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(jsonValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, jsonValue(member)]));
}

/** Returns the members of a serialized array by name; empty if the text is absent or something else. */
export const serializedMembers = (text: string | undefined): Readonly<Record<string, unknown>> =>
  objectOf(text === undefined ? undefined : parseSerialized(text));

/** A number that PHP must read as a float although it is an integer. */
export interface PhpFloat {
  readonly float: number;
}

/**
 * Returns the text of PHP's `serialize` for a value: null, booleans, numbers (whole ones as integers), bigints,
 * strings, arrays, Maps and plain objects; keys that look like integers become integers, as in PHP arrays. `undefined`
 * members are left out. Throws a TypeError for functions, symbols and class instances.
 */
export function toSerialized(value: unknown): StoredValue {
  return asStored(serialized(value));
}

function serialized(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `s:${Buffer.byteLength(value)}:"${value}";`;
    case 'boolean':
      return `b:${value ? 1 : 0};`;
    case 'bigint':
      return `i:${value};`;
    case 'number':
      return Number.isSafeInteger(value) ? `i:${value};` : `d:${phpFloat(value)};`;
    case 'object':
      return value === null ? 'N;' : serializedObject(value);
    default:
      throw new TypeError(`A ${typeof value} can't be serialized`);
  }
}

/**
 * Returns a serialized array with some members changed: a new value, or, for `undefined`, deleted. New members are
 * appended; all others stay byte for byte. The empty text counts as an empty array. Returns undefined if the text is
 * not an array, is invalid or contains references, so that the caller can leave it unchanged.
 */
export function withMembers(text: string, changes: Readonly<Record<string, unknown>>): StoredValue | undefined {
  const members = text === '' ? new Map<string, string>() : membersOf(text);
  if (!members) return undefined;
  for (const [name, value] of Object.entries(changes)) {
    const key = phpKey(name);
    if (value === undefined) members.delete(key);
    else members.set(key, toSerialized(value));
  }
  return asStored(`a:${members.size}:{${Array.from(members, ([key, value]) => key + value).join('')}}`);
}

function serializedObject(value: object): string {
  if (isFloat(value)) return `d:${phpFloat(value.float)};`;
  if (Array.isArray(value)) return serializedPairs(value.map((member, index) => [String(index), member]));
  if (value instanceof Map) return serializedPairs(Array.from(value, ([key, member]) => [String(key), member]));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError("An instance of a class can't be serialized");
  return serializedPairs(Object.entries(value));
}

const isFloat = (value: object): value is PhpFloat =>
  'float' in value && typeof value.float === 'number' && Object.keys(value).length === 1;

function serializedPairs(pairs: readonly (readonly [string, unknown])[]): string {
  const definedPairs = pairs.filter(([, value]) => value !== undefined);
  return `a:${definedPairs.length}:{${definedPairs.map(([key, value]) => phpKey(key) + toSerialized(value)).join('')}}`;
}

/** Returns a key as in PHP's arrays: decimal integers as integers. */
const phpKey = (key: string) => (/^(0|-?[1-9]\d{0,17})$/.test(key) ? `i:${key};` : toSerialized(key));

/**
 * Returns a float as PHP writes it (`serialize_precision` -1): the shortest digits that give the same number, exponents
 * as `1.0E+25`.
 */
function phpFloat(value: number): string {
  if (Number.isNaN(value)) return 'NAN';
  if (!Number.isFinite(value)) return value > 0 ? 'INF' : '-INF';
  if (Object.is(value, -0)) return '-0';
  const digits = String(value);
  const [mantissa = '', exponent] = digits.split('e');
  if (exponent !== undefined) return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent}`;
  // PHP switches to exponents earlier than JavaScript.
  if (Math.abs(value) >= 1e17 || Math.abs(value) < 1e-4) {
    const [short, power] = value.toExponential().split('e') as [string, string];
    return value === 0 ? '0' : `${short.includes('.') ? short : `${short}.0`}E${power}`;
  }
  return digits;
}

/** Returns the raw members of a serialized array: key texts to value texts, in order. */
function membersOf(text: string): Map<string, string> | undefined {
  try {
    const bytes = Buffer.from(trimAscii(text));
    const head = /^a:(\d+):\{/.exec(bytes.toString('latin1', 0, 32));
    if (!head) return undefined;
    const members = new Map<string, string>();
    let at = head[0].length;
    for (let count = Number(head[1]); count > 0; count -= 1) {
      const value = endOf(bytes, at);
      const end = endOf(bytes, value);
      members.set(bytes.toString('utf8', at, value), bytes.toString('utf8', value, end));
      at = end;
    }
    return bytes[at] === BRACE && at === bytes.length - 1 && members.size === Number(head[1]) ? members : undefined;
  } catch {
    return undefined;
  }
}

const BRACE = 0x7d;

/** Returns the end of the value that starts at `at`. Throws for invalid values and for references. */
function endOf(bytes: Buffer, at: number): number {
  const head = bytes.toString('latin1', at, at + 64);
  const scalar = /^(?:N|[bid]:[^;]{1,40});/.exec(head);
  if (scalar) return at + scalar[0].length;
  const [opening, type, size] = /^([saOCE]):(\d{1,15}):/.exec(head) ?? fault(at);
  const length = Number(size);
  let next = at + opening!.length;
  if (type !== 'a') expect(bytes, next, '"');
  if (type === 's' || type === 'E') return expect(bytes, next + length + 1, '";');
  let count = length;
  if (type !== 'a') {
    next = expect(bytes, next + length + 1, '":');
    const [inner, members] = /^(\d{1,15}):/.exec(bytes.toString('latin1', next, next + 20)) ?? fault(next);
    next += inner!.length;
    count = Number(members);
  }
  next = expect(bytes, next, '{');
  if (type === 'C') return expect(bytes, next + count, '}');
  for (let index = 0; index < count * 2; index += 1) next = endOf(bytes, next);
  return expect(bytes, next, '}');
}

function expect(bytes: Buffer, at: number, text: string): number {
  return bytes.toString('latin1', at, at + text.length) === text ? at + text.length : fault(at);
}

function fault(at: number): never {
  throw new Error(`Broken at byte ${at}`);
}
