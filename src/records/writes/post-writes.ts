import { hasTrash } from '../../config/config.ts';
import { fail, failParam } from '../../errors.ts';
import type { EventDate } from '../../kinds/events/occurrence.ts';
import type { PostKind, PostValues, Rows, StoredPost } from '../../kinds/kind.ts';
import type { Site } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { noteChange } from '../../storage/journal/reported-changes.ts';
import { lockNames } from '../../storage/rows/locks.ts';
import { lockPost } from '../../storage/rows/posts.ts';
import { metaOf, type Post } from '../../wordpress/rows.ts';
import { isFloating, SETTABLE_STATUSES } from '../../wordpress/status.ts';
import { ZERO_DATE } from '../../wordpress/time.ts';
import type { Caller } from '../caller.ts';
import { dateOfRecord, postOfRecord, recordOfStart, withKeptDates, withPostIds } from '../occurrences.ts';
import { renderPost, renderPosts } from '../posts.ts';
import { currentLanguage, languageOfChange } from '../record-languages.ts';
import type { VersionedRecord } from '../versions.ts';
import { valuesOfDate } from './date-scope.ts';
import { type SentLinks, withHiddenLinks } from './hidden-links.ts';
import { deletePermanently, NO_METAS_OR_TERMS } from './metas-and-terms.ts';
import { locksOfChange, locksOfNew, referencedIds } from './name-locks.ts';
import { type PostPlan, planPost } from './post-plan.ts';
import { addDate, moveDate, removeDate, requireRecurringDate, type Scope } from './single-dates.ts';
import { loadTranslationSource, planOfNew } from './translation-source.ts';
import { deletionMetas, FORMER_STATUS } from './trash-metas.ts';
import type { WriteContext } from './write-context.ts';
import {
  createReferenced,
  lockExisting,
  lockFor,
  newWrite,
  withTermsInLanguage,
  writeChange,
  writeIndependent,
  writeNew,
} from './write-post.ts';

/**
 * Columns and metas that a write sets in addition to the kind's own fields, already sanitized. `slug`: deviations from
 * the kind's rules for slugs. `alwaysCreates`, `recurrenceOf`: as in `NewPost`. `kept`:
 * metas that the write leaves as they are, although the kind's rules change them.
 */
export interface ExtraRows {
  readonly columns?: Partial<Post>;
  readonly metas?: Rows['metas'];
  readonly kept?: readonly string[];
  readonly slug?: Partial<PostPlan['slug']>;
  readonly alwaysCreates?: boolean;
  readonly recurrenceOf?: number | undefined;
  /** Whether the record has no date of its own any more: the present one is open until it is published. */
  readonly resetsDate?: boolean;
}

/**
 * A change of a record. With `scope`, all values are date fields, and apply to a single date of a recurring event.
 * `links`: the ones that lists of links hold; by default all.
 */
export interface PostChange {
  readonly values: PostValues;
  readonly extraRows?: ExtraRows;
  readonly scope?: Scope | undefined;
  readonly links?: SentLinks;
}

/**
 * Creates a record from accepted values. The record and all new records it brings along are written in one transaction
 * (decision D9). If a write of this file fails, the caller discards images that were fetched for the values
 * (`withImageCleanup`).
 */
export async function createPost(
  site: Site,
  caller: Caller,
  kind: PostKind,
  values: PostValues,
  extraRows: ExtraRows = {},
): Promise<VersionedRecord> {
  return renderPost(site, caller, kind, await insertRecord(site, caller, kind, values, extraRows), referencedIds(kind, values));
}

/** A record to be created together with others. */
export interface NewRecord {
  readonly values: PostValues;
  readonly extraRows: ExtraRows;
}

/**
 * Creates several records of a kind with a few statements. All of them must be independent (`isIndependent`). They are
 * rendered after all have been written.
 *
 * @throws the error of the first refused record
 */
