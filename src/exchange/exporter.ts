import type { Condition } from '../kinds/condition.ts';
import { metasOf } from '../kinds/custom-fields.ts';
import { HIDDEN_META } from '../kinds/events/metas.ts';
import { narrowList } from '../kinds/filter.ts';
import { postKind, postKinds, termKind } from '../kinds/index.ts';
import type { PostListValues } from '../kinds/kind.ts';
import { LINKED_KIND_NAMES, type PostKindName, type TermKindName } from '../kinds/kind-names.ts';
import { SUGGESTION_META } from '../kinds/suggestion.ts';
import type { Caller } from '../records/caller.ts';
import { listedIds } from '../records/posts.ts';
import { accessRow, listVisibility, mayEdit, mayRead } from '../records/visibility.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { pagesById, pagesOf } from '../storage/engine/pages.ts';
import { authorsOfPosts, linksOfPosts, termsOfPosts } from '../storage/lists/named-by-posts.ts';
import { idsOfType, visibleIds } from '../storage/lists/posts-of-type.ts';
import { loadMetas, loadPosts } from '../storage/rows/bundle.ts';
import { readOptions } from '../storage/rows/options.ts';
import { loadUsers } from '../storage/rows/users.ts';
import { SETTABLE_STATUSES } from '../wordpress/status.ts';
import { IMPORTED_OPTIONS } from './import/imported-settings.ts';
import { settingsItem } from './import/write-settings.ts';
import { fieldsItem } from './items/field-definitions.ts';
import { withLanguages } from './items/item-languages.ts';
import { type Entry, type Item, isItem, LINK_METAS, type PostItem, shownLinks } from './items/items.ts';
import type { NonItemEntry } from './items/report.ts';
import { authorItem, POST_ORDER, postItems, termItems, termPlaces, typeOf, withRecurrence } from './items/site-items.ts';

export interface ExportOptions {
  /** Only these kinds, with the venues, organizers, images and terms that they reference. Absent: everything. */
  readonly kinds?: readonly PostKindName[];
  /** Accepted list filters of the one kind that is exported. */
  readonly filters?: PostListValues;
  /** Statuses to export if the filters name none. Absent: all that the caller may see, including the trash. */
  readonly statuses?: readonly string[];
  /**
   * For formats without statuses and passwords: omits records that a password protects, and referenced venues and
   * organizers that are not published.
   */
  readonly publicOnly?: boolean;
  /** For formats without recurrence rules: exports only those dates of a recurring event that the filters select. */
  readonly eachDate?: boolean;
}

/** Page sizes for records and for ids. */
const PAGE_SIZE = 200;
const ID_PAGE_SIZE = 2000;

/**
 * List bounds for exports. A list of events without bounds covers today until two years from now; an export is limited
 * only by bounds that were asked for.
 */
const WIDEST_BOUNDS = { start_date: '1000-01-01', end_date: '9999-12-31' };

/**
 * Yields everything the caller may see as items: settings, authors, terms, attachments, venues, organizers, events, and
 * entries for what was left out. Visibility follows the same rules as lists. If the caller may not edit a record, only
 * its published data is exported; records that a password protects are left out, and so are links to them.
 */
export async function* exportEntries(site: Site, caller: Caller, options: ExportOptions = {}): AsyncGenerator<Entry> {
  const { db } = site;
  const { viewer } = caller;
  const ids = await idsToExport(site, caller, options);
  const isWhole = options.kinds === undefined && viewer.can('manage_options');
  if (isWhole) yield settingsItem(await readOptions(db, IMPORTED_OPTIONS));
  else yield* fieldsItem(caller.settings.calendar.customFields);
  const logins = new Map<number, string>();
  for (const item of await authorItems(db, caller, ids)) {
    if (item.kind === 'author') {
      logins.set(item.id ?? 0, item.login);
      yield item;
    }
  }
  const { contentLanguages } = caller.settings;
  const places = await termPlaces(db);
  const terms = await termItems(db, places, options.kinds === undefined ? undefined : await usedTerms(db, ids));
  // Plugin metas of terms are exported only for users who manage the site.
  yield* await withLanguages(db, contentLanguages, isWhole ? terms : terms.map(({ metas: _, ...term }) => term));
  for (const kind of POST_ORDER) {
    for (const page of pagesOf([...ids[kind]], PAGE_SIZE)) {
      const loaded = await postItems(db, kind, page, { author: (id) => logins.get(id), uploads: caller.uploads, places });
      const itemsWithLanguages = await withLanguages(db, contentLanguages, loaded);
      const items = kind === 'event' ? await withRecurrence(db, itemsWithLanguages, caller.settings) : itemsWithLanguages;
      const rights = await accessTo(db, caller, kind, page);
      for (const item of items) yield* postEntries({ caller, options, ids }, item, rights.get(item.id ?? 0));
    }
  }
}

/** Whether the caller may edit a record or only read it. */
type Access = 'edit' | 'read';

