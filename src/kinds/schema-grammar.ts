import type { Fault, SchemaFault } from '../errors.ts';
import { type Grammar, isTime, LENGTHS, LONGEST, numeric } from './grammar.ts';

/*
 * Parameters as WordPress's own routes check them (`rest_validate_value_from_schema`): every fault belongs to the schema, and is told with a code of its own.
 */

const accept = (value: unknown) => ({ value });
const refuse = (late: Fault) => ({ late });
const wrongType = (type: string) => refuse({ stage: 'type', type });
const schema = (code: string, reason: string, more: Pick<SchemaFault, 'values' | 'about'> = {}): Fault => ({
  stage: 'schema',
  code,
  reason,
  ...more,
});

const wholeNumber = (raw: unknown): number | undefined => {
  const value = typeof raw === 'boolean' ? undefined : numeric(raw);
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
};

/** A whole number, as number or text, within bounds. */
export function integer({ minimum, maximum }: { minimum?: number; maximum?: number } = {}): Grammar {
  return {
    longest: LENGTHS.word,
    json: { type: 'integer', ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) },
    read: (raw) => {
      const value = wholeNumber(raw);
      if (value === undefined) return wrongType('integer');
      const fits = value >= (minimum ?? value) && value <= (maximum ?? value);
      if (fits) return accept(value);
      if (maximum === undefined) return refuse(schema('rest_out_of_bounds', 'too-small', { values: { minimum: minimum! } }));
      return refuse(schema('rest_out_of_bounds', 'out-of-bounds', { values: { minimum: minimum ?? 0, maximum } }));
    },
  };
}

/** Members of a list, as array or as text with commas or blanks between them (`wp_parse_list`). */
function parseList(raw: unknown): unknown[] | undefined {
  if (Array.isArray(raw)) return raw;
  if (raw !== null && typeof raw === 'object') return Object.values(raw);
  if (typeof raw === 'string') return raw.split(/[\s,]+/).filter((item) => item !== '');
  return typeof raw === 'number' ? [raw] : undefined;
}

function listOf(
  items: Readonly<Record<string, unknown>>,
  read: (item: unknown) => unknown | undefined,
  fault: (item: number) => Fault,
): Grammar {
  return {
    longest: LENGTHS.word,
    longestList: LENGTHS.ids,
    json: { type: 'array', items },
    read: (raw) => {
      const list = parseList(raw);
      if (list === undefined || list.length > LONGEST) return wrongType('array');
      const values = list.map(read);
      const wrong = values.indexOf(undefined);
      return wrong < 0 ? accept(values) : refuse(fault(wrong));
    },
  };
}

const itemOfType = (type: string) => (item: number) => schema('rest_invalid_type', 'type', { values: { type }, about: { item } });

/** Whole numbers. */
export const integers: Grammar = listOf({ type: 'integer' }, wholeNumber, itemOfType('integer'));

/** Texts; numbers count as such. */
export const strings: Grammar = listOf(
  { type: 'string' },
  (item) => (typeof item === 'string' || typeof item === 'number' ? String(item) : undefined),
  itemOfType('string'),
);

/** Some of a closed set. */
export const choices = (values: readonly string[]): Grammar =>
  listOf(
    { type: 'string', enum: values },
    (item) => (values.includes(String(item)) ? item : undefined),
    (item) => schema('rest_not_in_enum', 'enum', { values: { values: values.join(', ') }, about: { item } }),
  );

/** True or false, as such, as 1 or 0, or as their names (`rest_is_boolean`). */
export const truth: Grammar = {
  longest: LENGTHS.word,
  json: { type: 'boolean' },
  read: (raw) => {
    if (typeof raw === 'boolean') return accept(raw);
    if (raw === 0 || raw === 1) return accept(raw === 1);
    if (typeof raw === 'string' && /^(true|1|false|0)$/i.test(raw)) return accept(/^(true|1)$/i.test(raw));
    return wrongType('boolean');
  },
};

