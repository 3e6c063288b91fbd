import { isTruthy } from '../calendar/settings.ts';
import type { Fault } from '../errors.ts';
import { LONGEST_DATE, parsePhpDate } from '../wordpress/php-date.ts';
import { REGISTERED_STATUSES, SETTABLE_STATUSES } from '../wordpress/status.ts';
import { parseZone, UTC } from '../wordpress/time.ts';
import { normalizeWebUrl } from '../wordpress/web-url.ts';

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
 * How one parameter is written: what is accepted, and how that is told in OPTIONS and `/doc`.
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

/** What a caller is told whose value is refused. */
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

/** The hint of everything that reads a date with a time. */
export const MOMENT_HINT: Hint = { reason: 'not-a-date', example: '2026-12-31 21:00' };

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

const TOO_LONG: Fault = { stage: 'value', reason: 'too-long' };
const TOO_MANY: Fault = { stage: 'value', reason: 'too-many' };

/**
 * Counting the bytes of a text takes a look at all of it, which one with more characters than bytes allowed does not
 * need.
 */
const exceeds = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);

const REFUSED: Reading<never> = { fault: { stage: 'value' } };
const accept = <T>(value: T): Reading<T> => ({ value });
const wrongType = (type: string): Reading<never> => ({ late: { stage: 'type', type } });

/** PHP's `is_numeric`: a number, or a text that is one, signs, fractions, exponents and surrounding blanks allowed. */
export function numeric(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  if (typeof raw === 'string' && /^[ \t\n\r\v\f]*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?[ \t\n\r\v\f]*$/i.test(raw)) return Number(raw);
  return undefined;
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

/** A positive whole number, as number or text (`"1.0"`, `"+1"`, `"1e1"`). */
export const positive: Plain<number> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-positive', example: 12 },
  json: { type: 'integer', minimum: 1 },
  read: (raw) => {
    const value = numeric(raw);
    return value !== undefined && Number.isSafeInteger(value) && value > 0 ? accept(value) : REFUSED;
  },
};

/**
 * The id of an existing record. As in WordPress the whole number a text begins with is looked up first; what is more
 * fails afterwards, for its type.
 */
export function idOf(refers: Reference): Grammar<number> {
  return {
    longest: LENGTHS.word,
    hint: { reason: 'not-an-id', example: 12 },
    json: { type: 'integer', minimum: 1 },
    refers,
    read: (raw) => {
      const value = numeric(raw);
      const whole = value === undefined ? Number.parseInt(typeof raw === 'string' ? raw : '', 10) : Math.trunc(value);
      if (!(whole >= 1 && whole <= Number.MAX_SAFE_INTEGER)) return REFUSED;
      return value === whole ? accept(value) : { value: whole, ...wrongType('integer') };
    },
  };
}

/** The id in the path of a route whose record must exist. */
export const selector = (refers: Reference): Grammar<number> => ({ ...idOf(refers), use: 'selector' });

/** An id that need not exist. Digits only, since it comes from a path. */
export const anyId: Grammar<number> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-an-id', example: 12 },
  json: { type: 'integer' },
  read: (raw) => {
    const value = numeric(raw);
    return value === undefined ? REFUSED : accept(Math.trunc(value));
  },
};

/**
 * The term that a category hangs under; 0 is the root (decision D12). A name that exists is refused for its type only.
 */
export const parentTerm: Grammar<number | string, number> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-a-parent', example: 12 },
  json: { type: 'integer', minimum: 0 },
  refers: 'category',
  read: (raw) => {
    if (raw === 0 || raw === '0') return accept(0);
    const value = numeric(raw);
    if (value === undefined) return typeof raw === 'string' && raw !== '' ? { value: raw, ...wrongType('integer') } : REFUSED;
    return value > 0 && Number.isSafeInteger(value) ? accept(value) : REFUSED;
  },
};

/** A text that is not empty; `"0"` counts as empty, as PHP sees it. */
export const text = (longest: number): Grammar<string> => ({
  longest,
  hint: { reason: 'text-needed', example: 'Jazz' },
  json: { type: 'string', minLength: 1 },
  read: (raw) => (typeof raw === 'string' && !isEmpty(raw) ? accept(raw) : REFUSED),
});

