import type { Request, RequestHandler } from 'express';
import { servedNamespaces } from '../config/config.ts';
import { MAX_CHANGES } from '../kinds/changes-params.ts';
import { positiveInteger } from '../kinds/grammars/grammars.ts';
import type { Site } from '../site.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import type { AnswerCache } from './answer-cache.ts';
import { acceptedParams, answerRoute } from './answer-route.ts';
import { cacheKeyOf, canonicalKeyOf, languageKeyOf } from './cache-keys.ts';
import { type CanonicalQuery, canonicalQuery } from './canonical-query.ts';
import { COMMON_PARAMS } from './common-params.ts';
import { hasHosts } from './content-language.ts';
import { type Answer, deliver } from './deliver.ts';
import type { Body, RawParams } from './input.ts';
import { toProblemReply } from './problem.ts';
import { type AnswerContext, hasPassword, NO_WRAPPING, readWrapping, selectedFields, toAnswer } from './protocol.ts';
import { type ReceivedRequest, receiveRequest, SAFE_METHODS } from './receive.ts';
import type { LinkedReply } from './reply.ts';
import { type IncomingRequest, readRequest, requestLanguage } from './request.ts';
import { notesOf } from './request-notes.ts';
import { templateOf } from './route.ts';
import type { Router } from './routing.ts';
import type { RequestLimits, Turns } from './turns.ts';

/**
 * Serves requests to the API and passes on all others. Answers to anonymous reads are cached for as long as they are
 * valid.
 */
export function serveRoutes(site: Site, router: Router, answers: AnswerCache | undefined, limits: RequestLimits): RequestHandler {
  return async (req, res, next) => {
    const key = cacheKeyOf(req, languageKeyOf(site.texts));
    const readSite = key === undefined ? site : site.forAnonymousReads();
    const incoming = await readRequest(readSite, router, req);
    if (!incoming) return next();
    notesOf(req).route = routeOf(incoming);
    const url = hasPassword(incoming.query) || hasNonce(incoming.query) ? undefined : key;
    const byHost = hasHosts(incoming.settings.contentLanguages);
    if (!answers || url === undefined) return deliver(req, res, await computeAnswer(readSite, incoming, limits));
    const canonical = canonicalQueryOf(readSite, incoming);
    const ownKey =
      (canonical ? canonicalKeyOf(req, languageKeyOf(site.texts), canonical.text) : url) +
      (byHost ? ` ${incoming.hostLanguage ?? ''}` : '');
    // Reads the request again now that the version is known: the answer may be based on settings newer than the
    // version, but never on older ones.
    const compute = async (trackedSite: Site) =>
      computeAnswer(trackedSite, (await readRequest(trackedSite, router, req)) ?? incoming, { budget: limits.budget, turns: UNLIMITED });
    const cacheRequest = { key: ownKey, alias: canonical?.isComplete && !byHost ? url : undefined, site: readSite, compute };
    return deliver(req, res, await answers.getOrCompute(req, cacheRequest));
  };
}

/** Whether a request brings a nonce. A wrong one is refused, which must not reach callers without one. */
const hasNonce = (query: RawParams): boolean => Object.hasOwn(query, '_wpnonce');

/**
 * Prefix of cache keys that no page's address begins with, since the root of the API and the home page have the same
 * path.
 */
const API_KEY_PREFIX = '/wp-json';

/**
 * Returns the canonical query of a request to the calendar's own routes or to the root. Undefined for other routes,
 * whose answers repeat the query as it was sent, such as WordPress's own routes in their links.
 */
function canonicalQueryOf(
  { config }: Site,
  { path, namespace = '', match, query, home, settings }: IncomingRequest,
): CanonicalQuery | undefined {
  const endpoint = namespace === '' || servedNamespaces(config).includes(namespace) ? match?.endpoint : undefined;
  if (!endpoint) return undefined;
  const effectiveNames = new Set([...Object.keys(acceptedParams(endpoint, settings)), ...COMMON_PARAMS]);
  return canonicalQuery(
    home + API_KEY_PREFIX + path,
    query,
    effectiveNames,
    clampNumbers(query, { per_page: config.maxPerPage, limit: MAX_CHANGES }),
  );
}

/** Replaces numbers by their effective values: every number above the maximum means the maximum. */
function clampNumbers(query: RawParams, maxima: Readonly<Record<string, number>>): RawParams {
  const clamped = Object.entries(maxima).flatMap(([name, maximum]) => {
    const number = positiveInteger.read(query[name]).value;
    return number === undefined ? [] : [[name, String(Math.min(number, maximum))] as const];
  });
  return Object.fromEntries(clamped);
}

/** Returns the route of a request for the log, with its namespace, and parameters in braces. */
const routeOf = ({ namespace, match }: IncomingRequest): string | undefined =>
  match && ((namespace === undefined ? '' : `/${namespace}`) + templateOf(match.route) || '/');

/**
 * Whether a request that only reads has parameters in its body. Caches take its answer for that of the address alone.
 */
const isReadWithBody = ({ method }: Request, { json, form }: Body): boolean =>
  SAFE_METHODS.has(method) && Object.keys({ ...json, ...form }).length > 0;

/** For answers whose turn has come already. */
const UNLIMITED: Turns = { run: (_req, work) => work() };

/**
 * Answers a request in the order of WordPress's checks: first the name of the JSONP function, then the caller's
 * identity, for any route and method, then the route.
 */
async function computeAnswer(site: Site, incoming: IncomingRequest<Request>, { budget, turns }: RequestLimits): Promise<Answer> {
  const { query, method, req } = incoming;
  const changedAt = site.changedAt();
  let request: ReceivedRequest | undefined;
  let context: AnswerContext = {
    wrapping: { ...NO_WRAPPING, script: Boolean(query._jsonp) },
    method,
    sentMethod: req.method,
    address: incoming,
    isPersonal: hasPassword(query),
    changedAt,
  };
  let reply: LinkedReply;
  try {
    context = { ...context, wrapping: readWrapping(query), isPersonal: true };
    const received = await receiveRequest(site, incoming, budget);
    request = received;
    const { caller, body, nonce } = received;
    notesOf(req).user = caller.viewer.id;
    context = {
      ...context,
      wrapping: { ...context.wrapping, fields: selectedFields(method, query, body) },
      isPersonal: hasPassword(query, body.json, body.form) || caller.viewer.id > 0 || isReadWithBody(req, body),
      nonce,
    };
    const answer = () => answerRoute(site, received);
    // Writes pass: signed-in callers send few. Anonymous callers may send any number, all of which are refused.
    const waits = SAFE_METHODS.has(method) || caller.viewer.id === ANONYMOUS.id;
    reply = waits ? await turns.run(req, answer) : await answer();
  } catch (error) {
    reply = toProblemReply(site, req, request?.caller.language ?? requestLanguage(site, incoming, {}), error);
  } finally {
    request?.release();
  }
  return toAnswer(reply, context);
}
