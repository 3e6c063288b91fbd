import { hasTrash } from '../config/config.ts';
import { ApiError, refuse } from '../errors.ts';
import { idIn, textIn, textsIn } from '../forms/form-values.ts';
import type { PostKind } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { type EditList, listEditable, readEditable } from '../records/editing.ts';
import { acceptParams } from '../records/input.ts';
import { mayTrash } from '../records/posts.ts';
import { changeRecord, deletePost, restorePost, trashPost } from '../records/writes/post-writes.ts';
import { withStatus } from '../records/writes/with-status.ts';
import { withMaxPerPage } from '../site.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { parsePhpQuery } from '../wordpress/php/query.ts';
import { isPublic, isPublished } from '../wordpress/status.ts';
import { isConfirmed } from './layout.tsx';
import { LIST_DIGEST_FIELD, listDigest, listParams, MAX_BULK_SIZE, SELECT_ALL_FIELD } from './list-filters.ts';
import { suggestedLinks } from './suggested.tsx';
import { deskUrl, type FormOutcome, type Outcome, type Submission, type Visit } from './visit.ts';

/*
 * Actions on records without a form: on one record, or on all that are selected in a list.
 */

const RECORD_ACTIONS = ['trash', 'restore', 'delete', 'publish'] as const;
export type RecordAction = (typeof RECORD_ACTIONS)[number];

/** Keys of the messages about completed actions. */
const DONE_KEYS: Readonly<Record<RecordAction, string>> = {
  trash: 'trashed',
  restore: 'restored',
  delete: 'deleted',
  publish: 'published',
};

/** Returns the action that removes a record: on a site without a trash it is deleted at once, after a confirmation. */
export const removalAction = ({ site }: Pick<Visit, 'site'>): 'trash' | 'delete' => (hasTrash(site.config) ? 'trash' : 'delete');

const doneKeyOf = (visit: Visit, action: RecordAction): string => DONE_KEYS[action === 'trash' ? removalAction(visit) : action];

/** An action, and the statuses of the records that it may be run on. */
interface StatusBoundAction {
  readonly action: RecordAction;
  readonly isAllowed: (status: string) => boolean;
  /** The statuses in which there is nothing left to publish; by default, that of public records. */
  readonly isDone?: (status: string) => boolean;
}

/**
 * Runs an action on one record. Throws the same errors as the API: rest_forbidden, a fault of the id; and
 * status-changed.
 */
async function runAction(visit: Visit, kind: PostKind, id: number, { action, isAllowed, isDone }: StatusBoundAction): Promise<void> {
  const { caller } = visit;
  if (action !== 'publish' && !(await mayTrash(lookUpOnce(visit.site.db), caller, kind, id))) refuse(caller.viewer);
  if (action === 'restore') {
    await restorePost(visit.site, caller, kind, id);
    return;
  }
  await withStatus(visit.site, caller, kind, { id, isAllowed }, async (site) => {
    if (action === 'publish') await publishRecord({ ...visit, site }, kind, id, isDone);
    else if (action === 'trash') await trashPost(site, caller, kind, id);
    else await deletePost(site, caller, kind, id);
  });
}

/** Publishes a record that is locked, with the links that a visitor suggested, unless its status is one of `isDone`. */
async function publishRecord(visit: Visit, kind: PostKind, id: number, isDone: (status: string) => boolean = isPublic): Promise<void> {
  const { site, caller } = visit;
  const record = await readEditable(site, caller, kind, id);
  if (isDone(record.row.post_status)) return;
  const raw = { status: 'publish', ...(await suggestedLinks(visit, record)) };
  const values = await acceptParams(site, caller, kind.fields, raw, 'change');
  await changeRecord(site, caller, kind, id, { values, links: 'shown' });
}

/** Name of the form field with the status that a record must still have. */
export const STATUS_FIELD = 'shown_status';

const isTrash = (status: string): boolean => status === 'trash';

/**
 * Returns the statuses in which a button applies to one record. Another user may have changed it since the page with
 * the button was shown: what was restored is not deleted, and what was rejected is not published. A second click on the
 * button that published or scheduled it is no error.
 */
function statusesOfOne(visit: Submission, action: RecordAction): StatusBoundAction['isAllowed'] {
  if (action === 'publish') return (status) => status === 'pending' || isPublished(status);
  if (action === 'delete' && (hasTrash(visit.site.config) || isListOfTrash(visit))) return isTrash;
  const shownStatus = textIn(visit.fields, STATUS_FIELD);
  return (status) => shownStatus === '' || status === shownStatus;
}

/** Returns the statuses in which an action applies to the selected records: those that the list was filtered by. */
function statusesOfSelected(visit: Submission, action: RecordAction): StatusBoundAction['isAllowed'] {
  if (action === 'delete' && hasTrash(visit.site.config)) return isTrash;
  const wasListed = statusListed(visit);
  return action === 'publish' ? (status) => !isTrash(status) && (wasListed(status) || isPublished(status)) : wasListed;
}

/** Returns a function that says whether the list showed records of a status. */
function statusListed(visit: Submission): (status: string) => boolean {
  const listedStatuses = statusesOfList(visit);
  return (status) => listedStatuses.length === 0 || listedStatuses.includes(status);
}

