import type { TermKind } from '../kinds/kind.ts';
import type { LanguageValues } from '../kinds/language-fields.ts';
import type { Database } from '../storage/engine/database.ts';
import type { NamedTerm } from '../storage/languages/form.ts';
import { formOf } from '../storage/languages/forms.ts';
import { lockNames, termSlugLock, termTreeLock } from '../storage/rows/locks.ts';
import { insertTerm, loadTerms } from '../storage/rows/terms.ts';
import { languageWriterOf } from '../storage/translations/language-writers.ts';
import type { ContentLanguage } from '../wordpress/content-languages.ts';
import type { Term } from '../wordpress/rows.ts';
import { suffixedSlug } from '../wordpress/slug.ts';
import type { TranslationGroup } from '../wordpress/translation-group.ts';
import type { Caller } from './caller.ts';
import { type LanguagesOfKind, languagesOf } from './record-languages.ts';
import { createTermRow, dropTreeCache, freeSlug, type NewTerm, type TermLanguage } from './term-writes.ts';
import { placeInLanguage } from './translation-groups.ts';

/**
 * Replaces terms by their translations in a language, keeping the order. Terms of that language, and terms without one,
 * stay. In Polylang's form, a missing translation is created, as Polylang does; in WPML's form, and for callers without
 * an account, the term stays as it is. Ids of terms that do not exist stay too.
 */
export async function termsInLanguage(
  db: Database,
  caller: Caller,
  kind: TermKind,
  ids: readonly number[],
  language: ContentLanguage | undefined,
): Promise<number[]> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages || !language || ids.length === 0) return [...ids];
  const namedTerms = ids.map((id) => ({ term_id: id, taxonomy: kind.taxonomy }));
  const groups = await groupsOf(db, kindLanguages, namedTerms, language.code);
  // Usually all terms of an event are in its language.
  if (groups.size === 0) return [...new Set(ids)];
  const terms = await loadTerms(db, kind.taxonomy, ids);
  const { code } = language;
  const untranslated = [...terms.values()].flatMap((term) => {
    const group = groups.get(term.term_id);
    return group && !group.has(code) ? [{ term, group }] : [];
  });
  const translations =
    kindLanguages.languages.form === 'polylang' && caller.viewer.id !== 0
      ? await translationsOf(db, kindLanguages, kind, untranslated, language)
      : new Map<number, number>();
  const existingTranslation = (id: number) => (terms.has(id) ? groups.get(id)?.get(code) : undefined);
  return [...new Set(ids.map((id) => translations.get(id) ?? existingTranslation(id) ?? id))];
}

/** Returns those of these terms that are in a language. They are preferred if a name matches several. */
export async function termsOfLanguage(
  db: Database,
  caller: Caller,
  kind: TermKind,
  terms: readonly Term[],
  { code }: Pick<ContentLanguage, 'code'>,
): Promise<Term[]> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages) return [];
  const { terms: memberships } = await formOf(kindLanguages.languages).memberships(db, kindLanguages.languages, { posts: [], terms });
  return terms.filter((term) => memberships.get(term.term_id)?.language === code);
}

/** The language of a new term, undefined if terms of its kind have none, and the values about its translations. */
interface NewTermLanguage {
  readonly language: ContentLanguage | undefined;
  readonly values?: LanguageValues;
}

/** Creates a term in a language. Returns its id. */
export async function createTermInLanguage(
  db: Database,
  caller: Caller,
  kind: TermKind,
  newTerm: NewTerm,
  { language, values = {} }: NewTermLanguage,
): Promise<number> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages || !language) return (await createTermRow(db, kind, newTerm)).id;
  const { id } = await createTermRow(db, kind, { ...newTerm, language: toTermLanguage(db, kindLanguages, language) });
  await placeInLanguage(db, caller, kind, { id, before: null, isNew: true, language }, values);
  return id;
}

/** Returns the language of a term that is written, with a function that finds terms in other languages. */
export const toTermLanguage = (db: Database, { languages }: LanguagesOfKind, { code }: Pick<ContentLanguage, 'code'>): TermLanguage => ({
  code,
  termsElsewhere: async (terms) => {
    const { terms: memberships } = await formOf(languages).memberships(db, languages, { posts: [], terms });
    return new Set([...memberships].flatMap(([id, { language }]) => (language === null || language === code ? [] : [id])));
  },
});

