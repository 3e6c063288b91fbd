import { storedDates } from '../../kinds/events/dates.ts';
import { termKind } from '../../kinds/index.ts';
import { imageIdAt } from '../../media/images.ts';
import { highestPostId, takenPostIds } from '../../storage/rows/ids-in-use.ts';
import { addToCounts, insertLinkRows, insertMetas, insertPosts, removeLeftoverRows } from '../../storage/rows/new-rows.ts';
import { insertOccurrences } from '../../storage/rows/occurrences.ts';
import { insertPost, updatePost } from '../../storage/rows/posts.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import { guidOf, postUrl } from '../../wordpress/links.ts';
import type { StoredValue } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import { isFloating } from '../../wordpress/status.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import { localFromDate } from '../../wordpress/zones.ts';
import { type CleanPost, completeDates } from '../items/clean.ts';
import { nameOf, type PostItem, textMetas } from '../items/items.ts';
import { metaMap } from '../items/meta-map.ts';
import { addLoss, addToCount } from '../items/report.ts';
import { typeOf } from '../items/site-items.ts';
import { digestOf } from '../items/versions.ts';
import { type ExternalIds, hasOtherExternalId, holderOf, lookUpExternalIds, withOwnExternalId } from './external-ids.ts';
import { isOfItem, missingPartsIn, withMarksOf } from './incomplete.ts';
import { reportInconsistentDates } from './inconsistent-dates.ts';
import { findKnownEvents, formerEntries } from './known-events.ts';
import { type Ledger, ledgerKey } from './ledger.ts';
import { withLocalFields } from './local-fields.ts';
import { highestIdFor, importRecurrence, withDateOf } from './recurrence.ts';
import { resolvePost, waitForParts } from './resolve.ts';
import { isFetched, type Run, type Work } from './run.ts';
import { findSameNamed, readNewNames } from './same-named.ts';
import { findSameUid } from './same-uid.ts';
import { slugsFor } from './slugs.ts';
import { startOf, storedPost } from './stored-post.ts';
import { noteTrashedLinks } from './trashed-links.ts';
import { type Existing, updatePosts } from './update-posts.ts';
import { wantSlug } from './wanted-slugs.ts';
import { termFromReference } from './write-terms.ts';

/** A post that is being imported. */
interface Arrival {
  readonly item: PostItem;
  readonly key: string;
  readonly digest: string;
  readonly clean: CleanPost;
}

/**
 * Imports events, venues, organizers and attachments: inserts new ones in bulk, and updates known ones that have
 * changed.
 */
export async function writePosts(work: Work, items: readonly PostItem[]): Promise<void> {
  const { run, db, ledger, tally } = work;
  const candidates = await candidatesOf(work, items);
  const ids = candidates.flatMap(({ item, entry }) => [...(item.id === undefined ? [] : [item.id]), ...(entry ? [entry.target] : [])]);
  const takenPosts = await takenPostIds(db, ids);
  const deletedTermKeys = await deletedTerms(work, items);
  const externals = await lookUpExternalIds(
    work,
    candidates.map(({ item }) => item),
  );
  const knownEvents = await findKnownEvents(work, candidates);
  await readNewNames(
    work,
    candidates.filter(({ entry }) => entry === undefined).map(({ item }) => item),
  );

  const newArrivals: Arrival[] = [];
  const existing: Existing[] = [];
  for (const { item: sourceItem, key, digest: sourceDigest, entry, isSame, hasValidParent } of candidates) {
    const item = hasValidParent ? sourceItem : { ...sourceItem, parent: undefined };
    const isStored =
      entry !== undefined && ((run.isDryRun && run.dryLedger.has(key)) || takenPosts.get(entry.target)?.post_type === typeOf(item.kind));
    const known = knownEvents.get(sourceItem);
    if (known?.isOrigin) {
      work.originIds.add(known.id);
      leaveAsIs(work, item, { item: key, kind: item.kind, target: known.id, digest: sourceDigest }, sourceDigest);
      continue;
    }
    if (isStored && isSame && !isFetched(work, sourceItem)) {
      leaveAsIs(work, item, { ...entry, item: key, digest: withMarksOf(entry.digest, sourceDigest) }, sourceDigest);
      continue;
    }
    // A dry run assumes that the file can be fetched.
    const willBeFetched = run.isDryRun && run.fetchesFiles && entry === undefined && item.url !== undefined;
    if (item.kind === 'attachment' && !willBeFetched && !item.metas.some(([name]) => name === '_wp_attached_file')) {
      await useLibraryFile(work, item, key, sourceDigest);
      continue;
    }
    if (entry !== undefined) work.changed.push(key);
    if (!hasValidParent)
      addLoss(tally, { reason: 'parent-loop', kind: item.kind, of: nameOf(item), place: item.place, detail: sourceItem.parent });
    const { local, cleanPost, digest } = await localForm(work, item, sourceDigest, deletedTermKeys);
    const target = isStored
      ? entry.target
      : (known?.id ?? (await findSameRecord(work, { item: local, clean: cleanPost }, takenPosts, externals)));
    const clean = withOwnExternalId(work, { item: local, clean: cleanPost }, target, externals);
    const arrival: Arrival = { item: withDateOf(local, clean), key, digest, clean };
    if (target === undefined) newArrivals.push(arrival);
    else {
      ledger.add({ item: key, kind: item.kind, target, digest, run: run.number, ...(isStored ? { made: entry.made } : {}) });
      existing.push({ ...arrival, target });
    }
  }
  await insertNew(work, newArrivals, takenPosts);
  await updatePosts(work, existing);
}

