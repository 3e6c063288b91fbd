import { dayOf } from '../calendar/schedule.ts';
import { eventsOnPage } from '../calendar/settings.ts';
import { fail } from '../errors.ts';
import { dayInWords } from '../html/dates.ts';
import type { I18n } from '../html/i18n.ts';
import { weeksOfMonth } from '../html/month-weeks.ts';
import type { Neighbour } from '../html/paging.tsx';
import { siteNameOf } from '../html/site-name.ts';
import type { ListPage } from '../kinds/calendar-page.ts';
import type { FeedView } from '../kinds/feed-list.ts';
import { shortestTimeliness } from '../kinds/timeliness.ts';
import { type CalendarList, listCalendar } from '../records/calendar-list.ts';
import type { Caller } from '../records/caller.ts';
import { ancestorsOf, type PlacedTerm } from '../records/terms.ts';
import type { Site } from '../site.ts';
import { addDays, addMonths } from '../wordpress/time.ts';
import { localFromDate } from '../wordpress/zones.ts';
import { type CalendarProps, idsShownInMonth } from './calendar-views.tsx';
import { usedCategories } from './categories.ts';
import type { SearchProps } from './filter-views.tsx';
import { type FilteredPart, filterBoxes, filterValueText, isTicked, readFilters, SHOW_FILTERS } from './filters.ts';
import { i18nFor } from './i18n-for.ts';
import { descriptionOf, type EventCard, type MonthDay, type NamedLink, nameOf, toEventCard } from './models.ts';
import { subjectOfList } from './page-subject.ts';
import type { PageContent, PageContext } from './pages.tsx';
import { divideTerms, termParameters } from './several-terms.ts';
import { eventsJsonLd } from './structured.ts';
import { findTermTranslations, kindOf, urlAndTranslations, withShownTerm } from './term-translations.ts';
import { type CalendarTarget, calendarUrl, filterParameters, type QueryPairs, subscriptions } from './urls.ts';

/** Returns a page of the calendar: a list, a month, a day, or past events, optionally of a category or a tag. */
export async function calendarPage(
  { site, theme }: PageContext,
  caller: Caller,
  requestedPage: ListPage,
  query: Readonly<Record<string, unknown>>,
): Promise<PageContent> {
  const { settings } = caller;
  const i18n = i18nFor(site, caller);
  const view = requestedPage.view ?? settings.calendar.view;
  const [isMonth, isPeriod] = [view === 'month', view === 'month' || view === 'day'];
  const number = isPeriod ? 1 : requestedPage.number;
  const perPage = eventsOnPage(settings);
  // The words of the search bar replace those of `search`.
  const filters = readFilters(query).filter(([name]) => name !== 'search' || requestedPage.search === undefined);
  const list = await listCalendar(site, caller, requestedPage, {
    filters: Object.fromEntries(filters),
    withoutHidden: true,
    withJsonLd: true,
    limit: isPeriod ? MAX_EVENTS : perPage,
    offset: (number - 1) * perPage,
  });
  if (list.events.length === 0 && number > 1) fail('rest_no_route');
  const page = { ...requestedPage, number, ...list.slugs };
  const termTranslations = list.terms.length > 1 ? undefined : await findTermTranslations(site, caller, list.terms[0]);
  const shownList = withShownTerm(list, termTranslations);
  const calendar: ShownCalendar = {
    caller,
    i18n,
    page,
    list: shownList,
    filters,
    showsFilters: filters.length > 0 || query[SHOW_FILTERS[0]] === SHOW_FILTERS[1],
    date: shownDate(shownList, caller),
    pages: Math.ceil(shownList.total / perPage),
  };
  const target = await findTarget(site, calendar, termTranslations?.shownTerm);
  const cards = shownList.events.map((event) => toEventCard(event, caller, i18n));
  const props = await calendarProps(site, calendar, target);
  const month = isMonth ? monthProps(calendar, target, cards) : undefined;
  const body = month ? theme.views.month({ ...props, ...month }) : theme.views.list({ ...props, ...listProps(calendar, target, cards) });
  const [term] = shownList.terms;
  return {
    body,
    name: isMonth ? 'month' : 'list',
    title: props.heading,
    description: descriptionOf(term?.description || settings.description),
    ...urlAndTranslations(caller, target, termTranslations),
    menuAddress: calendarUrl(caller, { ...target, date: undefined }),
    // Searches, and days and months without events, since their number is unlimited.
    unlisted: page.search !== undefined || calendar.showsFilters || page.chosenDate !== undefined || (isPeriod && cards.length === 0),
    ...{ previous: props.previous?.href, next: props.next?.href },
    data: eventsJsonLd(shownList.events, month && idsShownInMonth(month.weeks)),
    records: shownList.events.map(({ record }) => record),
    narrowing: filterParameters(target),
    subject: subjectOfList(shownList, page.featured),
    framable: true,
    timeliness: isPeriod ? shortestTimeliness([shownList.timeliness, CHANGES_DAILY]) : shownList.timeliness,
  };
}

