import type { Fault, SchemaFault } from '../../errors.ts';
import { sanitizeTextField } from '../../wordpress/content/plain-text.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import { choiceHint, type Grammar, type Hint, LENGTHS, LONGEST, numeric, type Plain, TOO_LONG } from './grammar.ts';
import { oneOf } from './grammars.ts';
import { isTime, MOMENT_HINT } from './times.ts';

/*
 * Parameters as WordPress's own routes check them (`rest_validate_value_from_schema`): every fault belongs to the
 * schema, and is reported with a code of its own.
 */

const accept = <T>(value: T) => ({ value });
const refuse = (late: Fault) => ({ late });
const wrongType = (type: string) => refuse({ stage: 'type', type });
const schema = (code: string, reason: string, more: Pick<SchemaFault, 'values' | 'about'> = {}): SchemaFault => ({
  stage: 'schema',
  code,
  reason,
  ...more,
});

/** A whole number, given as such or as text. */
export const wholeNumber = (raw: unknown): number | undefined => {
  const value = typeof raw === 'boolean' ? undefined : numeric(raw);
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
};

/** A whole number, as number or text, within bounds. */
export function integer({ minimum, maximum }: { minimum?: number; maximum?: number } = {}): Grammar<number> {
  return {
    longest: LENGTHS.word,
    hint: { reason: 'not-a-whole-number', example: Math.min(Math.max(10, minimum ?? 10), maximum ?? 10) },
    json: { type: 'integer', ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) },
    read: (raw) => {
      const value = wholeNumber(raw);
      if (value === undefined) return wrongType('integer');
      const [least, most] = [minimum ?? value, maximum ?? value];
      if (value >= least && value <= most) return accept(value);
      if (maximum === undefined) return refuse(schema('rest_out_of_bounds', 'too-small', { values: { minimum: least } }));
      return refuse(schema('rest_out_of_bounds', 'out-of-bounds', { values: { minimum: minimum ?? 0, maximum } }));
    },
  };
}

/** Members of a list, as array or as text with commas or blanks between them (`wp_parse_list`). */
export function parseList(raw: unknown): unknown[] | undefined {
  if (Array.isArray(raw)) return raw;
  if (raw !== null && typeof raw === 'object') return Object.values(raw);
  if (typeof raw === 'string') return raw.split(/[\s,]+/).filter((item) => item !== '');
  return typeof raw === 'number' ? [raw] : undefined;
}

function listOf<T extends string | number>(
  hint: Hint,
  items: Readonly<Record<string, unknown>>,
  read: (item: unknown) => T | undefined,
  fault: (item: number) => Fault,
): Plain<readonly T[]> {
  return {
    longest: LENGTHS.word,
    longestList: LENGTHS.ids,
    hint,
    json: { type: 'array', items },
    read: (raw) => {
      const list = parseList(raw);
      if (list === undefined || list.length > LONGEST) return wrongType('array');
      const values: T[] = [];
      for (const [place, item] of list.entries()) {
        const value = read(item);
        if (value === undefined) return refuse(fault(place));
        values.push(value);
      }
      return accept(values);
    },
  };
}

const itemOfType = (type: string) => (item: number) => schema('rest_invalid_type', 'type', { values: { type }, about: { item } });

/** Whole numbers. */
export const integers: Plain<readonly number[]> = listOf(
  { reason: 'not-ids', example: '12,15' },
  { type: 'integer' },
  wholeNumber,
  itemOfType('integer'),
);

/** Texts; numbers count as such. */
export const strings: Plain<readonly string[]> = listOf(
  { reason: 'not-texts', example: 'jazz,blues' },
  { type: 'string' },
  (item) => (typeof item === 'string' || typeof item === 'number' ? String(item) : undefined),
  itemOfType('string'),
);

/** That something is none of a closed set. */
export const noneOf = (values: readonly string[]): SchemaFault => schema('rest_not_in_enum', 'enum', { values: { values } });

/** One of a closed set of texts. What is no text is of the wrong type, before it is none of the set. */
export const choice = <const T extends string>(values: readonly T[]): Grammar<T> => {
  const one = oneOf(values, 'enum');
  return { ...one, read: (raw, can) => (typeof raw === 'string' ? one.read(raw, can) : wrongType('string')) };
};

/**
 * Statuses by their slugs (`sanitize_post_statuses`). Whether they are among those that are described is said to those
 * alone who may list them.
 */
