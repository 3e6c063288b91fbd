import type { Caller } from '../../records/caller.ts';
import type { Site } from '../../site.ts';
import type { RawParams } from '../input.ts';
import type { FeedAddress } from './address.ts';

/** A request for a page or feed of the calendar. */
export interface FeedRequest {
  readonly site: Site;
  readonly caller: Caller;
  readonly address: FeedAddress;
  readonly query: RawParams;
  readonly queryText: string;
  /**
   * `page`: the address of the page as requested, without extra slashes; `self`: the same with those query parameters
   * that have an effect.
   */
  readonly page: string;
  /** Whether the requested address has several slashes in a row. */
  readonly hasExtraSlashes: boolean;
  readonly self: string;
}
