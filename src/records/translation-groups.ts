import { isDeepStrictEqual } from 'node:util';
import { fail, failParam } from '../errors.ts';
import type { Kind } from '../kinds/kind.ts';
import type { LanguageValues } from '../kinds/language-fields.ts';
import type { Database } from '../storage/engine/database.ts';
import { loadMetas, loadPosts } from '../storage/rows/bundle.ts';
import { lockNames } from '../storage/rows/locks.ts';
import { existingTerms, loadTerms } from '../storage/rows/terms.ts';
import { languageWriterOf } from '../storage/translations/language-writers.ts';
import { type ContentLanguage, languageOfCode } from '../wordpress/content-languages.ts';
import {
  changedMembers,
  isConflict,
  joinGroups,
  type TranslationConflict,
  type TranslationGroup,
  withoutMembers,
} from '../wordpress/translation-group.ts';
import type { Caller } from './caller.ts';
import { type LanguagesOfKind, languagesOf, languagesOfRecords, namedTranslations, OF_ANY_LANGUAGE } from './record-languages.ts';
import { accessRow, mayEdit, mayManageTerms } from './visibility.ts';

/**
 * A record whose language is written. `before`: its current language. `isNew`: this transaction has created it, so that
 * no group contains it yet; others may be in one even without a language that the site has.
 */
export interface LanguagePlacement {
  readonly id: number;
  readonly before: string | null;
  readonly isNew?: boolean;
  readonly language: ContentLanguage;
  /** For posts: whether it counts as published before this write, and after it. */
  readonly visibility?: { readonly before: boolean; readonly after: boolean };
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
  const groups = await writer.lockGroups(db, translatable, placement.isNew ? namedIds : [id, ...namedIds]);
  const ownGroup = groups.get(id) ?? new Map<string, number>();
  const state = await loadStates(db, kindLanguages, kind, [
    ...new Set([...groups.values()].flatMap((group) => [...group.values()])),
    ...namedIds,
  ]);
  const leavesFirst = isSwitchedOff(kindLanguages, ownGroup, id) && state(ownGroup.get(language.code) ?? 0) === 'living';
  if (leavesFirst) await writer.leaveGroup(db, translatable, id);
  const currentGroup = leavesFirst ? new Map<string, number>() : ownGroup;
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

/**
 * Whether the group has a record under a language that the site has switched off. If another member has its new
 * language, it leaves the group: such a record cannot be unlinked by an earlier request.
 */
const isSwitchedOff = ({ languages }: LanguagesOfKind, group: TranslationGroup, id: number): boolean =>
  [...group].some(([code, member]) => member === id && !languageOfCode(languages, code));

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
  links: ReadonlyMap<string | typeof OF_ANY_LANGUAGE, number | null>,
  groups: ReadonlyMap<number, TranslationGroup>,
): Promise<TranslationGroup> {
  const { placement, state } = context;
  const { id, language } = placement;
  const withoutDead = (group: TranslationGroup): TranslationGroup => new Map([...group].filter(([, one]) => isOfKind(state(one))));
  const otherMembers = new Map(withoutDead(withoutMembers(currentGroup, id)));
  const holder = otherMembers.get(language.code);
  if (holder !== undefined && state(holder) === 'living' && placement.before !== language.code)
    fail('language-taken', { values: { language: language.name } });
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
      else if (key !== OF_ANY_LANGUAGE) otherMembers.delete(key);
    } else if (member === id) {
      // A record that is sent back as it was read also names itself.
      if (key !== language.code) failParam(nameOf(key), 'translation-not-linked');
    } else {
      const code = codes.get(member) ?? null;
      if (code === null || state(member) !== 'living' || (key !== OF_ANY_LANGUAGE && key !== code))
        failParam(nameOf(key), 'translation-not-linked');
      joiningGroups.push(groups.has(member) ? withoutDead(groups.get(member)!) : new Map([[code, member]]));
    }
  }
  const result = withoutTrashed(state, [...joiningGroups, otherMembers, new Map(leaves ? [] : [[language.code, id]])]);
  // Checked before the conflict is reported, so that callers who may not link a record do not learn what it is linked
  // to.
  if (links.size > 0) await checkMayRegroup(context, changedMembers([withoutDead(currentGroup), ...joiningGroups], result));
  if (!isConflict(result)) return result;
  const name = languageOfCode(context.kindLanguages.languages, result.conflict)?.name ?? result.conflict;
  return fail('translation-conflict', { values: { language: name } });
}

const nameOf = (key: string | typeof OF_ANY_LANGUAGE): keyof LanguageValues =>
  key === OF_ANY_LANGUAGE ? 'translation_of' : 'translations';

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
