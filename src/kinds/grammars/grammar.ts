import type { Fault } from '../../errors.ts';
import { LONGEST_DATE } from '../../wordpress/php/date.ts';

/** What of another record or person a value names; `records/references.ts` looks it up before the value is accepted. */
export type Reference = 'user' | 'image' | 'event' | 'venue' | 'organizer' | 'category' | 'tag';

/**
 * What reading a value gave. `fault`: refused as a value (first stage, WordPress's `validate_callback`). `late`:
 * refused for its type (second stage, the declared JSON type), after references were looked up. Neither: `value` is
 * what the modules below work with.
 */
export interface Reading<T = unknown> {
  readonly value?: T;
  readonly fault?: Fault;
  readonly late?: Fault;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether the caller holds a capability: the little that a value's grammar may know of who sends it. */
export type Can = (capability: string) => boolean;

/**
 * The most bytes of UTF-8 that a text from outside may have, by what it is. Where texts are stored, it is what
 * WordPress's columns hold; all else is far more than anything that means something.
 */
export const LENGTHS = {
  /** Numbers, flags, names of a closed set, time zones, places and slugs to look for. */
  word: 255,
  date: LONGEST_DATE,
  /** WordPress drops a search that is longer (`WP_Query::parse_query`). */
  search: 1600,
  /** 255 characters (`posts.post_password`). */
  password: 1020,
  /**
   * A slug in a path, percent-encoded and perhaps with those of its parents, or one to be stored, which WordPress cuts
   * to 200 bytes.
   */
  slug: 1000,
  /** The name of a term with its markup, which is taken out. */
  name: 4000,
  address: 8192,
  /** The URL of a webhook. */
  url: 2000,
  /** Ids with commas between them. */
  ids: 20_000,
  /** What a column of the type `TEXT` holds: titles, excerpts, one meta. */
  text: 65_535,
  content: 1_048_576,
} as const;

/**
 * How one parameter is written: what is accepted, and how that is described in OPTIONS and `/doc`.
 * `T`: the type of the value as it is read. `Accepted`: its type once what it names has been looked up (`refers`),
 * which is what handlers get.
 */
export interface Grammar<T = unknown, Accepted = T> {
  readonly hint: Hint;
  /** The most bytes that a text anywhere in the value may have. Whoever reads a value asks `lengthFault` first. */
  readonly longest: number;
  /** The same for a list that is written as one text. */
  readonly longestList?: number;
  /** A longer text counts as not sent, where WordPress itself drops it. */
  readonly dropsLonger?: true;
  /** `beside`: all parameters of the request as they were sent. */
  readonly read: (raw: unknown, can: Can, beside?: Readonly<Record<string, unknown>>) => Reading<T>;
  readonly json: JsonSchema;
  readonly refers?: Reference;
  /** Never set: it carries the type `Accepted`, which no other member has. */
  readonly accepted?: Accepted;
  /**
   * `selector`: names the record of the path, which must exist but need not be readable. `numbers`: only ids among the
   * terms count.
   */
  readonly use?: 'selector' | 'numbers';
  /** What counts as an empty value besides null and the empty text. */
  readonly blank?: (raw: unknown) => boolean;
}

/** What is wrong with a refused value, for its caller. */
export interface Hint {
  /** What is wrong with such a value: a sentence in `locales/<language>/reasons.json`, with the value as `sent`. */
  readonly reason: string;
  /** Further values for the sentence. */
  readonly values?: Readonly<Record<string, string>>;
  /** A value that the grammar accepts. */
  readonly example: unknown;
  /** The reason given when a record that the value names cannot be found; absent: the usual one of that reference. */
  readonly unknown?: string;
}

/** The hint of a closed set. */
export const choiceHint = (values: readonly string[]): Hint => ({
  reason: 'not-one-of',
  values: { values: values.join(', ') },
  example: values[0],
});

/** A grammar that needs to know nothing of the caller. */
export interface Plain<T> extends Grammar<T> {
  readonly read: (raw: unknown) => Reading<T>;
}

/** The most members that a list may have. */
export const LONGEST = 1000;

/** The most members that a value may have in all, whatever it is made of. */
const MOST_MEMBERS = 20 * LONGEST;

/** What is wrong with the size of a value: looked at before anything else is, and at nothing but sizes. */
export function lengthFault({ longest, longestList = longest, json }: Grammar, raw: unknown): Fault | undefined {
  if (typeof raw === 'string') return exceeds(raw, longestList) ? TOO_LONG : undefined;
  if (Array.isArray(raw) && raw.length > LONGEST && [json.type].flat().includes('array')) return TOO_MANY;
  const waiting = [raw];
  for (let seen = 0; waiting.length > 0; seen += 1) {
    const value = waiting.pop();
    if (typeof value === 'string' && exceeds(value, longest)) return TOO_LONG;
    if (value === null || typeof value !== 'object') continue;
    const members = Object.values(value);
    if (seen + waiting.length + members.length > MOST_MEMBERS) return TOO_MANY;
    waiting.push(...members);
  }
  return undefined;
}

export const TOO_LONG: Fault = { stage: 'value', reason: 'too-long' };
const TOO_MANY: Fault = { stage: 'value', reason: 'too-many' };

/**
 * Counting the bytes of a text takes a look at all of it, which one with more characters than bytes allowed does not
 * need.
 */
const exceeds = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);

/** What reading gives where the value is refused. */
export const REFUSED: Reading<never> = { fault: { stage: 'value' } };

/** What reading gives where the value is accepted. */
export const accept = <T>(value: T): Reading<T> => ({ value });

/** What reading gives where the value is not of the declared JSON type. */
export const wrongType = (type: string): Reading<never> => ({ late: { stage: 'type', type } });

/**
 * PHP's `is_numeric`: a number, or a text that is one, signs, fractions, exponents and surrounding blanks allowed; not
 * one that is too large to be any.
 */
export function numeric(raw: unknown): number | undefined {
  const isText = typeof raw === 'string' && /^[ \t\n\r\v\f]*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?[ \t\n\r\v\f]*$/i.test(raw);
  const value = isText || typeof raw === 'number' ? Number(raw) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** What PHP's `empty()` is true of. */
export const isEmpty = (raw: unknown): boolean =>
  raw === undefined ||
  raw === null ||
  raw === '' ||
  raw === '0' ||
  raw === 0 ||
  raw === false ||
  (typeof raw === 'object' && Object.keys(raw).length === 0);
