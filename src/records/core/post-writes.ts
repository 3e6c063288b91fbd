import { hasTrash } from '../../config/config.ts';
import { ApiError, fail } from '../../errors.ts';
import { metaChange, metaOfField, type WrongMeta } from '../../kinds/core/meta.ts';
import type { Removal } from '../../kinds/core/params.ts';
import type { CoreFieldValues } from '../../kinds/core/post-params.ts';
import { coreTerms } from '../../kinds/core/term.ts';
import { kindOnSite } from '../../kinds/custom-fields.ts';
import { withIdProblems } from '../../kinds/id-problems.ts';
import type { PostKind, PostValues } from '../../kinds/kind.ts';
import { withoutMapMetas } from '../../kinds/map-metas.ts';
import type { Values } from '../../kinds/param.ts';
import type { Site } from '../../site.ts';
import { lookUpOnce } from '../../storage/engine/look-up-once.ts';
import { loadMetasOf } from '../../storage/rows/bundle.ts';
import { findPost } from '../../storage/rows/posts.ts';
import type { Metas } from '../../wordpress/rows.ts';
import { isFloating } from '../../wordpress/status.ts';
import type { Caller } from '../caller.ts';
import { columnText, trustOf } from '../clean-text.ts';
import { withExplainedErrors } from '../explanation.ts';
import { acceptParams } from '../input.ts';
import { postOfRecord } from '../occurrences.ts';
import { withRouteNames } from '../route-names.ts';
import type { VersionedRecord } from '../versions.ts';
import { changeRecord, deletePost, type ExtraRows, insertRecord, trashPost, withLockedPost } from '../writes/post-writes.ts';
import { isStoredDate, localAndUtcDates, type StoredDate } from './lists.ts';
import { readCorePost } from './posts.ts';

/** Creates a record, as a draft unless a status is named. Returns its id. */
export async function createCorePost(site: Site, caller: Caller, declaredKind: PostKind, values: CoreFieldValues): Promise<number> {
  const kind = kindOnSite(declaredKind, caller.settings);
  return withMembers(kind, async () => {
    const { raw, fields, extraRows } = await calendarFields(site, caller, kind, values);
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
  await withLockedPost(site, post, async (lockingSite, row) => {
    const stored = { metas: await loadMetasOf(lockingSite.db, post), date: row };
    await withMembers(kind, async () => {
      const { raw, fields, extraRows } = await calendarFields(lockingSite, caller, kind, values, stored);
      const change = { values: fields, extraRows };
      await withExplainedErrors(kind.fields, raw, () => changeRecord(lockingSite, caller, withProblems(kind), id, change));
    });
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
    await deletePost(site, caller, withProblems(kind), id);
    return { record: { deleted: true, previous } };
  }
  if (!hasTrash(site.config)) fail('rest_trash_not_supported');
  const post = await postOfRecord(lookUpOnce(site.db), caller, kind, id);
  if ((await findPost(site.db, post))?.post_status === 'trash') fail('rest_already_trashed');
  await trashPost(site, caller, withProblems(kind), id);
  return readCorePost(site, caller, kind, id, { context: 'edit' });
}

/** Returns the kind with WordPress's errors about a record that another request deletes while this one waits for it. */
const withProblems = withIdProblems({ isInTrash: 'rest_already_trashed', missing: 'rest_post_invalid_id' });

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
  stored: { readonly metas?: Metas; readonly date?: StoredDate | undefined } = {},
): Promise<{ raw: Readonly<Record<string, unknown>>; fields: PostValues; extraRows: ExtraRows }> {
  const trust = trustOf(caller.viewer);
  const change = metaChange(kind, values.meta ?? {}, { metas: stored.metas, ...trust });
  if ('wrong' in change) return refuseMeta(change.wrong);

  // Drafts show an empty slug, so a record can be sent back as it was read.
  const isSent = (name: string) => values[name] !== undefined && values[name] !== null && !(name === 'slug' && values[name] === '');
  const taxonomies = new Set(coreTerms(kind).map(({ restBase }) => restBase));
  const fieldValue = (name: string) => (taxonomies.has(name) ? termsById(values[name]) : values[name]);
  const sentFields = membersOf(kind).flatMap(([name, field]) => (isSent(name) ? [[field, fieldValue(name)] as const] : []));
  const raw: Record<string, unknown> = { ...Object.fromEntries(sentFields), ...datesOf(caller, values, stored.date), ...change.fields };
  const acceptedValues = await acceptParams(site, caller, kind.fields, raw, 'change');
  const { password, comment_status, ping_status, excerpt, slug } = values;
  const columns = {
    ...(password === undefined ? {} : { post_password: password }),
    ...(comment_status === undefined ? {} : { comment_status }),
    ...(ping_status === undefined ? {} : { ping_status }),
    ...(excerpt === undefined || 'excerpt' in kind.fields ? {} : { post_excerpt: columnText('excerpt', 'post_excerpt', excerpt, trust) }),
  };
  return {
    raw,
    fields: { ...acceptedValues, ...(slug && !('slug' in kind.fields) ? { slug } : {}) },
    // Drafts may share slugs, but a requested slug must be unique.
    extraRows: {
      columns,
      metas: change.metas,
      kept: change.kept,
      ...(slug ? { slug: { unique: true } } : {}),
      resetsDate: resetsDate(values),
    },
  };
}

/**
 * Returns ids of terms as the calendar's field takes them, so that an id without a term is left out
 * (`wp_set_object_terms`): a bare number would also be the slug or the name of a term.
 */
const termsById = (ids: unknown): unknown => (Array.isArray(ids) ? ids.flatMap((id) => (id > 0 ? [{ id }] : [])) : ids);

/** Whether a write takes the publication date away (`WP_REST_Posts_Controller::prepare_item_for_database`). */
const resetsDate = ({ date, date_gmt }: CoreFieldValues): boolean => date === null || date_gmt === null;

/**
 * Returns the calendar's fields for the publication date. A date that is reset is the present one; a given date is
 * kept, even that of a draft. The stored date changes nothing.
 */
function datesOf({ settings: { zone }, now }: Caller, values: CoreFieldValues, stored: StoredDate | undefined): Values {
  if (resetsDate(values)) return { date: 'now' };
  const dates = values.date || values.date_gmt ? localAndUtcDates(values, zone, now) : null;
  if (!dates) return {};
  return stored && isStoredDate(values, dates, stored)
    ? { date: undefined, date_utc: undefined }
    : { date: dates.local, date_utc: dates.utc };
}

/** Refuses a meta of the wrong type as WordPress does, naming the meta and the member of its list. */
function refuseMeta({ name, type }: WrongMeta): never {
  const param = `meta.${name}`;
  return fail('rest_invalid_type', { values: { param, type }, extraMembers: { additional_data: [{ param }] } });
}

/** Does work that may fail because of a calendar field, with WordPress's names and errors. */
function withMembers<Result>(kind: PostKind, work: () => Promise<Result>): Promise<Result> {
  const members = new Map(membersOf(kind).map(([member, field]) => [field, member]));
  return withRouteNames(
    (field, fault) => members.get(field) ?? metaOfField(kind, field, fault),
    () => withMemberProblems(work),
  );
}

/** Replaces the error about a field by that of WordPress about this member, if it has one. */
async function withMemberProblems<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const faults = error instanceof ApiError ? error.details.faults : undefined;
    if (faults?.has('author')) fail('rest_invalid_author');
    if (faults?.has('image')) fail('rest_invalid_featured_media');
    throw error;
  }
}
