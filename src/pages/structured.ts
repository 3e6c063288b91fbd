import type { FeedEvent } from '../records/feed-events.ts';

/** So much structured data stands in a page that shows several events, in characters; a page is more than that. */
const MOST = 20_000;

/**
 * The JSON-LD of a venue or an organizer for its own page. That of the API stands within an event, which says whose
 * words these are; by itself it must say so, or programs pass over it.
 */
export const structuredLinked = (data: object | undefined): object[] =>
  data === undefined ? [] : [{ '@context': 'http://schema.org', ...data }];

/**
 * The JSON-LD of the events that a page lists, in their order: one array, as the reference prints it. Of many events
 * only the first ones are described, so that pages stay small. Protected events have none.
 *
 * @param shown ids of those that the page names; undefined: all of them
 */
export function structuredEvents(events: readonly FeedEvent[], shown?: ReadonlySet<number>): object[] {
  const described: object[] = [];
  let length = 0;
  for (const { id, record } of events) {
    if (record.json_ld === undefined || shown?.has(id) === false) continue;
    length += JSON.stringify(record.json_ld).length;
    if (length > MOST) break;
    described.push(record.json_ld);
  }
  return described.length === 0 ? [] : [described];
}
