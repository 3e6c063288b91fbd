import type { RequestHandler } from 'express';
import { admitRecordPassword } from '../accounts/record-passwords.ts';
import { servedNamespaces } from '../config.ts';
import { ApiError, fail, type ProblemName, problems } from '../errors.ts';
import { LENGTHS } from '../kinds/grammar.ts';
import type { Params, Selected, Values } from '../kinds/kind.ts';
import type { Caller } from '../records/caller.ts';
import { acceptParams } from '../records/input.ts';
import { discardImages, discardingImages } from '../records/prepared-images.ts';
import { onlyIf } from '../records/versions.ts';
import { onceWritten, type Site } from '../site.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import type { AnswerKey } from '../storage/rows/kept-answers.ts';
import type { JsonFault } from '../wordpress/json.ts';
import { type Answer, type Answers, deliver, keyOf } from './answers.ts';
import { describeRoute } from './describe.ts';
import type { ServedEndpoint } from './endpoint.ts';
import { type Body, mergeParams, type Raw } from './input.ts';
import { LANGUAGE_NAMES } from './language.ts';
import { type Budget, createBudget } from './limits.ts';
import { type Meaning, meaningOf } from './meaning.ts';
import { neighbourLinks } from './neighbours.ts';
import { preconditionsOf } from './preconditions.ts';
import { problemOf } from './problem.ts';
import { answerOf, bringsPassword, type Frame, PLAIN, readWrapping, VARY, WRAPPING_NAMES } from './protocol.ts';
import { type Received, receive } from './receive.ts';
import { described, type LinkedReply, ok } from './reply.ts';
import { callerOf, type Incoming, readRequest, requestLanguage } from './request.ts';
import type { Endpoint, Reply, Verdict } from './route.ts';
import type { Found, Router } from './routing.ts';
import { uploadIn } from './upload.ts';
import { answerOnce, isReplay, keyOfWrite, runAndKeep } from './write-once.ts';

/**
 * Serves what is addressed to the interface and passes on what is not. What anonymous callers read is computed once and remembered for as long as
 * it holds.
 */
export function serveRoutes(site: Site, router: Router, answers: Answers | undefined): RequestHandler {
  const budget = createBudget(site.config);
  return async (req, res, next) => {
    const key = keyOf(req, languageKey(site));
    const from = key === undefined ? site : site.reading();
    const incoming = await readRequest(from, req);
    if (!incoming) return next();
    const url = bringsPassword(incoming.query) ? undefined : key;
    if (!answers || url === undefined) return deliver(req, res, await compose(from, router, incoming, budget));
    const meaning = meaningIn(from, router, incoming);
    const meant = (meaning && keyOf(req, languageKey(site), meaning.text)) ?? url;
    // Read again now that the version is known: the answer may be made of newer settings than that, never of older.
    const compute = async () => compose(from, router, (await readRequest(from, req)) ?? incoming, budget);
    return deliver(req, res, await answers.answerFor(meant, from.freshness, compute, meaning?.whole ? url : undefined));
  };
}

/** Parameters that count on all routes, declared or not. */
const ALWAYS_HEEDED = [...WRAPPING_NAMES, ...LANGUAGE_NAMES, 'context', 'password', 'rest_route'];

