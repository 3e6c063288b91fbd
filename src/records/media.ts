import { fail, failParam, type ProblemName } from '../errors.ts';
import { coreMedia } from '../kinds/core-media.ts';
import type { CoreContext, Methods, View } from '../kinds/core-view.ts';
import type { Bundle, Condition, Values } from '../kinds/kind.ts';
import { insertPrepared, mayUpload, prepareUpload } from '../media/images.ts';
import { removeFiles } from '../media/library.ts';
import type { Site } from '../site.ts';
import { loadMetas, loadPosts } from '../storage/bundle.ts';
import { noteChange } from '../storage/changes.ts';
import type { Database } from '../storage/database.ts';
import { filesOf, removeAttachment } from '../storage/media.ts';
import { findPostIds } from '../storage/post-list.ts';
import { findPost, lockPost, updatePost, writeMetas } from '../storage/posts.ts';
import { existingUserIds } from '../storage/users.ts';
import { mapMetaCap } from '../wordpress/capabilities.ts';
import { ksesTitle } from '../wordpress/kses.ts';
import { sanitizeTextField, stripControlCharacters } from '../wordpress/plain-text.ts';
import type { Post } from '../wordpress/rows.ts';
import { nowLocal, nowUtc } from '../wordpress/time.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { type Caller, renderContext } from './caller.ts';
import { type CorePage, cleanText, forbiddenStatus, orderOf, paging, postConditions, viewOf } from './core-posts.ts';
import { withFiles } from './prepared-images.ts';
import { mayEdit, mayRead } from './visibility.ts';

/*
 * The library of files, as WordPress's own routes (`wp/v2/media`) list, show and change it.
 */

type CoreRecord = Record<string, unknown>;
type Verdict = true | false | ProblemName;

/**
 * The files that a request asks for (`WP_REST_Attachments_Controller::get_items`): those that are attached to nothing, or to what the caller may read.
 *
 * @throws rest_post_invalid_page_number past the last page
 */
export async function listMedia(site: Site, caller: Caller, values: Values): Promise<CorePage> {
  const { viewer, settings } = caller;
  const statuses = (values.status as string[] | undefined) ?? ['inherit'];
  if (statuses.some((status) => status !== 'inherit') && !viewer.can('edit_posts')) forbiddenStatus(viewer);
  const seesAll = (status: string) => (status === 'trash' ? viewer.can('edit_others_posts') : viewer.can('read_private_posts'));
  const all = statuses.filter((status) => status === 'inherit' || seesAll(status));
  const own = viewer.id === 0 ? [] : statuses.filter((status) => !all.includes(status));
  const visible = { viewer: viewer.id, all, own, exceptOwnPublishedTrash: false };
  const { limit, offset, page } = paging(values);
  const { ids, total } = await findPostIds(site.db, {
    kind: { postType: 'attachment', dated: false },
    visible,
    visibleEvents: visible,
    conditions: [
      ...(viewer.can('edit_others_posts') ? [] : [{ by: 'attachedToPublic' as const, viewer: viewer.id }]),
      ...typeConditions(values),
      ...postConditions(caller, values),
    ],
    order: orderOf(values),
    limit,
    offset,
    password: undefined,
    tellsAll: true,
    occurrences: settings.occurrenceTables,
  });
  const pages = Math.ceil(total / limit);
  if (page > pages && total > 0) fail('rest_post_invalid_page_number');
  const records = [...(await shownMedia(site, caller, ids, viewOf(values))).values()];
  return { records, total, page, pages, timeliness: 'never' };
}

function typeConditions({ media_type: kinds, mime_type: types }: Values): Condition[] {
  const wanted = [...((kinds as string[] | undefined) ?? []).map((kind) => `${kind}/`), ...((types as string[] | undefined) ?? [])];
  return wanted.length === 0 ? [] : [{ by: 'mime', types: wanted }];
}

/** One file. Throws rest_post_invalid_id. */
export async function readMedia(site: Site, caller: Caller, id: number, values: Values): Promise<CoreRecord> {
  return (await shownMedia(site, caller, [id], viewOf(values))).get(id) ?? fail('rest_post_invalid_id');
}

