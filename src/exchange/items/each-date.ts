import { metasAt } from '../../kinds/events/occurrence.ts';
import { EXTERNAL_ID } from '../../kinds/external-id.ts';
import { type Item, nameOf } from './items.ts';
import { metaMap } from './meta-map.ts';
import { type LossEntry, lossEntry } from './report.ts';

/**
 * Yields the same items, but one for each date of a recurring event, for formats without recurrence rules. No date has
 * the external ID of the event, which is passed to `onLoss`: the ID is unique, and exports differ in the dates that
 * they contain.
 */
export async function* eachDate(items: AsyncIterable<Item>, onLoss: (entry: LossEntry) => void): AsyncGenerator<Item> {
  for await (const item of items) {
    if (item.kind !== 'event' || !item.recurrence?.recurs) {
      yield item;
      continue;
    }
    const { recurrence, ...event } = item;
    const metas = metaMap(item.metas);
    if (metas.delete(EXTERNAL_ID)) onLoss(lossEntry({ reason: 'external-id-of-dates', kind: 'event', of: nameOf(item) }));
    for (const date of recurrence.dates) {
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
