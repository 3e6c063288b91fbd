import type { JSX } from 'preact';
import type { CustomField } from '../calendar/custom-fields.ts';
import type { FieldProps, Option } from '../html/form-fields.tsx';
import type { Field } from '../kinds/param.ts';

/*
 * A control defines how a field of a kind is shown in a form and read from it. The form's value is plain data, so that
 * the submitted value can be compared with the stored one: only changed values are written.
 */

/** A value in the form in which a form shows and sends it. */
export type FormValue = unknown;

/** Data for inputs in addition to the value: choices, and the names of records that values contain by id. */
export interface ControlData {
  readonly say: (key: string, values?: Readonly<Record<string, string | number>>) => string;
  /** Returns a local time (`YYYY-MM-DD HH:MM`) or a day in words. */
  readonly momentInWords: (moment: string) => string;
  /** Terms to choose from, by field. */
  readonly terms: Readonly<Record<string, readonly TermChoice[]>>;
  /** Fields for which the caller may create new terms. */
  readonly newTermFields: ReadonlySet<string>;
  /** Records to link to, by field, and the fields of a new record of that kind. */
  readonly links: Readonly<Record<string, LinkChoices>>;
  readonly statuses: readonly Option[];
  /** People who can be authors; empty if the caller may not set the author. */
  readonly authors: readonly Option[];
  readonly image: FormImage | undefined;
  /** The alternative text in the form, for the image in it or for a new one. */
  readonly alt: string;
  /** The alternative text that the form began with. */
  readonly initialAlt: string;
  readonly mayUpload: boolean;
  /** Maximum size of an uploaded file. */
  readonly maxFileSize: { readonly bytes: number; readonly text: string };
  readonly customFields: readonly CustomField[];
  readonly zones: readonly string[];
  /** Names of the content languages, by code. */
  readonly languages: ReadonlyMap<string, string>;
}

/** Data for inputs without choices. */
export const NO_CONTROL_DATA: Omit<ControlData, 'say'> = {
  momentInWords: (moment) => moment,
  terms: {},
  newTermFields: new Set(),
  links: {},
  statuses: [],
  authors: [],
  image: undefined,
  alt: '',
  initialAlt: '',
  mayUpload: false,
  maxFileSize: { bytes: 0, text: '' },
  customFields: [],
  zones: [],
  languages: new Map(),
};

export interface TermChoice {
  readonly id: number;
  readonly name: string;
  /** Depth below the root. */
  readonly depth: number;
  /** The name of its language, if content has several. */
  readonly language?: string | undefined;
}

/** Returns the text of a term with its language, for a list of choices. */
export const termText = ({ name, language }: TermChoice): string => (language === undefined ? name : `${name} (${language})`);

/** Returns the text of a term with marks for its depth, for a list without indentation. */
export const indentedTerm = (term: TermChoice): string => '– '.repeat(term.depth) + termText(term);

export interface LinkChoices {
  readonly path: string;
  /** Names of records to link to, by id. */
  readonly names: ReadonlyMap<number, string>;
  /** Fields of a new record, with their labels. */
  readonly newRecordFields: readonly { readonly name: string; readonly label: string }[];
  readonly allowsSeveral: boolean;
  readonly mayCreate: boolean;
}

export interface FormImage {
  readonly title: string;
  readonly address: string;
  /** Its stored alternative text, as an input shows it. */
  readonly alt: string;
  readonly mayChangeAlt: boolean;
}

export interface ControlProps extends FieldProps {
  readonly field: Field;
  readonly formValue: FormValue;
  readonly data: ControlData;
}

export interface Control {
  /** Returns a stored value (undefined: none yet) in the form's representation. */
  readonly toFormValue: (value: unknown, data: ControlData) => FormValue;
  /** Reads the submitted value of the field. */
  readonly read: (input: unknown) => FormValue;
  /** Returns a value of the form as the API takes it. `storedValue`: undefined if there was none. */
  readonly toApiValue: (formValue: FormValue, data: ControlData, storedValue: unknown) => unknown;
  /** Returns a value in words, for comparing two versions. */
  readonly toText: (formValue: FormValue, data: ControlData) => string;
  readonly Component: (props: ControlProps) => JSX.Element | null;
}

/** Returns a value as the text of an input, with `\n` at the ends of lines. */
export const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value).replace(/\r\n?/g, '\n'));
/** Returns a text as a single-line input contains it. */
export const onOneLine = (text: string): string => text.replace(/\n/g, ' ');
/** Returns an alternative text as its input contains it. */
export const altOnOneLine = (alt: unknown): string => onOneLine(textOf(alt)).trim();
/** Returns the value of an input if it is a text. */
export const textOrEmpty = (formValue: FormValue): string => (typeof formValue === 'string' ? formValue : '');

/** Returns the properties of the field around an input. */
export function fieldPropsOf({ name, id, label, hint, error, required }: ControlProps): FieldProps {
  return { name, label, hint, error, required, ...(id === undefined ? {} : { id }) };
}

/** Returns the properties of a field with several inputs, each of which has its own `required`. */
export function groupPropsOf(props: ControlProps): Omit<FieldProps, 'required'> {
  const { required: _, ...group } = fieldPropsOf(props);
  return group;
}
