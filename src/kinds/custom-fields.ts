import type { CustomField } from '../calendar/custom-fields.ts';
import { isCustomMeta } from '../calendar/custom-fields.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import type { Fault } from '../errors.ts';
import { memoizeByObject } from '../memo.ts';
import { sanitizeTextField } from '../wordpress/content/plain-text.ts';
import { type Metas, metaOf } from '../wordpress/rows.ts';
import { normalizeWebUrl } from '../wordpress/web-url.ts';
import type { Condition } from './condition.ts';
import { rule, valueIn } from './fields.ts';
import { group } from './filter.ts';
import { type Grammar, LENGTHS, numeric } from './grammars/grammar.ts';
import type { Kind, PostKind, Rows } from './kind.ts';
import { withLanguages } from './language-fields.ts';

/*
 * The fields that a site defines for its events, as one field and one filter `custom_fields` of the kind. A site that
 * defines none has neither.
 */

/** Whether a site can define fields for records of this kind. */
export const takesCustomFields = ({ name }: Pick<Kind, 'name'>): boolean => name === 'event';

/**
 * A kind as a site has it: an event with the fields that the site defines, and all kinds that it translates with
 * theirs.
 */
export const onSite = <K extends Kind>(kind: K, { calendar, contentLanguages }: OnSite): K =>
  // What is made of a kind is one of the same type.
  withLanguages(kind.is === 'post' && takesCustomFields(kind) ? (extended(calendar.customFields)(kind) as K) : kind, contentLanguages);

type OnSite = Pick<SiteSettings, 'calendar' | 'contentLanguages'>;

const extended = memoizeByObject((defined: readonly CustomField[]) => {
  const fields = defined.filter(({ meta }) => isCustomMeta(meta));
  return memoizeByObject((kind: PostKind): PostKind => (fields.length === 0 ? kind : withFields(kind, fields)));
});

/** What is sent of each field, as it is stored; the empty list where it is cleared. */
type Sent = ReadonlyMap<CustomField, readonly string[]>;

function withFields(kind: PostKind, fields: readonly CustomField[]): PostKind {
  const grammar = membersGrammar(fields);
  const field = rule(grammar, { members: new Map(fields.map(({ meta, name, label }) => [meta, { name, label }])) });
  const { custom_fields } = group({
    params: { custom_fields: { grammar } },
    narrows: ({ custom_fields: sent }) => [...(sent ?? [])].flatMap(([one, values]) => values.map((value) => holding(one, value))),
    echo: ({ custom_fields: sent }) =>
      [...(sent ?? [])].flatMap(([{ name }, values]) =>
        values.length === 0 ? [] : [[`custom_fields[${name}]`, values.join('|')] as const],
      ),
  });
  return {
    ...kind,
    fields: { ...kind.fields, custom_fields: field },
    filters: { ...kind.filters, custom_fields },
    follows: (values, before, context) => {
      const rows = kind.follows(values, before, context);
      const sent = valueIn(values, 'custom_fields', field);
      const changed =
        sent === null ? fields.map((one) => metaRows(one, [])) : [...(sent ?? [])].map(([one, stored]) => metaRows(one, stored));
      return { ...rows, metas: Object.assign({}, rows.metas, ...changed) };
    },
  };
}

/**
 * The metas of a value: the values of a checkbox stand together in one row, and each of them in a row of a second meta.
 */
const metaRows = ({ meta, type }: CustomField, stored: readonly string[]): Rows['metas'] =>
  type === 'checkbox' ? { [meta]: stored.length > 0 ? [stored.join('|')] : [], [rowsOf(meta)]: stored } : { [meta]: stored };

const rowsOf = (meta: string): string => `_${meta}`;

/** The metas that may hold values of a field. */
export const metasOf = ({ meta, type }: CustomField): string[] => (type === 'checkbox' ? [meta, rowsOf(meta)] : [meta]);

const holding = (field: CustomField, value: string): Condition => ({ by: 'metaValue', keys: metasOf(field), value });

// ------------------------------------------------------------------------------------------------- showing
/** The member `custom_fields` of an event: the fields that hold something. PHP writes an empty one as a list. */
export function customFieldsRecord(
  fields: readonly CustomField[],
  metas: Metas | undefined,
): Record<string, { label: string; value: string }> | never[] {
  const filled = fields.flatMap(({ meta, name, label }) => {
    const value = metaOf(metas, meta);
    return value ? [[name, { label, value }] as const] : [];
  });
  return filled.length > 0 ? Object.fromEntries(filled) : [];
}

