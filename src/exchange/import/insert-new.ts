import { storedDates } from '../../kinds/events/dates.ts';
import { termKind } from '../../kinds/index.ts';
import { highestPostId, isOwnId } from '../../storage/rows/ids-in-use.ts';
import { forgetFormer } from '../../storage/rows/imports.ts';
import { addToCounts, insertLinkRows, insertMetaRows, insertPosts, removeLeftoverRows } from '../../storage/rows/new-rows.ts';
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
import { reportInconsistentDates } from './inconsistent-dates.ts';
import { highestIdFor, importRecurrence } from './recurrence.ts';
import { resolvePost } from './resolve.ts';
import type { Work } from './run.ts';
import { slugsFor } from './slugs.ts';
import { startOf } from './stored-post.ts';
import { noteTrashedLinks } from './trashed-links.ts';
import { wantSlug } from './wanted-slugs.ts';

/** A post that is being imported. */
export interface Arrival {
  readonly item: PostItem;
  readonly key: string;
  readonly digest: string;
  readonly clean: CleanPost;
}

/** Inserts new records and reports the outcome of each. */
export async function insertNew(work: Work, arrivals: readonly Arrival[], takenPosts: ReadonlyMap<number, unknown>): Promise<void> {
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
  const ownIds = rows.map(({ ID }) => ID);
  await removeLeftoverRows(db, ownIds, run.caller.settings.occurrenceTables);
  await forgetFormer(db, 'posts', ownIds);
  await insertPosts(db, rows);
  await insertMetaRows(db, relations.metas);
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
    const ownId = item.id === 0 ? undefined : item.id;
    const { slug = '', isOther = false } = slugs.get(arrival) ?? {};
    const post = newPost(work, arrival, slug);
    const isFree = isOwnId(ownId) && ownId <= highest && !takenPosts.has(ownId) && !assignedIds.has(ownId);
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
    const resolved = await resolvePost(work, arrival, { ID: id, post_author: work.run.caller.viewer.id });
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