/** The same for titles, which may be `0` (decision D47). */
export const titleText: Grammar<string> = {
  ...text(LENGTHS.text),
  read: (raw) => (typeof raw === 'string' && raw !== '' ? accept(raw) : REFUSED),
};

/** What is searched for. */
export const search: Grammar<string> = text(LENGTHS.search);

/** The same where WordPress's own query does the searching. */
export const droppedSearch: Grammar<string> = { ...search, dropsLonger: true };

/** A text that may be empty; numbers, lists and objects are refused. */
export const anyText = (longest: number): Plain<string> => ({
  longest,
  hint: { reason: 'not-a-text', example: 'Jazz' },
  json: { type: 'string' },
  read: (raw) => {
    if (typeof raw === 'string') return accept(raw);
    return isEmpty(raw) ? wrongType('string') : REFUSED;
  },
});

/** A text where a plain number is as good (decision D7: ZIP codes). */
export const textOrNumber = (longest: number): Plain<string> => ({
  longest,
  hint: { reason: 'not-a-text', example: '14100' },
  json: { type: ['string', 'number'] },
  read: (raw) => (typeof raw === 'number' ? accept(String(raw)) : anyText(longest).read(raw)),
});

/** true/false, 1/0, yes/no, on/off in any case (decision D31). */
export const flag: Plain<boolean> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: { type: 'boolean' },
  read: (raw) => {
    if (typeof raw === 'boolean') return accept(raw);
    if (raw === 1 || raw === 0) return accept(raw === 1);
    if (typeof raw === 'string' && /^(true|1|yes|on)$/i.test(raw)) return accept(true);
    if (typeof raw === 'string' && /^(false|0|no|off)$/i.test(raw)) return accept(false);
    return wrongType('boolean');
  },
};

/** A boolean given as text: what does not mean yes means no, as long as it is not empty (`tribe_is_truthy`). */
export const flagText: Plain<boolean> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: { type: ['string', 'boolean'] },
  read: (raw) => {
    if (typeof raw === 'boolean') return accept(raw);
    if (raw === 0 || raw === 1) return accept(raw === 1);
    return typeof raw === 'string' ? accept(isTruthy(raw)) : isEmpty(raw) ? wrongType('string') : REFUSED;
  },
};

/** Whether given times are meant exactly: any text but the empty one, yes only where it says so. */
export const strictness: Grammar<boolean> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: { type: 'boolean' },
  read: (raw) => (raw === '' ? REFUSED : flagText.read(raw)),
};

/** Anything at all that means yes or no. */
export const flagAnything: Grammar<boolean> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-yes-or-no', example: true },
  json: {},
  read: (raw) => accept(typeof raw === 'string' ? isTruthy(raw) : !isEmpty(raw)),
};

/**
 * A moment: a Unix time stamp or what PHP's `strtotime` understands. Kept as written: it is evaluated in the zone that
 * applies.
 */
export const time: Plain<string | number> = {
  longest: LENGTHS.date,
  hint: MOMENT_HINT,
  json: { type: 'string' },
  read: (raw) => (typeof raw === 'number' ? accept(raw) : timeText.read(raw)),
};

/** The same where a JSON number is refused for its type. */
export const timeText: Plain<string> = {
  longest: LENGTHS.date,
  hint: MOMENT_HINT,
  json: { type: 'string' },
  read: (raw) => {
    if (typeof raw === 'number') return wrongType('string');
    return typeof raw === 'string' && raw.trim() !== '' && isTime(raw) ? accept(raw) : REFUSED;
  },
};

const ANY_MOMENT = new Date(0);
/** Whether a text is a moment in some zone: a number, or what `strtotime` understands. */
export const isTime = (raw: string): boolean => numeric(raw) !== undefined || parsePhpDate(raw, ANY_MOMENT, UTC) !== null;

/** A time zone: IANA name, abbreviation, offset, or WordPress's `UTC+5.5` (decision D29 sets the range). */
export const timezone: Grammar<string> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-a-timezone', example: 'Europe/Rome' },
  json: { type: 'string' },
  blank: isEmpty,
  read: (raw) => (typeof raw === 'string' && parseZone(raw) !== null ? accept(raw) : REFUSED),
};

