import type { Caller } from '../../records/caller.ts';
import type { Site } from '../../site.ts';
import type { Raw } from '../input.ts';
import type { FeedAddress } from './address.ts';

/** A page of the calendar that is asked for. */
export interface FeedRequest {
  readonly site: Site;
  readonly caller: Caller;
  readonly address: FeedAddress;
  readonly query: Raw;
  readonly queryText: string;
  /** Where it was asked for: address of the page, with those parameters of its query that count. */
  readonly page: string;
  readonly self: string;
}