/** What a request to the calendar's own routes means; undefined where the answer repeats the whole query, as WordPress's own routes do in their links. */
function meaningIn(site: Site, router: Router, { address, query, home }: Incoming): Meaning | undefined {
  const isOurs = servedNamespaces(site.config).includes(router.namespaceOf(address.route) ?? '');
  const endpoint = isOurs ? router.find(address.route, 'GET')?.endpoint : undefined;
  return endpoint && meaningOf(home + address.route, query, new Set([...Object.keys(heededBy(endpoint)), ...ALWAYS_HEEDED]));
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
async function compose(site: Site, router: Router, incoming: Incoming, budget: Budget): Promise<Answer> {
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
    received = await receive(site, router, incoming, budget);
    const { body, identity } = received;
    frame = { ...frame, personal: bringsPassword(query, body.json, body.form) || identity.viewer.id > 0, nonce: identity.nonce };
    reply = await answer(site, callerOf(site, router, incoming, body, identity.viewer), router, incoming, body);
  } catch (error) {
    reply = problemOf(site, req, requestLanguage(site, incoming, received?.body ?? {}), error);
  } finally {
    received?.release();
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
  let refused: Endpoint | undefined;
  try {
    reply = isHandled(found)
      ? await handle(site, caller, found, selected, incoming, body)
      : described(describeRoute(site, caller, found.route, address.route === '/' ? '' : caller.namespace));
  } catch (error) {
    if (error instanceof ApiError && error.details.notAllowed) refused = found.endpoint;
    reply = problemOf(site, req, caller.language, error);
  }
  const endpoints = found.route.endpoints.filter((endpoint) => endpoint !== refused);
  const allowed = await allowedMethods(site, caller, endpoints, { ...askedContext(incoming), ...found.pieces, ...selected }).catch(
    unlessLost,
  );
  return { ...reply, headers: { ...reply.headers, ...(allowed === '' ? {} : { Allow: allowed }) } };
}

/** One handler: first whether the body is sound, then whether the request was answered before, then everything else. */
async function handle(
  site: Site,
  caller: Caller,
  found: Handled,
  selected: Partial<Selected>,
  incoming: Incoming,
  body: Body,
): Promise<LinkedReply> {
  const { endpoint, pieces } = found;
  const { query, method } = incoming;
  if (body.fault) refuseJson(site, caller, body.fault);
  const raw = mergeParams({ query, body, path: selectors(endpoint, pieces), method });
  const key = endpoint.secret ? undefined : keyOfWrite(incoming, caller, found, { raw, body });
  const work = () => checkAndRun(site, caller, found, selected, { incoming, body, raw, key });
  const reply = await (key ? answerOnce(site, key, caller.now, work) : work());
  const { acknowledged } = endpoint;
  return acknowledged === undefined ? reply : { ...reply, headers: { ...reply.headers, Vary: `${VARY}, ${acknowledged}` } };
}

/** A request as the handler needs it. */
interface ParsedRequest {
  readonly incoming: Incoming;
  readonly body: Body;
  readonly raw: Raw;
  readonly key: AnswerKey | undefined;
}

/** Checks parameters and permission, then runs the handler. */
async function checkAndRun(
  site: Site,
  caller: Caller,
  found: Handled,
  selected: Partial<Selected>,
  asked: ParsedRequest,
): Promise<LinkedReply> {
  const { endpoint, pieces } = found;
  const { req, query, address } = asked.incoming;
  const heeded = heededBy(endpoint);
  const params = 'slug' in pieces && selected.id === 0 ? withUnknownSlug(heeded) : heeded;
  if (endpoint.methods.includes('GET')) await admitRecordPassword(site, asked.raw.password, req.ip ?? '');
  const values = { ...(await acceptParams(site, caller, params, asked.raw, endpoint.mode)), ...selected };
  const reply = await discardingImages(values, async () => {
    const verdict = await verdictOf(site, caller, endpoint, values);
    if (verdict !== true) refuse(caller, verdict === false ? 'rest_forbidden' : verdict);
    if (endpoint.acknowledged !== undefined && !req.get(endpoint.acknowledged)) fail('missing_experimental_endpoint_acknowledgement');
    return runHandler(site, caller, found, endpoint.upload ? { ...values, upload: uploadIn(req, asked.body) } : values, asked);
  });
  const link = reply.paging && neighbourLinks(caller, address.route.slice(1), query, values, reply.paging);
  return link === undefined ? reply : { ...reply, headers: { ...reply.headers, Link: link } };
}

/**
 * Runs the handler. For a write with preconditions or a key, the check of the record, the write itself and the keeping
 * of its answer are one transaction.
 */
async function runHandler(site: Site, caller: Caller, { route, endpoint }: Handled, values: Values, asked: ParsedRequest): Promise<Reply> {
  const { incoming, key } = asked;
  const prepared = endpoint.prepare ? await endpoint.prepare(site, caller, values) : values;
  const run = (inside: Site) => endpoint.run(inside, caller, prepared);
  const conditions = endpoint.methods.includes('GET') ? undefined : preconditionsOf(incoming.req.headers);
  const { lockVersion } = route;
  const allowed = (inside: Site) =>
    conditions && lockVersion ? onlyIf(inside, caller, lockVersion, { id: Number(values.id), conditions }, run) : run(inside);
  const reply = await discardingImages(prepared, () =>
    onceWritten(site, (own) =>
      key ? own.db.transaction((db) => runAndKeep(db, key, caller.now, () => allowed({ ...own, db }))) : allowed(own),
    ),
  );
  if (isReplay(reply)) await discardImages(prepared);
  await reply.afterwards?.();
  return reply;
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
  fail(problem, { ...(problems[problem].status === 403 && viewer.id === 0 ? { status: 401 } : {}), notAllowed: true });

/** The context that a request asks for, on which it may depend what is allowed. */
const askedContext = ({ query: { context } }: Incoming): Values => (context === 'edit' ? { context } : {});

function refuseJson({ texts }: Site, { language }: Caller, { code, reason }: JsonFault): never {
  const message = texts.t(language, [`reasons:${reason}`, 'problems:rest_invalid_json']);
  return fail('rest_invalid_json', { data: { json_error_code: code, json_error_message: message } });
}

/** The id of the record that the path names, 0 where there is none; nothing for routes that name no record. */
async function select(site: Site, { route, pieces: { id, slug } }: Found): Promise<Partial<Selected>> {
  if (slug !== undefined) return { id: slug.length > LENGTHS.slug ? 0 : ((await route.select?.(site, slug)) ?? 0) };
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
