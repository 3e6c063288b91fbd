import { event } from '../kinds/event.ts';
import { postKindOfType, postKinds } from '../kinds/index.ts';
import type { PostKind, TermKind } from '../kinds/kind.ts';
import type { RenderContext } from '../kinds/rendering.ts';
import type { PostQuery, Visibility } from '../storage/lists/post-query.ts';
import { mapMetaCap, type OwnedPost } from '../wordpress/capabilities.ts';
import { type Metas, metaOf, type Post } from '../wordpress/rows.ts';
import { needsPublishing, REGISTERED_STATUSES } from '../wordpress/status.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/** The data of a post that permissions depend on. `trashedFrom`: the status that a post in the trash had before. */
export interface AccessRow {
  readonly post_author: number;
  readonly post_status: string;
  readonly post_type: string;
  readonly trashedFrom?: string | undefined;
}

/**
 * Whether a caller may read a record, however it is published: single, embedded, in a list, a search or a feed. This is
 * the only rule; `listRights` expresses it in SQL for lists.
 */
export const mayRead = (viewer: Viewer, row: AccessRow): boolean => mayDo('read', viewer, row);

/** Whether a caller may edit this particular record. */
export const mayEdit = (viewer: Viewer, row: AccessRow): boolean => mayDo('edit', viewer, row);

/** Whether a caller may delete this particular record. */
export const mayDelete = (viewer: Viewer, row: AccessRow): boolean => mayDo('delete', viewer, row);

/**
 * Whether a record may be used because somebody has named it, by a title, a slug or an external ID that others can give
 * their own records, too. That excludes drafts of others, whose texts nobody has reviewed: they would be linked or
 * published unseen. `author`: the author whom the caller names with the record.
 */
export const mayUseByName = (viewer: Viewer, row: AccessRow, author = viewer.id): boolean =>
  needsPublishing(statusOutsideTrash(row)) || [viewer.id, author].includes(row.post_author);

const statusOutsideTrash = ({ post_status: status, trashedFrom = 'draft' }: AccessRow): string =>
  status === 'trash' ? trashedFrom : status;

type Action = 'read' | 'edit' | 'delete';

function mayDo(
  action: Action,
  viewer: Viewer,
  { post_author: author, post_status: status, post_type: type, trashedFrom }: AccessRow,
): boolean {
  const kind = postKindOfType(type);
  return kind !== undefined && mapMetaCap(action, viewer, { author, status, trashedFrom }, kind.capabilities);
}

/** Returns the same data of a stored row. */
export const accessRow = (row: Post, metas: Metas | undefined): AccessRow => ({
  ...row,
  trashedFrom: metaOf(metas, '_wp_trash_meta_status'),
});

/** Whether a caller edits records of this kind at all. Only then do lists hold unpublished records. */
export const mayEditKind = (viewer: Viewer, kind: PostKind): boolean => viewer.can(`edit_${kind.capabilities}`);

/**
 * Whether a caller may create, change and delete terms of this kind. The rule is the same on every route, and for new
 * names in an event (decision D4).
 */
export const mayManageTerms = ({ viewer }: { readonly viewer: Viewer }, kind: Pick<TermKind, 'manage'>): boolean =>
  kind.manage.every(viewer.can);

/** Means by which a request opens protected records: a password, or `context=edit`. */
export interface Opening {
  readonly password?: unknown;
  readonly editing: boolean;
}

/** Whether a request opens this protected record (`post_password_required`). */
export const openedBy =
  (viewer: Viewer, { password, editing }: Opening) =>
  (row: Post): boolean =>
    row.post_password === password || (editing && mayEdit(viewer, row));

/** Returns the rights of rendering: what the caller may read, and which protected records the request opens. */
export const renderingRights = (viewer: Viewer, opening: Opening): Pick<RenderContext, 'mayRead' | 'isOpen'> => ({
  mayRead: (row) => mayRead(viewer, row),
  isOpen: openedBy(viewer, opening),
});

// ------------------------------------------------------------------------------------------------- lists
/** Default statuses of a list: all that the caller may see, except the trash and WordPress's internal ones. */
const DEFAULT_STATUSES = REGISTERED_STATUSES.filter((status) => !['trash', 'auto-draft', 'inherit'].includes(status));

/** The posts that a list may hold for a caller, and those that its filters, search and order may consider. */
export type ListRights = Pick<PostQuery, 'visible' | 'visibleEvents' | 'opened' | 'attached'>;

interface Listed extends Opening {
  /** The requested statuses. Absent: all that the caller may see. */
  readonly statuses: readonly string[] | undefined;
  /** Whether the list holds only records that the caller may edit. */
  readonly toEdit?: boolean;
}

/**
 * Returns the records that a list may hold for this caller, and those that its filters, search and order may consider
 * (decisions D13, D35). Every query for a list begins with it.
 */