/** State of an export. `ids` holds everything that is exported; records that are left out are removed from it. */
interface Export {
  readonly caller: Caller;
  readonly options: ExportOptions;
  readonly ids: Ids;
}

/**
 * Yields a record as it is exported, and an entry for what was left out of it. `access` is undefined if it was
 * withdrawn or removed while others were exported.
 */
function* postEntries({ caller, options, ids }: Export, item: PostItem, access: Access | undefined): Generator<Entry> {
  const isLocked = item.columns.post_password !== '' && (access === 'read' || options.publicOnly === true);
  const isUnpublished = options.publicOnly === true && item.columns.post_status !== 'publish' && isOnlyReferenced(item.kind, options);
  if (access === undefined || isLocked || isUnpublished) {
    ids[item.kind].delete(item.id ?? 0);
    if (isLocked) yield lossEntry(item, 'protected');
    return;
  }
  const readableLinks = access === 'read' ? shownLinks(item) : item.links;
  const links = readableLinks.filter((link) => 'sourceId' in link && ids[link.kind].has(Number(link.sourceId)));
  if (links.length < readableLinks.length) yield lossEntry(item, 'link-left-out');
  const metas = item.metas.filter(([key]) => (access === 'read' ? isPublished(key, caller) : key !== SUGGESTION_META));
  // The sender of an event that has been published is no longer needed.
  const isPublic = item.columns.post_status === 'publish';
  if (access === 'edit' && !isPublic && metas.length < item.metas.length) yield lossEntry(item, 'sender-left-out');
  const { series, ...rest } = withSelectedDates(item, ids);
  yield {
    ...rest,
    links,
    metas,
    ...seriesOf(series, caller, access),
  };
}

/** Returns the series of an event. For events of other users, only a public series, with its public fields. */
function seriesOf(series: PostItem['series'], caller: Caller, access: Access): Pick<PostItem, 'series'> {
  if (!series || access === 'edit') return series ? { series } : {};
  if (series.columns.post_status !== 'publish' || series.columns.post_password !== '') return {};
  return { series: { ...series, metas: series.metas.filter(([key]) => isPublished(key, caller)) } };
}

/** Yields only the items; passes entries about omissions to `onLoss`. */
export async function* itemsOf(entries: AsyncIterable<Entry>, onLoss: (entry: NonItemEntry) => void): AsyncGenerator<Item> {
  for await (const entry of entries) {
    if (isItem(entry)) yield entry;
    else onLoss(entry);
  }
}

/** Whether records of a kind are exported only because other records reference them. */
const isOnlyReferenced = (kind: PostItem['kind'], { kinds }: ExportOptions): boolean =>
  kind !== 'attachment' && kinds !== undefined && !kinds.includes(kind);

type Ids = Readonly<Record<PostItem['kind'], Set<number>>> & {
  /** Public ids of the dates that the filters selected; undefined means all. */
  dates?: Set<number> | undefined;
};

/** Returns an event with only those of its dates that were selected. */
function withSelectedDates({ recurrence, ...item }: PostItem, { dates: selectedDates }: Ids): PostItem {
  if (!recurrence?.recurs) return recurrence ? { ...item, recurrence } : item;
  const dates = recurrence.dates.filter(({ id }) => selectedDates?.has(recurrence.base + id) ?? true);
  return { ...item, recurrence: { ...recurrence, dates, ...(dates.length < recurrence.dates.length ? { partial: true } : {}) } };
}

const lossEntry = (item: PostItem, reason: string): Entry => ({
  kind: 'loss',
  loss: { reason, kind: item.kind, of: item.columns.post_title || item.sourceId },
});

/** Returns the ids of everything that is exported. */
async function idsToExport(site: Site, caller: Caller, options: ExportOptions): Promise<Ids> {
  const { db } = site;
  const ids: Ids = { attachment: new Set(), venue: new Set(), organizer: new Set(), event: new Set() };
  for (const kind of options.kinds ?? postKinds.map(({ name }) => name)) {
    for await (const page of idsOfKind(site, caller, kind, options)) for (const id of page) ids[kind].add(id);
  }
  ids.dates = await datesToExport(site, caller, options);
  if (options.kinds === undefined && caller.viewer.can('upload_files')) {
    const readPage = (after: number, size: number) => idsOfType(db, 'attachment', after, size);
    for await (const page of pagesById(ID_PAGE_SIZE, readPage)) for (const id of page) ids.attachment.add(id);
  }
  await addReferenced(site, caller, ids, ids.event);
  for (const kind of LINKED_KIND_NAMES) await addReferenced(site, caller, ids, ids[kind]);
  return ids;
}

/** Returns public ids of the event dates that the filters select, or undefined if all dates are exported. */
async function datesToExport(
  site: Site,
  caller: Caller,
  { kinds, filters, statuses, eachDate }: ExportOptions,
): Promise<Set<number> | undefined> {
  if (!eachDate || !kinds?.includes('event') || filters === undefined || !isNarrowed(filters)) return undefined;
  const requestedStatuses = filters.status ?? statuses ?? SETTABLE_STATUSES;
  return new Set(await filteredIds(site, caller, 'event', { filters, statuses: requestedStatuses, each: 'occurrence' }));
}

