/*
 * Fields that a site defines for its events ("Additional Fields" of the calendar's paid extension). The extension keeps
 * the definitions in its option `custom-fields` and each value in a meta `_ecp_custom_N`; what it has no place for
 * is stored in an option of ours (docs/decisions/0021).
 */

/** Types that a field can be given; `textarea` is read only from definitions of the extension. */
export const CUSTOM_FIELD_TYPES = ['text', 'number', 'choice', 'url', 'checkbox'] as const;
export type CustomFieldType = (typeof CUSTOM_FIELD_TYPES)[number];

export interface CustomField {
  /** The meta that holds the value. */
  readonly meta: string;
  /** What requests and answers call it: its own name, or the meta where it has none. */
  readonly name: string;
  readonly label: string;
  readonly type: CustomFieldType | 'textarea';
  /** The values of a choice or a checkbox. */
  readonly choices: readonly string[];
}

/** The option that holds what the extension has no place for: `{[meta]: {name, type}}`. */
export const CUSTOM_FIELDS_OPTION = 'fasti_custom_fields';

/** The value of a checkbox that is a single box. */
export const SOLE_CHOICE = 'yes';

/** What stands beside a box: its choice, or a word for yes where it is the only one. */
export const choiceInWords = (choice: string, choices: readonly string[], yes: string): string =>
  choices.length === 1 && choice === SOLE_CHOICE ? yes : choice;

/** Limits for new fields: how many a site has, and characters of a name, a label and a choice. */
export const MOST_CUSTOM_FIELDS = 100;
export const LONGEST_LABEL = 200;
export const MOST_CHOICES = 100;

/** A name begins with a letter, so that it is never taken for an index, and names no member that every object has. */
export const isFieldName = (name: string): boolean => /^[a-z][a-z0-9_-]{0,39}$/.test(name) && !(name in {});

/**
 * Whether values may be written and looked for. A definition can name any meta; only those of the extension's own form
 * count.
 */
export const isCustomMeta = (meta: string): boolean => /^_ecp_custom_\d{1,9}$/.test(meta);

/** The type under which the extension knows a field of ours. A number is a text to it. */
export const EXTENSION_TYPES: Readonly<Record<CustomFieldType, string>> = {
  text: 'text',
  number: 'text',
  choice: 'dropdown',
  url: 'url',
  checkbox: 'checkbox',
};

const TYPES: ReadonlyMap<unknown, CustomField['type']> = new Map([
  ['text', 'text'],
  ['textarea', 'textarea'],
  ['url', 'url'],
  ['radio', 'choice'],
  ['dropdown', 'choice'],
  ['checkbox', 'checkbox'],
]);

/**
 * The fields that a site defines. `definitions`: the extension's, read from its option; `own`: ours, read from
 * `CUSTOM_FIELDS_OPTION`. Whatever has another form is passed over.
 */
export function readCustomFields(definitions: unknown, own: unknown): CustomField[] {
  const taken = new Set<string>();
  return membersOf(definitions).flatMap(([, definition]) => {
    const { name: meta, label, type, values } = objectOf(definition);
    if (typeof meta !== 'string' || meta === '') return [];
    const { name: wanted, type: ownType } = objectOf(Object.hasOwn(objectOf(own), meta) ? objectOf(own)[meta] : undefined);
    const isFree = typeof wanted === 'string' && isFieldName(wanted) && !taken.has(wanted);
    const name = isFree ? wanted : meta;
    taken.add(name);
    return [
      {
        meta,
        name,
        label: String(label ?? ''),
        type: ownType === 'number' ? 'number' : (TYPES.get(type) ?? 'text'),
        choices: linesOf(values),
      },
    ];
  });
}

/** PHP arrays come as objects or lists. */
const membersOf = (value: unknown): [string, unknown][] => (value !== null && typeof value === 'object' ? Object.entries(value) : []);
const objectOf = (value: unknown): Readonly<Record<string, unknown>> => (value !== null && typeof value === 'object' ? { ...value } : {});

/** Values stand one on each line. */
const linesOf = (values: unknown): string[] =>
  typeof values === 'string'
    ? values
        .split(/\r\n|\r|\n/)
        .map((line) => line.trim())
        .filter((line) => line !== '')
    : [];
