import { objectOf } from '../objects.ts';
/*
 * Custom fields of a site's events ("Additional Fields" of The Events Calendar's paid extension). The extension stores
 * the definitions in its option `custom-fields` and each value in a meta `_ecp_custom_N`; properties that it does not
 * support are stored in an option of ours (docs/decisions/0021).
 */

/** Types of new fields; `textarea` only occurs in definitions of the extension. */
export const CUSTOM_FIELD_TYPES = ['text', 'number', 'choice', 'url', 'checkbox'] as const;
export type CustomFieldType = (typeof CUSTOM_FIELD_TYPES)[number];

export interface CustomField {
  /** The meta that holds the value. */
  readonly meta: string;
  /** Name in requests and answers: the field's own name, or the meta if it has none. */
  readonly name: string;
  readonly label: string;
  readonly type: CustomFieldType | 'textarea';
  /** Values of a choice or a checkbox. */
  readonly choices: readonly string[];
}

/** The option with the properties that the extension does not support: `{[meta]: {name, type}}`. */
export const CUSTOM_FIELDS_OPTION = 'fasti_custom_fields';

/** The value of a checkbox field with a single box. */
export const SOLE_CHOICE = 'yes';

/** Returns the label of a box: its choice, or a word for yes if it is the only one. */
export const choiceLabel = (choice: string, choices: readonly string[], yesText: string): string =>
  choices.length === 1 && choice === SOLE_CHOICE ? yesText : choice;

/** Limits for new fields: number of fields of a site, length of a label, number of choices. */
export const MAX_CUSTOM_FIELDS = 100;
export const MAX_LABEL_LENGTH = 200;
export const MAX_CHOICES = 100;

/**
 * Returns whether a text is a valid name of a field. It must start with a letter, so that it cannot be mistaken for an
 * index, and must not be the name of a member that every object inherits.
 */
export const isFieldName = (name: string): boolean => /^[a-z][a-z0-9_-]{0,39}$/.test(name) && !(name in {});

/**
 * Returns whether values of a field may be written and searched. A definition can name any meta; only those in the
 * extension's form are allowed.
 */
export const isCustomMeta = (meta: string): boolean => /^_ecp_custom_\d{1,9}$/.test(meta);

/** Returns whether the values of a field are texts in a language; otherwise a translation has the same value. */
export const isInLanguage = ({ type }: Pick<CustomField, 'type'>): boolean => type === 'text' || type === 'textarea';

/** The extension's type for each of our types. It has no numbers and stores them as texts. */
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
 * Returns the custom fields of a site. `definitions`: the extension's, read from its option; `ownDefinitions`: ours,
 * read from `CUSTOM_FIELDS_OPTION`. Invalid entries are ignored.
 */
export function readCustomFields(definitions: unknown, ownDefinitions: unknown): CustomField[] {
  const takenNames = new Set<string>();
  return Object.entries(objectOf(definitions)).flatMap(([, definition]) => {
    const { name: meta, label, type, values } = objectOf(definition);
    if (typeof meta !== 'string' || meta === '') return [];
    const { name: ownName, type: ownType } = objectOf(
      Object.hasOwn(objectOf(ownDefinitions), meta) ? objectOf(ownDefinitions)[meta] : undefined,
    );
    const isFree = typeof ownName === 'string' && isFieldName(ownName) && !takenNames.has(ownName);
    const name = isFree ? ownName : meta;
    takenNames.add(name);
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

/** Returns the values of a field, which are stored one per line. */
const linesOf = (values: unknown): string[] =>
  typeof values === 'string'
    ? values
        .split(/\r\n|\r|\n/)
        .map((line) => line.trim())
        .filter((line) => line !== '')
    : [];