/** A text, the empty one included. */
export const anyString = (longest: number): Grammar => ({
  longest,
  json: { type: 'string' },
  read: (raw) => (typeof raw === 'string' ? accept(raw) : wrongType('string')),
});

/** What WordPress's own query searches for, and drops where it is too long. */
export const droppedString: Grammar = { ...anyString(LENGTHS.search), dropsLonger: true };

/** A text, or an object with the text as member `raw`, as it is shown in the form for editing. */
export const rawString = (longest: number): Grammar => ({
  longest,
  json: { type: ['string', 'object'] },
  read: (raw) => {
    const value = raw !== null && typeof raw === 'object' && 'raw' in raw ? raw.raw : raw;
    return typeof value === 'string' || typeof value === 'number' ? accept(String(value)) : wrongType('object');
  },
});

/** A date with a time (`rest_parse_date`); null means none. Kept as written, to be evaluated in the zone that applies. */
export const dateTime: Grammar = {
  longest: LENGTHS.date,
  json: { type: ['string', 'null'], format: 'date-time' },
  read: (raw) => {
    if (raw === null) return accept(null);
    if (typeof raw !== 'string') return wrongType('string,null');
    const sound = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d/.test(raw) && isTime(raw);
    return sound ? accept(raw) : refuse(schema('rest_invalid_date', 'date-invalid'));
  },
};

/** An object, whose members are checked by those who know them. */
export const object: Grammar = {
  longest: LENGTHS.content,
  json: { type: 'object' },
  read: (raw) => (raw !== null && typeof raw === 'object' ? accept(raw) : wrongType('object')),
};

/** Ids of terms, or `{terms, operator}` where all of them are wanted (`AND`). */
export const termIds: Grammar = {
  longest: LENGTHS.word,
  longestList: LENGTHS.ids,
  json: { type: ['object', 'array'] },
  read: (raw, can) => {
    const nested = raw !== null && typeof raw === 'object' && !Array.isArray(raw) && 'terms' in raw;
    const { terms, operator } = (nested ? raw : { terms: raw, operator: 'OR' }) as { terms: unknown; operator?: unknown };
    const read = integers.read(terms, can);
    return read.late ? read : accept({ ids: read.value, all: operator === 'AND' });
  },
};

/** A page or a length: a positive whole number, told as the calendar's newer routes do. */
export const positiveArgument: Grammar = {
  longest: LENGTHS.word,
  json: { type: 'integer', minimum: 1 },
  read: (raw) => {
    const value = wholeNumber(raw);
    if (value !== undefined && value > 0) return accept(value);
    return refuse(schema('tec_rest_invalid_positive_integer_argument', 'positive-needed', { about: 'argument' }));
  },
};

/** A moment in PHP's grammar, told as the calendar's newer routes do. */
export const momentArgument: Grammar = {
  longest: LENGTHS.date,
  json: { type: 'string', format: 'date-time' },
  read: (raw) => {
    const sound = typeof raw === 'string' && raw.trim() !== '' && isTime(raw);
    return sound ? accept(raw) : refuse(schema('tec_rest_invalid_date_time_argument', 'date-invalid', { about: 'argument' }));
  },
};

/** Whole numbers in an array; as text only with `csv`. Anything else is refused as a value. */
export const idsArgument = (csv: boolean): Grammar => ({
  longest: LENGTHS.word,
  longestList: LENGTHS.ids,
  json: { type: 'array', items: { type: 'integer' } },
  read: (raw) => {
    const list = Array.isArray(raw) || csv ? parseList(raw) : undefined;
    const values = list?.map(wholeNumber) ?? [];
    const sound = values.length > 0 && values.length <= LONGEST && values.every((value) => value !== undefined && value > 0);
    return sound ? accept(values) : { fault: { stage: 'value' } };
  },
});
