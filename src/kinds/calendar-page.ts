import type { FeedView } from './feed-list.ts';
import type { LinkedKindName } from './kind-names.ts';

/*
 * The content that a URL of the calendar requests, as a page or as a feed.
 */

export type RequestedPage = EventPage | IdsPage | ListPage | LinkedPage;

/** One event, by its slug or its id. */
export interface EventPage {
  readonly of: 'event';
  readonly slug?: string;
  readonly id?: number;
  /** For a recurring event: one of its dates (`YYYY-MM-DD`), and its number among the dates on that day. */
  readonly occurrence?: { readonly date: string; readonly number: number | undefined } | undefined;
}

/** A venue or an organizer, by its slug, and the events that name it. */
export interface LinkedPage {
  readonly of: 'linked';
  readonly kind: LinkedKindName;
  readonly slug: string;
  readonly number: number;
}

/** Events with these ids, in this order. */
export interface IdsPage {
  readonly of: 'ids';
  readonly ids: readonly number[];
}

export interface ListPage {
  readonly of: 'list';
  /** Undefined: the view from the settings. */
  readonly view: FeedView | undefined;
  /** The day or month in the URL, if it is valid. */
  readonly date: string | undefined;
  /** The date chosen by the visitor: lists start with it. */
  readonly chosenDate: string | undefined;
  readonly number: number;
  readonly featured: boolean;
  /**
   * Groups of slugs. An event must have at least one term of each group. Of a taxonomy, there is one group of any size
   * or any number of groups with one slug each.
   */
  readonly categories: readonly (readonly string[])[];
  readonly tags: readonly (readonly string[])[];
  readonly search: string | undefined;
  /**
   * Whether all events of a term are meant, the latest published first, as in the feeds of WordPress's own archives.
   */
  readonly archive: boolean;
}
