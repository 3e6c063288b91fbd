import { sanitizeTextField } from '../wordpress/plain-text.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import { anyText, flag, type Grammar, image, LENGTHS, linkWishes, termWishes } from './grammar.ts';
import type { Field, TermKindName } from './kind.ts';

type Extra = Partial<Pick<Field, 'required' | 'fallback' | 'empty' | 'promotes' | 'store'>>;

/** A column of `posts`. */
export const column = (name: PostColumn, grammar: Grammar, extra: Extra = {}): Field => ({
  grammar,
  place: { in: 'column', column: name },
  empty: 'clears',
  store: (value) => [String(value)],
  ...extra,
});

/** One row of `postmeta` holding plain text; an empty value removes it. */
export const meta = (key: string, grammar: Grammar = anyText(LENGTHS.text), extra: Extra = {}): Field => ({
  grammar,
  place: { in: 'meta', key },
  empty: 'clears',
  store: (value) => (value === null || value === '' ? [] : [sanitizeTextField(String(value))]),
  ...extra,
});

/** A yes or no in one row of `postmeta`; `off` is the text for no, or undefined for no row at all. */
export const flagMeta = (
  key: string,
  stored: { on: string; off: string | undefined },
  extra: Extra & { grammar?: Grammar } = {},
): Field => {
  const { grammar = flag, ...rest } = extra;
  return {
    grammar,
    place: { in: 'meta', key },
    empty: 'false',
    store: (value) => (value === true ? [stored.on] : stored.off === undefined ? [] : [stored.off]),
    ...rest,
  };
};

/** A field that the kind's `follows` turns into columns and metas. */
export const rule = (grammar: Grammar, extra: Extra = {}): Field => ({ grammar, place: { in: 'rule' }, empty: 'clears', ...extra });

export const terms = (kind: TermKindName): Field => ({
  grammar: termWishes,
  place: { in: 'terms', kind },
  empty: 'clears',
  fallback: null,
});

export const links = (key: string, kind: 'venue' | 'organizer'): Field => ({
  grammar: linkWishes(kind),
  place: { in: 'links', key, kind },
  empty: 'clears',
  fallback: null,
});

/** The featured image, `_thumbnail_id`. */
export const featuredImage = (extra: Extra = {}): Field => ({ grammar: image, place: { in: 'image' }, empty: 'clears', ...extra });
