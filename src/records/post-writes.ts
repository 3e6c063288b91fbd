import { fail, failParam } from '../errors.ts';
import { storedDates } from '../kinds/event-dates.ts';
import { DATES } from '../kinds/event-metas.ts';
import { isImage, isLinks, isTerms, valueIn } from '../kinds/fields.ts';
import type { FetchedImage } from '../kinds/grammar.ts';
import { postKind, taxonomiesOf, termKind } from '../kinds/index.ts';
import type { Before, PostKind, PostValues, Rows, TermKindName } from '../kinds/kind.ts';
import type { LinkPlan } from '../kinds/link-grammar.ts';
import { insertPrepared } from '../media/images.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { loadMetas, loadPosts } from '../storage/rows/bundle.ts';
import { isWithin, noteEdges } from '../storage/rows/calendar-edges.ts';
import { noteChange } from '../storage/rows/changes.ts';
import { lockNames, slugLock, titleLock } from '../storage/rows/locks.ts';
import { removeOccurrence, writeFirstOccurrence, writeOccurrence } from '../storage/rows/occurrences.ts';
import {
  BLANK,
  findByTitle,
  insertMetas,
  insertPost,
  lockPost,
  removePost,
  slugsLike,
  updatePost,
  writeMetas,
} from '../storage/rows/posts.ts';
import { keepRevision } from '../storage/rows/revisions.ts';
import { insertTermLinks, setTermsOf, shiftCounts, termTaxonomyIdsOf } from '../storage/rows/terms.ts';
import { postUrl } from '../wordpress/links.ts';
import type { Post } from '../wordpress/rows.ts';
import { uniqueSlug } from '../wordpress/slug.ts';
import { nowUtc, unixFromDate } from '../wordpress/time.ts';
import type { Caller } from './caller.ts';
import { keepIndexOf, keepIndexOfNew } from './list-index.ts';
import { forbidden, type PostPlan, planPost } from './post-plan.ts';
import { fieldRows, followingRows } from './post-rows.ts';
import { mayCreate, renderPost } from './posts.ts';
import { isNewRecord, isPrepared } from './prepared-images.ts';
import { resolveTermWishes } from './term-wishes.ts';
import type { Shown } from './versions.ts';
import { mayEdit, seen } from './visibility.ts';

/** Rows that a write names beside the kind's own fields, already clean. `anew`: a venue or organizer is made even where one of its name exists. */
export interface Besides {
  readonly columns?: Partial<Post>;
  readonly metas?: Rows['metas'];
  readonly anew?: boolean;
}

/**
 * Creates a record from accepted values. One transaction: all of it, with what it brings along, or nothing (decision
 * D9). If a write of this file fails, the caller discards images that were fetched for the values (`discardingImages`).
 */
export async function createPost(site: Site, caller: Caller, kind: PostKind, values: PostValues, besides: Besides = {}): Promise<Shown> {
  return renderPost(site, caller, kind, await insertRecord(site, caller, kind, values, besides), namedBy(kind, values));
}

/** The same, giving the id alone. */
export const insertRecord = (site: Site, caller: Caller, kind: PostKind, values: PostValues, besides: Besides = {}): Promise<number> =>
  written(site, caller, async (db) => {
    const plan = besidePlan(planPost(caller, kind, values), besides);
    await lockNames(db, namesOfNew(caller, kind, values, plan, besides));
    return writeNew(db, caller, kind, values, plan, besides);
  });

/** Changes what the values name of a record, and nothing else (decision D1). */
export async function changePost(site: Site, caller: Caller, kind: PostKind, id: number, values: PostValues): Promise<Shown> {
  await changeRecord(site, caller, kind, id, values);
  return renderPost(site, caller, kind, id, namedBy(kind, values));
}

