import { ApiError, refuse } from '../errors.ts';
import { idIn, textIn, textsIn } from '../forms/form-values.ts';
import type { PostKind } from '../kinds/kind.ts';
import { listToEdit, readToEdit } from '../records/editing.ts';
import { acceptParams } from '../records/input.ts';
import { changePost, deletePost, restorePost, trashPost } from '../records/post-writes.ts';
import { mayTrash } from '../records/posts.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { deskUrl, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * What is done to records without a form: one at a time, or to all that are selected in a list.
 */

const RECORD_ACTIONS = ['trash', 'restore', 'delete', 'publish'] as const;
export type RecordAction = (typeof RECORD_ACTIONS)[number];

/** The sentence that says that it is done. */
const DONE: Readonly<Record<RecordAction, string>> = { trash: 'trashed', restore: 'restored', delete: 'deleted', publish: 'published' };

/** Does it to one record. Throws what the API would answer: rest_forbidden, what is wrong with the id. */
async function act(visit: Visit, kind: PostKind, id: number, action: RecordAction): Promise<void> {
  const { site, caller } = visit;
  if (action === 'publish') {
    await readToEdit(site, caller, kind, id);
    await changePost(site, caller, kind, id, await acceptParams(site, caller, kind.fields, { status: 'publish' }, 'change'));
    return;
  }
  if (!(await mayTrash(lookUpOnce(site.db), caller, kind, id))) refuse(caller.viewer);
  if (action === 'trash') await trashPost(site, caller, kind, id);
  else if (action === 'restore') await restorePost(site, caller, kind, id);
  else await deletePost(site, caller, kind, id);
}

/** One record, by a button in its row or beside its form. */
export async function actOnOne(visit: Submission, kind: PostKind, id: number, action: RecordAction): Promise<Outcome> {
  await act(visit, kind, id, action);
  return { to: backTo(visit, kind, { done: DONE[action] }) };
}

/** All records that are selected. */
export async function actOnSelected(visit: Submission, kind: PostKind): Promise<Outcome> {
  const wanted = textIn(visit.fields, 'action');
  const action = RECORD_ACTIONS.find((name) => name === wanted);
  const ids = [...new Set(textsIn(visit.fields, 'ids').map(idIn))].filter((id) => id > 0);
  if (action === undefined || ids.length === 0) return { to: backTo(visit, kind, {}) };
  return { to: backTo(visit, kind, { done: DONE[action], ...(await actOnAll(visit, kind, ids, action)) }) };
}

/** How many records are deleted by one press of the button that empties the trash. */
const MOST_DELETED = 500;

/** Deletes what is in the trash, as far as the caller may, the newest first. */
export async function emptyTrash(visit: Submission, kind: PostKind): Promise<Outcome> {
  const { site, caller } = visit;
  const wide = { ...site, config: { ...site.config, maxPerPage: MOST_DELETED } };
  const { rows } = await listToEdit(wide, caller, kind, { status: 'trash', per_page: MOST_DELETED });
  const ids = rows.filter(({ mayDelete }) => mayDelete).map(({ id }) => id);
  return { to: deskUrl(visit, `/${kind.path}`, { status: 'trash', done: DONE.delete, ...(await actOnAll(visit, kind, ids, 'delete')) }) };
}

/** Does it to each of these records. What one of them is refused for does not keep the others from it. */
async function actOnAll(
  visit: Submission,
  kind: PostKind,
  ids: readonly number[],
  action: RecordAction,
): Promise<{ readonly count: number; readonly failed: number | undefined }> {
  let failed = 0;
  for (const id of ids) {
    try {
      await act(visit, kind, id, action);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      failed += 1;
    }
  }
  return { count: ids.length - failed, failed: failed || undefined };
}

/** The address of the list that somebody came from, with what was done. */
function backTo(visit: Submission, kind: PostKind, done: Readonly<Record<string, string | number | undefined>>): string {
  const back = textIn(visit.fields, 'back');
  const kept = Object.fromEntries(new URLSearchParams(back.startsWith('?') ? back : ''));
  return deskUrl(visit, `/${kind.path}`, { ...kept, ...done });
}
