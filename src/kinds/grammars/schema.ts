import type { Fault, SchemaFault } from '../../errors.ts';
import { isObject } from '../../objects.ts';
import { sanitizeTextField } from '../../wordpress/content/plain-text.ts';
import { numberText } from '../../wordpress/php/number.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import { yesOrNo } from './flags.ts';
import { choiceHint, type Grammar, type Hint, MAX_BYTES, MAX_ITEMS, numeric, type Plain, REFUSED, TOO_LONG } from './grammar.ts';
import { oneOf } from './grammars.ts';
import { isTime, MOMENT_HINT } from './times.ts';

/*
 * Parameters as WordPress's own routes check them (`rest_validate_value_from_schema`): every fault is a violation of
 * the schema, and is reported with its own code.
 */

const accept = <T>(value: T) => ({ value });
const refuse = (schemaFault: Fault) => ({ schemaFault });
const wrongType = (type: string) => refuse({ stage: 'type', type });
const schemaFaultOf = (code: string, reason: string, details: Pick<SchemaFault, 'values' | 'answerData'> = {}): SchemaFault => ({
  stage: 'schema',
  code,
  reason,
  ...details,
});

/** Returns an integer given as a number or a text. */
export const wholeNumber = (raw: unknown): number | undefined => {
  const value = typeof raw === 'boolean' ? undefined : numeric(raw);
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
};

/** An integer within bounds, as a number or a text. */
export function integer({ minimum, maximum }: { minimum?: number; maximum?: number } = {}): Grammar<number> {
  return {
    maxBytes: MAX_BYTES.word,
    hint: { reason: 'not-a-whole-number', example: Math.min(Math.max(10, minimum ?? 10), maximum ?? 10) },
    json: { type: 'integer', ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) },
    read: (raw) => {
      const value = wholeNumber(raw);
      if (value === undefined) return wrongType('integer');
      const [lower, upper] = [minimum ?? value, maximum ?? value];
      if (value >= lower && value <= upper) return accept(value);
      if (maximum === undefined) return refuse(schemaFaultOf('rest_out_of_bounds', 'too-small', { values: { minimum: lower } }));
      return refuse(schemaFaultOf('rest_out_of_bounds', 'out-of-bounds', { values: { minimum: minimum ?? 0, maximum } }));
    },
  };
}

/** Returns the items of a list, given as an array or as a text separated by commas or white space (`wp_parse_list`). */
export function parseList(raw: unknown): unknown[] | undefined {
  if (Array.isArray(raw)) return raw;
  if (isObject(raw)) return Object.values(raw);
  if (typeof raw === 'string') return raw.split(/[\s,]+/).filter((item) => item !== '');
  return typeof raw === 'number' ? [raw] : undefined;
}

function listOf<T extends string | number>(
  hint: Hint,
  items: Readonly<Record<string, unknown>>,
  readItem: (item: unknown) => T | undefined,
  fault: (item: number) => Fault,
): Plain<readonly T[]> {
  return {
    maxBytes: MAX_BYTES.word,
    maxListBytes: MAX_BYTES.ids,
    hint,
    json: { type: 'array', items },
    read: (raw) => {
      const list = parseList(raw);
      if (list === undefined || list.length > MAX_ITEMS) return wrongType('array');
      const values: T[] = [];
      for (const [index, item] of list.entries()) {
        const value = readItem(item);
        if (value === undefined) return refuse(fault(index));
        values.push(value);
      }
      return accept(values);
    },
  };
}

const itemOfType = (type: string) => (item: number) =>
  schemaFaultOf('rest_invalid_type', 'type', { values: { type }, answerData: { item } });

/** Integers. */
export const integers: Plain<readonly number[]> = listOf(
  { reason: 'not-ids', example: '12,15' },
  { type: 'integer' },
  wholeNumber,
  itemOfType('integer'),
);

/** Texts; numbers are accepted as texts. */
export const strings: Plain<readonly string[]> = listOf(
  { reason: 'not-texts', example: 'jazz,blues' },
  { type: 'string' },
  (item) => (typeof item === 'string' || typeof item === 'number' ? String(item) : undefined),
  itemOfType('string'),
);

/** Returns the fault of a value that is not in a closed set. */
export const notInEnum = (values: readonly string[]): SchemaFault => schemaFaultOf('rest_not_in_enum', 'enum', { values: { values } });

/** One text of a closed set. A value that is not a text is refused because of its type, before the set is checked. */
export const choice = <const T extends string>(values: readonly T[]): Grammar<T> => {
  const one = oneOf(values, 'enum');
  return { ...one, read: (raw, can) => (typeof raw === 'string' ? one.read(raw, can) : wrongType('string')) };
};

/**
 * Statuses by slug (`sanitize_post_statuses`). Whether they are among the described ones is checked later, and only for
 * callers who may list them.
 */
