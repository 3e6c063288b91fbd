import { dayAfter } from '../calendar/schedule.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { withoutHost } from '../html/links.tsx';
import type { FeedView } from '../kinds/feed-list.ts';
import type { PlacedTerm } from '../records/terms.ts';
import { urlIn } from '../wordpress/content-languages.ts';
import { indexPath, type TermPlace, termUrl } from '../wordpress/links.ts';
import type { Term } from '../wordpress/rows.ts';

/** The page of the calendar to which a URL leads. */
export interface CalendarTarget {
  readonly view: FeedView;
  /** The month (`YYYY-MM`) or the day (`YYYY-MM-DD`) of such a view; the present one by default. */
  readonly date?: string | undefined;
  /** The day with which a list begins. */
  readonly from?: string | undefined;
  /** The page number. */
  readonly number?: number | undefined;
  readonly featured?: boolean | undefined;
  readonly search?: string | undefined;
  /** The term to which the calendar is restricted, if it is only one. */
  readonly term?: PlacedTerm | undefined;
  /** Several such terms, as parameters of the URL. */
  readonly terms?: QueryPairs | undefined;
  /** Further filters, as parameters of the URL. */
  readonly filters?: QueryPairs | undefined;
}

/** Parameters of a URL, in order. */
export type QueryPairs = readonly (readonly [name: string, value: string])[];

/** The home URL of a site's pages, and the form of their URLs. */
export interface UrlContext {
  readonly home: string;
  readonly settings: Pick<SiteSettings, 'home' | 'permalinkStructure' | 'tagBase' | 'calendar'> &
    Partial<Pick<SiteSettings, 'contentLanguages'>>;
  /** The content language. */
  readonly content?: { readonly code: string | undefined };
}

/** Returns a URL below the home URL of a place, with the content language added if a parameter contains it. */
export function withLanguage({ settings, content }: Pick<UrlContext, 'settings' | 'content'>, url: string): string {
  const { contentLanguages: languages } = settings;
  return languages?.urls.by === 'parameter' ? urlIn(languages, content?.code, url, (home) => home) : url;
}

/**
 * Returns the URL of a list of the calendar in a content language. Even if URLs of records do not contain the language,
 * those of lists in other languages than the default one have it as the first segment, since they could not be
 * distinguished otherwise.
 */
export function listUrlInLanguage({ settings }: Pick<UrlContext, 'settings'>, code: string, make: (home: string) => string): string {
  const { contentLanguages: languages, home } = settings;
  if (languages?.urls.by !== 'nothing') return urlIn(languages, code, home, make);
  return make(code === languages.defaultCode ? home : `${home}/${code}`);
}

/** Returns the URL without the parameter of the content language. */
export function withoutLanguage(place: Pick<UrlContext, 'settings' | 'content'>, url: string): string {
  const language = withLanguage(place, '').slice(1);
  return language !== '' && url.endsWith(language) ? url.slice(0, -language.length - 1) : url;
}

/**
 * Returns the URL of a page of the calendar in the form of WordPress and The Events Calendar: with a path, or, on sites
 * without pretty permalinks, with a query.
 */
export function calendarUrl(place: UrlContext, target: CalendarTarget): string {
  const { permalinkStructure: structure } = place.settings;
  return withLanguage(
    place,
    structure === '' ? urlWithQuery(place, target) : urlWithPath(place, target, structure.endsWith('/') ? '/' : ''),
  );
}

/** Returns the URL of the page on which visitors suggest events; undefined if there is none. */
export function suggestUrl(place: UrlContext & { readonly settings: Pick<SiteSettings, 'suggestSlug'> }): string | undefined {
  const { suggestSlug: slug, permalinkStructure: structure, calendar } = place.settings;
  if (slug === '') return undefined;
  const slash = structure.endsWith('/') || structure === '' ? '/' : '';
  return withLanguage(place, `${place.home}${indexPath(structure)}/${calendar.eventsSlug}/${slug}${slash}`);
}

/** Returns the URL of the suggestion page without the host, since forms are sent to the host from which they came. */
export const suggestPath = (place: Parameters<typeof suggestUrl>[0]): string => withoutHost(suggestUrl(place) ?? '');

function urlWithPath(place: UrlContext, target: CalendarTarget, slash: string): string {
  const { view, date, from, number = 1, featured, search, term, terms = [], filters } = target;
  const front = indexPath(place.settings.permalinkStructure);
  const base = term
    ? termUrl(termUrlContext(place), term.term, term.ancestors)
    : `${place.home}${front}/${place.settings.calendar.eventsSlug}`;
  // WordPress's own page of a tag has no pages below it; the calendar's has.
  const root =
    term?.term.taxonomy === 'post_tag' ? `${place.home}${front}/${place.settings.calendar.eventsSlug}/tag/${term.term.slug}` : base;
  const viewSegment = view === 'month' || view === 'day' ? (date ?? (view === 'day' ? 'today' : 'month')) : 'list';
  const segments = number > 1 ? [featured ? 'featured' : 'list', 'page', String(number)] : [viewSegment, ...(featured ? ['featured'] : [])];
  const path = [root.replace(/\/$/, ''), ...segments].join('/');
  return appendQuery(`${path}${slash}`, [
    ...(view === 'past' ? [['eventDisplay', 'past'] as const] : []),
    ...(from === undefined ? [] : [['tribe-bar-date', from] as const]),
    ...terms,
    ...searchParameters({ search, filters }),
  ]);
}

