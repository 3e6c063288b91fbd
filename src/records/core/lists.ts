import { parseEventTime } from '../../calendar/dates.ts';
import { fail, failParam, forbiddenStatus } from '../../errors.ts';
import type { Order, Relevance } from '../../kinds/condition.ts';
import type { BlogListValues } from '../../kinds/core/blog-params.ts';
import { type ContextValues, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type PageValues } from '../../kinds/core/params.ts';
import type { View } from '../../kinds/core/view.ts';
import { notInEnum } from '../../kinds/grammars/schema.ts';
import type { Timeliness } from '../../kinds/timeliness.ts';
import type { findPostIds } from '../../storage/lists/post-list.ts';
import { parsePhpDate } from '../../wordpress/php/date.ts';
import type { Post } from '../../wordpress/rows.ts';
import { textFromUnix } from '../../wordpress/time.ts';
import type { Viewer } from '../../wordpress/viewer.ts';
import { toLocal, toUtc, UTC, type Zone } from '../../wordpress/zones.ts';

/*
 * Common parts of the lists of WordPress's own routes (`wp/v2`): contexts, pages and orders.
 */

/** A record as `wp/v2` shows it. */
export type CoreRecord = Record<string, unknown>;

/** One page of a list of WordPress's own routes. */
export interface CorePage {
  readonly records: readonly CoreRecord[];
  readonly total: number;
  readonly page: number;
  readonly pages: number;
  readonly timeliness: Timeliness;
  /** For a list with an offset: the offset and the page size. */
  readonly skip?: Skipped | undefined;
}

export interface Skipped {
  readonly offset: number;
  readonly limit: number;
}

/** Returns the context that a request names. */
export const viewOf = ({ context = 'view' }: ContextValues): View => context;

/** Returns the offset and the length of a page; the parameter `offset` overrides `page` (`skip`). */
export function paging({ page = 1, per_page = DEFAULT_PAGE_SIZE, offset: offsetParam }: PageValues): Paging {
  const limit = Math.min(per_page, MAX_PAGE_SIZE);
  const offset = offsetParam === undefined ? (page - 1) * limit : Math.max(0, offsetParam);
  return { page, limit, offset, skip: offsetParam === undefined ? undefined : { offset, limit } };
}

interface Paging extends Skipped {
  readonly page: number;
  readonly skip: Skipped | undefined;
}

/**
 * Returns the totals of a list of posts. As in WordPress, the total is 0 if `offset` leaves the page empty
 * (`WP_Query::set_found_posts`).
 *
 * @throws rest_post_invalid_page_number past the last page
 */
export function totalsOf({ ids, total: foundTotal }: FoundIds, { page, limit, skip }: Omit<Paging, 'offset'>): Totals {
  const total = ids.length === 0 && (page === 1 || skip) ? 0 : foundTotal;
  const pages = Math.ceil(total / limit);
  if (page > pages && total > 0) fail('rest_post_invalid_page_number');
  return { total, page, pages, skip };
}

type FoundIds = Awaited<ReturnType<typeof findPostIds>>;
type Totals = Pick<CorePage, 'total' | 'page' | 'pages' | 'skip'>;

/**
 * Returns both forms of a publication date, of which one is given; the local one takes precedence over UTC. If the text
 * has an offset, that determines the moment (`rest_get_date_with_gmt`). Null if it is not a date.
 */
export function localAndUtcDates({ date, date_gmt }: NamedDates, zone: Zone, now: Date): { local: string; utc: string } | null {
  const text = date || date_gmt || '';
  const textZone = date ? zone : UTC;
  const local = parseEventTime(text, { zone: textZone, now });
  const phpDate = parsePhpDate(text, now, textZone);
  if (local === null || phpDate === null) return null;
  const utc = /[\dz][+-]\d\d(:?\d\d)?$|z$/i.test(text) ? textFromUnix(phpDate.instant) : toUtc(local, textZone);
  return { local: textZone === zone && utc === toUtc(local, zone) ? local : toLocal(utc, zone), utc };
}

/**
 * Whether a write sends a date that the record has already, and which therefore stays as it is: a draft gets no date of
 * its own (`WP_REST_Posts_Controller::prepare_item_for_database`).
 */
export const isStoredDate = ({ date }: NamedDates, sent: { readonly local: string; readonly utc: string }, stored: StoredDate): boolean =>
  date ? sent.local === stored.post_date : sent.utc === stored.post_date_gmt;

export type StoredDate = Pick<Post, 'post_date' | 'post_date_gmt'>;

interface NamedDates {
  readonly date?: string | null | undefined;
  readonly date_gmt?: string | null | undefined;
}

/** The statuses that a list may have. */
interface Statuses {
  readonly defaultStatus: string;
  readonly knownStatuses: readonly string[];
  /** Whether the caller may list statuses other than the usual one. */
  readonly mayList: boolean;
}

/**
 * Refuses any status other than the usual one unless the caller may list it. Callers who may are told if a status does
 * not exist (`WP_REST_Posts_Controller::sanitize_post_statuses`).
 *
 * @throws rest_invalid_param
 */
export function refuseStatuses(viewer: Viewer, statuses: readonly string[], { defaultStatus, knownStatuses, mayList }: Statuses): void {
  const otherStatuses = statuses.filter((status) => status !== defaultStatus);
  if (mayList && otherStatuses.some((status) => status !== '' && !knownStatuses.includes(status)))
    failParam('status', notInEnum(knownStatuses));
  if (mayList || otherStatuses.length === 0) return;
  failParam('status', {
    stage: 'schema',
    code: 'rest_forbidden_status',
    reason: 'status-forbidden',
    answerData: { status: forbiddenStatus(viewer) },
  });
}

const ORDERS = {
  author: 'author', date: 'date', id: 'id', include: 'include', modified: 'modified', parent: 'parent', slug: 'slug', include_slugs: 'slugs', title: 'title', menu_order: 'place',
} as const; // biome-ignore format: pairs

/** Parameters that determine the order of a list of posts, including blog posts and pages. */
type OrderValues = Pick<BlogListValues, 'orderby' | 'order' | 'search' | 'include'>;

/**
 * Returns the order of a list of posts, newest first by default. `include` and `include_slugs` keep the given order.
 *
 * @throws rest_no_search_term_defined, rest_orderby_include_missing_include if an order lacks the parameter it needs
 */
export function orderOf(values: OrderValues): Order | Relevance {
  const { orderby = 'date', order = 'desc', search = '', include = [] } = values;
  if (orderby === 'relevance') {
    const phrase = search.trim();
    return phrase === '' ? fail('rest_no_search_term_defined') : { by: 'relevance', phrase, descending: order === 'desc' };
  }
  if (orderby === 'include' && include.length === 0) fail('rest_orderby_include_missing_include');
  const by = ORDERS[orderby];
  return { by, descending: by !== 'include' && by !== 'slugs' && order === 'desc' };
}
