import type { Site } from '../site.ts';
import type { PostQuery, Recurrence } from '../storage/lists/post-query.ts';
import type { Caller } from './caller.ts';
import { withDescendants } from './descendant-terms.ts';
import { canUseIndex, canUseIndexOfEvents } from './list-index.ts';
import type { ListRights } from './visibility.ts';

/** A slice of a list of posts. */
interface List extends Pick<PostQuery, 'kind' | 'conditions' | 'order' | 'limit' | 'offset'> {
  /** The posts that the caller may see. */
  readonly rights: ListRights;
  /** Whether a recurring event is listed once, or with each of its dates. Absent: these posts do not recur. */
  readonly each?: Recurrence['each'];
  /** Whether the list may be read from the list index. */
  readonly fromIndex?: boolean;
}

/** Returns the query for a slice of a list of posts, on this site and for this caller. */
export async function listQuery(
  site: Site,
  { settings, receivedAt }: Pick<Caller, 'settings' | 'receivedAt'>,
  { rights, each, fromIndex, ...list }: List,
): Promise<PostQuery> {
  const mayUseIndex = each === 'occurrence' ? canUseIndex : canUseIndexOfEvents;
  return {
    ...list,
    ...rights,
    conditions: await withDescendants(site.db, list.conditions),
    occurrences: settings.occurrenceTables,
    recurrence: each && settings.recurrence && { base: settings.recurrence.base, each },
    ...(fromIndex ? { indexed: await mayUseIndex(site, { settings, receivedAt }) } : {}),
  };
}