const termUrlContext = ({ home, settings }: UrlContext): TermPlace => ({
  home,
  permalinkStructure: settings.permalinkStructure,
  eventsSlug: settings.calendar.eventsSlug,
  tagBase: settings.tagBase,
});

function urlWithQuery({ home }: UrlContext, { view, date, from, number = 1, ...rest }: CalendarTarget): string {
  return appendQuery(`${home}/`, [
    ['post_type', 'tribe_events'],
    ['eventDisplay', view],
    ...(date === undefined ? [] : [['eventDate', date] as const]),
    ...(from === undefined ? [] : [['tribe-bar-date', from] as const]),
    ...filterParameters(rest),
    ...(number > 1 ? [['paged', String(number)] as const] : []),
  ]);
}

/** Returns the parameter by which WordPress restricts a page to a term: `tag`, or the name of the taxonomy. */
const termParameter = (term: Term | undefined): QueryPairs =>
  term === undefined ? [] : [[term.taxonomy === 'post_tag' ? 'tag' : term.taxonomy, term.slug]];

const searchParameters = ({ search, filters = [] }: Pick<CalendarTarget, 'search' | 'filters'>): QueryPairs => [
  ...(search === undefined ? [] : [['tribe-bar-search', search] as const]),
  ...filters,
];

/** Returns all parameters that restrict a page, or its feed, to the events of a target. */
export const filterParameters = ({
  term,
  terms,
  featured,
  ...rest
}: Pick<CalendarTarget, 'term' | 'terms' | 'featured' | 'search' | 'filters'>): QueryPairs => [
  ...(terms ?? termParameter(term?.term)),
  ...(featured && !rest.filters?.some(([name]) => name === 'featured') ? [['featured', '1'] as const] : []),
  ...searchParameters(rest),
];

/** Returns a URL with these parameters added, in order. */
export function appendQuery(url: string, pairs: QueryPairs): string {
  if (pairs.length === 0) return url;
  const query = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/** A way to subscribe to the calendar, with the name of the program that it is for. */
export interface Subscription {
  readonly name: 'google' | 'apple' | 'outlook' | 'office' | 'file';
  readonly href: string;
}

/**
 * Returns the ways to subscribe to the list of the whole calendar or of a part of it, like the plugin's own buttons.
 */
export function subscriptions(place: UrlContext, siteName: string, target: Parameters<typeof filterParameters>[0]): Subscription[] {
  const parameters: QueryPairs = [['post_type', 'tribe_events'], ...filterParameters(target), ['ical', '1'], ['eventDisplay', 'list']];
  const feed = withLanguage(place, appendQuery(`${place.home}/`, parameters));
  const webcal = feed.replace(/^https?:/, 'webcal:');
  const outlook = (host: string) =>
    appendQuery(`https://${host}/owa`, [
      ['path', '/calendar/action/compose'],
      ['rru', 'addsubscription'],
      ['url', webcal],
      ['name', siteName],
    ]);
  return [
    { name: 'google', href: appendQuery('https://www.google.com/calendar/render', [['cid', webcal]]) },
    { name: 'apple', href: webcal },
    { name: 'outlook', href: outlook('outlook.live.com') },
    { name: 'office', href: outlook('outlook.office.com') },
    { name: 'file', href: feed },
  ];
}

/** The data of an event that is added to a personal calendar. */
export interface AddedEvent {
  readonly title: string;
  /**
   * Local times in `zone`, `YYYY-MM-DD HH:MM:SS`; without `zone` they are in UTC. Only the days count for an all-day
   * event.
   */
  readonly start: string;
  readonly end: string;
  readonly allDay: boolean;
  /** Name and address of the venue. */
  readonly where: string;
  readonly zone: string | undefined;
  /** Whether the address of its file leads to all that the page shows. */
  readonly hasFile: boolean;
}

/**
 * Returns the ways to add one event to a calendar: as a file, and to Google Calendar, like the plugin's own buttons.
 */
export function eventSubscriptions(url: string, { title, start, end, allDay, where, zone, hasFile }: AddedEvent): Subscription[] {
  const moment = (localTime: string) => {
    const compactTime = localTime.replace(/[-:]/g, '').replace(' ', 'T');
    return allDay ? compactTime.slice(0, 8) : compactTime + (zone === undefined ? 'Z' : '');
  };
  const google = appendQuery('https://www.google.com/calendar/event', [
    ['action', 'TEMPLATE'],
    ['dates', `${moment(start)}/${moment(allDay ? dayAfter(start, end) : end)}`],
    ['text', title],
    ['location', where],
    ...(zone === undefined ? [] : [['ctz', zone] as const]),
    ['sprop', `website:${url}`],
  ]);
  return [...(hasFile ? [{ name: 'file', href: appendQuery(url, [['ical', '1']]) } as const] : []), { name: 'google', href: google }];
}