/** Returns the statuses in which selected records stay: a scheduled one is only published if it was listed as such. */
function publishedOfSelected(visit: Submission): (status: string) => boolean {
  const wasListed = statusListed(visit);
  return (status) => isPublic(status) || (isPublished(status) && !wasListed(status));
}

const isListOfTrash = (visit: Submission): boolean => {
  const statuses = statusesOfList(visit);
  return statuses.length > 0 && statuses.every(isTrash);
};

/** Returns the statuses that the list was filtered by; none: it was not. */
function statusesOfList(visit: Submission): string[] {
  const names = textsIn(parsePhpQuery(listQueryText(visit), LIST_QUERY_LIMITS), 'status').flatMap((text) => text.split(','));
  return names.includes('any') ? [] : names.map((name) => name.trim());
}

/** Runs an action on one record, from a button in its row or next to its form. */
export async function runOnOne(visit: Submission, kind: PostKind, id: number, action: RecordAction): Promise<Outcome> {
  await runAction(visit, kind, id, { action, isAllowed: statusesOfOne(visit, action), isDone: isPublished });
  return { to: listUrlWith(visit, kind, { done: doneKeyOf(visit, action) }) };
}

/**
 * Runs an action on all selected records, or on all that match the filters of the list. If other records match now than
 * when the list was shown, nothing is done: nobody has seen what would be changed. A deletion has to be confirmed.
 */
export async function runOnSelected(visit: Submission, kind: PostKind): Promise<FormOutcome> {
  const actionName = textIn(visit.fields, 'action');
  const action = RECORD_ACTIONS.find((name) => name === actionName);
  const ids = textIn(visit.fields, SELECT_ALL_FIELD) === '1' ? await matchingIds(visit, kind) : selectedIds(visit);
  if (ids === undefined) return { to: listUrlWith(visit, kind, { done: 'list-changed' }) };
  if (action === undefined || ids.length === 0) return { to: listUrlWith(visit, kind, {}) };
  if (action === 'delete' && !isConfirmed(visit.fields)) return { question: visit.i18n.say('desk:actions.delete-these-sure') };
  const boundAction = { action, isAllowed: statusesOfSelected(visit, action), isDone: publishedOfSelected(visit) };
  return { to: listUrlWith(visit, kind, { done: doneKeyOf(visit, action), ...(await runOnAll(visit, kind, ids, boundAction)) }) };
}

const selectedIds = ({ fields }: Submission): number[] => [...new Set(textsIn(fields, 'ids').map(idIn))].filter((id) => id > 0);

/** Returns the ids of the records in the list; undefined if they are not those that the user saw. */
async function matchingIds(visit: Submission, kind: PostKind): Promise<number[] | undefined> {
  const query = parsePhpQuery(listQueryText(visit), LIST_QUERY_LIMITS);
  const list = await loadForBulkAction(visit, kind, listParams(query, visit.caller, kind));
  if (listDigest(list) !== textIn(visit.fields, LIST_DIGEST_FIELD)) return undefined;
  return list.rows.filter(({ mayEdit, mayDelete }) => mayEdit || mayDelete).map(({ id }) => id);
}

/** Variables in the URL of a list, and their nesting. The URL has already been parsed within PHP's limits. */
const LIST_QUERY_LIMITS = { variables: 1000, depth: 20 };

/** Returns a list with its first records, up to the maximum for one bulk action. */
const loadForBulkAction = ({ site, caller }: Visit, kind: PostKind, params: Values): Promise<EditList> =>
  listEditable(
    withMaxPerPage(site, MAX_BULK_SIZE),
    caller,
    kind,
    { ...params, per_page: MAX_BULK_SIZE, page: 1 },
    { first: MAX_BULK_SIZE },
  );

/** Deletes the records in the trash that the caller may delete, the newest first. */
export async function emptyTrash(visit: Submission, kind: PostKind): Promise<Outcome> {
  const { rows } = await loadForBulkAction(visit, kind, { status: 'trash' });
  const ids = rows.filter(({ mayDelete }) => mayDelete).map(({ id }) => id);
  const done = await runOnAll(visit, kind, ids, { action: 'delete', isAllowed: isTrash });
  return { to: deskUrl(visit, `/${kind.path}`, { status: 'trash', done: DONE_KEYS.delete, ...done }) };
}

/** Runs an action on each of these records. If it is refused for one of them, the others are still processed. */
async function runOnAll(
  visit: Submission,
  kind: PostKind,
  ids: readonly number[],
  action: StatusBoundAction,
): Promise<{ readonly count: number; readonly failed: number | undefined }> {
  let failedCount = 0;
  for (const id of ids) {
    try {
      await runAction(visit, kind, id, action);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      failedCount += 1;
    }
  }
  return { count: ids.length - failedCount, failed: failedCount || undefined };
}

/** Returns the URL of the list from which the form was sent, with the reported action. */
const listUrlWith = (visit: Submission, kind: PostKind, params: Readonly<Record<string, string | number | undefined>>): string =>
  deskUrl(visit, `/${kind.path}`, { ...Object.fromEntries(new URLSearchParams(listQueryText(visit))), ...params });

/** Returns the query of the list that contained the form, without the question mark. */
function listQueryText({ fields }: Submission): string {
  const query = textIn(fields, 'back');
  return query.startsWith('?') ? query.slice(1) : '';
}
