import { storedTextField } from '../wordpress/content/plain-text.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import { flag } from './grammars/flags.ts';
import { type Grammar, MAX_BYTES } from './grammars/grammar.ts';
import { anyText, type FetchedImage, image } from './grammars/grammars.ts';
import { type LinkPlan, requestedLinks } from './grammars/links.ts';
import { type RequestedTerm, requestedTerms } from './grammars/lists.ts';
import type { LinkedKindName, TermKindName } from './kind-names.ts';
import type { Empty, Field, FieldNames, Place, Values } from './param.ts';

type FieldOptions<T> = Partial<Pick<Field<T>, 'required' | 'unless' | 'fallback' | 'promotes' | 'names' | 'isAdditional' | 'members'>> & {
  readonly store?: (value: T | '') => readonly string[];
};

/** A field that is stored in one meta. */
interface InMeta {
  readonly place: { readonly in: 'meta' | 'links'; readonly key: string };
}

/** A column of `posts`. */
export const column = <T>(name: PostColumn, grammar: Grammar<unknown, T>, options: FieldOptions<T> = {}): Field<T, 'clears'> => ({
  grammar,
  place: { in: 'column', column: name },
  empty: 'clears',
  store: (value) => [String(value)],
  ...options,
});

/** One row of `postmeta` holding plain text; an empty value removes it. */
export const meta = (
  key: string,
  grammar: Grammar<unknown, string> = anyText(MAX_BYTES.text),
  options: FieldOptions<string> = {},
): Field<string, 'clears'> & InMeta => ({
  grammar,
  place: { in: 'meta', key },
  empty: 'clears',
  store: (value) => (value === '' ? [] : [storedTextField(value)]),
  ...options,
});

/** A text of a record, shown as it is stored. */
export type TextField = Field<string, 'clears'> & InMeta & Required<Pick<Field, 'text'>>;

/** A text that the record shows under the name of the field. Searches include it unless `searched` is false. */
export const textMeta = (
  key: string,
  {
    grammar,
    searched = true,
    ...options
  }: FieldOptions<string> & { readonly grammar?: Grammar<unknown, string>; readonly searched?: boolean } = {},
): TextField => ({ ...meta(key, grammar, options), text: { searched } });

/** A boolean in one row of `postmeta`; `off` is the stored text for false, or undefined for no row. */
export const flagMeta = (
  key: string,
  texts: { on: string; off: string | undefined },
  options: FieldOptions<boolean> & { readonly grammar?: Grammar<boolean> } = {},
): Field<boolean, 'false'> & InMeta => ({
  grammar: flag,
  place: { in: 'meta', key },
  empty: 'false',
  store: (value) => (value === true ? [texts.on] : texts.off === undefined ? [] : [texts.off]),
  ...options,
});

/** A field that the kind's `derivedRows` turns into columns and metas. */
export const rule = <T>(grammar: Grammar<unknown, T>, options: FieldOptions<T> = {}): Field<T, 'clears'> => ({
  grammar,
  place: { in: 'rule' },
  empty: 'clears',
  ...options,
});

/** Returns the field with the names that it has in other interfaces. */
export const withNames = <T, E extends Empty>(names: FieldNames, field: Field<T, E>): Field<T, E> => ({ ...field, names });

/** Returns the field with another meaning of an empty value than clearing it. */
export const whenEmpty = <T, E extends Empty>(empty: E, field: Field<T>): Field<T, E> => ({ ...field, empty });

/** The categories or tags of a record. */
export const terms = (kind: TermKindName, names: FieldNames = {}): Field<readonly RequestedTerm[], 'clears'> => ({
  names,
  grammar: requestedTerms,
  place: { in: 'terms', kind },
  empty: 'clears',
  fallback: null,
});

/** The records that an event links to by a meta, which has a row for each of them. */
export const links = (key: string, kind: LinkedKindName, names: FieldNames = {}): Field<readonly LinkPlan[], 'clears'> & InMeta => ({
  names,
  grammar: requestedLinks(kind),
  place: { in: 'links', key, kind },
  empty: 'clears',
  fallback: null,
});

/** The featured image, `_thumbnail_id`. */
export const featuredImage = () =>
  ({ grammar: image, place: { in: 'image' }, empty: 'clears', names: { tec: 'featured_media' } }) as const satisfies Field;

/** Metas that store fields, by field name. */
export const metaKeysOf = <Fields extends Readonly<Record<string, Field>>>(
  fields: Fields,
): { readonly [Name in keyof Fields as Fields[Name] extends InMeta ? Name : never]: string } =>
  // The compiler does not track names through entries: the fields with a key are those whose type has one.
  Object.fromEntries(Object.entries(fields).flatMap(([name, { place }]) => ('key' in place ? [[name, place.key]] : []))) as never;

/** Texts among the fields that records show as they are stored: name -> meta, in the order of declaration. */
export const shownTexts = <Fields extends Readonly<Record<string, Field>>>(
  fields: Fields,
): { readonly [Name in keyof Fields as Fields[Name] extends TextField ? Name : never]: string } =>
  // As above: the fields with `text` are those whose type has it.
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { place, text }]) => (text && place.in === 'meta' ? [[name, place.key]] : [])),
  ) as never;

/** Returns the values of the texts by name, without the empty ones. `read`: reads a meta. */
export const nonEmptyTexts = <Texts extends Readonly<Record<string, string>>>(texts: Texts, read: (key: string) => string) =>
  // The names are those of `texts`, which the compiler does not track through entries.
  Object.fromEntries(Object.entries(texts).flatMap(([name, key]) => (read(key) === '' ? [] : [[name, read(key)]]))) as {
    readonly [Name in keyof Texts]?: string;
  };

/** Metas of the texts that searches include. */
export const searchedTexts = (fields: Readonly<Record<string, Field>>): string[] =>
  Object.values(fields).flatMap(({ place, text }) => (text?.searched && place.in === 'meta' ? [place.key] : []));

/** A field whose place determines the type of its values. */
type FieldIn<In extends Place['in'], T> = Field<T> & { readonly place: Extract<Place, { readonly in: In }> };

/** Whether a field holds categories or tags. */
export const isTerms = (field: Field): field is FieldIn<'terms', readonly RequestedTerm[]> => field.place.in === 'terms';
/** Whether a field holds links to venues or organizers. */
export const isLinks = (field: Field): field is FieldIn<'links', readonly LinkPlan[]> => field.place.in === 'links';
/** Whether a field holds the featured image. */
export const isImage = (field: Field): field is FieldIn<'image', number | FetchedImage> => field.place.in === 'image';

/** Returns the accepted value of a field from the values of a request; undefined: not sent, null: cleared. */
export const valueIn = <T>(values: Values, name: string, _field: Field<T>): T | null | undefined =>
  // The value under a field's name is the one that its own grammar accepted. The compiler can only see that if the name
  // is a literal.
  values[name] as T | null | undefined;