/** The same without showing it. */
export async function changeRecord(
  site: Site,
  caller: Caller,
  kind: PostKind,
  id: number,
  values: PostValues,
  besides: Besides = {},
): Promise<void> {
  const rows = Object.keys({ ...besides.columns, ...besides.metas }).length > 0 || values.slug !== undefined;
  const named = rows || Object.keys(values).some((name) => name in kind.fields);
  if (!named) {
    await site.db.transaction((db) => existing(db, kind, id));
    return;
  }
  await written(site, caller, async (db) => {
    const before = await existing(db, kind, id);
    const plan = besidePlan(planPost(caller, kind, values, before), besides);
    const names = brought(caller, kind, values).flatMap((one) =>
      namesOfNew(caller, one.kind, one.values, planPost(caller, one.kind, one.values)),
    );
    await lockNames(db, [...names, ...(isNewSlug(plan, before.row) ? [slugLock(kind.postType, plan.slug.slug)] : [])]);
    await writeChange(db, caller, kind, before, plan, await resolveParts(db, caller, kind, values));
  });
}

/** Deletes a record for good, whether it is in the trash or not. */
export async function deletePost(site: Site, caller: Caller, kind: PostKind, id: number): Promise<void> {
  await written(site, caller, async (db) => deleteForGood(db, caller, kind, (await existing(db, kind, id)).row));
}

/**
 * Puts a record into the trash, or deletes it for good where the site has no trash. Gives it as it is then, or was.
 *
 * @throws `{kind}-is-in-trash`
 */
export async function trashPost(site: Site, caller: Caller, kind: PostKind, id: number): Promise<Shown> {
  const keeps = site.config.emptyTrashDays > 0;
  const last = keeps ? undefined : await renderPost(site, caller, kind, (await existing(site.db, kind, id)).row.ID);
  await written(site, caller, async (db) => {
    const before = await existing(db, kind, id);
    if (before.row.post_status === 'trash') fail(`${kind.name}-is-in-trash`);
    if (!keeps) return deleteForGood(db, caller, kind, before.row);
    const plan = planPost(caller, kind, { status: 'trash' }, before);
    return writeChange(db, caller, kind, before, plan, { metas: trashMetas(kind, before.row, caller.now), terms: new Map() });
  });
  return last ? { record: last.record } : renderPost(site, caller, kind, id);
}

/**
 * Runs a write as one transaction. The change counter is updated last, because all writers update that row: a writer
 * that held it while waiting for a name could deadlock with the holder of the name.
 */
function written<Result>({ db }: Site, { now }: Caller, work: (db: Database) => Promise<Result>): Promise<Result> {
  return db.transaction(async (trx) => {
    const result = await work(trx);
    await noteChange(trx, now);
    return result;
  });
}

/** The record that is to be changed, kept from other writers. */
async function existing(db: Database, kind: PostKind, id: number): Promise<Before> {
  const row = await lockPost(db, id);
  if (row?.post_type === kind.postType) return { row, metas: (await loadMetas(db, [id])).get(id) ?? new Map() };
  if (kind.name !== 'event') return failParam('id');
  return fail(row ? 'rest-invalid-event-id' : 'rest-event-not-found');
}

// ------------------------------------------------------------------------------------------------- what has to be looked up or made first
/** What a write refers to, as rows: links and the image as metas, terms by id. Only what the values name. */
interface Parts {
  readonly metas: Rows['metas'];
  readonly terms: ReadonlyMap<TermKindName, readonly number[]>;
}

/** Makes what the record brings along: new terms, an image that was fetched, new venues and organizers. */
async function resolveParts(db: Database, caller: Caller, kind: PostKind, values: PostValues): Promise<Parts> {
  const metas: Record<string, readonly string[]> = {};
  const terms = new Map<TermKindName, readonly number[]>();
  for (const [name, field] of Object.entries(kind.fields)) {
    if (!(name in values)) continue;
    if (isTerms(field)) {
      const { kind: taxonomy } = field.place;
      terms.set(taxonomy, await resolveTermWishes(db, caller, taxonomy, valueIn(values, name, field) ?? []));
    } else if (isImage(field)) metas._thumbnail_id = await imageRows(db, caller, valueIn(values, name, field));
    else if (isLinks(field)) metas[field.place.key] = await linkRows(db, caller, valueIn(values, name, field) ?? []);
  }
  return { metas, terms };
}

async function imageRows(
  db: Database,
  { viewer, now, settings }: Caller,
  image: number | FetchedImage | null | undefined,
): Promise<string[]> {
  const id = isPrepared(image) ? await insertPrepared(db, image, viewer.id, now, settings.zone) : image;
  return id ? [String(id)] : [];
}

