import { costOnPages } from '../calendar/cost-on-pages.ts';
import { hasTrash } from '../config/config.ts';
import { fail } from '../errors.ts';
import { kindOnSite } from '../kinds/custom-fields.ts';
import { isShownCost } from '../kinds/events/cost.ts';
import { storedDates } from '../kinds/events/dates.ts';
import { metasAt } from '../kinds/events/occurrence.ts';
import { withIdProblems } from '../kinds/id-problems.ts';
import { postKind } from '../kinds/index.ts';
import type { PostKind, PostValues } from '../kinds/kind.ts';
import { withMapMetas } from '../kinds/map-metas.ts';
import type { Bundle } from '../kinds/rendering.ts';
import { DATE_SOURCES, resolveDates } from '../kinds/tec/dates.ts';
import {
  kindValues,
  MAX_PAGE_SIZE,
  narrowTec,
  type TecFieldValues,
  type TecListValues,
  type TecReadValues,
  tecNameOf,
} from '../kinds/tec/params.ts';
import { type TecContext, type TecRecord, tecRecord } from '../kinds/tec/record.ts';
import type { Site } from '../site.ts';
import { type LookUp, lookUpOnce } from '../storage/engine/look-up-once.ts';
import { findPostIds } from '../storage/lists/post-list.ts';
import { loadBundle, loadMetasOf } from '../storage/rows/bundle.ts';
import { findPost } from '../storage/rows/posts.ts';
import type { Metas, Post } from '../wordpress/rows.ts';
import { mapYielding } from '../yielding.ts';
import { bundleOptions, type Caller, renderContext } from './caller.ts';
import { columnText, trustOf } from './clean-text.ts';
import type { CorePage } from './core/lists.ts';
import { listQuery } from './list-query.ts';
import { dateOfRecord, postOfRecord } from './occurrences.ts';
import { withRouteNames } from './route-names.ts';
import { metasInTrash } from './trashed-metas.ts';
import { loadedVersion, type VersionedRecord } from './versions.ts';
import { accessRow, listRights, mayDelete, mayEdit, mayEditKind, mayRead, renderingRights } from './visibility.ts';
import { changeRecord, deletePost, type ExtraRows, insertRecord, trashPost, withLockedPost } from './writes/post-writes.ts';

/*
 * Events, venues and organizers as the calendar's newer API (`tec/v1`) lists, shows and writes them, built on the same
 * functions.
 */

const KINDS = { venue: postKind('venue'), organizer: postKind('organizer') };

/**
 * Lists the requested records: published ones, unless the caller edits records of this kind and names other statuses.
 *
 * @throws tec-page-not-found past the last page
 */
export async function listTecPosts(site: Site, caller: Caller, kind: PostKind, values: TecListValues): Promise<CorePage> {
  const { viewer, settings } = caller;
  const { page = 1, per_page = settings.calendar.postsPerPage ?? settings.postsPerPage, status = ['publish'] } = values;
  const limit = Math.min(per_page, MAX_PAGE_SIZE);
  const statuses = mayEditKind(viewer, kind) ? status : ['publish'];
  const query = await listQuery(site, caller, {
    kind,
    rights: listRights(viewer, kind, { statuses, password: values.password, editing: true }),
    each: 'event',
    ...narrowTec(kind, values, caller),
    limit,
    offset: (page - 1) * limit,
    fromIndex: true,
  });
  const { ids, total } = await findPostIds(site.db, query);
  if (ids.length === 0 && page > 1) fail('tec-page-not-found');
  const { records } = await renderRecords(site, caller, kind, ids, values);
  return { records, total, page, pages: Math.ceil(total / limit), timeliness: 'always' };
}

/**
 * Reads one record.
 *
 * @throws tec-record-unreadable for a record of another kind or in the trash
 */
export async function readTecPost(
  site: Site,
  caller: Caller,
  kind: PostKind,
  id: number,
  values: TecReadValues = {},
): Promise<VersionedRecord> {
  const row = await findPost(site.db, await postOfRecord(lookUpOnce(site.db), caller, kind, id));
  if (row?.post_type !== kind.postType || row.post_status === 'trash') return fail('tec-record-unreadable');
  return readWrittenTecPost(site, caller, kind, id, values);
}

