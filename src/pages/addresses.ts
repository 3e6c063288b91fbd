import { dayAfter } from '../calendar/schedule.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { onThisHost } from '../html/links.tsx';
import type { FeedView } from '../kinds/feed-list.ts';
import type { PlacedTerm } from '../records/terms.ts';
import { urlIn } from '../wordpress/content-languages.ts';
import { type TermPlace, termUrl } from '../wordpress/links.ts';
import type { Term } from '../wordpress/rows.ts';

/** Which page of the calendar an address leads to. */
export interface Target {
  readonly view: FeedView;
  /** The month (`YYYY-MM`) or the day (`YYYY-MM-DD`) of such a view; without one the present one. */
  readonly date?: string | undefined;
  /** Lists begin with this day. */
  readonly from?: string | undefined;
  /** Of several pages the one of this number. */
  readonly number?: number | undefined;
  readonly featured?: boolean | undefined;
  readonly search?: string | undefined;
  /** What the calendar is narrowed to. */
  readonly term?: PlacedTerm | undefined;
  /** What else it is narrowed by, as parameters of the address. */
  readonly filters?: Pairs | undefined;
}

/** Parameters of an address, in order. */
export type Pairs = readonly (readonly [name: string, value: string])[];

/** Where the pages of a site begin, and how they are addressed. */
export interface PagePlace {
  readonly home: string;
  readonly settings: Pick<SiteSettings, 'home' | 'permalinkStructure' | 'tagBase' | 'calendar'> &
    Partial<Pick<SiteSettings, 'contentLanguages'>>;
  /** The language of its content. */
  readonly content?: { readonly code: string | undefined };
}

/** An address below the home of a place, with the language of the content where a parameter says that. */
export function spoken({ settings, content }: Pick<PagePlace, 'settings' | 'content'>, url: string): string {
  const { contentLanguages: known } = settings;
  return known?.urls.by === 'parameter' ? urlIn(known, content?.code, url, (same) => same) : url;
}

/**
 * The address of a list of the calendar in a language of the content. Where addresses of records do not say theirs,
 * those of lists have it before them all the same: nothing else tells one from the other.
 */
export function listUrlIn({ settings }: Pick<PagePlace, 'settings'>, code: string, make: (home: string) => string): string {
  const { contentLanguages: known, home } = settings;
  if (known?.urls.by !== 'nothing') return urlIn(known, code, home, make);
  return make(code === known.defaultCode ? home : `${home}/${code}`);
}

/** The same address without it. */
export function unspoken(place: Pick<PagePlace, 'settings' | 'content'>, url: string): string {
  const said = spoken(place, '').slice(1);
  return said !== '' && url.endsWith(said) ? url.slice(0, -said.length - 1) : url;
}

/**
 * The address of a page of the calendar as WordPress and The Events Calendar write it: by its path, or on sites without
 * readable addresses by its query.
 */
export function calendarUrl(place: PagePlace, target: Target): string {
  const { permalinkStructure: structure } = place.settings;
  return spoken(place, structure === '' ? byQuery(place, target) : byPath(place, target, structure.endsWith('/') ? '/' : ''));
}

/** The address of the page on which visitors suggest events; undefined: there is none. */
export function suggestUrl(place: PagePlace & { readonly settings: Pick<SiteSettings, 'suggestSlug'> }): string | undefined {
  const { suggestSlug: slug, permalinkStructure: structure, calendar } = place.settings;
  if (slug === '') return undefined;
  const slash = structure.endsWith('/') || structure === '' ? '/' : '';
  return spoken(place, `${place.home}${frontOf(structure)}/${calendar.eventsSlug}/${slug}${slash}`);
}

/** The same without the host: forms are sent to the host that they came from. */
export const suggestPath = (place: Parameters<typeof suggestUrl>[0]): string => onThisHost(suggestUrl(place) ?? '');