/**
 * Returns the existing translations of these terms by language, for terms that have a language. `exceptCode`: a
 * language whose terms are skipped.
 */
async function groupsOf(
  db: Database,
  { languages, translatable }: LanguagesOfKind,
  terms: readonly NamedTerm[],
  exceptCode?: string,
): Promise<Map<number, TranslationGroup>> {
  const { terms: memberships } = await formOf(languages).memberships(db, languages, { posts: [], terms });
  const groups = [...memberships].filter(([, { language }]) => language !== null && language !== exceptCode);
  const existingTerms = await loadTerms(
    db,
    translatable.type,
    groups.flatMap(([, { members }]) => [...members.values()]),
  );
  return new Map(groups.map(([id, { members }]) => [id, new Map([...members].filter(([, member]) => existingTerms.has(member)))]));
}

/** A term and its translations. */
interface GroupedTerm {
  readonly term: Term;
  readonly group: TranslationGroup;
}

/**
 * Creates the missing translations of these terms in a language, unless another request has created them in the
 * meantime. Returns their ids, by the ids of the terms.
 */
async function translationsOf(
  db: Database,
  kindLanguages: LanguagesOfKind,
  kind: TermKind,
  untranslated: readonly GroupedTerm[],
  language: ContentLanguage,
): Promise<ReadonlyMap<number, number>> {
  const translations = new Map<number, number>();
  if (untranslated.length === 0) return translations;
  const writer = languageWriterOf(kindLanguages.languages);
  // All terms are locked before any is read, always in the same order, so that concurrent requests for the same terms
  // wait for the result.
  await lockNames(db, [
    ...untranslated.map(({ term }) => termSlugLock(slugInLanguage(term, language))),
    // Otherwise a parent could change, or its translation be deleted, while the translation of its child is created.
    ...(kind.hierarchical ? [termTreeLock(kind.taxonomy)] : []),
  ]);
  const ids = untranslated.map(({ term }) => term.term_id);
  await writer.lockGroups(db, kindLanguages.translatable, ids);
  const lockedTerms = kind.hierarchical ? await loadTerms(db, kind.taxonomy, ids) : new Map<number, Term>();
  for (const { term: termBefore, group } of untranslated) {
    const { term_id: id } = termBefore;
    // Its slug stays the one that was locked.
    const term = { ...termBefore, parent: lockedTerms.get(id)?.parent ?? termBefore.parent };
    const members = (await writer.lockGroups(db, kindLanguages.translatable, [id])).get(id) ?? group;
    const memberId = members.get(language.code);
    const exists = memberId !== undefined && (await loadTerms(db, kind.taxonomy, [memberId])).has(memberId);
    translations.set(id, exists ? memberId : await makeTranslation(db, kindLanguages, kind, { term, group: members }, language));
  }
  return translations;
}

const slugInLanguage = ({ slug }: Term, { code }: ContentLanguage): string => suffixedSlug(slug, `-${code}`);

async function makeTranslation(
  db: Database,
  kindLanguages: LanguagesOfKind,
  kind: TermKind,
  { term, group }: GroupedTerm,
  language: ContentLanguage,
): Promise<number> {
  const parent = await translatedParent(db, kindLanguages, kind, term, language);
  const slug = await freeSlug(db, kind, slugInLanguage(term, language), parent, 0);
  const id = await insertTerm(db, kind, { name: term.name, slug, description: '', parent });
  const writer = languageWriterOf(kindLanguages.languages);
  await writer.setLanguage(db, kindLanguages.translatable, id, language);
  await writer.writeGroup(db, kindLanguages.translatable, new Map([...group, [language.code, id]]));
  if (kind.hierarchical) await dropTreeCache(db, kind);
  return id;
}

/** Returns the translation of a term's parent, 0 if there is none. */
async function translatedParent(
  db: Database,
  kindLanguages: LanguagesOfKind,
  kind: TermKind,
  { parent }: Term,
  { code }: ContentLanguage,
): Promise<number> {
  if (parent === 0) return 0;
  const terms = await loadTerms(db, kind.taxonomy, [parent]);
  return (await groupsOf(db, kindLanguages, [...terms.values()])).get(parent)?.get(code) ?? 0;
}
