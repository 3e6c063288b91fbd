import type { Fault } from '../errors.ts';
import { memoizeByObject } from '../memo.ts';
import { type ContentLanguages, isTranslated } from '../wordpress/content-languages.ts';
import { rule, whenEmpty } from './fields.ts';
import { choiceHint, type Grammar, LENGTHS } from './grammars/grammar.ts';
import { positive } from './grammars/grammars.ts';
import type { Kind, TermField } from './kind.ts';
import type { Field } from './param.ts';

/*
 * What writes say of languages: the language of a record, and the records that it is a translation of. A site without
 * languages has none of these fields.
 */

/** The translations that a write names: the id of a record by its language; null takes the one there out. */
export type NamedTranslations = ReadonlyMap<string, number | null>;

/** The accepted values of the fields below. */
export interface LanguageValues {
  readonly language?: string | undefined;
  readonly translations?: NamedTranslations | null | undefined;
  readonly translation_of?: number | null | undefined;
}

/** A kind with the fields that a site with languages has besides; the kind itself where it has no languages there. */
export function withLanguages<K extends Kind>(kind: K, languages: ContentLanguages | undefined): K {
  const name = kind.is === 'post' ? kind.postType : kind.taxonomy;
  // What is made of a kind is one of the same type.
  return isTranslated(languages, name) ? (extended(languages)(kind) as K) : kind;
}

const extended = memoizeByObject((languages: ContentLanguages) =>
  memoizeByObject((kind: Kind): Kind => {
    const codes = languages.languages.map(({ code }) => code);
    return kind.is === 'post'
      ? { ...kind, fields: { ...kind.fields, ...postFields(codes) } }
      : { ...kind, fields: { ...kind.fields, ...termFields(codes) } };
  }),
);

/** Other interfaces do not know them. */
const names = { core: false, tec: false, csv: false } as const;

const postFields = (codes: readonly string[]) =>
  ({
    language: whenEmpty('refused', rule(languageCode(codes), { names, ours: true })),
    translations: rule(translations(codes), { names, ours: true }),
    translation_of: whenEmpty('refused', rule(positive, { names, ours: true })),
  }) satisfies Readonly<Record<keyof LanguageValues, Field>>;

const termFields = (codes: readonly string[]) =>
  ({
    language: { grammar: languageCode(codes), empty: 'refused', ours: true },
    translations: { grammar: translations(codes), empty: 'clears', ours: true },
    translation_of: { grammar: positive, empty: 'refused', ours: true },
  }) satisfies Readonly<Record<keyof LanguageValues, TermField>>;

/** One of the site's languages, by its code as it is stored. */
const languageCode = (codes: readonly string[]): Grammar<string> => ({
  longest: LENGTHS.word,
  hint: choiceHint(codes),
  json: { type: 'string', enum: codes },
  read: (raw) => (typeof raw === 'string' && codes.includes(raw) ? { value: raw } : { fault: { stage: 'value' } }),
});

/** Translations by their languages: ids, or objects with an `id`, as answers show them. */
const translations = (codes: readonly string[]): Grammar<NamedTranslations> => ({
  longest: LENGTHS.address,
  hint: {
    reason: 'not-translations',
    values: { codes: codes.join(', ') },
    example: Object.fromEntries(codes.slice(0, 1).map((code) => [code, 12])),
  },
  json: {
    type: 'object',
    properties: Object.fromEntries(codes.map((code) => [code, { type: ['integer', 'object', 'null'] }])),
    additionalProperties: false,
  },
  // PHP writes an empty object as a list.
  blank: (raw) => Array.isArray(raw) && raw.length === 0,
  read: (raw) => {
    if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) return REFUSED;
    const named = new Map<string, number | null>();
    for (const [code, member] of Object.entries(raw)) {
      const id = memberId(member);
      if (!codes.includes(code) || id === undefined) return REFUSED;
      named.set(code, id);
    }
    return { value: named };
  },
});

/** Undefined: neither an id nor nothing. Forms send nothing as an empty text. */
function memberId(raw: unknown): number | null | undefined {
  if (raw === null || raw === '') return null;
  return positive.read(typeof raw === 'object' && 'id' in raw ? raw.id : raw).value;
}

const REFUSED: { readonly fault: Fault } = { fault: { stage: 'value' } };
