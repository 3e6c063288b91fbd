import { sanitizeTextField } from '../wordpress/plain-text.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import { anyText, flag, type Grammar, image, LENGTHS, type TermWish, termWishes } from './grammar.ts';
import type { Empty, Field, TermKindName } from './kind.ts';
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
