import { parseEventTime } from '../../calendar/dates.ts';
import { ApiError, fail, failParam, refuse } from '../../errors.ts';
import { checkCustomFields } from '../../kinds/custom-fields.ts';
import type { PostKind, PostValues, Rows, StoredPost } from '../../kinds/kind.ts';
import type { Field } from '../../kinds/param.ts';
import { hasVisibleText } from '../../wordpress/content/plain-text.ts';
import { metaOf, type Post } from '../../wordpress/rows.ts';
import { settleSlug } from '../../wordpress/slug.ts';
import { type SettledDates, settleDates, settleStatus } from '../../wordpress/status.ts';
import { utcFromDate } from '../../wordpress/time.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import { localFromDate, toLocal, toUtc, UTC } from '../../wordpress/zones.ts';
import type { Caller } from '../caller.ts';
import { trustOf } from '../clean-text.ts';
import { accessRow, mayDelete } from '../visibility.ts';
import { deriveRows, fieldRows } from './post-rows.ts';

/** The columns, metas and slug that a write will store, determined before anything is looked up or written. */
export interface PostPlan extends Rows {
  /** The requested slug; `unique`: no other post may have it. */
  readonly slug: { readonly slug: string; readonly unique: boolean };
}

/**
 * Plans the columns and metas of a new record or of a change, with its status and dates (decisions D1, D33, D36).
 * `source`: the record that a new one is a translation of, whose dates are the starting point. Pure: every refusal that
 * depends only on the values happens here, before a row is written.
 *
 * @throws errors about the title, the status, the dates, the cost, the custom fields; rest_forbidden for an author that
 * the caller may not set
 */
export function planPost(caller: Caller, kind: PostKind, values: PostValues, before?: StoredPost, source?: StoredPost): PostPlan {
  const { viewer } = caller;
  const ownRows = fieldRows(kind, values, trustOf(viewer));
  const { post_title: title, post_author: author } = ownRows.columns;
  checkTitle(kind, title, before);
  checkSlug(values, before);
  checkAuthor(caller, kind, author, before?.row.post_author ?? viewer.id);
  checkPromotion(caller, kind, values, before);
  const derivedRows = deriveRows(kind, values, before ?? source, caller);
  const dates = settleStatusAndDates(caller, kind, values, before);
  return {
    columns: {
      ...(before ? {} : { post_author: viewer.id, post_type: kind.postType }),
      ...ownRows.columns,
      ...derivedRows.columns,
      ...dateColumns(dates),
    },
    metas: { ...ownRows.metas, ...derivedRows.metas },
    slug: settleSlug({
      requestedSlug: values.slug,
      title: title ?? before?.row.post_title ?? '',
      status: dates.status,
      before: before && { status: before.row.post_status, slug: before.row.post_name },
      desiredSlug: metaOf(before?.metas, '_wp_desired_post_slug'),
      canPublish: viewer.can(`publish_${kind.capabilities}`),
      draftsGetSlugs: kind.draftsGetSlugs,
    }),
  };
}

/**
 * Returns the refusals of values by `planPost`, which throws the first one: at most one about each of the texts, the
 * title, the slug, the dates, the custom fields and the status. Those for lack of rights are not among them.
 */
export function planRefusals(caller: Caller, kind: PostKind, values: PostValues, before?: StoredPost, source?: StoredPost): ApiError[] {
  const checks = [
    () => void fieldRows(kind, values, trustOf(caller.viewer)),
    () => checkTitle(kind, titleIn(kind, values), before),
    () => checkSlug(values, before),
    () => void deriveRows(kind, values, before ?? source, caller),
    () => checkCustomFields(values, before ?? source),
    () => void settleStatusAndDates(caller, kind, values, before),
  ];
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return [error];
    }
  });
}

/** Returns the title as it would be stored; undefined if it is not named, or too long for its column. */
function titleIn(kind: PostKind, values: PostValues): string | undefined {
  const title = values[kind.titleField];
  return typeof title === 'string' ? title : undefined;
}

/** Checks that a title has visible text (decision D39). */
function checkTitle(kind: PostKind, title: string | undefined, before: StoredPost | undefined): void {
  if (hasVisibleText(title ?? before?.row.post_title ?? '') || (before && title === undefined)) return;
  if (before) failParam(kind.titleField, 'title-without-text');
  fail(kind.problems.noTitle);
}

/**
 * Checks an empty slug: it says that the record has none, as drafts show it, and does not take one away (decision D7).
 */
function checkSlug({ slug }: PostValues, before: StoredPost | undefined): void {
  if (slug === '' && before && before.row.post_name !== '') failParam('slug', 'empty-value');
}

/** Checks the author: only users who may edit records of other authors may set another author (decision D34). */
function checkAuthor(caller: Caller, kind: PostKind, author: number | undefined, currentAuthor: number): void {
  const { viewer } = caller;
  if (author !== undefined && author !== currentAuthor && author !== viewer.id && !viewer.can(`edit_others_${kind.capabilities}`))
    refuse(viewer);
}

