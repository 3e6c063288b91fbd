import type { CustomField } from '../calendar/custom-fields.ts';
import { isCustomMeta, isInLanguage } from '../calendar/custom-fields.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { type Fault, fail } from '../errors.ts';
import { memoizeByObject } from '../memo.ts';
import { isObject, isRecord } from '../objects.ts';
import { storedTextField } from '../wordpress/content/plain-text.ts';
import { numberText } from '../wordpress/php/number.ts';
import { type StoredValue, storedText, storedTexts } from '../wordpress/php/serialized.ts';
import { type Metas, metaOf } from '../wordpress/rows.ts';
import { normalizeWebUrl } from '../wordpress/web-url.ts';
import type { Condition } from './condition.ts';
import { rule, valueIn } from './fields.ts';
import { group } from './filter.ts';
import { yesOrNo } from './grammars/flags.ts';
import { type Grammar, isEmptyList, MAX_BYTES, numeric } from './grammars/grammar.ts';
import type { Kind, PostKind, Rows, StoredPost } from './kind.ts';
import { withLanguages } from './language-fields.ts';
import type { Values } from './param.ts';

/*
 * The custom fields of a site, as one field and one filter `custom_fields` of the kind. Sites without custom fields
 * have neither.
 */

/** Whether a site can define fields for records of this kind. */
export const hasCustomFields = ({ name }: Pick<Kind, 'name'>): boolean => name === 'event';

/**
 * Returns a kind as the site has it: events with the site's custom fields, and all translated kinds with their language
 * fields.
 */
export const kindOnSite = <K extends Kind>(kind: K, { calendar, contentLanguages }: KindSettings): K =>
  // Extending a kind does not change its type.
  withLanguages(kind.is === 'post' && hasCustomFields(kind) ? (kindWithFields(calendar.customFields)(kind) as K) : kind, contentLanguages);

type KindSettings = Pick<SiteSettings, 'calendar' | 'contentLanguages'>;

const kindWithFields = memoizeByObject((definitions: readonly CustomField[]) => {
  const fields = definitions.filter(({ meta }) => isCustomMeta(meta));
  return memoizeByObject((kind: PostKind): PostKind => (fields.length === 0 ? kind : withFields(kind, fields)));
});

/** The values sent for each field, as they are stored; an empty list clears the field. */
type FieldTexts = ReadonlyMap<CustomField, readonly string[]>;

/**
 * A value sent for a field of a record. `shown`: its text, which may be the one that the record shows. `texts`: as it
 * would be stored, or the reason why it cannot.
 */
interface SentValue {
  readonly shown: string | undefined;
  readonly texts: readonly string[] | FieldFault;
}
type SentFields = ReadonlyMap<CustomField, SentValue>;
type FieldFault = { readonly fault: Fault };

function withFields(kind: PostKind, fields: readonly CustomField[]): PostKind {
  const grammar = valuesGrammar(fields);
  const field = rule(membersGrammar(fields, sentValue), {
    members: new Map(fields.map(({ meta, name, label }) => [meta, { name, label }])),
  });
  const { custom_fields } = group({
    params: { custom_fields: { grammar } },
    narrows: ({ custom_fields: fieldValues }) =>
      [...(fieldValues ?? [])].flatMap(([one, values]) => values.map((value) => hasFieldValue(one, value))),
    echo: ({ custom_fields: fieldValues }) =>
      [...(fieldValues ?? [])].flatMap(([{ name }, values]) =>
        values.length === 0 ? [] : [[`custom_fields[${name}]`, values.join('|')] as const],
      ),
  });
  return {
    ...kind,
    fields: { ...kind.fields, custom_fields: field },
    filters: { ...kind.filters, custom_fields },
    derivedRows: (values, before, context) => {
      const rows = kind.derivedRows(values, before, context);
      const fieldValues = valueIn(values, 'custom_fields', field);
      const fieldRows =
        fieldValues === null ? fields.map((one) => metaRows(one, [])) : [...(fieldValues ?? [])].map((sent) => rowsOfSent(sent, before));
      return { ...rows, metas: Object.assign({}, rows.metas, ...fieldRows) };
    },
  };
}

/**
 * Checks the custom fields of a write. Values that the record shows may stay, even if they could not be stored today:
 * other programs wrote them, or their choice has been removed since.
 *
 * @throws rest_invalid_param for a value that is not valid for its field
 */
export function checkCustomFields({ custom_fields: sentFields }: Values, before: StoredPost | undefined): void {
  // The type holds: only the grammar of this field makes maps of its values.
  if (sentFields instanceof Map) for (const sent of sentFields as SentFields) rowsOfSent(sent, before);
}

