import { metasAt } from '../../kinds/events/occurrence.ts';
import { EXTERNAL_ID } from '../../kinds/external-id.ts';
import type { Item } from './items.ts';
import { metaMap } from './meta-map.ts';

/**
 * Yields the same items, but one for each date of a recurring event, for formats without recurrence rules. Only the
 * first date keeps the external ID, which must be unique.
 */
export async function* eachDate(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  for await (const item of items) {
    if (item.kind !== 'event' || !item.recurrence?.recurs) {
      yield item;
      continue;
    }
    const { recurrence, ...event } = item;
    const metas = metaMap(item.metas);
    for (const [index, date] of recurrence.dates.entries()) {
      if (index > 0) metas.delete(EXTERNAL_ID);
      const dateMetas = [...metasAt(metas, date)].flatMap(([key, values]) => values.map((value) => [key, value] as const));
      const { translation_group: group } = event;
      yield { ...event, metas: dateMetas, ...(group === undefined ? {} : { translation_group: groupOfDate(group, date.startUtc) }) };
    }
  }
}

/**
 * Returns the name of a group of translations for one date of a recurring event. Dates that become separate events are
 * translations of each other if they start at the same time (UTC).
 */
export const groupOfDate = (group: string, startUtc: string): string => `${group} ${startUtc}`;

/** Whether a group is that of one date, as `groupOfDate` names it. */
export const isGroupOfDate = (group: string): boolean => / \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(group);
