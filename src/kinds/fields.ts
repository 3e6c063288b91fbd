import { sanitizeTextField } from '../wordpress/content/plain-text.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import { flag } from './grammars/flags.ts';
import { type Grammar, LENGTHS } from './grammars/grammar.ts';
import { anyText, type FetchedImage, image } from './grammars/grammars.ts';
import { type LinkPlan, linkWishes } from './grammars/links.ts';
import { type TermWish, termWishes } from './grammars/lists.ts';
import type { TermKindName } from './kind-names.ts';
import type { Empty, Field, FieldNames, Place, Values } from './param.ts';

type Extra<T> = Partial<Pick<Field<T>, 'required' | 'unless' | 'fallback' | 'promotes' | 'names' | 'ours' | 'members'>> & {
  readonly store?: (value: T | '') => readonly string[];
};

/** A field that is stored in one meta. */
interface InMeta {
  readonly place: { readonly in: 'meta' | 'links'; readonly key: string };
}

/** A column of `posts`. */
export const column = <T>(name: PostColumn, grammar: Grammar<unknown, T>, extra: Extra<T> = {}): Field<T, 'clears'> => ({
  grammar,
  place: { in: 'column', column: name },
  empty: 'clears',
  store: (value) => [String(value)],
  ...extra,
});

/** One row of `postmeta` holding plain text; an empty value removes it. */
export const meta = (
  key: string,
  grammar: Grammar<unknown, string> = anyText(LENGTHS.text),
  extra: Extra<string> = {},
): Field<string, 'clears'> & InMeta => ({
  grammar,
  place: { in: 'meta', key },
  empty: 'clears',
  store: (value) => (value === '' ? [] : [sanitizeTextField(value)]),
  ...extra,
});

/** A text about a record, which it shows as it is stored. */
export type TextField = Field<string, 'clears'> & InMeta & Required<Pick<Field, 'text'>>;

/** A text that the record shows under the name of the field and that searches look into, unless `searched` is false. */
export const textMeta = (
  key: string,
  { grammar, searched = true, ...extra }: Extra<string> & { readonly grammar?: Grammar<unknown, string>; readonly searched?: boolean } = {},
): TextField => ({ ...meta(key, grammar, extra), text: { searched } });

/** A yes or no in one row of `postmeta`; `off` is the text for no, or undefined for no row at all. */
export const flagMeta = (
  key: string,
  stored: { on: string; off: string | undefined },
  extra: Extra<boolean> & { readonly grammar?: Grammar<boolean> } = {},
): Field<boolean, 'false'> & InMeta => ({
  grammar: flag,
  place: { in: 'meta', key },
  empty: 'false',
  store: (value) => (value === true ? [stored.on] : stored.off === undefined ? [] : [stored.off]),
  ...extra,
});

/** A field that the kind's `follows` turns into columns and metas. */
export const rule = <T>(grammar: Grammar<unknown, T>, extra: Extra<T> = {}): Field<T, 'clears'> => ({
  grammar,
  place: { in: 'rule' },
  empty: 'clears',
  ...extra,
});

/** The same field under other names elsewhere. */
export const withNames = <T, E extends Empty>(names: FieldNames, field: Field<T, E>): Field<T, E> => ({ ...field, names });

/** The same field where an empty value does something else than clear it. */
export const whenEmpty = <T, E extends Empty>(empty: E, field: Field<T>): Field<T, E> => ({ ...field, empty });

export const terms = (kind: TermKindName, names: FieldNames = {}): Field<readonly TermWish[], 'clears'> => ({
  names,
  grammar: termWishes,
  place: { in: 'terms', kind },
  empty: 'clears',
  fallback: null,
});

export const links = (key: string, kind: 'venue' | 'organizer', names: FieldNames = {}): Field<readonly LinkPlan[], 'clears'> & InMeta => ({
  names,
  grammar: linkWishes(kind),
  place: { in: 'links', key, kind },
  empty: 'clears',
  fallback: null,
});

/** The featured image, `_thumbnail_id`. */
export const featuredImage = () =>
  ({ grammar: image, place: { in: 'image' }, empty: 'clears', names: { tec: 'featured_media' } }) as const satisfies Field;

/** The metas that fields rest in, by the names of the fields. */
export const keysOf = <Fields extends Readonly<Record<string, Field>>>(
  fields: Fields,
): { readonly [Name in keyof Fields as Fields[Name] extends InMeta ? Name : never]: string } =>
  // The compiler does not follow names through entries: those with a key are those whose type has one.
  Object.fromEntries(Object.entries(fields).flatMap(([name, { place }]) => ('key' in place ? [[name, place.key]] : []))) as never;

/** The texts among fields that records show as they are stored: name -> meta, in the order of the declaration. */
export const shownTexts = <Fields extends Readonly<Record<string, Field>>>(
  fields: Fields,
): { readonly [Name in keyof Fields as Fields[Name] extends TextField ? Name : never]: string } =>
  // As above: those with `text` are those whose type has it.
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { place, text }]) => (text && place.in === 'meta' ? [[name, place.key]] : [])),
  ) as never;

/** What is read of the meta of each text, by the names of the texts, without the empty ones. */
export const filledTexts = <Texts extends Readonly<Record<string, string>>>(texts: Texts, read: (key: string) => string) =>
  // The names are those of `texts`, which the compiler does not follow through entries.
  Object.fromEntries(Object.entries(texts).flatMap(([name, key]) => (read(key) === '' ? [] : [[name, read(key)]]))) as {
    readonly [Name in keyof Texts]?: string;
  };

/** The metas of texts that searches look into. */
export const searchedTexts = (fields: Readonly<Record<string, Field>>): string[] =>
  Object.values(fields).flatMap(({ place, text }) => (text?.searched && place.in === 'meta' ? [place.key] : []));

/** A field whose place says what its values are. */
type FieldIn<In extends Place['in'], T> = Field<T> & { readonly place: Extract<Place, { readonly in: In }> };

export const isTerms = (field: Field): field is FieldIn<'terms', readonly TermWish[]> => field.place.in === 'terms';
export const isLinks = (field: Field): field is FieldIn<'links', readonly LinkPlan[]> => field.place.in === 'links';
export const isImage = (field: Field): field is FieldIn<'image', number | FetchedImage> => field.place.in === 'image';

/**
 * The accepted value of the field that a kind declares under a name; undefined: it is not named, null: it is cleared.
 */
export const valueIn = <T>(values: Values, name: string, _field: Field<T>): T | null | undefined =>
  // Under the name of a field stands what its own grammar accepted; the compiler follows that only where the name is
  // written out.
  values[name] as T | null | undefined;