async function linkRows(db: Database, caller: Caller, plans: readonly LinkPlan[]): Promise<string[]> {
  const ids: number[] = [];
  for (const plan of plans) {
    if (!isNewRecord(plan)) ids.push(plan.id);
    else if (mayCreate(caller, plan.kind))
      ids.push(await writeNew(db, caller, plan.kind, plan.values, planPost(caller, plan.kind, plan.values)));
    else forbidden(caller);
  }
  return [...new Set(ids)].map(String);
}

// ------------------------------------------------------------------------------------------------- writing
/**
 * The names (slugs, titles) that a new record and the records it brings along need. They are locked together, before
 * anything else: locking one after the other would deadlock with a request that does so in another order.
 */
function namesOfNew(
  caller: Caller,
  kind: PostKind,
  values: PostValues,
  { columns, slug }: PostPlan,
  { anew = false }: Besides = {},
): string[] {
  return [
    ...(kind.name === 'event' || anew ? [] : [titleLock(kind.postType, columns.post_title ?? '')]),
    ...(slug.unique && slug.slug !== '' ? [slugLock(kind.postType, slug.slug)] : []),
    ...brought(caller, kind, values).flatMap((one) => namesOfNew(caller, one.kind, one.values, planPost(caller, one.kind, one.values))),
  ];
}

/** The new venues and organizers in the values that the caller may create. */
const brought = (caller: Caller, kind: PostKind, values: PostValues) =>
  linksIn(kind, values)
    .filter(isNewRecord)
    .filter((one) => mayCreate(caller, one.kind));

/** The venues and organizers that the values name or bring along. */
const linksIn = (kind: PostKind, values: PostValues): LinkPlan[] =>
  Object.entries(kind.fields).flatMap(([name, field]) => (isLinks(field) ? (valueIn(values, name, field) ?? []) : []));

/** Writes a new record whose names are locked. */
async function writeNew(
  db: Database,
  caller: Caller,
  kind: PostKind,
  values: PostValues,
  plan: PostPlan,
  besides: Besides = {},
): Promise<number> {
  const parts = await resolveParts(db, caller, kind, values);
  if (kind.name !== 'event' && !besides.anew) {
    const known = await knownByTitle(db, caller, kind, plan.columns);
    if (known) {
      const { metas } = fieldRows(kind, values, caller.viewer.can('unfiltered_html'));
      await writeRest(
        db,
        caller,
        kind,
        known.row,
        known.row.post_status,
        { ...metas, ...followingRows(kind, values, known, caller).metas },
        parts,
      );
      return known.row.ID;
    }
  }
  const { slug, unique } = plan.slug;
  const free = unique && slug !== '' ? uniqueSlug(slug, await slugsLike(db, kind.postType, slug, 0)) : slug;
  const rowOf = (ID: number) => {
    // `Partial` lets a column be undefined; a plan names no column without a value.
    const row = { ...BLANK, ...plan.columns, ID, post_name: free || (unique ? String(ID) : '') } as Post;
    return { ...row, guid: postUrl(guidPlace(caller), row) };
  };
  const { ID: _, ...columns } = rowOf(0);
  const id = await insertPost(db, columns);
  const row = rowOf(id);
  // The slug or the address may be made of the id.
  if (row.guid !== columns.guid) await updatePost(db, id, { guid: row.guid, post_name: row.post_name });
  // WordPress sets the place of a sticky event by a second save, which keeps the texts.
  if (row.menu_order) await keepRevision(db, row, caller.viewer.id, caller.settings.home);
  await writeRestOfNew(db, caller, kind, row, { ...plan.metas, ...parts.metas }, parts.terms);
  return id;
}

