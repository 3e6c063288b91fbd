import { fail } from '../../errors.ts';
import type { Order } from '../../kinds/condition.ts';
import { postActions } from '../../kinds/core/actions.ts';
import { corePost, isViewable } from '../../kinds/core/post.ts';
import { type CoreListValues, type CoreReadValues, postFilters } from '../../kinds/core/post-params.ts';
import { type CoreContext, type Methods, methodsFor } from '../../kinds/core/view.ts';
import { kindOnSite } from '../../kinds/custom-fields.ts';
import { narrow } from '../../kinds/filter.ts';
import type { PostKind } from '../../kinds/kind.ts';
import type { Bundle } from '../../kinds/rendering.ts';
import type { Site } from '../../site.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { findPostIds } from '../../storage/lists/post-list.ts';
import { loadBundle } from '../../storage/rows/bundle.ts';
import { findPost } from '../../storage/rows/posts.ts';
import { countRevisions } from '../../storage/rows/revisions.ts';
import type { Metas, Post } from '../../wordpress/rows.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import { mapYielding } from '../../yielding.ts';
import { type Caller, renderContext } from '../caller.ts';
import { listQuery } from '../list-query.ts';
import { postOfRecord, postsOfRecords } from '../occurrences.ts';
import { loadedVersion, type VersionedRecord } from '../versions.ts';
import { accessRow, listRights, mayDelete, mayEdit, mayRead, renderingRights } from '../visibility.ts';
import { type CorePage, type CoreRecord, orderOf, paging, totalsOf, viewOf } from './lists.ts';
import { sampleSlugs } from './sample-slugs.ts';

/*
 * Events, venues and organizers as WordPress's own routes (`wp/v2`) list, show and write them, with WordPress's
 * parameters and errors on top of the calendar's functions.
 */

// ------------------------------------------------------------------------------------------------- lists
/**
 * Lists the requested records (`WP_REST_Posts_Controller::get_items`): published ones unless another status is named.
 * As in the reference, past events are left out unless they are named.
 *
 * @throws rest_post_invalid_page_number past the last page; rest_invalid_param for statuses that the caller may not
 * list
 */
export async function listCorePosts(site: Site, caller: Caller, kind: PostKind, givenValues: CoreListValues): Promise<CorePage> {
  const { viewer } = caller;
  const values = await withEventsOfDates(site, caller, kind, givenValues);
  const { conditions, timeliness } = narrow(postFilters(kind), values, caller);
  const pageValues = paging(values);
  const { limit, offset } = pageValues;
  const query = await listQuery(site, caller, {
    kind: { postType: kind.postType, hasDates: conditions.some(({ by }) => by === 'moment') },
    // Unlike the calendar's own lists, these let callers who may edit a protected record search its texts in every
    // context.
    rights: listRights(viewer, kind, { statuses: listedStatuses(viewer, values), toEdit: values.context === 'edit', editing: true }),
    each: 'event',
    conditions,
    order: kind.hasDates ? orderOfEvents(values) : orderOf(values),
    limit,
    offset,
  });
  const result = await findPostIds(site.db, query);
  const totals = totalsOf(result, pageValues);
  const { records } = await shownPosts(site, caller, kind, result.ids, values);
  return { records, ...totals, timeliness };
}

/** Returns the order of a list of events. They are not ranked: the plugin replaces WordPress's order of a search. */
function orderOfEvents(values: CoreListValues): Order {
  const { by, descending } = orderOf(values);
  return { by: by === 'relevance' ? 'date' : by, descending };
}

/** Returns the values with the ids of dates replaced by those of their events. */
async function withEventsOfDates({ db }: Site, caller: Caller, { hasDates }: PostKind, values: CoreListValues): Promise<CoreListValues> {
  const { include = [] } = values;
  const posts = hasDates ? await postsOfRecords(db, caller, include) : new Map<number, number>();
  return posts.size === 0 ? values : { ...values, include: [...new Set(include.map((id) => posts.get(id) ?? id))] };
}