export async function createPosts(site: Site, caller: Caller, kind: PostKind, records: readonly NewRecord[]): Promise<VersionedRecord[]> {
  const plannedRecords = records.map(({ values, extraRows }) => ({
    kind,
    values,
    plan: withExtraRows(planPost(caller, kind, values), extraRows),
  }));
  const ids = await writeInTransaction(site, caller, async (db) => {
    await lockNames(
      db,
      plannedRecords.flatMap((record) => locksOfNew(caller, record)),
    );
    return writeIndependent({ db, caller, kind }, plannedRecords);
  });
  const linkedIds = records.flatMap(({ values }) => referencedIds(kind, values));
  return renderPosts(site, caller, kind, ids, linkedIds);
}

/** Creates a record like `createPost`, and returns only its id. */
export const insertRecord = (
  site: Site,
  caller: Caller,
  kind: PostKind,
  givenValues: PostValues,
  extraRows: ExtraRows = {},
): Promise<number> =>
  writeInTransaction(site, caller, async (db) => {
    const values = await withPostIds(db, caller, kind, givenValues);
    const source = await loadTranslationSource(db, caller, kind, values);
    const plan = withExtraRows(planOfNew(caller, kind, values, source), extraRows);
    const { alwaysCreates, recurrenceOf } = extraRows;
    await lockNames(db, locksOfNew(caller, { kind, values, plan, alwaysCreates }));
    return writeNew(newWrite(db, caller, kind, values), { values, plan, alwaysCreates, source, recurrenceOf });
  });

/**
 * Changes the fields of a record that the values name, and nothing else (decision D1). The id of a date of an event is
 * replaced by that of the event: all its dates change.
 */
export async function changePost(site: Site, caller: Caller, kind: PostKind, id: number, values: PostValues): Promise<VersionedRecord> {
  await changeRecord(site, caller, kind, id, { values, links: 'shown' });
  return renderPost(site, caller, kind, id, referencedIds(kind, values));
}

/**
 * Changes one date of a recurring event: start and end move it. All other fields belong to the event, and may only have
 * their current values.
 *
 * @throws rest_invalid_param for another id, and for fields that would change the event; recurring-event-dates for a
 * date that cannot be moved
 */
export async function changeDate(site: Site, caller: Caller, kind: PostKind, id: number, values: PostValues): Promise<VersionedRecord> {
  await changeRecord(site, caller, kind, id, { values: await valuesOfDate(site, caller, kind, id, values), scope: 'date' });
  return renderPost(site, caller, kind, id, referencedIds(kind, values));
}

/**
 * Changes a record without rendering it or, with `scope`, one of its dates. `recordId`: that of either.
 *
 * @throws as `lockFor`, and the errors of the fields
 */
export async function changeRecord(
  site: Site,
  caller: Caller,
  kind: PostKind,
  recordId: number,
  { values: givenValues, ...change }: PostChange,
): Promise<void> {
  const { extraRows = {} } = change;
  const date = await dateOfRecord(site.db, caller, kind, recordId);
  const id = date?.post ?? recordId;
  const hasOtherRows = Object.keys({ ...extraRows.columns, ...extraRows.metas }).length > 0 || givenValues.slug !== undefined;
  const changesAnything = hasOtherRows || Object.keys(givenValues).some((name) => name in kind.fields);
  // Nothing to write, so only check that the record exists.
  if (!changesAnything) {
    await site.db.transaction((db) => lockFor('edit', { db, caller, kind }, id));
    return;
  }
  await writeInTransaction(site, caller, async (db) => {
    const before = await lockFor('edit', { db, caller, kind }, id);
    await changeLocked(
      { db, caller, kind },
      { before, date: date && (await reloadDate({ db, caller, kind }, date)) },
      { values: givenValues, ...change },
    );
  });
}

/** Changes a record that is locked. `date`: the date whose id the change was addressed to. */
export async function changeLocked(
  { db, caller, kind }: WriteContext,
  { before, date }: { readonly before: StoredPost; readonly date: EventDate | undefined },
  { values: givenValues, extraRows = {}, scope, links }: PostChange,
): Promise<void> {
  const id = before.row.ID;
  const dateMetas = scope ? await moveDate({ db, caller, kind }, before, requireRecurringDate(date), givenValues) : {};
  const postValues = await withPostIds(db, caller, kind, givenValues);
  const values = scope ? {} : await withKeptDates(db, caller, kind, { before, date }, postValues);
  const plan = withExtraRows(withExtraRows(planPost(caller, kind, values, before), extraRows), { metas: dateMetas });
  await lockNames(db, locksOfChange(caller, { kind, values, plan }, before.row));
  const write = { db, caller, kind, language: await languageOfChange(db, caller, kind, id, values) };
  const references = await withHiddenLinks(write, before, { values, links }, await createReferenced(write, values));
  await writeChange(write, before, plan, await withTermsInLanguage(write, before, plan, references));
}

