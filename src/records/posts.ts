import { fail, failParam } from '../errors.ts';
import type { Condition, Order } from '../kinds/condition.ts';
import { event as EVENT } from '../kinds/event.ts';
import { eventTerms } from '../kinds/events/record.ts';
import { narrowList } from '../kinds/filter.ts';
import { ANY_STATUS } from '../kinds/grammars/lists.ts';
import type { PostFields, PostKind, PostListValues, PublishedRecord, TermKind } from '../kinds/kind.ts';
import { isLocked, linkedIds, translationMembers } from '../kinds/post-record.ts';
import type { Bundle, RenderContext } from '../kinds/rendering.ts';
import type { Timeliness } from '../kinds/timeliness.ts';
import type { Site } from '../site.ts';
import type { LookUp } from '../storage/engine/look-up-once.ts';
import type { Page } from '../storage/lists/event-index-list.ts';
import { findPostIds } from '../storage/lists/post-list.ts';
import type { Recurrence } from '../storage/lists/post-query.ts';
import { loadBundle } from '../storage/rows/bundle.ts';
import { findPost, findPostsByPath } from '../storage/rows/posts.ts';
import type { Post } from '../wordpress/rows.ts';
import { slugPathForQuery } from '../wordpress/slug.ts';
import { mapYielding } from '../yielding.ts';
import { bundleOptions, type Caller, renderContext } from './caller.ts';
import { contentConditions, idInLanguage } from './content-lists.ts';
import { listQuery } from './list-query.ts';
import { postOfRecord } from './occurrences.ts';
import { loadRecurrence } from './recurrences.ts';
import { renderedPosts } from './rendered-posts.ts';
import { metasInTrash } from './trashed-metas.ts';
import { loadedVersion, type VersionedRecord } from './versions.ts';
import {
  accessRow,
  listRights,
  mayDelete,
  mayEdit,
  mayEditKind,
  mayRead,
  mayWritePost,
  type Opening,
  renderingRights,
} from './visibility.ts';

/** One page of a list. */
export interface Listing<Published = PublishedRecord> {
  readonly records: readonly Published[];
  readonly total: number;
  readonly pages: number;
  readonly page: number;
  /** Effective parameters for the list's URLs, in order, without the page (decision D21). */
  readonly query: readonly (readonly [string, string])[];
  /** When the list changes without any write. */
  readonly timeliness: Timeliness;
}

/**
 * Lists the events, venues or organizers that match a request and that the caller may see. `longest`: maximum page
 * size, if not the site's.
 *
 * @throws `noSuchPage` of the kind's problems past the last page
 */
export async function listPosts<Published extends PublishedRecord>(
  site: Site,
  caller: Caller,
  kind: PostKind<PostFields, Published>,
  values: PostListValues,
  longest?: number,
): Promise<Listing<Published>> {
  const { page = 1, status: statuses } = values;
  const perPage = pageSize(site, caller, values, longest);
  const { conditions, order, echo, timeliness } = narrowList(kind, values, caller);
  const allConditions = await contentConditions(site, caller, kind, conditions, { fallback: values.language_fallback, linksShownIn });
  const slice = { conditions: allConditions, order, statuses, limit: perPage, offset: (page - 1) * perPage };
  const result = await findPosts(site, caller, kind, slice, values);
  const { total } = result;
  const context = renderContext(caller, rightsOf(caller, values));
  const render = (id: number, bundle: Bundle) => renderRecord(kind, id, bundle, context);
  const records = await renderedPosts(withoutMemoryIfOpened(site, values), caller, kind, render, result);
  if (records.length === 0 && page > 1) fail(kind.problems.noSuchPage);
  const status = statuses?.join(',') ?? (mayEditKind(caller.viewer, kind) ? ANY_STATUS : 'publish');
  return {
    records,
    total,
    pages: Math.ceil(total / perPage),
    page,
    query: [['per_page', String(perPage)], ...echo, ['status', status]],
    timeliness,
  };
}

/** Records, and the rows that they are made of. */
export interface Rendered<Published = PublishedRecord> {
  readonly records: readonly Published[];
  readonly bundle: Bundle;
}

