import { hash } from 'node:crypto';
import type { RecurringDates } from '../../calendar/recurring-dates.ts';
import { eventsOnPage, type SiteSettings } from '../../calendar/settings.ts';
import { shownTimes } from '../../calendar/shown-times.ts';
import { fail } from '../../errors.ts';
import { calendarHeadOf } from '../../exchange/ical/records.ts';
import { type CalendarEvent, writeCalendar } from '../../exchange/ical/write.ts';
import { plainLine } from '../../exchange/items/event-record.ts';
import { asHtml, NEWS_FORMATS, type NewsEvent } from '../../exchange/rss.ts';
import type { EventPage, IdsPage, ListPage } from '../../kinds/calendar-page.ts';
import type { Order } from '../../kinds/condition.ts';
import { event as EVENT } from '../../kinds/event.ts';
import { eventOrders } from '../../kinds/events/list.ts';
import type { EventRecord } from '../../kinds/events/shape.ts';
import type { FeedFormat } from '../../kinds/feed-pages.ts';
import type { Timeliness } from '../../kinds/timeliness.ts';
import { type PageSubject, subjectOfList } from '../../pages/page-subject.ts';
import { listCalendar } from '../../records/calendar-list.ts';
import { contentTag } from '../../records/caller.ts';
import {
  authorNames,
  type FeedEvent,
  type FeedEvents,
  type FeedTerm,
  lastSave,
  loadNamedEvents,
  toNamedEvents,
} from '../../records/feed-events.ts';
import { readPost } from '../../records/posts.ts';
import { datesOfEvents } from '../../records/recurrences.ts';
import { type Say, sayIn } from '../../texts.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { EXCERPT_MORE, EXCERPT_WORDS, trimWords } from '../../wordpress/content/excerpt.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import { mapYielding } from '../../yielding.ts';
import type { RawParams } from '../input.ts';
import type { FeedRequest } from './feed-request.ts';

/** A feed that is ready to be sent. */
export interface Feed {
  readonly type: string;
  readonly body: string;
  readonly timeliness: Timeliness;
  readonly records: readonly unknown[];
  readonly subject: PageSubject;
  /** The file name under which calendars are saved. */
  readonly file?: string;
}

/** The events of a page, with the title of their news feed. */
interface FeedContent extends FeedEvents {
  readonly title: string;
  readonly subject: PageSubject;
}

/** Returns the feed of a page. Throws `rest_no_route` or `rest-event-not-found` if there is none. */
export async function buildFeed(request: FeedRequest): Promise<Feed> {
  const { page, format } = request.address;
  if (format === 'jsonld') return jsonLdFeed(request);
  if (format === undefined || page.of === 'linked') return fail('rest_no_route');
  const content = page.of === 'list' ? await findListedEvents(request, page) : await findNamedEvents(request, page);
  return format === 'ical' ? calendarFeed(request, content) : newsFeed(request, format, content);
}

// ------------------------------------------------------------------------------------------------- events
/** Usual and maximum number of events in a calendar; `per_page` can raise it up to the maximum. */
const [DEFAULT_EVENTS, MAX_EVENTS] = [30, 1000];

/**
 * Returns the numbers of a query as a feed or page interprets them, since many values have the same effect. `per_page`
 * is only for calendars (`takesPageSize`).
 */
export function effectiveNumbers(request: Pick<FeedRequest, 'address' | 'query'>): RawParams {
  const { page } = request.address;
  return { per_page: String(pageSize(request) ?? ''), ...('number' in page ? { paged: String(page.number) } : {}) };
}

/** Whether a page takes `per_page`. */
export const takesPageSize = ({ format, page }: FeedRequest['address']): boolean =>
  format === 'ical' && (page.of === 'list' || page.of === 'ids');

/**
 * Returns the number of events that a query requests; undefined if it requests none, or fewer than the usual number,
 * which has no effect since the plugin ignores the parameter.
 */
function pageSize({ query }: Pick<FeedRequest, 'query'>): number | undefined {
  const perPage = typeof query.per_page === 'string' && /^\d{1,9}$/.test(query.per_page) ? Number(query.per_page) : 0;
  return perPage < DEFAULT_EVENTS ? undefined : Math.min(perPage, MAX_EVENTS);
}

