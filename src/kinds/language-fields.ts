import { memoizeByObject } from '../memo.ts';
import { isRecord } from '../objects.ts';
import { type ContentLanguages, isTranslated } from '../wordpress/content-languages.ts';
import { rule, whenEmpty } from './fields.ts';
import { choiceHint, type Grammar, isEmptyList, MAX_BYTES, REFUSED } from './grammars/grammar.ts';
import { positiveInteger } from './grammars/grammars.ts';
import type { Kind, TermField } from './kind.ts';
import type { Field } from './param.ts';

/*
 * Language fields of writes: the language of a record, and the records that it is a translation of. A site without
 * languages has none of these fields.
 */

/** The translations in a write: record ids by language; null removes that language from the group. */
export type NamedTranslations = ReadonlyMap<string, number | null>;

/** Accepted values of the fields below. */
export interface LanguageValues {
  readonly language?: string | undefined;
  readonly translations?: NamedTranslations | null | undefined;
  readonly translation_of?: number | null | undefined;
}

/**
 * Returns a kind with the additional fields that it has on a site with languages, or the kind itself if it is not
 * translated there.
 */
export function withLanguages<K extends Kind>(kind: K, languages: ContentLanguages | undefined): K {
  const name = kind.is === 'post' ? kind.postType : kind.taxonomy;
  // Extending a kind does not change its type.
  return isTranslated(languages, name) ? (kindWithLanguages(languages)(kind) as K) : kind;
}

const kindWithLanguages = memoizeByObject((languages: ContentLanguages) =>
  memoizeByObject((kind: Kind): Kind => {
    const codes = languages.languages.map(({ code }) => code);
    return kind.is === 'post'
      ? { ...kind, fields: { ...kind.fields, ...postFields(codes) } }
      : { ...kind, fields: { ...kind.fields, ...termFields(codes) } };
  }),
);

/** Other interfaces do not have these fields. */
const names = { core: false, tec: false, csv: false } as const;

const postFields = (codes: readonly string[]) =>
  ({
    language: whenEmpty('stays', rule(languageCode(codes), { names, isAdditional: true })),
    translations: rule(translations(codes), { names, isAdditional: true }),
    translation_of: whenEmpty('refused', rule(positiveInteger, { names, isAdditional: true })),
  }) satisfies Readonly<Record<keyof LanguageValues, Field>>;

const termFields = (codes: readonly string[]) =>
  ({
    language: { grammar: languageCode(codes), empty: 'stays', isAdditional: true },
    translations: { grammar: translations(codes), empty: 'clears', isAdditional: true },
    translation_of: { grammar: positiveInteger, empty: 'refused', isAdditional: true },
  }) satisfies Readonly<Record<keyof LanguageValues, TermField>>;

/** One of the site's languages, by its stored code; null, as records show it, for a record without one. */
const languageCode = (codes: readonly string[]): Grammar<string> => ({
  maxBytes: MAX_BYTES.word,
  hint: choiceHint(codes),
  json: { type: ['string', 'null'], enum: [...codes, null] },
  read: (raw) => (typeof raw === 'string' && codes.includes(raw) ? { value: raw } : REFUSED),
});

/** Translations by language: ids, or objects with an `id`, as in answers. */
const translations = (codes: readonly string[]): Grammar<NamedTranslations> => ({
  maxBytes: MAX_BYTES.address,
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
  isBlank: isEmptyList,
  read: (raw) => {
    if (!isRecord(raw)) return REFUSED;
    const idsByCode = new Map<string, number | null>();
    for (const [code, member] of Object.entries(raw)) {
      const id = memberId(member);
      if (!codes.includes(code) || id === undefined) return REFUSED;
      idsByCode.set(code, id);
    }
    return { value: idsByCode };
  },
});

/**
 * Returns the id of a translation, null for none, or undefined for an invalid value. Forms send an empty text for none.
 */
function memberId(raw: unknown): number | null | undefined {
  if (raw === null || raw === '') return null;
  return positiveInteger.read(typeof raw === 'object' && 'id' in raw ? raw.id : raw).value;
}
