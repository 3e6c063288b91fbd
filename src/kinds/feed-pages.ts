import type { FeedView } from './feed-list.ts';
import type { LinkedKindName } from './kind-names.ts';

/*
 * The pages of the calendar that have feeds, as data. Routing, the table in docs/feeds.md and the nginx example are
 * made from it.
 */

/** The form of a feed. */
export type FeedFormat = 'ical' | 'rss2' | 'atom' | 'rdf' | 'jsonld';

/** Slugs from the site's settings, written in braces in a path. */
export type SlugName = 'events' | 'event' | 'tag';

/** Variable parts of a path, written with a colon. A category may be preceded by its ancestors; the last one counts. */
export type PathPart = 'category' | 'tag' | 'event' | 'linked' | 'month' | 'day' | 'number' | 'page';

/** A page below that of the whole calendar, of a category or of a tag. */
export interface CalendarPage {
  readonly path: string;
  /** The view of the page; `standard`: the one from the settings. */
  readonly view: FeedView | 'standard';
  readonly featured?: true;
  /** Which events a calendar file of the page contains, for the documentation. */
  readonly meaning: string;
}

const PAGE_MEANING = 'the list from the second page on; the settings determine the length of a page';
const MONTH_MEANING = 'events that overlap that month';
const DAY_MEANING = 'events that overlap that day';
const FEATURED_PAGE_MEANING = 'featured events of the list from the second page on';
const FEATURED_DAY_MEANING = 'featured events of that day';

const CALENDAR_PAGES: readonly CalendarPage[] = [
  { path: '', view: 'standard', meaning: 'the default view of the calendar according to the settings: list, month or day' },
  { path: 'list', view: 'list', meaning: 'events that have not ended, by start' },
  { path: 'page/:page', view: 'list', meaning: PAGE_MEANING },
  { path: 'list/page/:page', view: 'list', meaning: PAGE_MEANING },
  { path: 'month', view: 'month', meaning: 'events that overlap this month' },
  { path: 'month/:month', view: 'month', meaning: MONTH_MEANING },
  { path: ':month', view: 'month', meaning: MONTH_MEANING },
  { path: 'today', view: 'day', meaning: 'events that overlap today' },
  { path: ':day', view: 'day', meaning: DAY_MEANING },
  { path: 'day/:day', view: 'day', meaning: DAY_MEANING },
  { path: 'featured', view: 'standard', featured: true, meaning: 'featured events of the default view' },
  { path: 'list/featured', view: 'list', featured: true, meaning: 'featured events of the list' },
  { path: 'featured/page/:page', view: 'list', featured: true, meaning: FEATURED_PAGE_MEANING },
  { path: 'list/featured/page/:page', view: 'list', featured: true, meaning: FEATURED_PAGE_MEANING },
  { path: 'month/featured', view: 'month', featured: true, meaning: 'featured events of this month' },
  { path: ':month/featured', view: 'month', featured: true, meaning: 'featured events of that month' },
  { path: 'today/featured', view: 'day', featured: true, meaning: 'featured events of today' },
  { path: ':day/featured', view: 'day', featured: true, meaning: FEATURED_DAY_MEANING },
  { path: 'day/:day/featured', view: 'day', featured: true, meaning: FEATURED_DAY_MEANING },
];

/**
 * Returns whether the first segment of a path below that of the whole calendar is already used by one of its pages or
 * feeds.
 */
export const isReservedSegment = (segment: string): boolean =>
  /^\d/.test(segment) ||
  [
    ...CALENDAR_PAGES.map(({ path }) => path),
    ...SECTIONS.flatMap(({ path }) => (path.startsWith('{events}/') ? path.slice('{events}/'.length) : [])),
    ...FEED_PATH_ENDINGS.keys(),
    ...CALENDAR_FEED_PATH_ENDINGS.keys(),
  ].some((path) => path.split('/')[0] === segment);

const FRONT_PAGE: readonly CalendarPage[] = [{ path: '', view: 'standard', meaning: '' }];

const EVENT_PAGES: readonly CalendarPage[] = [
  { path: '', view: 'standard', meaning: '' },
  { path: ':day', view: 'standard', meaning: '' },
  { path: ':day/:number', view: 'standard', meaning: '' },
  { path: 'all', view: 'standard', meaning: '' },
  // WordPress's address of a page of a text with page breaks; the page shows all of them.
  { path: ':number', view: 'standard', meaning: '' },
];

/** WordPress's own addresses of the archive of a post type. */
const ARCHIVE_PAGES: readonly CalendarPage[] = [
  { path: '', view: 'standard', meaning: '' },
  { path: 'page/:page', view: 'list', meaning: '' },
];

const LINKED_PAGES: readonly CalendarPage[] = [
  { path: '', view: 'list', meaning: '' },
  { path: 'page/:page', view: 'list', meaning: '' },
];

/** Pages with a common start of the path. */
export interface Section {
  readonly path: string;
  readonly pages: readonly CalendarPage[];
  /**
   * Feeds of these pages: calendars and news, calendars only, none, or news and calendars that only a parameter
   * requests, since the end of the path for them is the slug of an event.
   */
  readonly feeds: 'all' | 'ical' | 'none' | 'news';
  /** The kind of the record, for pages of a venue or an organizer. */
  readonly linkedKind?: LinkedKindName;
  /**
   * Set if WordPress has its own news feeds at these paths, which include posts. A proxy in front of both leaves these
   * feeds to WordPress.
   */
  readonly shared?: true;
  /** Description of their events, for the documentation. */
  readonly meaning: string;
}

