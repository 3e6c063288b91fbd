import { isOnAnyDay, isOnDay, type ShownSpan } from '../calendar/window.ts';
import { addDays, dayOfWeek, lastDayOfMonth, unixFromText } from '../wordpress/time.ts';

/** A day of a month view. Undefined items mean that it belongs to another month. */
export interface DayWithItems<Item> {
  readonly date: string;
  readonly items: readonly Item[] | undefined;
}

/**
 * Returns the weeks of a month (`YYYY-MM`), with the items of each of its days.
 *
 * @param firstDay the first day of the week; 0: Sunday
 * @param cutoff time at which the calendar's day begins, `HH:MM`
 */
export function weeksOfMonth<Item extends ShownSpan>(
  month: string,
  items: readonly Item[],
  { firstDay, cutoff }: { readonly firstDay: number; readonly cutoff: string },
): DayWithItems<Item>[][] {
  return daysOfWeeks(month, firstDay).map((week) =>
    week.map((date) => ({ date, items: date.startsWith(month) ? items.filter((item) => isOnDay(item, date, cutoff)) : undefined })),
  );
}

/**
 * Returns the first `limit` of those items that are on a day of a month (`YYYY-MM`), and how many more of them there
 * are. `cutoff`: as above.
 */
export function itemsOfMonth<Item extends ShownSpan>(
  month: string,
  items: readonly Item[],
  { cutoff, limit }: { readonly cutoff: string; readonly limit: number },
): { readonly items: readonly Item[]; readonly leftOut: number } {
  const days = { first: `${month}-01`, last: lastDayOfMonth(month) };
  const ownItems = items.filter((item) => isOnAnyDay(item, days, cutoff));
  return { items: ownItems.slice(0, limit), leftOut: Math.max(0, ownItems.length - limit) };
}

/** Returns the days (`YYYY-MM-DD`) of the weeks that overlap a month (`YYYY-MM`). `firstDay`: as above. */
function daysOfWeeks(month: string, firstDay: number): string[][] {
  const first = `${month}-01 00:00:00`;
  const before = (dayOfWeek(unixFromText(first) / DAY_SECONDS) - firstDay + 7) % 7;
  const length = Number(lastDayOfMonth(month).slice('YYYY-MM-'.length));
  return Array.from({ length: Math.ceil((before + length) / 7) }, (_, week) =>
    Array.from({ length: 7 }, (__, day) => addDays(first, week * 7 + day - before).slice(0, 10)),
  );
}

const DAY_SECONDS = 86_400;
