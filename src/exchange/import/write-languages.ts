import { ApiError } from '../../errors.ts';
import { postKind, termKind } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { PostKindName, TermKindName } from '../../kinds/kind-names.ts';
import {
  assignToNeutral,
  type LanguagesOfKind,
  languagesInGroups,
  languagesOf,
  languagesOfRecords,
  membershipsOf,
} from '../../records/record-languages.ts';
import { type LanguagePlacement, placeInLanguage } from '../../records/translation-groups.ts';
import { languageFaults } from '../../storage/audit/language-audit.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadPosts } from '../../storage/rows/bundle.ts';
import { takenPostIds } from '../../storage/rows/ids-in-use.ts';
import { recurringByRuleOrRows } from '../../storage/rows/recurring-events.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import { type ContentLanguage, languageOfCode, type Membership } from '../../wordpress/content-languages.ts';
import { isGroupOfDate } from '../items/each-date.ts';
import { isPostItem, nameOf, type PostItem, type TermItem } from '../items/items.ts';
import { addLoss } from '../items/report.ts';
import { digest } from '../items/versions.ts';
import { groupOf, ledgerKey, memberKey, statedLanguageKey, translationKey } from './ledger.ts';
import { mayWriteTerms, unchangeable } from './rights.ts';
import type { Run, UnlinkedRecord, Work } from './run.ts';

/**
 * Sets the languages of the records that were written for items, and links translations. A record keeps its current
 * language and translations if the source states none, or the same ones as in the last import: editors may have changed
 * them here.
 */
export async function writeLanguages(work: Work, items: readonly (PostItem | TermItem)[]): Promise<void> {
  const { run, db, ledger } = work;
  for (const name of new Set(items.map(({ kind }) => kind))) {
    if (name === 'attachment') continue;
    const itemsOfKind = items.filter((item) => item.kind === name);
    const kind: Kind = name === 'category' || name === 'tag' ? termKind(name) : postKind(name);
    const kindLanguages = languagesOf(run.caller, kind);
    const written = itemsOfKind.flatMap((item) => {
      const id = ledger.target(groupOf(item), item.sourceId);
      return id === undefined || (isPostItem(item) && (work.removedIds.has(id) || work.originIds.has(id))) ? [] : [{ item, id }];
    });
    const forbiddenIds = await forbiddenAmong(work, kind, written);
    const goneIds = await deletedMembers(
      work,
      kind,
      written.flatMap(({ item, id }) => (id > 0 && !isNew(work, item) ? [id] : [])),
    );
    const records = written.filter(({ id }) => !forbiddenIds.has(id) && !goneIds.has(id));
    if (!kindLanguages) {
      for (const { item } of records) if (item.language !== undefined) reportLoss(work, item, 'language-lost', item.language);
      continue;
    }
    const memberships = await membershipsOf(
      db,
      kindLanguages,
      records.map(({ id }) => id).filter((id) => id > 0),
    );
    const memberIds = knownMembers(
      work,
      records.flatMap(({ item }) => groupKeyOf(item) ?? []),
    );
    await ledger.lookUp([
      ...[...records.map(({ id }) => id), ...memberIds].map((id) => memberKey(name, id)),
      ...records.map(({ id }) => statedLanguageKey(name, id)),
    ]);
    await ledger.lookUp(records.flatMap(({ id }) => formerGroupOf(work, name, id) || []));
    const deletedIds = await deletedMembers(work, kind, memberIds);
    const groups = run.isDryRun ? await groupsOf(work, { kindLanguages, kind, memberIds }) : new Map<number, ReadonlyMap<string, number>>();
    const datedIds = kind.is === 'post' && kind.hasDates ? await recurringIds(work, records) : new Set<number>();
    const neutralIds = records.flatMap(({ item, id }) => (id > 0 && !memberships.has(id) && !isNew(work, item) ? [id] : []));
    const listed = run.isDryRun ? new Map<number, ContentLanguage>() : await languagesInGroups(db, kindLanguages, neutralIds);
    const context = { kindLanguages, kind, deletedIds, groups };
    for (const { item, id } of records) {
      const change = { item, id, membership: memberships.get(id), listed: listed.get(id), isDate: isOfDate(item) && datedIds.has(id) };
      await writeLanguage(work, { ...context, ...change });
    }
  }
}