// ------------------------------------------------------------------------------------------------- reading
/** Values of custom fields by their names, or by the names of their metas. */
function membersGrammar(fields: readonly CustomField[]): Grammar<Sent> {
  const known = new Map(fields.flatMap((field) => [[field.meta, field] as const, [field.name, field] as const]));
  return {
    longest: LENGTHS.text,
    hint: { reason: 'not-an-object', example: exampleOf(fields) },
    json: {
      type: 'object',
      properties: Object.fromEntries(fields.map((field) => [field.name, { title: field.label, ...schemaOf(field) }])),
      additionalProperties: false,
    },
    read: (raw) => {
      if (raw === '' || (Array.isArray(raw) && raw.length === 0)) return { value: new Map() };
      if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) return { late: { stage: 'type', type: 'object' } };
      const sent = new Map<CustomField, readonly string[]>();
      for (const [name, value] of Object.entries(raw)) {
        const field = known.get(name);
        if (!field) return faultOf('custom-field-unknown', { name: name.slice(0, 100), names: fields.map((one) => one.name).join(', ') });
        const stored = storedValue(field, value);
        if (!stored) return faultOf(REASONS[field.type], { name: field.name, choices: field.choices.join(', ') });
        sent.set(field, stored);
      }
      return { value: sent };
    },
  };
}

/** A value of the first field. */
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

const faultOf = (reason: string, values: Readonly<Record<string, string>>): { readonly fault: Fault } => ({
  fault: { stage: 'value', reason, values },
});

/**
 * A value of a custom field as it is stored: one text, of a checkbox all of its values, of an empty one none.
 *
 * @returns undefined where the value is none of this field
 */
export function storedValue(field: CustomField, raw: unknown): readonly string[] | undefined {
  if (raw === null || raw === undefined || raw === '') return [];
  const stored = READERS[field.type](raw, field.choices);
  const texts = stored?.map((text) => text.trim()).filter((text) => text !== '');
  return texts && Buffer.byteLength(texts.join('|')) > LENGTHS.text ? undefined : texts;
}

/** The metas of a value that `storedValue` has read, for sources that say rows. */
export const customFieldRows = (field: CustomField, stored: readonly string[]): [key: string, value: string][] =>
  Object.entries(metaRows(field, stored)).flatMap(([key, values]) => values.map((value): [string, string] => [key, value]));

type Reader = (raw: unknown, choices: readonly string[]) => readonly string[] | undefined;

const textIn = (raw: unknown): string | undefined => (typeof raw === 'string' || typeof raw === 'number' ? String(raw) : undefined);

const READERS: Readonly<Record<CustomField['type'], Reader>> = {
  text: (raw) => storedBy(textIn(raw), (text) => sanitizeTextField(text)),
  textarea: (raw) =>
    storedBy(textIn(raw), (text) =>
      text
        .split(/\r\n|\r|\n/)
        .map(sanitizeTextField)
        .join('\n'),
    ),
  number: (raw) => storedBy(numeric(raw), String),
  url: (raw) => storedBy(typeof raw === 'string' ? (normalizeWebUrl(raw) ?? undefined) : undefined, String),
  choice: (raw, choices) =>
    storedBy(
      choices.find((choice) => choice === textIn(raw)?.trim()),
      String,
    ),
  checkbox: (raw, choices) => {
    const wanted = wantedOf(raw, choices);
    return wanted.every((one) => choices.includes(one)) ? choices.filter((choice) => wanted.includes(choice)) : undefined;
  },
};

const storedBy = <T>(value: T | undefined, read: (value: T) => string): readonly string[] | undefined =>
  value === undefined ? undefined : [read(value)];

/**
 * Values of a checkbox: a list, or a text with a `|` between them; a box with a single value is also ticked by yes or
 * no.
 */
function wantedOf(raw: unknown, choices: readonly string[]): string[] {
  if (Array.isArray(raw)) return raw.map(String);
  const text = String(typeof raw === 'object' ? '' : raw).trim();
  const [only] = choices;
  if (only !== undefined && choices.length === 1 && !choices.includes(text)) {
    if (/^(true|1|yes|on)$/i.test(text)) return [only];
    if (/^(false|0|no|off)$/i.test(text)) return [];
  }
  return text.split('|').map((part) => part.trim());
}

function schemaOf({ type, choices }: CustomField): object {
  if (type === 'choice') return { type: 'string', enum: choices };
  if (type === 'checkbox') return { type: 'array', items: { type: 'string', enum: choices } };
  if (type === 'number') return { type: 'number' };
  return { type: 'string', ...(type === 'url' ? { format: 'uri' } : {}) };
}
