import { dateFromUtc, isRealDate, ZERO_DATE } from './time.ts';

/** Statuses that can be set through the API (decision D33). */
export const SETTABLE_STATUSES = ['publish', 'future', 'draft', 'pending', 'private', 'trash'] as const;
export type Status = (typeof SETTABLE_STATUSES)[number];

/** Statuses of WordPress and The Events Calendar that can occur in a database (`register_post_status`). */
export const REGISTERED_STATUSES: readonly string[] = [
  ...SETTABLE_STATUSES, 'auto-draft', 'inherit', 'request-pending', 'request-confirmed', 'request-failed', 'request-completed',
  'tribe-ea-success', 'tribe-ea-failed', 'tribe-ea-schedule', 'tribe-ea-pending', 'tribe-ea-draft', 'tribe-ignored',
]; // biome-ignore format: a list of names

/** Statuses in which WordPress assigns a slug and a date to a post. */
export const DATED_STATUSES: readonly string[] = ['publish', 'private', 'future'];
/** Statuses of posts that WordPress deletes after some time: in the trash, and never saved. */
export const DISCARDED_STATUSES: readonly string[] = ['trash', 'auto-draft'];

/** Returns whether everybody can see posts of this status. */
export const isPublic = (status: string): boolean => status === 'publish';
/** Returns posts in the same order, those that everybody can see before others. */
export const publicFirst = <Row>(rows: readonly Row[], statusOf: (row: Row) => string): readonly Row[] =>
  [true, false].flatMap((isFirst) => rows.filter((row) => isPublic(statusOf(row)) === isFirst));
/** Returns whether posts of this status are visible to users who may read private posts. */
export const isPrivate = (status: string): boolean => status === 'private';
/**
 * Returns whether the publication date of this status is open until the post leaves it (`date_floating`), and its slug
 * need not be unique.
 */
export const isFloating = (status: string): boolean => ['draft', 'pending', 'auto-draft'].includes(status);
/** Returns whether a post of this status needs the capability for published posts (`map_meta_cap`). */
export const isPublished = (status: string): boolean => status === 'publish' || status === 'future';

export interface StatusRequest {
  /** The status in the request; absent: none. */
  readonly requestedStatus?: string | undefined;
  /** The current status of the post; absent: it is a new one. */
  readonly before?: string | undefined;
  /**
   * Whether the caller may publish (`publish_tribe_events` for all three kinds), and delete this post or, for a new
   * one, such posts.
   */
  readonly canPublish: boolean;
  readonly canDelete: boolean;
}

/** The status that a post gets; `isRequested`: whether the request names a status. */
export type SettledStatus = { readonly status: string; readonly isRequested: boolean };
export type StatusProblem = { readonly problem: 'status-not-settable' | 'status-needs-delete' };

/**
 * Returns whether setting a status requires the capability to publish
 * (`WP_REST_Posts_Controller::handle_status_param`).
 */
export const needsPublishing = (status: string): boolean => isPublished(status) || status === 'private';

/**
 * Returns the status of a post before its dates are taken into account (decisions D1, D33, D36). A new post is
 * published if the caller may publish, and is a draft otherwise; an existing one keeps its status unless the request
 * names another. If the caller may not publish, `publish`, `future` and `private` become `pending`, unless the post
 * already has that status. The trash requires the capability to delete.
 */
export function settleStatus({ requestedStatus, before, canPublish, canDelete }: StatusRequest): SettledStatus | StatusProblem {
  if (requestedStatus === undefined) return { status: before ?? (canPublish ? 'publish' : 'draft'), isRequested: false };
  if (!(SETTABLE_STATUSES as readonly string[]).includes(requestedStatus)) return { problem: 'status-not-settable' };
  if (requestedStatus === before) return { status: requestedStatus, isRequested: true };
  if (requestedStatus === 'trash' && !canDelete) return { problem: 'status-needs-delete' };
  const lowered = !canPublish && needsPublishing(requestedStatus);
  return { status: lowered ? 'pending' : requestedStatus, isRequested: true };
}

export interface DateRequest extends SettledStatus {
  /** Dates in the request, `YYYY-MM-DD HH:MM:SS`, in the site's local time and in UTC. */
  readonly date?: string | undefined;
  readonly dateUtc?: string | undefined;
  /** The stored status and dates; absent: it is a new post. */
  readonly before?: { readonly status: string; readonly date: string; readonly dateUtc: string } | undefined;
  /** The time of the request, in the same form. */
  readonly now: { readonly local: string; readonly utc: string };
  /** Conversions between the site's local time and UTC. */
  readonly toUtc: (local: string) => string;
  readonly toLocal: (utc: string) => string;
}

export interface SettledDates {
  readonly status: string;
  readonly post_date: string;
  readonly post_date_gmt: string;
  readonly post_modified: string;
  readonly post_modified_gmt: string;
  /** Whether this write makes the post visible to everybody. */
  readonly publishedNow: boolean;
}

/**
 * Returns the status and date columns of a post to be written (WordPress `wp_insert_post`, `wp_update_post`; decision
 * D1). If only one of the two dates is sent, the other is computed from it; drafts that were never published keep the
 * zero date in UTC unless one is sent. A post that leaves draft without its own date gets the present time, and so does
 * a scheduled one set to `publish`; other posts without a date in UTC get the one that follows from their local date.
 * A publication a minute or more ahead is `future`; a scheduled post whose time has come is `publish`. A new post is
 * modified at its date, an existing one now.
 */
export function settleDates(request: DateRequest): SettledDates {
  const { before, now } = request;
  const { date, dateUtc } = datesOf(request);
  const status = statusByDate(request.status, dateUtc, now.utc);
  return {
    status,
    post_date: date,
    post_date_gmt: dateUtc,
    post_modified: before ? now.local : date,
    post_modified_gmt: before ? now.utc : dateUtc,
    publishedNow: status === 'publish' && before?.status !== 'publish',
  };
}

function datesOf({ status, isRequested, date, dateUtc, before, now, toUtc, toLocal }: DateRequest): { date: string; dateUtc: string } {
  const floating = isFloating(status);
  if (date !== undefined || dateUtc !== undefined) {
    return {
      date: date ?? toLocal(dateUtc!),
      dateUtc: dateUtc ?? (floating && (before?.dateUtc ?? ZERO_DATE) === ZERO_DATE ? ZERO_DATE : toUtc(date!)),
    };
  }
  const currentDates = { date: now.local, dateUtc: now.utc };
  if (!before) return floating ? { date: now.local, dateUtc: ZERO_DATE } : currentDates;
  if (status === 'publish' && isRequested && before.status === 'future') return currentDates;
  if (before.dateUtc !== ZERO_DATE || floating) return { date: before.date, dateUtc: before.dateUtc };
  // Only drafts are without a date of publication; for other posts, programs have left out the date in UTC.
  if (!isFloating(before.status) && isRealDate(before.date)) return { date: before.date, dateUtc: toUtc(before.date) };
  // A draft with a date in the future keeps it; otherwise its local date is only the time when it was written.
  return status !== 'trash' && before.date > now.local ? { date: before.date, dateUtc: toUtc(before.date) } : currentDates;
}

const MINUTE_MS = 60_000;

function statusByDate(status: string, dateUtc: string, nowUtc: string): string {
  if (!isPublished(status)) return status;
  return moment(dateUtc) - moment(nowUtc) >= MINUTE_MS ? 'future' : 'publish';
}

/** Returns the milliseconds of a UTC date text; invalid dates count as 0. */
const moment = (utc: string) => dateFromUtc(utc).getTime() || 0;
