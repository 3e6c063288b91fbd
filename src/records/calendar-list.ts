import { shownDates } from '../calendar/shown-times.ts';
import { isOnAnyDay } from '../calendar/window.ts';
import type { ListPage } from '../kinds/calendar-page.ts';
import type { Order } from '../kinds/condition.ts';
import { type FeedView, feedFilters } from '../kinds/feed-list.ts';
import type { Site } from '../site.ts';
import type { Term } from '../wordpress/rows.ts';
import { lastDayOfMonth } from '../wordpress/time.ts';
import { percentDecoded } from '../wordpress/web-url.ts';
import { localFromDate } from '../wordpress/zones.ts';
import type { Caller } from './caller.ts';
import { type FeedEvents, feedTerms, loadFeedEvents, termsCondition } from './feed-events.ts';

/** Options of a calendar list in addition to its address. */
export interface ListOptions {
  /** Parameters as they were sent; only those that filter the list count. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** Whether to leave out events that their authors hide from lists. */
  readonly withoutHidden: boolean;
  /** An order that replaces that of the view. */
  readonly order?: Order | undefined;
  readonly limit: number;
  readonly offset: number;
  /** Password that opens protected events. */
  readonly password?: string | undefined;
  /** Whether records include their JSON-LD. */
  readonly withJsonLd?: boolean | undefined;
}

/** A list of the calendar: its view, its first day or month, and the terms that the address names. */
export interface CalendarList extends FeedEvents {
  readonly view: FeedView;
  readonly date: string | undefined;
  readonly terms: readonly Term[];
  /** The slugs of these terms, in the groups of the address, without those that do not exist. */
  readonly slugs: Pick<ListPage, 'categories' | 'tags'>;
}

/**
 * Finds the events of a calendar page, whatever format they are shown in.
 *
 * @throws rest_no_route for terms that do not exist, rest_invalid_param for filters that the list of events refuses
 */
export async function listCalendar(site: Site, caller: Caller, page: ListPage, options: ListOptions): Promise<CalendarList> {
  const { categories, tags, ...found } = await findListTerms(site, caller, page);
  const view = page.view ?? caller.settings.calendar.view;
  const date = dateOf(view, page);
  const feedEvents = await loadFeedEvents(site, caller, {
    ...options,
    span: { view, date },
    terms: [...categories.map((terms) => termsCondition('category', terms)), ...tags.map((terms) => termsCondition('tag', terms))],
    filters: filtersOf(page, options.filters),
    archive: page.archive,
  });
  const isPeriod = (view === 'day' || view === 'month') && !page.archive;
  const shownEvents = isPeriod ? onDaysOf(view, feedEvents, date, caller) : feedEvents;
  return { ...shownEvents, view, date, ...found };
}

/** Terms that an address names: in its groups, and all of them. */
interface ListTerms extends Pick<CalendarList, 'terms' | 'slugs'> {
  readonly categories: readonly Term[][];
  readonly tags: readonly Term[][];
}

/**
 * Finds the terms that the address of a list names.
 *
 * @throws rest_no_route if none of a group exists
 */
export async function findListTerms(site: Site, caller: Caller, page: Pick<ListPage, 'categories' | 'tags'>): Promise<ListTerms> {
  const [categories, tags] = [await feedTerms(site, caller, 'category', page.categories), await feedTerms(site, caller, 'tag', page.tags)];
  const slugs = { categories: categories.map(slugsOf), tags: tags.map(slugsOf) };
  return { categories, tags, terms: onePerSlug([...categories, ...tags].flat()), slugs };
}

/** Returns the slugs of terms as people write them. */
const slugsOf = (terms: readonly Term[]): string[] => [...new Set(terms.map(({ slug }) => percentDecoded(slug)))];

/**
 * Returns the events of a day or a month (undefined: the present one) without those that the bounds of the list
 * include, but which the calendar shows on other days: events that last until the beginning of the first day, and
 * all-day events in zones far away.
 */
function onDaysOf<Found extends FeedEvents>(
  view: 'day' | 'month',
  found: Found,
  date: string | undefined,
  { now, settings }: Caller,
): Found {
  const { calendar, zone } = settings;
  const day = (date ?? localFromDate(now, zone)).slice(0, DAY);
  const days = view === 'day' ? { first: day, last: day } : { first: `${day.slice(0, MONTH)}-01`, last: lastDayOfMonth(day) };
  const events = found.events.filter(({ record }) => isOnAnyDay(shownDates(record, calendar.timezoneMode, zone), days, calendar.cutoff));
  return { ...found, events, total: found.total - (found.events.length - events.length) };
}

/** Terms of several languages may share a slug. The first one, in the requested language, is shown for all of them. */
const onePerSlug = (terms: readonly Term[]): Term[] =>
  [...new Map(terms.toReversed().map((term) => [`${term.taxonomy} ${term.slug}`, term])).values()].toReversed();

/**
 * Returns the first date of a view. Lists only use the date that visitors choose; day and month views also use the one
 * in the address, which takes precedence.
 */
function dateOf(view: FeedView, { date, chosenDate }: ListPage): string | undefined {
  const startDate = view === 'day' || view === 'month' ? (date ?? chosenDate) : chosenDate;
  return view === 'day' && startDate?.length === MONTH ? `${startDate}-01` : startDate;
}

const [MONTH, DAY] = ['YYYY-MM'.length, 'YYYY-MM-DD'.length];

function filtersOf({ search, featured }: ListPage, query: ListOptions['filters']): Record<string, unknown> {
  const filters = Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(feedFilters, name)));
  return { ...filters, ...(search === undefined ? {} : { search }), ...(featured ? { featured: true } : {}) };
}