/**
 * Options for reading records: what opens protected ones, whether JSON-LD is included, and whether they are rendered as
 * on their pages. `asPublished`: private and scheduled records are not shown in them, even if the caller may read
 * these; drafts are, since they are published together with a record.
 */
type ReadOptions = OpeningValues & Pick<RenderContext, 'withJsonLd' | 'withinPost'> & { readonly asPublished?: boolean | undefined };

/**
 * Returns the records of a slice of a list that the caller may see, their rows, and the total. `options`: what opens
 * protected ones.
 */
export async function narrowedPosts<Published extends PublishedRecord>(
  site: Site,
  caller: Caller,
  kind: PostKind<PostFields, Published>,
  slice: ListSlice,
  options: ReadOptions,
): Promise<Rendered<Published> & { readonly total: number }> {
  const { ids, total, linked: linkedIds } = await findPosts(site, caller, kind, slice, options);
  const bundle = await loadBundle(site.db, kind, ids, { ...bundleOptions(caller), expected: linkedIds });
  const context = contextOf(caller, options);
  const loadedIds = ids.filter((id) => bundle.posts.has(id));
  return { records: await mapYielding(loadedIds, (id) => renderRecord(kind, id, bundle, context)), bundle, total };
}

function contextOf(caller: Caller, { withJsonLd, withinPost, asPublished, ...opening }: ReadOptions): RenderContext {
  const rights = rightsOf(caller, opening);
  const staysHidden = ({ post_status: status }: Post) => asPublished === true && ['private', 'future'].includes(status);
  const mayReadShown = (row: Post) => !staysHidden(row) && rights.mayRead(row);
  return { ...renderContext(caller, { ...rights, mayRead: mayReadShown }), withJsonLd, withinPost };
}

/** A slice of a list: its conditions, its order, and its position. */
type ListSlice = Listed & { readonly limit: number; readonly offset: number };

/**
 * Finds the ids of the records of a slice that the caller may see, the total, and ids that these records are likely to
 * refer to.
 */
async function findPosts(
  site: Site,
  caller: Caller,
  kind: PostKind,
  { conditions, order, statuses, limit, offset }: ListSlice,
  opening: OpeningValues,
): Promise<Page> {
  const { db, memory } = withoutMemoryIfOpened(site, opening);
  const list = { kind, rights: listRights(caller.viewer, kind, { statuses, ...toOpening(opening) }), conditions, order, limit, offset };
  return findPostIds(db, await listQuery(site, caller, { ...list, each: 'occurrence', fromIndex: true }), memory);
}

/** Returns the site for a request, without the cache of rendered records if the request may see more than others. */
const withoutMemoryIfOpened = (site: Site, { password, context }: OpeningValues): Site => {
  const { memory: _, ...siteWithoutMemory } = site;
  return password === undefined && (context === undefined || context === 'view') ? site : siteWithoutMemory;
};

/** Returns records by id, in this order, as far as the caller may read them; protected ones are included. */
export async function readablePosts<Published extends PublishedRecord>(
  { db }: Site,
  caller: Caller,
  kind: PostKind<PostFields, Published>,
  ids: readonly number[],
  options: ReadOptions = {},
): Promise<Rendered<Published>> {
  const { viewer } = caller;
  const bundle = await loadBundle(db, kind, ids, bundleOptions(caller));
  const context = contextOf(caller, options);
  const readableIds = ids.filter((id) => {
    const row = bundle.posts.get(id);
    return row?.post_type === kind.postType && mayRead(viewer, accessRow(row, bundle.metas.get(id)));
  });
  return { records: await mapYielding(readableIds, (id) => renderRecord(kind, id, bundle, context)), bundle };
}

/** The conditions and the order of a list, and the statuses in it. */
export interface Listed {
  readonly conditions: readonly Condition[];
  readonly order: Order;
  readonly statuses: readonly string[] | undefined;
}

/**
 * Returns the ids of all records of such a list that the caller may see, on one page, for bulk output. `each`: whether
 * a recurring event is listed with the id of its post or with those of its dates.
 */
