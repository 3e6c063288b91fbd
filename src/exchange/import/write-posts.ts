import { termKind } from '../../kinds/index.ts';
import { imageIdAt } from '../../media/images.ts';
import { mayPublish } from '../../records/writes/post-plan.ts';
import { takenPostIds } from '../../storage/rows/ids-in-use.ts';
import type { LedgerEntry } from '../../storage/rows/imports.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import type { Post } from '../../wordpress/rows.ts';
import type { CleanPost } from '../items/clean.ts';
import { shownForm } from '../items/hidden-form.ts';
import { nameOf, type PostItem } from '../items/items.ts';
import { addLoss, addToCount } from '../items/report.ts';
import { typeOf } from '../items/site-items.ts';
import { digestOf } from '../items/versions.ts';
import { type ExternalIds, hasOtherExternalId, holderOf, lookUpExternalIds, noteExternalIds, withOwnExternalId } from './external-ids.ts';
import { hiddenImages, visibilityOnly, withHiddenByOthers } from './hidden-records.ts';
import {
  digestWithout,
  isMarkedHidden,
  isMarkedWithheld,
  isOfItem,
  markedHidden,
  missingPartsIn,
  WITHHELD,
  withMarksOf,
} from './incomplete.ts';
import { type Arrival, insertNew } from './insert-new.ts';
import { findKnownEvents } from './known-events.ts';
import { type Ledger, ledgerKey } from './ledger.ts';
import { withLocalFields } from './local-fields.ts';
import { withDateOf } from './recurrence.ts';
import { type FormerEntries, formerEntries } from './renamed-events.ts';
import { waitForParts } from './resolve.ts';
import { mayChooseAuthor, mayCreateOfKind, permittedNew, reportForbidden } from './rights.ts';
import { isFetched, type Run, type Work } from './run.ts';
import { findSameNamed, readNewNames } from './same-named.ts';
import { findSameUid } from './same-uid.ts';
import { storedPost } from './stored-post.ts';
import { type Existing, updatePosts } from './update-posts.ts';
import { termFromReference } from './write-terms.ts';

/**
 * Imports events, venues, organizers and attachments: inserts new ones in bulk, and updates known ones that have
 * changed. `former`: the entries of the ledger of those that were noted under other names.
 */
export async function writePosts(work: Work, items: readonly PostItem[], former: FormerEntries = new Map()): Promise<void> {
  const { run, db, ledger, tally } = work;
  const candidates = await candidatesOf(work, items, former);
  const ids = candidates.flatMap(({ item, entry }) => [...(item.id === undefined ? [] : [item.id]), ...(entry ? [entry.target] : [])]);
  const takenPosts = await takenPostIds(db, ids);
  const deletedTermKeys = await deletedTerms(work, items);
  const hasRecord = ({ item, key, entry }: Known): boolean =>
    (run.isDryRun && run.dryLedger.has(key)) || (entry && takenPosts.get(entry.target)?.post_type) === typeOf(item.kind);
  const externals = await lookUpExternalIds(work, allItems(candidates), allItems(candidates.filter((one) => !hasRecord(one))));
  const knownEvents = await findKnownEvents(work, candidates, former);
  await readNewNames(work, allItems(candidates.filter(({ entry }) => entry === undefined)));

  const newArrivals: Arrival[] = [];
  const [existing, joined]: [Existing[], Existing[]] = [[], []];
  for (const { item: sourceItem, key, digest: sourceDigest, entry, isSame, isShownNow, hasValidParent } of candidates) {
    const statedItem = hasValidParent ? sourceItem : { ...sourceItem, parent: undefined };
    const isStored = entry !== undefined && hasRecord({ item: sourceItem, key, entry });
    const known = knownEvents.get(sourceItem);
    if (known?.isOrigin) {
      work.originIds.add(known.id);
      leaveAsIs(work, statedItem, { item: key, kind: statedItem.kind, target: known.id, digest: sourceDigest }, sourceDigest);
      continue;
    }
    if (isStored && isSame && !isFetched(work, sourceItem)) {
      leaveAsIs(work, statedItem, { ...entry, item: key, digest: withMarksOf(entry.digest, sourceDigest) }, sourceDigest);
      continue;
    }
    const hasFile = bringsFile(run, statedItem, entry === undefined);
    const imageId = hasFile ? undefined : isStored && isShownNow ? entry.target : await useLibraryFile(work, statedItem, key, sourceDigest);
    if (!hasFile && imageId === undefined) continue;
    const item = hasFile ? statedItem : visibilityOnly(statedItem);
    if (entry !== undefined) work.changed.push(key);
    if (!hasValidParent)
      addLoss(tally, { reason: 'parent-loop', kind: item.kind, of: nameOf(item), place: item.place, detail: sourceItem.parent });
    const { local, cleanPost, digest } = localForm(work, item, sourceDigest);
    const target = isStored
      ? entry.target
      : (imageId ?? known?.id ?? (await findSameRecord(work, { item: local, clean: cleanPost }, takenPosts, externals)));
    if (target === undefined && entry && leaveDeleted(work, item, { ...entry, item: key })) continue;
    await resolveNamedTerms(work, local, deletedTermKeys);
    const clean = withOwnExternalId(work, { item: local, clean: cleanPost }, target, externals);
    const isHidden = item.isHidden && (isStored ? isMarkedHidden(entry.digest) : target === undefined);
    const arrival: Arrival = { item: withDateOf(local, clean), key, digest: isHidden ? markedHidden(digest) : digest, clean };
    if (target === undefined) newArrivals.push(arrival);
    else {
      ledger.add({
        item: key,
        kind: item.kind,
        target,
        digest: arrival.digest,
        run: run.number,
        ...(isStored ? { made: entry.made } : {}),
      });
      (isStored ? existing : joined).push({ ...arrival, target, isShownNow });
    }
  }
  existing.push(...(await withHiddenByOthers(work, joined)));
  await insertNew(work, permittedArrivals(work, newArrivals), takenPosts);
  await updatePosts(work, existing);
}