/** Everything besides the row of a new record. Nothing stands there yet, so that nothing has to be looked at first. */
async function writeRestOfNew(
  db: Database,
  caller: Caller,
  kind: PostKind,
  row: Post,
  metas: Rows['metas'],
  terms: Parts['terms'],
): Promise<void> {
  await insertMetas(db, row.ID, metas);
  const links = await insertTermLinks(db, row.ID, new Map([...terms].map(([name, ids]) => [termKind(name).taxonomy, ids])));
  if (row.post_status === 'publish')
    await shiftCounts(
      db,
      [],
      links.map((link) => link.term_taxonomy_id),
    );
  if (kind.dated) {
    const occurrence = caller.settings.occurrenceTables
      ? await writeFirstOccurrence(db, row.ID, storedDates({ metas: new Map(Object.entries(metas)) }), nowUtc(caller.now))
      : undefined;
    if (occurrence) {
      const event = { start: occurrence.start_date_utc, end: occurrence.end_date_utc, status: row.post_status };
      if (!isWithin(caller.settings.calendar.edges, event)) await noteEdges(db, row.ID, event);
    }
    await keepIndexOfNew(db, caller, {
      post: row,
      occurrences: occurrence ? [occurrence] : [],
      metas: Object.entries(metas).flatMap(([meta_key, values]) => values.map((meta_value) => ({ meta_key, meta_value }))),
      terms: links,
    });
  }
}

async function writeChange(db: Database, caller: Caller, kind: PostKind, before: Before, plan: PostPlan, parts: Parts): Promise<void> {
  const { row } = before;
  const { slug, unique } = plan.slug;
  const free = isNewSlug(plan, row) ? await freeSlug(db, kind, slug, row.ID) : slug;
  const after = { ...row, ...plan.columns, post_name: free || (unique ? String(row.ID) : '') };
  await updatePost(db, row.ID, { ...plan.columns, post_name: after.post_name });
  await keepRevision(db, after, caller.viewer.id, caller.settings.home);
  await writeRest(db, caller, kind, after, row.post_status, { ...plan.metas, ...slugMetas(before, after) }, parts);
  if (after.post_status === 'publish') await publishLinked(db, caller, kind, before, parts);
}

/**
 * Publishes the drafts of venues and organizers that a published record links to, where the caller may: they may have come with it when it was a draft
 * itself (the calendar's `publishAssociatedTypes`).
 */
async function publishLinked(db: Database, caller: Caller, kind: PostKind, { metas }: Before, parts: Parts): Promise<void> {
  const { viewer } = caller;
  const stored = Object.keys(kind.links).flatMap((key) => parts.metas[key] ?? metas.get(key) ?? []);
  const rows = await loadPosts(db, stored.map(Number).filter(Number.isSafeInteger));
  for (const row of rows.values()) {
    const linked = Object.values(kind.links)
      .map(postKind)
      .find(({ postType }) => postType === row.post_type);
    if (!linked || !['draft', 'pending'].includes(row.post_status)) continue;
    if (!viewer.can(`publish_${linked.capabilities}`) || !mayEdit(viewer, row)) continue;
    const before = await existing(db, linked, row.ID);
    await writeChange(db, caller, linked, before, planPost(caller, linked, { status: 'publish' }, before), { metas: {}, terms: new Map() });
  }
}

/** Everything besides the row itself: metas, terms and their counts, the calendar's rows, the index of lists. */
async function writeRest(
  db: Database,
  caller: Caller,
  kind: PostKind,
  row: Post,
  statusBefore: string,
  metas: Rows['metas'],
  parts: Parts,
): Promise<void> {
  await writeMetas(db, row.ID, { ...metas, ...parts.metas });
  if (parts.terms.size > 0 || (row.post_status === 'publish') !== (statusBefore === 'publish')) {
    const before = await countedTerms(db, kind, row.ID, statusBefore);
    for (const [name, ids] of parts.terms) await setTermsOf(db, row.ID, termKind(name).taxonomy, ids);
    await shiftCounts(db, before, await countedTerms(db, kind, row.ID, row.post_status));
  }
  if (kind.dated) await writeCalendarRows(db, caller, row.ID, metas);
}

async function writeCalendarRows(db: Database, caller: Caller, id: number, changed: Rows['metas']): Promise<void> {
  if (caller.settings.occurrenceTables) {
    if (Object.keys(changed).some((key) => DATE_METAS.has(key))) {
      const metas = (await loadMetas(db, [id])).get(id) ?? new Map();
      await writeOccurrence(db, id, storedDates({ metas }), nowUtc(caller.now));
    }
    await noteEdges(db, id);
  }
  await keepIndexOf(db, caller, [id]);
}

/** Metas whose change makes the calendar write its rows anew. */
const DATE_METAS: ReadonlySet<string> = new Set(Object.values(DATES).filter((key) => key !== DATES.abbreviation));