/**
 * Returns the statuses that a list is limited to; undefined: all. By default, signed-in users also see private records
 * that they may read (`WP_Query::get_posts`).
 */
function listedStatuses({ id }: Viewer, { status = ['publish'] }: CoreListValues): readonly string[] | undefined {
  const names = status.filter((name) => name !== '');
  if (names.length === 0) return id === 0 ? ['publish'] : ['publish', 'private'];
  return names.includes('any') ? undefined : names;
}

// ------------------------------------------------------------------------------------------------- records
/**
 * Reads one record (`WP_REST_Posts_Controller::get_item`).
 *
 * @throws rest_post_incorrect_password; rest_post_invalid_id if the caller is shown no such record
 */
export async function readCorePost(
  site: Site,
  caller: Caller,
  kind: PostKind,
  id: number,
  values: CoreReadValues,
): Promise<VersionedRecord> {
  const row = await findPost(site.db, await postOfRecord(lookUpOnce(site.db), caller, kind, id));
  const { password = '' } = values;
  if (password !== '' && row && row.post_password !== password) fail('rest_post_incorrect_password');
  const { records, bundle } = await shownPosts(site, caller, kind, [id], values);
  return { record: records[0] ?? fail('rest_post_invalid_id'), version: loadedVersion(caller, id, bundle) };
}

/** Returns records in their embedded form, by id, without those that the caller may not read. */
export async function embeddedPosts(site: Site, caller: Caller, kind: PostKind, ids: readonly number[]): Promise<Map<number, CoreRecord>> {
  if (ids.length === 0) return new Map();
  const { records, bundle } = await shownPosts(site, caller, kind, ids, { context: 'embed' });
  const isReadable = (id: number) => mayRead(caller.viewer, accessRow(bundle.posts.get(id)!, bundle.metas.get(id)));
  return new Map(records.map((record) => [Number(record.id), record] as const).filter(([id]) => isReadable(id)));
}

/** Renders records by id, in this order; also returns their rows. */
async function shownPosts(
  site: Site,
  caller: Caller,
  kind: PostKind,
  ids: readonly number[],
  values: CoreReadValues,
): Promise<{ readonly records: CoreRecord[]; readonly bundle: Bundle }> {
  const { viewer, settings } = caller;
  const siteKind = kindOnSite(kind, settings);
  const dates = kind.hasDates ? await postsOfRecords(site.db, caller, ids) : new Map<number, number>();
  const postOf = (id: number) => dates.get(id) ?? id;
  const [bundle, revisions] = await Promise.all([
    loadBundle(site.db, kind, ids, { base: settings.recurrence?.base, languages: settings.contentLanguages }),
    countRevisions(site.db, ids.map(postOf)),
  ]);
  const view = viewOf(values);
  const actions = view === 'edit' ? postActions(kind, viewer.can) : [];
  const viewableRows = view === 'edit' && isViewable(kind.postType) ? ids.flatMap((id) => bundle.posts.get(id) ?? []) : [];
  const slugs = await sampleSlugs(site.db, viewableRows);
  const rights = renderingRights(viewer, { password: values.password, editing: view === 'edit' });
  const context: CoreContext = { ...renderContext(caller, rights), translatesLinks: false, view };
  const records = await mapYielding(ids, (id) => {
    const row = bundle.posts.get(id);
    if (row?.post_type !== kind.postType) return [];
    const methods = methodsOn(viewer, row, bundle.metas.get(id));
    return [corePost(siteKind, id, bundle, context, { methods, actions, sampleSlug: slugs.get(row.ID), revisions: revisions.get(row.ID) })];
  });
  return { records: records.flat(), bundle };
}

/** Returns the methods that a caller may use on the route of a record. */
function methodsOn(viewer: Viewer, row: Post, metas: Metas | undefined): Methods {
  const access = accessRow(row, metas);
  return methodsFor({ reads: mayRead(viewer, access), edits: mayEdit(viewer, access), deletes: mayDelete(viewer, access) });
}