/** Files of these ids, by id and in their order; those that the caller may not read are missing. */
export async function shownMedia(site: Site, caller: Caller, ids: readonly number[], view: View): Promise<Map<number, CoreRecord>> {
  const bundle = await loadMediaBundle(site.db, ids);
  const { viewer } = caller;
  const context: CoreContext = { ...renderContext(caller, { mayRead: (row) => mayRead(viewer, row), opens: () => true }), view };
  const readable = ids.filter((id) => {
    const row = bundle.posts.get(id);
    return row?.post_type === 'attachment' && mayReadMedia(viewer, row, bundle.posts.get(row.post_parent));
  });
  return new Map(readable.map((id) => [id, coreMedia(id, bundle, context, methodsOn(viewer, bundle.posts.get(id)!))]));
}

/** Files with what they are attached to, in three queries. */
async function loadMediaBundle(db: Database, ids: readonly number[]): Promise<Bundle> {
  const [posts, metas] = await Promise.all([loadPosts(db, ids), loadMetas(db, ids)]);
  const parents = await loadPosts(
    db,
    [...posts.values()].map((row) => row.post_parent).filter((parent) => parent > 0),
  );
  return { posts: new Map([...parents, ...posts]), metas, terms: new Map(), attached: new Map() };
}

// ------------------------------------------------------------------------------------------------- who may
/** A file is read by whoever may read what it is attached to; attached to nothing, by everybody (`WP_REST_Posts_Controller::check_read_permission`). */
function mayReadMedia(viewer: Viewer, row: Post, parent: Post | undefined): boolean {
  if (row.post_status !== 'inherit') return mapMetaCap('read', viewer, owned(row), 'posts');
  if (!parent || parent.post_status === 'publish' || (viewer.id > 0 && row.post_author === viewer.id)) return true;
  return mayRead(viewer, parent) || viewer.can('edit_others_posts');
}

const owned = (row: Post) => ({ author: row.post_author, status: row.post_status });
const methodsOn = (viewer: Viewer, row: Post): Methods => [
  'GET',
  ...(mapMetaCap('edit', viewer, owned(row), 'posts') ? ['POST', 'PUT', 'PATCH'] : []),
  ...(mapMetaCap('delete', viewer, owned(row), 'posts') ? ['DELETE'] : []),
];

export const mayListMedia = ({ viewer }: Caller, { context }: Values): Verdict =>
  context === 'edit' && !viewer.can('upload_files') ? 'rest_forbidden_context' : true;

export async function mayReadOneMedia({ db }: Site, { viewer }: Caller, { id, context }: Values): Promise<Verdict> {
  const row = await findPost(db, Number(id));
  if (row?.post_type !== 'attachment') return 'rest_post_invalid_id';
  if (context === 'edit' && !mapMetaCap('edit', viewer, owned(row), 'posts')) return 'rest_forbidden_context';
  const parent = row.post_parent > 0 ? await findPost(db, row.post_parent) : undefined;
  return mayReadMedia(viewer, row, parent);
}

/** New files come from those who may upload, and are attached to what they may edit. */
export async function mayUploadMedia({ db }: Site, { viewer }: Caller, { author, post }: Values): Promise<Verdict> {
  if (typeof author === 'number' && author !== viewer.id && !viewer.can('edit_others_posts')) return 'rest_cannot_edit_others';
  if (!mayUpload(viewer)) return 'rest_cannot_create';
  return (await mayAttach(db, viewer, post)) ? true : 'rest_cannot_edit';
}

export async function mayChangeMedia({ db }: Site, { viewer }: Caller, { id, author, post }: Values): Promise<Verdict> {
  const row = await findPost(db, Number(id));
  if (row?.post_type !== 'attachment') return 'rest_post_invalid_id';
  if (!mapMetaCap('edit', viewer, owned(row), 'posts') || !(await mayAttach(db, viewer, post))) return 'rest_cannot_edit';
  const given = typeof author === 'number' && author !== row.post_author && author !== viewer.id;
  return given && !viewer.can('edit_others_posts') ? 'rest_cannot_edit_others' : true;
}

export async function mayDeleteMedia({ db }: Site, { viewer }: Caller, { id }: Values): Promise<Verdict> {
  const row = await findPost(db, Number(id));
  if (row?.post_type !== 'attachment') return 'rest_post_invalid_id';
  return mapMetaCap('delete', viewer, owned(row), 'posts') ? true : 'rest_cannot_delete';
}

