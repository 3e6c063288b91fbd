import type { Fault } from '../../errors.ts';
import { isObject } from '../../objects.ts';
import { numberText } from '../../wordpress/php/number.ts';
import { SETTABLE_STATUSES } from '../../wordpress/status.ts';
import { normalizeWebUrl } from '../../wordpress/web-url.ts';
import {
  accept,
  choiceHint,
  type Grammar,
  isEmpty,
  isEmptyList,
  MAX_BYTES,
  numeric,
  type Plain,
  REFUSED,
  type Reference,
  wrongType,
} from './grammar.ts';

/** A positive whole number, as number or text (`"1.0"`, `"+1"`, `"1e1"`). */
export const positiveInteger: Plain<number> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-positive', example: 12 },
  json: { type: 'integer', minimum: 1 },
  read: (raw) => {
    const value = numeric(raw);
    return value !== undefined && Number.isSafeInteger(value) && value > 0 ? accept(value) : REFUSED;
  },
};

/**
 * The id of an existing record. As in WordPress, the integer that a text starts with is looked up first; then a text
 * with anything after it is refused because of its type.
 */
export function idOf(refersTo: Reference): Grammar<number> {
  return {
    maxBytes: MAX_BYTES.word,
    hint: { reason: 'not-an-id', example: 12 },
    json: { type: 'integer', minimum: 1 },
    // Records show ids of users as texts.
    alsoAccepts: [{ type: 'string' }],
    refersTo,
    read: (raw) => {
      const value = numeric(raw);
      const integer = value === undefined ? Number.parseInt(typeof raw === 'string' ? raw : '', 10) : Math.trunc(value);
      if (!(integer >= 1 && integer <= Number.MAX_SAFE_INTEGER)) return REFUSED;
      return value === integer ? accept(value) : { value: integer, ...wrongType('integer') };
    },
  };
}

/** The id in the path of a route whose record must exist. */
export const selector = (refersTo: Reference): Grammar<number> => ({ ...idOf(refersTo), use: 'selector' });

/** An id that need not exist. Digits only, since it comes from a path. */
export const anyId: Grammar<number> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-an-id', example: 12 },
  json: { type: 'integer' },
  read: (raw) => {
    const value = numeric(raw);
    return value === undefined ? REFUSED : accept(Math.trunc(value));
  },
};

/**
 * The parent of a category; 0 is the root (decision D12). The name of an existing category is refused only because of
 * its type.
 */
export const parentTerm: Grammar<number | string, number> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-a-parent', example: 12 },
  json: { type: 'integer', minimum: 0 },
  refersTo: 'category',
  isBlank: isEmptyList,
  read: (raw) => {
    if (raw === 0 || raw === '0') return accept(0);
    const value = numeric(raw);
    if (value === undefined) return typeof raw === 'string' && raw !== '' ? { value: raw, ...wrongType('integer') } : REFUSED;
    return value > 0 && Number.isSafeInteger(value) ? accept(value) : REFUSED;
  },
};

/** A text that is not empty; `"0"` counts as empty, as PHP sees it. */
export const text = (maxBytes: number): Grammar<string> => ({
  maxBytes,
  hint: { reason: 'text-needed', example: 'Jazz' },
  json: { type: 'string', minLength: 1 },
  isBlank: isEmptyList,
  read: (raw) => {
    if (raw === '0') return { fault: { stage: 'value', reason: 'zero-is-empty' } };
    return typeof raw === 'string' && !isEmpty(raw) ? accept(raw) : REFUSED;
  },
});

/** A title, a name or a slug, which is not empty but may be `0` (decision D47). */
export const nameText = (maxBytes: number): Grammar<string> => ({
  ...text(maxBytes),
  read: (raw) => (typeof raw === 'string' && raw !== '' ? accept(raw) : REFUSED),
});

export const titleText: Grammar<string> = nameText(MAX_BYTES.text);