export async function listedIds(
  site: Site,
  caller: Caller,
  kind: PostKind,
  { conditions, order, statuses }: Listed,
  each: Recurrence['each'] = 'event',
): Promise<number[]> {
  const rights = listRights(caller.viewer, kind, { statuses, editing: false });
  const list = { kind, rights, each, conditions, order, limit: MAX_LISTED, offset: 0 };
  const { ids } = await findPostIds(site.db, await listQuery(site, caller, list));
  return ids;
}

const MAX_LISTED = 2 ** 31 - 1;

/**
 * Returns the page size: the requested one, up to the site's limit, or by default that of the calendar or of WordPress.
 */
export function pageSize(
  { config }: Site,
  { settings }: Caller,
  { per_page }: { readonly per_page?: number | undefined },
  longest = config.maxPerPage,
): number {
  return Math.min(per_page ?? settings.calendar.postsPerPage ?? settings.postsPerPage, longest);
}

/** Returns the ids of the terms of an event, as its record shows them. */
export async function termsShownIn({ db }: Site, caller: Caller, { taxonomy }: TermKind, id: number): Promise<number[]> {
  const bundle = await loadBundle(db, EVENT, [id], bundleOptions(caller));
  if (!bundle.posts.has(id)) return [];
  const terms = eventTerms(id, bundle, renderContext(caller, rightsOf(caller, {})));
  return terms.filter((term) => term.taxonomy === taxonomy).map((term) => term.term_id);
}

/** Returns the ids of the venues or organizers that it links to by a meta, as its record shows them. */
async function linksShownIn({ db }: Site, caller: Caller, key: string, id: number): Promise<number[]> {
  const bundle = await loadBundle(db, EVENT, [id], bundleOptions(caller));
  return bundle.posts.has(id) ? linkedIds(id, key, bundle, renderContext(caller, rightsOf(caller, {}))) : [];
}

/**
 * Reads one record, with its JSON-LD. `recurrence` requests the rule of an event; such an answer must not be cached.
 *
 * @throws the kind's errors, in this order: not found, another kind, in the trash, not accessible, protected. For kinds
 * without errors of their own: rest_invalid_param for an id that belongs to none of their records
 */
export async function readPost<Published extends PublishedRecord>(
  site: Site,
  caller: Caller,
  kind: PostKind<PostFields, Published>,
  id: number,
  options: OpeningValues & { readonly recurrence?: boolean | undefined } = {},
): Promise<VersionedRecord<Published>> {
  const { viewer } = caller;
  const bundle = await loadBundle(site.db, kind, [id], bundleOptions(caller));
  const row = bundle.posts.get(id);
  const { byId, locked, notAccessible } = kind.problems;
  if (byId) {
    if (!row) return fail(byId.missing);
    if (row.post_type !== kind.postType) return fail(byId.otherType);
    if (row.post_status === 'trash') return fail(byId.trashed);
  }
  const post = row?.post_type === kind.postType ? row : failParam('id', 'id-unknown');
  if (!mayRead(viewer, accessRow(post, bundle.metas.get(id)))) return fail(notAccessible);
  const context = { ...renderContext(caller, rightsOf(caller, options)), withJsonLd: true };
  if (locked && isLocked(post, context)) return fail(locked);
  const rule =
    kind.hasDates && options.recurrence ? { recurrence: await loadRecurrence(site, caller, post.ID, bundle.metas.get(post.ID)) } : {};
  return { record: { ...renderRecord(kind, id, bundle, context), ...rule }, version: loadedVersion(caller, id, bundle) };
}

/** Renders a record for itself or for a list, with its translations. Records within other records do not have them. */
const renderRecord = <Published extends PublishedRecord>(
  kind: PostKind<PostFields, Published>,
  id: number,
  bundle: Bundle,
  context: RenderContext,
): Published => {
  const record = kind.render(id, bundle, context);
  return bundle.languages ? { ...record, ...translationMembers(id, kind.path, bundle, context) } : record;
};

/**
 * Returns what the caller may read, and what the request opens: by `password`, or by `context=edit` for callers who may
 * edit.
 */
