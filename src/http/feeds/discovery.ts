import type { SiteSettings } from '../../calendar/settings.ts';
import { PLUGIN_NAMESPACE } from '../../config/values.ts';
import { calendarFeedUrl, newsFeedUrl } from '../../pages/feed-urls.ts';
import { apiRoutesOf, type PageSubject, shortlinkOf, subjectOfList } from '../../pages/page-subject.ts';
import { findListTerms } from '../../records/calendar-list.ts';
import type { Caller } from '../../records/caller.ts';
import { loadNamedEvents, toNamedEvents } from '../../records/feed-events.ts';
import type { Site } from '../../site.ts';
import { restUrl } from '../../wordpress/links.ts';
import type { FeedRequest } from './feed-request.ts';

/**
 * Returns the headers by which programs find the API from the address of a calendar page: the address of the API, of
 * the event or list that the page shows, and a `Link` to the root of WordPress's API. `Link` also contains the short
 * URL of an event (`wp_shortlink_header`).
 */
export function discoveryHeaders(settings: SiteSettings, subject: PageSubject): Record<string, string> {
  const { route, query, core } = apiRoutesOf(subject);
  const context = { home: settings.home, settings };
  const links = [`<${restUrl(context, '')}>; rel="https://api.w.org/"`];
  if (core !== undefined) links.push(`<${restUrl(context, core)}>; rel="alternate"; title="JSON"; type="application/json"`);
  const shortlink = shortlinkOf(settings, subject);
  if (shortlink !== undefined) links.push(`<${shortlink}>; rel=shortlink`);
  return {
    'X-TEC-API-VERSION': 'v1',
    'X-TEC-API-ROOT': restUrl(context, `${PLUGIN_NAMESPACE}/${route}`, query),
    'X-TEC-API-ORIGIN': settings.home,
    Link: links.join(', '),
  };
}

/** Returns the same headers for a page that is not served, with links to the calendar's feeds. */
export async function pageHeaders({ site, caller, address: { page } }: FeedRequest): Promise<Record<string, string>> {
  const headers = discoveryHeaders(caller.settings, await subjectOf(site, caller, page));
  return { ...headers, Link: [headers.Link, ...feedLinks(caller)].join(', ') };
}

async function subjectOf(site: Site, caller: Caller, page: FeedRequest['address']['page']): Promise<PageSubject> {
  if (page.of === 'ids' || page.of === 'linked') return {};
  if (page.of === 'event') {
    const { events } = await loadNamedEvents(site, caller, toNamedEvents(page));
    return { event: events[0]?.id };
  }
  return subjectOfList(await findListTerms(site, caller, page), page.featured);
}

/** Links to the feeds in the language of the caller. */
const feedLinks = (caller: Caller): string[] => [
  `<${calendarFeedUrl(caller)}>; rel="alternate"; type="text/calendar"`,
  `<${newsFeedUrl(caller)}>; rel="alternate"; type="application/rss+xml"`,
];
