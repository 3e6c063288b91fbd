import type { FeedView } from './feed-list.ts';
import type { LinkedKindName } from './feed-pages.ts';

/*
 * What an address of the calendar asks for, whether as a page or as a feed.
 */

export type CalendarPageAsked = EventPage | IdsPage | ListPage | LinkedPage;

/** One event, by its slug or its id. */
export interface EventPage {
  readonly of: 'event';
  readonly slug?: string;
  readonly id?: number;
  /** Of an event that recurs: one of its dates (`YYYY-MM-DD`), and which of several on that day. */
  readonly on?: { readonly date: string; readonly number: number | undefined } | undefined;
}

/** A venue or an organizer, by its slug, and the events that name it. */
export interface LinkedPage {
  readonly of: 'linked';
  readonly kind: LinkedKindName;
  readonly slug: string;
  readonly number: number;
}

/** Events by their ids, in this order. */
export interface IdsPage {
  readonly of: 'ids';
  readonly ids: readonly number[];
}

export interface ListPage {
  readonly of: 'list';
  /** Undefined: what the settings say. */
  readonly view: FeedView | undefined;
  /** The day or the month in the address, as far as it is one. */
  readonly date: string | undefined;
  /** The date that visitors have chosen: lists begin with it. */
  readonly from: string | undefined;
  readonly number: number;
  readonly featured: boolean;
  /** Slugs of which an event must have any, list by list. */
  readonly categories: readonly (readonly string[])[];
  readonly tags: readonly (readonly string[])[];
  readonly search: string | undefined;
  /**
   * Whether all events of a term are meant, the latest published first, as the feeds of WordPress's own archives have
   * it.
   */
  readonly archive: boolean;
}