/** Returns those of the records of items that the importing user may not change. New ones are never among them. */
async function forbiddenAmong(
  work: Work,
  kind: Kind,
  records: readonly { readonly item: PostItem | TermItem; readonly id: number }[],
): Promise<ReadonlySet<number>> {
  const { run, db, forbiddenIds } = work;
  const ids = records.flatMap(({ item, id }) => (isNew(work, item) ? [] : [id]));
  if (kind.is === 'term') return new Set(mayWriteTerms(run, kind.name) ? [] : ids);
  return new Set([...forbiddenIds, ...(await unchangeable(run, db, kind, ids))]);
}

/** Whether this run has created the record of an item. */
const isNew = ({ run, ledger }: Work, item: PostItem | TermItem): boolean =>
  ledger.entry(ledgerKey(groupOf(item), item.sourceId))?.made === run.number;

/**
 * Returns the events that recur here among the records of items that are single dates: in formats without recurrence
 * rules, each date of an event is an item with a group of its own.
 */
async function recurringIds(
  { run, db }: Work,
  records: readonly { readonly item: PostItem | TermItem; readonly id: number }[],
): Promise<ReadonlySet<number>> {
  if (!run.caller.settings.recurrence) return new Set();
  const ids = records.flatMap(({ item, id }) => (id > 0 && isOfDate(item) ? [id] : []));
  return recurringByRuleOrRows(db, ids);
}

/** Whether the translations of an item are those of a single date. */
const isOfDate = ({ translation_group: group }: PostItem | TermItem): boolean => group !== undefined && isGroupOfDate(group);

/** Returns the ledger key of an item's group of translations. */
const groupKeyOf = ({ kind, translation_group: group }: PostItem | TermItem): string | undefined =>
  group === undefined ? undefined : translationKey(kind, group);

/**
 * Returns the key of the group in which a record was when it came last; empty if it was in none, undefined if that is
 * not known.
 */
const formerGroupOf = ({ ledger }: Work, kind: string, id: number): string | undefined => ledger.entry(memberKey(kind, id))?.digest;

/** Returns the records through which the ledger knows groups. */
const knownMembers = ({ ledger }: Work, keys: readonly string[]): number[] =>
  [...new Set(keys.flatMap((key) => ledger.entry(key)?.target ?? []))].filter((id) => id > 0);

/** Returns those records that were deleted after their import. */
async function deletedMembers({ db }: Work, kind: Kind, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const existingRecords = kind.is === 'post' ? await takenPostIds(db, ids) : await loadTerms(db, kind.taxonomy, ids);
  return new Set(ids.filter((id) => !existingRecords.has(id)));
}

/**
 * Returns the groups of the known records: members by language, without those that were deleted or are in the trash.
 */
async function groupsOf(
  { db }: Work,
  {
    kindLanguages,
    kind,
    memberIds,
  }: { readonly kindLanguages: LanguagesOfKind; readonly kind: Kind; readonly memberIds: readonly number[] },
): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
  const groups = [...(await membershipsOf(db, kindLanguages, memberIds))].map(
    ([id, { language, members }]) => [id, [...members, ...(language === null ? [] : [[language, id] as const])]] as const,
  );
  const ids = [...new Set(groups.flatMap(([, members]) => members.map(([, id]) => id)))];
  const livingIds =
    kind.is === 'term'
      ? [...(await loadTerms(db, kind.taxonomy, ids)).keys()]
      : [...(await loadPosts(db, ids)).values()].flatMap(({ ID, post_status: status }) => (status === 'trash' ? [] : [ID]));
  const living = new Set(livingIds);
  return new Map(groups.map(([id, members]) => [id, new Map(members.filter(([, one]) => living.has(one)))]));
}

/**
 * A record that was written for an item. `membership`: its current language and group; `listed`: if it has none, the
 * language under which its group lists it; `isDate`: whether the item is one date of the record, whose group stays;
 * `deletedIds`: records that no longer exist; `groups`: in a dry run, the groups of known records.
 */
interface LanguageChange {
  readonly kindLanguages: LanguagesOfKind;
  readonly kind: Kind;
  readonly item: PostItem | TermItem;
  readonly id: number;
  readonly membership: Membership | undefined;
  readonly listed: ContentLanguage | undefined;
  readonly isDate: boolean;
  readonly deletedIds: ReadonlySet<number>;
  readonly groups: ReadonlyMap<number, ReadonlyMap<string, number>>;
}

