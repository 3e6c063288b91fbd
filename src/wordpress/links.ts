import { tableOf } from './table.ts';
import { trimOf } from './trim.ts';

/** The start of URLs and their form. */
export interface LinkPlace {
  /**
   * Home URL of the site, including the language's segment if there is one (`https://example.com/it`); no trailing
   * slash.
   */
  readonly home: string;
  /** Option `permalink_structure`; empty: URLs with a query. */
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

/** Columns of a post that its URL is made from. */
export interface LinkedPost {
  readonly ID: number;
  readonly post_type: string;
  readonly post_status: string;
  readonly post_name: string;
}

/** First segment of the path of pages, by type; for events it is a setting. */
const BASES: ReadonlyMap<string, string> = tableOf({ tribe_venue: 'venue', tribe_organizer: 'organizer' });
/** Query variables of taxonomies; others use the name of the taxonomy. */
const TERM_VARIABLES: ReadonlyMap<string, string> = tableOf({ post_tag: 'tag', category: 'category_name' });

/**
 * Returns the URL of a post's page (WordPress `get_post_permalink`): with its slug if it is public or private,
 * otherwise with type and id. The URL at the time of the first insert is also the post's `guid`.
 */
export function postUrl(place: EventPlace, { ID, post_type, post_status, post_name }: LinkedPost): string {
  const { home, permalinkStructure, singleEventSlug } = place;
  if (post_status !== 'publish' && post_status !== 'private') return `${home}/?post_type=${post_type}&p=${ID}`;
  if (permalinkStructure === '') return `${home}/?${post_type}=${post_name}`;
  return pageUrl(place, [post_type === 'tribe_events' ? singleEventSlug : (BASES.get(post_type) ?? post_type), post_name]);
}

/** Length of the column of GUIDs, in characters. */
const GUID_CHARACTERS = 255;

/**
 * Returns the GUID of a record with this address. A longer address than the column is none, as in WordPress, where only
 * the update that would store it fails: cut off, it could be that of another record.
 */
export const guidOf = (address: string): string =>
  address.length > GUID_CHARACTERS && [...address].length > GUID_CHARACTERS ? '' : address;

/**
 * Returns the URL of the page of one date of an event (rewrite rules of The Events Calendar's paid extension). `slug`:
 * that of the event; `number`: position among several dates on that day. An event that is not public has no such page:
 * the URL is that of its post.
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

/**
 * Returns the URL of a term's page (WordPress `get_term_link`). `ancestors`: slugs from the root down to its parent.
 */
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
 * Returns the segments before the slugs of tags in paths. Only the default base has the fixed prefix of the permalink
 * structure.
 */
export function tagPath(permalinkStructure: string, tagBase: string): string[] {
  const standard = tagBase === '' || tagBase === 'tag';
  return standard ? [...front(permalinkStructure), 'tag'] : tagBase.split('/').filter((segment) => segment !== '');
}

/** Returns the URL of a person's page (WordPress `get_author_posts_url`). */
export function authorUrl(place: LinkPlace, { id, nicename }: { id: number; nicename: string }): string {
  if (place.permalinkStructure === '') return `${place.home}/?author=${id}`;
  return pageUrl(place, [...front(place.permalinkStructure), 'author', nicename]);
}

/** Returns the root URL of the REST interface (WordPress `get_rest_url`), with a trailing slash. */
export function restRoot({ home, permalinkStructure }: LinkPlace): string {
  if (permalinkStructure === '') return `${home}/index.php?rest_route=/`;
  return `${home}${indexPath(permalinkStructure)}/wp-json/`;
}

/** Properties of a request and of the site's settings that `restUrl` needs. */
export interface RestPlace {
  readonly home: string;
  readonly settings: { readonly permalinkStructure: string };
}

/**
 * Returns the URL of a route of the REST interface. `route`: without leading slash, including the namespace. `query`:
 * parameters in order. Their values are percent-encoded, and so is the route if it is a parameter itself (decision
 * D21).
 */
export function restUrl({ home, settings }: RestPlace, route: string, query: readonly (readonly [string, string])[] = []): string {
  const { permalinkStructure } = settings;
  const pairs = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  if (pairs.length === 0) return restRoot({ home, permalinkStructure }) + route;
  if (permalinkStructure === '') return `${home}/index.php?${[`rest_route=${encodeURIComponent(`/${route}`)}`, ...pairs].join('&')}`;
  return `${restRoot({ home, permalinkStructure })}${route}?${pairs.join('&')}`;
}

/** Returns the URL of one of WordPress's own routes; `route` and `query` as in `restUrl`. */
export const coreUrl = (place: RestPlace, route: string, query: readonly (readonly [string, string])[] = []): string =>
  restUrl(place, `wp/v2/${route}`, query);

/** Returns a page's URL, with a trailing slash if the permalink structure has one (`user_trailingslashit`). */
function pageUrl({ home, permalinkStructure }: LinkPlace, segments: readonly string[]): string {
  const path = segments.map((segment) => trimOf(segment, '/')).join('/');
  return `${home}${indexPath(permalinkStructure)}/${path}${permalinkStructure.endsWith('/') ? '/' : ''}`;
}

/** Returns `/index.php` if the site's permalink structure begins with it, as on sites without URL rewriting, or "". */
export const indexPath = (structure: string): string => (/^\/?index\.php\//.test(structure) ? '/index.php' : '');

/** Returns the segments before the first variable of the structure (`WP_Rewrite::$front`). */
const front = (structure: string) =>
  (structure.split('%', 1)[0] ?? '').split('/').filter((segment) => segment !== '' && segment !== 'index.php');