/** Returns new records as the importing user may create them, and reports those that the user may not. */
const permittedArrivals = (work: Work, arrivals: readonly Arrival[]): Arrival[] =>
  arrivals.flatMap((arrival) => {
    const { item, clean } = arrival;
    if (!mayCreateOfKind(work.run, item.kind)) {
      reportForbidden(work, item);
      return [];
    }
    const permitted = permittedNew(work, item, clean);
    return [{ ...arrival, clean: permitted.clean, digest: digestWithout(arrival.digest, permitted.isWithheld ? [WITHHELD] : []) }];
  });

/** An item with its entry in the ledger, if it has been imported before. */
interface Known {
  readonly item: PostItem;
  readonly key: string;
  readonly entry: LedgerEntry | undefined;
}

const allItems = (known: readonly Known[]): PostItem[] => known.map(({ item }) => item);

/**
 * Returns the records that this run has not imported yet, with their entries in the ledger. `isShownNow`: whether the
 * record was imported as private because only private events named it, and a public one names it now.
 */
async function candidatesOf(work: Work, items: readonly PostItem[], former: FormerEntries) {
  const { run, ledger, originals } = work;
  noteExternalIds(run, items);
  const formerLedgerEntries = await formerEntries(work, items);
  return items
    .map((item) => {
      const key = keyOf(ledger, item);
      const entry = ledger.entry(key) ?? formerLedgerEntries.get(item) ?? former.get(item);
      const original = shownForm(originals.get(item) ?? item);
      const digest = digestOf(original);
      const isShownNow = entry !== undefined && !item.isHidden && isMarkedHidden(entry.digest);
      const isOfDigest = entry !== undefined && !isShownNow && isOfItem(entry.digest, original, digest);
      const isSame = isOfDigest && !(isMarkedWithheld(entry.digest) && mayPublish(run.caller.viewer));
      return { item, key, digest, entry, isOfDigest, isSame, isShownNow, hasValidParent: placeUnderParent(run, item) };
    })
    .filter(({ entry, isOfDigest }) => entry?.run !== run.number || !isOfDigest);
}

/** Whether an item is no attachment, or comes with its file. A dry run assumes that new files can be fetched. */
function bringsFile({ isDryRun, fetchesFiles }: Run, { kind, url, metas }: PostItem, isNew: boolean): boolean {
  const willBeFetched = isDryRun && fetchesFiles && isNew && url !== undefined;
  return kind !== 'attachment' || willBeFetched || metas.some(([name]) => name === '_wp_attached_file');
}

/** Notes that a record is already as in the source, except for references that were missing, which may have come. */
function leaveAsIs(work: Work, item: PostItem, entry: Omit<Parameters<Ledger['add']>[0], 'run'>, digest: string): void {
  const { run, ledger, tally } = work;
  ledger.add({ ...entry, run: run.number });
  const wasMissing = missingPartsIn(entry.digest);
  const isSought = (part: string): boolean => wasMissing?.(part) === true && (part !== 'author' || mayChooseAuthor(run, item.kind));
  const isWaiting = waitForParts(work, { item, key: entry.item, target: entry.target }, isSought, { digest, unchanged: true });
  if (!isWaiting) addToCount(tally.unchanged, item.kind);
}

/**
 * Notes and reports that an event stays away because somebody has deleted it for good since it was imported. Returns
 * false if it is to be created again: by request, which is reported, or because its source is a copy of a whole site.
 */
function leaveDeleted({ run, ledger, tally }: Work, item: PostItem, entry: LedgerEntry): boolean {
  if (item.complete || item.kind !== 'event') return false;
  const report = (reason: string) => addLoss(tally, { reason, kind: 'event', of: nameOf(item), place: item.place });
  if (run.restoresDeleted) {
    if (mayCreateOfKind(run, 'event')) report('restored-here');
    return false;
  }
  // This run has counted it before it was interrupted.
  if (entry.run === run.number) return true;
  ledger.add({ ...entry, run: run.number });
  addToCount(tally.unchanged, 'event');
  report('deleted-here');
  return true;
}

/** Returns an item with this site's fields, its row data, and the digest that the ledger keeps. */
function localForm(work: Work, item: PostItem, digest: string) {
  const { item: local, isSettled } = withLocalFields(work, item);
  return { local, cleanPost: cleanItem(work, local), digest: isSettled ? digest : '' };
}