async function writeLanguage(work: Work, change: LanguageChange): Promise<void> {
  const { run, ledger } = work;
  const { kindLanguages, kind, item, id, membership, listed, isDate, deletedIds, groups } = change;
  const before = membership?.language ?? null;
  const wantedCode = item.language ?? (membership || listed ? undefined : run.language);
  const statedLanguage = wantedCode === undefined ? undefined : languageOfCode(kindLanguages.languages, wantedCode);
  if (wantedCode !== undefined && !statedLanguage) reportLoss(work, item, 'language-unknown', wantedCode);
  // A record in a language that has been switched off keeps it.
  if (membership && before === null && !statedLanguage) return;
  const language = statedLanguage ?? listed ?? languageOfCode(kindLanguages.languages, before ?? kindLanguages.languages.defaultCode);
  if (!language) return;
  const placement = { id, before, isNew: !membership && isNew(work, item), language };
  const key = isDate ? undefined : groupKeyOf(item);
  const statedCode = item.language === undefined ? undefined : statedLanguage?.code;
  const stated = digest(`${statedCode ?? ''} ${key ?? ''}`);
  if (membership && isSettled(work, change, { key, stated })) return;
  if (item.language !== undefined && !isDate) await leaveFormerGroup(work, change, key ?? '');
  const known = key === undefined ? undefined : ledger.entry(key);
  const knownId = known?.target;
  const hasLeft = knownId !== undefined && ![undefined, key].includes(formerGroupOf(work, item.kind, knownId));
  const memberId = knownId === undefined || deletedIds.has(knownId) || hasLeft ? undefined : knownId;
  if (key !== undefined && memberId === undefined)
    ledger.add({ item: key, kind: 'translations', target: id, digest: '', run: hasLeft && known ? known.run : run.number });
  const unlinked: UnlinkedRecord = {
    ...{ kind: item.kind, of: isPostItem(item) ? nameOf(item) : item.name, place: item.place },
    ...{ key: key ?? '', detail: item.translation_group ?? language.code, id, language: language.code, stated },
  };
  const storedMembers = memberId === undefined ? undefined : groups.get(memberId);
  const isLinked = run.isDryRun
    ? key === undefined || joinDryGroup(run, { key, storedMembers, language: language.code, id })
    : await place(work, kind, placement, memberId);
  if (isLinked) {
    if (statedCode !== undefined || key !== undefined) noteStated(work, unlinked);
    return;
  }
  work.unlinked.push(unlinked);
  // Its own group may have another record in this language.
  const hasLanguage = before !== null || run.isDryRun || (await place(work, kind, placement, undefined));
  if (!hasLanguage && listed) await place(work, kind, { ...placement, language: listed }, undefined);
}

/**
 * Whether an earlier run has given a record the same language and group, so that it keeps what it has now. A group
 * whose known member was deleted, if need be earlier in this run, is linked again.
 */
function isSettled(
  { run, ledger }: Work,
  { item, id, deletedIds }: LanguageChange,
  { key, stated }: { readonly key: string | undefined; readonly stated: string },
): boolean {
  const noted = ledger.entry(statedLanguageKey(item.kind, id));
  if (noted?.digest !== stated || noted.run === run.number) return false;
  const group = key === undefined ? undefined : ledger.entry(key);
  return key === undefined || (group !== undefined && group.run !== run.number && !deletedIds.has(group.target));
}

/** Notes the language and the group that a record has got from its source. */
const noteStated = ({ run, ledger }: Work, { kind, id, stated }: Pick<UnlinkedRecord, 'kind' | 'id' | 'stated'>): void =>
  ledger.add({ item: statedLanguageKey(kind, id), kind: 'translations', target: id, digest: stated, run: run.number });

/**
 * Writes the language of a record and links it with a member of its group. Returns false if the group has another
 * record in that language.
 */