/** Returns the number of events in a calendar. */
const eventLimit = (request: Pick<FeedRequest, 'query'>): number => pageSize(request) ?? DEFAULT_EVENTS;

const passwordOf = ({ query: { password } }: FeedRequest) => (typeof password === 'string' ? password : undefined);

/**
 * Finds the named events. A single event that is not public is reported as not found; among several, such events are
 * left out.
 */
async function findNamedEvents(request: FeedRequest, page: EventPage | IdsPage): Promise<FeedContent> {
  const { site, caller } = request;
  const names = page.of === 'ids' ? { ids: page.ids.slice(0, eventLimit(request)) } : toNamedEvents(page);
  const feedEvents = await loadNamedEvents(site, caller, names, { password: passwordOf(request) });
  const event = feedEvents.events[0]?.id;
  if (page.of === 'event' && event === undefined) fail('rest-event-not-found');
  return { ...feedEvents, title: caller.settings.name, subject: page.of === 'event' ? { event } : {} };
}

async function findListedEvents(request: FeedRequest, page: ListPage): Promise<FeedContent> {
  const { site, caller, address, query } = request;
  const { settings } = caller;
  const isCalendar = address.format === 'ical';
  const limit = isCalendar ? eventLimit(request) : Math.min(settings.postsPerRss, MAX_EVENTS);
  const perPage = isCalendar && pageSize(request) === undefined ? eventsOnPage(settings) : limit;
  const list = await listCalendar(site, caller, page, {
    filters: query,
    withoutHidden: isCalendar,
    order: isCalendar ? undefined : orderOf(query),
    limit,
    offset: (page.number - 1) * perPage,
    password: passwordOf(request),
  });
  const title = [...list.terms.map(({ name }) => decodeEntities(name)), settings.name].join(' - ');
  return { ...list, title, subject: subjectOfList(list, page.featured) };
}

/** News feeds can be sorted, like WordPress's. */
function orderOf({ orderby, order }: RawParams): Order | undefined {
  const by = typeof orderby === 'string' ? eventOrders.names.get(orderby.toLowerCase()) : undefined;
  return by === undefined || by === 'include' ? undefined : { by, descending: typeof order !== 'string' || order.toLowerCase() !== 'asc' };
}

// ------------------------------------------------------------------------------------------------- formats
async function jsonLdFeed(request: FeedRequest): Promise<Feed> {
  const { site, caller, address } = request;
  if (address.page.of !== 'event') return fail('rest_no_route');
  const { subject } = await findNamedEvents(request, address.page);
  const password = passwordOf(request);
  const { record } = await readPost(site, caller, EVENT, subject.event ?? 0, password === undefined ? {} : { password });
  return { type: 'application/ld+json', body: JSON.stringify(record.json_ld ?? {}), timeliness: 'never', records: [record], subject };
}

async function calendarFeed(request: FeedRequest, { events, timeliness, subject }: FeedContent): Promise<Feed> {
  const { site, caller, query, address } = request;
  const language = languageOfTexts(request);
  const dates = await datesOfEvents(site, caller, wholeEvents(address.page, events), MAX_RECURRING_EVENTS);
  const locked = site.texts.t(language, 'site:words.locked');
  const records = await mapYielding(events, (event) => calendarRecord(event, dates.get(event.id), locked));
  const chunks: string[] = [];
  for await (const chunk of writeCalendar(records, calendarHeadOf(site, caller, language))) chunks.push(chunk);
  return {
    type: 'text/calendar',
    body: chunks.join(''),
    // Recurrence rules can change without a write to the tables that cached answers depend on.
    timeliness: dates.size > 0 ? 'always' : timeliness,
    records: events.map(withTerms),
    subject,
    file: fileName(
      caller.settings.name,
      Object.hasOwn(query, 'ical') || !Object.hasOwn(query, 'outlook-ical') ? 'ical' : 'outlook',
      events.map(({ id }) => id),
    ),
  };
}

/** Maximum number of events that are written with their rules, since each may have thousands of dates. */
const MAX_RECURRING_EVENTS = 30;