export const statuses = (values: readonly string[]): Plain<readonly string[]> => {
  const choiceGrammar = choices(values);
  return {
    ...choiceGrammar,
    read: (raw) => {
      const list = parseList(raw);
      if (list === undefined || list.length > MAX_ITEMS) return wrongType('array');
      return accept([...new Set(list.map((item) => (typeof item === 'object' ? '' : sanitizeTitle(String(item)))))]);
    },
  };
};

/** Any number of values of a closed set. */
export const choices = <const T extends string>(values: readonly T[]): Plain<readonly T[]> =>
  listOf(
    choiceHint(values),
    { type: 'string', enum: values },
    (item) => values.find((value) => value === String(item)),
    () => notInEnum(values),
  );

const booleanIn = (truthOf: (text: string) => boolean | undefined): Grammar<boolean> => ({
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-true-or-false', example: true },
  json: { type: 'boolean' },
  read: (raw) => {
    if (typeof raw === 'boolean') return accept(raw);
    const value = typeof raw === 'string' || typeof raw === 'number' ? truthOf(String(raw)) : undefined;
    return value === undefined ? wrongType('boolean') : accept(value);
  },
});

/** A boolean, also as 1 or 0 or as `true` or `false`, as metas accept it (`rest_is_boolean`). */
export const metaBoolean = booleanIn((text) => (/^(true|1|false|0)$/i.test(text) ? yesOrNo(text) : undefined));

/** A boolean parameter, which also accepts yes and no, on and off (decision D31). */
export const booleanParam = booleanIn(yesOrNo);

/** A boolean, or any number of values of a closed set. */
export const booleanOrValues = (values: readonly string[]): Grammar<boolean | readonly string[]> => {
  const listGrammar = choices(values);
  return {
    maxBytes: MAX_BYTES.word,
    maxListBytes: MAX_BYTES.ids,
    hint: listGrammar.hint,
    json: { ...listGrammar.json, type: ['boolean', 'array'] },
    read: (raw) => {
      const { value } = booleanParam.read(raw, () => false);
      return value === undefined ? listGrammar.read(raw) : accept(value);
    },
  };
};

/** A text, possibly empty. */
export const anyString = (maxBytes: number): Grammar<string> => ({
  maxBytes,
  hint: { reason: 'not-a-text', example: 'Jazz' },
  json: { type: 'string' },
  read: (raw) => (typeof raw === 'string' ? accept(raw) : wrongType('string')),
});

/** A text with a maximum number of characters, like that of a database column, whatever their bytes. */
export const stringWithin = (characters: number): Grammar<string> => {
  // A character has at most four bytes.
  const text = anyString(4 * characters);
  return {
    ...text,
    read: (raw, can) => (typeof raw === 'string' && [...raw].length > characters ? { fault: TOO_LONG } : text.read(raw, can)),
  };
};

/** A search text: one line of plain text, without percent-encoded bytes (`sanitize_text_field`). */
export const searchPhrase: Grammar<string> = {
  ...anyString(MAX_BYTES.search),
  read: (raw) => (typeof raw === 'string' ? accept(sanitizeTextField(raw)) : wrongType('string')),
};

/** A search text of WordPress's own query, which ignores one that is too long. */
export const droppedString: Grammar<string> = { ...anyString(MAX_BYTES.search), dropsTooLong: true };
export const droppedSearchPhrase: Grammar<string> = { ...searchPhrase, dropsTooLong: true };

/**
 * A text, or an object with the text as member `raw`, as records have it in the editing form. An object or list
 * without one counts as not sent, so that a record can be sent back as it is shown to readers
 * (`WP_REST_Posts_Controller::prepare_item_for_database`).
 */
export const rawString = (maxBytes: number): Grammar<string> => ({
  maxBytes,
  hint: { reason: 'not-a-text', example: 'Jazz' },
  json: { type: ['string', 'object'] },
  read: (raw) => {
    const value = !isObject(raw) ? raw : 'raw' in raw ? raw.raw : null;
    if (value === null) return {};
    if (typeof value === 'number') return accept(numberText(value));
    return typeof value === 'string' ? accept(value) : wrongType('object');
  },
});

/** The whole text of a date. Offsets may also be written without a colon, as `strtotime` reads them. */
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * A date with a time (`rest_parse_date`); null means none. Kept as written and evaluated later, in the time zone that
 * applies.
 */
export const dateTime: Grammar<string | null> = {
  maxBytes: MAX_BYTES.date,
  hint: { reason: 'not-a-date', example: '2026-12-31T21:00:00' },
  json: { type: ['string', 'null'], format: 'date-time' },
  read: (raw) => {
    if (raw === null) return accept(null);
    if (typeof raw !== 'string') return wrongType('string,null');
    return DATE_TIME.test(raw) && isTime(raw) ? accept(raw) : refuse(schemaFaultOf('rest_invalid_date', 'date-invalid'));
  },
};

