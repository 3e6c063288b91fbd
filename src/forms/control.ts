import type { JSX } from 'preact';
import type { CustomField } from '../calendar/custom-fields.ts';
import type { FieldProps, Option } from '../html/form-fields.tsx';
import type { Field } from '../kinds/param.ts';

/*
 * What a control is: how a field of a kind is shown in a form, and read from one. The form of a value is plain data,
 * so that what was sent can be compared with what is stored: only what somebody changed is written.
 */

/** A value as a form shows and sends it. */
export type Shown = unknown;

/** What inputs need to know besides the value: choices, and names of what values name by id. */
export interface ControlData {
  readonly say: (key: string, values?: Readonly<Record<string, string | number>>) => string;
  /** Terms that can be chosen, by field. */
  readonly terms: Readonly<Record<string, readonly TermChoice[]>>;
  /** The fields whose new terms the caller may make. */
  readonly freshTerms: ReadonlySet<string>;
  /** What can be linked to, by field, and the fields of a new record of that kind. */
  readonly links: Readonly<Record<string, LinkChoices>>;
  readonly statuses: readonly Option[];
  /** People who may be authors; empty where that is not the caller's to say. */
  readonly authors: readonly Option[];
  readonly image: ImageShown | undefined;
  /** What the form says that the image shows. */
  readonly alt: string;
  readonly mayUpload: boolean;
  /** What a file that is sent along may have at most. */
  readonly longestFile: { readonly bytes: number; readonly words: string };
  readonly customFields: readonly CustomField[];
  readonly zones: readonly string[];
  /** Names of the languages of the content, by their codes. */
  readonly languages: ReadonlyMap<string, string>;
}

/** What inputs need to know that offer no choices. */
export const NO_CONTROL_DATA: Omit<ControlData, 'say'> = {
  terms: {},
  freshTerms: new Set(),
  links: {},
  statuses: [],
  authors: [],
  image: undefined,
  alt: '',
  mayUpload: false,
  longestFile: { bytes: 0, words: '' },
  customFields: [],
  zones: [],
  languages: new Map(),
};

export interface TermChoice {
  readonly id: number;
  readonly name: string;
  /** How far below the root. */
  readonly depth: number;
  /** The name of its language, where content has several. */
  readonly language?: string | undefined;
}

/** A term with its language, as it is offered. */
export const termText = ({ name, language }: TermChoice): string => (language === undefined ? name : `${name} (${language})`);

/** The same in a list without indents. */
export const indentedTerm = (term: TermChoice): string => '– '.repeat(term.depth) + termText(term);

export interface LinkChoices {
  readonly path: string;
  /** Names of records that can be linked, by id. */
  readonly known: ReadonlyMap<number, string>;
  /** Fields of a new record, with their labels. */
  readonly fresh: readonly { readonly name: string; readonly label: string }[];
  readonly several: boolean;
  readonly mayCreate: boolean;
}

export interface ImageShown {
  readonly address: string;
  readonly alt: string;
  readonly mayDescribe: boolean;
}

export interface ControlProps extends FieldProps {
  readonly field: Field;
  readonly shown: Shown;
  readonly data: ControlData;
}

export interface Control {
  /** A stored value (undefined: none yet) as the form shows it. */
  readonly show: (value: unknown, data: ControlData) => Shown;
  /** What a form sent under the name of the field. */
  readonly read: (sent: unknown) => Shown;
  /** A value of the form as the API takes it. `stored`: the value of before, undefined where there was none. */
  readonly raw: (shown: Shown, data: ControlData, stored: unknown) => unknown;
  /** A value in words, for comparing two versions. */
  readonly words: (shown: Shown, data: ControlData) => string;
  readonly Show: (props: ControlProps) => JSX.Element | null;
}

export const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value).replace(/\r\n?/g, '\n'));
/** A text as an input of one line holds it. */
export const onOneLine = (text: string): string => text.replace(/\n/g, ' ');
export const asText = (shown: Shown): string => (typeof shown === 'string' ? shown : '');

export function boxOf({ name, id, label, hint, error, required }: ControlProps): FieldProps {
  return { name, label, hint, error, required, ...(id === undefined ? {} : { id }) };
}

/** The same of a field of several inputs, each of which says for itself whether it must be filled in. */
export function groupOf(props: ControlProps): Omit<FieldProps, 'required'> {
  const { required: _, ...group } = boxOf(props);
  return group;
}
