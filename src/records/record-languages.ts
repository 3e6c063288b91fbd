import { failParam } from '../errors.ts';
import { groupedBy } from '../grouped-by.ts';
import type { Kind } from '../kinds/kind.ts';
import type { LanguageValues } from '../kinds/language-fields.ts';
import type { Values } from '../kinds/param.ts';
import type { Database } from '../storage/engine/database.ts';
import { formOf } from '../storage/languages/forms.ts';
import type { Translatable } from '../storage/translations/language-writer.ts';
import { languageWriterOf } from '../storage/translations/language-writers.ts';
import {
  type ContentLanguage,
  type ContentLanguages,
  isTranslated,
  languageOfCode,
  type Membership,
} from '../wordpress/content-languages.ts';
import { withoutMembers } from '../wordpress/translation-group.ts';
import type { Caller } from './caller.ts';
import type { LanguageOfWrite } from './writes/write-context.ts';

/*
 * The language and the translations of a record that is written. Runs in the transaction of the record, with Polylang's
 * or WPML's tables.
 */

/** Languages for records of a kind: those of the site, and the type under which they are stored. */
export interface LanguagesOfKind {
  readonly languages: ContentLanguages;
  readonly translatable: Translatable;
}

/** Returns the languages for a kind; undefined if records of this kind have no language on this site. */
export function languagesOf({ settings }: Pick<Caller, 'settings'>, kind: Kind): LanguagesOfKind | undefined {
  const { contentLanguages: languages } = settings;
  const type = kind.is === 'post' ? kind.postType : kind.taxonomy;
  return isTranslated(languages, type) ? { languages, translatable: { is: kind.is, type } } : undefined;
}

/**
 * Returns the language of a new record: the one named, otherwise that of the record it is created for (`createdFor`),
 * otherwise the one that the request chose, otherwise that of its parent, otherwise the site's default. Every record
 * gets a language, because WordPress would not show it without one.
 */
export function languageOfNew(
  caller: Caller,
  kind: Kind,
  values: Values,
  { createdFor, parent }: { readonly createdFor?: string | undefined; readonly parent?: string | null | undefined } = {},
): ContentLanguage | undefined {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages) return undefined;
  const { language } = languageValues(values);
  return (
    languageOfCode(kindLanguages.languages, language ?? createdFor ?? chosenLanguage(caller) ?? parent ?? undefined) ??
    languageOfCode(kindLanguages.languages, kindLanguages.languages.defaultCode)
  );
}

/**
 * Returns the language of a changed record: the one named, otherwise its current one; a record without a language gets
 * the one under which its group lists it, or that of a new record. A record keeps a language that the site has switched
 * off, or that is hidden from the caller.
 *
 * @throws rest_invalid_param for translations of a record in such a language, and for an empty language of a record
 * that has one
 */
export async function languageOfChange(
  db: Database,
  caller: Caller,
  kind: Kind,
  id: number,
  values: Values,
): Promise<LanguageOfWrite | undefined> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages) return undefined;
  const membership = (await membershipsOf(db, kindLanguages, [id])).get(id);
  const before = membership?.language ?? null;
  const languageFields = languageValues(values);
  if (values.language === '' && before !== null) failParam('language', 'empty-value');
  if (membership && before === null && languageFields.language === undefined)
    return hasNoTranslations(languageFields) ? undefined : failParam('translations', 'translation-not-linked');
  const language =
    languageOfCode(kindLanguages.languages, languageFields.language ?? before ?? undefined) ??
    (await languagesInGroups(db, kindLanguages, [id])).get(id) ??
    languageOfNew(caller, kind, {});
  return language && { language, before, values: languageFields };
}

/** Returns the current language of a record, for a write that does not change it; undefined if it has none. */
export async function currentLanguage(db: Database, caller: Caller, kind: Kind, id: number): Promise<LanguageOfWrite | undefined> {
  const kindLanguages = languagesOf(caller, kind);
  const code = kindLanguages && (await languagesOfRecords(db, kindLanguages, [id])).get(id);
  const language = kindLanguages && code ? languageOfCode(kindLanguages.languages, code) : undefined;
  return language && { language, before: language.code, values: {} };
}

/** Returns the single language that a request chose, if any. */
export const chosenLanguage = ({ content }: Caller): string | undefined => (content.isChosen ? content.code : undefined);

/** Picks the values that concern languages. An empty language is none. */
export const languageValues = ({ language, translations, translation_of }: LanguageValues & Values): LanguageValues => ({
  language: language || undefined,
  translations,
  translation_of,
});

/** Returns the languages of records by id; null if a record has none. */
export async function languagesOfRecords(
  db: Database,
  kindLanguages: LanguagesOfKind,
  ids: readonly number[],
): Promise<Map<number, string | null>> {
  const memberships = await membershipsOf(db, kindLanguages, ids);
  return new Map(ids.map((id) => [id, memberships.get(id)?.language ?? null]));
}

/**
 * Returns the languages and groups of records. A record that is absent from the map has no language. One that is
 * present without a language is in one that the site has switched off, or that is hidden from the caller.
 */
