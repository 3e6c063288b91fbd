import { fail, type Verdict } from '../../errors.ts';
import { type ContextValues, MAX_PAGE_SIZE } from '../../kinds/core/params.ts';
import { coreRevision, type RevisedType } from '../../kinds/core/revision.ts';
import { REVISION_FILTERS, type RevisionListValues } from '../../kinds/core/revision-params.ts';
import type { CoreContext } from '../../kinds/core/view.ts';
import { conditionsOf } from '../../kinds/filter.ts';
import type { Site } from '../../site.ts';
import { type LookUp, lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { findPostIds } from '../../storage/lists/post-list.ts';
import { loadBundle } from '../../storage/rows/bundle.ts';
import { findPost } from '../../storage/rows/posts.ts';
import type { Post } from '../../wordpress/rows.ts';
import { mapYielding } from '../../yielding.ts';
import { type Caller, renderContext } from '../caller.ts';
import { listQuery } from '../list-query.ts';
import { postOfRecord } from '../occurrences.ts';
import { metasInTrash } from '../trashed-metas.ts';
import { accessRow, mayEdit, mayWritePost, revisionRights } from '../visibility.ts';
import { type CorePage, type CoreRecord, orderOf, viewOf } from './lists.ts';

/*
 * Revisions of records, blog posts and pages, as WordPress's own routes list and show them. They are visible to callers
 * who may edit the post.
 */

/** The post whose revisions are requested. */
export type ParentValues = { readonly parent: number };

/** Whether the revisions of a post may be read (`WP_REST_Revisions_Controller::get_items_permissions_check`). */
export async function mayReadRevisions(lookUp: LookUp, caller: Caller, type: RevisedType, { parent }: ParentValues): Promise<Verdict> {
  const row = await lookUp(findPost, await parentOf(lookUp, caller, type, parent));
  if (row?.post_type !== type.postType) return 'rest_post_invalid_parent';
  const edits = type.kind
    ? mayEdit(caller.viewer, accessRow(row, await metasInTrash(lookUp, row)))
    : mayWritePost('edit', caller.viewer, row);
  return edits ? true : 'rest_cannot_read';
}

/** Returns the post with the revisions: for a date of a recurring event, the event. */
const parentOf = async (lookUp: LookUp, caller: Caller, { kind }: RevisedType, id: number): Promise<number> =>
  kind ? postOfRecord(lookUp, caller, kind, id) : id;

/**
 * Lists the revisions of a post, the latest first. Without a page size, WordPress lists all of them. Here the default
 * is the longest page, since revisions may be long.
 *
 * @throws rest_revision_invalid_offset_number, rest_revision_invalid_page_number past the end
 */
export async function listRevisions(
  site: Site,
  caller: Caller,
  type: RevisedType,
  values: RevisionListValues & ParentValues,
): Promise<CorePage> {
  const { page = 1, per_page: limit = MAX_PAGE_SIZE, offset } = values;
  const parent = await parentOf(lookUpOnce(site.db), caller, type, values.parent);
  const query = await listQuery(site, caller, {
    kind: { postType: 'revision', hasDates: false },
    rights: revisionRights(caller.viewer),
    conditions: [{ by: 'parents', ids: [parent] }, ...conditionsOf(REVISION_FILTERS, values, caller)],
    order: orderOf(values),
    limit,
    offset: offset ? Math.max(0, offset) : (page - 1) * limit,
  });
  const { ids, total } = await findPostIds(site.db, query);
  const pages = Math.ceil(total / limit);
  if (total > 0 && offset && offset >= total) fail('rest_revision_invalid_offset_number');
  if (total > 0 && !offset && page > pages) fail('rest_revision_invalid_page_number');
  const revisions = await shownRevisions(site, caller, type, ids, values);
  const skip = offset ? { offset: Math.max(0, offset), limit } : undefined;
  return { records: [...revisions.values()].map(({ record }) => record), total, page, pages, skip, timeliness: 'always' };
}

/**
 * Reads one revision of a post.
 *
 * @throws rest_post_invalid_id, rest_revision_parent_id_mismatch if it belongs to another post
 */
export async function readRevision(
  site: Site,
  caller: Caller,
  type: RevisedType,
  { id, parent, ...values }: ContextValues & ParentValues & { readonly id: number },
): Promise<CoreRecord> {
  const { record, row } = (await shownRevisions(site, caller, type, [id], values)).get(id) ?? fail('rest_post_invalid_id');
  if (row.post_parent !== (await parentOf(lookUpOnce(site.db), caller, type, parent))) fail('rest_revision_parent_id_mismatch');
  return record;
}

/** Bundle contents in addition to rows and metas: none. */
const BUNDLE_CONTENTS = { hasDates: false, terms: [], links: {} } as const;

async function shownRevisions(
  site: Site,
  caller: Caller,
  type: RevisedType,
  ids: readonly number[],
  values: ContextValues,
): Promise<Map<number, { readonly record: CoreRecord; readonly row: Post }>> {
  if (ids.length === 0) return new Map();
  const bundle = await loadBundle(site.db, BUNDLE_CONTENTS, ids, {});
  const rights = { mayRead: () => false, isOpen: () => true };
  const context: CoreContext = { ...renderContext(caller, rights), translatesLinks: false, view: viewOf(values) };
  const rows = ids.flatMap((id) => bundle.posts.get(id) ?? []).filter((row) => row.post_type === 'revision');
  return new Map(await mapYielding(rows, (row) => [row.ID, { record: coreRevision(type, row.ID, bundle, context), row }] as const));
}