export const statuses = (values: readonly string[]): Plain<readonly string[]> => {
  const described = choices(values);
  return {
    ...described,
    read: (raw) => {
      const list = parseList(raw);
      if (list === undefined || list.length > LONGEST) return wrongType('array');
      return accept([...new Set(list.map((item) => (typeof item === 'object' ? '' : sanitizeTitle(String(item)))))]);
    },
  };
};

/** Some of a closed set. */
export const choices = <const T extends string>(values: readonly T[]): Plain<readonly T[]> =>
  listOf(
    choiceHint(values),
    { type: 'string', enum: values },
    (item) => values.find((value) => value === String(item)),
    () => noneOf(values),
  );

const truthNamed = (yes: RegExp, no: RegExp): Grammar<boolean> => ({
  longest: LENGTHS.word,
  hint: { reason: 'not-true-or-false', example: true },
  json: { type: 'boolean' },
  read: (raw) => {
    if (typeof raw === 'boolean') return accept(raw);
    const text = typeof raw === 'string' || typeof raw === 'number' ? String(raw) : '';
    return yes.test(text) ? accept(true) : no.test(text) ? accept(false) : wrongType('boolean');
  },
});

/** True or false, as such, as 1 or 0, or as their names, as metas have it (`rest_is_boolean`). */
export const metaTruth = truthNamed(/^(true|1)$/i, /^(false|0)$/i);

/** The same of parameters, which also take yes and no, on and off (decision D31). */
export const truth = truthNamed(/^(true|1|yes|on)$/i, /^(false|0|no|off)$/i);

/** Yes or no, or some of a closed set. */
export const truthOrSome = (values: readonly string[]): Grammar<boolean | readonly string[]> => {
  const some = choices(values);
  return {
    longest: LENGTHS.word,
    longestList: LENGTHS.ids,
    hint: some.hint,
    json: { ...some.json, type: ['boolean', 'array'] },
    read: (raw) => {
      const { value } = truth.read(raw, () => false);
      return value === undefined ? some.read(raw) : accept(value);
    },
  };
};

/** A text, the empty one included. */
export const anyString = (longest: number): Grammar<string> => ({
  longest,
  hint: { reason: 'not-a-text', example: 'Jazz' },
  json: { type: 'string' },
  read: (raw) => (typeof raw === 'string' ? accept(raw) : wrongType('string')),
});

/** A text of at most so many characters: what a column holds, whatever the bytes of each. */
export const stringWithin = (characters: number): Grammar<string> => {
  // A character takes four bytes at most.
  const text = anyString(4 * characters);
  return {
    ...text,
    read: (raw, can) => (typeof raw === 'string' && [...raw].length > characters ? { fault: TOO_LONG } : text.read(raw, can)),
  };
};

/** What to search for: one line of plain text, without percent-encoded bytes (`sanitize_text_field`). */
export const phrase: Grammar<string> = {
  ...anyString(LENGTHS.search),
  read: (raw) => (typeof raw === 'string' ? accept(sanitizeTextField(raw)) : wrongType('string')),
};

/** What WordPress's own query searches for, and drops where it is too long. */
export const droppedString: Grammar<string> = { ...anyString(LENGTHS.search), dropsLonger: true };
export const droppedPhrase: Grammar<string> = { ...phrase, dropsLonger: true };

/** A text, or an object with the text as member `raw`, as it is shown in the form for editing. */
export const rawString = (longest: number): Grammar<string> => ({
  longest,
  hint: { reason: 'not-a-text', example: 'Jazz' },
  json: { type: ['string', 'object'] },
  read: (raw) => {
    const value = raw !== null && typeof raw === 'object' && 'raw' in raw ? raw.raw : raw;
    return typeof value === 'string' || typeof value === 'number' ? accept(String(value)) : wrongType('object');
  },
});

/**
 * A date with a time (`rest_parse_date`); null means none. Kept as written, to be evaluated in the zone that applies.
 */
export const dateTime: Grammar<string | null> = {
  longest: LENGTHS.date,
  hint: { reason: 'not-a-date', example: '2026-12-31T21:00:00' },
  json: { type: ['string', 'null'], format: 'date-time' },
  read: (raw) => {
    if (raw === null) return accept(null);
    if (typeof raw !== 'string') return wrongType('string,null');
    const sound = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d/.test(raw) && isTime(raw);
    return sound ? accept(raw) : refuse(schema('rest_invalid_date', 'date-invalid'));
  },
};

/** An object, whose members are checked by those who know them. */
export const object: Grammar<Readonly<Record<string, unknown>>> = {
  longest: LENGTHS.content,
  hint: { reason: 'not-an-object', example: { name: 'value' } },
  json: { type: 'object' },
  read: (raw) => (raw !== null && typeof raw === 'object' ? accept({ ...raw }) : wrongType('object')),
};