/** One of the statuses that may be asked for (decision D33). */
export const status: Grammar<string> = oneOf(SETTABLE_STATUSES, 'value');

/** One of a closed set. A value outside is refused as a value, or with the code `rest_not_in_enum`. */
export function oneOf<const T extends string>(values: readonly T[], stage: 'value' | 'enum'): Grammar<T> {
  const fault: Fault = stage === 'enum' ? { stage, values } : { stage };
  return {
    longest: LENGTHS.word,
    hint: choiceHint(values),
    json: { type: 'string', enum: values },
    read: (raw) => {
      const value = values.find((known) => known === raw);
      if (value !== undefined) return accept(value);
      return stage === 'enum' ? { late: fault } : { fault };
    },
  };
}

/** A web address (decision D38). */
export const url: Grammar<string> = {
  longest: LENGTHS.address,
  hint: { reason: 'not-a-web-address', example: 'https://example.org/' },
  json: { type: 'string' },
  blank: isEmpty,
  read: (raw) => {
    const value = typeof raw === 'string' ? normalizeWebUrl(raw) : null;
    return value === null ? REFUSED : accept(value);
  },
};

/**
 * An image that was fetched for a request: its files are on disk, its rows are not written yet. `undo` deletes the
 * files.
 */
export interface FetchedImage {
  readonly undo: () => Promise<void>;
}

/** The featured image: the id of an image in the library, or the address of one. */
export const image: Grammar<number | string, number | FetchedImage> = {
  longest: LENGTHS.address,
  hint: { reason: 'not-an-image', example: 12 },
  json: { type: ['string', 'integer'] },
  refers: 'image',
  blank: isEmpty,
  read: (raw) => {
    const id = numeric(raw);
    if (id !== undefined) return id > 0 && Number.isSafeInteger(id) ? accept(id) : REFUSED;
    return typeof raw === 'string' && /^https?:\/\/\S+$/i.test(raw) ? accept(raw) : REFUSED;
  },
};

/** A number. */
export const decimal: Grammar<number> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-a-number', example: 45.5 },
  json: { type: 'number' },
  read: (raw) => {
    const value = numeric(raw);
    return value === undefined ? wrongType('number') : accept(value);
  },
};

/** Anything at all, in which no text may be longer than so many bytes. */
export const anything = (longest: number): Grammar => ({
  longest,
  hint: { reason: 'not-accepted', example: 'Jazz' },
  json: {},
  read: accept,
  blank: (raw) => Array.isArray(raw) && raw.length === 0,
});

/** What is carried on as it came, or not at all. */
export const unread: Grammar = { ...anything(LENGTHS.ids), dropsLonger: true };

/** What the addresses of a list say where no status was asked for and more than the published is listed. */
export const ANY_STATUS = 'any';

/**
 * The statuses that a list is asked for. Who may not edit posts of the kind may name `publish` only. Comes out as the
 * names asked for, `publish` and perhaps `private` for an empty text. `any` means nothing to ask for, as in the
 * addresses of lists themselves, which always name the page then (decision D21); elsewhere it is refused, as the
 * reference does.
 */
export function listStatus(capabilities: string): Grammar<readonly string[]> {
  return {
    longest: LENGTHS.word,
    longestList: LENGTHS.ids,
    hint: { reason: 'not-a-listed-status', example: 'publish' },
    json: { type: 'string' },
    read: (raw, can, beside) => {
      if (raw === ANY_STATUS && beside?.page !== undefined) return {};
      if (!can(`edit_${capabilities}`)) return isPublishAlone(raw) ? accept(['publish']) : REFUSED;
      if (raw === '') return accept(can('read_private_posts') ? ['publish', 'private'] : ['publish']);
      const names = listOf(raw);
      return names.length > 0 && names.every((name) => REGISTERED_STATUSES.includes(String(name))) ? accept(names.map(String)) : REFUSED;
    },
  };
}

/** As a text or in an array; not as text with commas, as in the reference. */
const isPublishAlone = (raw: unknown): boolean => {
  const names = Array.isArray(raw) ? raw : [raw];
  return names.length > 0 && names.every((name) => name === 'publish');
};

/** Whether a member of a list is empty: such members are passed over (decision D49). */
const isEmptyMember = (item: unknown): boolean => item === '' || item === null;

