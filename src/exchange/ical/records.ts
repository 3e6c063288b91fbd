import { recurringDates } from '../../calendar/recurring-dates.ts';
import { event } from '../../kinds/event.ts';
import { STATE } from '../../kinds/events/metas.ts';
import type { Caller } from '../../records/caller.ts';
import { listPosts, readablePosts } from '../../records/posts.ts';
import type { Site } from '../../site.ts';
import { pagesOf } from '../../storage/engine/pages.ts';
import { parseZone } from '../../wordpress/zones.ts';
import { plainLine, venuesOf } from '../items/event-record.ts';
import { type Item, type PostItem, publicIdsOf, textIn } from '../items/items.ts';
import type { CalendarEvent, CalendarHead } from './write.ts';

const BATCH_SIZE = 200;

/**
 * Yields the published records of the events among these items, with the venues and organizers that come before them. A
 * recurring event is one record with all its dates, or one record for each date if only some dates were selected.
 */
export async function* eventRecords(site: Site, caller: Caller, items: AsyncIterable<Item>): AsyncGenerator<CalendarEvent> {
  const links = new Set<number>();
  let batch: PostItem[] = [];
  for await (const item of items) {
    if ((item.kind === 'venue' || item.kind === 'organizer') && item.id !== undefined) links.add(item.id);
    if (item.kind === 'event') batch.push(item);
    if (batch.length < BATCH_SIZE) continue;
    yield* await recordsOf(site, caller, batch, links);
    batch = [];
  }
  yield* await recordsOf(site, caller, batch, links);
}

/** Returns the head of the site's calendar in a language. */
export const calendarHeadOf = ({ texts }: Site, { settings }: Caller, language: string): CalendarHead => ({
  name: settings.name,
  description: plainLine(settings.name) === '' ? '' : texts.t(language, 'site:words.events-of', { name: plainLine(settings.name) }),
  url: settings.home,
  zone: settings.zone,
  clock: settings.calendar.timezoneMode,
  language,
  host: URL.canParse(settings.home) ? new URL(settings.home).hostname : 'localhost',
});

async function recordsOf(site: Site, caller: Caller, items: readonly PostItem[], links: ReadonlySet<number>): Promise<CalendarEvent[]> {
  const records: CalendarEvent[] = [];
  const perPage = Math.min(BATCH_SIZE, site.config.maxPerPage);
  for (const include of pagesOf(items.filter((item) => !isSeries(item)).flatMap(publicIdsOf), perPage)) {
    const { records: pageRecords } = await listPosts(site, caller, event, { include, per_page: perPage });
    records.push(...pageRecords);
  }
  records.push(...(await seriesOf(site, caller, items.filter(isSeries))));
  const sources = new Map(items.flatMap((item) => publicIdsOf(item).map((id) => [id, item] as const)));
  return records.map((record) => ({
    ...record,
    // Feeds contain the title as it was written, without the typographic quotes of pages.
    title: sources.get(record.id)?.columns.post_title ?? record.title,
    state: textIn(sources.get(record.id)?.metas ?? [], STATE),
    venue: venuesOf(record).filter(({ id }) => links.has(id)),
    organizer: record.organizer.filter(({ id }) => links.has(id)),
  }));
}

/** Whether an event recurs and is exported with all its dates. */
const isSeries = ({ recurrence }: PostItem): boolean =>
  recurrence?.recurs === true && recurrence.partial !== true && recurrence.dates.length > 0;

/** Returns recurring events, each with all its dates. */
async function seriesOf(site: Site, caller: Caller, items: readonly PostItem[]): Promise<CalendarEvent[]> {
  const dates = new Map(items.map(({ id = 0, recurrence }) => [id, recurrence]));
  const { records } = await readablePosts(site, caller, event, [...dates.keys()]);
  return records.map((record) => {
    const storedDates = dates.get(record.id);
    return { ...record, recurs: storedDates && recurringDates(storedDates, parseZone(record.timezone) ?? caller.settings.zone) };
  });
}
