import type { Request } from 'express';
import type { Credentials } from '../accounts/credentials.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { type Caller, callerFor, contentTag, settingsFor } from '../records/caller.ts';
import { languageSegments, type Site } from '../site.ts';
import { homeIn } from '../wordpress/content-languages.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { addressOf, basePath, splitTarget } from './addressing.ts';
import { chooseContentLanguage, languageOfHost } from './content-language.ts';
import type { RequestHead } from './head.ts';
import { type Body, overriddenMethod, parseQuery, type RawParams } from './input.ts';
import { answerLanguage } from './language.ts';
import type { RouteMatch, Router } from './routing.ts';
import { isForeignPage } from './same-origin.ts';

/** A request to the API, with everything that can be read without its body and without identifying the caller. */
export interface IncomingRequest<Sent extends RequestHead = RequestHead> {
  readonly req: Sent;
  readonly settings: SiteSettings;
  /** The time of the request. */
  readonly now: Date;
  /** The same time in milliseconds of `performance.now()`. */
  readonly receivedAt: number;
  /** The method after `overriddenMethod`. */
  readonly method: string;
  readonly query: RawParams;
  /** Path of the route, as written in the address. */
  readonly path: string;
  /** The namespace of the route; undefined if it is none of those served. */
  readonly namespace: string | undefined;
  /** The route, with its endpoint for the method; no endpoint for `OPTIONS`. Undefined if there is no such route. */
  readonly match: RouteMatch | undefined;
  /** The language of the address, from its first segment. */
  readonly segment: string | undefined;
  /** The language that belongs to the host. */
  readonly hostLanguage: string | undefined;
  /** Home with the language of the address; all URLs in the answer begin with it. */
  readonly home: string;
}

/** Reads the address and the query of a request; undefined if it is not addressed to the API. */
export async function readRequest(site: Site, router: Router, req: Request): Promise<IncomingRequest<Request> | undefined> {
  const receivedAt = performance.now();
  const { path, query: text } = splitTarget(req.originalUrl);
  const query = parseQuery(text);
  const settings = await site.settings();
  const address = addressOf(path, query.rest_route, { base: basePath(settings.home), languages: languageSegments(site, settings) });
  if (!address) return undefined;
  const { route, language: segment } = address;
  const hostLanguage = languageOfHost(settings.contentLanguages, settings.home, req.get('host'));
  const method = overriddenMethod(req.method, query, req.get('x-http-method-override'));
  return {
    req,
    settings,
    now: site.clock(),
    receivedAt,
    method,
    query,
    path: route,
    namespace: router.namespaceOf(route),
    match: router.find(route, method === 'OPTIONS' ? undefined : method),
    segment,
    hostLanguage,
    home: homeOfRequest(settings, segment, hostLanguage),
  };
}

/** Returns the home under which the request arrived. */
export function homeOfRequest(
  { home, contentLanguages }: SiteSettings,
  segment: string | undefined,
  hostLanguage: string | undefined,
): string {
  const root = contentLanguages && hostLanguage !== undefined ? homeIn(contentLanguages.urls, hostLanguage, home) : home;
  return root + (segment === undefined ? '' : `/${segment}`);
}

/** Collects the credentials in the head of a request. */
export function credentialsOf({ req, settings: { home } }: Pick<IncomingRequest, 'req' | 'settings'>): Credentials {
  const { authorization, cookie } = req.headers;
  return {
    authorization,
    cookie,
    // Lazy, since these are needed only if the request has a password or a cookie.
    get secure() {
      return req.secure;
    },
    get address() {
      return req.ip ?? '';
    },
    get isForeignPage() {
      return isForeignPage(req, home);
    },
    post: req.method === 'POST',
  };
}

/**
 * Returns the nonce of a request. A parameter takes precedence over the header, as in `rest_cookie_check_errors`.
 * `bodyNonce`: a nonce in the body.
 */
export const nonceOf = ({ req, query }: IncomingRequest, bodyNonce?: string): string | undefined =>
  [bodyNonce, query._wpnonce, req.get('x-wp-nonce')].find((value): value is string => typeof value === 'string');

/** Returns the language in which a request is answered. */
export const requestLanguage = ({ texts }: Site, { req, query, segment }: IncomingRequest, body: Body): string =>
  answerLanguage(texts, { query, body, segment, ranges: req.get('accept-language') });

/** Builds the caller: everything that `records/` needs to know about the request. */
export function toCaller(site: Site, incoming: IncomingRequest, body: Body, viewer: Viewer): Caller {
  const { now, receivedAt, query, segment, hostLanguage, namespace = site.config.restNamespace } = incoming;
  const settings = settingsFor(incoming.settings, viewer);
  const content = chooseContentLanguage(settings.contentLanguages, site.config, { query, body, address: segment ?? hostLanguage });
  // If the parameter and the address named different languages, the URLs of the answer would contradict themselves, so
  // the language of the address is left out.
  const home = content.parameter && segment !== undefined ? homeOfRequest(settings, undefined, hostLanguage) : incoming.home;
  const language = requestLanguage(site, incoming, body);
  const recordLanguage = answerLanguage(site.texts, { query, body, segment, ranges: contentTag({ settings, content }) });
  return callerFor(site, settings, viewer, { language, recordLanguage, home, namespace, now, receivedAt, content });
}
