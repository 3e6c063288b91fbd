import type { Request } from 'express';
import type { Credentials } from '../accounts/credentials.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { type Caller, callerFor, settingsFor } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { homeIn } from '../wordpress/content-languages.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { addressOf, basePath, splitTarget } from './addressing.ts';
import { contentChoice, languageOfHost } from './content-language.ts';
import type { Head } from './head.ts';
import { type Body, overriddenMethod, parseQuery, type Raw } from './input.ts';
import { languageOf } from './language.ts';
import type { RouteMatch, Router } from './routing.ts';

/** A request of the API, read as far as neither body nor caller is needed. */
export interface Incoming<Sent extends Head = Head> {
  readonly req: Sent;
  readonly settings: SiteSettings;
  /** The moment of the request. */
  readonly now: Date;
  /** The same in milliseconds of `performance.now()`. */
  readonly arrived: number;
  /** The method after `overriddenMethod`. */
  readonly method: string;
  readonly query: Raw;
  /** Path of the route, as it is in the address. */
  readonly path: string;
  /** The namespace of the route; undefined: none that is served. */
  readonly namespace: string | undefined;
  /** The route, with its endpoint for the method; `OPTIONS` has none. Undefined: there is no such route. */
  readonly found: RouteMatch | undefined;
  /** The language of the address: its first segment. */
  readonly segment: string | undefined;
  /** The language that the host stands for. */
  readonly hostLanguage: string | undefined;
  /** Home with the language of the address: where every URL in the answer begins. */
  readonly home: string;
}

/** Reads where a request goes and what its query says; undefined: not to the API. */
export async function readRequest(site: Site, router: Router, req: Request): Promise<Incoming<Request> | undefined> {
  const arrived = performance.now();
  const { path, query: text } = splitTarget(req.originalUrl);
  const query = parseQuery(text);
  const settings = await site.settings();
  const address = addressOf(path, query.rest_route, { base: basePath(settings.home), languages: segmentsOf(site, settings) });
  if (!address) return undefined;
  const { route, language: segment } = address;
  const hostLanguage = languageOfHost(settings.contentLanguages, settings.home, req.host);
  const method = overriddenMethod(req.method, query, req.get('x-http-method-override'));
  return {
    req,
    settings,
    now: site.clock(),
    arrived,
    method,
    query,
    path: route,
    namespace: router.namespaceOf(route),
    found: router.find(route, method === 'OPTIONS' ? undefined : method),
    segment,
    hostLanguage,
    home: rootOf(settings, segment, hostLanguage),
  };
}

/** The languages that an address may begin with: those of the texts, and those of the content. */
export const segmentsOf = ({ texts }: Pick<Site, 'texts'>, { contentLanguages }: SiteSettings): readonly string[] =>
  contentLanguages ? [...texts.languages, ...contentLanguages.languages.map(({ code }) => code)] : texts.languages;

/** The home under which a request came. */
export function rootOf({ home, contentLanguages }: SiteSettings, segment: string | undefined, hostLanguage: string | undefined): string {
  const root = contentLanguages && hostLanguage !== undefined ? homeIn(contentLanguages.urls, hostLanguage, home) : home;
  return root + (segment === undefined ? '' : `/${segment}`);
}

/** What the head of a request says of who sends it. */
export function credentialsOf({ req }: Pick<Incoming, 'req'>): Credentials {
  const { authorization, cookie } = req.headers;
  return {
    authorization,
    cookie,
    // Looked up only where a password or a cookie comes with the request.
    get secure() {
      return req.secure;
    },
    get address() {
      return req.ip ?? '';
    },
    post: req.method === 'POST',
  };
}

/**
 * The nonce of a request; of several, a parameter counts first, as in `rest_cookie_check_errors`. `sent`: one in the
 * body.
 */
export const nonceOf = ({ req, query }: Incoming, sent?: string): string | undefined =>
  [sent, query._wpnonce, req.get('x-wp-nonce')].find((value): value is string => typeof value === 'string');

/** The language in which a request is answered. */
export const requestLanguage = ({ texts }: Site, { req, query, segment }: Incoming, body: Body): string =>
  languageOf(texts, { query, body, segment, header: req.get('accept-language') });

/** Everything that `records/` needs to know about the request. */
export function callerOf(site: Site, incoming: Incoming, body: Body, viewer: Viewer): Caller {
  const { now, arrived, query, segment, hostLanguage, namespace = site.config.restNamespace } = incoming;
  const settings = settingsFor(incoming.settings, viewer);
  const content = contentChoice(settings.contentLanguages, site.config, { query, body, address: segment ?? hostLanguage });
  // A parameter and an address that say different languages would contradict each other in the URLs of the answer.
  const home = content.parameter && segment !== undefined ? rootOf(settings, undefined, hostLanguage) : incoming.home;
  return callerFor(site, settings, viewer, { language: requestLanguage(site, incoming, body), home, namespace, now, arrived, content });
}