async function place({ db, run, events }: Work, kind: Kind, placement: LanguagePlacement, memberId: number | undefined): Promise<boolean> {
  const links = memberId === undefined || memberId === placement.id ? {} : { translation_of: memberId };
  try {
    const linkedIds = await placeInLanguage(db, run.caller, kind, placement, links);
    if (kind.is === 'post' && kind.hasDates) events.push(...linkedIds);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** Takes a record out of its former group if the source has it in another one now, or in none. */
async function leaveFormerGroup(work: Work, { kindLanguages, kind, item, id, membership }: LanguageChange, key: string): Promise<void> {
  const { run, db, ledger, events } = work;
  const before = membership?.language ?? null;
  const formerKey = formerGroupOf(work, item.kind, id);
  ledger.add({ item: memberKey(item.kind, id), kind: 'translations', target: id, digest: key, run: run.number });
  const language = before === null ? undefined : languageOfCode(kindLanguages.languages, before);
  if (!formerKey || formerKey === key || !language) return;
  if (run.isDryRun) {
    run.dryLeft.add(id);
    for (const members of run.dryGroups.values()) for (const [code, member] of members) if (member === id) members.delete(code);
    return;
  }
  const linkedIds = await placeInLanguage(
    db,
    run.caller,
    kind,
    { id, before, language },
    { translations: new Map([[language.code, null]]) },
  );
  if (kind.is === 'post' && kind.hasDates) events.push(...linkedIds);
  const former = ledger.entry(formerKey);
  // The run stays, since the other members keep what editors have made of them (`isSettled`).
  if (former?.target === id && linkedIds[0] !== undefined) ledger.add({ ...former, target: linkedIds[0] });
}

/** Links records after all items have come, and reports those whose groups have another record in their language. */
export async function linkAgain(work: Work, records: readonly UnlinkedRecord[]): Promise<void> {
  const { run, db, ledger, tally } = work;
  for (const { key, id, ...record } of records) {
    const kind: Kind = record.kind === 'category' || record.kind === 'tag' ? termKind(record.kind) : postKind(record.kind as PostKindName);
    const kindLanguages = languagesOf(run.caller, kind);
    const language = kindLanguages && languageOfCode(kindLanguages.languages, record.language);
    const memberId = key === '' ? undefined : ledger.entry(key)?.target;
    if (!kindLanguages || !language) continue;
    const isLinked = run.isDryRun
      ? key !== '' && joinDryGroup(run, { key, storedMembers: undefined, language: record.language, id })
      : await place(work, kind, { id, before: (await languagesOfRecords(db, kindLanguages, [id])).get(id) ?? null, language }, memberId);
    if (isLinked) {
      await ledger.lookUp([statedLanguageKey(record.kind, id)]);
      noteStated(work, { ...record, id });
    } else addLoss(tally, { reason: 'translation-conflict', kind: record.kind, of: record.of, place: record.place, detail: record.detail });
  }
}

/** Adds a record to a group as a dry run would. Returns false if the group has another record in that language. */
function joinDryGroup(
  { dryGroups, dryLeft }: Run,
  {
    key,
    storedMembers = new Map(),
    language,
    id,
  }: { key: string; storedMembers: ReadonlyMap<string, number> | undefined; language: string; id: number },
): boolean {
  const members = dryGroups.get(key) ?? new Map([...storedMembers].filter(([, member]) => !dryLeft.has(member)));
  dryGroups.set(key, members);
  if ((members.get(language) ?? id) !== id) return false;
  for (const [code, member] of members) if (member === id) members.delete(code);
  members.set(language, id);
  return true;
}

const reportLoss = ({ tally }: Work, item: PostItem | TermItem, reason: string, detail: string): void =>
  addLoss(tally, { reason, kind: item.kind, of: isPostItem(item) ? nameOf(item) : item.name, place: item.place, detail });

/** Assigns a language to terms that were created for a reference and have none. */
export async function assignTermLanguage(db: Database, run: Run, name: TermKindName, ids: readonly number[]): Promise<void> {
  const kindLanguages = languagesOf(run.caller, termKind(name));
  const language: ContentLanguage | undefined =
    kindLanguages && languageOfCode(kindLanguages.languages, run.language ?? kindLanguages.languages.defaultCode);
  if (!kindLanguages || !language) return;
  const memberships = await membershipsOf(db, kindLanguages, ids);
  const neutral = ids.filter((id) => !memberships.has(id)).map((id) => ({ id, isVisible: false }));
  if (neutral.length > 0) await assignToNeutral(db, kindLanguages, neutral, language);
}

/** Recounts the records of each language. */
export async function recountLanguages(db: Database, { caller }: Run): Promise<void> {
  const { contentLanguages } = caller.settings;
  if (!contentLanguages) return;
  await languageFaults(contentLanguages)
    .find(({ name }) => name === 'language-counts-wrong')
    ?.fix(db);
}