/** Months and days mark today, and the range of their links depends on it. */
const CHANGES_DAILY = 'daily';

/** Maximum number of events shown in a month or a day. */
const MAX_EVENTS = 400;

/** The data of a page of the calendar. */
interface ShownCalendar {
  readonly caller: Caller;
  readonly i18n: I18n;
  readonly page: ListPage;
  readonly list: CalendarList;
  /** Filters of the page. */
  readonly filters: QueryPairs;
  /** Whether the page shows the filter inputs. */
  readonly showsFilters: boolean;
  /** The month or the day of such a view. */
  readonly date: string | undefined;
  readonly pages: number;
}

function shownDate({ view, date }: CalendarList, { now, settings }: Caller): string | undefined {
  if (view !== 'month' && view !== 'day') return undefined;
  return (date ?? localFromDate(now, settings.zone)).slice(0, view === 'month' ? MONTH : DAY);
}

const [MONTH, DAY] = ['YYYY-MM'.length, 'YYYY-MM-DD'.length];

/**
 * Returns the target of the page itself, from which its URL is made. A page that names no date has the same URL on
 * every day, so that search engines need not find it anew. `placedTerm`: its term, if already known.
 */
async function findTarget(
  { db }: Site,
  { page, list, date, filters }: ShownCalendar,
  placedTerm: PlacedTerm | undefined,
): Promise<CalendarTarget> {
  const [term] = list.terms;
  const areSeveral = list.terms.length > 1;
  return {
    view: list.view,
    date: list.date === undefined ? undefined : date,
    from: list.view === 'list' || list.view === 'past' ? page.chosenDate : undefined,
    number: page.number,
    featured: page.featured,
    search: page.search,
    ...(areSeveral
      ? { terms: termParameters(page) }
      : { term: placedTerm ?? (term && { term, ancestors: await ancestorsOf(db, kindOf(term), term) }) }),
    filters,
  };
}

async function calendarProps(site: Site, calendar: ShownCalendar, target: CalendarTarget): Promise<CalendarProps> {
  const { caller, i18n, page, list, pages } = calendar;
  const { say } = i18n;
  const [term] = list.terms;
  const isPeriod = list.view === 'month' || list.view === 'day';
  return {
    i18n,
    heading: headingOf(calendar),
    about: term?.description ?? '',
    views: viewLinks(calendar, target),
    categories: (await usedCategories(site, caller)).map((category) => ({
      ...category,
      current: list.terms.some(({ term_id: id }) => id === category.id),
    })),
    search: await searchProps(site, calendar, target),
    subscriptions: subscriptions(caller, siteNameOf(caller.settings, i18n), target),
    ...(isPeriod ? periodNeighbours(calendar, target) : listNeighbours(calendar, target)),
    here: pages > 1 && !isPeriod ? say('pages:page', { page: page.number, pages }) : undefined,
    stepped: isPeriod,
    paged: say(isPeriod ? (list.view === 'month' ? 'pages:months' : 'pages:days') : 'pages:other-pages'),
  };
}

function headingOf({ i18n, page, list, date = '' }: ShownCalendar): string {
  const { say } = i18n;
  const views: Readonly<Record<FeedView, () => string>> = {
    list: () => (page.featured ? say('pages:featured') : listTitle('list', page, i18n)),
    past: () => listTitle('past', page, i18n),
    month: () => say('pages:in-month', { month: dayInWords(i18n, date, 'month') }),
    day: () => say('pages:on-day', { day: dayInWords(i18n, date, 'long') }),
  };
  const title = page.search === undefined ? views[list.view]() : say('pages:found', { words: page.search });
  const names = list.terms.map(({ name }) => nameOf(name, i18n)).join(', ');
  return names === '' ? title : say('pages:titled', { title: names, of: title });
}

