import type { Raw } from './input.ts';

/** The form of a feed. */
export type FeedForm = 'ical' | 'rss' | 'jsonld';

/** What a feed is about, and in which form it is wanted. */
export interface FeedAddress {
  readonly form: FeedForm;
  readonly of: 'list' | 'event' | 'category' | 'tag';
  /** The slug in the address, decoded; empty for the list. */
  readonly slug: string;
  /** Of an event that recurs: one of its dates (`YYYY-MM-DD`), and which of several on that day. */
  readonly on?: { readonly date: string; readonly number: number | undefined };
  /** Whether what is past is wanted, the latest first. */
  readonly past: boolean;
  /** The language that the address names. */
  readonly language: string | undefined;
}

/** Parameters that say which feed is meant. */
export const FEED_NAMES = [
  'ical',
  'outlook-ical',
  'feed',
  'format',
  'eventDisplay',
  'post_type',
  'tribe_events',
  'eventDate',
  'eventSequence',
  'tribe_events_cat',
  'tag',
];

/** How the pages of a site are addressed. */
export interface FeedPlace {
  /** Path of the site's home, without trailing slash. */
  readonly base: string;
  readonly languages: readonly string[];
  /** `eventsSlug` and `singleEventSlug` of the calendar's settings, and `tag_base`. */
  readonly eventsSlug: string;
  readonly singleEventSlug: string;
  readonly tagBase: string;
}

/**
 * The feed that an address names: a page of the calendar as WordPress and The Events Calendar address it, with `ical=1` (or `outlook-ical=1`), `ical/` or
 * `feed/` at its end, or `format=jsonld` for an event. Pages by query (`?post_type=tribe_events`, `?tribe_events=slug`) lie at the home. Undefined: no feed.
 */
export function feedAddress(path: string, query: Raw, place: FeedPlace): FeedAddress | undefined {
  const segments = segmentsOf(path, place.base);
  if (segments === undefined) return undefined;
  if (segments[0] === 'index.php') segments.shift();
  const language = place.languages.find((known) => known === segments[0]);
  if (language !== undefined) segments.shift();
  const form = formOf(segments, query);
  if (form === undefined) return undefined;
  const page = pageOf(segments, query, place);
  if (page === undefined || (form === 'jsonld') !== (page.of === 'event' && said(query, 'format') === 'jsonld')) return undefined;
  if (form === 'rss' && (page.of === 'event' || (segments.length === 0 && !byQuery(query)))) return undefined;
  return { form, ...page, past: said(query, 'eventDisplay') === 'past', language };
}

const LONGEST_PATH = 1000;

/** The path below the home in its pieces, decoded; undefined where it can't be. */
function segmentsOf(path: string, base: string): string[] | undefined {
  if (path.length > LONGEST_PATH) return undefined;
  const below = path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  try {
    return below
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

const said = (query: Raw, name: string): string | undefined => (typeof query[name] === 'string' ? query[name] : undefined);
const yes = (query: Raw, name: string): boolean => !['', '0', undefined].includes(said(query, name));

/** The form that is asked for; an ending that says so is taken off the path. */
function formOf(segments: string[], query: Raw): FeedForm | undefined {
  const last = segments.at(-1);
  if (last === 'feed' || (last === 'rss2' && segments.at(-2) === 'feed')) {
    segments.splice(last === 'feed' ? -1 : -2);
    return 'rss';
  }
  if (last === 'ical') {
    segments.pop();
    return 'ical';
  }
  if (said(query, 'format') === 'jsonld') return 'jsonld';
  if (yes(query, 'ical') || yes(query, 'outlook-ical')) return 'ical';
  return ['rss2', 'rss', 'feed'].includes(said(query, 'feed') ?? '') ? 'rss' : undefined;
}

/** Whether the query names a page of the calendar, as it does where the site has no readable addresses. */
const byQuery = (query: Raw): boolean => said(query, 'post_type') === 'tribe_events' || said(query, 'tribe_events_cat') !== undefined;

function pageOf(
  segments: readonly string[],
  query: Raw,
  { eventsSlug, singleEventSlug, tagBase }: FeedPlace,
): Pick<FeedAddress, 'of' | 'slug' | 'on'> | undefined {
  const [first, second, ...rest] = segments;
  if (first === undefined) return pageOfQuery(query);
  const slug = segments.at(-1)!;
  if (first === singleEventSlug && segments.length === 2) return { of: 'event', slug };
  if (first === singleEventSlug && second !== undefined) return pageOfDate(second, rest);
  if (first === tagBase && segments.length === 2) return { of: 'tag', slug };
  if (first !== eventsSlug) return undefined;
  if (second === undefined || (second === 'list' && rest.length === 0)) return { of: 'list', slug: '' };
  if (second === 'category' && rest.length > 0) return { of: 'category', slug: withoutView(rest) };
  return second === 'tag' && rest.length > 0 ? { of: 'tag', slug: withoutView(rest) } : undefined;
}

/** The pages of terms have views too; the list is the only one that makes a feed. */
const withoutView = (segments: readonly string[]): string =>
  segments.length > 1 && segments.at(-1) === 'list' ? segments.at(-2)! : segments.at(-1)!;

/** The page of one date of an event, or that of all of them, which holds what the event's own page holds. */
function pageOfDate(slug: string, rest: readonly string[]): Pick<FeedAddress, 'of' | 'slug' | 'on'> | undefined {
  const [date = '', number, ...more] = rest;
  if (date === 'all' && number === undefined) return { of: 'event', slug };
  if (more.length > 0 || !DATE.test(date) || (number !== undefined && !NUMBER.test(number))) return undefined;
  return { of: 'event', slug, on: { date, number: number === undefined ? undefined : Number(number) } };
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const NUMBER = /^[1-9]\d{0,3}$/;

function pageOfQuery(query: Raw): Pick<FeedAddress, 'of' | 'slug' | 'on'> | undefined {
  const [event, category, tag] = ['tribe_events', 'tribe_events_cat', 'tag'].map((name) => said(query, name));
  if ([event, category, tag].some((slug) => slug !== undefined && slug.length > LONGEST_PATH)) return undefined;
  const [date, number] = [said(query, 'eventDate'), said(query, 'eventSequence')];
  if (event && date !== undefined) return pageOfDate(event, [date, ...(number === undefined ? [] : [number])]);
  if (event) return { of: 'event', slug: event };
  if (category) return { of: 'category', slug: category.split('/').at(-1)! };
  return tag ? { of: 'tag', slug: tag } : { of: 'list', slug: '' };
}
