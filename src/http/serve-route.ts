import type { RequestHandler } from 'express';
import { identify } from '../accounts/credentials.ts';
import { servedNamespaces } from '../config.ts';
import { fail, type ProblemName, problems } from '../errors.ts';
import type { Values } from '../kinds/kind.ts';
import type { Caller } from '../records/caller.ts';
import { acceptParams, type Params } from '../records/input.ts';
import { discardImages } from '../records/prepared-images.ts';
import { onceWritten, type Site } from '../site.ts';
import { DatabaseUnavailable } from '../storage/database.ts';
import { type Answer, type Answers, deliver, keyOf } from './answers.ts';
import { describeRoute } from './describe.ts';
import { type Body, type JsonFault, mergeParams, type Raw } from './input.ts';
import { neighbourLinks } from './neighbours.ts';
import { problemOf } from './problem.ts';
import { answerOf, type Frame, PLAIN, readWrapping, VARY } from './protocol.ts';
import { described, type LinkedReply, ok } from './reply.ts';
import { callerOf, credentialsOf, type Incoming, readRequest, readRequestBody, requestLanguage } from './request.ts';
import type { Endpoint, Verdict } from './route.ts';
import type { ServedEndpoint } from './routes.ts';
import type { Found, Router } from './routing.ts';
import { uploadIn } from './upload.ts';

/**
 * Serves what is addressed to the interface and passes on what is not. What anonymous callers read is computed once and remembered for as long as
 * it holds.
 */