/** Returns the metas of a sent value. A value that the record shows stays as it is stored. */
function rowsOfSent([field, { shown, texts }]: readonly [CustomField, SentValue], before: StoredPost | undefined): Rows['metas'] {
  if (shown && before && metaOf(before.metas, field.meta) === shown)
    return Object.fromEntries(metasOf(field).map((key) => [key, before.metas.get(key) ?? []]));
  return 'fault' in texts ? fail('rest_invalid_param', { faults: new Map([['custom_fields', texts.fault]]) }) : metaRows(field, texts);
}

/**
 * Returns the metas of a value. The values of a checkbox are joined in one row, and also stored as single rows of a
 * second meta.
 */
const metaRows = ({ meta, type }: CustomField, texts: readonly string[]): Rows['metas'] =>
  type === 'checkbox'
    ? { [meta]: texts.length > 0 ? [storedText(texts.join('|'))] : [], [rowsOf(meta)]: storedTexts(texts) }
    : { [meta]: storedTexts(texts) };

const rowsOf = (meta: string): string => `_${meta}`;

/** Returns the metas that may hold values of a field. */
export const metasOf = ({ meta, type }: CustomField): string[] => (type === 'checkbox' ? [meta, rowsOf(meta)] : [meta]);

/** Returns the metas of the site's fields that a translation of a record of this kind has in common with its source. */
export const metasInCommon = (kind: Kind, fields: readonly CustomField[]): string[] =>
  hasCustomFields(kind) ? fields.filter((field) => isCustomMeta(field.meta) && !isInLanguage(field)).flatMap(metasOf) : [];

const hasFieldValue = (field: CustomField, value: string): Condition => ({ by: 'metaValue', keys: metasOf(field), value });

// ------------------------------------------------------------------------------------------------- showing
/**
 * Returns the member `custom_fields` of an event: the fields that have a value. If there are none, it is an empty list,
 * as PHP writes it.
 */