/** Returns the title of a list without a search: the events from a chosen date on or before it, or from now. */
function listTitle(view: 'list' | 'past', { chosenDate }: ListPage, i18n: I18n): string {
  if (chosenDate === undefined) return i18n.say(view === 'past' ? 'pages:past' : 'pages:upcoming');
  return i18n.say(view === 'past' ? 'pages:before-day' : 'pages:from-day', { day: dayInWords(i18n, chosenDate, 'long') });
}

function listProps(calendar: ShownCalendar, target: CalendarTarget, events: readonly EventCard[]) {
  return { events, whole: wholeDay(calendar, target), none: noEvents(calendar) };
}

/** Returns the words for a page without events. */
const noEvents = ({ i18n, page, filters }: ShownCalendar): string =>
  i18n.say(page.search !== undefined || filters.length > 0 ? 'pages:nothing-found' : 'pages:no-events');

/** Returns the link to the list of a day that has more events than its page shows; undefined: it shows all of them. */
function wholeDay({ caller, i18n, list, date, filters }: ShownCalendar, target: CalendarTarget): NamedLink | undefined {
  if (list.view !== 'day' || date === undefined || list.total <= list.events.length) return undefined;
  const bounded: QueryPairs = [...filters.filter(([name]) => name !== 'until'), ['until', date]];
  const href = calendarUrl(caller, { ...target, view: 'list', date: undefined, from: date, number: 1, filters: bounded });
  return { name: i18n.say('pages:whole-day', { count: list.total }), href };
}

/** Returns the links to the other views of the same events. The one to the day view leads to today from any page. */
function viewLinks({ caller, i18n, list, date }: ShownCalendar, target: CalendarTarget) {
  const today = localFromDate(caller.now, caller.settings.zone).slice(0, DAY);
  const views: readonly (readonly [FeedView, string])[] = [
    ['list', 'pages:upcoming'],
    ['month', 'pages:month'],
    ['day', 'pages:today'],
    ['past', 'pages:past'],
  ];
  return views.map(([view, text]) => ({
    name: i18n.say(text),
    href: calendarUrl(caller, { ...target, view, date: undefined, from: undefined, number: 1 }),
    current: view === list.view && (view !== 'day' || date === today),
  }));
}

/**
 * Returns the search form. A form only sends its own fields, so the parameters of its URL are added as hidden fields.
 * If filter inputs are shown, the terms in it are choices in them instead, as far as they can be.
 */
async function searchProps(site: Site, calendar: ShownCalendar, target: CalendarTarget): Promise<SearchProps> {
  const { caller, i18n, page, list, filters, showsFilters } = calendar;
  const view = list.view === 'past' ? 'past' : 'list';
  const { asFilters, asParameters } = divideTerms(page, filters);
  const { term, terms, featured } = target;
  const sentNames = showsFilters ? { terms: asParameters } : { term, terms, featured };
  const [address = '', query = ''] = calendarUrl(caller, { view, ...sentNames }).split('?');
  const boxes = showsFilters ? await filterBoxes(site, caller, filteredPart(calendar, asFilters)) : [];
  return {
    // Forms can only be sent to the server of the page (`PAGE_POLICY`), under the host name by which it was reached.
    action: new URL(address, 'http://site.invalid').pathname,
    hidden: [...new URLSearchParams(query)],
    words: page.search ?? new Map(filters).get('search') ?? '',
    from: page.chosenDate ?? '',
    fromLabel: i18n.say(view === 'past' ? 'pages:before-label' : 'pages:from-label'),
    boxes,
    more: showsFilters ? undefined : calendarUrl(caller, { ...target, filters: [SHOW_FILTERS] }),
    active: activeFilters(calendar, target, boxes),
    clear: calendarUrl(caller, { ...target, number: 1, filters: [] }),
  };
}

function filteredPart({ page, list, filters }: ShownCalendar, terms: QueryPairs): FilteredPart {
  const addressFilters: QueryPairs = [...terms, ...(page.featured ? [['featured', '1'] as const] : [])];
  return { filters, addressFilters, upcoming: list.view === 'list' && page.chosenDate === undefined };
}

/** Returns the active filters in words, each with the URL of the page without it. */
function activeFilters({ caller, i18n, filters }: ShownCalendar, target: CalendarTarget, boxes: SearchProps['boxes']): NamedLink[] {
  return filters.map(([name, value]) => {
    const box = boxes.find((one) => one.name === name);
    const isUnticked = box?.as === 'tick' && !isTicked(box);
    const label = i18n.say(isUnticked ? `pages:filter.not-${name}` : `pages:filter.${name}`);
    const text =
      box?.as === 'day' && /^\d{4}-\d\d-\d\d$/.test(value) ? dayInWords(i18n, value, 'long') : box ? filterValueText(box) : value;
    return {
      name: box?.as === 'tick' ? label : `${label}: ${text}`,
      href: calendarUrl(caller, { ...target, number: 1, filters: filters.filter(([otherName]) => otherName !== name) }),
    };
  });
}

