import { isDeepStrictEqual } from 'node:util';
import { fail, failParam } from '../errors.ts';
import { groupedBy } from '../grouped-by.ts';
import type { Kind } from '../kinds/kind.ts';
import type { LanguageValues } from '../kinds/language-fields.ts';
import type { Values } from '../kinds/param.ts';
import type { Database } from '../storage/engine/database.ts';
import { formOf } from '../storage/languages/forms.ts';
import { loadMetas, loadPosts } from '../storage/rows/bundle.ts';
import { lockNames } from '../storage/rows/locks.ts';
import { existingTerms, loadTerms } from '../storage/rows/terms.ts';
import type { Translatable } from '../storage/translations/language-writer.ts';
import { languageWriterOf } from '../storage/translations/language-writers.ts';
import {
  type ContentLanguage,
  type ContentLanguages,
  isTranslated,
  languageOfCode,
  type Membership,
} from '../wordpress/content-languages.ts';
import {
  changedMembers,
  isConflict,
  joinGroups,
  type TranslationConflict,
  type TranslationGroup,
  withoutMembers,
} from '../wordpress/translation-group.ts';
import type { Caller } from './caller.ts';
import { accessRow, mayEdit, mayManageTerms } from './visibility.ts';
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
 * one. A record keeps a language that the site has switched off, or that is hidden from the caller.
 *
 * @throws rest_invalid_param for translations of a record in such a language
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
  if (membership && before === null && languageFields.language === undefined)
    return hasNoTranslations(languageFields) ? undefined : failParam('translations', 'translation-not-linked');
  const language =
    languageOfCode(kindLanguages.languages, languageFields.language ?? before ?? undefined) ?? languageOfNew(caller, kind, {});
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

