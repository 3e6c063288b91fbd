import { choiceLabel } from '../calendar/custom-fields.ts';
import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { eventsOnPage } from '../calendar/settings.ts';
import { withMoments } from '../calendar/shown-times.ts';
import { fail } from '../errors.ts';
import { placeOf, plainLine, venuesOf } from '../exchange/items/event-record.ts';
import { dayInWords, spanInWords } from '../html/dates.ts';
import type { I18n } from '../html/i18n.ts';
import type { EventPage, LinkedPage } from '../kinds/calendar-page.ts';
import type { EventRecord } from '../kinds/events/shape.ts';
import type { OrganizerRecord } from '../kinds/organizer.ts';
import { termLink } from '../kinds/term-record.ts';
import { shortestTimeliness, type Timeliness } from '../kinds/timeliness.ts';
import { listCalendar } from '../records/calendar-list.ts';
import type { Caller } from '../records/caller.ts';
import { type FeedEvent, type FeedTerm, loadNamedEvents, toNamedEvents } from '../records/feed-events.ts';
import { type LinkedRecord, linkedBySlug } from '../records/linked-pages.ts';
import { addDays, isZeroDate, utcFromDate } from '../wordpress/time.ts';
import { localFromDate, parseZone, toLocal, toUtc } from '../wordpress/zones.ts';
import { translationsOfDate } from './date-translations.ts';
import { i18nFor } from './i18n-for.ts';
import {
  descriptionOf,
  type EventCard,
  fittingPicture,
  foreignLanguageTag,
  type NamedLink,
  nameOf,
  stateInWords,
  titleOf,
  toEventCard,
  toPlaceModel,
  websiteOf,
} from './models.ts';
import type { PageContent, PageContext } from './pages.tsx';
import type { Detail } from './record-views.tsx';
import { type LocalSpan, loadSeriesDates } from './series-dates.ts';
import { eventsJsonLd, linkedJsonLd } from './structured.ts';
import { type AddedEvent, appendQuery, calendarUrl, eventSubscriptions } from './urls.ts';

/**
 * How an event is shown. `password`: the one entered to open a protected event; `asPublished`: as visitors will see it
 * once it is published, although the caller sees more.
 */
export interface EventPageOptions {
  readonly password: string | undefined;
  readonly asPublished?: boolean;
}

/** Returns the page of an event, or of one of its dates. */
export async function eventPage(
  { site, theme }: PageContext,
  caller: Caller,
  page: EventPage,
  { password, asPublished }: EventPageOptions,
): Promise<PageContent> {
  const i18n = i18nFor(site, caller);
  const { say } = i18n;
  const list = await loadNamedEvents(site, caller, toNamedEvents(page), { password, asPublished, withJsonLd: true });
  const event = list.events[0] ?? fail('rest_no_route');
  const { record, locked } = event;
  const card = toEventCard(event, caller, i18n);
  const picture = fittingPicture(record.image, 'large', event.imageText);
  const website = websiteOf(record.website);
  const isDate = page.occurrence !== undefined;
  const dates = await loadSeriesDates({ site, caller, event });
  const ending = endOfEvent(withMoments(record, caller.settings.zone).utc_end_date, caller);
  const hourCycle = hourCycleOf(caller.settings.calendar.formats.time);
  const momentInWords = (moment: string) => spanInWords(i18n, { start: moment, end: moment, allDay: false }, hourCycle);
  const body = theme.views.event({
    i18n,
    card,
    description: record.description,
    picture,
    places: venuesOf(record).map((venue) => toPlaceModel(venue, i18n)),
    organizers: record.organizer.map((organizer) => organizerModel(organizer, i18n)),
    // If no website was set, the record contains the URL of the page itself.
    website: website === record.url ? '' : website,
    categories: locked ? [] : event.categories.map((term) => termModel(term, caller, i18n)),
    tags: locked ? [] : event.tags.map((term) => termModel(term, caller, i18n)),
    details: customFieldDetails(record, caller, say),
    notice: stateInWords(event.state, (name) => say(`pages:${name}`)),
    isOver: ending.isOver && (isDate || !dates?.next),
    dates: (dates?.others ?? []).map(({ start, isAlone, href }) => ({
      name: isAlone ? dayInWords(i18n, start, 'long') : momentInWords(start),
      href,
    })),
    add: card.when === '' ? [] : eventSubscriptions(record.url, toAddedEvent(event, card, isDate ? undefined : dates?.next, caller)),
    back: calendarUrl(caller, { view: 'list' }),
    locked: locked ? { error: password === undefined ? undefined : say('pages:wrong-password') } : undefined,
  });
  return {
    body,
    name: 'event',
    title: titleOf(event, i18n),
    description: locked ? '' : descriptionOf(record.excerpt || record.description),
    address: record.url,
    record: isDate && caller.settings.contentLanguages ? await translationsOfDate(site, caller, record) : record,
    picture: picture && { ...picture, src: record.image === false ? picture.src : record.image.url },
    unlisted: event.row.post_password !== '',
    framable: event.row.post_password === '',
    data: record.json_ld === undefined ? [] : [record.json_ld],
    records: [record],
    subject: { event: record.id },
    // Rules may change without a change in the tables on which cached answers depend.
    timeliness: dates ? 'always' : shortestTimeliness([list.timeliness, ending.timeliness]),
  };
}

