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
  readonly of: Translatable;
}

/** Returns the languages for a kind; undefined if records of this kind have no language on this site. */
export function languagesOf({ settings }: Pick<Caller, 'settings'>, kind: Kind): LanguagesOfKind | undefined {
  const { contentLanguages: languages } = settings;
  const type = kind.is === 'post' ? kind.postType : kind.taxonomy;
  return isTranslated(languages, type) ? { languages, of: { is: kind.is, type } } : undefined;
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
  const own = languagesOf(caller, kind);
  if (!own) return undefined;
  const { language } = languageValues(values);
  return (
    languageOfCode(own.languages, language ?? createdFor ?? chosenLanguage(caller) ?? parent ?? undefined) ??
    languageOfCode(own.languages, own.languages.defaultCode)
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
  const own = languagesOf(caller, kind);
  if (!own) return undefined;
  const membership = (await membershipsOf(db, own, [id])).get(id);
  const before = membership?.language ?? null;
  const named = languageValues(values);
  if (membership && before === null && named.language === undefined)
    return hasNoTranslations(named) ? undefined : failParam('translations', 'translation-not-linked');
  const language = languageOfCode(own.languages, named.language ?? before ?? undefined) ?? languageOfNew(caller, kind, {});
  return language && { language, before, values: named };
}

/** Returns the current language of a record, for a write that does not change it; undefined if it has none. */
export async function currentLanguage(db: Database, caller: Caller, kind: Kind, id: number): Promise<LanguageOfWrite | undefined> {
  const own = languagesOf(caller, kind);
  const code = own && (await languagesOfRecords(db, own, [id])).get(id);
  const language = own && code ? languageOfCode(own.languages, code) : undefined;
  return language && { language, before: language.code, values: {} };
}

/** Returns the single language that a request chose, if any. */
export const chosenLanguage = ({ content }: Caller): string | undefined => (content.chosen ? content.code : undefined);

/** Picks the values that concern languages. */
export const languageValues = ({ language, translations, translation_of }: LanguageValues & Values): LanguageValues => ({
  language,
  translations,
  translation_of,
});

/** Returns the languages of records by id; null if a record has none. */
export async function languagesOfRecords(db: Database, own: LanguagesOfKind, ids: readonly number[]): Promise<Map<number, string | null>> {
  const known = await membershipsOf(db, own, ids);
  return new Map(ids.map((id) => [id, known.get(id)?.language ?? null]));
}

/**
 * Returns the languages and groups of records. A record that is absent from the map has no language. One that is
 * present without a language is in one that the site has switched off, or that is hidden from the caller.
 */
export async function membershipsOf(
  db: Database,
  { languages, of }: LanguagesOfKind,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Membership>> {
  const { posts, terms } = await formOf(languages).memberships(db, languages, {
    posts: of.is === 'post' ? ids : [],
    terms: of.is === 'term' ? ids.map((id) => ({ term_id: id, taxonomy: of.type })) : [],
  });
  return of.is === 'post' ? posts : terms;
}

/** A record whose language is written. `before`: its current language. */
export interface LanguagePlacement {
  readonly id: number;
  readonly before: string | null;
  readonly language: ContentLanguage;
  /** For posts: whether it counts as published before this write, and after it. */
  readonly visible?: { readonly before: boolean; readonly after: boolean };
}

/** A post that this transaction has created and that is no translation, so that no language data exist for it yet. */
interface NewLanguagePlacement {
  readonly id: number;
  readonly language: ContentLanguage;
  readonly isVisible: boolean;
}

/** Assigns new posts their languages. */
export async function assignLanguages(db: Database, caller: Caller, kind: Kind, placings: readonly NewLanguagePlacement[]): Promise<void> {
  const own = languagesOf(caller, kind);
  if (!own) return;
  for (const [language, alike] of groupedBy(placings, (placing) => placing.language)) {
    const ids = alike.map(({ id }) => id);
    await languageWriterOf(own.languages).assign(db, own.of, ids, language, alike.filter(({ isVisible }) => isVisible).length);
  }
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
  placing: LanguagePlacement,
  values: LanguageValues,
): Promise<number[]> {
  const own = languagesOf(caller, kind);
  if (!own) return [];
  const { of } = own;
  const { id, before, language } = placing;
  const links = namedTranslations(values);
  const moves = before !== language.code;
  if (!moves && links.size === 0) return [];
  const writer = languageWriterOf(own.languages);
  const named = [...links.values()].flatMap((member) => (member === null || member === id ? [] : [member]));
  // A record without a group has no row that could be locked, so its name is locked.
  await lockNames(
    db,
    [id, ...named].map((one) => `translations:${of.type}:${one}`),
  );
  const groups = await writer.lockGroups(db, of, before === null ? named : [id, ...named]);
  const present = groups.get(id) ?? new Map<string, number>();
  const state = await loadStates(db, own, kind, [...new Set([...groups.values()].flatMap((group) => [...group.values()])), ...named]);
  const wish = { db, caller, kind, own, state, placing };
  const wanted = await resultingGroup(wish, present, links, groups);
  // Repeated imports name the same translations each time; clients that follow the changes are not notified of them.
  if (!moves && present.size > 0 && isDeepStrictEqual(wanted, present)) return [];

  const touched = [...new Set([...present.values(), ...wanted.values()])].filter((one) => one !== id);
  const removed = [...present].filter(([, member]) => member !== id && ![...wanted.values()].includes(member));
  // A member that has changed its type keeps its language.
  for (const [, member] of removed) await (state(member) === 'dead' ? writer.forget(db, of, member) : writer.leaveGroup(db, of, member));
  const alone = ![...wanted.values()].includes(id);
  if (alone && present.size > 0) await writer.leaveGroup(db, of, id);
  if (moves) await setLanguage(db, own, placing);
  if (of.is === 'term') {
    for (const [code, member] of removed) if (isOfKind(state(member))) await writer.writeGroup(db, of, new Map([[code, member]]));
    if (alone) await writer.writeGroup(db, of, new Map([[language.code, id]]));
  }
  if (!alone && (of.is === 'term' || wanted.size > 1 || present.size > 0)) await writer.writeGroup(db, of, wanted);
  return touched.filter((one) => isOfKind(state(one)));
}

async function setLanguage(
  db: Database,
  { of, languages }: LanguagesOfKind,
  { id, before, language, visible }: LanguagePlacement,
): Promise<void> {
  const writer = languageWriterOf(languages);
  if (visible?.before && before !== null) await writer.countVisible(db, id, 'hidden');
  await writer.setLanguage(db, of, id, language);
  if (visible?.after) await writer.countVisible(db, id, 'shown');
}

/**
 * Returns the translations named by the values as one map: those by language, and the record that this one is a
 * translation of.
 */
function namedTranslations({
  translations,
  translation_of: source,
}: LanguageValues): ReadonlyMap<string | typeof ANY_LANGUAGE, number | null> {
  const named: [string | typeof ANY_LANGUAGE, number | null][] = [...(translations ?? new Map<string, number | null>())];
  return new Map(source ? [[ANY_LANGUAGE, source], ...named] : named);
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
  readonly own: LanguagesOfKind;
  readonly state: (id: number) => State;
  readonly placing: LanguagePlacement;
}

async function loadStates(db: Database, { of }: LanguagesOfKind, kind: Kind, ids: readonly number[]): Promise<(id: number) => State> {
  if (kind.is === 'term') {
    const terms = await loadTerms(db, of.type, ids);
    const elsewhere = await existingTerms(
      db,
      ids.filter((id) => !terms.has(id)),
    );
    return (id) => (terms.has(id) ? 'living' : elsewhere.has(id) ? 'moved' : 'dead');
  }
  const posts = await loadPosts(db, ids);
  return (id) => {
    const post = posts.get(id);
    if (post?.post_type !== of.type) return post ? 'moved' : 'dead';
    return post.post_status === 'trash' ? 'trashed' : 'living';
  };
}

/**
 * Returns the group that the record will be in, including itself unless it leaves. A record in the trash keeps its
 * place until another one takes it.
 */
async function resultingGroup(
  wish: RegroupContext,
  present: TranslationGroup,
  links: ReadonlyMap<string | typeof ANY_LANGUAGE, number | null>,
  groups: ReadonlyMap<number, TranslationGroup>,
): Promise<TranslationGroup> {
  const { placing, state } = wish;
  const { id, language } = placing;
  const alive = (group: TranslationGroup): TranslationGroup => new Map([...group].filter(([, one]) => isOfKind(state(one))));
  const rest = new Map(alive(withoutMembers(present, id)));
  const holder = rest.get(language.code);
  if (holder !== undefined && state(holder) === 'living' && placing.before !== language.code)
    fail('language-taken', { values: { language: language.code } });
  rest.delete(language.code);

  const joining: TranslationGroup[] = [];
  const codes = await languagesOfRecords(
    wish.db,
    wish.own,
    [...links.values()].flatMap((one) => one ?? []),
  );
  let leaves = false;
  for (const [place, member] of links) {
    if (member === null) {
      if (place === language.code) leaves = true;
      else if (place !== ANY_LANGUAGE) rest.delete(place);
    } else if (member === id) {
      // A record that is sent back as it was read also names itself.
      if (place !== language.code) failParam(nameOf(place), 'translation-not-linked');
    } else {
      const code = codes.get(member) ?? null;
      if (code === null || state(member) !== 'living' || (place !== ANY_LANGUAGE && place !== code))
        failParam(nameOf(place), 'translation-not-linked');
      joining.push(groups.has(member) ? alive(groups.get(member)!) : new Map([[code, member]]));
    }
  }
  const result = withoutTrashed(state, [...joining, rest, new Map(leaves ? [] : [[language.code, id]])]);
  // Checked before the conflict is reported, so that callers who may not link a record do not learn what it is linked
  // to.
  if (links.size > 0) await checkMayRegroup(wish, changedMembers([alive(present), ...joining], result));
  return isConflict(result) ? fail('translation-conflict', { values: { language: result.conflict } }) : result;
}

const nameOf = (place: string | typeof ANY_LANGUAGE): keyof LanguageValues => (place === ANY_LANGUAGE ? 'translation_of' : 'translations');

/** Merges all groups. If two records have the same language, the one in the trash is removed. */
function withoutTrashed(state: RegroupContext['state'], groups: readonly TranslationGroup[]): TranslationGroup | TranslationConflict {
  const result = joinGroups(...groups);
  if (!isConflict(result)) return result;
  const gone = result.ids.filter((id) => state(id) === 'trashed');
  if (gone.length === 0) return result;
  return withoutTrashed(
    state,
    groups.map((group) => withoutMembers(group, ...gone.slice(0, 1))),
  );
}

/** Checks that the caller may edit every record whose translations change. Throws rest_invalid_param. */
async function checkMayRegroup({ db, caller, kind, placing }: RegroupContext, ids: readonly number[]): Promise<void> {
  const others = ids.filter((id) => id !== placing.id);
  if (kind.is === 'term') return void (mayManageTerms(caller, kind) || failParam('translations', 'translation-not-linked'));
  const [rows, metas] = [await loadPosts(db, others), await loadMetas(db, others)];
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
  const own = languagesOf(caller, kind);
  if (!own) return [];
  const writer = languageWriterOf(own.languages);
  const group = (await writer.lockGroups(db, own.of, [id])).get(id) ?? new Map<string, number>();
  if (isCounted) await writer.countVisible(db, id, 'hidden');
  await writer.forget(db, own.of, id);
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
  const own = languagesOf(caller, kind);
  if (own) await languageWriterOf(own.languages).countVisible(db, id, change);
}
