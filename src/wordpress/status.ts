import { ZERO_DATE } from './time.ts';

/** Statuses that a post may be given through the API (decision D33). */
export const SETTABLE_STATUSES = ['publish', 'future', 'draft', 'pending', 'private', 'trash'] as const;
export type Status = (typeof SETTABLE_STATUSES)[number];

/** Statuses of WordPress and the calendar that exist in a database (`register_post_status`). */
export const REGISTERED_STATUSES: readonly string[] = [
  ...SETTABLE_STATUSES, 'auto-draft', 'inherit', 'request-pending', 'request-confirmed', 'request-failed', 'request-completed',
  'tribe-ea-success', 'tribe-ea-failed', 'tribe-ea-schedule', 'tribe-ea-pending', 'tribe-ea-draft', 'tribe-ignored',
]; // biome-ignore format: a list of names

/** Seen by everybody. */
export const isPublic = (status: string): boolean => status === 'publish';
/** Seen by those who may read private posts. */
export const isPrivate = (status: string): boolean => status === 'private';
/**
 * Statuses whose publication date is open until they are left (`date_floating`), and whose slugs need not be unique.
 */
export const isFloating = (status: string): boolean => ['draft', 'pending', 'auto-draft'].includes(status);
/** Statuses for which a meta capability on published posts is asked (`map_meta_cap`). */
export const isPublished = (status: string): boolean => status === 'publish' || status === 'future';

export interface StatusRequest {
  /** The status that was asked for; absent: none. */
  readonly requested?: string | undefined;
  /** The status the post has; absent: it is a new one. */
  readonly before?: string | undefined;
  /**
   * Whether the caller may publish (`publish_tribe_events` for all three kinds), and delete this post or such posts.
   */
  readonly canPublish: boolean;
  readonly canDelete: boolean;
}

/** The status that a post gets; `asked`: the request named a status, rather than leaving it. */
export type SettledStatus = { readonly status: string; readonly asked: boolean };
export type StatusProblem = { readonly problem: 'status-not-settable' | 'status-needs-delete' };

/** Whether a status is for those who may publish (`WP_REST_Posts_Controller::handle_status_param`). */
export const needsPublishing = (status: string): boolean => isPublished(status) || status === 'private';

/**
 * The status a post is to have, before its dates have their say (decisions D1, D33, D36): a new post is published by
 * those who may and a draft otherwise; an existing one keeps its status unless another is asked for. Publishing,
 * scheduling and privacy by those who may not publish become `pending`; a status that the post already has may stay.
 * The trash needs the right to delete.
 */
export function settleStatus({ requested, before, canPublish, canDelete }: StatusRequest): SettledStatus | StatusProblem {
  if (requested === undefined) return { status: before ?? (canPublish ? 'publish' : 'draft'), asked: false };
  if (!(SETTABLE_STATUSES as readonly string[]).includes(requested)) return { problem: 'status-not-settable' };
  if (requested === before) return { status: requested, asked: true };
  if (requested === 'trash' && !canDelete) return { problem: 'status-needs-delete' };
  const lowered = !canPublish && needsPublishing(requested);
  return { status: lowered ? 'pending' : requested, asked: true };
}

export interface DateRequest extends SettledStatus {
  /** Dates that were sent, `YYYY-MM-DD HH:MM:SS`, local to the site and in UTC. */
  readonly date?: string | undefined;
  readonly dateUtc?: string | undefined;
  /** What the post holds; absent: it is a new one. */
  readonly before?: { readonly status: string; readonly date: string; readonly dateUtc: string } | undefined;
  /** The moment of the request, in the same form. */
  readonly now: { readonly local: string; readonly utc: string };
  /** Conversions between the site's wall clock and UTC. */
  readonly toUtc: (local: string) => string;
  readonly toLocal: (utc: string) => string;
}

export interface SettledDates {
  readonly status: string;
  readonly post_date: string;
  readonly post_date_gmt: string;
  readonly post_modified: string;
  readonly post_modified_gmt: string;
  /** Whether the post becomes visible to everybody by this write. */
  readonly publishedNow: boolean;
}

/**
 * Status and date columns of a post that is written (WordPress `wp_insert_post`, `wp_update_post`; decision D1).
 * One of two dates gives the other; drafts that were never published keep the zero date in UTC unless one is sent;
 * leaving draft without a date of its own dates the post now, as does `publish` on a scheduled one. A publication a
 * minute or more ahead is `future`, a scheduled one whose time has come is `publish`. A new post counts as modified at
 * its date, an existing one now.
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

function datesOf({ status, asked, date, dateUtc, before, now, toUtc, toLocal }: DateRequest): { date: string; dateUtc: string } {
  const floating = isFloating(status);
  if (date !== undefined || dateUtc !== undefined) {
    return {
      date: date ?? toLocal(dateUtc!),
      dateUtc: dateUtc ?? (floating && (before?.dateUtc ?? ZERO_DATE) === ZERO_DATE ? ZERO_DATE : toUtc(date!)),
    };
  }
  const present = { date: now.local, dateUtc: now.utc };
  if (!before) return floating ? { date: now.local, dateUtc: ZERO_DATE } : present;
  if (status === 'publish' && asked && before.status === 'future') return present;
  if (before.dateUtc !== ZERO_DATE || floating) return { date: before.date, dateUtc: before.dateUtc };
  // A draft for which a day ahead was set keeps it; without one its local date is only when it was written.
  return status !== 'trash' && before.date > now.local ? { date: before.date, dateUtc: toUtc(before.date) } : present;
}

const MINUTE_MS = 60_000;

function statusByDate(status: string, dateUtc: string, nowUtc: string): string {
  if (!isPublished(status)) return status;
  return moment(dateUtc) - moment(nowUtc) >= MINUTE_MS ? 'future' : 'publish';
}

/** Milliseconds of a UTC date text; dates out of the calendar count as the beginning of time. */
const moment = (utc: string) => Date.parse(`${utc.replace(' ', 'T')}Z`) || 0;
