import { type Entry, isItem, type PostItem } from '../../src/exchange/items/items.ts';

/** Time and title of an event: start and end in UTC, or days (the end exclusive), and the title. */
export type Time = readonly [start: string, end: string, title: string];

/**
 * Returns the times of the events among these items, in order. A later event of the same name replaces the earlier one,
 * as in an import.
 */
export function timesOf(entries: readonly Entry[]): Time[] {
  const events = new Map<string, PostItem>();
  for (const entry of entries) if (isItem(entry) && entry.kind === 'event') events.set(entry.sourceId, entry);
  return [...events.values()].map(({ columns, metas }) => timeOf(columns.post_title ?? '', new Map(metas)));
}

/** Returns the time of an event from its title and metas. */
export function timeOf(title: string, metas: ReadonlyMap<string, string>): Time {
  const told = (key: string) => metas.get(key) ?? '';
  if (told('_EventAllDay') === '1') {
    return [told('_EventStartDate').slice(0, 10), nextDay(told('_EventEndDate').slice(0, 10)), plain(title)];
  }
  return [told('_EventStartDateUTC'), told('_EventEndDateUTC'), plain(title)];
}

const nextDay = (day: string): string => new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#039': "'" };

/** Returns a title without HTML escaping. */
const plain = (title: string): string => title.replace(/&(amp|lt|gt|quot|#039);/g, (_, name: string) => ENTITIES[name]!);

/** The period that the list of the corpus covers. */
export const WINDOW = { from: '2000-01-01', to: '2027-12-31' } as const;

/** Returns the times that are in only one of the lists, with repetitions. Times outside the window do not count. */
export function differences(expected: readonly Time[], found: readonly Time[]): { missing: string[]; extra: string[] } {
  const keyOf = (time: Time): string => time.join(' | ');
  const isWithin = ([start, end]: Time): boolean => start < WINDOW.to && end >= WINDOW.from;
  const left = new Map<string, number>();
  for (const key of found.filter(isWithin).map(keyOf)) left.set(key, (left.get(key) ?? 0) + 1);
  const missing = expected
    .filter(isWithin)
    .map(keyOf)
    .filter((key) => {
      const count = left.get(key) ?? 0;
      if (count > 0) left.set(key, count - 1);
      return count === 0;
    });
  return { missing, extra: [...left].flatMap(([key, count]) => Array.from({ length: count }, () => key)) };
}
