import { CALENDAR_UID, DATES } from '../../kinds/events/metas.ts';
import type { Database } from '../../storage/engine/database.ts';
import { loadMetas, loadPosts } from '../../storage/rows/bundle.ts';
import { forgetItems, type LedgerEntry, loadEventEntries, loadLedger } from '../../storage/rows/imports.ts';
import { type Metas, metaOf, type Post } from '../../wordpress/rows.ts';
import { type PostItem, textIn } from '../items/items.ts';
import { lastingPart, lastingUid } from '../items/lasting-uid.ts';
import { foldedTitle } from '../items/record-names.ts';
import { digestOf } from '../items/versions.ts';
import { ownLanguageFilter } from './in-language.ts';
import { isOfItem, withMarksOf } from './incomplete.ts';
import { ledgerKey } from './ledger.ts';
import type { Run, Work } from './run.ts';

/*
 * Finds the records of events that have got another name in their source. The names of events change if a site gets
 * another host, if an event begins or ceases to recur, so that its dates have ids of their own, and if a calendar
 * writes the dates of a series in another way. Such an event continues the record of its former name, unless that name
 * comes in this run, too: then it is another event that looks the same.
 */

/** Events -> what the ledger notes about them under their former names. */
export type FormerEntries = ReadonlyMap<PostItem, LedgerEntry>;

/** Returns the UID of an event in a calendar of The Events Calendar or of Fasti, and the lasting part that names it. */
export function calendarName({ kind, sourceId, metas }: PostItem): { readonly uid: string; readonly lasting: string } | undefined {
  if (kind !== 'event') return undefined;
  const uid = textIn(metas, CALENDAR_UID);
  const lasting = lastingUid(uid);
  return lasting !== undefined && (sourceId === lasting || sourceId.startsWith(`${lasting}#`)) ? { uid, lasting } : undefined;
}

/**
 * Returns the items without those that may be events under new names, which are kept for the end of the run: only then
 * is it known which of the former names have come.
 */
export async function keepRenamed(work: Work, items: readonly PostItem[]): Promise<readonly PostItem[]> {
  const renamed = await recordsOfSameEvents(work, items);
  work.renamed.push(...renamed.keys());
  return renamed.size === 0 ? items : items.filter((item) => !renamed.has(item));
}

/**
 * How much a record is like an item, the most first: it has the same UID, the same number in the UID, or only looks the
 * same. Records are taken over in this order, so that none goes to an event that only looks like its own.
 */
export const LIKENESSES = ['uid', 'number', 'look'] as const;
type Likeness = (typeof LIKENESSES)[number];

/** `takenIds`: records that other events have taken over; `unwritten`: ledger keys of events that came in vain. */
interface TakeOver {
  readonly likeness: Likeness;
  readonly takenIds: ReadonlySet<number>;
  readonly unwritten: ReadonlySet<string>;
}

/**
 * Returns the entries of the ledger under which some of these items were noted before, for those whose record is like
 * them. To be called for each likeness in order when all other items of the source have come.
 */
export async function entriesToTakeOver(work: Work, items: readonly PostItem[], by: TakeOver): Promise<FormerEntries> {
  const { run, db } = work;
  const candidates = await recordsOfSameEvents(work, items, by);
  const entries = await ownEntries(run, db, [...new Set([...candidates.values()].flat())]);
  const hasNotCome = ({ run: lastRun, item }: LedgerEntry) => lastRun < run.number && !by.unwritten.has(item);
  const takenIds = new Set(by.takenIds);
  const former = new Map<PostItem, LedgerEntry>();
  for (const [item, ids] of candidates) {
    const id = ids.find((one) => !takenIds.has(one) && entries.get(one)?.every(hasNotCome));
    if (id === undefined) continue;
    takenIds.add(id);
    former.set(item, entries.get(id)![0]!);
  }
  return former;
}

/**
 * Forgets the former names of events that have been written under their new ones, which may become names of other
 * events. The names of those that the importing user may not change stay.
 */
export async function forgetFormerNames({ run, db, forbiddenIds }: Work, former: FormerEntries): Promise<void> {
  const ids = [...former.values()].map(({ target }) => target).filter((id) => !forbiddenIds.has(id));
  if (run.isDryRun || ids.length === 0) return;
  const entries = await loadEventEntries(db, run.importId, ids);
  await forgetItems(
    db,
    run.importId,
    entries.map(({ item }) => item),
  );
}

/**
 * Returns what the ledger notes about events under their whole UIDs, by which earlier versions named them. Unchanged
 * ones have the present digest.
 */
export async function formerEntries({ run, db, originals }: Work, items: readonly PostItem[]): Promise<FormerEntries> {
  const formerNames = items.flatMap((item) => {
    const name = calendarName(item);
    if (!name) return [];
    return [item.narrowerId, item.sourceId].flatMap((id) =>
      id === undefined ? [] : [{ item, sourceId: `${name.uid}${id.slice(name.lasting.length)}` }],
    );
  });
  if (formerNames.length === 0 || run.importId === 0) return new Map();
  const keys = formerNames.map(({ sourceId }) => ledgerKey('post', sourceId));
  const stored = await loadLedger(db, run.importId, keys);
  const found = new Map<PostItem, LedgerEntry>();
  for (const [index, { item, sourceId }] of formerNames.entries()) {
    const entry = stored.get(keys[index]!);
    if (!entry || found.has(item)) continue;
    const original = originals.get(item) ?? item;
    const isSame = isOfItem(entry.digest, { ...original, sourceId } as PostItem);
    found.set(item, isSame ? { ...entry, digest: withMarksOf(entry.digest, digestOf(original)) } : entry);
  }
  return found;
}