/** A search text. */
export const search: Grammar<string> = text(MAX_BYTES.search);

/** A search text of WordPress's own query, which ignores one that is too long. */
export const droppedSearch: Grammar<string> = { ...search, dropsTooLong: true };

/** A text that may be empty; numbers, objects and lists with members are refused. */
export const anyText = (maxBytes: number): Plain<string> => ({
  maxBytes,
  hint: { reason: 'not-a-text', example: 'Jazz' },
  json: { type: 'string' },
  isBlank: isEmptyList,
  read: (raw) => {
    if (typeof raw === 'string') return accept(raw);
    return isEmpty(raw) ? wrongType('string') : REFUSED;
  },
});

/** A text that may also be sent as a number (decision D7: ZIP codes). */
export const textOrNumber = (maxBytes: number): Plain<string> => ({
  maxBytes,
  hint: { reason: 'not-a-text', example: '14100' },
  json: { type: ['string', 'number'] },
  isBlank: isEmptyList,
  read: (raw) => (typeof raw === 'number' ? accept(numberText(raw)) : anyText(maxBytes).read(raw)),
});

/** One of the statuses that a request may set (decision D33). */
export const status: Grammar<string> = {
  ...oneOf(SETTABLE_STATUSES, 'value'),
  // A record that is sent back may have a status of a plugin.
  alsoAccepts: [{ type: 'string' }],
};

/** One of a closed set. Other values are refused as a value, or with the code `rest_not_in_enum`. */
export function oneOf<const T extends string>(values: readonly T[], stage: 'value' | 'enum'): Grammar<T> {
  const fault: Fault = stage === 'enum' ? { stage, values } : { stage };
  return {
    maxBytes: MAX_BYTES.word,
    hint: choiceHint(values),
    json: { type: 'string', enum: values },
    read: (raw) => {
      const value = values.find((candidate) => candidate === raw);
      if (value !== undefined) return accept(value);
      return stage === 'enum' ? { schemaFault: fault } : { fault };
    },
  };
}

/** A web address (decision D38). */
export const url: Grammar<string> = {
  maxBytes: MAX_BYTES.address,
  hint: { reason: 'not-a-web-address', example: 'https://example.org/' },
  json: { type: 'string' },
  isBlank: isEmpty,
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

/**
 * The featured image: the id of an image in the library, the URL of an image, or an image as records show it, which is
 * read by its id.
 */
export const image: Grammar<number | string, number | FetchedImage> = {
  maxBytes: MAX_BYTES.address,
  hint: { reason: 'not-an-image', example: 12 },
  json: { type: ['string', 'integer', 'object'] },
  // Records show a missing image so.
  alsoAccepts: [{ const: false }],
  refersTo: 'image',
  isBlank: isEmpty,
  read: (raw) => {
    const isRecord = isObject(raw) && 'id' in raw;
    const id = numeric(isRecord ? raw.id : raw);
    if (id !== undefined) return id > 0 && Number.isSafeInteger(id) ? accept(id) : REFUSED;
    return typeof raw === 'string' && /^https?:\/\/\S+$/i.test(raw) ? accept(raw) : REFUSED;
  },
};

/** A number. */
export const decimal: Grammar<number> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-a-number', example: 45.5 },
  json: { type: 'number' },
  isBlank: isEmptyList,
  read: (raw) => {
    const value = numeric(raw);
    return value === undefined ? wrongType('number') : accept(value);
  },
};

/** Any value in which no text is longer than this many bytes. */
export const anything = (maxBytes: number): Grammar => ({
  maxBytes,
  hint: { reason: 'not-accepted', example: 'Jazz' },
  json: {},
  read: accept,
  isBlank: isEmptyList,
});

/** A value that is passed on as sent, or dropped if it is too long. */
export const passedThrough: Grammar = { ...anything(MAX_BYTES.ids), dropsTooLong: true };