export function listRights(viewer: Viewer, kind: PostKind, { statuses, toEdit = false, password, editing }: Listed): ListRights {
  const editable = editing ? visibilityOf(viewer, statuses ?? DEFAULT_STATUSES, kindRule(viewer, kind, 'edit')) : undefined;
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
 * Returns the rows that a list holds for this caller: those that the caller may read and, with `toEdit` or in the
 * trash, may also edit.
 */
export function listVisibility(
  viewer: Viewer,
  kind: PostKind,
  { statuses, toEdit = false }: Pick<Partial<Listed>, 'statuses' | 'toEdit'> = {},
): Visibility {
  const [reads, edits] = [kindRule(viewer, kind, 'read'), kindRule(viewer, kind, 'edit')];
  return visibilityOf(viewer, statuses ?? (mayEditKind(viewer, kind) ? DEFAULT_STATUSES : ['publish']), (post) => {
    const isTrashed = post.status === 'trash';
    return (isTrashed || reads(post)) && (!(isTrashed || toEdit) || edits(post));
  });
}

const kindRule =
  (viewer: Viewer, { capabilities }: PostKind, action: Action) =>
  (post: OwnedPost) =>
    mapMetaCap(action, viewer, post, capabilities);

/** Id of an author who is not the caller. */
export const OTHER_AUTHOR = -1;

/**
 * Converts a rule about single posts to data, by evaluating it for each status, for posts of other authors and of the
 * caller.
 */
function visibilityOf(viewer: Viewer, statuses: readonly string[], allows: (post: OwnedPost) => boolean): Visibility {
  const allowsOthers = (status: string) => allows({ author: OTHER_AUTHOR, status });
  const allowsOwn = (status: string, trashedFrom: string) => viewer.id > 0 && allows({ author: viewer.id, status, trashedFrom });
  const [published, unpublished] = ['publish', 'draft'].map((formerStatus) =>
    statuses.filter((status) => allowsOwn(status, formerStatus)),
  ) as [string[], string[]];
  const alwaysOwn = published.filter((status) => unpublished.includes(status));
  const allStatuses = statuses.filter((status) => allowsOthers(status) && (viewer.id === 0 || alwaysOwn.includes(status)));
  const ownStatuses = statuses.filter(
    (status) => !allStatuses.includes(status) && (published.includes(status) || unpublished.includes(status)),
  );
  const ownTrash =
    !ownStatuses.includes('trash') || alwaysOwn.includes('trash') ? undefined : published.includes('trash') ? 'published' : 'unpublished';
  return {
    viewer: viewer.id,
    all: allStatuses,
    others: statuses.filter((status) => !allStatuses.includes(status) && allowsOthers(status)),
    own: ownStatuses,
    ...(ownTrash ? { ownTrash } : {}),
  };
}

const hasAny = ({ all, others, own }: Visibility) => all.length + others.length + own.length > 0;

// ------------------------------------------------------------------------------------------------- files
/**
 * Whether a caller may read a file of the library. An unattached file is public. An attached file has the status of its
 * parent, and is readable if the caller may read a file of that status, or the parent itself
 * (`WP_REST_Posts_Controller::check_read_permission`, `get_post_status`). `fileRights` expresses the same for lists.
 */
export function mayReadFile(viewer: Viewer, row: Post, parent: Post | undefined): boolean {
  if (row.post_status !== 'inherit') return mayReadOwnedFile(viewer, ownedPost(row));
  return !parent || mayReadAttached(viewer, { author: row.post_author, status: parent.post_status }) || mayRead(viewer, parent);
}

/** Whether a caller may edit a file. */
export const mayEditFile = (viewer: Viewer, row: Post): boolean => mapMetaCap('edit', viewer, ownedPost(row), FILES);

/** Whether a caller may delete a file. */
export const mayDeleteFile = (viewer: Viewer, row: Post): boolean => mapMetaCap('delete', viewer, ownedPost(row), FILES);

/** Returns the files that a list may hold for this caller; with `toEdit`, only those that the caller may edit. */
export function fileRights(viewer: Viewer, statuses: readonly string[], toEdit: boolean): ListRights {
  const visibility = visibilityOf(
    viewer,
    statuses,
    (file) => mayReadOwnedFile(viewer, file) && (!toEdit || mapMetaCap('edit', viewer, file, FILES)),
  );
  const attached = {
    toStatus: visibilityOf(viewer, REGISTERED_STATUSES, (file) => mayReadAttached(viewer, file)),
    toSeen: postKinds.map((kind) => ({
      postType: kind.postType,
      visible: visibilityOf(viewer, REGISTERED_STATUSES, kindRule(viewer, kind, 'read')),
    })),
  };
  return { visible: visibility, visibleEvents: visibility, opened: { password: undefined, editable: undefined }, attached };
}

/** Returns the blog posts or pages that a list may hold for any caller: published ones. */
export const publishedRights = (viewer: Viewer) => rightsOnAll(viewer, 'publish');

/** Returns the revisions that a list may hold: all of them, for callers who may see any. */
export const revisionRights = (viewer: Viewer) => rightsOnAll(viewer, 'inherit');

function rightsOnAll({ id }: Viewer, status: string): ListRights {
  const visibility: Visibility = { viewer: id, all: [status], others: [], own: [] };
  return { visible: visibility, visibleEvents: visibility, opened: { password: undefined, editable: undefined } };
}

/**
 * Whether a caller may edit, or delete, a post of any type. Those that are neither records nor pages count as blog
 * posts.
 */
export const mayWritePost = (action: 'edit' | 'delete', viewer: Viewer, row: Post): boolean =>
  mapMetaCap(action, viewer, ownedPost(row), postKindOfType(row.post_type)?.capabilities ?? (row.post_type === 'page' ? 'pages' : 'posts'));

/** Files have the capabilities of blog posts. */
const FILES = 'posts';
const ownedPost = (row: Post): OwnedPost => ({ author: row.post_author, status: row.post_status });
const mayReadOwnedFile = (viewer: Viewer, file: OwnedPost): boolean => file.status === 'inherit' || mayReadAttached(viewer, file);
const mayReadAttached = (viewer: Viewer, file: OwnedPost): boolean => mapMetaCap('read', viewer, file, FILES);
