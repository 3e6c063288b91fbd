import { memoize } from '../memo.ts';
import { trimEndOf } from '../wordpress/trim.ts';

/** Where a request is addressed to, read from its URL alone. */
export interface Address {
  /**
   * The route as WordPress sees it: `/` for the root of the API, else `/` and the path after it without a trailing
   * slash. Paths are not percent-decoded, `rest_route` is decoded once as part of the query (WordPress
   * `WP::parse_request`).
   */
  readonly route: string;
  /** The language that the address names; undefined: none. */
  readonly language: string | undefined;
}

export interface Addressing {
  /** Path of the site's home, without trailing slash: empty, or `/cms` where the site lies in a subfolder. */
  readonly base: string;
  /** Languages that may stand as the first segment after it. */
  readonly languages: readonly string[];
}

/** Longer than any path with the longest slug, in bytes. */
const LONGEST_ROUTE = 2000;

/**
 * What comes before the route: perhaps a language, perhaps `index.php`, in either order. Polylang may write `language/`
 * before a language.
 */
const FRONT = String.raw`^(?:(?:/language)?/(?<first>[\w-]+))??(?:/index\.php)?(?:(?:/language)?/(?<second>[\w-]+))??`;
const BY_PATH = new RegExp(`${FRONT}/wp-json(?<route>/.*)?$`);
const BY_QUERY = new RegExp(`${FRONT}/?$`);

/**
 * The route of the API that an address names: `{base}/wp-json/...`, `{base}/index.php/wp-json/...` or `rest_route` in
 * the query of `{base}/` and `{base}/index.php`, each with a language as first segment or without. A path that lacks
 * the base counts as if it had it, for proxies that take it off. `restRoute`: the query's parameter of that name.
 * Undefined: not an address of the API.
 */
export function addressOf(path: string, restRoute: unknown, { base, languages }: Addressing): Address | undefined {
  if ([path, restRoute].some((text) => typeof text === 'string' && text.length > LONGEST_ROUTE)) return undefined;
  const below = path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  const match = BY_PATH.exec(below) ?? BY_QUERY.exec(below);
  const { first, second, route } = match?.groups ?? {};
  const named = [first, second].filter((segment) => segment !== undefined);
  if (!match || named.length > 1 || !named.every((segment) => languages.includes(segment))) return undefined;
  const language = named[0];
  if (BY_PATH.test(below)) return { route: withoutTrailingSlash(route ?? ''), language };
  return typeof restRoute === 'string' && restRoute !== '' ? { route: withoutTrailingSlash(restRoute), language } : undefined;
}

/** The language that the pieces of a path begin with, also as `language/it` (Polylang), and those behind it. */
export function languageAhead(
  pieces: readonly string[],
  languages: readonly string[],
): { readonly language: string | undefined; readonly rest: readonly string[] } {
  const at = pieces[0] === 'language' && languages.includes(pieces[1] ?? '') ? 1 : 0;
  const language = languages.find((known) => known === pieces[at]);
  return { language, rest: language === undefined ? pieces : pieces.slice(at + 1) };
}

/** The path of a home address, as `Addressing` wants it. */
export const basePath = memoize((home) => (URL.canParse(home) ? trimEndOf(new URL(home).pathname, '/') : ''));

/** Path and query of what the request line names (RFC 9112, 3.2), a whole URL included, as proxies send it. */
export function splitTarget(target: string): { path: string; query: string } {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');
  const cut = local.indexOf('?');
  return cut < 0 ? { path: local || '/', query: '' } : { path: local.slice(0, cut) || '/', query: local.slice(cut + 1) };
}

/** WordPress `untrailingslashit`; the root keeps its slash. */
const withoutTrailingSlash = (route: string): string => trimEndOf(route, '/\\') || '/';
