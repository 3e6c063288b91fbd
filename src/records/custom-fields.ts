import {
  CUSTOM_FIELDS_OPTION,
  type CustomField,
  type CustomFieldType,
  EXTENSION_TYPES,
  isFieldName,
  MAX_CHOICES,
  MAX_CUSTOM_FIELDS,
  MAX_LABEL_LENGTH,
  readCustomFields,
  SOLE_CHOICE,
} from '../calendar/custom-fields.ts';
import { CALENDAR_OPTION } from '../calendar/settings.ts';
import { isObject, objectOf } from '../objects.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { noteChange } from '../storage/journal/reported-changes.ts';
import { usedCustomMetas } from '../storage/rows/ids-in-use.ts';
import { lockOption, writeOption } from '../storage/rows/options.ts';
import { storedTextField } from '../wordpress/content/plain-text.ts';
import { parseSerialized, withMembers } from '../wordpress/php/serialized.ts';
import { metaOfDefinition, nextFieldNumber } from './merge-custom-fields.ts';

/** A field to define. The label defaults to the name; a checkbox without choices has the single choice `yes`. */
export interface NewCustomField {
  readonly name: string;
  readonly type: CustomFieldType;
  readonly label?: string | undefined;
  readonly choices?: readonly string[] | undefined;
}

/** Reasons why a field cannot be defined or removed. */
export type CustomFieldProblem =
  | 'field-name'
  | 'field-taken'
  | 'field-label'
  | 'field-choices'
  | 'field-number'
  | 'field-unknown'
  | 'no-custom-fields'
  | 'field-option';

/** Thrown if a field cannot be defined or removed. */
export class CustomFieldError extends Error {
  readonly problem: CustomFieldProblem;
  readonly values: Readonly<Record<string, string | number>>;

  constructor(problem: CustomFieldProblem, values: CustomFieldError['values'] = {}) {
    super(problem);
    this.problem = problem;
    this.values = values;
  }
}

/**
 * Defines a custom field of events, in the options that the calendar's paid extension reads, and in one of our own.
 *
 * @throws CustomFieldError
 */
export async function addCustomField({ db, clock }: Site, field: NewCustomField): Promise<CustomField> {
  const { name, type } = field;
  const label = storedTextField(field.label ?? name);
  const choices = choicesOf(field);
  if (!isFieldName(name)) throw new CustomFieldError('field-name', { name });
  if (label === '' || label.length > MAX_LABEL_LENGTH || label === UNREADABLE)
    throw new CustomFieldError('field-label', { longest: MAX_LABEL_LENGTH });
  return db.transaction(async (trx) => {
    const { definitions, ownEntries, fields, write } = await openDefinitions(trx);
    if (fields.length >= MAX_CUSTOM_FIELDS) throw new CustomFieldError('field-number', { most: MAX_CUSTOM_FIELDS });
    if (fields.some((one) => one.name === name)) throw new CustomFieldError('field-taken', { name });
    const number = nextFieldNumber(definitions, await usedCustomMetas(trx));
    const meta = `_ecp_custom_${number}`;
    definitions.set(String(number), { name: meta, label, type: EXTENSION_TYPES[type], values: choices.join('\n') });
    await write(definitions, { ...ownEntries, [meta]: { name, type } });
    noteChange(trx, { now: clock() });
    return { meta, name, label, type, choices };
  });
}

/**
 * Removes the definition of a field, given its name or its meta. Its values in events stay in the database.
 *
 * @throws CustomFieldError
 */
export async function removeCustomField({ db, clock }: Site, name: string): Promise<CustomField> {
  return db.transaction(async (trx) => {
    const { definitions, ownEntries, fields, write } = await openDefinitions(trx);
    const field = fields.find((one) => one.name === name || one.meta === name);
    if (fields.length === 0) throw new CustomFieldError('no-custom-fields');
    if (!field) throw new CustomFieldError('field-unknown', { name, names: fields.map((one) => one.name).join(', ') });
    const keptDefinitions = new Map([...definitions].filter(([, definition]) => metaOfDefinition(definition) !== field.meta));
    await write(keptDefinitions, { ...ownEntries, [field.meta]: undefined });
    noteChange(trx, { now: clock() });
    return field;
  });
}

/** A text that would make the option unreadable (`parseSerialized`). */
const UNREADABLE = '__proto__';

function choicesOf({ type, choices = [] }: NewCustomField): readonly string[] {
  const distinctChoices = [...new Set(choices.map((choice) => storedTextField(choice)).filter((choice) => choice !== ''))];
  const finalChoices = type === 'checkbox' && distinctChoices.length === 0 ? [SOLE_CHOICE] : distinctChoices;
  const isCountValid =
    type === 'choice' || type === 'checkbox' ? finalChoices.length > 0 && finalChoices.length <= MAX_CHOICES : distinctChoices.length === 0;
  // The extension joins several values of a checkbox with `|`.
  const areValid = finalChoices.every((choice) => choice.length <= MAX_LABEL_LENGTH && !choice.includes('|') && choice !== UNREADABLE);
  if (!isCountValid || !areValid) throw new CustomFieldError('field-choices', { most: MAX_CHOICES, longest: MAX_LABEL_LENGTH });
  return finalChoices;
}

interface Definitions {
  /** The extension's definitions by key. */
  readonly definitions: Map<string, unknown>;
  readonly ownEntries: Readonly<Record<string, unknown>>;
  readonly fields: readonly CustomField[];
  readonly write: (definitions: ReadonlyMap<string, unknown>, ownEntries: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** Reads the definitions and locks them. Throws CustomFieldError `field-option` if the options cannot be read. */
async function openDefinitions(db: Database): Promise<Definitions> {
  const calendar = await lockOption(db, CALENDAR_OPTION);
  const ownOption = await lockOption(db, CUSTOM_FIELDS_OPTION);
  const storedFields = readMembers(CALENDAR_OPTION, calendar)['custom-fields'];
  const ownEntries = readMembers(CUSTOM_FIELDS_OPTION, ownOption);
  return {
    definitions: new Map(Object.entries(objectOf(storedFields))),
    ownEntries,
    fields: readCustomFields(storedFields, ownEntries),
    write: async (definitions, entries) => {
      const [newCalendar, names] = [withMembers(calendar, { 'custom-fields': definitions }), withMembers('', entries)];
      if (newCalendar === undefined || names === undefined) throw new CustomFieldError('field-option', { option: CALENDAR_OPTION });
      await writeOption(db, CALENDAR_OPTION, newCalendar);
      await writeOption(db, CUSTOM_FIELDS_OPTION, names);
    },
  };
}

/**
 * Parses an option. Throws CustomFieldError `field-option` if that fails, so that an unreadable option is not
 * overwritten.
 */
function readMembers(option: string, text: string): Readonly<Record<string, unknown>> {
  const value = text === '' ? {} : parseSerialized(text);
  if (!isObject(value)) throw new CustomFieldError('field-option', { option });
  return objectOf(value);
}
