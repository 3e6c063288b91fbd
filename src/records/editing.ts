import { BOUND_NAMES } from '../calendar/window.ts';
import { failParam, refuse } from '../errors.ts';
import type { Condition } from '../kinds/condition.ts';
import { kindOnSite } from '../kinds/custom-fields.ts';
import { editableValues, editorList } from '../kinds/editable.ts';
import { withAllDay } from '../kinds/events/dates.ts';
import { COST, HIDDEN_META } from '../kinds/events/metas.ts';
import { narrowList } from '../kinds/filter.ts';
import type { PostKind, PublishedRecord, Rows } from '../kinds/kind.ts';
import type { Values } from '../kinds/param.ts';
import { translationMembers } from '../kinds/post-record.ts';
import type { Bundle } from '../kinds/rendering.ts';
import { type Suggestion, suggestionIn } from '../kinds/suggestion.ts';
import type { Site } from '../site.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { findPostIds } from '../storage/lists/post-list.ts';
import type { Recurrence } from '../storage/lists/post-query.ts';
import { countVisible } from '../storage/lists/posts-of-type.ts';
import { loadBundle } from '../storage/rows/bundle.ts';
import { decodeEntities } from '../wordpress/content/entities.ts';
import { storedTexts } from '../wordpress/php/serialized.ts';
import { type Post, textsOf } from '../wordpress/rows.ts';
import { SETTABLE_STATUSES } from '../wordpress/status.ts';
import { mapYielding } from '../yielding.ts';
import { bundleOptions, type Caller, renderContext } from './caller.ts';
import { acceptParams } from './input.ts';
import { listQuery } from './list-query.ts';
import { postOfRecord } from './occurrences.ts';
import { pageSize } from './posts.ts';
import { loadedVersion } from './versions.ts';
import { accessRow, listRights, listVisibility, mayDelete, mayEdit, mayEditKind, mayRead } from './visibility.ts';

/*
 * Events, venues and organizers as their editors see them: in any status, with the stored rather than the rendered
 * values.
 */

/** A record to edit: its values under the names of its fields, and their version. */
export interface Editable {
  /** Id of its post; in a list with each date of a recurring event, the id of the date. */
  readonly id: number;
  readonly row: Post;
  /** Its title as plain text; empty if it has none. */
  readonly title: string;
  /** The record as the API shows it to the caller. Also a protected event says whether it lasts all day. */
  readonly record: PublishedRecord;
  readonly values: Values;
  /** The metas of its prices, of which `values` has only the range. */
  readonly prices: Rows['metas'];
  readonly version: string;
  readonly mayEdit: boolean;
  readonly mayDelete: boolean;
  /** The ids of its translations that the caller may edit, too; empty in lists. */
  readonly editableTranslations: ReadonlySet<number>;
  /** The details given by the visitor who suggested it, if any. */
  readonly suggestion: Suggestion | undefined;
}

export interface EditList {
  readonly rows: readonly Editable[];
  readonly total: number;
  readonly page: number;
  readonly pages: number;
  /** The ids of the first records of the whole list, as many as the caller asked for with `first`. */
  readonly firstIds: readonly number[];
  /** Number of records by status, regardless of the list's filters. */
  readonly counts: ReadonlyMap<string, number>;
  /** Number of the caller's own records outside the trash. */
  readonly ownCount: number;
}

/** Whether the caller may edit records of this kind at all. */
export const mayListEditable = ({ viewer }: Caller, kind: PostKind): boolean => mayEditKind(viewer, kind);

/** All statuses except the trash: the default of a list. */
const UNTRASHED_STATUSES = SETTABLE_STATUSES.filter((status) => status !== 'trash');

/**
 * Returns one page of a list of records to edit. `raw`: the kind's own filters, and `author`. Without date limits, a
 * list of events holds those of all times, including events hidden from public lists, newest first. A page past the end
 * becomes the last page. `each`: whether a recurring event is listed once, or with each of its dates under the date's
 * id. `first`: the number of `firstIds`, which take another query only if this page lacks some of them.
 *
 * @throws rest_forbidden, rest_invalid_param
 */