/** An object, whose members are checked by the code that uses it. */
export const object: Grammar<Readonly<Record<string, unknown>>> = {
  maxBytes: MAX_BYTES.content,
  hint: { reason: 'not-an-object', example: { name: 'value' } },
  json: { type: 'object' },
  read: (raw) => (isObject(raw) ? accept({ ...raw }) : wrongType('object')),
};

/**
 * Terms that records must have: a list of ids, or an object with options. Kept as sent, since the header `Link` repeats
 * it.
 */
export type WantedTerms = readonly number[] | TermQuery;
export interface TermQuery {
  readonly terms?: readonly number[];
  /** Whether records must have all of the terms (`AND`). */
  readonly operator?: string;
  /** Whether descendants of the terms count too. */
  readonly include_children?: boolean;
}

/** Options that may be sent with the ids: whether all terms must match, and whether descendants count too. */
interface TermOptions {
  readonly operator: boolean;
  readonly children: boolean;
}

/**
 * Ids of terms, or `{terms, operator, include_children}` to match all of them (`AND`) or to include their descendants.
 * The fault of another value names the form that it was meant as (`rest_get_combining_operation_error`), except for an
 * array, which in PHP could be both.
 */
export const termIds = (options: TermOptions): Grammar<WantedTerms> => ({
  maxBytes: MAX_BYTES.word,
  maxListBytes: MAX_BYTES.ids,
  hint: { reason: 'not-ids', example: '12,15' },
  json: { type: ['object', 'array'] },
  read: (raw) => {
    if (raw === null || typeof raw === 'boolean') return refuse(schemaFaultOf('rest_no_matching_schema', 'not-term-ids'));
    const isQuery = typeof raw === 'object' && !Array.isArray(raw);
    const terms = isQuery ? termQuery(raw as TermQueryAsSent, options) : integers.read(raw).value;
    if (terms !== undefined) return accept(terms);
    const details = Array.isArray(raw) ? {} : { answerData: { position: isQuery ? 1 : 0 } };
    return refuse(schemaFaultOf('rest_no_matching_schema', 'not-term-ids', details));
  },
});

type TermQueryAsSent = { readonly [Name in keyof TermQuery]: unknown };

function termQuery(raw: TermQueryAsSent, options: TermOptions): TermQuery | undefined {
  const knownNames = ['terms', ...(options.operator ? ['operator'] : []), ...(options.children ? ['include_children'] : [])];
  if (Object.keys(raw).some((name) => !knownNames.includes(name))) return undefined;
  const { value: terms } = integers.read(raw.terms ?? []);
  const { value: includesChildren } = booleanParam.read(raw.include_children ?? false, () => false);
  const operator = String(raw.operator ?? 'OR');
  if (terms === undefined || includesChildren === undefined || !['AND', 'OR'].includes(operator)) return undefined;
  const query = { terms, operator, include_children: includesChildren };
  return Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(raw, name)));
}

/** A page number or page length: a positive integer, reported as in `tec/v1`. */
export const positiveArgument: Grammar<number> = {
  maxBytes: MAX_BYTES.word,
  hint: { reason: 'not-positive', example: 12 },
  json: { type: 'integer', minimum: 1 },
  read: (raw) => {
    const value = wholeNumber(raw);
    if (value !== undefined && value > 0) return accept(value);
    return refuse(schemaFaultOf('tec_rest_invalid_positive_integer_argument', 'positive-needed', { answerData: 'argument' }));
  },
};

/** A date in PHP's grammar, reported as in `tec/v1`. */
export const momentArgument: Grammar<string> = {
  maxBytes: MAX_BYTES.date,
  hint: MOMENT_HINT,
  json: { type: 'string', format: 'date-time' },
  read: (raw) => {
    if (typeof raw === 'string' && raw.trim() !== '' && isTime(raw)) return accept(raw);
    return refuse(schemaFaultOf('tec_rest_invalid_date_time_argument', 'date-invalid', { answerData: 'argument' }));
  },
};

/**
 * Positive integers in an array, and with `orText` also in a comma-separated text. Anything else is refused as a value.
 */
export const idsArgument = ({ orText }: { readonly orText: boolean }): Grammar<readonly number[]> => ({
  maxBytes: MAX_BYTES.word,
  maxListBytes: MAX_BYTES.ids,
  hint: { reason: 'not-ids', example: orText ? '12,15' : [12, 15] },
  json: { type: 'array', items: { type: 'integer' } },
  read: (raw) => {
    const list = Array.isArray(raw) || orText ? parseList(raw) : undefined;
    if (list === undefined || list.length === 0 || list.length > MAX_ITEMS) return REFUSED;
    const values = list.flatMap((item) => wholeNumber(item) ?? []).filter((value) => value > 0);
    return values.length === list.length ? accept(values) : REFUSED;
  },
});
