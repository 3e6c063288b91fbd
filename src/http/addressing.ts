import { memoize } from '../memo.ts';
import { trimEndOf } from '../wordpress/trim.ts';

/** The API route and language that a request addresses, read from its URL alone. */
export interface Address {
  /**
   * The route as WordPress sees it: `/` for the root of the API, otherwise `/` and the path after it without a trailing
   * slash. Paths are not percent-decoded; `rest_route` is decoded once, as part of the query (WordPress
   * `WP::parse_request`).
   */
  readonly route: string;
  /** The language that the address names; undefined if it names none. */
  readonly language: string | undefined;
}

export interface Addressing {
  /** Path of the site's home without a trailing slash: empty, or `/cms` if the site lies in a subfolder. */
  readonly base: string;
  /** Languages that may be the first segment after `base`. */
  readonly languages: readonly string[];
}

/** Length limit of a route, in characters. Longer than any path with the longest slug. */
const MAX_ROUTE_LENGTH = 2000;

/**
 * The part before the route: an optional language and an optional `index.php`, in either order. Polylang may put
 * `language/` before the language. Slashes after `index.php` count as one (`WP::parse_request` trims `PATH_INFO`).
 */
const ROUTE_PREFIX = String.raw`^(?:(?:/language)?/(?<first>[\w-]+))??(?:/index\.php(?:/+(?=/))?)?(?:(?:/language)?/(?<second>[\w-]+))??`;
const BY_PATH = new RegExp(`${ROUTE_PREFIX}/wp-json(?<route>/.*)?$`);
const BY_QUERY = new RegExp(`${ROUTE_PREFIX}/?$`);

/**
 * Returns the API route that an address names: `{base}/wp-json/...`, `{base}/index.php/wp-json/...` or `rest_route` in
 * the query of `{base}/` and `{base}/index.php`, each with or without a language as the first segment. A path without
 * the base is accepted too, since proxies may strip it. Slashes before and after the base count as one, since many
 * clients append `/wp-json` to a home with a trailing slash; within the route each counts. `restRoute` is the query
 * parameter of that name. Returns undefined for addresses outside the API.
 */
export function addressOf(path: string, restRoute: unknown, { base, languages }: Addressing): Address | undefined {
  if ([path, restRoute].some((text) => typeof text === 'string' && text.length > MAX_ROUTE_LENGTH)) return undefined;
  const relativePath = pathBelow(base, path);
  const match = BY_PATH.exec(relativePath) ?? BY_QUERY.exec(relativePath);
  const { first, second, route } = match?.groups ?? {};
  const segments = [first, second].filter((segment) => segment !== undefined);
  if (!match || segments.length > 1 || !segments.every((segment) => languages.includes(segment))) return undefined;
  const language = segments[0];
  if (BY_PATH.test(relativePath)) return { route: withoutTrailingSlash(route ?? ''), language };
  return typeof restRoute === 'string' && restRoute !== '' ? { route: withoutTrailingSlash(restRoute), language } : undefined;
}

/**
 * Returns the path after the base with a single leading slash (`WP::parse_request` trims it before and after). A path
 * without the base is returned too, since proxies may strip it. Empty for the base itself.
 */
export function pathBelow(base: string, path: string): string {
  const trimmedPath = withOneSlash(path);
  return trimmedPath === base || trimmedPath.startsWith(`${base}/`) ? withOneSlash(trimmedPath.slice(base.length)) : trimmedPath;
}

/** Returns the path of a page after the base. Slashes count as one wherever they are (`redirect_canonical`). */
export const pagePathBelow = (base: string, path: string): string => pathBelow(base, path).replace(/\/{2,}/g, '/');

const withOneSlash = (path: string): string => path.replace(/^\/{2,}/, '/');

/**
 * Splits off the language at the start of a path, which may also be written `language/it` (Polylang). `rest` holds the
 * remaining segments.
 */
export function splitLanguage(
  segments: readonly string[],
  languages: readonly string[],
): { readonly language: string | undefined; readonly rest: readonly string[] } {
  const index = segments[0] === 'language' && languages.includes(segments[1] ?? '') ? 1 : 0;
  const language = languages.find((code) => code === segments[index]);
  return { language, rest: language === undefined ? segments : segments.slice(index + 1) };
}

/** Returns the language that an address names, also if it leads nowhere; undefined if it names none. */
export function languageOfAddress(path: string, restRoute: unknown, { base, languages }: Addressing): string | undefined {
  const segments = pathBelow(base, path).split('/').slice(1);
  return addressOf(path, restRoute, { base, languages })?.language ?? splitLanguage(segments, languages).language;
}

/** Returns the path of a home address, as the `base` of `Addressing`. */
export const basePath = memoize((home) => (URL.canParse(home) ? trimEndOf(new URL(home).pathname, '/') : ''));

/**
 * Returns a request target without the scheme and the host of a whole URL, which a server must accept (RFC 9112,
 * 3.2.2). Some proxies send one.
 */
export function originForm(target: string): string {
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return rest === target || rest.startsWith('/') ? rest : `/${rest}`;
}

/** Splits a request target (RFC 9112, 3.2) into path and query. */
export function splitTarget(target: string): { path: string; query: string } {
  const pathAndQuery = originForm(target).replace(/#.*$/s, '');
  const queryStart = pathAndQuery.indexOf('?');
  return queryStart < 0
    ? { path: pathAndQuery || '/', query: '' }
    : { path: pathAndQuery.slice(0, queryStart) || '/', query: pathAndQuery.slice(queryStart + 1) };
}

/** Removes trailing slashes like WordPress's `untrailingslashit`; the root keeps its slash. */
const withoutTrailingSlash = (route: string): string => trimEndOf(route, '/\\') || '/';