/** Members of a list given as array or as comma-separated text. WordPress decodes the text once more. */
export function listOf(raw: unknown): unknown[] {
  if (Array.isArray(raw)) return raw;
  if (typeof raw === 'string') {
    return decodeOnce(raw)
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }
  if (typeof raw === 'number') return [raw];
  return raw !== null && typeof raw === 'object' ? Object.values(raw) : [];
}

const decodeOnce = (value: string) => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};

/** Ids, at least one. With `refers`, all of them must exist. */
export function ids(refers?: Reference): Grammar<readonly number[]> {
  return {
    longest: LENGTHS.word,
    longestList: LENGTHS.ids,
    hint: { reason: 'not-ids', example: '12,15' },
    json: { type: 'array', items: { type: 'integer' } },
    ...(refers ? { refers } : {}),
    read: (raw) => {
      const items = listOf(raw).filter((item) => !isEmptyMember(item));
      if (items.length === 0 || items.length > LONGEST) return REFUSED;
      const values = items.flatMap((item) => positive.read(item).value ?? []);
      return values.length === items.length ? accept(values) : REFUSED;
    },
  };
}

/** Existing terms by id, slug or name, at least one. */
export function existingTerms(refers: 'category' | 'tag', use?: 'numbers'): Grammar<readonly (string | number)[], readonly number[]> {
  return {
    ...(use ? { use } : {}),
    longest: LENGTHS.name,
    longestList: LENGTHS.text,
    hint: { reason: 'not-terms', example: 'jazz,12' },
    json: { type: 'array', items: { type: ['integer', 'string'] } },
    refers,
    read: (raw) => {
      const items = listOf(raw).filter((item) => !isEmptyMember(item));
      return items.length > 0 && items.length <= LONGEST && items.every(isToken) ? accept(items) : REFUSED;
    },
  };
}

const isToken = (item: unknown): item is string | number =>
  (typeof item === 'string' || typeof item === 'number') && item !== '' && item !== 0 && item !== '0';

/** A wish for a term: by id, by slug or by name (existing ones first), or a new name. */
export interface TermWish {
  readonly id?: number;
  readonly slug?: string;
  readonly name?: string;
}

/** Terms to assign: ids, slugs, names or `{id}`, `{slug}`, `{name}`; blank items are left out (decisions D4, D32). */
export const termWishes: Grammar<readonly TermWish[]> = {
  longest: LENGTHS.name,
  longestList: LENGTHS.text,
  hint: { reason: 'not-terms', example: 'Jazz,Open air' },
  json: { type: 'array', items: { type: ['integer', 'string'] } },
  blank: isEmpty,
  read: (raw) => {
    const items = isTermObject(raw)
      ? [raw]
      : raw !== null && typeof raw === 'object' && !Array.isArray(raw)
        ? undefined
        : listOf(raw === true ? undefined : raw);
    if (items === undefined || raw === true || items.length > LONGEST) return REFUSED;
    const wishes: TermWish[] = [];
    for (const item of items) {
      const wish = termWish(item);
      if (wish === 'refused') return REFUSED;
      if (wish !== 'blank') wishes.push(wish);
    }
    return accept(wishes);
  },
};

const isTermObject = (raw: unknown): raw is Record<string, unknown> =>
  raw !== null && typeof raw === 'object' && !Array.isArray(raw) && ['id', 'slug', 'name'].some((key) => Object.hasOwn(raw, key));

function termWish(item: unknown): TermWish | 'blank' | 'refused' {
  if (isTermObject(item)) {
    const id = item.id === undefined ? undefined : positive.read(item.id).value;
    if (item.id !== undefined) return id === undefined ? 'refused' : { id };
    if (typeof item.slug === 'string' && item.slug.trim() !== '') return { slug: item.slug.trim() };
    return typeof item.name === 'string' && item.name.trim() !== '' ? { name: item.name.trim() } : 'refused';
  }
  if (typeof item === 'number') return Number.isInteger(item) ? (item > 0 ? { id: item } : 'blank') : 'refused';
  if (item === null || item === false) return 'blank';
  if (typeof item !== 'string') return 'refused';
  const written = item.trim();
  if (written === '') return 'blank';
  return /^\d+$/.test(written) ? { id: Number(written) } : { name: written };
}
