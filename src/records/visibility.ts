import { event } from '../kinds/event.ts';
import { postKindOfType, postKinds } from '../kinds/index.ts';
import type { PostKind, TermKind } from '../kinds/kind.ts';
import type { PostQuery, Visibility } from '../storage/lists/post-query.ts';
import { mapMetaCap, type OwnedPost } from '../wordpress/capabilities.ts';
import { type Metas, metaOf, type Post } from '../wordpress/rows.ts';
import { REGISTERED_STATUSES } from '../wordpress/status.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/** What of a post decides who may do what with it. `trashedFrom`: the status that a post in the trash had before. */
export interface AccessRow {
  readonly post_author: number;
  readonly post_status: string;
  readonly post_type: string;
  readonly trashedFrom?: string | undefined;
}

/**
 * Whether a caller may read a record, wherever it would leave: single, embedded, in a list, a search or a feed. The one
 * rule; lists get it as SQL from `listRights`.
 */
export const mayRead = (viewer: Viewer, row: AccessRow): boolean => mayDo('read', viewer, row);

/** Whether a caller may edit, or delete, this very record. */
export const mayEdit = (viewer: Viewer, row: AccessRow): boolean => mayDo('edit', viewer, row);
export const mayDelete = (viewer: Viewer, row: AccessRow): boolean => mayDo('delete', viewer, row);

type Action = 'read' | 'edit' | 'delete';

function mayDo(
  action: Action,
  viewer: Viewer,
  { post_author: author, post_status: status, post_type: type, trashedFrom }: AccessRow,
): boolean {
  const kind = postKindOfType(type);
  return kind !== undefined && mapMetaCap(action, viewer, { author, status, trashedFrom }, kind.capabilities);
}

/** The same of a stored row. */
export const accessRow = (row: Post, metas: Metas | undefined): AccessRow => ({
  ...row,
  trashedFrom: metaOf(metas, '_wp_trash_meta_status'),
});

/** Whether a caller edits records of this kind at all: only then do lists hold more than what is published. */
export const editsKind = (viewer: Viewer, kind: PostKind): boolean => viewer.can(`edit_${kind.capabilities}`);

/**
 * Whether a caller may create, change and delete terms of this kind: the same on every route, and for new names that
 * come with an event (decision D4).
 */
export const mayManageTerms = ({ viewer }: { readonly viewer: Viewer }, kind: Pick<TermKind, 'manage'>): boolean =>
  kind.manage.every(viewer.can);

/** How a request opens protected records: by a password, or because it asks for the form for editing. */
export interface Opening {
  readonly password?: unknown;
  readonly editing: boolean;
}

/** Whether a request opens this protected record (`post_password_required`). */
export const opens =
  (viewer: Viewer, { password, editing }: Opening) =>
  (row: Post): boolean =>
    row.post_password === password || (editing && mayEdit(viewer, row));

// ------------------------------------------------------------------------------------------------- lists
/**
 * Statuses of a list for which none is asked: whatever the caller may see, but the trash and what WordPress keeps for
 * itself.
 */
const ORDINARY = REGISTERED_STATUSES.filter((status) => !['trash', 'auto-draft', 'inherit'].includes(status));

interface Listed extends Opening {
  /** The statuses that are asked for. Absent: whatever the caller may see. */
  readonly statuses: readonly string[] | undefined;
  /** Whether the list is one of records to edit: then it holds only those that the caller may. */
  readonly toEdit?: boolean;
}

/**
 * What a list may hold for this caller, and what its filters, its search and its order may go by (decisions D13,
 * D35): every query for a list begins with it.
 */
export function listRights(
  viewer: Viewer,
  kind: PostKind,
  { statuses, toEdit = false, password, editing }: Listed,
): Pick<PostQuery, 'visible' | 'visibleEvents' | 'opened'> {
  const editable = editing ? rowsThat(viewer, statuses ?? ORDINARY, byKind(viewer, kind, 'edit')) : undefined;
  return {
    visible: listVisibility(viewer, kind, { statuses, toEdit }),
    visibleEvents: listVisibility(viewer, event),
    opened: {
      password: typeof password === 'string' && password !== '' ? password : undefined,
      editable: editable && hasAny(editable) ? editable : undefined,
    },
  };
}

/**
 * The rows that a list holds for this caller: those that may be read, and with `toEdit` only those of them that may
 * be edited. In the trash, those that may be edited.
 */
export function listVisibility(
  viewer: Viewer,
  kind: PostKind,
  { statuses, toEdit = false }: Pick<Partial<Listed>, 'statuses' | 'toEdit'> = {},
): Visibility {
  const [reads, edits] = [byKind(viewer, kind, 'read'), byKind(viewer, kind, 'edit')];
  return rowsThat(viewer, statuses ?? (editsKind(viewer, kind) ? ORDINARY : ['publish']), (post) => {
    const trashed = post.status === 'trash';
    return (trashed || reads(post)) && (!(trashed || toEdit) || edits(post));
  });
}