/** Returns the events of a page that are written with their rules: those named themselves, not one of their dates. */
function wholeEvents(page: FeedRequest['address']['page'], events: readonly FeedEvent[]): EventRecord[] {
  if (page.of !== 'ids' && (page.of !== 'event' || page.occurrence !== undefined)) return [];
  return events.flatMap(({ id, row, record }) => (id === row.ID ? [record] : []));
}

/**
 * Returns an event for a calendar: with the title as written, without the typographic quotation marks of pages, and
 * with the categories even if it is protected.
 */
const calendarRecord = (event: FeedEvent, recurs: RecurringDates | undefined, locked: string): CalendarEvent => ({
  ...event.record,
  recurs,
  title: event.row.post_title,
  categories: event.categories,
  state: event.state,
  ...(event.locked ? { description: locked } : {}),
});

/** Returns the record that a feed depends on, including the terms of a protected event. */
const withTerms = ({ record, categories, tags }: FeedEvent) => ({ ...record, categories: categories.map(byId), tags: tags.map(byId) });
const byId = ({ term_id: id }: FeedTerm) => ({ id });

/**
 * Returns the file name as the plugin builds it, from the site's name and a digest of the ids, so that different lists
 * get different names.
 */
function fileName(name: string, form: 'ical' | 'outlook', ids: readonly number[]): string {
  const site = sanitizeTitle(decodeEntities(name)).replace(/%[\da-f]{2}/g, '') || 'events';
  return `${site}-${hash('md5', form + ids.join('')).slice(0, FILE_DIGITS)}.ics`;
}

const FILE_DIGITS = 11;

async function newsFeed(
  request: FeedRequest,
  format: Exclude<FeedFormat, 'ical' | 'jsonld'>,
  { events, title, subject }: FeedContent,
): Promise<Feed> {
  const { site, caller, self } = request;
  const context: NewsContext = { say: sayIn(site.texts, languageOfTexts(request)), settings: caller.settings };
  const { settings } = caller;
  const authors = await authorNames(site, events);
  const { type, write } = NEWS_FORMATS[format];
  const head = {
    title,
    description: settings.description,
    home: caller.home,
    self,
    language: contentTag(caller),
    zone: settings.timezoneString === '' ? undefined : settings.zone,
    clock: settings.zone,
    changed: events.length === 0 ? await lastSave(site) : undefined,
  };
  const body = write(await mapYielding(events, (event) => newsEvent(context, event, authors.get(event.row.post_author) ?? '')), head);
  // Changes of the authors' names are not tracked, so the feed is not cached for longer.
  return { type, body, timeliness: 'always', records: events.map(withTerms), subject };
}

/**
 * Returns the language of the words around the events. It is the language of the events, whatever language a calendar
 * program prefers, since both are read together. If the content has no languages, the address may name another one.
 */
function languageOfTexts({ site, caller, address, query }: FeedRequest): string {
  const parameter = typeof query.translation_language === 'string' ? query.translation_language : undefined;
  const hints = caller.settings.contentLanguages ? {} : { parameter, segment: address.language };
  return site.texts.chooseLanguage({ ...hints, acceptLanguage: contentTag(caller) });
}

/** The texts and the settings for a news feed. */
interface NewsContext {
  readonly say: Say;
  readonly settings: SiteSettings;
}

function newsEvent({ say, settings }: NewsContext, event: FeedEvent, author: string): NewsEvent {
  const { record, row, locked, tags } = event;
  const text = locked ? say('site:words.locked') : record.description;
  const content = settings.rssExcerpts ? {} : { content: text };
  return {
    record,
    title: locked ? say('site:words.protected-title', { title: record.title }) : record.title,
    guid: event.id === row.ID ? decodeEntities(row.guid) || `${settings.home}/?post_type=tribe_events&p=${row.ID}` : record.url,
    author,
    start: shownTimes(record, settings.calendar.timezoneMode, settings.zone).start,
    tags,
    excerpt: record.excerpt === '' ? trimWords(asHtml(plainLine(text)), EXCERPT_WORDS, EXCERPT_MORE) : asHtml(plainLine(record.excerpt)),
    ...content,
  };
}
