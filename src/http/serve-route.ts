import type { Request, RequestHandler } from 'express';
import { servedNamespaces } from '../config/config.ts';
import type { Site } from '../site.ts';
import { acceptedParams, answerRoute } from './answer-route.ts';
import { notesOf } from './answered.ts';
import { type Answers, keyOf, languageKey } from './answers.ts';
import { hasHosts } from './content-language.ts';
import { type Answer, deliver } from './deliver.ts';
import { ALWAYS_HEEDED } from './heeded.ts';
import type { Budget } from './limits.ts';
import { type Meaning, meaningOf } from './meaning.ts';
import { problemOf } from './problem.ts';
import { answerOf, bringsPassword, type Frame, PLAIN, readWrapping } from './protocol.ts';
import { type Received, receive } from './receive.ts';
import type { LinkedReply } from './reply.ts';
import { type Incoming, readRequest, requestLanguage } from './request.ts';
import { templateOf } from './route.ts';
import type { Router } from './routing.ts';

/**
 * Serves what is addressed to the API and passes on what is not. What anonymous callers read is computed once and
 * remembered for as long as it holds.
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
    const meaning = meaningIn(from, incoming);
    const ownKey =
      ((meaning && keyOf(req, languageKey(site.texts), meaning.text)) ?? url) + (byHost ? ` ${incoming.hostLanguage ?? ''}` : '');
    // Read again now that the version is known: the answer may be made of newer settings than that, never of older.
    const compute = async (read: Site) => compose(read, (await readRequest(read, router, req)) ?? incoming, budget);
    const wanted = { key: ownKey, alias: meaning?.whole && !byHost ? url : undefined, from, compute };
    return deliver(req, res, await answers.answerFor(req, wanted));
  };
}

/**
 * What a request to the calendar's own routes, or to the root of all, means; undefined where the answer repeats the
 * whole query, as WordPress's own routes do in their links.
 */
function meaningIn({ config }: Site, { path, namespace = '', found, query, home, settings }: Incoming): Meaning | undefined {
  const endpoint = namespace === '' || servedNamespaces(config).includes(namespace) ? found?.endpoint : undefined;
  return endpoint && meaningOf(home + path, query, new Set([...Object.keys(acceptedParams(endpoint, settings)), ...ALWAYS_HEEDED]));
}

/** The route of a request as the log names it: with its namespace, and parameters in braces. */
const routeOf = ({ namespace, found }: Incoming): string | undefined =>
  found && ((namespace === undefined ? '' : `/${namespace}`) + templateOf(found.route) || '/');

/**
 * The answer to a request, in the order of WordPress's checks: the name of the JSONP function, then who calls, for
 * whatever route and method, then the route.
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