const byKind =
  (viewer: Viewer, { capabilities }: PostKind, action: Action) =>
  (post: OwnedPost) =>
    mapMetaCap(action, viewer, post, capabilities);

/** An author who is not the caller. */
const NOBODY = -1;

/**
 * A rule about single posts as data: it is asked for each status of a post of somebody else's and of the caller's
 * own.
 */
function rowsThat(viewer: Viewer, statuses: readonly string[], allows: (post: OwnedPost) => boolean): Visibility {
  const theirs = (status: string) => allows({ author: NOBODY, status });
  const mine = (status: string, trashedFrom: string) => viewer.id > 0 && allows({ author: viewer.id, status, trashedFrom });
  const [published, unpublished] = ['publish', 'draft'].map((was) => statuses.filter((status) => mine(status, was))) as [
    string[],
    string[],
  ];
  const always = published.filter((status) => unpublished.includes(status));
  const all = statuses.filter((status) => theirs(status) && (viewer.id === 0 || always.includes(status)));
  const own = statuses.filter((status) => !all.includes(status) && (published.includes(status) || unpublished.includes(status)));
  const ownTrash =
    !own.includes('trash') || always.includes('trash') ? undefined : published.includes('trash') ? 'published' : 'unpublished';
  return {
    viewer: viewer.id,
    all,
    others: statuses.filter((status) => !all.includes(status) && theirs(status)),
    own,
    ...(ownTrash ? { ownTrash } : {}),
  };
}

const hasAny = ({ all, others, own }: Visibility) => all.length + others.length + own.length > 0;

// ------------------------------------------------------------------------------------------------- files
/**
 * Whether a caller may read a file of the library. Attached to nothing, it is read by everybody. Else its status is
 * that of what it is attached to, and it is read by whoever may read a file of that status, or what it is attached
 * to (`WP_REST_Posts_Controller::check_read_permission`, `get_post_status`). Lists get the same from `fileRights`.
 */
export function mayReadFile(viewer: Viewer, row: Post, parent: Post | undefined): boolean {
  if (row.post_status !== 'inherit') return readsFile(viewer, ownedPost(row));
  return !parent || readsAttached(viewer, { author: row.post_author, status: parent.post_status }) || mayRead(viewer, parent);
}

/** Whether a caller may edit, or delete, a file. */
export const mayEditFile = (viewer: Viewer, row: Post): boolean => mapMetaCap('edit', viewer, ownedPost(row), FILES);
export const mayDeleteFile = (viewer: Viewer, row: Post): boolean => mapMetaCap('delete', viewer, ownedPost(row), FILES);

/** What a list of files may hold for this caller; with `toEdit`, only those that the caller may edit. */
export function fileRights(
  viewer: Viewer,
  statuses: readonly string[],
  toEdit: boolean,
): Pick<PostQuery, 'visible' | 'visibleEvents' | 'opened' | 'attached'> {
  const visible = rowsThat(viewer, statuses, (file) => readsFile(viewer, file) && (!toEdit || mapMetaCap('edit', viewer, file, FILES)));
  const attached = {
    toStatus: rowsThat(viewer, REGISTERED_STATUSES, (file) => readsAttached(viewer, file)),
    toSeen: postKinds.map((kind) => ({
      postType: kind.postType,
      visible: rowsThat(viewer, REGISTERED_STATUSES, byKind(viewer, kind, 'read')),
    })),
  };
  return { visible, visibleEvents: visible, opened: { password: undefined, editable: undefined }, attached };
}

/** What a list of posts of the blog, or of pages, may hold for whoever: what is published, and of that what is open. */
export const publishedRights = (viewer: Viewer) => rightsOnAll(viewer, 'publish');

/** What a list of earlier versions of a post may hold: all of them, for whoever may see any. */
export const revisionRights = (viewer: Viewer) => rightsOnAll(viewer, 'inherit');

function rightsOnAll({ id }: Viewer, status: string): Pick<PostQuery, 'visible' | 'visibleEvents' | 'opened'> {
  const visible: Visibility = { viewer: id, all: [status], others: [], own: [] };
  return { visible, visibleEvents: visible, opened: { password: undefined, editable: undefined } };
}

/** Whether a caller may edit, or delete, what is no record of the calendar: a page or a post of the blog. */
export const mayTouchOther = (action: 'edit' | 'delete', viewer: Viewer, row: Post): boolean =>
  mapMetaCap(action, viewer, ownedPost(row), row.post_type === 'page' ? 'pages' : 'posts');

/** The rights on files are those on posts of the blog. */
const FILES = 'posts';
const ownedPost = (row: Post): OwnedPost => ({ author: row.post_author, status: row.post_status });
const readsFile = (viewer: Viewer, file: OwnedPost): boolean => file.status === 'inherit' || readsAttached(viewer, file);
const readsAttached = (viewer: Viewer, file: OwnedPost): boolean => mapMetaCap('read', viewer, file, FILES);
