import { fail, failParam, refuse, type Verdict } from '../../errors.ts';
import { fileActions } from '../../kinds/core/actions.ts';
import { coreMedia } from '../../kinds/core/media.ts';
import { MEDIA_FILTERS, MEDIA_STATUSES, type MediaFieldValues, type MediaListValues } from '../../kinds/core/media-params.ts';
import type { ContextValues, Removal } from '../../kinds/core/params.ts';
import type { ExistingValues } from '../../kinds/core/post-params.ts';
import { type CoreContext, type Methods, methodsFor, type View } from '../../kinds/core/view.ts';
import { conditionsOf } from '../../kinds/filter.ts';
import type { Selected } from '../../kinds/param.ts';
import type { Bundle } from '../../kinds/rendering.ts';
import { insertPrepared, mayUpload, type PreparedImage, prepareUpload } from '../../media/images.ts';
import { removeFiles } from '../../media/remove-files.ts';
import type { Site } from '../../site.ts';
import type { Database } from '../../storage/engine/database.ts';
import { type LookUp, lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { noteChange } from '../../storage/journal/reported-changes.ts';
import { findPostIds } from '../../storage/lists/post-list.ts';
import { loadMetas, loadMetasOf, loadPosts } from '../../storage/rows/bundle.ts';
import { fileLock, lockNames } from '../../storage/rows/locks.ts';
import { filesOf, freeFileSlug, removeAttachment, unreferencedFiles } from '../../storage/rows/media.ts';
import { findPost, lockPost, updatePost, writeMetas } from '../../storage/rows/posts.ts';
import { existingUserIds } from '../../storage/rows/users.ts';
import { storedTextField } from '../../wordpress/content/plain-text.ts';
import { oldAddresses } from '../../wordpress/old-addresses.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import { needsPublishing } from '../../wordpress/status.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import { localFromDate } from '../../wordpress/zones.ts';
import { mapYielding } from '../../yielding.ts';
import { type Caller, renderContext } from '../caller.ts';
import { columnText, trustOf } from '../clean-text.ts';
import { listQuery } from '../list-query.ts';
import { postOfAnyRecord, postsOfRecords } from '../occurrences.ts';
import { deleteLanguageOfFile } from '../record-languages.ts';
import { shownAmong } from '../shown-images.ts';
import { loadedVersion, type VersionedRecord } from '../versions.ts';
import { fileRights, mayDeleteFile, mayEditFile, mayRead, mayReadFile, mayWritePost } from '../visibility.ts';
import { type CorePage, isStoredDate, localAndUtcDates, orderOf, paging, refuseStatuses, totalsOf, viewOf } from './lists.ts';
import { sampleSlugs } from './sample-slugs.ts';

/*
 * The media library, as WordPress's own routes (`wp/v2/media`) list, show and change it.
 */

/**
 * Lists the requested files (`WP_REST_Attachments_Controller::get_items`): those that the caller may read or, with
 * `context=edit`, edit.
 *
 * @throws rest_post_invalid_page_number past the last page
 */
export async function listMedia(site: Site, caller: Caller, values: MediaListValues): Promise<CorePage> {
  const statusNames = (values.status ?? []).filter((name) => name !== '');
  const statuses = statusNames.length === 0 ? ['inherit'] : statusNames;
  const pageValues = paging(values);
  const { limit, offset } = pageValues;
  const query = await listQuery(site, caller, {
    kind: { postType: 'attachment', hasDates: false },
    rights: fileRights(caller.viewer, statuses, values.context === 'edit'),
    conditions: conditionsOf(MEDIA_FILTERS, await withParentsOfDates(site.db, caller, values), caller),
    order: orderOf(values),
    limit,
    offset,
  });
  const result = await findPostIds(site.db, query);
  const totals = totalsOf(result, pageValues);
  const records = [...(await shownMedia(site, caller, result.ids, viewOf(values))).values()].map(({ record }) => record);
  return { records, ...totals, timeliness: 'never' };
}

/** Returns the values of a list with the ids of dates replaced by those of their events. */
async function withParentsOfDates(db: Database, caller: Caller, values: MediaListValues): Promise<MediaListValues> {
  const { parent: parents = [], parent_exclude: excluded = [] } = values;
  const posts = await postsOfRecords(db, caller, [...parents, ...excluded]);
  const postOf = (id: number) => posts.get(id) ?? id;
  return posts.size === 0 ? values : { ...values, parent: parents.map(postOf), parent_exclude: excluded.map(postOf) };
}

/** Reads one file. Throws rest_post_invalid_id. */
export async function readMedia(site: Site, caller: Caller, id: number, values: ContextValues): Promise<Required<VersionedRecord>> {
  return (await shownMedia(site, caller, [id], viewOf(values))).get(id) ?? fail('rest_post_invalid_id');
}

/** Returns files by id, in the order of the ids, without those that the caller may not read. */
export const shownMedia = (
  site: Site,
  caller: Caller,
  ids: readonly number[],
  view: View,
): Promise<Map<number, Required<VersionedRecord>>> =>
  renderMedia(site, caller, { ids, view, isShown: (row, parent) => mayReadFile(caller.viewer, row, parent) });

/** Returns an image that the caller may read, or sees in a readable record; undefined if it is no such image. */
export async function shownImage(site: Site, caller: Caller, id: number): Promise<Required<VersionedRecord> | undefined> {
  const shownIds = await shownAmong(site.db, caller.viewer, [id]);
  return (await renderMedia(site, caller, { ids: [id], view: 'view', isShown: (row) => shownIds.has(row.ID) })).get(id);
}

/** Files to be rendered. `isShown`: whether the caller sees a file; `parent`: the post that it is attached to. */
interface RequestedMedia {
  readonly ids: readonly number[];
  readonly view: View;
  readonly isShown: (row: Post, parent: Post | undefined) => boolean;
}

async function renderMedia(
  site: Site,
  caller: Caller,
  { ids, view, isShown }: RequestedMedia,
): Promise<Map<number, Required<VersionedRecord>>> {
  const bundle = await loadMediaBundle(site.db, ids);
  const { viewer } = caller;
  const actions = view === 'edit' ? fileActions(viewer.can) : [];
  const slugs = await sampleSlugs(site.db, view === 'edit' ? ids.flatMap((id) => bundle.posts.get(id) ?? []) : []);
  const context: CoreContext = { ...renderContext(caller, { mayRead: (row) => mayRead(viewer, row), isOpen: () => true }), view };
  const readableIds = ids.filter((id) => {
    const row = bundle.posts.get(id);
    return row?.post_type === 'attachment' && isShown(row, bundle.posts.get(row.post_parent));
  });
  return new Map(
    await mapYielding(readableIds, (id) => {
      const methods = methodsOn(viewer, bundle.posts.get(id)!);
      const record = coreMedia(id, bundle, context, { methods, actions, sampleSlug: slugs.get(id) });
      return [id, { record, version: loadedVersion(caller, id, bundle) }] as const;
    }),
  );
}

/** Loads files with the posts that they are attached to, in three queries. */
async function loadMediaBundle(db: Database, ids: readonly number[]): Promise<Bundle> {
  const [posts, metas] = await Promise.all([loadPosts(db, ids), loadMetas(db, ids)]);
  const parents = await loadPosts(
    db,
    [...posts.values()].map((row) => row.post_parent).filter((parent) => parent > 0),
  );
  return { posts: new Map([...parents, ...posts]), metas, terms: new Map(), attached: new Map(), pages: new Map() };
}

// ------------------------------------------------------------------------------------------------- permissions
const methodsOn = (viewer: Viewer, row: Post): Methods =>
  methodsFor({ edits: mayEditFile(viewer, row), deletes: mayDeleteFile(viewer, row) });

/**
 * Whether a list may be requested. `context=edit` is for users who can edit posts; the list itself is limited to files
 * that they may edit.
 */
export function mayListMedia({ viewer }: Caller, { context, status = ['inherit'] }: MediaListValues): Verdict {
  const mayList = viewer.can('edit_posts');
  refuseStatuses(viewer, status, { defaultStatus: 'inherit', knownStatuses: MEDIA_STATUSES, mayList });
  return mayList || context !== 'edit' || 'rest_forbidden_context';
}

/** Whether the caller may read a file in this context. */
export async function mayReadOneMedia(lookUp: LookUp, { viewer }: Caller, { id, context }: Selected & ContextValues): Promise<Verdict> {
  const row = await lookUp(findPost, id);
  if (row?.post_type !== 'attachment') return 'rest_post_invalid_id';
  if (context === 'edit' && !mayEditFile(viewer, row)) return 'rest_forbidden_context';
  const parent = row.post_parent > 0 ? await lookUp(findPost, row.post_parent) : undefined;
  return mayReadFile(viewer, row, parent);
}

/**
 * Whether a file may be uploaded. The caller needs the capability to upload, and must be able to edit the post that the
 * file is attached to.
 */
export async function mayUploadMedia(
  lookUp: LookUp,
  caller: Caller,
  { id, author, post, status }: MediaFieldValues & ExistingValues,
): Promise<Verdict> {
  const { viewer } = caller;
  if (id) return 'rest_post_exists';
  if (author !== undefined && author !== viewer.id && !viewer.can('edit_others_posts')) return 'rest_cannot_edit_others';
  if (!mayUpload(viewer)) return 'rest_cannot_create';
  if (lacksPublishCapability(viewer, status)) return 'rest_cannot_publish';
  return (await mayAttach(lookUp, caller, post)) ? true : 'rest_cannot_edit';
}

/**
 * Whether the caller may change a file to these values. The caller must be able to edit the post that it is attached
 * to.
 */
export async function mayChangeMedia(
  lookUp: LookUp,
  caller: Caller,
  { id, author, post, status }: Selected & MediaFieldValues,
): Promise<Verdict> {
  const { viewer } = caller;
  const row = await lookUp(findPost, id);
  if (row?.post_type !== 'attachment') return 'rest_post_invalid_id';
  if (!mayEditFile(viewer, row) || !(await mayAttach(lookUp, caller, post))) return 'rest_cannot_edit';
  const changesAuthor = author !== undefined && author !== row.post_author && author !== viewer.id;
  if (changesAuthor && !viewer.can('edit_others_posts')) return 'rest_cannot_edit_others';
  return status !== row.post_status && lacksPublishCapability(viewer, status) ? 'rest_cannot_publish' : true;
}

/** Whether a status needs the capability to publish, and the caller lacks it. */
const lacksPublishCapability = (viewer: Viewer, status: string | undefined): boolean =>
  status !== undefined && needsPublishing(status) && !viewer.can('publish_posts');

/** Whether the caller may delete a file. */
export async function mayDeleteMedia(lookUp: LookUp, { viewer }: Caller, { id }: Selected): Promise<Verdict> {
  const row = await lookUp(findPost, id);
  if (row?.post_type !== 'attachment') return 'rest_post_invalid_id';
  return mayDeleteFile(viewer, row) ? true : 'rest_cannot_delete';
}

async function mayAttach(lookUp: LookUp, caller: Caller, post: number | undefined): Promise<boolean> {
  if (post === undefined || post === 0) return true;
  const row = await lookUp(findPost, await postOfAnyRecord(lookUp, caller, post));
  return row !== undefined && mayWritePost('edit', caller.viewer, row);
}

// ------------------------------------------------------------------------------------------------- writes
/** Returns values that attach a file to an event, if they name one of its dates. */
async function withEventOfDate(db: Database, caller: Caller, values: MediaFieldValues): Promise<MediaFieldValues> {
  return values.post === undefined ? values : { ...values, post: await postOfAnyRecord(lookUpOnce(db), caller, values.post) };
}

/**
 * Stores the files of an upload, outside any transaction because it is slow. If `uploadMedia` fails, the caller
 * discards them.
 *
 * @throws upload-refused for anything but an image of a supported type; rest_invalid_param, rest_invalid_author
 */
export async function prepareMedia(
  site: Site,
  caller: Caller,
  file: { readonly name: string; readonly bytes: Buffer; readonly raw?: true },
  givenValues: MediaFieldValues,
): Promise<PreparedImage> {
  const values = await withEventOfDate(site.db, caller, givenValues);
  await checkTargets(site.db, values);
  const month = await monthOfParent(site.db, values.post);
  return (
    (await prepareUpload(site, caller, { bytes: file.bytes, name: file.name, month })) ??
    fail(file.raw ? 'raw-upload-refused' : 'upload-refused')
  );
}

/**
 * Returns the folder of a file, `YYYY/MM`: the month of the post that it is attached to, as in WordPress. Undefined for
 * pages and undated posts.
 */
async function monthOfParent(db: Database, post = 0): Promise<string | undefined> {
  const parent = post > 0 ? await findPost(db, post) : undefined;
  if (!parent || parent.post_type === 'page' || Number(parent.post_date.slice(0, 4)) === 0) return undefined;
  return parent.post_date.slice(0, 7).replace('-', '/');
}

/** Writes the rows of an uploaded file. Without a slug, it gets one from its title. Returns its id. */
export function uploadMedia({ db }: Site, caller: Caller, image: PreparedImage, values: MediaFieldValues): Promise<number> {
  return db.transaction(async (trx) => {
    const { slug, ...otherValues } = await withEventOfDate(trx, caller, values);
    const title =
      otherValues.title === undefined ? {} : { title: columnText('title', 'post_title', otherValues.title, trustOf(caller.viewer)) };
    const attachment = { ...image.attachment, ...title, ...(slug ? { slug } : {}) };
    const id = await insertPrepared(trx, { ...image, attachment }, caller);
    await writeFields(trx, caller, (await findPost(trx, id))!, otherValues);
    noteChange(trx, caller);
    return id;
  });
}

/**
 * Changes the named fields of a file's rows; the file itself stays.
 *
 * @throws rest_post_invalid_id if there is no file with this id; rest_cannot_edit
 */
export async function changeMedia(site: Site, caller: Caller, id: number, givenValues: MediaFieldValues): Promise<void> {
  const values = await withEventOfDate(site.db, caller, givenValues);
  await checkTargets(site.db, values);
  await site.db.transaction(async (db) => {
    const row = await lockFile(db, id);
    if (!mayEditFile(caller.viewer, row)) refuse(caller.viewer, 'rest_cannot_edit');
    await storeOldAddresses(db, row, await writeFields(db, caller, row, values));
    await updatePost(db, id, {
      post_modified: localFromDate(caller.now, caller.settings.zone),
      post_modified_gmt: utcFromDate(caller.now),
    });
    noteChange(db, caller);
  });
}

/**
 * Attaches a file of the caller's own to the caller's new record. A file that is attached to a post already stays
 * there. No right to edit files is asked for: whoever may upload a file can name a post in the same request.
 */
export async function attachOwnMedia({ db }: Site, caller: Caller, id: number, post: number): Promise<void> {
  await db.transaction(async (trx) => {
    const row = await lockPost(trx, id);
    if (row?.post_type !== 'attachment' || row.post_parent !== 0 || row.post_author !== caller.viewer.id) return;
    await updatePost(trx, id, { post_parent: post });
    noteChange(trx, caller);
  });
}

/** A removed file. `afterCommit` deletes its files on disk; call it after the transaction is committed. */
export interface RemovedMedia extends VersionedRecord {
  readonly afterCommit: () => Promise<void>;
}

/**
 * Deletes the rows of a library file. The files on disk must stay if the transaction fails, so they are deleted
 * afterwards. Files that another record uses always stay.
 *
 * @throws rest_trash_not_supported without `force`; rest_post_invalid_id if another request has deleted it in the
 * meantime; rest_cannot_delete
 */
export async function removeMedia(site: Site, caller: Caller, { id, force }: Removal): Promise<RemovedMedia> {
  if (!force) fail('rest_trash_not_supported');
  const { record } = await readMedia(site, caller, id, { context: 'edit' });
  const { _links: _, ...previous } = record;
  const files = await site.db.transaction(async (db) => {
    const row = await lockFile(db, id);
    if (!mayDeleteFile(caller.viewer, row)) refuse(caller.viewer, 'rest_cannot_delete');
    const ownFiles = filesOf(await loadMetasOf(db, id));
    // If two records that share a file were deleted concurrently without this lock, each would see the other one and
    // keep the file.
    await lockNames(db, ownFiles.map(fileLock));
    await deleteLanguageOfFile(db, caller, id);
    await removeAttachment(db, id);
    noteChange(db, caller);
    return unreferencedFiles(db, ownFiles);
  });
  const afterCommit = async (): Promise<void> => {
    // The record is gone, so a file that cannot be removed is only logged for the administrator.
    const remainingFiles = await removeFiles(site.config, files);
    if (remainingFiles.length > 0) site.log.warn({ files: remainingFiles }, 'files could not be removed');
  };
  return { record: { deleted: true, previous }, afterCommit };
}

/** Reads and locks the row of a file. Permissions are checked again on this row, since it may have changed. */
async function lockFile(db: Database, id: number): Promise<Post> {
  const row = await lockPost(db, id);
  return row?.post_type === 'attachment' ? row : fail('rest_post_invalid_id');
}

/** Checks that the parent is neither a file nor a revision, and that the author exists. */
async function checkTargets(db: Database, { post = 0, author }: MediaFieldValues): Promise<void> {
  if (post > 0 && ['attachment', 'revision'].includes((await findPost(db, post))?.post_type ?? ''))
    fail('rest_invalid_param', { values: { params: 'post' } });
  if (author !== undefined && !(await existingUserIds(db, [author])).has(author)) fail('rest_invalid_author');
}

/** Writes the named fields of a file. Returns the columns that were written. */
async function writeFields(db: Database, caller: Caller, row: Post, values: MediaFieldValues): Promise<Partial<Post>> {
  const trust = trustOf(caller.viewer);
  const { title, slug, caption, description, alt_text: alt, post, author, status, comment_status, ping_status } = values;
  const { ID: id } = row;
  const columns: Partial<Post> = {
    ...datesOf(caller, values, row),
    ...(title === undefined ? {} : { post_title: columnText('title', 'post_title', title, trust) }),
    // With an empty slug, it gets one from its title.
    ...(slug === undefined ? {} : { post_name: await freeFileSlug(db, slug || (title ?? row.post_title), id) }),
    ...(caption === undefined ? {} : { post_excerpt: columnText('caption', 'post_excerpt', caption, trust) }),
    ...(description === undefined ? {} : { post_content: columnText('description', 'post_content', description, trust) }),
    ...(post === undefined ? {} : { post_parent: post }),
    ...(author === undefined ? {} : { post_author: author }),
    ...(status === undefined ? {} : { post_status: status === 'private' ? status : 'inherit' }),
    ...(comment_status === undefined ? {} : { comment_status }),
    ...(ping_status === undefined ? {} : { ping_status }),
  };
  const metas = alt === undefined ? {} : { _wp_attachment_image_alt: alt === '' ? [] : [storedText(storedTextField(alt))] };
  await updatePost(db, id, columns);
  await writeMetas(db, id, metas);
  return columns;
}

/** Writes the metas in which WordPress keeps the old addresses of a file. */
async function storeOldAddresses(db: Database, row: Post, columns: Partial<Post>): Promise<void> {
  if (columns.post_name === undefined && columns.post_date === undefined) return;
  await writeMetas(db, row.ID, oldAddresses(await loadMetasOf(db, row.ID), row, { ...row, ...columns }));
}

/**
 * Returns both columns of a date of which one is given (`rest_get_date_with_gmt`). Null resets the date; the stored one
 * stays.
 */
function datesOf({ settings: { zone }, now }: Caller, values: MediaFieldValues, stored: Post): Partial<Post> {
  if (values.date === null || values.date_gmt === null) return { post_date: localFromDate(now, zone), post_date_gmt: utcFromDate(now) };
  if (!values.date && !values.date_gmt) return {};
  const dates = localAndUtcDates(values, zone, now) ?? failParam(values.date ? 'date' : 'date_gmt', 'date-invalid');
  return isStoredDate(values, dates, stored) ? {} : { post_date: dates.local, post_date_gmt: dates.utc };
}