/**
 * Returns whether an event is over, and when its page may have to say so: within the site's present day, or later. An
 * event without dates is never over.
 */
function endOfEvent(utcEnd: string, { now, settings: { zone } }: Caller): { isOver: boolean; timeliness: Timeliness } {
  if (isZeroDate(utcEnd)) return { isOver: false, timeliness: 'never' };
  if (utcEnd < utcFromDate(now)) return { isOver: true, timeliness: 'never' };
  return {
    isOver: false,
    timeliness: toLocal(utcEnd, zone) < addDays(localFromDate(now, zone), 1).slice(0, DATE_LENGTH) ? 'minute' : 'daily',
  };
}

const DATE_LENGTH = 'YYYY-MM-DD'.length;

/**
 * Returns an event in its own local time, even if the page shows another one. `next`: the next date of a recurring
 * event, whose record has the first one, which may be years ago.
 */
function toAddedEvent({ row, record }: FeedEvent, { allDay }: EventCard, next: LocalSpan | undefined, { settings }: Caller): AddedEvent {
  const { start_date: ownStart, end_date: ownEnd, timezone } = record;
  const { start, end, zone } = next ?? { start: ownStart, end: ownEnd, zone: parseZone(timezone) ?? settings.zone };
  // Google identifies zones by name. A zone that is only an offset has none, so the times are in UTC.
  const isNamed = zone.rules !== null;
  const clock = (localTime: string) => (isNamed || allDay ? localTime : toUtc(localTime, zone));
  return {
    title: plainLine(record.title),
    start: clock(start),
    end: clock(end),
    allDay,
    where: venuesOf(record).map(placeOf).join('; '),
    zone: isNamed ? zone.name : undefined,
    // The address of the file has no password, so that it would be the file of the closed event.
    hasFile: row.post_password === '',
  };
}

const termModel = (term: FeedTerm, caller: Caller, i18n: I18n): NamedLink => ({
  name: nameOf(term.name, i18n),
  href: termLink(term, [], caller, term.language),
});

