import { postKindOfType } from '../kinds/index.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Visibility } from '../storage/post-query.ts';
import { mapMetaCap } from '../wordpress/capabilities.ts';
import { type Metas, metaOf, type Post } from '../wordpress/rows.ts';
import { REGISTERED_STATUSES } from '../wordpress/status.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/** What the rules look at. `trashedFrom`: the status a post in the trash had before. */
export interface Seen {
  readonly post_author: number;
  readonly post_status: string;
  readonly post_type: string;
  readonly trashedFrom?: string | undefined;
}

/**
 * Whether a caller may read a record, wherever it would leave: single, embedded, in a list, a search or a feed. The one rule;
 * lists get it as SQL from `listVisibility`.
 */
export const mayRead = (viewer: Viewer, row: Seen): boolean => may('read', viewer, row);

/** Whether a caller may edit, or delete, this very record. */
export const mayEdit = (viewer: Viewer, row: Seen): boolean => may('edit', viewer, row);
export const mayDelete = (viewer: Viewer, row: Seen): boolean => may('delete', viewer, row);

function may(
  action: 'read' | 'edit' | 'delete',
  viewer: Viewer,
  { post_author: author, post_status: status, post_type: type, trashedFrom }: Seen,
): boolean {
  const kind = postKindOfType(type);
  return (
    kind !== undefined &&
    mapMetaCap(action, viewer, { author, status, ...(trashedFrom === undefined ? {} : { trashedFrom }) }, kind.capabilities)
  );
}

/** A stored row as the rules see it. */
export const seen = (row: Post, metas: Metas | undefined): Seen => ({ ...row, trashedFrom: metaOf(metas, '_wp_trash_meta_status') });

/** Whether a caller edits records of this kind at all: only then do lists hold more than what is published. */
export const editsKind = (viewer: Viewer, kind: PostKind): boolean => viewer.can(`edit_${kind.capabilities}`);

/** Statuses of a list for which none is asked: whatever the caller may see, but the trash and what WordPress keeps for itself. */
const ORDINARY = REGISTERED_STATUSES.filter((status) => !['trash', 'auto-draft', 'inherit'].includes(status));

/**
 * The rows that a list holds for this caller (decision D13): the rule above, asked for each status of a record of somebody else's and of the
 * caller's own. In the trash, those that the caller may edit.
 */
export function listVisibility(viewer: Viewer, kind: PostKind, statuses: readonly string[] | undefined): Visibility {
  const wanted = statuses ?? (editsKind(viewer, kind) ? ORDINARY : ['publish']);
  const sees = (status: string, post_author: number, trashedFrom: string) => {
    const row = { post_author, post_status: status, post_type: kind.postType, trashedFrom };
    return status === 'trash' ? mayEdit(viewer, row) : mayRead(viewer, row);
  };
  const all = wanted.filter((status) => sees(status, NOBODY, 'publish'));
  const own = viewer.id === 0 ? [] : wanted.filter((status) => !all.includes(status) && sees(status, viewer.id, 'draft'));
  return { viewer: viewer.id, all, own, exceptOwnPublishedTrash: own.includes('trash') && !sees('trash', viewer.id, 'publish') };
}

/** An author who is not the caller. */
const NOBODY = -1;
