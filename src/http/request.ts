import type { Request } from 'express';
import type { SiteSettings } from '../calendar/settings.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { trimEndOf } from '../wordpress/trim.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { type Address, addressOf, basePath, splitTarget } from './addressing.ts';
import { type Body, overriddenMethod, parseQuery, type Raw } from './input.ts';
import { languageOf } from './language.ts';
import type { Router } from './routing.ts';

/** A request of the interface, read as far as neither body nor caller is needed. */
export interface Incoming {
  readonly req: Request;
  readonly settings: SiteSettings;
  /** The moment of the request. */
  readonly now: Date;
  readonly address: Address;
  /** The method that is meant. */
  readonly method: string;
  readonly query: Raw;
  /** Home with the language of the address: where every URL in the answer begins. */
  readonly home: string;
}

/** Reads where a request goes and what its query says; undefined: not to the interface. */
export async function readRequest(site: Site, req: Request): Promise<Incoming | undefined> {
  const { path, query: text } = splitTarget(req.originalUrl);
  const query = parseQuery(text);
  const settings = await site.settings();
  const address = addressOf(path, query.rest_route, { base: basePath(settings.home), languages: site.texts.languages });
  if (!address) return undefined;
  const method = overriddenMethod(req.method, query, req.get('x-http-method-override'));
  return {
    req,
    settings,
    now: site.clock(),
    address,
    method,
    query,
    home: settings.home + (address.language === undefined ? '' : `/${address.language}`),
  };
}

/** What a request shows of who sends it; of several nonces a parameter counts first, as in `rest_cookie_check_errors`. `sent`: one in the body. */
export function credentialsOf({ req, query }: Incoming, sent?: string) {
  const nonce = [sent, query._wpnonce, req.get('x-wp-nonce')].find((value): value is string => typeof value === 'string');
  const { authorization, cookie } = req.headers;
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(cookie === undefined ? {} : { cookie }),
    ...(nonce === undefined ? {} : { nonce }),
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

/** The language in which a request is answered. */
export const requestLanguage = ({ texts }: Site, { req, query, address }: Incoming, body: Body): string =>
  languageOf(texts, { query, body, segment: address.language, header: req.get('accept-language') });

/** Everything that the verbs need to know about the request. */
export function callerOf(site: Site, router: Router, incoming: Incoming, body: Body, viewer: Viewer): Caller {
  const { settings, address, home } = incoming;
  const language = requestLanguage(site, incoming, body);
  return {
    viewer,
    settings,
    now: incoming.now,
    language,
    home,
    namespace: router.namespaceOf(address.route) ?? site.config.restNamespace,
    uploads: trimEndOf(settings.raw.get('upload_url_path') || `${settings.home}/wp-content/uploads`, '/'),
    free: site.texts.t(language, 'site:free'),
  };
}
