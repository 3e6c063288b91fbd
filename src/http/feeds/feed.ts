import { hash } from 'node:crypto';
import type { RecurringDates } from '../../calendar/recurring-dates.ts';
import { eventsOnPage, type SiteSettings } from '../../calendar/settings.ts';
import { shownTimes } from '../../calendar/shown-times.ts';
import { fail } from '../../errors.ts';
import { calendarHead } from '../../exchange/ical/records.ts';
import { type CalendarEvent, writeCalendar } from '../../exchange/ical/write.ts';
import { plainLine } from '../../exchange/items/event-record.ts';
import { asHtml, NEWS, type NewsEvent } from '../../exchange/rss.ts';
import { inTurns } from '../../in-turns.ts';
import type { EventPage, IdsPage, ListPage } from '../../kinds/calendar-page.ts';
import type { Order } from '../../kinds/condition.ts';
import { event as EVENT } from '../../kinds/event.ts';
import { eventOrders } from '../../kinds/events/list.ts';
import type { FeedForm } from '../../kinds/feed-pages.ts';
import type { Timeliness } from '../../kinds/timeliness.ts';
import type { PageSubject } from '../../pages/page-subject.ts';
import { listCalendar } from '../../records/calendar-list.ts';
import { contentTag } from '../../records/caller.ts';
import { authorNames, type FeedEvent, type FeedEvents, type FeedTerm, lastSave, namedEvents, namesOf } from '../../records/feed-events.ts';
import { readPost } from '../../records/posts.ts';
import { datesOfEvents } from '../../records/recurrences.ts';
import type { Say } from '../../refusals.ts';
import { decodeEntities } from '../../wordpress/content/entities.ts';
import { EXCERPT_MORE, EXCERPT_WORDS, trimWords } from '../../wordpress/content/excerpt.ts';
import { sanitizeTitle } from '../../wordpress/slug.ts';
import type { Raw } from '../input.ts';
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
interface Found extends FeedEvents {
  readonly title: string;
  readonly subject: PageSubject;
}

/** Returns the feed of a page. Throws `rest_no_route` or `rest-event-not-found` if there is none. */
export async function feedOf(wanted: FeedRequest): Promise<Feed> {
  const { page, form } = wanted.address;
  if (form === 'jsonld') return jsonLd(wanted);
  if (form === undefined || page.of === 'linked') return fail('rest_no_route');
  const found = page.of === 'list' ? await findListed(wanted, page) : await findNamed(wanted, page);
  return form === 'ical' ? calendar(wanted, found) : news(wanted, form, found);
}

// ------------------------------------------------------------------------------------------------- events
/** Usual and maximum number of events in a calendar; `per_page` can raise it up to the maximum. */
const [MANY, MOST] = [30, 1000];

/**
 * Returns the numbers of a query as a feed or page interprets them, since many values have the same effect. `per_page`
 * is only for calendars (`takesPageSize`).
 */
export function feedNumbers(wanted: Pick<FeedRequest, 'address' | 'query'>): Raw {
  const { page } = wanted.address;
  return { per_page: String(longest(wanted)), ...('number' in page ? { paged: String(page.number) } : {}) };
}

/** Whether a page takes `per_page`. */
export const takesPageSize = ({ form, page }: FeedRequest['address']): boolean =>
  form === 'ical' && (page.of === 'list' || page.of === 'ids');

/**
 * Returns the number of events in a calendar: never fewer than the usual number, since the plugin ignores the
 * parameter.
 */
function longest({ query }: Pick<FeedRequest, 'query'>): number {
  const asked = typeof query.per_page === 'string' && /^\d{1,9}$/.test(query.per_page) ? Number(query.per_page) : MANY;
  return Math.min(Math.max(asked, MANY), MOST);
}

const passwordOf = ({ query: { password } }: FeedRequest) => (typeof password === 'string' ? password : undefined);

/**
 * Finds the named events. A single event that is not public is reported as not found; among several, such events are
 * left out.
 */
