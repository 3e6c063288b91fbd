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
  /** `page`: the address of the page as requested; `self`: the same with those query parameters that have an effect. */
  readonly page: string;
  readonly self: string;
}