/**
 * Deletes a record permanently, whether it is in the trash or not.
 *
 * @throws recurring-event-date-kept for the id of one date of a recurring event
 */
export async function deletePost(site: Site, caller: Caller, kind: PostKind, recordId: number): Promise<void> {
  const id = await requireDeletable(site, caller, kind, recordId);
  await writeInTransaction(site, caller, async (db) => {
    const write = { db, caller, kind };
    await deletePermanently(write, await lockFor('delete', write, id));
  });
}

/**
 * Moves a record to the trash, or deletes it permanently if the site has no trash. Returns it as it is afterwards, or
 * as it was before the deletion.
 *
 * @throws `isInTrash` of the kind's problems; recurring-event-date-kept for the id of one date of a recurring event
 */
export async function trashPost(site: Site, caller: Caller, kind: PostKind, recordId: number): Promise<VersionedRecord> {
  const id = await requireDeletable(site, caller, kind, recordId);
  const keepsTrash = hasTrash(site.config);
  const lastRecord = keepsTrash ? undefined : await renderPost(site, caller, kind, (await lockExisting({ db: site.db, kind }, id)).row.ID);
  await writeInTransaction(site, caller, async (db) => {
    const before = await lockFor('delete', { db, caller, kind }, id);
    if (before.row.post_status === 'trash') fail(kind.problems.isInTrash);
    if (!keepsTrash) return deletePermanently({ db, caller, kind }, before);
    const write = { db, caller, kind, language: await currentLanguage(db, caller, kind, id) };
    const plan = planPost(caller, kind, { status: 'trash' }, before);
    return writeChange(write, before, plan, { metas: deletionMetas(kind, before.row, caller.now), terms: new Map() });
  });
  return lastRecord ? { record: lastRecord.record } : renderPost(site, caller, kind, id);
}

/**
 * Restores a record from the trash, with its former slug and its former status, as far as the caller may set that
 * (`wp_untrash_post`). A scheduled record whose time has come in the meantime is published. Without a known status it
 * becomes a draft.
 *
 * @throws not-in-trash
 */
export async function restorePost(site: Site, caller: Caller, kind: PostKind, recordId: number): Promise<VersionedRecord> {
  const id = await postOfRecord(lookUpOnce(site.db), caller, kind, recordId);
  await writeInTransaction(site, caller, async (db) => {
    const before = await lockFor('delete', { db, caller, kind }, id);
    if (before.row.post_status !== 'trash') fail('not-in-trash');
    const write = { db, caller, kind, language: await currentLanguage(db, caller, kind, id) };
    const formerStatus = metaOf(before.metas, FORMER_STATUS);
    const status = SETTABLE_STATUSES.find((one) => one === formerStatus && one !== 'trash') ?? 'draft';
    const plan = planPost(caller, kind, { status }, before);
    await lockNames(db, locksOfChange(caller, { kind, values: {}, plan }, before.row));
    return writeChange(write, before, plan, NO_METAS_OR_TERMS);
  });
  return renderPost(site, caller, kind, id);
}

/**
 * Removes one date of a recurring event. Returns it as it was before.
 *
 * @throws rest_invalid_param for another id; recurring-event-date-kept for a date that cannot be removed
 */
export async function deleteDate(site: Site, caller: Caller, kind: PostKind, recordId: number): Promise<VersionedRecord> {
  const date = requireRecurringDate(await dateOfRecord(site.db, caller, kind, recordId));
  const lastRecord = await renderPost(site, caller, kind, recordId);
  await changeDates(site, caller, kind, { action: 'delete', post: date.post }, async (write, before) =>
    removeDate(write, before, await reloadDate(write, date)),
  );
  return { record: lastRecord.record };
}

