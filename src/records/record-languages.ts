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
import { loadTerms, termsThere } from '../storage/rows/terms.ts';
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
  isConflict,
  joinGroups,
  regrouped,
  type TranslationConflict,
  type TranslationGroup,
  withoutMembers,
} from '../wordpress/translation-group.ts';
import type { Caller } from './caller.ts';
import { accessRow, mayEdit, mayManageTerms } from './visibility.ts';
import type { LanguageOfWrite } from './writes/write-context.ts';

/*
 * The language of a record that is written, and the records that it is a translation of. Inside the transaction of the
 * record, in either form.
 */

/** Where records of a kind have languages: which ones the site has, and how the kind is called there. */
export interface LanguagesOfKind {
  readonly languages: ContentLanguages;
  readonly of: Translatable;
}

/** Undefined: records of this kind have no language on this site. */
export function languagesOf({ settings }: Pick<Caller, 'settings'>, kind: Kind): LanguagesOfKind | undefined {
  const { contentLanguages: languages } = settings;
  const type = kind.is === 'post' ? kind.postType : kind.taxonomy;
  return isTranslated(languages, type) ? { languages, of: { is: kind.is, type } } : undefined;
}

/**
 * The language of a new record: the one that is named, else that of the record it is made for (`beside`), else the one
 * that the request chose, else that of its parent, else the site's default. No record is made without one: a WordPress
 * would not show it.
 */
export function languageOfNew(
  caller: Caller,
  kind: Kind,
  values: Values,
  { beside, parent }: { readonly beside?: string | undefined; readonly parent?: string | null | undefined } = {},
): ContentLanguage | undefined {
  const own = languagesOf(caller, kind);
  if (!own) return undefined;
  const { language } = languageValues(values);
  return (
    languageOfCode(own.languages, language ?? beside ?? chosenLanguage(caller) ?? parent ?? undefined) ??
    languageOfCode(own.languages, own.languages.defaultCode)
  );
}

/**
 * The language that a change gives a record: the one that is named, else its own; a record without one gets one. A
 * record in a language that the site has switched off, or that the caller may not know of, stays in it.
 *
 * @throws rest_invalid_param for translations of a record that stays in such a language
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
    return standsAlone(named) ? undefined : failParam('translations', 'translation-not-linked');
  const language = languageOfCode(own.languages, named.language ?? before ?? undefined) ?? languageOfNew(caller, kind, {});
  return language && { language, before, values: named };
}

/** The language of a record for a write that leaves it as it is; undefined: it has none. */
export async function languageKept(db: Database, caller: Caller, kind: Kind, id: number): Promise<LanguageOfWrite | undefined> {
  const own = languagesOf(caller, kind);
  const code = own && (await languagesOfRecords(db, own, [id])).get(id);
  const language = own && code ? languageOfCode(own.languages, code) : undefined;
  return language && { language, before: language.code, values: {} };
}

/** The one language that a request chose, if it did. */
export const chosenLanguage = ({ content }: Caller): string | undefined => (content.chosen ? content.code : undefined);

/** What the values say of languages. */
export const languageValues = ({ language, translations, translation_of }: LanguageValues & Values): LanguageValues => ({
  language,
  translations,
  translation_of,
});

/** The languages of records, by their ids; null: none. */
export async function languagesOfRecords(db: Database, own: LanguagesOfKind, ids: readonly number[]): Promise<Map<number, string | null>> {
  const known = await membershipsOf(db, own, ids);
  return new Map(ids.map((id) => [id, known.get(id)?.language ?? null]));
}

/**
 * The same with their groups. A record that is not there has no language; one that is there without one is in a
 * language that the site has switched off, or that the caller may not know of.
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

/** The record whose language is written. `before`: the language it has. */
export interface Placing {
  readonly id: number;
  readonly before: string | null;
  readonly language: ContentLanguage;
  /** For posts: whether it counts as published before this write, and after it. */
  readonly visible?: { readonly before: boolean; readonly after: boolean };
}

/** A post that this transaction has made, and that is a translation of none, so that nothing is noted of it yet. */
interface NewPlacing {
  readonly id: number;
  readonly language: ContentLanguage;
  readonly isVisible: boolean;
}

/** Gives new posts their languages. */
export async function assignLanguages(db: Database, caller: Caller, kind: Kind, placings: readonly NewPlacing[]): Promise<void> {
  const own = languagesOf(caller, kind);
  if (!own) return;
  for (const [language, alike] of groupedBy(placings, (placing) => placing.language)) {
    const ids = alike.map(({ id }) => id);
    await languageWriterOf(own.languages).assign(db, own.of, ids, language, alike.filter(({ isVisible }) => isVisible).length);
  }
}

/**
 * Gives a record its language and its translations. Returns the ids of other records whose translations have changed.
 *
 * @throws language-taken where the group has another record of that language; rest_invalid_param for translations that
 * cannot be linked; translation-conflict where two groups have different records of a language
 */