export function customFieldsRecord(
  fields: readonly CustomField[],
  metas: Metas | undefined,
): Record<string, { label: string; value: string }> | never[] {
  const entries = fields.flatMap(({ meta, name, label }) => {
    const value = metaOf(metas, meta);
    return value ? [[name, { label, value }] as const] : [];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : [];
}

// ------------------------------------------------------------------------------------------------- reading
/** Values of custom fields by which a list is filtered. */
const valuesGrammar = (fields: readonly CustomField[]): Grammar<FieldTexts> => membersGrammar(fields, textsOrFault);

function textsOrFault(field: CustomField, sent: unknown): readonly string[] | FieldFault {
  const { name, type, choices } = field;
  return storedValue(field, sent) ?? faultOf(REASONS[type], { name, choices: choices.join(', ') });
}

/** Reads a value of a record. A text that is not valid is refused once it is known what the record shows. */
function sentValue(field: CustomField, sent: unknown): SentValue | FieldFault {
  const raw = isShown(sent) ? sent.value : sent;
  const texts = textsOrFault(field, sent);
  const shown = typeof raw === 'string' && Buffer.byteLength(raw) <= MAX_BYTES.text ? raw : undefined;
  return 'fault' in texts && shown === undefined ? texts : { shown, texts };
}

/** Values of custom fields, by field name or by meta key. `read`: reads the value of one of them. */
function membersGrammar<Value extends object>(
  fields: readonly CustomField[],
  read: (field: CustomField, sent: unknown) => Value | FieldFault,
): Grammar<ReadonlyMap<CustomField, Value>> {
  const fieldsByName = new Map(fields.flatMap((field) => [[field.meta, field] as const, [field.name, field] as const]));
  return {
    maxBytes: MAX_BYTES.text,
    hint: { reason: 'not-an-object', example: exampleOf(fields) },
    json: {
      type: 'object',
      properties: Object.fromEntries(fields.map((field) => [field.name, { title: field.label, ...schemaOf(field) }])),
      additionalProperties: false,
    },
    read: (raw) => {
      if (raw === '' || isEmptyList(raw)) return { value: new Map() };
      if (!isRecord(raw)) return { schemaFault: { stage: 'type', type: 'object' } };
      const valuesByField = new Map<CustomField, Value>();
      for (const [name, value] of Object.entries(raw)) {
        const field = fieldsByName.get(name);
        if (!field) return faultOf('custom-field-unknown', { name: name.slice(0, 100), names: fields.map((one) => one.name).join(', ') });
        const reading = read(field, value);
        if ('fault' in reading) return reading;
        valuesByField.set(field, reading);
      }
      return { value: valuesByField };
    },
  };
}

/** Returns an example value of the first field. */
function exampleOf([field]: readonly CustomField[]): Readonly<Record<string, unknown>> {
  return field === undefined ? {} : { [field.name]: EXAMPLES[field.type](field.choices) };
}

const EXAMPLES: Readonly<Record<CustomField['type'], (choices: readonly string[]) => unknown>> = {
  text: () => 'Jazz',
  textarea: () => 'Jazz',
  number: () => 12,
  url: () => 'https://example.org/',
  choice: ([first]) => first,
  checkbox: ([first]) => (first === undefined ? [] : [first]),
};

const REASONS: Readonly<Record<CustomField['type'], string>> = {
  text: 'custom-field-text',
  textarea: 'custom-field-text',
  number: 'custom-field-number',
  url: 'custom-field-url',
  choice: 'custom-field-choice',
  checkbox: 'custom-field-checkbox',
};

const faultOf = (reason: string, values: Readonly<Record<string, string>>): FieldFault => ({
  fault: { stage: 'value', reason, values },
});

/**
 * Returns a value of a custom field as it is stored: one text, all ticked values of a checkbox, or an empty list for an
 * empty value. A value as records show it, with its label, counts as the value alone.
 *
 * @returns undefined if the value is not valid for this field
 */
export function storedValue(field: CustomField, sent: unknown): readonly string[] | undefined {
  const raw = isShown(sent) ? sent.value : sent;
  if (raw === null || raw === undefined || raw === '') return [];
  const rawTexts = READERS[field.type](raw, field.choices);
  const texts = rawTexts?.map((text) => text.trim()).filter((text) => text !== '');
  return texts && Buffer.byteLength(texts.join('|')) > MAX_BYTES.text ? undefined : texts;
}

/** Whether a value has the form in which records show it (`customFieldsRecord`). */
const isShown = (sent: unknown): sent is { readonly value: unknown } => isObject(sent) && 'label' in sent && 'value' in sent;

/** Returns the rows of a value read by `storedValue`, for imports that write rows directly. */
export const customFieldRows = (field: CustomField, texts: readonly string[]): [key: string, value: StoredValue][] =>
  Object.entries(metaRows(field, texts)).flatMap(([key, values]) => values.map((value): [string, StoredValue] => [key, value]));

type Reader = (raw: unknown, choices: readonly string[]) => readonly string[] | undefined;

const textIn = (raw: unknown): string | undefined =>
  typeof raw === 'number' ? numberText(raw) : typeof raw === 'string' ? raw : undefined;

const READERS: Readonly<Record<CustomField['type'], Reader>> = {
  text: (raw) => storedBy(textIn(raw), (text) => storedTextField(text)),
  textarea: (raw) =>
    storedBy(textIn(raw), (text) =>
      text
        .split(/\r\n|\r|\n/)
        .map(storedTextField)
        .join('\n'),
    ),
  number: (raw) => storedBy(numeric(raw), typeof raw === 'number' ? numberText : String),
  url: (raw) => storedBy(typeof raw === 'string' ? (normalizeWebUrl(raw) ?? undefined) : undefined, String),
  choice: (raw, choices) =>
    storedBy(
      choices.find((choice) => choice === textIn(raw)?.trim()),
      String,
    ),
  checkbox: (raw, choices) => {
    const checkedTexts = checkedValues(raw, choices);
    return checkedTexts.every((one) => choices.includes(one)) ? choices.filter((choice) => checkedTexts.includes(choice)) : undefined;
  },
};

const storedBy = <T>(value: T | undefined, toText: (value: T) => string): readonly string[] | undefined =>
  value === undefined ? undefined : [toText(value)];

/**
 * Returns the values of a checkbox, sent as a list, whose empty members are ignored (decision D49), or as a text
 * separated by `|`. A checkbox with a single choice also accepts yes and no.
 */
function checkedValues(raw: unknown, choices: readonly string[]): string[] {
  if (Array.isArray(raw)) return raw.filter((one) => one !== '' && one !== null).map(String);
  const text = String(typeof raw === 'object' ? '' : raw).trim();
  const [soleChoice] = choices;
  if (soleChoice !== undefined && choices.length === 1 && !choices.includes(text)) {
    const value = yesOrNo(text);
    if (value !== undefined) return value ? [soleChoice] : [];
  }
  return text.split('|').map((part) => part.trim());
}

function schemaOf({ type, choices }: CustomField): object {
  if (type === 'choice') return { type: 'string', enum: choices };
  if (type === 'checkbox') return { type: 'array', items: { type: 'string', enum: choices } };
  if (type === 'number') return { type: 'number' };
  return { type: 'string', ...(type === 'url' ? { format: 'uri' } : {}) };
}
