import { metasAt } from '../../kinds/events/occurrence.ts';
import type { Item } from './items.ts';
import { metaMap } from './meta-map.ts';

/** Yields the items, with a recurring event as one item for each date: for formats without recurrence rules. */
export async function* eachDate(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  for await (const item of items) {
    if (item.kind !== 'event' || !item.recurrence?.recurs) {
      yield item;
      continue;
    }
    const { recurrence, ...event } = item;
    const metas = metaMap(item.metas);
    for (const date of recurrence.dates) {
      const dated = [...metasAt(metas, date)].flatMap(([key, values]) => values.map((value) => [key, value] as const));
      yield { ...event, metas: dated };
    }
  }
}
