import type { Request, RequestHandler } from 'express';
import { servedNamespaces } from '../config/config.ts';
import { MOST_CHANGES } from '../kinds/changes-params.ts';
import { positive } from '../kinds/grammars/grammars.ts';
import type { Site } from '../site.ts';
import { acceptedParams, answerRoute } from './answer-route.ts';
import { notesOf } from './answered.ts';
import { type Answers, keyOf, languageKey } from './answers.ts';
import { type CanonicalQuery, canonicalQuery } from './canonical-query.ts';
import { COMMON_PARAMS } from './common-params.ts';
import { hasHosts } from './content-language.ts';
import { type Answer, deliver } from './deliver.ts';
import type { Raw } from './input.ts';
import type { Budget } from './limits.ts';
import { problemOf } from './problem.ts';
import { answerOf, bringsPassword, type Frame, PLAIN, readWrapping } from './protocol.ts';
import { type Received, receive } from './receive.ts';
import type { LinkedReply } from './reply.ts';
import { type Incoming, readRequest, requestLanguage } from './request.ts';
import { templateOf } from './route.ts';
import type { Router } from './routing.ts';

/**
 * Serves requests to the API and passes on all others. Answers to anonymous reads are cached for as long as they are
 * valid.
 */
export function serveRoutes(site: Site, router: Router, answers: Answers | undefined, budget: Budget): RequestHandler {
  return async (req, res, next) => {
    const key = keyOf(req, languageKey(site.texts));
    const from = key === undefined ? site : site.reading();
    const incoming = await readRequest(from, router, req);
    if (!incoming) return next();
    notesOf(req).route = routeOf(incoming);
    const url = bringsPassword(incoming.query) ? undefined : key;
    const byHost = hasHosts(incoming.settings.contentLanguages);
    if (!answers || url === undefined) return deliver(req, res, await compose(from, incoming, budget));
    const canonical = canonicalQueryOf(from, incoming);
    const ownKey =
      ((canonical && keyOf(req, languageKey(site.texts), canonical.text)) ?? url) + (byHost ? ` ${incoming.hostLanguage ?? ''}` : '');
    // Reads the request again now that the version is known: the answer may be based on settings newer than the
    // version, but never on older ones.
    const compute = async (read: Site) => compose(read, (await readRequest(read, router, req)) ?? incoming, budget);
    const wanted = { key: ownKey, alias: canonical?.whole && !byHost ? url : undefined, from, compute };
    return deliver(req, res, await answers.answerFor(req, wanted));
  };
}

/**
 * Prefix of cache keys that no page's address begins with, since the root of the API and the home page have the same
 * path.
 */
const API = '/wp-json';

/**
 * Returns the canonical query of a request to the calendar's own routes or to the root. Undefined for other routes,
 * whose answers repeat the query as it was sent, such as WordPress's own routes in their links.
 */
function canonicalQueryOf({ config }: Site, { path, namespace = '', found, query, home, settings }: Incoming): CanonicalQuery | undefined {
  const endpoint = namespace === '' || servedNamespaces(config).includes(namespace) ? found?.endpoint : undefined;
  if (!endpoint) return undefined;
  const taken = new Set([...Object.keys(acceptedParams(endpoint, settings)), ...COMMON_PARAMS]);
  return canonicalQuery(home + API + path, query, taken, withinBounds(query, { per_page: config.maxPerPage, limit: MOST_CHANGES }));
}

/** Replaces numbers by their effective values: every number above the maximum means the maximum. */
function withinBounds(query: Raw, greatest: Readonly<Record<string, number>>): Raw {
  const understood = Object.entries(greatest).flatMap(([name, most]) => {
    const number = positive.read(query[name]).value;
    return number === undefined ? [] : [[name, String(Math.min(number, most))] as const];
  });
  return Object.fromEntries(understood);
}

/** Returns the route of a request for the log, with its namespace, and parameters in braces. */
const routeOf = ({ namespace, found }: Incoming): string | undefined =>
  found && ((namespace === undefined ? '' : `/${namespace}`) + templateOf(found.route) || '/');

/**
 * Answers a request in the order of WordPress's checks: first the name of the JSONP function, then the caller's
 * identity, for any route and method, then the route.
 */
async function compose(site: Site, incoming: Incoming<Request>, budget: Budget): Promise<Answer> {
  const { query, method, req } = incoming;
  const changedAt = site.changedAt();
  let received: Received | undefined;
  let frame: Frame = {
    wrapping: { ...PLAIN, script: Boolean(query._jsonp) },
    method,
    sent: req.method,
    place: incoming,
    personal: bringsPassword(query),
    changedAt,
  };
  let reply: LinkedReply;
  try {
    frame = { ...frame, wrapping: readWrapping(query), personal: true };
    received = await receive(site, incoming, budget);
    const { caller, body, nonce } = received;
    notesOf(req).user = caller.viewer.id;
    frame = { ...frame, personal: bringsPassword(query, body.json, body.form) || caller.viewer.id > 0, nonce };
    reply = await answerRoute(site, received);
  } catch (error) {
    reply = problemOf(site, req, received?.caller.language ?? requestLanguage(site, incoming, {}), error);
  } finally {
    received?.release();
  }
  return answerOf(reply, frame);
}