/**
 * Adds a date to a recurring event; `values` contain its start and end.
 *
 * @throws event-takes-place-once if the event does not recur; recurring-event-dates if the date cannot be added
 */
export async function createDate(
  site: Site,
  caller: Caller,
  kind: PostKind,
  recordId: number,
  values: PostValues,
): Promise<VersionedRecord> {
  const post = (await dateOfRecord(site.db, caller, kind, recordId))?.post ?? recordId;
  let startUtc = '';
  await changeDates(site, caller, kind, { action: 'edit', post }, async (write, before) => {
    const addedDate = await addDate(write, before, values);
    startUtc = addedDate.startUtc;
    return addedDate.metas;
  });
  return renderPost(site, caller, kind, await recordOfStart(site.db, caller, post, startUtc));
}

/**
 * Reads a date again after its event was locked, since another request may have moved it.
 *
 * @throws the kind's error for a missing id, if the date is gone
 */
async function reloadDate({ db, caller, kind }: WriteContext, { id, post }: EventDate): Promise<EventDate> {
  const date = await dateOfRecord(db, caller, kind, id);
  const { byId } = kind.problems;
  return date?.post === post ? date : byId ? fail(byId.missing) : failParam('id', 'id-unknown');
}

/**
 * Changes the dates of an event. `change` writes them and returns the metas that belong to them. `action`: the right to
 * the event that this takes.
 */
const changeDates = (
  site: Site,
  caller: Caller,
  kind: PostKind,
  { action, post }: { readonly action: 'edit' | 'delete'; readonly post: number },
  change: (write: WriteContext, before: StoredPost) => Promise<Rows['metas']>,
): Promise<void> =>
  writeInTransaction(site, caller, async (db) => {
    const before = await lockFor(action, { db, caller, kind }, post);
    const write = { db, caller, kind, language: await languageOfChange(db, caller, kind, post, {}) };
    const metas = await change(write, before);
    await writeChange(write, before, planPost(caller, kind, {}, before), { metas, terms: new Map() });
  });

/** Returns the post of a record that is to be deleted. One date of a recurring event cannot be deleted this way. */
async function requireDeletable({ db }: Site, caller: Caller, kind: PostKind, recordId: number): Promise<number> {
  const date = await dateOfRecord(db, caller, kind, recordId);
  return date?.recurs ? fail('recurring-event-date-kept') : (date?.post ?? recordId);
}

/**
 * Runs a change as one transaction in which the post is locked, for values that depend on what the change replaces:
 * nothing is written between reading it and the change. `work` must use the site that it is given.
 */
export const withLockedPost = <Result>(
  site: Site,
  id: number,
  work: (site: Site, row: Post | undefined) => Promise<Result>,
): Promise<Result> => site.db.transaction(async (db) => work({ ...site, db }, await lockPost(db, id)));

/** Runs a write as one transaction, and notes the change with the caller. */
export function writeInTransaction<Result>({ db }: Site, caller: Caller, work: (db: Database) => Promise<Result>): Promise<Result> {
  return db.transaction(async (trx) => {
    const result = await work(trx);
    noteChange(trx, caller);
    return result;
  });
}

/** Adds extra rows to a plan. A private record never has a password, whatever is stored or sent (`wp_insert_post`). */
export const withExtraRows = (plan: PostPlan, extraRows: ExtraRows): PostPlan => {
  const { columns = {}, metas = {}, kept = [], slug = {}, resetsDate = false } = extraRows;
  const slugPlan = { ...plan.slug, ...slug };
  const hasOpenDate = resetsDate && isFloating(plan.columns.post_status ?? '');
  const plannedMetas = Object.entries(plan.metas).filter(([key]) => !kept.includes(key));
  return {
    ...plan,
    columns: {
      ...plan.columns,
      ...(hasOpenDate ? { post_date_gmt: ZERO_DATE } : {}),
      ...columns,
      ...(plan.columns.post_status === 'private' ? { post_password: '' } : {}),
    },
    metas: { ...Object.fromEntries(plannedMetas), ...metas },
    // A draft has no slug if nothing remains of the requested one.
    slug: slugPlan.slug === '' ? { ...slugPlan, unique: plan.slug.unique } : slugPlan,
  };
};
