import type { Fault } from '../../errors.ts';
import { isObject } from '../../objects.ts';
import { MAX_DATE_BYTES } from '../../wordpress/php/date.ts';
import type { KindName } from '../kind-names.ts';

/**
 * The type of record or person that a value names; `records/references.ts` looks it up before the value is accepted.
 */
export type Reference = 'user' | 'image' | KindName;

/**
 * The result of reading a value. `fault`: refused as a value (first stage, WordPress's `validate_callback`).
 * `schemaFault`: refused because of its type (second stage, the declared JSON type), after references were looked up.
 * With neither, `value` is the value that the modules below work with.
 */
export interface Reading<T = unknown> {
  readonly value?: T;
  readonly fault?: Fault;
  readonly schemaFault?: Fault;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns whether the caller has a capability. A grammar knows nothing else about the caller. */
export type Can = (capability: string) => boolean;

/**
 * Maximum length in UTF-8 bytes of texts in requests, by purpose. For stored texts it is the capacity of WordPress's
 * columns; the other limits are far above any meaningful value.
 */
export const MAX_BYTES = {
  /** Numbers, flags, names of a closed set, time zones, places and slugs in filters. */
  word: 255,
  date: MAX_DATE_BYTES,
  /** WordPress drops a longer search (`WP_Query::parse_query`). */
  search: 1600,
  /** 255 characters (`posts.post_password`). */
  password: 1020,
  /**
   * A slug in a path, percent-encoded and possibly preceded by its ancestors' slugs, or one to be stored, which
   * WordPress cuts to 200 bytes.
   */
  slug: 1000,
  /** The name of a term including markup, which is removed. */
  name: 4000,
  address: 8192,
  /** The URL of a webhook. */
  url: 2000,
  /** Comma-separated ids. */
  ids: 20_000,
  /** Capacity of a `TEXT` column: titles, excerpts, one meta. */
  text: 65_535,
  content: 1_048_576,
} as const;

/**
 * The syntax of one parameter: what is accepted, and how that is described in OPTIONS and `/doc`. `T`: the type of the
 * value as read. `Accepted`: its type after the lookup of the records that it names (`refersTo`), which handlers get.
 */
export interface Grammar<T = unknown, Accepted = T> {
  readonly hint: Hint;
  /** Maximum number of bytes of any text in the value. Code that reads a value calls `lengthFault` first. */
  readonly maxBytes: number;
  /** Maximum number of bytes of a list that is written as one text. */
  readonly maxListBytes?: number;
  /** A longer text counts as not sent, as in WordPress. */
  readonly dropsTooLong?: true;
  /** `params`: all parameters of the request, as sent. */
  readonly read: (raw: unknown, can: Can, params?: Readonly<Record<string, unknown>>) => Reading<T>;
  readonly json: JsonSchema;
  /**
   * Further forms of an accepted value. OPTIONS and `/doc` describe one form of each value, as in the reference, but
   * the types of the client library have them all.
   */
  readonly alsoAccepts?: readonly JsonSchema[];
  readonly refersTo?: Reference;
  /** Never set: it only carries the type `Accepted`, which no other member mentions. */
  readonly accepted?: Accepted;
  /**
   * `selector`: names the record in the path, which must exist but need not be readable. `numbers`: terms can only be
   * named by id.
   */
  readonly use?: 'selector' | 'numbers';
  /** Returns whether a value counts as empty, in addition to null and the empty text. */
  readonly isBlank?: (raw: unknown) => boolean;
}

/** Description of a refused value, for the caller. */
export interface Hint {
  /** Key of the reason: a sentence in `locales/<language>/reasons.json`, with the value as `sent`. */
  readonly reason: string;
  /** Further values for the sentence. */
  readonly values?: Readonly<Record<string, string>>;
  /** An example of an accepted value. */
  readonly example: unknown;
  /** The reason if a record that the value names does not exist; absent: the default one of that type of reference. */
  readonly unknownReason?: string;
}

/** Returns the hint of a closed set. */
export const choiceHint = (values: readonly string[]): Hint => ({
  reason: 'not-one-of',
  values: { values: values.join(', ') },
  example: values[0],
});

/** A grammar that does not depend on the caller. */
export interface Plain<T> extends Grammar<T> {
  readonly read: (raw: unknown) => Reading<T>;
}

/** Maximum number of items of a list. */
export const MAX_ITEMS = 1000;

/**
 * Maximum number of items of a list that are created together with the record that names them. Each one is looked up by
 * its name among all records of its kind.
 */
export const MAX_NEW_ITEMS = 50;

/** Maximum number of members of a value in total, at all levels. */
const MAX_MEMBERS = 20 * MAX_ITEMS;

/**
 * Returns the fault of a value that is too long or has too many members. It is checked first, and checks nothing else.
 */
export function lengthFault({ maxBytes, maxListBytes = maxBytes, json }: Grammar, raw: unknown): Fault | undefined {
  if (typeof raw === 'string') return exceeds(raw, maxListBytes) ? TOO_LONG : undefined;
  if (Array.isArray(raw) && raw.length > MAX_ITEMS && [json.type].flat().includes('array')) return TOO_MANY;
  const pending = [raw];
  for (let count = 0; pending.length > 0; count += 1) {
    const value = pending.pop();
    if (typeof value === 'string' && exceeds(value, maxBytes)) return TOO_LONG;
    if (!isObject(value)) continue;
    const members = Object.values(value);
    if (count + pending.length + members.length > MAX_MEMBERS) return TOO_MANY;
    pending.push(...members);
  }
  return undefined;
}

export const TOO_LONG: Fault = { stage: 'value', reason: 'too-long' };
const TOO_MANY: Fault = { stage: 'value', reason: 'too-many' };
/** The fault of a list of which too many items would be created. */
export const tooManyNew = (most: number): Fault => ({ stage: 'value', reason: 'too-many-new', values: { most: String(most) } });
export const TOO_MANY_NEW = tooManyNew(MAX_NEW_ITEMS);

/**
 * Returns whether a text is too long. Counting its bytes reads all of it, so a text with more characters than the
 * allowed bytes is rejected without counting, and a text short enough in any encoding is accepted without counting.
 */
const exceeds = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);

/** The reading of a refused value. */
export const REFUSED: Reading<never> = { fault: { stage: 'value' } };

/** Returns the reading of an accepted value. */
export const accept = <T>(value: T): Reading<T> => ({ value });

/** Returns the reading of a value that does not have the declared JSON type. */
export const wrongType = (type: string): Reading<never> => ({ schemaFault: { stage: 'type', type } });

/**
 * PHP's `is_numeric`: accepts a number or a text that contains one, including sign, fraction, exponent and surrounding
 * white space, unless it is infinite.
 */
export function numeric(raw: unknown): number | undefined {
  const isText = typeof raw === 'string' && /^[ \t\n\r\v\f]*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?[ \t\n\r\v\f]*$/i.test(raw);
  const value = isText || typeof raw === 'number' ? Number(raw) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** An empty list, which clears a field as null and the empty text do (decision D1). */
export const isEmptyList = (raw: unknown): boolean => Array.isArray(raw) && raw.length === 0;

/** PHP's `empty()`. */
export const isEmpty = (raw: unknown): boolean =>
  raw === undefined ||
  raw === null ||
  raw === '' ||
  raw === '0' ||
  raw === 0 ||
  raw === false ||
  (typeof raw === 'object' && Object.keys(raw).length === 0);
