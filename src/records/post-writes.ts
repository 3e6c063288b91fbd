import { fail, failParam, refuse } from '../errors.ts';
import type { Before, PostKind, PostValues, Rows } from '../kinds/kind.ts';
import type { EventDate } from '../kinds/occurrence.ts';
import { EXTERNAL_ID } from '../kinds/post-fields.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { noteChange } from '../storage/journal/touched.ts';
import { lockNames, slugLock } from '../storage/rows/locks.ts';
import { findByMeta, findPostByPath } from '../storage/rows/posts.ts';
import type { Post } from '../wordpress/rows.ts';
import { unixFromDate } from '../wordpress/time.ts';
import type { Caller } from './caller.ts';
import { dateOfRecord, withKeptDates } from './occurrences.ts';
import { deleteForGood } from './post-details.ts';
import { namedBy, namesOfChange, namesOfNew } from './post-names.ts';
import { type PostPlan, planPost } from './post-plan.ts';
import { renderPost } from './posts.ts';
import type { Shown } from './versions.ts';
import { mayEdit, seen } from './visibility.ts';
import type { Write } from './write.ts';
import { lockExisting, resolveDetails, writeChange, writeNew } from './write-post.ts';

/** Rows that a write names beside the kind's own fields, already clean. `anew`: as in `NewPost`. */
export interface Besides {
  readonly columns?: Partial<Post>;
  readonly metas?: Rows['metas'];
  readonly anew?: boolean;
}

/** What is to be changed of a record. */
export interface PostChange {
  readonly values: PostValues;
  readonly besides?: Besides;
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
    const { anew } = besides;
    await lockNames(db, namesOfNew(caller, { kind, values, plan, anew }));
    return writeNew({ db, caller, kind }, { values, plan, anew });
  });

/**
 * Changes what the values name of a record, and nothing else (decision D1). The id of one date of an event names the
 * event: all its dates change.
 */
export async function changePost(site: Site, caller: Caller, kind: PostKind, id: number, values: PostValues): Promise<Shown> {
  await changeRecord(site, caller, kind, id, { values });
  return renderPost(site, caller, kind, id, namedBy(kind, values));
}

/** The same without showing it. */
export async function changeRecord(
  site: Site,
  caller: Caller,
  kind: PostKind,
  record: number,
  { values: asked, besides = {} }: PostChange,
): Promise<void> {
  const date = await dateOfRecord(site.db, caller, kind, record);
  const id = date?.post ?? record;
  const rows = Object.keys({ ...besides.columns, ...besides.metas }).length > 0 || asked.slug !== undefined;
  const named = rows || Object.keys(asked).some((name) => name in kind.fields);
  if (!named) {
    await site.db.transaction((db) => lockExisting({ db, kind }, id));
    return;
  }
  await written(site, caller, async (db) => {
    const write = { db, caller, kind };
    await changeLocked(write, { before: await lockExisting(write, id), date }, { values: asked, besides });
  });
}

/** Changes a record that is locked. `date`: the one of its dates that the change names. */
async function changeLocked(
  write: Write,
  named: { readonly before: Before; readonly date: EventDate | undefined },
  { values: asked, besides = {} }: PostChange,
): Promise<void> {
  const { db, caller, kind } = write;
  const { before } = named;
  const values = await withKeptDates(db, caller, kind, named, asked);
  const plan = besidePlan(planPost(caller, kind, values, before), besides);
  await lockNames(db, namesOfChange(caller, { kind, values, plan }, before.row));
  await writeChange(write, before, plan, await resolveDetails(write, values));
}

/** By what an existing record is found that a request means to create or to change. */
export type UpsertBy = 'external_id' | 'slug';

/**
 * Changes the record that the values name by `by`, or creates it. One in the trash comes back, unless the values say
 * what status it gets. Requests at the same time wait for each other, so that only one of them creates it.
 *
 * @throws rest_invalid_param where the values don't name it; rest_forbidden for a record that the caller may not change
 */