/** Returns the ledger key of an item. */
function keyOf(ledger: Ledger, { sourceId, narrowerId }: PostItem): string {
  const narrowerKey = narrowerId === undefined ? undefined : ledgerKey('post', narrowerId);
  return narrowerKey !== undefined && ledger.entry(narrowerKey) ? narrowerKey : ledgerKey('post', sourceId);
}

/** Maximum depth of posts; no site has deeper pages. Searching for loops costs one step for each level and record. */
const MAX_DEPTH = 1000;

/**
 * Notes the parent of a post in the source. Returns false if the post would be its own ancestor, or is nested too
 * deeply.
 */
function placeUnderParent({ parents }: Run, { sourceId, parent }: PostItem): boolean {
  parents.delete(sourceId);
  if (parent === undefined) return true;
  let ancestor: string | undefined = parent;
  for (let level = 0; ancestor !== undefined; level += 1) {
    if (ancestor === sourceId || level === MAX_DEPTH) return false;
    ancestor = parents.get(ancestor);
  }
  parents.set(sourceId, parent);
  return true;
}

/**
 * Maps an attachment whose file was not fetched to the library's attachment with the same URL; reports it as lost if
 * there is none. Returns the id of an image that another import has hidden and that a public event names now.
 */
async function useLibraryFile({ run, db, ledger, tally }: Work, item: PostItem, key: string, digest: string): Promise<number | undefined> {
  const imageId = item.url === undefined ? undefined : await imageIdAt(db, item.url, run.caller);
  if (imageId === undefined && !mayCreateOfKind(run, 'attachment')) {
    reportForbidden({ tally }, item);
    return undefined;
  }
  if (imageId === undefined) {
    addToCount(tally.lost, 'attachment');
    addLoss(tally, { reason: 'file-missing', kind: 'attachment', of: item.url ?? item.sourceId, place: item.place });
    return undefined;
  }
  const isHidden = !item.complete && (await hiddenImages({ run, db })).has(imageId);
  if (isHidden && !item.isHidden) return imageId;
  ledger.add({ item: key, kind: 'attachment', target: imageId, digest: isHidden ? markedHidden(digest) : digest, run: run.number });
  addToCount(tally.unchanged, 'attachment');
  return undefined;
}

/** Returns terms that an earlier import brought and that were deleted since: `kind:term_id`. */
async function deletedTerms({ db, ledger }: Work, items: readonly PostItem[]): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const kind of ['category', 'tag'] as const) {
    const references = items.flatMap(({ terms = [] }) => terms.filter((term) => term.kind === kind));
    const ids = new Set(references.flatMap(({ sourceId }) => ledger.target(kind, sourceId) ?? []).filter((id) => id > 0));
    const existingTerms = await loadTerms(db, termKind(kind).taxonomy, [...ids]);
    for (const id of ids) if (!existingTerms.has(id)) keys.add(`${kind}:${id}`);
  }
  return keys;
}

/**
 * Resolves terms that the source knows only by name, and deleted terms: to the term of that name here, or a new one.
 */
async function resolveNamedTerms(work: Work, { terms = [], language }: PostItem, deletedKeys: ReadonlySet<string>): Promise<void> {
  for (const reference of terms) {
    const term = { language, ...reference };
    const target = work.ledger.target(term.kind, term.sourceId);
    const isNamed = term.slug === undefined && term.name !== undefined;
    if (target === undefined ? isNamed : deletedKeys.has(`${term.kind}:${target}`)) await termFromReference(work, term);
  }
}

/** Returns the row data of a post, and reports what had to be removed from it. */
function cleanItem({ run, tally }: Work, item: PostItem): CleanPost {
  const clean = storedPost(item, run, run.caller);
  for (const { reason, detail } of clean.losses)
    addLoss(tally, { reason, kind: item.kind, of: nameOf(item), place: item.place, ...(detail === '' ? {} : { detail }) });
  return clean;
}

/**
 * Returns the id of an existing record that is the same as the imported one: it has the same id and GUID, or, if the
 * imported record has no id, the same external ID or UID, or the same name if the source matches by name.
 */
async function findSameRecord(
  work: Work,
  { item, clean }: Pick<Arrival, 'item' | 'clean'>,
  takenPosts: ReadonlyMap<number, Pick<Post, 'post_type' | 'guid'>>,
  externals: ExternalIds,
): Promise<number | undefined> {
  const holder = item.id === undefined ? undefined : takenPosts.get(item.id);
  if (holder && holder.post_type === typeOf(item.kind) && holder.guid !== '' && holder.guid === clean.columns.guid) return item.id;
  const holderId = item.id === undefined ? holderOf(work, item, externals) : undefined;
  if (holderId !== undefined) return holderId;
  const eventId = await findSameUid(work, item);
  if (eventId !== undefined) return eventId;
  const sameId = await findSameNamed(work, item, clean);
  return sameId !== undefined && (await hasOtherExternalId(work, sameId, item)) ? undefined : sameId;
}