/**
 * Whether an import has created a record, or brought it as the event that it is: not as the original of a copy.
 * `entries`: what the import has noted about the record.
 */
export const isOwnRecord = (entries: readonly LedgerEntry[] | undefined, metas: Metas | undefined): boolean => {
  const ownKey = ledgerKey('post', lastingPart(metaOf(metas, CALENDAR_UID) ?? ''));
  return entries?.some(({ made, item }) => made > 0 || item === ownKey) ?? false;
};

/** Returns what an import has noted about some events, by their ids, including what a dry run would note. */
export async function ownEntries(run: Run, db: Database, ids: readonly number[]): Promise<ReadonlyMap<number, readonly LedgerEntry[]>> {
  const wanted = new Set(ids);
  const stored = ids.length === 0 || run.importId === 0 ? [] : await loadEventEntries(db, run.importId, ids);
  const noted = [...run.dryLedger.values()].filter(({ kind, target }) => kind === 'event' && wanted.has(target));
  const entries = new Map<number, LedgerEntry[]>();
  for (const entry of [...stored, ...noted]) {
    const ofRecord = entries.get(entry.target);
    if (ofRecord) ofRecord.push(entry);
    else entries.set(entry.target, [entry]);
  }
  return entries;
}

/**
 * Returns the records that earlier runs have brought and that are at least so much like these items, for items without
 * a record: their ids in order.
 */
async function recordsOfSameEvents(
  work: Work,
  items: readonly PostItem[],
  { likeness: least, unwritten }: Pick<TakeOver, 'likeness' | 'unwritten'> = { likeness: 'look', unwritten: new Set() },
): Promise<ReadonlyMap<PostItem, readonly number[]>> {
  const { run, db } = work;
  const possible = new Map<PostItem, readonly number[]>();
  for (const item of run.number === 1 || run.importId === 0 ? [] : items) {
    const start = mayBeRenamed(work, item) ? textIn(item.metas, DATES.startUtc) : '';
    const ids = start === '' ? [] : await run.starts.find(db, start);
    if (ids.length > 0) possible.set(item, ids);
  }
  if (possible.size === 0) return possible;
  const ids = [...new Set([...possible.values()].flat())];
  const records = { posts: await loadPosts(db, ids), metas: await loadMetas(db, ids), entries: await ownEntries(run, db, ids) };
  // Dates of an event have keys of their own.
  const isUnwritten = (id: number) => unwritten.has(ledgerKey('post', lastingPart(metaOf(records.metas.get(id), CALENDAR_UID) ?? '')));
  const isLike = (item: PostItem, id: number): boolean => {
    const likeness = likenessOf(item, id, records);
    return isAtLeast(likeness, least) && (likeness === 'uid' || !isUnwritten(id));
  };
  const found = new Map<PostItem, readonly number[]>();
  for (const [item, some] of possible) {
    const same = some.filter((id) => isLike(item, id)).sort((one, other) => one - other);
    if (same.length > 0) found.set(item, same);
  }
  for (const item of (await formerEntries(work, [...found.keys()])).keys()) found.delete(item);
  const comparisons = new Map(Array.from(found, ([item, some]) => [item, { language: item.language, ids: some }]));
  const inOwnLanguage = await ownLanguageFilter(work, 'event', [...comparisons.values()]);
  return new Map(
    Array.from(comparisons, ([item, compared]) => [item, inOwnLanguage(compared)] as const).filter(([, some]) => some.length > 0),
  );
}

/** Whether an item is an event without an entry in the ledger, of a source whose names may change. */
function mayBeRenamed({ ledger }: Work, { kind, complete, match, sourceId, narrowerId }: PostItem): boolean {
  if (kind !== 'event' || complete || match !== undefined) return false;
  return [sourceId, narrowerId].every((name) => name === undefined || ledger.target('post', name) === undefined);
}

interface Records {
  readonly posts: ReadonlyMap<number, Post>;
  readonly metas: ReadonlyMap<number, Metas>;
  readonly entries: ReadonlyMap<number, readonly LedgerEntry[]>;
}

const isAtLeast = (likeness: Likeness | undefined, least: Likeness): boolean =>
  likeness !== undefined && LIKENESSES.indexOf(likeness) <= LIKENESSES.indexOf(least);

/**
 * Returns how much a record that starts at the same time as an item is like it: it has the same UID, or it has the
 * title and was created in the same second, in a source that names events by their ids. Undefined for another event.
 */
function likenessOf(item: PostItem, id: number, { posts, metas, entries }: Records): Likeness | undefined {
  const post = posts.get(id);
  if (!post) return undefined;
  const uid = textIn(item.metas, CALENDAR_UID);
  const storedUid = metaOf(metas.get(id), CALENDAR_UID) ?? '';
  const name = calendarName(item);
  const storedLasting = lastingUid(storedUid);
  if (uid !== '' && (uid === storedUid || (name && name.lasting === storedLasting))) return 'uid';
  const isOfSite = item.id !== undefined;
  if (!isOfSite && !(name && isOwnRecord(entries.get(id), metas.get(id)))) return undefined;
  const { post_title: title = '', post_date_gmt: created } = item.columns;
  if (created === undefined || created !== post.post_date_gmt || foldedTitle(title) !== foldedTitle(post.post_title)) return undefined;
  return name && storedLasting && numberIn(name.lasting) === numberIn(storedLasting) ? 'number' : 'look';
}

/** Returns the number in the lasting part of a UID: the id of the event in its site. */
const numberIn = (lasting: string): string => lasting.slice(0, lasting.indexOf('@'));