/** Picks the values that concern languages. */
export const languageValues = ({ language, translations, translation_of }: LanguageValues & Values): LanguageValues => ({
  language,
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

/** A record whose language is written. `before`: its current language. */
export interface LanguagePlacement {
  readonly id: number;
  readonly before: string | null;
  readonly language: ContentLanguage;
  /** For posts: whether it counts as published before this write, and after it. */
  readonly visibility?: { readonly before: boolean; readonly after: boolean };
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
export async function assignToRecords(
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
 * Sets the language and the translations of a record. Returns the ids of other records whose translations have changed.
 *
 * @throws language-taken if the group has another record of that language; rest_invalid_param for translations that
 * cannot be linked; translation-conflict if two groups have different records of a language
 */
export async function placeInLanguage(
  db: Database,
  caller: Caller,
  kind: Kind,
  placement: LanguagePlacement,
  values: LanguageValues,
): Promise<number[]> {
  const kindLanguages = languagesOf(caller, kind);
  if (!kindLanguages) return [];
  const { translatable } = kindLanguages;
  const { id, before, language } = placement;
  const links = namedTranslations(values);
  const moves = before !== language.code;
  if (!moves && links.size === 0) return [];
  const writer = languageWriterOf(kindLanguages.languages);
  const namedIds = [...links.values()].flatMap((member) => (member === null || member === id ? [] : [member]));
  // A record without a group has no row that could be locked, so its name is locked.
  await lockNames(
    db,
    [id, ...namedIds].map((one) => `translations:${translatable.type}:${one}`),
  );
  const groups = await writer.lockGroups(db, translatable, before === null ? namedIds : [id, ...namedIds]);
  const currentGroup = groups.get(id) ?? new Map<string, number>();
  const state = await loadStates(db, kindLanguages, kind, [
    ...new Set([...groups.values()].flatMap((group) => [...group.values()])),
    ...namedIds,
  ]);
  const context = { db, caller, kind, kindLanguages, state, placement };
  const newGroup = await resultingGroup(context, currentGroup, links, groups);
  // Repeated imports name the same translations each time; clients that follow the changes are not notified of them.
  if (!moves && currentGroup.size > 0 && isDeepStrictEqual(newGroup, currentGroup)) return [];

  const affectedIds = [...new Set([...currentGroup.values(), ...newGroup.values()])].filter((one) => one !== id);
  const removedMembers = [...currentGroup].filter(([, member]) => member !== id && ![...newGroup.values()].includes(member));
  // A member that has changed its type keeps its language.
  for (const [, member] of removedMembers)
    await (state(member) === 'dead' ? writer.forget(db, translatable, member) : writer.leaveGroup(db, translatable, member));
  const isAlone = ![...newGroup.values()].includes(id);
  if (isAlone && currentGroup.size > 0) await writer.leaveGroup(db, translatable, id);
  if (moves) await setLanguage(db, kindLanguages, placement);
  if (translatable.is === 'term') {
    for (const [code, member] of removedMembers)
      if (isOfKind(state(member))) await writer.writeGroup(db, translatable, new Map([[code, member]]));
    if (isAlone) await writer.writeGroup(db, translatable, new Map([[language.code, id]]));
  }
  if (!isAlone && (translatable.is === 'term' || newGroup.size > 1 || currentGroup.size > 0))
    await writer.writeGroup(db, translatable, newGroup);
  return affectedIds.filter((one) => isOfKind(state(one)));
}

async function setLanguage(
  db: Database,
  { translatable, languages }: LanguagesOfKind,
  { id, before, language, visibility }: LanguagePlacement,
): Promise<void> {
  const writer = languageWriterOf(languages);
  if (visibility?.before && before !== null) await writer.countVisible(db, id, 'hidden');
  await writer.setLanguage(db, translatable, id, language);
  if (visibility?.after) await writer.countVisible(db, id, 'shown');
}

/**
 * Returns the translations named by the values as one map: those by language, and the record that this one is a
 * translation of.
 */
function namedTranslations({
  translations,
  translation_of: source,
}: LanguageValues): ReadonlyMap<string | typeof ANY_LANGUAGE, number | null> {
  const entries: [string | typeof ANY_LANGUAGE, number | null][] = [...(translations ?? new Map<string, number | null>())];
  return new Map(source ? [[ANY_LANGUAGE, source], ...entries] : entries);
}

/** Whether a new record is no translation. */
export const hasNoTranslations = (values: LanguageValues): boolean => namedTranslations(values).size === 0;

/** Key in place of a language code: any language, whichever the record has. */
const ANY_LANGUAGE = Symbol('translation_of');

/** State of a record in a group. `moved`: it has another type or taxonomy. */
type State = 'living' | 'trashed' | 'moved' | 'dead';

const isOfKind = (state: State): boolean => state === 'living' || state === 'trashed';

interface RegroupContext {
  readonly db: Database;
  readonly caller: Caller;
  readonly kind: Kind;
  readonly kindLanguages: LanguagesOfKind;
  readonly state: (id: number) => State;
  readonly placement: LanguagePlacement;
}

async function loadStates(
  db: Database,
  { translatable }: LanguagesOfKind,
  kind: Kind,
  ids: readonly number[],
): Promise<(id: number) => State> {
  if (kind.is === 'term') {
    const terms = await loadTerms(db, translatable.type, ids);
    const movedIds = await existingTerms(
      db,
      ids.filter((id) => !terms.has(id)),
    );
    return (id) => (terms.has(id) ? 'living' : movedIds.has(id) ? 'moved' : 'dead');
  }
  const posts = await loadPosts(db, ids);
  return (id) => {
    const post = posts.get(id);
    if (post?.post_type !== translatable.type) return post ? 'moved' : 'dead';
    return post.post_status === 'trash' ? 'trashed' : 'living';
  };
}

/**
 * Returns the group that the record will be in, including itself unless it leaves. A record in the trash keeps its
 * place until another one takes it.
 */
async function resultingGroup(
  context: RegroupContext,
  currentGroup: TranslationGroup,
  links: ReadonlyMap<string | typeof ANY_LANGUAGE, number | null>,
  groups: ReadonlyMap<number, TranslationGroup>,
): Promise<TranslationGroup> {
  const { placement, state } = context;
  const { id, language } = placement;
  const withoutDead = (group: TranslationGroup): TranslationGroup => new Map([...group].filter(([, one]) => isOfKind(state(one))));
  const otherMembers = new Map(withoutDead(withoutMembers(currentGroup, id)));
  const holder = otherMembers.get(language.code);
  if (holder !== undefined && state(holder) === 'living' && placement.before !== language.code)
    fail('language-taken', { values: { language: language.code } });
  otherMembers.delete(language.code);

  const joiningGroups: TranslationGroup[] = [];
  const codes = await languagesOfRecords(
    context.db,
    context.kindLanguages,
    [...links.values()].flatMap((one) => one ?? []),
  );
  let leaves = false;
  for (const [key, member] of links) {
    if (member === null) {
      if (key === language.code) leaves = true;
      else if (key !== ANY_LANGUAGE) otherMembers.delete(key);
    } else if (member === id) {
      // A record that is sent back as it was read also names itself.
      if (key !== language.code) failParam(nameOf(key), 'translation-not-linked');
    } else {
      const code = codes.get(member) ?? null;
      if (code === null || state(member) !== 'living' || (key !== ANY_LANGUAGE && key !== code))
        failParam(nameOf(key), 'translation-not-linked');
      joiningGroups.push(groups.has(member) ? withoutDead(groups.get(member)!) : new Map([[code, member]]));
    }
  }
  const result = withoutTrashed(state, [...joiningGroups, otherMembers, new Map(leaves ? [] : [[language.code, id]])]);
  // Checked before the conflict is reported, so that callers who may not link a record do not learn what it is linked
  // to.
  if (links.size > 0) await checkMayRegroup(context, changedMembers([withoutDead(currentGroup), ...joiningGroups], result));
  return isConflict(result) ? fail('translation-conflict', { values: { language: result.conflict } }) : result;
}

const nameOf = (key: string | typeof ANY_LANGUAGE): keyof LanguageValues => (key === ANY_LANGUAGE ? 'translation_of' : 'translations');

/** Merges all groups. If two records have the same language, the one in the trash is removed. */
function withoutTrashed(state: RegroupContext['state'], groups: readonly TranslationGroup[]): TranslationGroup | TranslationConflict {
  const result = joinGroups(...groups);
  if (!isConflict(result)) return result;
  const trashedIds = result.ids.filter((id) => state(id) === 'trashed');
  if (trashedIds.length === 0) return result;
  return withoutTrashed(
    state,
    groups.map((group) => withoutMembers(group, ...trashedIds.slice(0, 1))),
  );
}

/** Checks that the caller may edit every record whose translations change. Throws rest_invalid_param. */
async function checkMayRegroup({ db, caller, kind, placement }: RegroupContext, ids: readonly number[]): Promise<void> {
  const otherIds = ids.filter((id) => id !== placement.id);
  if (kind.is === 'term') return void (mayManageTerms(caller, kind) || failParam('translations', 'translation-not-linked'));
  const [rows, metas] = [await loadPosts(db, otherIds), await loadMetas(db, otherIds)];
  for (const row of rows.values())
    if (!mayEdit(caller.viewer, accessRow(row, metas.get(row.ID)))) failParam('translations', 'translation-not-linked');
}

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