async function findNamed(wanted: FeedRequest, page: EventPage | IdsPage): Promise<Found> {
  const { site, caller } = wanted;
  const names = page.of === 'ids' ? { ids: page.ids.slice(0, longest(wanted)) } : namesOf(page);
  const found = await namedEvents(site, caller, names, { password: passwordOf(wanted) });
  const event = found.events[0]?.id;
  if (page.of === 'event' && event === undefined) fail('rest-event-not-found');
  return { ...found, title: caller.settings.name, subject: page.of === 'event' ? { event } : {} };
}

async function findListed(wanted: FeedRequest, page: ListPage): Promise<Found> {
  const { site, caller, address, query } = wanted;
  const { settings } = caller;
  const calendars = address.form === 'ical';
  const limit = calendars ? longest(wanted) : Math.min(settings.postsPerRss, MOST);
  const perPage = calendars && limit === MANY ? eventsOnPage(settings) : limit;
  const found = await listCalendar(site, caller, page, {
    filters: query,
    unhidden: calendars,
    order: calendars ? undefined : orderOf(query),
    limit,
    offset: (page.number - 1) * perPage,
    password: passwordOf(wanted),
  });
  const title = [...found.terms.map(({ name }) => decodeEntities(name)), settings.name].join(' - ');
  return { ...found, title, subject: { term: found.terms[0], featured: page.featured } };
}

/** News feeds can be sorted, like WordPress's. */
function orderOf({ orderby, order }: Raw): Order | undefined {
  const by = typeof orderby === 'string' ? eventOrders.names.get(orderby.toLowerCase()) : undefined;
  return by === undefined || by === 'include' ? undefined : { by, descending: typeof order !== 'string' || order.toLowerCase() !== 'asc' };
}

// ------------------------------------------------------------------------------------------------- formats
async function jsonLd(wanted: FeedRequest): Promise<Feed> {
  const { site, caller, address } = wanted;
  if (address.page.of !== 'event') return fail('rest_no_route');
  const { subject } = await findNamed(wanted, address.page);
  const password = passwordOf(wanted);
  const { record } = await readPost(site, caller, EVENT, subject.event ?? 0, password === undefined ? {} : { password });
  return { type: 'application/ld+json', body: JSON.stringify(record.json_ld ?? {}), timeliness: 'never', records: [record], subject };
}

async function calendar(wanted: FeedRequest, { events, timeliness, subject }: Found): Promise<Feed> {
  const { site, caller, query, address } = wanted;
  const language = languageOfWords(wanted);
  const whole = address.page.of === 'event' && address.page.on === undefined ? events.map(({ record }) => record) : [];
  const dates = await datesOfEvents(site, caller, whole);
  const locked = site.texts.t(language, 'site:words.locked');
  const records = await inTurns(events, (event) => calendarRecord(event, dates.get(event.id), locked));
  const pieces: string[] = [];
  for await (const piece of writeCalendar(records, calendarHead(site, caller, language))) pieces.push(piece);
  return {
    type: 'text/calendar',
    body: pieces.join(''),
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

async function news(wanted: FeedRequest, form: Exclude<FeedForm, 'ical' | 'jsonld'>, { events, title, subject }: Found): Promise<Feed> {
  const { site, caller, self } = wanted;
  const words: Words = { say: (key, values) => site.texts.t(languageOfWords(wanted), key, values), settings: caller.settings };
  const { settings } = caller;
  const authors = await authorNames(site, events);
  const { type, write } = NEWS[form];
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
  const body = write(await inTurns(events, (event) => newsEvent(words, event, authors.get(event.row.post_author) ?? '')), head);
  // Changes of the authors' names are not tracked, so the feed is not cached for longer.
  return { type, body, timeliness: 'always', records: events.map(withTerms), subject };
}

/**
 * Returns the language of the words around the events. It is the language of the events, whatever language a calendar
 * program prefers, since both are read together. If the content has no languages, the address may name another one.
 */
function languageOfWords({ site, caller, address, query }: FeedRequest): string {
  const parameter = typeof query.translation_language === 'string' ? query.translation_language : undefined;
  const asked = caller.settings.contentLanguages ? {} : { parameter, segment: address.language };
  return site.texts.chooseLanguage({ ...asked, acceptLanguage: contentTag(caller) });
}

/** The texts and the settings for a news feed. */
interface Words {
  readonly say: Say;
  readonly settings: SiteSettings;
}

function newsEvent({ say, settings }: Words, event: FeedEvent, author: string): NewsEvent {
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
