import type { Condition, Order, PostKind } from '../kinds/kind.ts';
import type { Distances } from './linked-records.ts';

/** Which rows a caller may see in a list, as data: made by `records/visibility.ts`, never a filter after the fact. */
export interface Visibility {
  /** The caller; 0 for an anonymous one. */
  readonly viewer: number;
  /** Statuses seen whoever wrote the post. */
  readonly all: readonly string[];
  /** Statuses seen of the caller's own posts. */
  readonly own: readonly string[];
  /** Of the caller's own posts in the trash, leave out those that had been published. */
  readonly exceptOwnPublishedTrash: boolean;
}

export interface PostQuery {
  readonly kind: Pick<PostKind, 'postType' | 'dated'>;
  readonly visible: Visibility;
  /** Which events the caller may see: what "has events" and "upcoming" look at. */
  readonly visibleEvents: Visibility;
  readonly conditions: readonly Condition[];
  readonly order: Order;
  /** What an order by distance goes by. */
  readonly distances?: Distances;
  readonly limit: number;
  readonly offset: number;
  /** The password that came with the request: it opens protected posts to filters on what they hide. */
  readonly password: string | undefined;
  /** Whether filters may tell what a protected record hides, because its answer hides nothing (WordPress's own routes). Absent: they may not. */
  readonly tellsAll?: boolean;
  /** Whether occurrence rows are in force; otherwise the dates are read from the metas. */
  readonly occurrences: boolean;
  /** Whether the list index holds every event as it is (`event-index.ts`). Absent: WordPress's tables are asked. */
  readonly indexed?: boolean;
}

/** Whether so few posts fit a condition that they are better looked up than sought among others. */
export const fitsFew = ({ by }: Condition): boolean => FEW.has(by);

const FEW = new Set(['id', 'parent', 'parents', 'slug', 'linkedFrom']);
