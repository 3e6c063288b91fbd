import { toIsoDate } from '../../calendar/day-first.ts';
import type { EventPage, IdsPage, LinkedPage, ListPage, RequestedPage } from '../../kinds/calendar-page.ts';
import type { FeedView } from '../../kinds/feed-list.ts';
import {
  CALENDAR_FEED_PATH_ENDINGS,
  type CalendarPage,
  FEED_PARAM_FORMATS,
  FEED_PATH_ENDINGS,
  type FeedFormat,
  hasFeedPath,
  hasNewsFeeds,
  ICAL_PARAM_NAMES,
  type PathPart,
  SECTIONS,
  type Section,
  type SlugName,
  WHOLE_CALENDAR,
} from '../../kinds/feed-pages.ts';
import { postKindOfType } from '../../kinds/index.ts';
import { LINKED_KIND_NAMES } from '../../kinds/kind-names.ts';
import { stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { isRealDate } from '../../wordpress/time.ts';
import { pagePathBelow, splitLanguage } from '../addressing.ts';
import type { RawParams } from '../input.ts';

/** A page of the calendar that an address names. */
export interface FeedAddress {
  /** The format of the requested feed; undefined: the page itself. */
  readonly format: FeedFormat | undefined;
  readonly page: RequestedPage;
  /** The language that the address names. */
  readonly language: string | undefined;
  /** Whether the path names the page; otherwise the query of the home does. */
  readonly isPath: boolean;
}

/** The parts of a site's addresses. */
export interface FeedPlace {
  /** Path of the site's home, without a trailing slash. */
  readonly base: string;
  readonly languages: readonly string[];
  /** Each slug may have several path segments. */
  readonly slugs: Readonly<Record<SlugName, readonly string[]>>;
}

/**
 * Returns the page of the calendar that an address names, in the addresses of WordPress and The Events Calendar, and
 * the format of the requested feed. If path and query disagree, the query wins. Undefined if the address is no page of
 * the calendar.
 */
export function feedAddress(path: string, query: RawParams, place: FeedPlace): FeedAddress | undefined {
  const allSegments = segmentsOf(path, place.base);
  if (allSegments === undefined) return undefined;
  const { language, rest } = splitLanguage(withoutIndex(allSegments), place.languages);
  const segments = withoutIndex(rest);
  const home = homeOf(segments, query);
  const match = home ?? pageOf(segments, place);
  if (match === undefined) return undefined;
  const isPath = home === undefined;
  const linkedPage = isPath ? linkedByPath(match, query) : linkedByQuery(query);
  if (linkedPage) return { format: undefined, page: linkedPage, language, isPath };
  const format = match.format ?? formatOf(query);
  const page = match.parts.has('event')
    ? eventPage(match.parts.get('event') ?? '', match.parts.get('day'), match.parts.get('number'))
    : queriedPage(match, query, format, isPath);
  if (format === 'jsonld' && page.of !== 'event') return undefined;
  if (isNews(format) && !hasNewsFeeds(match)) return undefined;
  return { format, page, language, isPath };
}

/** Sites without rewriting have `index.php` at the start of all paths, before or after the language. */
const withoutIndex = (segments: readonly string[]): readonly string[] => (segments[0] === 'index.php' ? segments.slice(1) : segments);

function linkedByPath({ linkedKind, parts }: PageMatch, query: RawParams): LinkedPage | undefined {
  const number = pageNumber(textParam(query, 'paged') ?? parts.get('page'));
  return linkedKind && { of: 'linked', kind: linkedKind, slug: parts.get('linked') ?? '', number };
}

/** Sites without pretty permalinks name venues and organizers by their post types. */
function linkedByQuery(query: RawParams): LinkedPage | undefined {
  const number = pageNumber(textParam(query, 'paged'));
  for (const kind of LINKED_KIND_NAMES) {
    const slug = textParam(query, `tribe_${kind}`);
    if (slug !== undefined) return { of: 'linked', kind, slug, number };
  }
  return undefined;
}

const pageNumber = (text: string | undefined): number => Math.max(1, Number(/^\d{1,6}$/.exec(text ?? '')?.[0] ?? 1));

const isNews = (format: FeedFormat | undefined): boolean => format === 'rss2' || format === 'atom' || format === 'rdf';

/**
 * Maximum length of a path, in characters: enough for a category and several ancestors, with slugs of at most 200 bytes
 * each.
 */
const MAX_PATH_LENGTH = 4000;
/** Maximum length of a parameter, in characters. */
const MAX_TEXT_LENGTH = 1000;

/** Returns the decoded segments of the path below the home; undefined if it cannot be decoded. */
function segmentsOf(path: string, base: string): string[] | undefined {
  if (path.length > MAX_PATH_LENGTH) return undefined;
  try {
    return pagePathBelow(base, path)
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

// ------------------------------------------------------------------------------------------------- paths
/** A page that a path names. */
interface PageMatch {
  /** The page's part of the path, after that of the section. */
  readonly path: string;
  readonly parts: ReadonlyMap<PathPart, string>;
  readonly view: CalendarPage['view'];
  readonly featured: boolean;
  readonly format: FeedFormat | undefined;
  readonly feeds: Section['feeds'];
  readonly linkedKind: Section['linkedKind'];
  /** Whether it is one of WordPress's own tag archives. */
  readonly archive: boolean;
}

function pageOf(segments: readonly string[], { slugs }: FeedPlace): PageMatch | undefined {
  for (const section of SECTIONS) {
    for (const { ending, format, onlyWholeCalendar } of endingsOf(section)) {
      const rest = withoutEnd(segments, ending);
      const match = rest && pageIn(section, rest, slugs);
      if (!match || (onlyWholeCalendar && match.path !== '')) continue;
      if (format === undefined || hasFeedPath(section, format)) return { ...match, format };
    }
  }
  return undefined;
}

interface Ending {
  readonly ending: readonly string[];
  readonly format: FeedFormat | undefined;
  /** Whether it may only follow the path of the section itself. */
  readonly onlyWholeCalendar: boolean;
}

/** Returns the endings that request a feed, before the empty one that does not. */
function endingsOf({ path }: Section): Ending[] {
  const endings = (formats: ReadonlyMap<string, FeedFormat>, { onlyWholeCalendar }: Pick<Ending, 'onlyWholeCalendar'>) =>
    [...formats].map(([ending, format]): Ending => ({ ending: ending.split('/'), format, onlyWholeCalendar }));
  return [
    ...endings(FEED_PATH_ENDINGS, { onlyWholeCalendar: false }),
    ...(WHOLE_CALENDAR.includes(path) ? endings(CALENDAR_FEED_PATH_ENDINGS, { onlyWholeCalendar: true }) : []),
    { ending: [], format: undefined, onlyWholeCalendar: false },
  ];
}

function withoutEnd(segments: readonly string[], ending: readonly string[]): readonly string[] | undefined {
  const length = segments.length - ending.length;
  return length >= 0 && ending.every((segment, index) => segments[length + index] === segment) ? segments.slice(0, length) : undefined;
}

/**
 * Returns the page of a section that a path names. If several match, the page with the longest path wins, since the
 * slug of a category may be any text.
 */
function pageIn(section: Section, segments: readonly string[], slugs: FeedPlace['slugs']): Omit<PageMatch, 'format'> | undefined {
  const front = section.path.split('/').flatMap((piece) => (piece.startsWith('{') ? slugs[piece.slice(1, -1) as SlugName] : piece)); // the slugs that paths name
  const longestFirst = section.pages.toSorted((one, other) => piecesOf(other.path).length - piecesOf(one.path).length);
  for (const page of longestFirst) {
    const end = piecesOf(page.path);
    const frontSegments = segments.slice(0, segments.length - end.length);
    const inFront = frontSegments.length >= front.length ? partsIn(front, frontSegments) : undefined;
    const atEnd = inFront && partsIn(end, segments.slice(frontSegments.length));
    if (!atEnd) continue;
    const { path, view, featured = false } = page;
    return {
      path,
      parts: new Map([...inFront, ...atEnd]),
      view,
      featured,
      feeds: section.feeds,
      linkedKind: section.linkedKind,
      archive: section.path.startsWith('{tag}'),
    };
  }
  return undefined;
}

const piecesOf = (path: string): string[] => (path === '' ? [] : path.split('/'));

/**
 * Matches segments against a pattern and returns its named parts; undefined if they do not match. A category may take
 * several segments.
 */
function partsIn(pattern: readonly string[], segments: readonly string[]): [PathPart, string][] | undefined {
  const parts: [PathPart, string][] = [];
  if (pattern.at(-1) === ':category' ? segments.length < pattern.length : segments.length !== pattern.length) return undefined;
  for (const [index, piece] of pattern.entries()) {
    const segment = (piece === ':category' ? segments.at(-1) : segments[index]) ?? '';
    if (piece.startsWith(':')) {
      const part = piece.slice(1) as PathPart; // pieces with a colon are parts
      if (PART_CHECKS[part]?.(segment) === false) return undefined;
      parts.push([part, segment]);
    } else if (segment !== piece) return undefined;
  }
  return parts;
}

/** Whether a text is a day on which an event can be (decision D46). */
const isDay = (text: string): boolean => /^[1-9]\d{3}-\d\d-\d\d$/.test(text) && isRealDate(text);
const isNumber = (text: string): boolean => /^[1-9]\d{0,3}$/.test(text);
const isMonth = (text: string): boolean => /^\d{4}-\d\d$/.test(text) && isDay(`${text}-01`);

/** Checks of the path's parts. */
const PART_CHECKS: Partial<Record<PathPart, (text: string) => boolean>> = {
  month: isMonth,
  day: isDay,
  page: (text) => /^\d{1,6}$/.test(text),
  number: isNumber,
};

// ------------------------------------------------------------------------------------------------- queries
const textParam = (query: RawParams, name: string): string | undefined => {
  const value = query[name];
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH ? value : undefined;
};

function formatOf(query: RawParams): FeedFormat | undefined {
  if (textParam(query, 'format') === 'jsonld') return 'jsonld';
  if (ICAL_PARAM_NAMES.some((name) => Object.hasOwn(query, name))) return 'ical';
  return FEED_PARAM_FORMATS.get(textParam(query, 'feed') ?? '');
}

const NO_PARTS: ReadonlyMap<PathPart, string> = new Map();

/** Query parameters of the home that name pages of WordPress outside the calendar. */
const FOREIGN_PARAMS = [
  ...['page_id', 'pagename', 'cat', 'category_name', 'author', 'author_name', 'attachment_id', 'attachment'],
  ...['m', 'year', 'monthnum', 'w', 'error'],
];

/**
 * Returns the home page. It has news feeds of the calendar only if the query names one of its pages, and then at
 * `/feed/` too. Undefined if the path or the query names another page.
 */
function homeOf(segments: readonly string[], query: RawParams): PageMatch | undefined {
  const type = textParam(query, 'post_type');
  const isEventType = type === 'tribe_events';
  // Venues and organizers are named only by id here.
  const isOurs = type === undefined || isEventType || (postKindOfType(type) && textParam(query, 'p') !== undefined);
  const isForeign = !isOurs || FOREIGN_PARAMS.some((name) => textParam(query, name) !== undefined);
  const form = segments.length === 0 ? undefined : FEED_PATH_ENDINGS.get(segments.join('/'));
  if (isForeign || (segments.length > 0 && !(isEventType && isNews(form)))) return undefined;
  return {
    path: '',
    parts: NO_PARTS,
    view: 'standard',
    featured: false,
    format: form,
    feeds: isEventType || query.tribe_events_cat !== undefined ? 'all' : 'ical',
    linkedKind: undefined,
    archive: true,
  };
}

const eventPage = (slug: string, date: string | undefined, number: string | undefined): EventPage => ({
  of: 'event',
  slug,
  ...(date === undefined || !isDay(date) ? {} : { occurrence: { date, number: number === undefined ? undefined : Number(number) } }),
});

function queriedPage(match: PageMatch, query: RawParams, format: FeedFormat | undefined, isPath: boolean): EventPage | IdsPage | ListPage {
  const slug =
    textParam(query, 'tribe_events') ?? (textParam(query, 'post_type') === 'tribe_events' ? textParam(query, 'name') : undefined);
  const id = textParam(query, 'p');
  if (!isPath && slug !== undefined)
    return eventPage(
      slug,
      textParam(query, 'eventDate'),
      isNumber(textParam(query, 'eventSequence') ?? '') ? textParam(query, 'eventSequence') : undefined,
    );
  if (!isPath && id !== undefined) return { of: 'event', id: /^\d{1,15}$/.test(id) ? Number(id) : 0 };
  if (query.event_ids !== undefined && format === 'ical')
    return { of: 'ids', ids: idsIn(textsIn(query.event_ids, MAX_IDS * MAX_ID_LENGTH)) };
  return listPage(match, query, format);
}

/** Maximum number of events in a calendar of chosen ids, as with `per_page` in other calendars. */
const MAX_IDS = 1000;
/** Length of one id including the comma after it. */
const MAX_ID_LENGTH = 16;

const idsIn = (texts: readonly string[]): number[] => [
  ...new Set(
    texts
      .flatMap((text) => text.split(',', MAX_IDS))
      .slice(0, MAX_IDS)
      .filter((id) => /^\s*\d{1,15}\s*$/.test(id))
      .map(Number),
  ),
];

const VIEWS: ReadonlySet<string> = new Set<FeedView>(['list', 'past', 'month', 'day']);
const isView = (text: string | undefined): text is FeedView => text !== undefined && VIEWS.has(text);

function listPage({ parts, view, featured, archive }: PageMatch, query: RawParams, format: FeedFormat | undefined): ListPage {
  const display = textParam(query, 'eventDisplay');
  const feedView = isView(display) ? display : view === 'standard' ? undefined : view;
  const sent = textParam(query, 'tribe-bar-date') ?? '';
  const chosen = format === undefined ? toIsoDate(sent) : sent;
  const number = Number(/^\d{1,6}$/.exec(textParam(query, 'paged') ?? '')?.[0] ?? parts.get('page') ?? 1);
  return {
    of: 'list',
    view: feedView ?? (isNews(format) ? 'list' : undefined),
    date: [textParam(query, 'eventDate'), parts.get('day'), parts.get('month')].find(
      (date) => date !== undefined && (isDay(date) || isMonth(date)),
    ),
    chosenDate: isDay(chosen) ? chosen : isMonth(chosen) ? `${chosen}-01` : undefined,
    number: Math.max(1, number),
    featured,
    categories: slugLists(query.tribe_events_cat, parts.get('category')),
    tags: slugLists(query.tag, parts.get('tag')),
    search: wordsIn(query),
    archive: archive && isNews(format) && query.post_type === undefined,
  };
}

/** Returns the words to search for, without control characters; undefined if there are none. */
const wordsIn = (query: RawParams): string | undefined =>
  stripControlCharacters(textParam(query, 'tribe-bar-search') ?? textParam(query, 's') ?? '').trim() || undefined;

/** Returns the texts of a parameter, which may be a single one or a list. Texts that are too long are left out. */
const textsIn = (value: unknown, longest = MAX_TEXT_LENGTH): string[] =>
  [value].flat().filter((text): text is string => typeof text === 'string' && text !== '' && text.length <= longest);

/**
 * Parses the slugs of terms as WordPress does (`WP_Query::parse_tax_query`): with `a,b` an event must have either, with
 * `a+b`, which a query decodes as `a b`, both. Each slug may follow those of its ancestors. The parameter replaces the
 * slugs in the path (`WP::parse_request`).
 */
function slugLists(parameter: unknown, inPath: string | undefined): string[][] {
  const texts = textsIn(parameter, MAX_SLUGS * MAX_SLUG_LENGTH);
  const text = (texts.length > 0 ? texts : textsIn(inPath)).slice(0, MAX_SLUGS).join(',');
  const slugs = text.split(/[,+\s]+/, MAX_SLUGS).flatMap((slug) => slug.split('/').at(-1) || []);
  if (slugs.length === 0) return [];
  return text.includes(',') ? [slugs] : slugs.map((slug) => [slug]);
}

const MAX_SLUGS = 50;
/** Length of the column of slugs. */
const MAX_SLUG_LENGTH = 200;
