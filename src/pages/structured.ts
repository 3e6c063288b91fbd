import type { FeedEvent } from '../records/feed-events.ts';

/**
 * Maximum length of structured data in a page with several events, in characters, which is less than the rest of the
 * page.
 */
const MAX_LENGTH = 20_000;

/**
 * Returns the JSON-LD of a venue or an organizer for its own page. In the API it is embedded in an event, which
 * contains the context; on its own it must contain the context, or programs ignore it.
 */
export const linkedJsonLd = (data: object | undefined): object[] =>
  data === undefined ? [] : [{ '@context': 'http://schema.org', ...data }];

/**
 * Returns the JSON-LD of the events that a page lists, in order: one array, as the reference prints it. If there are
 * many events, only the first ones are described, so that pages stay small. Protected events have none.
 *
 * @param shownIds ids of the events that the page shows; undefined: all of them
 */
export function eventsJsonLd(events: readonly FeedEvent[], shownIds?: ReadonlySet<number>): object[] {
  const descriptions: object[] = [];
  let length = 0;
  for (const { id, record } of events) {
    if (record.json_ld === undefined || shownIds?.has(id) === false) continue;
    length += JSON.stringify(record.json_ld).length;
    if (length > MAX_LENGTH) break;
    descriptions.push(record.json_ld);
  }
  return descriptions.length === 0 ? [] : [descriptions];
}