async function mayAttach(db: Database, viewer: Viewer, post: unknown): Promise<boolean> {
  if (typeof post !== 'number' || post === 0) return true;
  const row = await findPost(db, post);
  return (
    row !== undefined && (mayEdit(viewer, row) || mapMetaCap('edit', viewer, owned(row), row.post_type === 'page' ? 'pages' : 'posts'))
  );
}

// ------------------------------------------------------------------------------------------------- writes
/**
 * Puts a file that was sent into the library. Gives its id. The rows are written in one transaction; when that fails the files go again.
 *
 * @throws upload-refused for anything but an image of a kind that the library takes; rest_invalid_param, rest_invalid_author
 */
export async function uploadMedia(site: Site, caller: Caller, file: { name: string; bytes: Buffer }, values: Values): Promise<number> {
  await checkTargets(site.db, values);
  const prepared = (await prepareUpload(file.bytes, file.name, site, caller)) ?? fail('upload-refused');
  const { viewer, now, settings } = caller;
  const write = async (db: Database): Promise<number> => {
    const id = await insertPrepared(db, prepared, viewer.id, now, settings.zone);
    await writeFields(db, caller, id, values);
    await noteChange(db, now);
    return id;
  };
  return withFiles(() => site.db.transaction(write), prepared.undo);
}

/** Changes what the values name of a file's rows; the file itself stays. */
export async function changeMedia(site: Site, caller: Caller, id: number, values: Values): Promise<void> {
  await checkTargets(site.db, values);
  await site.db.transaction(async (db) => {
    const row = await lockPost(db, id);
    if (row?.post_type !== 'attachment') fail('rest_post_invalid_id');
    if (await writeFields(db, caller, id, values)) {
      const stamps = { post_modified: nowLocal(caller.now, caller.settings.zone), post_modified_gmt: nowUtc(caller.now) };
      await updatePost(db, id, stamps);
      await noteChange(db, caller.now);
    }
  });
}

/** Deletes a file of the library for good, its sizes included. Throws rest_trash_not_supported unless that is what is asked for. */
export async function removeMedia(site: Site, caller: Caller, id: number, force: boolean): Promise<CoreRecord> {
  if (!force) fail('rest_trash_not_supported');
  const previous = await readMedia(site, caller, id, { context: 'edit' });
  const files = filesOf((await loadMetas(site.db, [id])).get(id));
  await site.db.transaction(async (db) => {
    await removeAttachment(db, id);
    await noteChange(db, caller.now);
  });
  await removeFiles(site.config.uploadsDir, files);
  return { deleted: true, previous };
}

/** A file can't hang under another, or under an earlier version; its author must exist. */
async function checkTargets(db: Database, { post, author }: Values): Promise<void> {
  if (typeof post === 'number' && post > 0 && ['attachment', 'revision'].includes((await findPost(db, post))?.post_type ?? ''))
    failParam('post');
  if (typeof author === 'number' && !(await existingUserIds(db, [author])).has(author)) fail('rest_invalid_author');
}

/** Writes the named fields; gives whether there were any. */
async function writeFields(db: Database, { viewer }: Caller, id: number, values: Values): Promise<boolean> {
  const text = (name: string) => (typeof values[name] === 'string' ? (values[name] as string) : undefined);
  const { title, caption, description } = { title: text('title'), caption: text('caption'), description: text('description') };
  const columns: Partial<Post> = {
    ...(title === undefined
      ? {}
      : { post_title: viewer.can('unfiltered_html') ? stripControlCharacters(title) : ksesTitle(stripControlCharacters(title)) }),
    ...(caption === undefined ? {} : { post_excerpt: cleanText(caption, viewer) }),
    ...(description === undefined ? {} : { post_content: cleanText(description, viewer) }),
    ...(typeof values.post === 'number' ? { post_parent: values.post } : {}),
    ...(typeof values.author === 'number' ? { post_author: values.author } : {}),
  };
  const alt = text('alt_text');
  const metas = alt === undefined ? {} : { _wp_attachment_image_alt: alt === '' ? [] : [sanitizeTextField(alt)] };
  await updatePost(db, id, columns);
  await writeMetas(db, id, metas);
  return Object.keys(columns).length > 0 || alt !== undefined;
}
