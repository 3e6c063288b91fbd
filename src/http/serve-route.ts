import type { Request, RequestHandler } from 'express';
import { servedNamespaces } from '../config.ts';
import type { Site } from '../site.ts';
import { acceptedParams, answerRoute } from './answer-route.ts';
import { type Answer, type Answers, deliver, keyOf } from './answers.ts';
import { ALWAYS_HEEDED } from './heeded.ts';
import type { Budget } from './limits.ts';
import { type Meaning, meaningOf } from './meaning.ts';
import { problemOf } from './problem.ts';
import { answerOf, bringsPassword, type Frame, PLAIN, readWrapping } from './protocol.ts';
import { type Received, receive } from './receive.ts';
import type { LinkedReply } from './reply.ts';
import { type Incoming, readRequest, requestLanguage } from './request.ts';
import type { Router } from './routing.ts';

/**
 * Serves what is addressed to the API and passes on what is not. What anonymous callers read is computed once and
 * remembered for as long as it holds.
 */
export function serveRoutes(site: Site, router: Router, answers: Answers | undefined, budget: Budget): RequestHandler {
  return async (req, res, next) => {
    const key = keyOf(req, languageKey(site));
    const from = key === undefined ? site : site.reading();
    const incoming = await readRequest(from, router, req);
    if (!incoming) return next();
    const url = bringsPassword(incoming.query) ? undefined : key;
    if (!answers || url === undefined) return deliver(req, res, await compose(from, incoming, budget));
    const meaning = meaningIn(from, incoming);
    const ownKey = (meaning && keyOf(req, languageKey(site), meaning.text)) ?? url;
    // Read again now that the version is known: the answer may be made of newer settings than that, never of older.
    const compute = async () => compose(from, (await readRequest(from, router, req)) ?? incoming, budget);
    return deliver(req, res, await answers.answerFor(ownKey, from.freshness, compute, meaning?.whole ? url : undefined));
  };
}

/**
 * What a request to the calendar's own routes means; undefined where the answer repeats the whole query, as WordPress's
 * own routes do in their links.
 */
function meaningIn({ config }: Site, { path, namespace = '', found, query, home, settings }: Incoming): Meaning | undefined {
  const endpoint = servedNamespaces(config).includes(namespace) ? found?.endpoint : undefined;
  return endpoint && meaningOf(home + path, query, new Set([...Object.keys(acceptedParams(endpoint, settings)), ...ALWAYS_HEEDED]));
}

/** Sends what is remembered, before anything else is looked at, as long as nothing speaks against it. */
export function fromMemory(site: Site, answers: Answers, isServing: () => boolean): RequestHandler {
  const language = languageKey(site);
  return (req, res, next) => {
    const key = isServing() ? keyOf(req, language) : undefined;
    const kept = key === undefined ? undefined : answers.recall(key, site.reading().freshness);
    if (!kept) return next();
    deliver(req, res, kept.answer, kept).catch(next);
  };
}

/**
 * The language that a header alone would lead to; an address or parameter that says another is part of the key anyway.
 */
const languageKey = (site: Site) => (acceptLanguage: string | undefined) =>
  acceptLanguage === undefined ? '' : site.texts.chooseLanguage({ acceptLanguage });

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
    frame = { ...frame, personal: bringsPassword(query, body.json, body.form) || caller.viewer.id > 0, nonce };
    reply = await answerRoute(site, received);
  } catch (error) {
    reply = problemOf(site, req, received?.caller.language ?? requestLanguage(site, incoming, {}), error);
  } finally {
    received?.release();
  }
  return answerOf(reply, frame);
}