/** Returns the records that this run has not imported yet, with their entries in the ledger. */
async function candidatesOf(work: Work, items: readonly PostItem[]) {
  const { run, ledger, originals } = work;
  const formerLedgerEntries = await formerEntries(work, items);
  return items
    .map((item) => {
      const original = originals.get(item) ?? item;
      const [key, digest] = [keyOf(ledger, item), digestOf(original)];
      const entry = ledger.entry(key) ?? formerLedgerEntries.get(item);
      const isSame = entry !== undefined && isOfItem(entry.digest, original, digest);
      return { item, key, digest, entry, isSame, hasValidParent: placeUnderParent(run, item) };
    })
    .filter(({ entry, isSame }) => entry?.run !== run.number || !isSame);
}

/** Notes that a record is already as in the source, except for references that were missing, which may have come. */
function leaveAsIs(work: Work, item: PostItem, entry: Omit<Parameters<Ledger['add']>[0], 'run'>, digest: string): void {
  const { run, ledger, tally } = work;
  ledger.add({ ...entry, run: run.number });
  const wasMissing = missingPartsIn(entry.digest);
  if (wasMissing) waitForParts(work, { item, key: entry.item, target: entry.target }, wasMissing, { digest, unchanged: true });
  else addToCount(tally.unchanged, item.kind);
}

