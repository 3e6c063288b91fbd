import type { Condition, Order } from '../../kinds/condition.ts';
import type { PostKind } from '../../kinds/kind.ts';

/**
 * Rows of posts, by their status and whose they are: what a caller may see or edit. Made by `records/visibility.ts`,
 * never a filter after the fact.
 */
export interface Visibility {
  /** The caller; 0 for an anonymous one. */
  readonly viewer: number;
  /** Statuses of posts that belong to anybody. */
  readonly all: readonly string[];
  /** Statuses of other people's posts only. */
  readonly others: readonly string[];
  /** Statuses of the caller's own posts only. */
  readonly own: readonly string[];
  /**
   * Of the caller's own posts in the trash only those that were published before, or only those that were not.
   * Absent: all of them.
   */
  readonly ownTrash?: 'published' | 'unpublished';
}

/** Which protected posts are open to a request: filters, searches and orders may go by what these hide. */
export interface Opened {
  /** The password that came with the request. */
  readonly password: string | undefined;
  /** Rows that the caller may edit, where that opens them. */
  readonly editable: Visibility | undefined;
}

/**
 * Which attachments are seen: by the status of what they are attached to and their own author, or because the caller
 * may see what they are attached to.
 */
export interface Attached {
  readonly toStatus: Visibility;
  readonly toSeen: readonly { readonly postType: string; readonly visible: Visibility }[];
}

export interface PostQuery {
  readonly kind: Pick<PostKind, 'postType' | 'dated'>;
  readonly visible: Visibility;
  /** Which events the caller may see: what "has events" and "upcoming" look at. */
  readonly visibleEvents: Visibility;
  readonly opened: Opened;
  /** Attachments only. */
  readonly attached?: Attached;
  readonly conditions: readonly Condition[];
  readonly order: Order;
  /** The point from which an order by distance is measured. */
  readonly distances?: Distances;
  readonly limit: number;
  readonly offset: number;
  /** Whether occurrence rows are in force; otherwise the dates are read from the metas. */
  readonly occurrences: boolean;
  /** Where events may recur. Absent: each has one id, that of its post. */
  readonly recurrence?: Recurrence | undefined;
  /** Whether the list index holds every event as it is (`event-index.ts`). Absent: WordPress's tables are asked. */
  readonly indexed?: boolean;
}

/** How a list shows events that take place several times. */
export interface Recurrence {
  /** Public ids of occurrences are this number plus their `occurrence_id`. */
  readonly base: number;
  /** Each occurrence is a record of its own; or each event is listed once, however many of its occurrences fit. */
  readonly each: 'occurrence' | 'event';
}

/** The id of a record in a list. `occurrence`: 0 for an event that takes place once. */
export const recordId = (post: number, occurrence: number, recurrence: Recurrence | undefined): number =>
  occurrence > 0 && recurrence?.each === 'occurrence' ? recurrence.base + occurrence : post;

/** Whether some of these ids are those of occurrences, in a list that knows of them. */
export const isAboveBase = (ids: readonly number[], { recurrence, kind }: Pick<PostQuery, 'recurrence' | 'kind'>): boolean =>
  recurrence !== undefined && kind.dated && ids.some((id) => id > recurrence.base);

/** Whether so few posts fit a condition that they are better looked up than sought among others. */
export const fitsFew = ({ by }: Condition): boolean => FEW.has(by);

const FEW = new Set(['id', 'parent', 'parents', 'slug', 'linkedFrom', 'metaIs']);

/** How far the records that posts link to by a meta are from the place that is asked about. */
export interface Distances {
  readonly link: string;
  readonly km: ReadonlyMap<number, number>;
}