/** Returns the values of the site's custom fields: ticked boxes joined by commas, a URL as a link. */
function customFieldDetails({ custom_fields: values }: EventRecord, { settings }: Caller, say: (key: string) => string): Detail[] {
  const fieldsByName = new Map(settings.calendar.customFields.map((field) => [field.name, field]));
  // An empty list means that there are no values.
  return Object.entries(values as Readonly<Record<string, { readonly label: string; readonly value: string }>>).map(
    ([name, { label, value }]) => {
      const { type, choices = [] } = fieldsByName.get(name) ?? {};
      if (type === 'url' && /^https?:\/\//i.test(value)) return { label, value, href: value };
      if (type !== 'checkbox') return { label, value };
      const choiceLabels = value.split('|').map((choice) => choiceLabel(choice, choices, say('pages:yes')));
      return { label, value: choiceLabels.join(', ') };
    },
  );
}

const organizerModel = ({ organizer, url, phone = '', email = '', website }: OrganizerRecord, i18n: I18n) => ({
  name: nameOf(organizer, i18n),
  href: url,
  phone: plainLine(phone),
  email: plainLine(email),
  website: websiteOf(website),
});

/** Returns the page of a venue or an organizer, with the events that link to it. */
export async function linkedPage(context: PageContext, caller: Caller, page: LinkedPage): Promise<PageContent> {
  return linkedContent(context, caller, page, await linkedBySlug(context.site, caller, page.kind, page.slug));
}

/**
 * Returns the page of a venue or an organizer that has been looked up, with the events that the caller may see.
 *
 * @throws rest_no_route if none was found, and for a page after the last one
 */
export async function linkedContent(
  { site, theme }: PageContext,
  caller: Caller,
  { kind, number }: Pick<LinkedPage, 'kind' | 'number'>,
  linkedRecord: LinkedRecord | undefined,
): Promise<PageContent> {
  const i18n = i18nFor(site, caller);
  const { say } = i18n;
  const { record, imageText } = linkedRecord ?? fail('rest_no_route');
  const perPage = eventsOnPage(caller.settings);
  const list = await listCalendar(site, caller, UPCOMING_LIST, {
    filters: { [kind]: String(record.id) },
    withoutHidden: true,
    withJsonLd: true,
    limit: perPage,
    offset: (number - 1) * perPage,
  });
  if (list.events.length === 0 && number > 1) fail('rest_no_route');
  const pages = Math.ceil(list.total / perPage);
  const pageUrl = (pageNumber: number) => urlOfPage(record.url, pageNumber, caller.settings);
  const name = nameOf('venue' in record ? record.venue : record.organizer, i18n);
  const picture = fittingPicture(record.image, 'large', imageText);
  const previous = number > 1 ? { href: pageUrl(number - 1), text: say('pages:previous-page') } : undefined;
  const next = number < pages ? { href: pageUrl(number + 1), text: say('pages:next-page') } : undefined;
  const body = theme.views.linked({
    i18n,
    lang: foreignLanguageTag(record, caller),
    name,
    description: record.description ?? '',
    picture,
    place: 'venue' in record ? toPlaceModel(record, i18n) : undefined,
    phone: plainLine(record.phone ?? ''),
    email: 'venue' in record ? '' : plainLine(record.email ?? ''),
    website: websiteOf(record.website),
    heading: say('venue' in record ? 'pages:events-at' : 'pages:events-by', { name }),
    events: list.events.map((event) => toEventCard(event, caller, i18n)),
    previous,
    next,
    here: pages > 1 ? say('pages:page', { page: number, pages }) : undefined,
    back: calendarUrl(caller, { view: 'list' }),
    subscriptions: [],
  });
  return {
    body,
    name: 'linked',
    title: name,
    description: descriptionOf(record.excerpt || record.description || ''),
    address: pageUrl(number),
    first: number > 1 ? record.url : undefined,
    record,
    picture,
    previous: previous?.href,
    next: next?.href,
    data: [...linkedJsonLd(record.json_ld), ...eventsJsonLd(list.events)],
    records: list.events.map((event) => event.record),
    framable: true,
    subject: { linked: { kind, id: record.id } },
    timeliness: list.timeliness,
  };
}

/** Selects upcoming events; the filters are added to this. */
const UPCOMING_LIST = {
  of: 'list',
  view: 'list',
  date: undefined,
  chosenDate: undefined,
  number: 1,
  featured: false,
  categories: [],
  tags: [],
  search: undefined,
  archive: false,
} as const;

/**
 * Returns the URL of a page number. URLs with a query always end in one; URLs with a path may also have a query, which
 * contains the language.
 */
function urlOfPage(url: string, number: number, { permalinkStructure }: Pick<Caller['settings'], 'permalinkStructure'>): string {
  if (number === 1) return url;
  if (permalinkStructure === '') return appendQuery(url, [['paged', String(number)]]);
  const [path = '', ...query] = url.split('?');
  return [`${path.replace(/\/$/, '')}/page/${number}${path.endsWith('/') ? '/' : ''}`, ...query].join('?');
}
