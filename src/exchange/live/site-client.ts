import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, isObject } from '../../objects.ts';
import { jsonExcess } from '../../wordpress/json.ts';
import { trimEndOf } from '../../wordpress/trim.ts';
import { limitConcurrency } from '../../yielding.ts';
import { SourceFault } from '../items/items.ts';

/** Options for requests to a site. */
export interface RequestOptions {
  /** Login and application password, sent to this site only. */
  readonly credentials?: { readonly login: string; readonly password: string } | undefined;
  /** Namespace to use; defaults to the first of the usual ones that the site has. */
  readonly namespace?: string | undefined;
  /** Requests that may be started per second. */
  readonly rate: number;
  /** Maximum number of concurrent requests. */
  readonly concurrency: number;
  /** Pause before the first retry, in milliseconds; it doubles with each further retry. */
  readonly firstPauseMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface SiteAnswer {
  readonly status: number;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown;
  /** Number of pages of one of WordPress's own lists, if the site states it. */
  readonly totalPages?: number | undefined;
  /** Time of the response, in milliseconds since 1970. */
  readonly receivedAt: number;
}

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export type Query = Readonly<Record<string, string | number>>;

/** Another site that has the API. */
export interface RemoteSite {
  /** Public address that the site reports, without trailing slash. */
  readonly home: string;
  readonly namespace: string;
  /** The login that is sent, if any. */
  readonly credentials: string | undefined;
  /** Requests a route below the root of the API (`tribe/events/v1/events`). */
  readonly request: (route: string, query?: Query) => Promise<SiteAnswer>;
  /** Requests a route below the namespace; `''` is the namespace itself. */
  readonly get: (path: string, query?: Query) => Promise<SiteAnswer>;
}

const NAMESPACES = ['tribe/events/v1', 'calendar/events/v1'];

/**
 * Finds the API of a site: given the address of its home, its REST root or a namespace, with or without pretty
 * permalinks.
 *
 * @throws SourceFault `site-credentials`, `site-unreachable`, `site-no-interface`, `site-moved`, `site-refused`
 */
export async function findSite(address: string, options: RequestOptions): Promise<RemoteSite> {
  const fullAddress = /^https?:\/\//i.test(address) ? address : `https://${address}`;
  if (!URL.canParse(fullAddress)) throw new SourceFault('site-address', { site: address });
  const siteUrl = new URL(fullAddress);
  refuseCredentials(siteUrl);
  siteUrl.search = '';
  siteUrl.hash = '';
  const baseUrl = trimEndOf(siteUrl.href, '/');
  const [front = baseUrl, path] = baseUrl.split(/\/wp-json(?=\/|$)/);
  const requestedNamespace = options.namespace ?? (path ? path.replace(/^\/|\/$/g, '') : undefined);
  const site = createRequester(front, options);
  const roots = path === undefined ? [`${front}/wp-json/`, `${front}/index.php/wp-json/`, `${front}/?rest_route=/`] : [`${front}/wp-json/`];
  for (const root of roots) {
    const index = await site.ask(root, '', {});
    if (index.status === 401 || index.status === 403)
      throw new SourceFault('site-refused', { site: front, status: index.status, code: codeOf(index.body) });
    const namespaces = namespacesOf(index.body);
    const namespace = (requestedNamespace === undefined ? NAMESPACES : [requestedNamespace]).find((name) => namespaces.includes(name));
    if (namespace === undefined) continue;
    const { home, url } = index.body as { home?: unknown; url?: unknown };
    const request = (route: string, query: Query = {}) => site.ask(root, route, query);
    return {
      home: trimEndOf(String(home ?? url ?? front), '/'),
      namespace,
      credentials: options.credentials?.login,
      request,
      get: (subPath, query) => request(namespace + (subPath === '' ? '' : `/${subPath}`), query),
    };
  }
  throw new SourceFault('site-no-interface', { site: front });
}

/**
 * Rejects addresses with credentials, since addresses end up in logs. Throws SourceFault `site-credentials` with the
 * address without them.
 */
export function refuseCredentials(address: URL): void {
  if (address.username === '' && address.password === '') return;
  const cleanAddress = new URL(address);
  cleanAddress.username = '';
  cleanAddress.password = '';
  throw new SourceFault('site-credentials', { site: cleanAddress.href });
}

const namespacesOf = (body: unknown): unknown[] =>
  isObject(body) && 'namespaces' in body && Array.isArray(body.namespaces) ? body.namespaces : [];

/**
 * Statuses after which a retry may succeed. 508 is what shared hosts answer beyond their limits, 520 to 524 what
 * Cloudflare answers while a site is down or slow.
 */
const RETRIED_STATUSES = new Set([408, 429, 502, 503, 504, 508, 520, 521, 522, 523, 524]);
const MAX_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 300_000;
const TIMEOUT_MS = 60_000;
const MAX_BODY_BYTES = 64 * 2 ** 20;

/**
 * Creates a requester, which respects the rate and the concurrency limit, and retries requests after temporary
 * failures.
 */
function createRequester(site: string, { credentials, rate, concurrency, firstPauseMs = FIRST_PAUSE_MS, signal }: RequestOptions) {
  const runLimited = limitConcurrency(concurrency);
  const spacing = 1000 / rate;
  let nextTime = 0;
  const headers = {
    accept: 'application/json',
    'user-agent': 'Fasti',
    ...(credentials ? { authorization: `Basic ${Buffer.from(`${credentials.login}:${credentials.password}`).toString('base64')}` } : {}),
  };

  const requestOnce = async (url: URL): Promise<SiteAnswer | { readonly retryAfterMs: number | undefined; readonly reason: string }> => {
    const wait = Math.max(0, nextTime - performance.now());
    nextTime = Math.max(nextTime, performance.now()) + spacing;
    if (wait > 0) await sleep(wait, undefined, { signal });
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const response = await fetchFollowingRedirects(url, { headers, signal: signal ? AbortSignal.any([limit, signal]) : limit }, site);
      if (RETRIED_STATUSES.has(response.status)) {
        await response.body?.cancel();
        return { retryAfterMs: retryAfter(response.headers.get('retry-after')), reason: String(response.status) };
      }
      const body = parseAnswer(await textOf(response, site), site);
      return { status: response.status, body, totalPages: pagesIn(response.headers), receivedAt: Date.now() };
    } catch (error) {
      if (error instanceof SourceFault || signal?.aborted) throw error;
      return { retryAfterMs: undefined, reason: failureReason(error) };
    }
  };