interface Neighbours {
  readonly previous: Neighbour | undefined;
  readonly next: Neighbour | undefined;
}

/**
 * Returns the links to the previous and next pages of a list. The page before the first one of upcoming events is that
 * of past events, and vice versa; if the list begins with a chosen date, so does the other one.
 */
function listNeighbours({ caller, i18n, page, list, pages }: ShownCalendar, target: CalendarTarget): Neighbours {
  const { number } = page;
  const isPast = list.view === 'past';
  const otherView = isPast ? 'list' : 'past';
  const neighbour = (change: Partial<CalendarTarget>, text: string): Neighbour => ({
    href: calendarUrl(caller, { ...target, ...change }),
    text,
  });
  const [previousText, nextText] = (isPast ? ['pages:newer', 'pages:older'] : ['pages:previous-page', 'pages:next-page']).map((key) =>
    i18n.say(key),
  ) as [string, string];
  const otherList = neighbour({ view: otherView, number: 1 }, listTitle(otherView, page, i18n));
  return {
    previous: number > 1 ? neighbour({ number: number - 1 }, previousText) : target.search === undefined ? otherList : undefined,
    next: number < pages ? neighbour({ number: number + 1 }, nextText) : undefined,
  };
}

/** Number of years from now within which empty days and months still link to others. */
const MAX_YEARS_AHEAD = 2;

/**
 * Returns the links to the days or months before and after. Far from today, those without events have no further links.
 */
function periodNeighbours({ caller, i18n, list, date = '' }: ShownCalendar, target: CalendarTarget): Neighbours {
  const isMonth = list.view === 'month';
  const first = `${date.padEnd(DAY, '-01')} 00:00:00`;
  const step = (count: number): Neighbour => {
    const otherDate = (isMonth ? addMonths(first, count) : addDays(first, count)).slice(0, isMonth ? MONTH : DAY);
    return { href: calendarUrl(caller, { ...target, date: otherDate }), text: dayInWords(i18n, otherDate, isMonth ? 'month' : 'long') };
  };
  const now = localFromDate(caller.now, caller.settings.zone);
  const [earliest, latest] = [addMonths(now, -12 * MAX_YEARS_AHEAD), addMonths(now, 12 * MAX_YEARS_AHEAD)];
  const hasFurther = (isNear: boolean) => isNear || list.events.length > 0;
  return {
    previous: hasFurther(first > earliest) && first.slice(0, DAY) > FIRST ? step(-1) : undefined,
    next: hasFurther(first < latest) && date < LAST.slice(0, date.length) ? step(1) : undefined,
  };
}

/** The years of dates have four digits. */
const [FIRST, LAST] = ['1000-01-01', '9999-12-31'];

function monthProps(calendar: ShownCalendar, target: CalendarTarget, cards: readonly EventCard[]) {
  const { caller, i18n, list, date = '' } = calendar;
  const { settings, now } = caller;
  const firstDay = Number(settings.raw.get('start_of_week') ?? '1') % 7 || 0;
  const today = localFromDate(now, settings.zone).slice(0, DAY);
  const { cutoff } = settings.calendar;
  const unseen = Math.max(0, list.total - cards.length);
  // The events are in the order of their starts.
  const [lastCard] = cards.slice(-1);
  const lastShown = lastCard ? dayOf(lastCard.start, cutoff) : '';
  const weeks = weeksOfMonth(date, cards, { firstDay, cutoff }).map((week) =>
    week.map(
      (day): MonthDay => ({
        date: day.date,
        words: dayInWords(i18n, day.date, 'long'),
        href: calendarUrl(caller, { ...target, view: 'day', date: day.date }),
        isToday: day.date === today,
        // The time is only shown on the day on which an event begins.
        events: day.items?.map((card) => (dayOf(card.start, cutoff) === day.date ? card : { ...card, time: undefined })),
        mayHaveMore: unseen > 0 && day.date >= lastShown,
      }),
    ),
  );
  const isEmpty = weeks.flat().every(({ events = [], mayHaveMore }) => events.length === 0 && !mayHaveMore);
  return { weeks, firstDay, unseen, none: isEmpty ? noEvents(calendar) : undefined };
}