/**
 * Reads a record as the answer to a write, which may have moved it to the trash.
 *
 * @throws tec-record-unreadable if it does not exist any more
 */
export async function readWrittenTecPost(
  site: Site,
  caller: Caller,
  kind: PostKind,
  id: number,
  values: TecReadValues = {},
): Promise<VersionedRecord> {
  const { records, bundle } = await renderRecords(site, caller, kind, [id], values);
  return { record: records[0] ?? fail('tec-record-unreadable'), version: loadedVersion(caller, id, bundle) };
}

/** Renders records by id, in this order; also returns their rows. */
async function renderRecords(
  site: Site,
  caller: Caller,
  kind: PostKind,
  ids: readonly number[],
  { password }: TecReadValues,
): Promise<{ readonly records: TecRecord[]; readonly bundle: Bundle }> {
  const bundle = await loadBundle(site.db, kind, ids, { ...bundleOptions(caller), translatesLinks: false });
  const say = (name: string, words = {}) => site.texts.t(caller.recordLanguage, `site:words.${name}`, words);
  const context: TecContext = {
    ...renderContext(caller, renderingRights(caller.viewer, { password, editing: false })),
    translatesLinks: false,
    language: caller.recordLanguage,
    words: {
      locked: say('locked'),
      allDay: say('all-day'),
      protectedTitle: (title) => say('protected-title', { title }),
      privateTitle: (title) => say('private-title', { title }),
    },
  };
  const foundIds = ids.filter((id) => bundle.posts.has(id));
  return { records: await mapYielding(foundIds, (id) => tecRecord(kind, id, bundle, context, KINDS)), bundle };
}

// ------------------------------------------------------------------------------------------------- permissions
/** Whether the caller may read this record. False if it does not exist or is of another kind. */
export const mayReadTec = (lookUp: LookUp, caller: Caller, kind: PostKind, id: number) =>
  isAllowedByRule(lookUp, caller, kind, id, (viewer, row) => row.post_type === kind.postType && mayRead(viewer, row));

/** Whether the caller may change this record. False if it does not exist. */
export const mayChangeTec = (lookUp: LookUp, caller: Caller, kind: PostKind, id: number) =>
  isAllowedByRule(lookUp, caller, kind, id, mayEdit);

/** Whether the caller may delete this record. False if it does not exist. */
export const mayDeleteTec = (lookUp: LookUp, caller: Caller, kind: PostKind, id: number) =>
  isAllowedByRule(lookUp, caller, kind, id, mayDelete);

async function isAllowedByRule(lookUp: LookUp, caller: Caller, kind: PostKind, id: number, rule: typeof mayRead): Promise<boolean> {
  const row = await lookUp(findPost, await postOfRecord(lookUp, caller, kind, id));
  return row !== undefined && rule(caller.viewer, accessRow(row, await metasInTrash(lookUp, row)));
}

// ------------------------------------------------------------------------------------------------- writes
/**
 * Creates a record from accepted values. Returns its id.
 *
 * @throws rest_missing_callback_param without a title, or for events without both dates
 */
export async function createTecPost(site: Site, caller: Caller, declaredKind: PostKind, values: TecFieldValues): Promise<number> {
  const kind = kindOnSite(declaredKind, caller.settings);
  return withTecNames(kind, values, async () => {
    const fields = fieldsOf(caller, kind, values);
    const missingNames = ['title', ...(kind.hasDates ? ['start_date', 'end_date'] : [])].filter(
      (name) => fields[name === 'title' ? kind.titleField : name] === undefined,
    );
    if (missingNames.length > 0) fail('rest_missing_callback_param', { data: { params: missingNames } });
    const { columns, ...otherRows } = extraRows(caller, kind, values);
    const openColumns = { comment_status: 'open', ping_status: 'open', ...columns };
    return insertRecord(site, caller, kind, fields, {
      ...otherRows,
      columns: openColumns,
      metas: withMapMetas(kind, fields),
      alwaysCreates: true,
    });
  });
}