const frontOf = (structure: string): string => (/^\/?index\.php\//.test(structure) ? '/index.php' : '');

function byPath(place: PagePlace, target: Target, slash: string): string {
  const { view, date, from, number = 1, featured, search, term, filters } = target;
  const front = frontOf(place.settings.permalinkStructure);
  const base = term ? termUrl(termPlace(place), term.term, term.ancestors) : `${place.home}${front}/${place.settings.calendar.eventsSlug}`;
  // WordPress's own page of a tag has none below it; the calendar's has.
  const root =
    term?.term.taxonomy === 'post_tag' ? `${place.home}${front}/${place.settings.calendar.eventsSlug}/tag/${term.term.slug}` : base;
  const shown = view === 'month' || view === 'day' ? (date ?? (view === 'day' ? 'today' : 'month')) : 'list';
  const below = number > 1 ? [featured ? 'featured' : 'list', 'page', String(number)] : [shown, ...(featured ? ['featured'] : [])];
  const path = [root.replace(/\/$/, ''), ...below].join('/');
  return withQuery(`${path}${slash}`, [
    ...(view === 'past' ? [['eventDisplay', 'past'] as const] : []),
    ...(from === undefined ? [] : [['tribe-bar-date', from] as const]),
    ...searchedBy({ search, filters }),
  ]);
}

const termPlace = ({ home, settings }: PagePlace): TermPlace => ({
  home,
  permalinkStructure: settings.permalinkStructure,
  eventsSlug: settings.calendar.eventsSlug,
  tagBase: settings.tagBase,
});

function byQuery({ home }: PagePlace, { view, date, from, number = 1, term, ...more }: Target): string {
  return withQuery(`${home}/`, [
    ['post_type', 'tribe_events'],
    ['eventDisplay', view],
    ...(date === undefined ? [] : [['eventDate', date] as const]),
    ...(from === undefined ? [] : [['tribe-bar-date', from] as const]),
    ...narrowing({ term, ...more }),
    ...(number > 1 ? [['paged', String(number)] as const] : []),
  ]);
}

/** The parameter by which WordPress narrows a page to a term: `tag`, or the name of the taxonomy. */
const termParameter = (term: Term | undefined): Pairs =>
  term === undefined ? [] : [[term.taxonomy === 'post_tag' ? 'tag' : term.taxonomy, term.slug]];

const searchedBy = ({ search, filters = [] }: Pick<Target, 'search' | 'filters'>): Pairs => [
  ...(search === undefined ? [] : [['tribe-bar-search', search] as const]),
  ...filters,
];

/** All parameters that narrow a page, or its feed, to what a target shows. */
export const narrowing = ({ term, featured, ...more }: Pick<Target, 'term' | 'featured' | 'search' | 'filters'>): Pairs => [
  ...termParameter(term?.term),
  ...(featured && !more.filters?.some(([name]) => name === 'featured') ? [['featured', '1'] as const] : []),
  ...searchedBy(more),
];

/** An address with these parameters, in order. */
export function withQuery(url: string, pairs: Pairs): string {
  if (pairs.length === 0) return url;
  const query = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/** How people take the calendar into their own: each by the name of the program it is for. */
export interface Subscription {
  readonly name: 'google' | 'apple' | 'outlook' | 'office' | 'file';
  readonly href: string;
}

/** What subscribes to the list of the whole calendar or of a part of it, as the plugin's own buttons do. */
export function subscriptions(place: PagePlace, siteName: string, target: Parameters<typeof narrowing>[0]): Subscription[] {
  const asked: Pairs = [['post_type', 'tribe_events'], ...narrowing(target), ['ical', '1'], ['eventDisplay', 'list']];
  const feed = spoken(place, withQuery(`${place.home}/`, asked));
  const webcal = feed.replace(/^https?:/, 'webcal:');
  const outlook = (host: string) =>
    withQuery(`https://${host}/owa`, [
      ['path', '/calendar/action/compose'],
      ['rru', 'addsubscription'],
      ['url', webcal],
      ['name', siteName],
    ]);
  return [
    { name: 'google', href: withQuery('https://www.google.com/calendar/render', [['cid', webcal]]) },
    { name: 'apple', href: webcal },
    { name: 'outlook', href: outlook('outlook.live.com') },
    { name: 'office', href: outlook('outlook.office.com') },
    { name: 'file', href: feed },
  ];
}

/** What is written down of one event when it is taken into a calendar of one's own. */
export interface AddedEvent {
  readonly title: string;
  /** Wall clocks in `zone`, `YYYY-MM-DD HH:MM:SS`; without one those of UTC, or days. */
  readonly start: string;
  readonly end: string;
  readonly allDay: boolean;
  /** Name and address. */
  readonly where: string;
  readonly zone: string | undefined;
}

/** What takes one event into a calendar: as a file, and into Google's, as the plugin's own buttons do. */
export function eventSubscriptions(url: string, { title, start, end, allDay, where, zone }: AddedEvent): Subscription[] {
  const moment = (wall: string) => {
    const written = wall.replace(/[-:]/g, '').replace(' ', 'T');
    return allDay ? written.slice(0, 8) : written + (zone === undefined ? 'Z' : '');
  };
  const google = withQuery('https://www.google.com/calendar/event', [
    ['action', 'TEMPLATE'],
    ['dates', `${moment(start)}/${moment(allDay ? dayAfter(start, end) : end)}`],
    ['text', title],
    ['location', where],
    ...(zone === undefined ? [] : [['ctz', zone] as const]),
    ['sprop', `website:${url}`],
  ]);
  return [
    { name: 'file', href: withQuery(url, [['ical', '1']]) },
    { name: 'google', href: google },
  ];
}
