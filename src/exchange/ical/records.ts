import { event } from '../../kinds/event.ts';
import type { Caller } from '../../records/caller.ts';
import { listPosts } from '../../records/posts.ts';
import type { Site } from '../../site.ts';
import { pagesOf } from '../../storage/engine/pages.ts';
import { type EventRecord, plainLine, venuesOf } from '../items/event-record.ts';
import { type Item, recordIdsOf } from '../items/items.ts';
import type { CalendarHead } from './write.ts';

const AT_ONCE = 200;

/** The published records of the events among these items, with the venues and organizers that come before them among the items. */
export async function* eventRecords(site: Site, caller: Caller, items: AsyncIterable<Item>): AsyncGenerator<EventRecord> {
  const links = new Set<number>();
  let ids: number[] = [];
  for await (const item of items) {
    if ((item.kind === 'venue' || item.kind === 'organizer') && item.id !== undefined) links.add(item.id);
    if (item.kind === 'event') ids.push(...recordIdsOf(item));
    if (ids.length < AT_ONCE) continue;
    yield* await recordsOf(site, caller, ids, links);
    ids = [];
  }
  yield* await recordsOf(site, caller, ids, links);
}

/** What the calendar of a site says of itself, in the language of the caller. */
export const calendarHead = ({ texts }: Site, { settings, language }: Caller): CalendarHead => ({
  name: settings.name,
  description: texts.t(language, 'site:words.events-of', { name: plainLine(settings.name) }),
  url: settings.home,
  zone: settings.zone,
  clock: settings.calendar.timezoneMode,
  language,
  host: URL.canParse(settings.home) ? new URL(settings.home).hostname : 'localhost',
});

async function recordsOf(site: Site, caller: Caller, ids: readonly number[], links: ReadonlySet<number>): Promise<EventRecord[]> {
  const records: EventRecord[] = [];
  const perPage = Math.min(AT_ONCE, site.config.maxPerPage);
  for (const include of pagesOf(ids, perPage)) {
    const { records: some } = await listPosts(site, caller, event, { include, per_page: perPage });
    records.push(...some);
  }
  return records.map((record) => ({
    ...record,
    venue: venuesOf(record).filter(({ id }) => links.has(id)),
    organizer: record.organizer.filter(({ id }) => links.has(id)),
  }));
}