/**
 * Checks fields that put a record before others. They need the capability to publish without review, as for sticky
 * posts in WordPress (`WP_REST_Posts_Controller::create_item_permissions_check`; decision D36). A value that is already
 * set may stay.
 */
function checkPromotion(caller: Caller, kind: PostKind, values: PostValues, before: StoredPost | undefined): void {
  const { viewer } = caller;
  if (mayPromote(viewer, kind)) return;
  for (const [name, field] of Object.entries(kind.fields))
    if (field.promotes && values[name] === true && !(before && isSet(field, before))) refuse(viewer);
}

/** Whether a user may put records of this kind before others. */
export const mayPromote = (viewer: Viewer, { capabilities }: PostKind): boolean =>
  viewer.can(`publish_${capabilities}`) || viewer.can(`edit_others_${capabilities}`);

/**
 * Returns the names of those of these columns and metas that would put a record before others, unless it has them
 * already. `before`: the record, if it exists.
 */
export const promotionsIn = (
  kind: PostKind,
  { columns, metas }: { readonly columns: Partial<Post>; readonly metas: ReadonlySet<string> },
  before: StoredPost | undefined,
): string[] =>
  Object.values(kind.fields).flatMap((field) => {
    const { place, promotes, store } = field;
    if (!promotes || (before && isSet(field, before))) return [];
    if (place.in === 'meta') return metas.has(place.key) ? [place.key] : [];
    return place.in === 'column' && String(columns[place.column]) === store?.(true)[0] ? [place.column] : [];
  });

/** Whether this boolean field is already true. */
function isSet({ place, store }: Field, { row, metas }: StoredPost): boolean {
  if (place.in === 'meta') return metas.has(place.key);
  return place.in === 'column' && String(row[place.column]) === store?.(true)[0];
}

/** Whether a user may publish records: the calendar uses the capability for events also for venues and organizers. */
export const mayPublish = (viewer: Viewer): boolean => viewer.can('publish_tribe_events');

/** Returns the status that a requested one becomes for a user (`settleStatus`). `before`: the record, if it exists. */
export const statusOfWrite = (
  viewer: Viewer,
  kind: PostKind,
  requestedStatus: string | undefined,
  before: StoredPost | undefined,
): ReturnType<typeof settleStatus> =>
  settleStatus({
    requestedStatus,
    before: before?.row.post_status,
    canPublish: mayPublish(viewer),
    canDelete: before ? mayDelete(viewer, accessRow(before.row, before.metas)) : viewer.can(`delete_${kind.capabilities}`),
  });

function settleStatusAndDates(caller: Caller, kind: PostKind, values: PostValues, before: StoredPost | undefined): SettledDates {
  const { viewer, settings, now } = caller;
  const { zone } = settings;
  const status = statusOfWrite(viewer, kind, values.status, before);
  if ('problem' in status) return status.problem === 'status-needs-delete' ? refuse(viewer) : failParam('status', 'status-not-settable');
  const readDate = (name: 'date' | 'date_utc') => {
    const text = values[name];
    if (text === undefined || isNoDate(text)) return undefined;
    return parseEventTime(text, { zone: name === 'date' ? zone : UTC, now }) ?? failParam(name, 'date-invalid');
  };
  const [date, dateUtc] = [readDate('date'), readDate('date_utc')];
  const dates = settleDates({
    ...status,
    date,
    dateUtc,
    before: before && { status: before.row.post_status, date: before.row.post_date, dateUtc: before.row.post_date_gmt },
    now: { local: localFromDate(now, zone), utc: utcFromDate(now) },
    toUtc: (text) => toUtc(text, zone),
    toLocal: (text) => toLocal(text, zone),
  });
  // In a time zone ahead of UTC, the last hours of the year 9999 are beyond the range of the columns.
  const isBeyond = [dates.post_date, dates.post_date_gmt].some((text) => text.length > MAX_DATE_LENGTH);
  return isBeyond ? failParam(dateUtc === undefined ? 'date' : 'date_utc', 'date-invalid') : dates;
}

/**
 * Whether this is the date that unpublished drafts show in UTC (`0000-00-00 00:00:00`, as WordPress stores it). It
 * counts as not sent, so that they can be sent back as they were read.
 */
const isNoDate = (text: string): boolean => /^\s*0000-00-00([ T]00:00(:00)?)?\s*$/.test(text);

const MAX_DATE_LENGTH = '9999-12-31 23:59:59'.length;

const dateColumns = ({ status, post_date, post_date_gmt, post_modified, post_modified_gmt }: SettledDates): Partial<Post> => ({
  post_status: status,
  post_date,
  post_date_gmt,
  post_modified,
  post_modified_gmt,
});