  return {
    ask: (root: string, route: string, query: Query): Promise<SiteAnswer> =>
      runLimited(async () => {
        const url = addressOf(root, route, query);
        let reason = '';
        for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
          const answer = await requestOnce(url);
          if ('status' in answer) return answer;
          reason = answer.reason;
          // The host does not exist. A DNS server that does not respond yields another code.
          if (reason === 'ENOTFOUND') break;
          const pause = Math.min(answer.retryAfterMs ?? firstPauseMs * 2 ** attempt, MAX_PAUSE_MS);
          // A pause that the server requests applies to all requests.
          if (answer.retryAfterMs !== undefined) nextTime = Math.max(nextTime, performance.now() + pause);
          if (attempt < MAX_ATTEMPTS - 1) await sleep(pause, undefined, { signal });
        }
        throw new SourceFault('site-unreachable', { site, address: url.pathname + url.search, reason });
      }),
  };
}

/** Returns the URL of a route. If the root has a `rest_route` parameter, the route is appended to that. */
function addressOf(root: string, route: string, query: Query): URL {
  const url = new URL(root);
  const inQuery = url.searchParams.get('rest_route');
  if (inQuery === null) {
    const segments = route.split('/').map((piece) => (piece.includes('%') ? piece : encodeURIComponent(piece)));
    url.pathname += segments.join('/');
  } else url.searchParams.set('rest_route', inQuery + route);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  return url;
}

const MAX_REDIRECTS = 3;

/**
 * Fetches a URL, following redirects within the same origin only: nobody asked for other sites, and the password is for
 * this one.
 */
async function fetchFollowingRedirects(url: URL, init: RequestInit, site: string): Promise<Response> {
  let place = url;
  for (let hop = 0; ; hop += 1) {
    const response = await fetch(place, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (location === null || response.status < 300 || response.status >= 400) return response;
    await response.body?.cancel();
    const target = URL.canParse(location, place.href) ? new URL(location, place) : undefined;
    if (target?.origin !== url.origin || hop === MAX_REDIRECTS)
      throw new SourceFault('site-moved', { site, target: target?.origin ?? location.slice(0, 100) });
    place = target;
  }
}

async function textOf(response: Response, site: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new SourceFault('site-answer-too-long', { site, megabytes: MAX_BODY_BYTES / 2 ** 20 });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Limits for responses. Descriptions of routes and structured data are a dozen levels deep, and the index of a site
 * with many plugins contains some ten thousand values.
 */
const LIMITS = { depth: 100, values: 1_000_000 };

/** Parses JSON. On some sites, byte order marks of plugins or lines with warnings of PHP come before it. */
function parseAnswer(text: string, site: string): unknown {
  const bare = text.replace(/^\ufeff+/, '');
  const behind = /^[{[]/.test(bare) ? -1 : bare.search(/(?<=\n)[{[]/);
  return parseJson(bare, site) ?? (behind === -1 ? undefined : parseJson(bare.slice(behind), site));
}

function parseJson(text: string, site: string): unknown {
  if (jsonExcess(text, LIMITS)) throw new SourceFault('site-answer-too-complex', { site });
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pagesIn(headers: Headers): number | undefined {
  const count = headers.get('x-wp-totalpages') ?? '';
  return /^\d+$/.test(count) ? Number(count) : undefined;
}

/** Returns the milliseconds that a Retry-After header asks to wait; its value is a number of seconds or a date. */
function retryAfter(value: string | null): number | undefined {
  if (value === null || value.trim() === '') return undefined;
  const pause = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(pause) ? undefined : Math.max(0, pause);
}

function failureReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message || cause.name;
}