export async function listEditable(
  site: Site,
  caller: Caller,
  declaredKind: PostKind,
  raw: Values,
  { each = 'event', first = 0 }: { readonly each?: Recurrence['each']; readonly first?: number } = {},
): Promise<EditList> {
  const { db } = site;
  const { viewer, settings } = caller;
  const kind = editorList(kindOnSite(declaredKind, settings));
  if (!mayListEditable(caller, kind)) refuse(viewer);
  const values = await acceptParams(site, caller, kind.filters, raw, 'read');
  const { conditions, order } = narrowList(kind, values, caller);
  const limit = pageSize(site, caller, values);
  const isBounded = BOUND_NAMES.some((name) => values[name] !== undefined);
  const query = await listQuery(site, caller, {
    kind,
    rights: listRights(viewer, kind, { statuses: values.status ?? UNTRASHED_STATUSES, editing: true }),
    each,
    conditions: conditions.filter((condition) => !isPublicListDefault(condition, isBounded)),
    order: values.orderby === undefined && values.order === undefined ? { by: order.by, descending: true } : order,
    limit,
    offset: ((values.page ?? 1) - 1) * limit,
    fromIndex: true,
  });
  const [firstPage, counts, ownCounts] = await Promise.all([
    findPostIds(db, query),
    countVisible(db, kind.postType, listVisibility(viewer, kind, { statuses: SETTABLE_STATUSES })),
    countVisible(db, kind.postType, listVisibility(viewer, kind, { statuses: UNTRASHED_STATUSES }), viewer.id),
  ]);
  const pages = Math.max(1, Math.ceil(firstPage.total / limit));
  const page = Math.min(values.page ?? 1, pages);
  const { ids } =
    firstPage.ids.length === 0 && firstPage.total > 0 ? await findPostIds(db, { ...query, offset: (page - 1) * limit }) : firstPage;
  const isPageEnough = first === 0 || pages === 1 || (page === 1 && limit >= first);
  return {
    rows: await editRows(site, caller, kind, ids),
    total: firstPage.total,
    page,
    pages,
    firstIds: isPageEnough ? ids.slice(0, first) : (await findPostIds(db, { ...query, limit: first, offset: 0 })).ids,
    counts,
    ownCount: [...ownCounts.values()].reduce((sum, count) => sum + count, 0),
  };
}

/** Whether a condition comes from the defaults of public lists, which leave out hidden and past events. */
const isPublicListDefault = (condition: Condition, isBounded: boolean): boolean =>
  (condition.by === 'meta' && condition.key === HIDDEN_META && !condition.isPresent) || (condition.by === 'moment' && !isBounded);

async function editRows({ db }: Site, caller: Caller, kind: PostKind, ids: readonly number[]): Promise<Editable[]> {
  const bundle = await loadBundle(db, kind, ids, { ...bundleOptions(caller), translatesLinks: false });
  const loadedRows = ids.flatMap((id): [number, Post][] => (bundle.posts.has(id) ? [[id, bundle.posts.get(id)!]] : []));
  return mapYielding(loadedRows, (one) => editable(caller, kind, one, { bundle, isSingle: false }));
}

/** Builds an editable record. `isSingle`: whether the record lists its translations, which records in lists do not. */
function editable(
  caller: Caller,
  kind: PostKind,
  [id, row]: readonly [id: number, row: Post],
  { bundle, isSingle }: { readonly bundle: Bundle; readonly isSingle: boolean },
): Editable {
  const { viewer, settings } = caller;
  const metas = bundle.metas.get(id);
  const access = accessRow(row, metas);
  const isEditable = mayEdit(viewer, access);
  const context = renderContext(caller, {
    mayRead: (linkedRow) => mayRead(viewer, linkedRow),
    isOpen: (one) => mayEdit(viewer, accessRow(one, bundle.metas.get(one.ID))),
  });
  const baseRecord = withAllDay(kind.render(id, bundle, context), metas);
  const record = isSingle && bundle.languages ? { ...baseRecord, ...translationMembers(id, kind.path, bundle, context) } : baseRecord;
  const storedPost = { row, metas, terms: bundle.terms.get(id) ?? [], record };
  return {
    id,
    row,
    title: decodeEntities(row.post_title),
    record,
    values: editableValues(kind, storedPost, settings),
    prices: Object.fromEntries(
      Object.values(COST).flatMap((key) => (metas?.has(key) ? [[key, storedTexts(textsOf(metas, key))] as const] : [])),
    ),
    version: loadedVersion(caller, id, bundle),
    mayEdit: isEditable,
    mayDelete: mayDelete(viewer, access),
    editableTranslations: new Set(isSingle ? translationRows(row, bundle).flatMap((one) => (mayEdit(viewer, one) ? [one.ID] : [])) : []),
    suggestion: isEditable ? suggestionIn(metas) : undefined,
  };
}

/** Returns the rows of the translations of a record that are not in the trash. */
const translationRows = ({ ID: id, post_type: type }: Post, { posts, languages }: Bundle): Post[] =>
  [...(languages?.posts.get(id)?.members.values() ?? [])].flatMap((member) => {
    const row = posts.get(member) ?? languages?.siblings.get(member);
    return row && member !== id && row.post_type === type && row.post_status !== 'trash' ? [row] : [];
  });

/**
 * Reads a record that the caller may edit. The id of a date of a recurring event names the event.
 *
 * @throws rest_invalid_param (`id`) if there is no such record; rest_forbidden
 */
export async function readEditable(site: Site, caller: Caller, declaredKind: PostKind, recordId: number): Promise<Editable> {
  const kind = kindOnSite(declaredKind, caller.settings);
  const id = await postOfRecord(lookUpOnce(site.db), caller, kind, recordId);
  const bundle = await loadBundle(site.db, kind, [id], { ...bundleOptions(caller), translatesLinks: false });
  const row = bundle.posts.get(id);
  if (row?.post_type !== kind.postType) return failParam('id', 'id-unknown');
  const result = editable(caller, kind, [id, row], { bundle, isSingle: true });
  return result.mayEdit ? result : refuse(caller.viewer);
}