export function serveRoutes(site: Site, router: Router, answers: Answers | undefined): RequestHandler {
  return async (req, res, next) => {
    const key = keyOf(req, languageKey(site));
    const from = key === undefined ? site : site.reading();
    const incoming = await readRequest(from, req);
    if (!incoming) return next();
    const compute = () => compose(from, router, incoming);
    await deliver(req, res, answers && key !== undefined ? await answers.answerFor(key, from.freshness, compute) : await compute());
  };
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

/** The language that a header alone would lead to; an address or parameter that says another is part of the key anyway. */
const languageKey = (site: Site) => (acceptLanguage: string | undefined) =>
  acceptLanguage === undefined ? '' : site.texts.chooseLanguage({ acceptLanguage });

/**
 * The answer to a request, in the order of WordPress's checks: the name of the JSONP function, then who calls, for whatever route and
 * method, then the route.
 */
async function compose(site: Site, router: Router, incoming: Incoming): Promise<Answer> {
  const { query, method, req } = incoming;
  const changedAt = site.changedAt();
  let body: Body = {};
  let frame: Frame = {
    wrapping: { ...PLAIN, script: Boolean(query._jsonp) },
    method,
    sent: req.method,
    place: incoming,
    personal: false,
    changedAt,
  };
  let reply: LinkedReply;
  try {
    frame = { ...frame, wrapping: readWrapping(query) };
    body = await readRequestBody(site, incoming);
    frame = { ...frame, personal: true };
    const { viewer, nonce } = await identify(site, incoming.settings, credentialsOf(incoming, body));
    frame = { ...frame, personal: viewer.id > 0, nonce };
    reply = await answer(site, callerOf(site, router, incoming, body, viewer), router, incoming, body);
  } catch (error) {
    reply = problemOf(site, req, requestLanguage(site, incoming, body), error);
  }
  return answerOf(reply, frame);
}

/** The answer of the route that the request leads to, with the methods that this caller may use on it. */
async function answer(site: Site, caller: Caller, router: Router, incoming: Incoming, body: Body): Promise<LinkedReply> {
  const { address, method, req } = incoming;
  const own = servedNamespaces(site.config).includes(caller.namespace);
  const switchedOff = caller.settings.calendar.restDisabled && own && address.route !== '/';
  const found = switchedOff ? undefined : router.find(address.route, method === 'OPTIONS' ? undefined : method);
  if (!found) return method === 'OPTIONS' ? ok([]) : fail('rest_no_route');

  const selected = await select(site, found);
  let reply: LinkedReply;
  try {
    reply = isHandled(found)
      ? await handle(site, caller, found, selected, incoming, body)
      : described(describeRoute(site, caller, found.route, address.route === '/' ? '' : caller.namespace));
  } catch (error) {
    reply = problemOf(site, req, caller.language, error);
  }
  const allowed = await allowedMethods(site, caller, found.route.endpoints, { ...askedContext(incoming), ...selected }).catch(unlessLost);
  return { ...reply, headers: { ...reply.headers, ...(allowed === '' ? {} : { Allow: allowed }) } };
}

/** One handler: the body's syntax, its parameters, permission, and then what it does. */
async function handle(
  site: Site,
  caller: Caller,
  { endpoint, pieces }: Handled,
  selected: Values,
  { query, method, req, address }: Incoming,
  body: Body,
): Promise<LinkedReply> {
  if (body.fault) refuseJson(site, caller, body.fault);
  const heeded = heededBy(endpoint);
  const params = 'slug' in pieces && selected.id === 0 ? withUnknownSlug(heeded) : heeded;
  const raw = mergeParams({ query, body, path: selectors(endpoint, pieces), method });
  const values = { ...(await acceptParams(site, caller, params, raw, endpoint.mode)), ...selected };
  const verdict = await verdictOf(site, caller, endpoint, values);
  if (verdict !== true) {
    await discardImages(values);
    refuse(caller, verdict === false ? 'rest_forbidden' : verdict);
  }
  if (endpoint.acknowledged !== undefined && !req.get(endpoint.acknowledged)) fail('missing_experimental_endpoint_acknowledgement');
  const sent = endpoint.upload ? { ...values, upload: uploadIn(req, body) } : values;
  const reply = await onceWritten(site, async (own) => endpoint.run(own, caller, sent));
  const vary = endpoint.acknowledged === undefined ? {} : { Vary: `${VARY}, ${endpoint.acknowledged}` };
  const link = reply.paging && neighbourLinks(caller, address.route.slice(1), query, values, reply.paging);
  return { ...reply, headers: { ...reply.headers, ...vary, ...(link === undefined ? {} : { Link: link }) } };
}

/** All parameters of a handler, listed and unlisted, put together once. */
function heededBy(endpoint: ServedEndpoint): Params {
  const known = HEEDED.get(endpoint);
  if (known) return known;
  const params = { ...endpoint.params, ...endpoint.unlisted };
  HEEDED.set(endpoint, params);
  return params;
}

const HEEDED = new WeakMap<ServedEndpoint, Params>();

/** Refuses; what a known caller may not do, an anonymous one is asked to sign in for. */
const refuse = ({ viewer }: Caller, problem: ProblemName): never =>
  fail(problem, problems[problem].status === 403 && viewer.id === 0 ? { status: 401 } : {});

/** The context that a request asks for, on which it may depend what is allowed. */
const askedContext = ({ query: { context } }: Incoming): Values => (typeof context === 'string' ? { context } : {});

function refuseJson({ texts }: Site, { language }: Caller, { code, reason }: JsonFault): never {
  const message = texts.t(language, [`reasons:${reason}`, 'problems:rest_invalid_json']);
  return fail('rest_invalid_json', { data: { json_error_code: code, json_error_message: message } });
}

/** The id of the record that the path names, 0 where there is none; nothing for routes that name no record. */
async function select(site: Site, { route, pieces: { id, slug } }: Found): Promise<Values> {
  if (slug !== undefined) return { id: (await route.select?.(site, slug)) ?? 0 };
  return id === undefined ? {} : { id: Number.isSafeInteger(Number(id)) ? Number(id) : 0 };
}

type Handled = Found & { readonly endpoint: ServedEndpoint };
const isHandled = (found: Found): found is Handled => found.endpoint !== undefined;

/** The pieces of the path that select the record: those that the handler requires. One of the same name that it does not is a field. */
const selectors = ({ params }: Endpoint, pieces: Found['pieces']): Raw =>
  Object.fromEntries(Object.entries(pieces).filter(([name]) => params[name]?.required));

/** Parameters of a handler whose slug belongs to nothing: it is refused together with whatever else is wrong. */
const withUnknownSlug = (params: Params): Params =>
  params.slug?.required
    ? { ...params, slug: { ...params.slug, grammar: { ...params.slug.grammar, read: () => ({ fault: { stage: 'value' } }) } } }
    : params;

const verdictOf = async (site: Site, caller: Caller, { allow }: Endpoint, values: Values): Promise<Verdict> =>
  allow === 'anyone' || allow(site, caller, values);

/** An answer that is ready, perhaps to a write, is sent without a header rather than replaced by a 503. */
function unlessLost(error: unknown): string {
  if (error instanceof DatabaseUnavailable) return '';
  throw error;
}

/** WordPress `rest_send_allow_header`: the methods whose permission check passes, in order of registration. */
async function allowedMethods(site: Site, caller: Caller, endpoints: readonly Endpoint[], selected: Values): Promise<string> {
  const allowed = await Promise.all(
    endpoints.map(async (endpoint) => ((await verdictOf(site, caller, endpoint, selected)) === true ? endpoint.methods : [])),
  );
  return allowed.flat().join(', ');
}
