import { hasTrash } from '../../config/config.ts';
import { ApiError, type Fault, fail, type Verdict } from '../../errors.ts';
import { postActions } from '../../kinds/core/actions.ts';
import { metaChange, metaOfField, type WrongMeta } from '../../kinds/core/meta.ts';
import type { ContextValues, Removal } from '../../kinds/core/params.ts';
import { corePost, isViewable } from '../../kinds/core/post.ts';
import {
  type CoreFieldValues,
  type CoreListValues,
  type CoreReadValues,
  type ExistingValues,
  postFilters,
  STATUSES,
} from '../../kinds/core/post-params.ts';
import { coreTerms } from '../../kinds/core/term.ts';
import { type CoreContext, type Methods, methodsFor } from '../../kinds/core/view.ts';
import { kindOnSite } from '../../kinds/custom-fields.ts';
import { narrow } from '../../kinds/filter.ts';
import type { PostKind, PostValues } from '../../kinds/kind.ts';
import { withoutMapMetas } from '../../kinds/map-metas.ts';
import type { Selected } from '../../kinds/param.ts';
import type { Bundle } from '../../kinds/rendering.ts';
import type { Site } from '../../site.ts';
import { type LookUp, lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { findPostIds } from '../../storage/lists/post-list.ts';
import { loadBundle, loadMetas } from '../../storage/rows/bundle.ts';
import { findPost } from '../../storage/rows/posts.ts';
import { countRevisions } from '../../storage/rows/revisions.ts';
import { loadTerms } from '../../storage/rows/terms.ts';
import type { Metas, Post } from '../../wordpress/rows.ts';
import { isFloating, needsPublishing } from '../../wordpress/status.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import { mapYielding } from '../../yielding.ts';
import { type Caller, renderContext } from '../caller.ts';
import { cleanText } from '../clean-text.ts';
import { withExplainedErrors } from '../explanation.ts';
import { acceptParams } from '../input.ts';
import { postOfRecord, postsOfRecords, recurrenceOfList } from '../occurrences.ts';
import { metasInTrash } from '../trashed-metas.ts';
import { loadedVersion, type VersionedRecord } from '../versions.ts';
import { accessRow, listRights, mayDelete, mayEdit, mayEditKind, mayRead, openedBy } from '../visibility.ts';
import { changeRecord, deletePost, type ExtraRows, insertRecord, trashPost } from '../writes/post-writes.ts';
import {
  type CorePage,
  type CoreRecord,
  localAndUtcDates,
  orderOf,
  paging,
  refuseStatuses,
  totalsOf,
  viewOf,
  withChildTerms,
} from './lists.ts';
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
  const { viewer, settings } = caller;
  const values = await withEventsOfDates(site, caller, kind, givenValues);
  const { conditions, timeliness } = narrow(postFilters(kind), values, caller);
  const pageValues = paging(values);
  const { limit, offset } = pageValues;
  const result = await findPostIds(site.db, {
    kind: { postType: kind.postType, hasDates: conditions.some(({ by }) => by === 'moment') },
    // Unlike the calendar's own lists, these let callers who may edit a protected record search its texts in every
    // context.
    ...listRights(viewer, kind, { statuses: listedStatuses(viewer, values), toEdit: values.context === 'edit', editing: true }),
    conditions: await withChildTerms(site.db, conditions),
    order: orderOf(values),
    limit,
    offset,
    occurrences: settings.occurrenceTables,
    recurrence: recurrenceOfList('event', settings),
  });
  const totals = totalsOf(result, pageValues);
  const { records } = await shownPosts(site, caller, kind, result.ids, values);
  return { records, ...totals, timeliness };
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
 * @throws rest_post_incorrect_password
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

/** Returns records in their embedded form, by id. */
export async function embeddedPosts(site: Site, caller: Caller, kind: PostKind, ids: readonly number[]): Promise<Map<number, CoreRecord>> {
  const { records } = await shownPosts(site, caller, kind, ids, { context: 'embed' });
  return new Map(records.map((record) => [Number(record.id), record]));
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
  const rights = {
    mayRead: (row: Post) => mayRead(viewer, row),
    isOpen: openedBy(viewer, { password: values.password, editing: view === 'edit' }),
  };
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

// ------------------------------------------------------------------------------------------------- permissions
/**
 * Whether a list may be requested in this context. With `context=edit` the list itself is limited to records that the
 * caller may edit.
 */
export function mayListCore({ viewer }: Caller, kind: PostKind, { context, status = ['publish'] }: CoreListValues): Verdict {
  const mayList = mayEditKind(viewer, kind);
  refuseStatuses(viewer, status, { defaultStatus: 'publish', knownStatuses: STATUSES, mayList });
  return mayList || context !== 'edit' || 'rest_forbidden_context';
}

export const mayReadCore = (lookUp: LookUp, caller: Caller, kind: PostKind, { id, context }: Selected & ContextValues): Promise<Verdict> =>
  verdictOn(lookUp, caller, kind, id, ({ viewer }, row, metas) => {
    if (context === 'edit' && !mayEdit(viewer, accessRow(row, metas))) return 'rest_forbidden_context';
    return mayRead(viewer, accessRow(row, metas)) ? true : 'rest_forbidden';
  });

export async function mayCreateCore(
  lookUp: LookUp,
  { viewer }: Caller,
  kind: PostKind,
  values: CoreFieldValues & ExistingValues,
): Promise<Verdict> {
  const { id, author, status } = values;
  if (id) return 'rest_post_exists';
  if (lacksOthersCapability(viewer, kind, author)) return 'rest_cannot_edit_others';
  if (!mayEditKind(viewer, kind)) return 'rest_cannot_create';
  if (!(await mayAssignTerms(lookUp, viewer, kind, values))) return 'rest_cannot_assign_term';
  return lacksPublishCapability(viewer, kind, status) ? 'rest_cannot_publish' : true;
}

export const mayChangeCore = (lookUp: LookUp, caller: Caller, kind: PostKind, values: Selected & CoreFieldValues): Promise<Verdict> =>
  verdictOn(lookUp, caller, kind, values.id, async ({ viewer }, row, metas) => {
    const { author, status } = values;
    if (!mayEdit(viewer, accessRow(row, metas))) return 'rest_cannot_edit';
    if (author !== row.post_author && lacksOthersCapability(viewer, kind, author)) return 'rest_cannot_edit_others';
    if (!(await mayAssignTerms(lookUp, viewer, kind, values))) return 'rest_cannot_assign_term';
    return status !== row.post_status && lacksPublishCapability(viewer, kind, status) ? 'rest_cannot_publish' : true;
  });

export const mayDeleteCore = (lookUp: LookUp, caller: Caller, kind: PostKind, { id }: Selected): Promise<Verdict> =>
  verdictOn(lookUp, caller, kind, id, ({ viewer }, row, metas) => (mayDelete(viewer, accessRow(row, metas)) ? true : 'rest_cannot_delete'));

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

// ------------------------------------------------------------------------------------------------- writes
/** Creates a record, as a draft unless a status is named. Returns its id. */
export async function createCorePost(site: Site, caller: Caller, declaredKind: PostKind, values: CoreFieldValues): Promise<number> {
  const kind = kindOnSite(declaredKind, caller.settings);
  return withRouteNames(kind, async () => {
    const { raw, fields, extraRows } = await calendarFields(site, caller, kind, values, undefined);
    const metas = { ...withoutMapMetas(kind, fields), ...extraRows.metas };
    const { status = 'draft' } = fields;
    // An unpublished record has no slug, whatever its kind (`wp_insert_post`).
    const slug = fields.slug || !isFloating(status) ? extraRows.slug : { slug: '' };
    return withExplainedErrors(kind.fields, raw, () =>
      insertRecord(site, caller, kind, { status, ...fields }, { ...extraRows, metas, ...(slug ? { slug } : {}), alwaysCreates: true }),
    );
  });
}

/** Changes the fields of a record that the values name. */
export async function changeCorePost(
  site: Site,
  caller: Caller,
  declaredKind: PostKind,
  id: number,
  values: CoreFieldValues,
): Promise<void> {
  const kind = kindOnSite(declaredKind, caller.settings);
  const post = await postOfRecord(lookUpOnce(site.db), caller, kind, id);
  const metas = (await loadMetas(site.db, [post])).get(post) ?? new Map();
  await withRouteNames(kind, async () => {
    const { raw, fields, extraRows } = await calendarFields(site, caller, kind, values, metas);
    await withExplainedErrors(kind.fields, raw, () => changeRecord(site, caller, kind, id, { values: fields, extraRows }));
  });
}

/**
 * Moves a record to the trash, or deletes it permanently (`force`). Returns the content of the answer.
 *
 * @throws rest_already_trashed; rest_trash_not_supported without `force` if the site has no trash
 */
export async function removeCorePost(site: Site, caller: Caller, kind: PostKind, { id, force }: Removal): Promise<VersionedRecord> {
  if (force) {
    const { record } = await readCorePost(site, caller, kind, id, { context: 'edit' });
    const { _links: _, ...previous } = record;
    await deletePost(site, caller, kind, id);
    return { record: { deleted: true, previous } };
  }
  if (!hasTrash(site.config)) fail('rest_trash_not_supported');
  const post = await postOfRecord(lookUpOnce(site.db), caller, kind, id);
  if ((await findPost(site.db, post))?.post_status === 'trash') fail('rest_already_trashed');
  await trashPost(site, caller, kind, id);
  return readCorePost(site, caller, kind, id, { context: 'edit' });
}

/** WordPress's members, with the calendar's fields that they correspond to. */
const MEMBERS = { content: 'description', excerpt: 'excerpt', slug: 'slug', author: 'author', status: 'status', date: 'date', date_gmt: 'date_utc', featured_media: 'image', tags: 'tags', tribe_events_cat: 'categories' } as const; // biome-ignore format: pairs

const membersOf = (kind: PostKind): [member: string, field: string][] => [['title', kind.titleField], ...Object.entries(MEMBERS)];

/**
 * Converts WordPress's members and metas to the calendar's fields, unchecked (`raw`) and as accepted by the calendar,
 * together with rows outside the fields (`extraRows`).
 */
async function calendarFields(
  site: Site,
  caller: Caller,
  kind: PostKind,
  values: CoreFieldValues,
  storedMetas: Metas | undefined,
): Promise<{ raw: Readonly<Record<string, unknown>>; fields: PostValues; extraRows: ExtraRows }> {
  const { viewer } = caller;
  const change = metaChange(kind, values.meta ?? {}, storedMetas);
  if ('wrong' in change) return refuseMeta(change.wrong);

  // Drafts show an empty slug, so a record can be sent back as it was read.
  const isSent = (name: string) => values[name] !== undefined && values[name] !== null && !(name === 'slug' && values[name] === '');
  const sentFields = membersOf(kind).flatMap(([name, field]) => (isSent(name) ? [[field, values[name]] as const] : []));
  const raw: Record<string, unknown> = { ...Object.fromEntries(sentFields), ...datesOf(caller, values), ...change.fields };
  const acceptedValues = await acceptParams(site, caller, kind.fields, raw, 'change');
  const { password, comment_status, ping_status, excerpt, slug } = values;
  const columns = {
    ...(password === undefined ? {} : { post_password: password }),
    ...(comment_status === undefined ? {} : { comment_status }),
    ...(ping_status === undefined ? {} : { ping_status }),
    ...(excerpt === undefined || 'excerpt' in kind.fields ? {} : { post_excerpt: cleanText(excerpt, viewer) }),
  };
  return {
    raw,
    fields: { ...acceptedValues, ...(slug && !('slug' in kind.fields) ? { slug } : {}) },
    // Drafts may share slugs, but a requested slug must be unique.
    extraRows: { columns, metas: change.metas, ...(slug ? { slug: { unique: true } } : {}) },
  };
}

/**
 * Returns the calendar's fields for the publication date. Null resets the date; a given date is kept, even that of a
 * draft (`WP_REST_Posts_Controller::prepare_item_for_database`).
 */
function datesOf({ settings: { zone }, now }: Caller, values: CoreFieldValues): Record<string, string> {
  if (values.date === null || values.date_gmt === null) return { date: 'now' };
  const dates = values.date || values.date_gmt ? localAndUtcDates(values, zone, now) : null;
  return dates ? { date: dates.local, date_utc: dates.utc } : {};
}

/** Refuses a meta of the wrong type as WordPress does, naming the meta and the member of its list. */
function refuseMeta({ name, type }: WrongMeta): never {
  const param = `meta.${name}`;
  return fail('rest_invalid_type', { values: { param, type }, extraMembers: { additional_data: [{ param }] } });
}

/**
 * Does work that may fail because of a calendar field, and renames the field in the error to the name on these routes.
 */
async function withRouteNames<Result>(kind: PostKind, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw withRenamedFaults(error, kind);
  }
}

function withRenamedFaults(error: unknown, kind: PostKind): unknown {
  if (!(error instanceof ApiError) || !error.details.faults) return error;
  const { faults, sentValues } = error.details;
  if (faults.has('author')) return new ApiError('rest_invalid_author');
  if (faults.has('image')) return new ApiError('rest_invalid_featured_media');
  const members = new Map(membersOf(kind).map(([member, field]) => [field, member]));
  const nameOf = (field: string, fault: Fault) => members.get(field) ?? metaOfField(kind, field, fault);
  const namedFaults = [...faults].map(([field, fault]) => ({ name: nameOf(field, fault), fault, value: sentValues?.get(field) }));
  return new ApiError('rest_invalid_param', {
    faults: new Map(namedFaults.map(({ name, fault }) => [name, fault])),
    sentValues: new Map(namedFaults.flatMap(({ name, value }) => (value ? [[name, value] as const] : []))),
  });
}