/** Returns an item with this site's fields and terms, its row data, and the digest that the ledger keeps. */
async function localForm(work: Work, item: PostItem, digest: string, deletedTermKeys: ReadonlySet<string>) {
  const { item: local, isSettled } = withLocalFields(work, item);
  await resolveNamedTerms(work, local, deletedTermKeys);
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
 * there is none.
 */
async function useLibraryFile({ run, db, ledger, tally }: Work, item: PostItem, key: string, digest: string): Promise<void> {
  const imageId = item.url === undefined ? undefined : await imageIdAt(db, item.url, run.caller);
  if (imageId === undefined) {
    addToCount(tally.lost, 'attachment');
    addLoss(tally, { reason: 'file-missing', kind: 'attachment', of: item.url ?? item.sourceId, place: item.place });
    return;
  }
  ledger.add({ item: key, kind: 'attachment', target: imageId, digest, run: run.number });
  addToCount(tally.unchanged, 'attachment');
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

/** Inserts new records and reports the outcome of each. */
async function insertNew(work: Work, arrivals: readonly Arrival[], takenPosts: ReadonlyMap<number, unknown>): Promise<void> {
  if (arrivals.length === 0) return;
  // All records get their ids first, so that they can reference each other.
  const newcomers = await assignIds(work, arrivals, takenPosts);
  await noteTrashedLinks(
    work,
    arrivals.flatMap(({ item }) => (item.complete ? [] : item.links)),
  );
  const relations = await writeReferencesOf(work, newcomers);
  work.touched.any = true;
  const { db, run } = work;
  if (run.caller.settings.occurrenceTables)
    for (const { arrival } of newcomers) reportInconsistentDates(work, arrival.item, metaMap(arrival.clean.metas));
  if (run.isDryRun) return;
  const rows = newcomers.flatMap(({ row }) => row ?? []);
  await removeLeftoverRows(
    db,
    rows.map(({ ID }) => ID),
    run.caller.settings.occurrenceTables,
  );
  await insertPosts(db, rows);
  await insertMetas(db, relations.metas);
  await insertLinkRows(db, relations.links);
  await addToCounts(db, relations.counts);
  await insertDates(work, newcomers);
}

/** A new record and its id. */
interface NewRecord {
  readonly arrival: Arrival;
  readonly id: number;
  /** The row that is still to be inserted; undefined if it is inserted already, or nothing is written. */
  readonly row: NewRow | undefined;
}

type NewRow = Partial<Post> & { readonly ID: number };

/**
 * Assigns an id to each record: its own if that is free and not kept for dates of events, otherwise one from the
 * database.
 */
async function assignIds(work: Work, arrivals: readonly Arrival[], takenPosts: ReadonlyMap<number, unknown>): Promise<NewRecord[]> {
  const { run, ledger, tally, namedRecords } = work;
  const slugs = await slugsFor(work, arrivals);
  const newcomers: NewRecord[] = [];
  // Two records of a source may have the same id.
  const assignedIds = run.isDryRun ? run.dryIds : new Set<number>();
  const highest = highestIdFor(run.caller.settings);
  for (const arrival of arrivals) {
    const { item, key, digest, clean } = arrival;
    const ownId = usableId(item);
    const { slug = '', isOther = false } = slugs.get(arrival) ?? {};
    const post = newPost(work, arrival, slug);
    const isFree = ownId !== undefined && ownId <= highest && !takenPosts.has(ownId) && !assignedIds.has(ownId);
    if (isFree) assignedIds.add(ownId);
    const id = isFree ? ownId : await databaseId(work, post);
    if (ownId !== undefined && !isFree) {
      // A dry run has only numbers of its own for new records.
      const detail = run.isDryRun ? String(ownId) : `${ownId} -> ${id}`;
      addLoss(tally, { reason: 'id-taken', kind: item.kind, of: nameOf(item), place: item.place, detail });
    }
    const lateColumns = columnsWithId(work, arrival, post, id);
    if (!isFree && !run.isDryRun) await updatePost(work.db, id, lateColumns);
    newcomers.push({ arrival, id, row: isFree ? { ...post, ...lateColumns, ID: id } : undefined });
    ledger.add({ item: key, kind: item.kind, target: id, digest, run: run.number, made: run.number });
    if (isOther) wantSlug(work, arrival, { id, slug: clean.columns.post_name ?? '', current: slug, isNew: true });
    if (run.isDryRun && item.match === 'details') run.dryMetas.set(id, metaMap(clean.metas));
    namedRecords.push({ kind: item.kind, title: clean.columns.post_title ?? '', start: startOf(clean), id });
    addToCount(tally.created, item.kind);
  }
  return newcomers;
}

/** Returns the id that a record had in its source, if it is a valid post id. */
const usableId = ({ id }: PostItem): number | undefined => (id !== undefined && Number.isSafeInteger(id) && id > 0 ? id : undefined);

/** Returns an id from the database for a record that cannot keep its own, or has none; inserts the record to get it. */
async function databaseId(work: Work, post: Partial<Post>): Promise<number> {
  if (work.run.isDryRun) return work.run.nextDryId();
  return insertPost(work.db, { ...(await reserveIdAboveSource(work)), ...post });
}

/** Returns the row of a new record, without the columns that depend on its id. */
function newPost({ run: { caller } }: Work, { item, clean }: Arrival, slug: string): Partial<Post> {
  const moment = { local: localFromDate(caller.now, caller.settings.zone), utc: utcFromDate(caller.now) };
  return {
    post_status: item.kind === 'attachment' ? 'inherit' : 'publish',
    ...clean.columns,
    ...completeDates(clean.columns, caller.settings.zone, moment),
    post_author: caller.viewer.id,
    post_name: slug,
    post_type: typeOf(item.kind),
  };
}

/** Returns the columns that depend on the id: the slug of a record without a name, and the GUID. */
function columnsWithId({ run }: Work, { item }: Arrival, post: Partial<Post>, id: number): Partial<Post> {
  const { home, permalinkStructure, calendar } = run.caller.settings;
  const slug = post.post_name || (isFloating(post.post_status ?? '') ? '' : String(id));
  const place = { home, permalinkStructure, singleEventSlug: calendar.singleEventSlug };
  const address = () => (item.kind === 'attachment' ? (item.url ?? '') : postUrl(place, { ...post, ID: id, post_name: slug } as Post));
  return { ...(slug === post.post_name ? {} : { post_name: slug }), ...(post.guid ? {} : { guid: guidOf(address()) }) };
}

/** Metas and terms of new records, and the amounts by which the counts of these terms increase. */
interface Relations {
  readonly metas: { post_id: number; meta_key: string; meta_value: StoredValue }[];
  readonly links: { object_id: number; term_taxonomy_id: number }[];
  readonly counts: Map<number, number>;
}

/** Resolves the references of new records: authors and parents, which are set in their rows, links and terms. */
async function writeReferencesOf(work: Work, newcomers: readonly NewRecord[]): Promise<Relations> {
  const relations: Relations = { metas: [], links: [], counts: new Map() };
  const termIds = await termTaxonomyIds(
    work,
    newcomers.map(({ arrival }) => arrival),
  );
  for (const { arrival, id, row } of newcomers) {
    const { item, clean } = arrival;
    const resolved = await resolvePost(work, arrival, id);
    const referenceColumns = {
      ...(resolved.author === undefined ? {} : { post_author: resolved.author }),
      ...(resolved.parent === undefined ? {} : { post_parent: resolved.parent }),
    };
    if (row) Object.assign(row, referenceColumns);
    else if (!work.run.isDryRun) await updatePost(work.db, id, referenceColumns);
    for (const [meta_key, meta_value] of [...clean.metas, ...textMetas(resolved.links)])
      relations.metas.push({ post_id: id, meta_key, meta_value });
    const isCounted = (clean.columns.post_status ?? 'publish') === 'publish' && item.kind !== 'attachment';
    for (const term of new Set(resolved.terms.flatMap((name) => termIds.get(name) ?? []))) {
      relations.links.push({ object_id: id, term_taxonomy_id: term });
      if (isCounted) relations.counts.set(term, (relations.counts.get(term) ?? 0) + 1);
    }
  }
  return relations;
}

/** Writes the dates of new events, if the site has tables for them. */
async function insertDates(work: Work, newcomers: readonly NewRecord[]): Promise<void> {
  const { run, db, events } = work;
  const newEvents = newcomers.filter(({ arrival }) => arrival.item.kind === 'event');
  events.push(...newEvents.map(({ id }) => id));
  if (!run.caller.settings.occurrenceTables) return;
  const dates = new Map(newEvents.map(({ id, arrival }) => [id, storedDates({ metas: metaMap(arrival.clean.metas) })]));
  const occurrences = await insertOccurrences(db, dates, utcFromDate(run.caller.now));
  for (const { arrival, id } of newEvents) if (occurrences.has(id)) await importRecurrence(work, arrival.item, id, { isNewEvent: true });
}

/**
 * Returns an id above all ids of the source for the first record that cannot keep its own or has none, so that the ids
 * of other records stay free. The database assigns later ids above it.
 */
async function reserveIdAboveSource({ run, db }: Work): Promise<{ ID?: number }> {
  if (run.highestId === 0 || run.highestId >= highestIdFor(run.caller.settings)) return {};
  return (await highestPostId(db)) > run.highestId ? {} : { ID: run.highestId + 1 };
}

/** Returns the `term_taxonomy_id`s of the terms of these posts, by `kind:term_id`. */
async function termTaxonomyIds({ run, db, ledger }: Work, arrivals: readonly Arrival[]): Promise<Map<string, number>> {
  const rows = new Map<string, number>();
  for (const kind of ['category', 'tag'] as const) {
    const references = arrivals.flatMap(({ item }) => (item.terms ?? []).filter((term) => term.kind === kind));
    const ids = new Set(references.flatMap(({ sourceId }) => ledger.target(kind, sourceId) ?? []));
    if (run.isDryRun) continue;
    for (const term of (await loadTerms(db, termKind(kind).taxonomy, [...ids])).values())
      rows.set(`${kind}:${term.term_id}`, term.term_taxonomy_id);
  }
  return rows;
}