export const SECTIONS: readonly Section[] = [
  { path: '{events}', pages: CALENDAR_PAGES, feeds: 'all', meaning: '' },
  { path: '{events}/category/:category', pages: CALENDAR_PAGES, feeds: 'all', meaning: 'the same for a category and its descendants' },
  { path: '{events}/tag/:tag', pages: CALENDAR_PAGES, feeds: 'all', meaning: 'the same for a tag' },
  { path: '{tag}/:tag', pages: FRONT_PAGE, feeds: 'all', shared: true, meaning: 'events with a tag' },
  { path: '{event}', pages: ARCHIVE_PAGES, feeds: 'news', meaning: 'the same as `/events/?ical=1`' },
  // News of a single event would be its comments.
  { path: '{event}/:event', pages: EVENT_PAGES, feeds: 'ical', meaning: 'one event, even if it is hidden from lists or protected' },
  // The free plugin has no feeds of these pages; its paid extension does.
  { path: 'venue/:linked', pages: LINKED_PAGES, feeds: 'none', linkedKind: 'venue', meaning: '' },
  { path: 'organizer/:linked', pages: LINKED_PAGES, feeds: 'none', linkedKind: 'organizer', meaning: '' },
];

/** Whether the news feeds of the pages of a section are the calendar's. */
export const hasNewsFeeds = ({ feeds }: Pick<Section, 'feeds'>): boolean => feeds === 'all' || feeds === 'news';

/** Returns whether the end of a path below a section requests a feed in this format. */
export const hasFeedPath = (section: Pick<Section, 'feeds'>, format: FeedFormat): boolean =>
  format === 'ical' ? section.feeds === 'all' || section.feeds === 'ical' : format !== 'jsonld' && hasNewsFeeds(section);

/** Endings of the path of a page that request it as a feed. */
export const FEED_PATH_ENDINGS: ReadonlyMap<string, FeedFormat> = new Map([
  ['ical', 'ical'],
  ['feed', 'rss2'],
  ['feed/rss', 'rss2'],
  ['feed/rss2', 'rss2'],
  ['feed/atom', 'atom'],
  ['feed/rdf', 'rdf'],
]);

/** Sections of the whole calendar. */
export const WHOLE_CALENDAR: readonly string[] = ['{events}', '{event}'];

/** Further endings, only for the path of the whole calendar. */
export const CALENDAR_FEED_PATH_ENDINGS: ReadonlyMap<string, FeedFormat> = new Map([
  ['rss', 'rss2'],
  ['rss2', 'rss2'],
  ['atom', 'atom'],
  ['rdf', 'rdf'],
]);

/** Parameters that request a page as a calendar file, whatever their value. */
export const ICAL_PARAM_NAMES = ['ical', 'outlook-ical'] as const;

/** Values of the parameter `feed`. */
export const FEED_PARAM_FORMATS: ReadonlyMap<string, FeedFormat> = new Map([
  ['feed', 'rss2'],
  ['rss', 'rss2'],
  ['rss2', 'rss2'],
  ['atom', 'atom'],
  ['rdf', 'rdf'],
]);

/** Parameters that select the page and its content. */
export const PAGE_PARAM_NAMES = [
  ...ICAL_PARAM_NAMES,
  'feed',
  'format',
  'eventDisplay',
  'eventDate',
  'eventSequence',
  'tribe-bar-date',
  'tribe-bar-search',
  's',
  'paged',
  'per_page',
  'post_type',
  'name',
  'p',
  'event_ids',
  'tribe_events',
  'tribe_venue',
  'tribe_organizer',
  'tribe_events_cat',
  'tag',
  'order',
  'orderby',
  'password',
] as const;

/**
 * URLs without a path, which are used by sites without pretty permalinks, and on all sites by the plugin's Subscribe
 * buttons.
 */
export const QUERY_PAGES: readonly { readonly query: string; readonly meaning: string }[] = [
  { query: 'ical=1', meaning: 'the default view of the calendar' },
  { query: 'post_type=tribe_events&ical=1', meaning: 'the same' },
  { query: 'post_type=tribe_events&ical=1&eventDisplay=list', meaning: 'the list, as the Subscribe buttons request it' },
  { query: 'post_type=tribe_events&tribe-bar-date=2030-08&ical=1&eventDisplay=list', meaning: 'the list, beginning with a month or a day' },
  { query: 'post_type=tribe_events&tribe_events_cat=sport&ical=1&eventDisplay=list', meaning: 'the list of a category' },
  { query: 'post_type=tribe_events&tag=outdoor&ical=1', meaning: 'events with a tag' },
  {
    query: 'post_type=tribe_events&tribe_events_cat=sport,music&ical=1',
    meaning: 'events in any of these categories; with `+`, in all of them',
  },
  { query: 'post_type=tribe_events&ical=1&eventDisplay=month&eventDate=2030-06', meaning: 'a month' },
  { query: 'post_type=tribe_events&ical=1&eventDisplay=day&eventDate=2030-08-05', meaning: 'a day' },
  { query: 'post_type=tribe_events&ical=1&eventDisplay=past', meaning: 'events that have ended, the latest first' },
  { query: 'tribe_events=spring-fair&ical=1', meaning: 'one event' },
  { query: 'p=38&post_type=tribe_events&ical=1', meaning: 'one event' },
  { query: 'event_ids=38,39&ical=1', meaning: 'these events, in this order' },
  { query: 'post_type=tribe_events&feed=rss2', meaning: 'the list as a news feed; likewise `atom` and `rdf`' },
  { query: 'feed=rss2&tribe_events_cat=sport', meaning: 'all events of a category as a news feed, the latest published first' },
];