export async function placeInLanguage(
  db: Database,
  caller: Caller,
  kind: Kind,
  placing: Placing,
  values: LanguageValues,
): Promise<number[]> {
  const own = languagesOf(caller, kind);
  if (!own) return [];
  const { of } = own;
  const { id, before, language } = placing;
  const links = linksIn(values);
  const moves = before !== language.code;
  if (!moves && links.size === 0) return [];
  const writer = languageWriterOf(own.languages);
  const named = [...links.values()].flatMap((member) => (member === null || member === id ? [] : [member]));
  // A record without a group has no row that could be locked for it.
  await lockNames(
    db,
    [id, ...named].map((one) => `translations:${of.type}:${one}`),
  );
  const groups = await writer.lockGroups(db, of, before === null ? named : [id, ...named]);
  const present = groups.get(id) ?? new Map<string, number>();
  const state = await stateOf(db, own, kind, [...new Set([...groups.values()].flatMap((group) => [...group.values()])), ...named]);
  const wish = { db, caller, kind, own, state, placing };
  const wanted = await groupOf(wish, present, links, groups);
  // An import says the same with each run: who follows the changes is told of none.
  if (!moves && present.size > 0 && isDeepStrictEqual(wanted, present)) return [];

  const touched = [...new Set([...present.values(), ...wanted.values()])].filter((one) => one !== id);
  const out = [...present].filter(([, member]) => member !== id && ![...wanted.values()].includes(member));
  // What is of another type by now keeps its language.
  for (const [, member] of out) await (state(member) === 'dead' ? writer.forget(db, of, member) : writer.leaveGroup(db, of, member));
  const alone = ![...wanted.values()].includes(id);
  if (alone && present.size > 0) await writer.leaveGroup(db, of, id);
  if (moves) await setLanguage(db, own, placing);
  if (of.is === 'term') {
    for (const [code, member] of out) if (isOfKind(state(member))) await writer.writeGroup(db, of, new Map([[code, member]]));
    if (alone) await writer.writeGroup(db, of, new Map([[language.code, id]]));
  }
  if (!alone && (of.is === 'term' || wanted.size > 1 || present.size > 0)) await writer.writeGroup(db, of, wanted);
  return touched.filter((one) => isOfKind(state(one)));
}

async function setLanguage(db: Database, { of, languages }: LanguagesOfKind, { id, before, language, visible }: Placing): Promise<void> {
  const writer = languageWriterOf(languages);
  if (visible?.before && before !== null) await writer.countVisible(db, id, 'hidden');
  await writer.setLanguage(db, of, id, language);
  if (visible?.after) await writer.countVisible(db, id, 'shown');
}

/** The translations that the values name, as one map: those by their languages, and the one that the record is of. */
function linksIn({ translations, translation_of: source }: LanguageValues): ReadonlyMap<string | typeof OF, number | null> {
  const named: [string | typeof OF, number | null][] = [...(translations ?? new Map<string, number | null>())];
  return new Map(source ? [[OF, source], ...named] : named);
}

/** Whether a new record is a translation of none. */
export const standsAlone = (values: LanguageValues): boolean => linksIn(values).size === 0;

/** In the place of a language: whichever the record has. */
const OF = Symbol('translation_of');

/** What has become of a record that a group names. `moved`: it is of another type, or of another taxonomy. */
type State = 'living' | 'trashed' | 'moved' | 'dead';

const isOfKind = (state: State): boolean => state === 'living' || state === 'trashed';

interface Wish {
  readonly db: Database;
  readonly caller: Caller;
  readonly kind: Kind;
  readonly own: LanguagesOfKind;
  readonly state: (id: number) => State;
  readonly placing: Placing;
}

async function stateOf(db: Database, { of }: LanguagesOfKind, kind: Kind, ids: readonly number[]): Promise<(id: number) => State> {
  if (kind.is === 'term') {
    const terms = await loadTerms(db, of.type, ids);
    const elsewhere = await termsThere(
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
 * The group that the record is to be in, itself included unless it is taken out. A record in the trash keeps its place
 * until another one takes it.
 */
async function groupOf(
  wish: Wish,
  present: TranslationGroup,
  links: ReadonlyMap<string | typeof OF, number | null>,
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
      else if (place !== OF) rest.delete(place);
    } else if (member === id) {
      // An answer that is sent back names the record itself.
      if (place !== language.code) failParam(nameOf(place), 'translation-not-linked');
    } else {
      const code = codes.get(member) ?? null;
      if (code === null || state(member) !== 'living' || (place !== OF && place !== code))
        failParam(nameOf(place), 'translation-not-linked');
      joining.push(groups.has(member) ? alive(groups.get(member)!) : new Map([[code, member]]));
    }
  }
  const result = withoutTrashed(state, [...joining, rest, new Map(leaves ? [] : [[language.code, id]])]);
  // Who may not link a record is not told what it is linked to.
  if (links.size > 0) await mayRegroup(wish, regrouped([alive(present), ...joining], result));
  return isConflict(result) ? fail('translation-conflict', { values: { language: result.conflict } }) : result;
}

const nameOf = (place: string | typeof OF): keyof LanguageValues => (place === OF ? 'translation_of' : 'translations');

/**
 * All groups as one. Where two records of a language meet, the one in the trash gives way.
 */
function withoutTrashed(state: Wish['state'], groups: readonly TranslationGroup[]): TranslationGroup | TranslationConflict {
  const result = joinGroups(...groups);
  if (!isConflict(result)) return result;
  const gone = result.ids.filter((id) => state(id) === 'trashed');
  if (gone.length === 0) return result;
  return withoutTrashed(
    state,
    groups.map((group) => withoutMembers(group, ...gone.slice(0, 1))),
  );
}

/** Every record whose translations change must be the caller's to edit. Throws rest_invalid_param. */
async function mayRegroup({ db, caller, kind, placing }: Wish, ids: readonly number[]): Promise<void> {
  const others = ids.filter((id) => id !== placing.id);
  if (kind.is === 'term') return void (mayManageTerms(caller, kind) || failParam('translations', 'translation-not-linked'));
  const [rows, metas] = [await loadPosts(db, others), await loadMetas(db, others)];
  for (const row of rows.values())
    if (!mayEdit(caller.viewer, accessRow(row, metas.get(row.ID)))) failParam('translations', 'translation-not-linked');
}

/**
 * Removes what is noted of a record that is about to be deleted for good. Returns the records that it was a translation
 * of.
 */
export async function forgetLanguage(
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

/** Counts a post that is published from now on, or not any more, for its language. */
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