/** Changes the fields of a record that the values name. Throws tec-record-unreadable for a record of another kind. */
export async function changeTecPost(site: Site, caller: Caller, declaredKind: PostKind, id: number, values: TecFieldValues): Promise<void> {
  const kind = kindOnSite(declaredKind, caller.settings);
  await withTecNames(kind, values, async () => {
    const change = { extraRows: extraRows(caller, kind, values), links: 'readable' } as const;
    const { ID: post } = await requirePost(site, caller, kind, id);
    if (!kind.hasDates) return changeRecord(site, caller, withProblems(kind), id, { values: fieldsOf(caller, kind, values), ...change });
    // A duration, and a cost that is sent back as shown, mean what is stored.
    await withLockedPost(site, post, async (lockingSite) => {
      const fields = fieldsOf(caller, kind, values, await currentMetas(lockingSite, caller, kind, id));
      await changeRecord(lockingSite, caller, withProblems(kind), id, { values: fields, ...change });
    });
  });
}

/** Does work that may fail because of a field, which an error calls as it was sent. */
const withTecNames = <Result>(kind: PostKind, values: TecFieldValues, work: () => Promise<Result>): Promise<Result> =>
  withRouteNames((field) => sentName(tecNameOf(kind, field), values), work);

function sentName(name: string, values: TecFieldValues): string {
  if (Object.hasOwn(values, name)) return name;
  return DATE_SOURCES.get(name)?.find((source) => Object.hasOwn(values, source)) ?? name;
}

/**
 * Moves a record to the trash, or deletes it permanently if the site has no trash.
 *
 * @throws tec-record-in-trash, tec-record-unreadable
 */
export async function removeTecPost(site: Site, caller: Caller, kind: PostKind, id: number): Promise<void> {
  const row = await requirePost(site, caller, kind, id);
  if (row.post_status === 'trash') fail('tec-record-in-trash');
  if (!hasTrash(site.config)) await deletePost(site, caller, withProblems(kind), id);
  else await trashPost(site, caller, withProblems(kind), id);
}

/** Returns the kind with the errors of these routes about a record that another request deletes meanwhile. */
const withProblems = withIdProblems({ isInTrash: 'tec-record-in-trash', missing: 'tec-record-unreadable' });

async function requirePost({ db }: Site, caller: Caller, kind: PostKind, id: number): Promise<Post> {
  const row = await findPost(db, await postOfRecord(lookUpOnce(db), caller, kind, id));
  return row?.post_type === kind.postType ? row : fail('tec-record-unreadable');
}

/**
 * Returns accepted values under the kind's own field names, without a cost that is sent back as these routes show it.
 * `metas`: the current ones of an event.
 */
function fieldsOf(caller: Caller, kind: PostKind, values: TecFieldValues, metas?: Metas): PostValues {
  const fields = kindValues(kind, values);
  if (!kind.hasDates) return fields;
  const { cost, ...otherFields } = fields;
  const keptFields = isShownCost(cost, metas, caller.settings, costOnPages) ? otherFields : fields;
  return { ...keptFields, ...resolveDates(values, metas && storedDates({ metas }), caller) };
}

/** Returns the metas of the event, or of the date of an event, with this id. */
async function currentMetas({ db }: Site, caller: Caller, kind: PostKind, id: number): Promise<Metas> {
  const date = await dateOfRecord(db, caller, kind, id);
  const post = date?.post ?? id;
  const metas = await loadMetasOf(db, post);
  return date ? metasAt(metas, date) : metas;
}

/**
 * Returns the columns that these routes write outside the calendar's fields: whether comments are open, and the
 * excerpts of venues and organizers.
 */
function extraRows({ viewer }: Caller, kind: PostKind, { excerpt, comment_status, ping_status }: TecFieldValues): ExtraRows {
  return {
    columns: {
      ...(isOpenOrClosed(comment_status) ? { comment_status } : {}),
      ...(isOpenOrClosed(ping_status) ? { ping_status } : {}),
      ...('excerpt' in kind.fields || typeof excerpt !== 'string'
        ? {}
        : { post_excerpt: columnText('excerpt', 'post_excerpt', excerpt, trustOf(viewer)) }),
    },
  };
}

const isOpenOrClosed = (value: unknown): value is string => value === 'open' || value === 'closed';