export async function upsertPost(
  site: Site,
  caller: Caller,
  kind: PostKind,
  { by, values, besides = {} }: PostChange & { readonly by: UpsertBy },
): Promise<Shown & { readonly isNew: boolean }> {
  const name = values[by as keyof PostValues];
  if (typeof name !== 'string' || name === '') failParam('upsert', 'upsert-without-name');
  const { id, isNew } = await written(site, caller, async (db) => {
    const write = { db, caller, kind };
    const plan = besidePlan(planPost(caller, kind, values), besides);
    const own = by === 'slug' ? [slugLock(kind.postType, plan.slug.slug)] : [];
    await lockNames(db, [...own, ...namesOfNew(caller, { kind, values, plan, anew: true })]);
    const existing = await namedRecord(db, kind, by, plan);
    if (existing === undefined) return { id: await writeNew(write, { values, plan, anew: true }), isNew: true };
    const before = await lockExisting(write, existing);
    if (!mayEdit(caller.viewer, seen(before.row, before.metas))) refuse(caller.viewer);
    const status = before.row.post_status === 'trash' ? { status: 'publish' as const } : {};
    await changeLocked(write, { before, date: undefined }, { values: { ...status, ...values }, besides: {} });
    return { id: existing, isNew: false };
  });
  return { ...(await renderPost(site, caller, kind, id, namedBy(kind, values))), isNew };
}

async function namedRecord(db: Database, { postType }: PostKind, by: UpsertBy, { metas, slug }: PostPlan): Promise<number | undefined> {
  if (by === 'slug') return findPostByPath(db, postType, [slug.slug]);
  const [externalId = ''] = metas[EXTERNAL_ID] ?? [];
  const [id] = externalId === '' ? [] : await findByMeta(db, postType, EXTERNAL_ID, externalId);
  return id;
}

/**
 * Deletes a record for good, whether it is in the trash or not.
 *
 * @throws recurring-event-date-kept for the id of one date of an event that recurs
 */
export async function deletePost(site: Site, caller: Caller, kind: PostKind, record: number): Promise<void> {
  const id = await deletable(site, caller, kind, record);
  await written(site, caller, async (db) => {
    const write = { db, caller, kind };
    await deleteForGood(write, (await lockExisting(write, id)).row);
  });
}

/**
 * Puts a record into the trash, or deletes it for good where the site has no trash. Gives it as it is then, or was.
 *
 * @throws `isInTrash` of the kind's problems; recurring-event-date-kept for the id of one date of an event that recurs
 */
export async function trashPost(site: Site, caller: Caller, kind: PostKind, record: number): Promise<Shown> {
  const id = await deletable(site, caller, kind, record);
  const keeps = site.config.emptyTrashDays > 0;
  const last = keeps ? undefined : await renderPost(site, caller, kind, (await lockExisting({ db: site.db, kind }, id)).row.ID);
  await written(site, caller, async (db) => {
    const write = { db, caller, kind };
    const before = await lockExisting(write, id);
    if (before.row.post_status === 'trash') fail(kind.problems.isInTrash);
    if (!keeps) return deleteForGood(write, before.row);
    const plan = planPost(caller, kind, { status: 'trash' }, before);
    return writeChange(write, before, plan, { metas: trashMetas(kind, before.row, caller.now), terms: new Map() });
  });
  return last ? { record: last.record } : renderPost(site, caller, kind, id);
}

/** The id of the post of a record that is to be deleted: one date of an event that recurs cannot be deleted alone. */
async function deletable({ db }: Site, caller: Caller, kind: PostKind, record: number): Promise<number> {
  const date = await dateOfRecord(db, caller, kind, record);
  return date?.recurs ? fail('recurring-event-date-kept') : (date?.post ?? record);
}

/**
 * Runs a write as one transaction, and notes who wrote.
 */
function written<Result>({ db }: Site, caller: Caller, work: (db: Database) => Promise<Result>): Promise<Result> {
  return db.transaction(async (trx) => {
    const result = await work(trx);
    noteChange(trx, caller);
    return result;
  });
}

const besidePlan = (plan: PostPlan, { columns = {}, metas = {} }: Besides): PostPlan => ({
  ...plan,
  columns: { ...plan.columns, ...columns },
  metas: { ...plan.metas, ...metas },
});

/**
 * What WordPress and the calendar note of a post that is deleted into the trash (`wp_trash_post`); one whose status
 * merely becomes `trash` gets none of it.
 */
const trashMetas = ({ trashedStatusMeta }: PostKind, row: Post, now: Date): Rows['metas'] => ({
  _wp_trash_meta_status: [row.post_status],
  _wp_trash_meta_time: [String(unixFromDate(now))],
  ...(trashedStatusMeta === undefined ? {} : { [trashedStatusMeta]: [row.post_status] }),
});
