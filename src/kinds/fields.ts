import { sanitizeTextField } from '../wordpress/plain-text.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import { anyText, type FetchedImage, flag, type Grammar, image, LENGTHS, type TermWish, termWishes } from './grammar.ts';
import type { Empty, Field, Place, TermKindName, Values } from './kind.ts';
import { type LinkPlan, linkWishes } from './link-grammar.ts';

type Extra<T> = Partial<Pick<Field<T>, 'required' | 'fallback' | 'promotes'>> & { readonly store?: (value: T | '') => readonly string[] };

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
): Field<string, 'clears'> => ({
  grammar,
  place: { in: 'meta', key },
  empty: 'clears',
  store: (value) => (value === '' ? [] : [sanitizeTextField(value)]),
  ...extra,
});

/** A yes or no in one row of `postmeta`; `off` is the text for no, or undefined for no row at all. */
export const flagMeta = (
  key: string,
  stored: { on: string; off: string | undefined },
  extra: Extra<boolean> & { readonly grammar?: Grammar<boolean> } = {},
): Field<boolean, 'false'> => ({
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

/** The same field where an empty value does something else than clear it. */
export const whenEmpty = <T, E extends Empty>(empty: E, field: Field<T>): Field<T, E> => ({ ...field, empty });

export const terms = (kind: TermKindName): Field<readonly TermWish[], 'clears'> => ({
  grammar: termWishes,
  place: { in: 'terms', kind },
  empty: 'clears',
  fallback: null,
});

export const links = (key: string, kind: 'venue' | 'organizer'): Field<readonly LinkPlan[], 'clears'> => ({
  grammar: linkWishes(kind),
  place: { in: 'links', key, kind },
  empty: 'clears',
  fallback: null,
});

/** The featured image, `_thumbnail_id`. */
export const featuredImage = () => ({ grammar: image, place: { in: 'image' }, empty: 'clears' }) as const satisfies Field;

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
