import { failParam, type Verdict } from '../../errors.ts';
import type { ContextValues } from '../../kinds/core/params.ts';
import { type CoreFieldValues, type CoreListValues, type ExistingValues, STATUSES, statusFault } from '../../kinds/core/post-params.ts';
import { coreTerms } from '../../kinds/core/term.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Selected } from '../../kinds/param.ts';
import type { LookUp } from '../../storage/engine/look-up-once.ts';
import { findPost } from '../../storage/rows/posts.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import type { Metas, Post } from '../../wordpress/rows.ts';
import { needsPublishing } from '../../wordpress/status.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import type { Caller } from '../caller.ts';
import { postOfRecord } from '../occurrences.ts';
import { metasInTrash } from '../trashed-metas.ts';
import { accessRow, mayDelete, mayEdit, mayEditKind, mayRead } from '../visibility.ts';
import { refuseStatuses } from './lists.ts';

/**
 * Whether a list may be requested in this context. With `context=edit` the list itself is limited to records that the
 * caller may edit.
 */
export function mayListCore({ viewer }: Caller, kind: PostKind, { context, status = ['publish'] }: CoreListValues): Verdict {
  const mayList = mayEditKind(viewer, kind);
  refuseStatuses(viewer, status, { defaultStatus: 'publish', knownStatuses: STATUSES, mayList });
  return mayList || context !== 'edit' || 'rest_forbidden_context';
}

/** Whether the caller may read a record in this context. */
export const mayReadCore = (lookUp: LookUp, caller: Caller, kind: PostKind, { id, context }: Selected & ContextValues): Promise<Verdict> =>
  verdictOn(lookUp, caller, kind, id, ({ viewer }, row, metas) => {
    if (context === 'edit' && !mayEdit(viewer, accessRow(row, metas))) return 'rest_forbidden_context';
    return mayRead(viewer, accessRow(row, metas)) ? true : 'rest_forbidden';
  });

/** Whether the caller may create a record with these values. */
export async function mayCreateCore(
  lookUp: LookUp,
  { viewer }: Caller,
  kind: PostKind,
  values: CoreFieldValues & ExistingValues,
): Promise<Verdict> {
  const { id, author, status } = values;
  refuseStatus(status);
  if (id) return 'rest_post_exists';
  if (lacksOthersCapability(viewer, kind, author)) return 'rest_cannot_edit_others';
  if (!mayEditKind(viewer, kind)) return 'rest_cannot_create';
  if (!(await mayAssignTerms(lookUp, viewer, kind, values))) return 'rest_cannot_assign_term';
  return lacksPublishCapability(viewer, kind, status) ? 'rest_cannot_publish' : true;
}

/** Whether the caller may change a record to these values. */
export const mayChangeCore = (lookUp: LookUp, caller: Caller, kind: PostKind, values: Selected & CoreFieldValues): Promise<Verdict> =>
  verdictOn(lookUp, caller, kind, values.id, async ({ viewer }, row, metas) => {
    const { author, status } = values;
    if (!mayEdit(viewer, accessRow(row, metas))) return 'rest_cannot_edit';
    refuseStatus(status, row.post_status);
    if (author !== row.post_author && lacksOthersCapability(viewer, kind, author)) return 'rest_cannot_edit_others';
    if (!(await mayAssignTerms(lookUp, viewer, kind, values))) return 'rest_cannot_assign_term';
    return status !== row.post_status && lacksPublishCapability(viewer, kind, status) ? 'rest_cannot_publish' : true;
  });

/** Whether the caller may move a record to the trash, or delete it. */
export const mayDeleteCore = (lookUp: LookUp, caller: Caller, kind: PostKind, { id }: Selected): Promise<Verdict> =>
  verdictOn(lookUp, caller, kind, id, ({ viewer }, row, metas) => (mayDelete(viewer, accessRow(row, metas)) ? true : 'rest_cannot_delete'));

/** Refuses the status `trash` for a record that is not in the trash. */
function refuseStatus(status: string | undefined, statusBefore?: string): void {
  const fault = statusFault(status, statusBefore);
  if (fault) failParam('status', fault);
}

const lacksOthersCapability = (viewer: Viewer, kind: PostKind, author: number | undefined) =>
  author !== undefined && author !== viewer.id && !viewer.can(`edit_others_${kind.capabilities}`);

/**
 * Whether the caller may assign the terms that a write names. Ids without a term are ignored, and removing all terms is
 * always allowed (`WP_REST_Posts_Controller::check_assign_terms_permission`).
 */
async function mayAssignTerms(lookUp: LookUp, viewer: Viewer, kind: PostKind, values: CoreFieldValues): Promise<boolean> {
  for (const { taxonomy, restBase, coreCapabilities } of coreTerms(kind)) {
    const named = values[restBase];
    if (!Array.isArray(named) || viewer.can(coreCapabilities.assign)) continue;
    if ((await lookUp(loadTerms, taxonomy, named)).size > 0) return false;
  }
  return true;
}

/** Whether a status needs the capability to publish, and the caller lacks it. */
const lacksPublishCapability = (viewer: Viewer, kind: PostKind, status: string | undefined) =>
  status !== undefined && needsPublishing(status) && !viewer.can(`publish_${kind.capabilities}`);

async function verdictOn(
  lookUp: LookUp,
  caller: Caller,
  kind: PostKind,
  id: number,
  decide: (caller: Caller, row: Post, metas: Metas | undefined) => Verdict | Promise<Verdict>,
): Promise<Verdict> {
  const row = await lookUp(findPost, await postOfRecord(lookUp, caller, kind, id));
  if (row?.post_type !== kind.postType) return 'rest_post_invalid_id';
  return decide(caller, row, await metasInTrash(lookUp, row));
}