const isNarrowed = (filters: PostListValues): boolean => Object.keys(filters).some((name) => name !== 'status');

/** Yields the requested ids of a kind, a page at a time. */
async function* idsOfKind(
  site: Site,
  caller: Caller,
  kind: PostKindName,
  { filters, statuses }: ExportOptions,
): AsyncGenerator<readonly number[]> {
  const requestedStatuses = filters?.status ?? statuses ?? SETTABLE_STATUSES;
  if (filters !== undefined && isNarrowed(filters)) {
    yield await filteredIds(site, caller, kind, { filters, statuses: requestedStatuses });
    return;
  }
  const visible = listVisibility(caller.viewer, postKind(kind), { statuses: requestedStatuses });
  yield* pagesById(ID_PAGE_SIZE, (after, size) => visibleIds(site.db, postKind(kind).postType, visible, { after, limit: size }));
}

async function filteredIds(
  site: Site,
  caller: Caller,
  kind: PostKindName,
  { filters, statuses, each = 'event' }: { filters: PostListValues; statuses: readonly string[]; each?: 'event' | 'occurrence' },
): Promise<number[]> {
  const params = postKind(kind).hasDates ? { ...WIDEST_BOUNDS, ...filters } : filters;
  const { conditions, order } = narrowList(postKind(kind), params, caller);
  const filterConditions = conditions.filter((condition) => !isHiddenFilter(condition));
  return listedIds(site, caller, postKind(kind), { conditions: filterConditions, order, statuses }, each);
}

/** Whether a condition excludes events that are hidden from lists, which are still exported. */
const isHiddenFilter = (condition: Condition): boolean => condition.by === 'meta' && condition.key === HIDDEN_META && !condition.isPresent;

/** Adds the records that others reference: venues and organizers that the caller may read, and images. */
async function addReferenced({ db }: Site, { viewer }: Caller, ids: Ids, postIds: ReadonlySet<number>): Promise<void> {
  const links = await linksOfPosts(db, [...postIds], [...LINK_METAS.keys()]);
  for (const page of pagesOf([...new Set(links.map(({ id }) => id))], PAGE_SIZE)) {
    const [rows, metas] = [await loadPosts(db, page), await loadMetas(db, page)];
    for (const { key, id } of links) {
      const row = rows.get(id);
      const kind = LINK_METAS.get(key);
      if (!row || !kind || row.post_type !== typeOf(kind)) continue;
      if (kind === 'attachment' || (row.post_status !== 'trash' && mayRead(viewer, accessRow(row, metas.get(id))))) ids[kind].add(id);
    }
  }
}

async function usedTerms(db: Database, ids: Ids): Promise<Record<TermKindName, Set<number>>> {
  const termsOfKind = (kind: TermKindName) => termsOfPosts(db, [...ids.event], termKind(kind).taxonomy);
  return { category: await termsOfKind('category'), tag: await termsOfKind('tag') };
}

/**
 * Returns the authors of the exported records. Logins and email addresses are included only if the caller may list
 * users; otherwise, the public name is.
 */
async function authorItems(db: Database, { viewer }: Caller, ids: Ids): Promise<Item[]> {
  const authorIds = new Set<number>();
  for (const kind of POST_ORDER) for (const id of await authorsOfPosts(db, [...ids[kind]])) authorIds.add(id);
  const users = await loadUsers(db, [...authorIds], ['first_name', 'last_name']);
  return [...users.values()].map((user) => {
    const { columns: _columns, ...item } = authorItem(user, db.prefix);
    if (viewer.can('list_users')) return item;
    const { user_nicename: name, display_name: displayName, ID: id } = user.row;
    return { kind: 'author', sourceId: name, id, login: name, email: '', displayName, metas: [] };
  });
}

/** Returns for each of these records that the caller may read whether the caller may edit it or only read it. */
async function accessTo(
  db: Database,
  { viewer }: Caller,
  kind: PostItem['kind'],
  ids: readonly number[],
): Promise<ReadonlyMap<number, Access>> {
  if (kind === 'attachment') return new Map(ids.map((id) => [id, 'edit']));
  const [rows, metas] = [await loadPosts(db, ids), await loadMetas(db, ids)];
  return new Map(
    [...rows].flatMap(([id, row]): (readonly [number, Access])[] => {
      const access = accessRow(row, metas.get(id));
      return mayEdit(viewer, access) ? [[id, 'edit']] : mayRead(viewer, access) ? [[id, 'read']] : [];
    }),
  );
}

/** Whether a meta is visible in the published record. */
const isPublished = (key: string, { settings }: Caller): boolean =>
  /^_(Event|Venue|Organizer)[A-Z]|^_tribe_featured$/.test(key) ||
  settings.calendar.customFields.some((field) => metasOf(field).includes(key));