async function deleteForGood(db: Database, caller: Caller, kind: PostKind, row: Post): Promise<void> {
  const counted = await countedTerms(db, kind, row.ID, row.post_status);
  await removePost(db, row.ID);
  if (kind.dated && caller.settings.occurrenceTables) await removeOccurrence(db, row.ID);
  await shiftCounts(db, counted, []);
  if (kind.dated) await keepIndexOf(db, caller, [row.ID]);
}

// ------------------------------------------------------------------------------------------------- pieces
const besidePlan = (plan: PostPlan, { columns = {}, metas = {} }: Besides): PostPlan => ({
  ...plan,
  columns: { ...plan.columns, ...columns },
  metas: { ...plan.metas, ...metas },
});

/** Ids of records and images that a write names, as far as they exist already. */
const namedBy = (kind: PostKind, values: PostValues): number[] =>
  Object.entries(kind.fields).flatMap(([name, field]) => {
    if (isLinks(field)) return (valueIn(values, name, field) ?? []).flatMap((plan) => (isNewRecord(plan) ? [] : [plan.id]));
    const image = isImage(field) ? valueIn(values, name, field) : undefined;
    return typeof image === 'number' && image > 0 ? [image] : [];
  });

/** The terms whose counts a record of this status is part of: published ones are. */
const countedTerms = async (db: Database, kind: PostKind, id: number, status: string): Promise<number[]> =>
  status === 'publish' ? termTaxonomyIdsOf(db, [id], taxonomiesOf(kind)) : [];

const guidPlace = ({ settings }: Caller) => ({
  home: settings.home,
  permalinkStructure: settings.permalinkStructure,
  singleEventSlug: settings.calendar.singleEventSlug,
});

/** Whether a change gives a record a slug that nobody else may have. */
const isNewSlug = ({ slug: { slug, unique } }: PostPlan, row: Post): boolean => unique && slug !== '' && slug !== row.post_name;

/** A slug that no other post of the type has. Requests at the same time wait for each other. */
async function freeSlug(db: Database, kind: PostKind, slug: string, id: number): Promise<string> {
  await lockNames(db, [slugLock(kind.postType, slug)]);
  return uniqueSlug(slug, await slugsLike(db, kind.postType, slug, id));
}

/**
 * A venue or organizer of this name that the caller may edit: it is used instead of creating a second one (decision
 * D8). The name is locked by then, so concurrent requests find each other's records.
 */
async function knownByTitle(
  db: Database,
  { viewer }: Caller,
  kind: PostKind,
  { post_title: title = '', post_content: content }: Partial<Post>,
): Promise<Before | undefined> {
  for (const id of await findByTitle(db, kind.postType, title, content || undefined)) {
    const row = await lockPost(db, id);
    const metas = (await loadMetas(db, [id])).get(id) ?? new Map();
    if (row && mayEdit(viewer, seen(row, metas))) return { row, metas };
  }
  return undefined;
}

/** What WordPress and the calendar note of a post that is deleted into the trash (`wp_trash_post`); one whose status merely becomes `trash` gets none of it. */
const trashMetas = (kind: PostKind, row: Post, now: Date): Rows['metas'] => ({
  _wp_trash_meta_status: [row.post_status],
  _wp_trash_meta_time: [String(unixFromDate(now))],
  ...(kind.name === 'event' ? { _tribe_ignored_event_previous_status: [row.post_status] } : {}),
});

/** WordPress's bookkeeping about slugs: the one to come back to from the trash, and those that old links still use. */
function slugMetas({ row, metas }: Before, { post_status: status, post_name: slug }: Post): Rows['metas'] {
  const changed: Record<string, readonly string[]> = {};
  if (status === 'trash' && row.post_status !== 'trash' && row.post_name !== '') changed._wp_desired_post_slug = [row.post_name];
  if (status !== 'trash' && row.post_status === 'trash') changed._wp_desired_post_slug = [];
  if (status === 'publish' && row.post_status === 'publish' && slug !== row.post_name && row.post_name !== '') {
    changed._wp_old_slug = [...(metas.get('_wp_old_slug') ?? []).filter((old) => old !== slug && old !== row.post_name), row.post_name];
  }
  return changed;
}
