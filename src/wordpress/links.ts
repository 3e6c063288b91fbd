import { tableOf } from './table.ts';
import { trimOf } from './trim.ts';

/** Where addresses begin and how they are formed. */
export interface LinkPlace {
  /**
   * Home address of the site, with the language's segment where there is one (`https://example.com/it`); no trailing
   * slash.
   */
  readonly home: string;
  /** Option `permalink_structure`; empty: addresses by query. */
  readonly permalinkStructure: string;
}

export interface EventPlace extends LinkPlace {
  /** `singleEventSlug` of the calendar's settings. */
  readonly singleEventSlug: string;
}

export interface TermPlace extends LinkPlace {
  /** `eventsSlug` of the calendar's settings. */
  readonly eventsSlug: string;
  /** Option `tag_base`; empty or `tag`: the default. */
  readonly tagBase: string;
}

/** The columns of a post that its address is made of. */
export interface LinkedPost {
  readonly ID: number;
  readonly post_type: string;
  readonly post_status: string;
  readonly post_name: string;
}

/** First segment of the pages of each type; events have a setting. */
const BASES: ReadonlyMap<string, string> = tableOf({ tribe_venue: 'venue', tribe_organizer: 'organizer' });
/** Query variables of taxonomies; others go by their own name. */
const TERM_VARIABLES: ReadonlyMap<string, string> = tableOf({ post_tag: 'tag', category: 'category_name' });

/**
 * The address of a post's page (WordPress `get_post_permalink`): with its slug when it is public or private, else by
 * type and id. It is its `guid` too, when taken at the moment of the first insert.
 */
export function postUrl(place: EventPlace, { ID, post_type, post_status, post_name }: LinkedPost): string {
  const { home, permalinkStructure, singleEventSlug } = place;
  if (post_status !== 'publish' && post_status !== 'private') return `${home}/?post_type=${post_type}&p=${ID}`;
  if (permalinkStructure === '') return `${home}/?${post_type}=${post_name}`;
  return pageUrl(place, [post_type === 'tribe_events' ? singleEventSlug : (BASES.get(post_type) ?? post_type), post_name]);
}

/**
 * The address of the page of one date of an event (rewrite rules of the calendar's paid extension). `slug`: the
 * event's; `number`: which of several on that day. An event that is not public has none: it has the address of its
 * post.
 */
export function eventDateUrl(
  place: EventPlace,
  post: LinkedPost,
  { slug, date, number }: { readonly slug: string; readonly date: string; readonly number: number | undefined },
): string {
  if (post.post_status !== 'publish' && post.post_status !== 'private') return postUrl(place, post);
  if (place.permalinkStructure !== '')
    return pageUrl(place, [place.singleEventSlug, slug, date, ...(number === undefined ? [] : [String(number)])]);
  return `${place.home}/?${post.post_type}=${slug}&eventDate=${date}${number === undefined ? '' : `&eventSequence=${number}`}`;
}

/** The address of a term's page (WordPress `get_term_link`). `ancestors`: slugs from the root down to its parent. */
export function termUrl(
  place: TermPlace,
  { taxonomy, slug }: { taxonomy: string; slug: string },
  ancestors: readonly string[] = [],
): string {
  const { home, permalinkStructure, eventsSlug, tagBase } = place;
  if (permalinkStructure === '') return `${home}/?${TERM_VARIABLES.get(taxonomy) ?? taxonomy}=${slug}`;
  if (taxonomy !== 'post_tag') return pageUrl(place, [eventsSlug, 'category', ...ancestors, slug]);
  return pageUrl(place, [...tagPath(permalinkStructure, tagBase), slug]);
}

/**
 * What comes before the slugs of tags in paths. Only the default base comes after what the permalink structure begins
 * with.
 */
export function tagPath(permalinkStructure: string, tagBase: string): string[] {
  const standard = tagBase === '' || tagBase === 'tag';
  return standard ? [...front(permalinkStructure), 'tag'] : tagBase.split('/').filter((segment) => segment !== '');
}

/** The address of a person's page (WordPress `get_author_posts_url`). */
export function authorUrl(place: LinkPlace, { id, nicename }: { id: number; nicename: string }): string {
  if (place.permalinkStructure === '') return `${place.home}/?author=${id}`;
  return pageUrl(place, [...front(place.permalinkStructure), 'author', nicename]);
}

/** Root of the REST interface (WordPress `get_rest_url`), with a trailing slash. */
export function restRoot({ home, permalinkStructure }: LinkPlace): string {
  if (permalinkStructure === '') return `${home}/index.php?rest_route=/`;
  return `${home}/${[...indexPrefix(permalinkStructure), 'wp-json'].join('/')}/`;
}

/** What `restUrl` needs of a request and the site's settings. */
export interface RestPlace {
  readonly home: string;
  readonly settings: { readonly permalinkStructure: string };
}

/**
 * The address of a route of the REST interface. `route`: without leading slash, with the namespace. `query`: parameters
 * in order; they are percent-encoded, the route too where it is a parameter itself (decision D21).
 */
export function restUrl({ home, settings }: RestPlace, route: string, query: readonly (readonly [string, string])[] = []): string {
  const { permalinkStructure } = settings;
  const pairs = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  if (pairs.length === 0) return restRoot({ home, permalinkStructure }) + route;
  if (permalinkStructure === '') return `${home}/index.php?${[`rest_route=${encodeURIComponent(`/${route}`)}`, ...pairs].join('&')}`;
  return `${restRoot({ home, permalinkStructure })}${route}?${pairs.join('&')}`;
}

/** A page's address: a trailing slash if the permalink structure has one (`user_trailingslashit`). */
function pageUrl({ home, permalinkStructure }: LinkPlace, segments: readonly string[]): string {
  const path = [...indexPrefix(permalinkStructure), ...segments].map((segment) => trimOf(segment, '/')).join('/');
  return `${home}/${path}${permalinkStructure.endsWith('/') ? '/' : ''}`;
}

/** Sites without rewriting say `/index.php/...` in their permalink structure. */
const indexPrefix = (structure: string) => (/^\/?index\.php\//.test(structure) ? ['index.php'] : []);

/** What comes before the first variable of the structure (`WP_Rewrite::$front`). */
const front = (structure: string) =>
  (structure.split('%', 1)[0] ?? '').split('/').filter((segment) => segment !== '' && segment !== 'index.php');
