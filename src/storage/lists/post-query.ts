import type { Condition, Order, Relevance } from '../../kinds/condition.ts';
import type { PostKind } from '../../kinds/kind.ts';

/**
 * The posts that a caller may see or edit, by their status and author. Created by `records/visibility.ts`, and always
 * part of the query, never a later filter.
 */
export interface Visibility {
  /** The id of the caller; 0 if anonymous. */
  readonly viewer: number;
  /** Statuses in which posts of all authors are visible. */
  readonly all: readonly string[];
  /** Statuses in which only posts of other authors are visible. */
  readonly others: readonly string[];
  /** Statuses in which only the caller's own posts are visible. */
  readonly own: readonly string[];
  /**
   * Restricts the caller's own posts in the trash to those that were published before, or to those that were not.
   * Absent: all of them.
   */
  readonly ownTrash?: 'published' | 'unpublished';
}

/**
 * The protected posts that are open to a request: filters, searches and orders may use the data that the password
 * hides.
 */
export interface Opened {
  /** The password of the request. */
  readonly password: string | undefined;
  /** Posts that the caller may edit, if the right to edit opens them. */
  readonly editable: Visibility | undefined;
}

/**
 * The visibility of attachments: by the status of their parent and their own author, or because the caller may see the
 * parent.
 */
export interface Attached {
  readonly toStatus: Visibility;
  readonly toSeen: readonly { readonly postType: string; readonly visible: Visibility }[];
}

export interface PostQuery {
  readonly kind: Pick<PostKind, 'postType' | 'hasDates'>;
  readonly visible: Visibility;
  /** The events that the caller may see, for the filters "has events" and "upcoming". */
  readonly visibleEvents: Visibility;
  readonly opened: Opened;
  /** Only for attachments. */
  readonly attached?: Attached;
  readonly conditions: readonly Condition[];
  readonly order: Order | Relevance;
  /** Distances for an order by distance. */
  readonly distances?: Distances;
  readonly limit: number;
  readonly offset: number;
  /** Whether the table of occurrences is used; otherwise the dates are read from the metas. */
  readonly occurrences: boolean;
  /** Present if events may recur. Absent: each event has one id, that of its post. */
  readonly recurrence?: Recurrence | undefined;
  /**
   * Whether the list index has the current state of every event (`event-index.ts`). Absent: WordPress's tables are
   * queried.
   */
  readonly indexed?: boolean;
}

/** The presentation of recurring events in a list. */
export interface Recurrence {
  /** Public ids of occurrences are this number plus their `occurrence_id`. */
  readonly base: number;
  /**
   * Whether each occurrence is a separate record, or each event is listed once, even if several of its occurrences
   * match.
   */
  readonly each: 'occurrence' | 'event';
}

/** Returns the id of a record in a list. `occurrence`: 0 for an event that does not recur. */
export const recordId = (post: number, occurrence: number, recurrence: Recurrence | undefined): number =>
  occurrence > 0 && recurrence?.each === 'occurrence' ? recurrence.base + occurrence : post;

/** Whether each event is listed once although it may have several dates. */
export const listsEventsOnce = ({ recurrence, kind }: Pick<PostQuery, 'recurrence' | 'kind'>): boolean =>
  recurrence?.each === 'event' && kind.hasDates;

/** Whether some of these ids are ids of occurrences, in a list that supports them. */
export const isAboveBase = (ids: readonly number[], { recurrence, kind }: Pick<PostQuery, 'recurrence' | 'kind'>): boolean =>
  recurrence !== undefined && kind.hasDates && ids.some((id) => id > recurrence.base);

/** Whether a condition matches so few posts that looking them up is better than using the index or the dates. */
export const matchesFew = ({ by }: Condition): boolean => SELECTIVE.has(by);

const SELECTIVE = new Set(['id', 'parent', 'parents', 'slug', 'linkedFrom', 'metaIs']);

/** Distances of the records that posts link to by a meta, from the point of the query. */
export interface Distances {
  readonly link: string;
  /** Pairs rather than a Map, since the query is the key of pages that concurrent requests share. */
  readonly km: readonly (readonly [id: number, km: number])[];
}