/**
 * Terms that records must have: one of them, or what an object says besides. It stands as it was sent, as the header
 * `Link` repeats it.
 */
export type WantedTerms = readonly number[] | TermQuery;
export interface TermQuery {
  readonly terms?: readonly number[];
  /** Whether all of them are wanted (`AND`). */
  readonly operator?: string;
  /** Whether the terms below them count too. */
  readonly include_children?: boolean;
}

/** What may stand beside the ids: whether all of them are wanted, and whether those below them count too. */
interface TermOptions {
  readonly operator: boolean;
  readonly below: boolean;
}

/**
 * Ids of terms, or `{terms, operator, include_children}` where all of them (`AND`), or those below too, are wanted.
 * What is neither is told by which of the two it may be meant as (`rest_get_combining_operation_error`): one of PHP's
 * lists could be both.
 */
export const termIds = (options: TermOptions): Grammar<WantedTerms> => ({
  longest: LENGTHS.word,
  longestList: LENGTHS.ids,
  hint: { reason: 'not-ids', example: '12,15' },
  json: { type: ['object', 'array'] },
  read: (raw) => {
    if (raw === null || typeof raw === 'boolean') return refuse(schema('rest_no_matching_schema', 'not-term-ids'));
    const isQuery = typeof raw === 'object' && !Array.isArray(raw);
    const wanted = isQuery ? termQuery(raw as TermQueryAsSent, options) : integers.read(raw).value;
    if (wanted !== undefined) return accept(wanted);
    const about = Array.isArray(raw) ? {} : { about: { position: isQuery ? 1 : 0 } };
    return refuse(schema('rest_no_matching_schema', 'not-term-ids', about));
  },
});

type TermQueryAsSent = { readonly [Name in keyof TermQuery]: unknown };

function termQuery(raw: TermQueryAsSent, options: TermOptions): TermQuery | undefined {
  const known = ['terms', ...(options.operator ? ['operator'] : []), ...(options.below ? ['include_children'] : [])];
  if (Object.keys(raw).some((name) => !known.includes(name))) return undefined;
  const { value: terms } = integers.read(raw.terms ?? []);
  const { value: below } = truth.read(raw.include_children ?? false, () => false);
  const operator = String(raw.operator ?? 'OR');
  if (terms === undefined || below === undefined || !['AND', 'OR'].includes(operator)) return undefined;
  const read = { terms, operator, include_children: below };
  return Object.fromEntries(Object.entries(read).filter(([name]) => Object.hasOwn(raw, name)));
}

/** A page or a length: a positive whole number, reported as the calendar's newer routes do. */
export const positiveArgument: Grammar<number> = {
  longest: LENGTHS.word,
  hint: { reason: 'not-positive', example: 12 },
  json: { type: 'integer', minimum: 1 },
  read: (raw) => {
    const value = wholeNumber(raw);
    if (value !== undefined && value > 0) return accept(value);
    return refuse(schema('tec_rest_invalid_positive_integer_argument', 'positive-needed', { about: 'argument' }));
  },
};

/** A moment in PHP's grammar, reported as the calendar's newer routes do. */
export const momentArgument: Grammar<string> = {
  longest: LENGTHS.date,
  hint: MOMENT_HINT,
  json: { type: 'string', format: 'date-time' },
  read: (raw) => {
    if (typeof raw === 'string' && raw.trim() !== '' && isTime(raw)) return accept(raw);
    return refuse(schema('tec_rest_invalid_date_time_argument', 'date-invalid', { about: 'argument' }));
  },
};

/** Whole numbers in an array, with `orText` also as text with commas. Anything else is refused as a value. */
export const idsArgument = ({ orText }: { readonly orText: boolean }): Grammar<readonly number[]> => ({
  longest: LENGTHS.word,
  longestList: LENGTHS.ids,
  hint: { reason: 'not-ids', example: orText ? '12,15' : [12, 15] },
  json: { type: 'array', items: { type: 'integer' } },
  read: (raw) => {
    const list = Array.isArray(raw) || orText ? parseList(raw) : undefined;
    if (list === undefined || list.length === 0 || list.length > LONGEST) return { fault: { stage: 'value' } };
    const values = list.flatMap((item) => wholeNumber(item) ?? []).filter((value) => value > 0);
    return values.length === list.length ? accept(values) : { fault: { stage: 'value' } };
  },
});