const rightsOf = ({ viewer }: Caller, values: OpeningValues) => renderingRights(viewer, toOpening(values));

/** The parts of a request that open protected records. */
interface OpeningValues {
  readonly password?: string | undefined;
  readonly context?: unknown;
}

const toOpening = ({ password, context }: OpeningValues): Opening => ({ password, editing: context === 'edit' });

/**
 * Renders a record as the answer to a write, without JSON-LD.
 *
 * @throws not found, if the record has been deleted in the meantime
 */
export async function renderPost(
  site: Site,
  caller: Caller,
  kind: PostKind,
  id: number,
  expectedIds: readonly number[] = [],
): Promise<Required<VersionedRecord>> {
  const [versionedRecord] = await renderPosts(site, caller, kind, [id], expectedIds);
  return versionedRecord!;
}

/** Renders several records that were written together. */
export async function renderPosts(
  site: Site,
  caller: Caller,
  kind: PostKind,
  ids: readonly number[],
  expectedIds: readonly number[] = [],
): Promise<Required<VersionedRecord>[]> {
  const bundle = await loadBundle(site.db, kind, ids, { ...bundleOptions(caller), expected: expectedIds });
  return mapYielding(ids, (id) => {
    if (!bundle.posts.has(id)) return refuseMissing(kind);
    const isWrittenRow = (row: Post) => row === bundle.posts.get(id) && kind.showsProtectedAfterWrite;
    const record = renderRecord(kind, id, bundle, renderContext(caller, { ...rightsOf(caller, {}), isOpen: isWrittenRow }));
    return { record, version: loadedVersion(caller, id, bundle) };
  });
}

/** Throws the error for a missing record, as reading it does. */
const refuseMissing = ({ problems: { byId } }: PostKind): never => (byId ? fail(byId.missing) : failParam('id', 'id-unknown'));

/**
 * Returns the id of the record that a by-slug address names, in any status; undefined if there is none. A child is
 * named by its whole path, `parent%2Fchild`. Among several records it is the one in the requested language, otherwise
 * one without a language, otherwise the first.
 */
export const postIdOfSlug = async (site: Site, kind: PostKind, slug: string, caller: Caller): Promise<number | undefined> =>
  idInLanguage(site.db, caller, kind, await postIdsOfSlug(site, kind, slug));

/** Returns the ids of all records that such a slug or path names: drafts and translations may share a slug. */
export const postIdsOfSlug = ({ db }: Site, kind: PostKind, slug: string): Promise<number[]> =>
  findPostsByPath(db, kind.postType, slugPathForQuery(slug));

// ------------------------------------------------------------------------------------------------- permissions
/** Whether the caller may create records of this kind. */
export const mayCreate = ({ viewer }: Caller, kind: PostKind): boolean => mayEditKind(viewer, kind);

/**
 * Whether the caller may change this record. For a missing record that has its own error, the general capability is
 * sufficient, so that its holders get that error.
 */
export const mayChange = (lookUp: LookUp, caller: Caller, kind: PostKind, id: number): Promise<boolean> =>
  mayWrite(lookUp, caller, kind, id, 'edit');
/** Whether the caller may move this record to the trash, or delete it; like `mayChange`. */
export const mayTrash = (lookUp: LookUp, caller: Caller, kind: PostKind, id: number): Promise<boolean> =>
  mayWrite(lookUp, caller, kind, id, 'delete');

async function mayWrite(lookUp: LookUp, caller: Caller, kind: PostKind, recordId: number, action: 'edit' | 'delete'): Promise<boolean> {
  const { viewer } = caller;
  if (!viewer.can(`${action}_${kind.capabilities}`)) return false;
  const id = await postOfRecord(lookUp, caller, kind, recordId);
  const row = await lookUp(findPost, id);
  if (!row) return kind.problems.byId !== undefined;
  // WordPress checks the permission for the actual type of the id, so that callers who have it learn of the mistake.
  if (row.post_type !== kind.postType) return mayWritePost(action, viewer, row);
  const metas = await metasInTrash(lookUp, row);
  return (action === 'edit' ? mayEdit : mayDelete)(viewer, accessRow(row, metas));
}