export async function membershipsOf(
  db: Database,
  { languages, translatable }: LanguagesOfKind,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Membership>> {
  const { posts, terms } = await formOf(languages).memberships(db, languages, {
    posts: translatable.is === 'post' ? ids : [],
    terms: translatable.is === 'term' ? ids.map((id) => ({ term_id: id, taxonomy: translatable.type })) : [],
  });
  return translatable.is === 'post' ? posts : terms;
}

/**
 * Returns the languages under which groups list records. A record may have lost its own language and still be in its
 * group.
 */
export async function languagesInGroups(
  db: Database,
  { languages, translatable }: LanguagesOfKind,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ContentLanguage>> {
  const groups = await languageWriterOf(languages).lockGroups(db, translatable, ids);
  return new Map(
    [...groups].flatMap(([id, members]) => {
      const language = languageOfCode(languages, [...members].find(([, member]) => member === id)?.[0]);
      return language ? [[id, language] as const] : [];
    }),
  );
}

/** A post that this transaction has created and that is no translation, so that no language data exist for it yet. */
interface NewLanguagePlacement {
  readonly id: number;
  readonly language: ContentLanguage;
  readonly isVisible: boolean;
}

/** Assigns new posts their languages. */
export async function assignLanguages(
  db: Database,
  caller: Caller,
  kind: Kind,
  placements: readonly NewLanguagePlacement[],
): Promise<void> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages) return;
  for (const [language, group] of groupedBy(placements, (placement) => placement.language)) {
    await assignToRecords(db, kindLanguages, group, language);
  }
}

/** Writes the language of records of a kind that have none yet. */
async function assignToRecords(
  db: Database,
  { languages, translatable }: LanguagesOfKind,
  records: readonly { readonly id: number; readonly isVisible: boolean }[],
  language: ContentLanguage,
): Promise<void> {
  const ids = records.map(({ id }) => id);
  const visibleCount = records.filter(({ isVisible }) => isVisible).length;
  await languageWriterOf(languages).assign(db, translatable, ids, language, visibleCount);
}

/**
 * Assigns a language to existing records that have none. Those that a group lists under a language get that one.
 */
export async function assignToNeutral(
  db: Database,
  kindLanguages: LanguagesOfKind,
  records: readonly { readonly id: number; readonly isVisible: boolean }[],
  language: ContentLanguage,
): Promise<void> {
  const { languages, translatable } = kindLanguages;
  const writer = languageWriterOf(languages);
  const listedLanguages = await languagesInGroups(
    db,
    kindLanguages,
    records.map(({ id }) => id),
  );
  for (const { id, isVisible } of records) {
    const listed = listedLanguages.get(id);
    if (!listed) continue;
    await writer.setLanguage(db, translatable, id, listed);
    if (isVisible) await writer.countVisible(db, id, 'shown');
  }
  const ungrouped = records.filter(({ id }) => !listedLanguages.has(id));
  if (ungrouped.length > 0) await assignToRecords(db, kindLanguages, ungrouped, language);
}

/**
 * Returns the translations named by the values as one map: those by language, and the record that this one is a
 * translation of.
 */
export function namedTranslations({
  translations,
  translation_of: source,
}: LanguageValues): ReadonlyMap<string | typeof OF_ANY_LANGUAGE, number | null> {
  const entries: [string | typeof OF_ANY_LANGUAGE, number | null][] = [...(translations ?? new Map<string, number | null>())];
  return new Map(source ? [[OF_ANY_LANGUAGE, source], ...entries] : entries);
}

/** Whether a new record is no translation. */
export const hasNoTranslations = (values: LanguageValues): boolean => namedTranslations(values).size === 0;

/** Key in place of a language code: any language, whichever the record has. */
export const OF_ANY_LANGUAGE = Symbol('translation_of');

/**
 * Removes the language data of a record that is about to be deleted permanently. Returns the other records of its
 * group.
 */
export async function deleteLanguageData(
  db: Database,
  caller: Caller,
  kind: Kind,
  { id, isCounted }: { readonly id: number; readonly isCounted: boolean },
): Promise<number[]> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages) return [];
  const writer = languageWriterOf(kindLanguages.languages);
  const group = (await writer.lockGroups(db, kindLanguages.translatable, [id])).get(id) ?? new Map<string, number>();
  if (isCounted) await writer.countVisible(db, id, 'hidden');
  await writer.forget(db, kindLanguages.translatable, id);
  return [...withoutMembers(group, id).values()];
}

/**
 * Removes the language data of a file of the library that is about to be deleted. It may have some even if the site
 * does not translate files any more.
 */
export async function deleteLanguageOfFile(
  db: Database,
  { settings: { contentLanguages: languages } }: Pick<Caller, 'settings'>,
  id: number,
): Promise<void> {
  if (languages) await languageWriterOf(languages).forget(db, { is: 'post', type: 'attachment' }, id);
}

/** Updates the count of published posts of a language when a post is published or hidden. */
export async function countForLanguage(
  db: Database,
  caller: Pick<Caller, 'settings'>,
  kind: Kind,
  id: number,
  change: 'shown' | 'hidden',
): Promise<void> {
  const kindLanguages = languagesOf(caller, kind);
  if (kindLanguages) await languageWriterOf(kindLanguages.languages).countVisible(db, id, change);
}
