/**
 * Names under which a CDN can be told to drop an answer (`Surrogate-Key`, `Cache-Tag`): the list, and every record that stands in it, by kind and id
 * (`events event-44 venue-12 category-3`). Answers about no record have none.
 */
export function surrogateKeys(body: unknown): Record<string, string> {
  const keys = new Set<string>();
  if (isRecord(body)) {
    for (const [list, kind] of Object.entries(LISTS)) {
      const records = body[list];
      if (!Array.isArray(records) || !('total_pages' in body)) continue;
      keys.add(list);
      for (const record of records) addRecord(keys, record, kind);
    }
    if (keys.size === 0) addRecord(keys, body, kindOf(body));
  }
  if (keys.size === 0) return {};
  const names = [...keys].slice(0, MOST);
  return { 'Surrogate-Key': names.join(' '), 'Cache-Tag': names.join(',') };
}

const LISTS = { events: 'event', venues: 'venue', organizers: 'organizer', categories: 'category', tags: 'tag' } as const;
/** Headers have their limits. */
const MOST = 400;

const isRecord = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value);

/** What a single record is, by the members that only its kind has. */
function kindOf(body: Record<string, unknown>): string | undefined {
  if ('start_date' in body) return 'event';
  if ('taxonomy' in body) return body.taxonomy === 'post_tag' ? 'tag' : 'category';
  return 'organizer' in body ? 'organizer' : 'venue' in body ? 'venue' : undefined;
}

function addRecord(keys: Set<string>, record: unknown, kind: string | undefined): void {
  if (!isRecord(record) || kind === undefined || typeof record.id !== 'number') return;
  keys.add(`${kind}-${record.id}`);
  if (kind !== 'event') return;
  for (const [member, linked] of Object.entries({ venue: 'venue', organizer: 'organizer', categories: 'category', tags: 'tag' })) {
    for (const one of [record[member]].flat()) addRecord(keys, one, linked);
  }
}
