import { checkRecordPassword } from '../accounts/record-passwords.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { servedNamespaces } from '../config/config.ts';
import { ApiError, fail, refuse, type Verdict } from '../errors.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import type { Params, Selected, Values } from '../kinds/param.ts';
import { keyText, memoizeByObject } from '../memo.ts';
import type { Caller } from '../records/caller.ts';
import { withExplainedErrors } from '../records/explanation.ts';
import { acceptParams } from '../records/input.ts';
import { postOfRecord } from '../records/occurrences.ts';
import { withPreconditions } from '../records/versions.ts';
import { discardImages, withImageCleanup } from '../records/writes/prepared-images.ts';
import type { Site } from '../site.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import { type LookUp, lookUpOnce } from '../storage/engine/look-up-once.ts';
import type { AnswerKey } from '../storage/rows/kept-answers.ts';
import type { JsonFault } from '../wordpress/json.ts';
import { describeRoute } from './describe.ts';
import type { ServedEndpoint } from './endpoint.ts';
import { mergeParams, type RawParams } from './input.ts';
import { neighbourLinks } from './neighbours.ts';
import { preconditionsOf } from './preconditions.ts';
import { toProblemReply } from './problem.ts';
import { VARY } from './protocol.ts';
import type { ReceivedRequest } from './receive.ts';
import { descriptionReply, type LinkedReply, ok } from './reply.ts';
import type { IncomingRequest } from './request.ts';
import type { Endpoint, Reply } from './route.ts';
import type { RouteMatch } from './routing.ts';
import { uploadIn } from './upload.ts';
import { warningHeader } from './warnings.ts';
import {
  answerOnce,
  earlierAnswer,
  isReplayed,
  keyOfWrite,
  runAndStoreAnswer,
  unlessAnswered,
  withoutSecret,
  withSecret,
} from './write-once.ts';

/** A request that leads to an endpoint. */
interface EndpointRequest extends ReceivedRequest {
  readonly match: EndpointMatch;
  /** The record that the path names. */
  readonly selection: Partial<Selected>;
  /** Cached look-ups for the permission checks that run before anything is written. */
  readonly lookUp: LookUp;
}

/** The same request with its parameters merged, and the idempotency key of a write. */
interface ParsedRequest extends EndpointRequest {
  readonly raw: RawParams;
  readonly key: AnswerKey | undefined;
}

/**
 * Answers a request with the route that it leads to, and adds the methods that this caller may use on it (`Allow`).
 *
 * @throws rest_no_route; all other errors are returned as answers
 */
export async function answerRoute(site: Site, request: ReceivedRequest): Promise<LinkedReply> {
  const { incoming, caller } = request;
  const match = isSwitchedOff(site, incoming) ? undefined : incoming.match;
  if (!match) return incoming.method === 'OPTIONS' ? ok([]) : fail('rest_no_route');

  const selection = await select(site, match, caller);
  const lookUp = lookUpOnce(site.db);
  let reply: LinkedReply;
  let refusedEndpoint: Endpoint | undefined;
  try {
    reply = hasEndpoint(match)
      ? await handle(site, { ...request, match, selection, lookUp })
      : descriptionReply(describeRoute(site, caller, match.route, incoming.namespace === undefined ? '' : caller.namespace));
  } catch (error) {
    if (error instanceof ApiError && error.details.notAllowed) refusedEndpoint = match.endpoint;
    reply = toProblemReply(site, incoming.req, caller.language, error);
  }
  // After a write the permissions are looked up again, since the record may be in the trash or gone.
  const laterLookUp = hasEndpoint(match) && !isReadEndpoint(match.endpoint) ? lookUpOnce(site.db) : lookUp;
  const values = { ...requestedContext(incoming), ...pathValues(match), ...selection };
  const endpoints = match.route.endpoints.filter((endpoint) => endpoint !== refusedEndpoint);
  const methods = await allowedMethods(laterLookUp, caller, endpoints, values).catch(emptyIfDatabaseLost);
  const { kind, indivisibleMembers } = match.route;
  const embeds = incoming.namespace === 'wp/v2' ? Object.hasOwn(incoming.query, '_embed') : undefined;
  return {
    ...reply,
    kind,
    indivisibleMembers,
    embeds,
    headers: { ...reply.headers, ...warningsAbout(site, request, reply), ...(methods === '' ? {} : { Allow: methods }) },
  };
}

/** Returns the headers that warn of what an answered request has left out. */
export function warningsAbout(site: Site, request: ReceivedRequest, { body: answer }: Reply): Record<string, string> {
  const { incoming, caller } = request;
  const { match } = incoming;
  if (!match || !hasEndpoint(match) || isSwitchedOff(site, incoming)) return {};
  const params = acceptedParams(match.endpoint, caller.settings);
  return warningHeader(site, request, { match, params, answer, namesUnknownFields: isOwn(site, incoming) });
}

/** Whether the calendar's settings switch off the routes of its own namespaces. */
const isSwitchedOff = (site: Site, incoming: IncomingRequest): boolean => incoming.settings.calendar.restDisabled && isOwn(site, incoming);

/** Whether a request goes to the calendar's own namespaces. */
const isOwn = ({ config }: Site, { namespace = '' }: IncomingRequest): boolean => servedNamespaces(config).includes(namespace);

const isReadEndpoint = ({ methods }: Endpoint): boolean => methods.includes('GET');

/**
 * Runs one endpoint. Checks the body first, then whether the same request was answered before, then everything else.
 */
async function handle(site: Site, request: EndpointRequest): Promise<LinkedReply> {
  const { caller, match, body } = request;
  const { query, method } = request.incoming;
  const { endpoint, pathParams } = match;
  if (body.fault) refuseJson(site, caller, body.fault);
  const raw = mergeParams({ query, body, path: selectingParams(endpoint, pathParams), method });
  const { secret } = endpoint;
  const key = secret === 'never-again' ? undefined : keyOfWrite(request, match, raw);
  const work = () => checkAndRun(site, { ...request, raw, key });
  const outcome = await (key ? answerOnce(site, key, caller.now, work) : work());
  const reply = isReplayed(outcome) && typeof secret === 'object' ? await withSecret(site, caller, outcome, secret) : outcome;
  const { acknowledgementHeader } = endpoint;
  return acknowledgementHeader === undefined
    ? reply
    : { ...reply, headers: { ...reply.headers, Vary: `${VARY}, ${acknowledgementHeader}` } };
}

/** Checks parameters and permission, then runs the handler. */
async function checkAndRun(site: Site, request: ParsedRequest): Promise<LinkedReply> {
  const { caller, raw } = request;
  const { query, path } = request.incoming;
  const { params, values } = await accept(site, request);
  const run = (innerSite: Site) => runAllowed(innerSite, request, values);
  const reply = await withExplainedErrors(params, raw, () =>
    isReadEndpoint(request.match.endpoint) ? run(site) : withImageCleanup(site, values, run),
  );
  const link = reply.paging && neighbourLinks(caller, path.slice(1), query, values, reply.paging);
  return link === undefined ? reply : { ...reply, headers: { ...reply.headers, Link: link } };
}

/** Returns the accepted values of a request, and the parameters that accepted them. */
async function accept(site: Site, request: ParsedRequest): Promise<{ params: Params; values: Values }> {
  const { caller, match, selection, raw, incoming } = request;
  const { endpoint, pathParams } = match;
  const endpointParams = acceptedParams(endpoint, caller.settings);
  const params = 'slug' in pathParams && selection.id === 0 ? withUnknownSlug(endpointParams) : endpointParams;
  if (isReadEndpoint(endpoint))
    await checkRecordPassword(site, raw.password, { address: incoming.req.ip ?? '', findNamedPost: () => findNamedPost(request) });
  return { params, values: { ...(await acceptParams(site, caller, params, raw, endpoint.mode)), ...selection } };
}

/**
 * Returns the id of the post that the path names: a record of the calendar, or a blog post or page, whose routes have
 * no kind but declare the password. Undefined for lists and for all other routes.
 */
async function findNamedPost({ caller, match, selection: { id }, lookUp }: EndpointRequest): Promise<number | undefined> {
  const { kind } = match.route;
  if (id === undefined) return undefined;
  if (kind === undefined) return 'password' in match.endpoint.params ? id : undefined;
  return 'postType' in kind ? postOfRecord(lookUp, caller, kind, id) : undefined;
}

async function runAllowed(site: Site, request: ParsedRequest, values: Values): Promise<Reply> {
  const { match, body, incoming } = request;
  const { upload, getsRequest } = match.endpoint;
  await checkAllowed(request, values);
  const extraValues = { ...(upload ? { upload: uploadIn(incoming.req, body) } : {}), ...(getsRequest ? { received: request } : {}) };
  return runHandler(site, request, { ...values, ...extraValues });
}

/** Refuses the request if the caller may not make it. */
async function checkAllowed({ caller, match: { endpoint }, lookUp, incoming }: ParsedRequest, values: Values): Promise<void> {
  const verdict = await verdictOf(lookUp, caller, endpoint, values);
  // WordPress refuses to publish only while it writes, after the check of permissions that `Allow` depends on.
  if (verdict !== true) refuse(caller.viewer, verdict || undefined, { notAllowed: verdict !== 'rest_cannot_publish' });
  if (endpoint.acknowledgementHeader !== undefined && !incoming.req.get(endpoint.acknowledgementHeader))
    fail('missing_experimental_endpoint_acknowledgement');
}

/** Prepares what must happen before the transaction, then runs the handler. */
async function runHandler(site: Site, request: ParsedRequest, values: Values): Promise<Reply> {
  const { endpoint } = request.match;
  const preparedValues = endpoint.prepare ? await endpoint.prepare(site, request.caller, values) : values;
  const run = (innerSite: Site) => runChecked(innerSite, request, preparedValues);
  const reply =
    endpoint.readyReply?.(site, preparedValues) ??
    (await (isReadEndpoint(endpoint) ? run(site) : withImageCleanup(site, preparedValues, run)));
  if (isReplayed(reply)) await discardImages(preparedValues);
  await reply.afterCommit?.();
  return reply;
}

/**
 * Runs the handler itself. For a write with preconditions or a key, the check of the record, the write and the storing
 * of its answer share one transaction.
 */
function runChecked(site: Site, { incoming, caller, match, key }: ParsedRequest, preparedValues: Values): Promise<Reply> {
  const { endpoint, route } = match;
  const conditions = isReadEndpoint(endpoint) ? undefined : preconditionsOf(incoming.req.headers);
  const { lockVersion } = route;
  const callerWithConditions = conditions && !lockVersion ? { ...caller, conditions } : caller;
  const run = (innerSite: Site) => endpoint.run(innerSite, callerWithConditions, preparedValues);
  const runWithPreconditions = (innerSite: Site) =>
    conditions && lockVersion
      ? withPreconditions(innerSite, caller, lockVersion, { id: Number(preparedValues.id), conditions }, run)
      : run(innerSite);
  if (!key) return runWithPreconditions(site);
  const { secret } = endpoint;
  const toStored = (reply: Reply) => (typeof secret === 'object' ? withoutSecret(reply, secret) : reply);
  return site.db.transaction((db) =>
    runAndStoreAnswer(db, key, caller.now, { work: () => runWithPreconditions({ ...site, db }), toStored }),
  );
}

// ------------------------------------------------------------------------------------------------- writes of a batch
/** A write of a batch that was accepted but has not run yet. */
export interface AcceptedWrite {
  readonly request: ParsedRequest;
  readonly params: Params;
  readonly values: Values;
}

/**
 * Accepts a write of a batch without running it. Returns the stored answer instead if a write with the same key was
 * answered before.
 *
 * @throws rest_no_route, batch-not-allowed, rest_missing_callback_param, rest_invalid_param, idempotency-key-reused
 */
export async function acceptWrite(site: Site, receivedRequest: ReceivedRequest): Promise<AcceptedWrite | Reply> {
  const { incoming, body } = receivedRequest;
  const match = isSwitchedOff(site, incoming) ? undefined : incoming.match;
  if (!match || !hasEndpoint(match)) return fail('rest_no_route');
  const { endpoint, pathParams } = match;
  if (isReadEndpoint(endpoint) || endpoint.upload || endpoint.secret || endpoint.getsRequest) fail('batch-not-allowed');
  const raw = mergeParams({ query: incoming.query, body, path: selectingParams(endpoint, pathParams), method: incoming.method });
  const key = keyOfWrite(receivedRequest, match, raw);
  const earlierReply = key && (await earlierAnswer(site, key, receivedRequest.caller.now));
  if (earlierReply) return earlierReply;
  const request: ParsedRequest = {
    ...receivedRequest,
    match,
    selection: await select(site, match, receivedRequest.caller),
    lookUp: lookUpOnce(site.db),
    raw,
    key,
  };
  const work = async () => ({ request, ...(await accept(site, request)) });
  return key ? unlessAnswered(site, key, receivedRequest.caller.now, work) : work();
}

/** Refuses an accepted write, before it runs, if the caller may not make it. Throws what `runWrite` would. */
export const checkAccepted = ({ request, params, values }: AcceptedWrite): Promise<void> =>
  withExplainedErrors(params, request.raw, () => checkAllowed(request, values));

/**
 * Runs an accepted write in the transaction of `site`. The caller has to discard fetched files if the transaction
 * fails.
 *
 * @throws any error that the write alone would be refused with
 */
export const runWrite = (site: Site, { request, params, values }: AcceptedWrite): Promise<Reply> =>
  withExplainedErrors(params, request.raw, async () => {
    const freshRequest = { ...request, lookUp: lookUpOnce(site.db) };
    const work = async () => {
      await checkAllowed(freshRequest, values);
      return runChecked(site, freshRequest, values);
    };
    const { key, caller } = request;
    return key ? unlessAnswered(site, key, caller.now, work) : work();
  });

/** Whether two consecutive writes of a batch can be carried out together. */
export const canRunTogether = (one: AcceptedWrite, next: AcceptedWrite): boolean =>
  one.request.match.endpoint === next.request.match.endpoint &&
  [one, next].every(canJoinOthers) &&
  isSameCaller(one.request.caller, next.request.caller);

const canJoinOthers = ({ request: { match, key }, values }: AcceptedWrite): boolean =>
  key === undefined && match.route.lockVersion === undefined && match.endpoint.runTogether?.accepts(values) === true;

/** Whether two requests of a batch have callers that get the same answers. */
const isSameCaller = (one: Caller, other: Caller): boolean => {
  const keyOf = ({ home, namespace, language, content }: Caller) => keyText([home, namespace, language, content]);
  return one.viewer === other.viewer && keyOf(one) === keyOf(other);
};

/**
 * Runs writes that `canRunTogether` accepted, in the transaction of `site`.
 *
 * @throws Error if one of them would be refused
 */
export async function runWritesTogether(site: Site, writes: readonly AcceptedWrite[]): Promise<Reply[]> {
  const lookUp = lookUpOnce(site.db);
  for (const { request, values } of writes) await checkAllowed({ ...request, lookUp }, values);
  const [{ request }] = writes as readonly [AcceptedWrite];
  return request.match.endpoint.runTogether!.run(
    site,
    request.caller,
    writes.map(({ values }) => values),
  );
}

/** Returns all parameters that an endpoint accepts on a site, whether they are described or not. */
export function acceptedParams(endpoint: ServedEndpoint, settings: SiteSettings): Params {
  const siteParams = endpoint.siteParams?.(settings) ?? {};
  // Most sites add no parameters, and the merged parameters of an endpoint are computed once.
  return Object.keys(siteParams).length === 0 ? siteIndependentParams(endpoint) : { ...siteIndependentParams(endpoint), ...siteParams };
}

const siteIndependentParams = memoizeByObject(({ params, unlistedParams }: ServedEndpoint): Params => ({ ...params, ...unlistedParams }));

/** Returns the requested context, since permissions may depend on it. */
const requestedContext = ({ query: { context } }: IncomingRequest): Values => (context === 'edit' ? { context } : {});

function refuseJson({ texts }: Site, { language }: Caller, { code, reason }: JsonFault): never {
  const message = texts.t(language, [`reasons:${reason}`, 'problems:rest_invalid_json']);
  return fail('rest_invalid_json', { data: { json_error_code: code, json_error_message: message } });
}

/**
 * Returns the id of the record that the path names, 0 if there is no such record, or nothing for routes that name no
 * record.
 */
async function select(site: Site, { route, pathParams: { id, slug } }: RouteMatch, caller: Caller): Promise<Partial<Selected>> {
  if (slug !== undefined) return { id: slug.length > MAX_BYTES.slug ? 0 : ((await route.select?.(site, slug, caller)) ?? 0) };
  return id === undefined ? {} : { id: Number.isSafeInteger(Number(id)) ? Number(id) : 0 };
}

type EndpointMatch = RouteMatch & { readonly endpoint: ServedEndpoint };
const hasEndpoint = (match: RouteMatch): match is EndpointMatch => match.endpoint !== undefined;

/**
 * Returns the parts of the path that select the record, which are those that the handler requires. A parameter of the
 * same name that the handler does not require is a field.
 */
const selectingParams = ({ params }: Endpoint, pathParams: RouteMatch['pathParams']): RawParams =>
  Object.fromEntries(Object.entries(pathParams).filter(([name]) => params[name]?.required));

/** Returns the parts of the path as the handlers accept them, with numeric parts as numbers. */
const pathValues = ({ route, pathParams }: RouteMatch): Values =>
  Object.fromEntries(
    Object.entries(pathParams).map(([name, segment]) => {
      const param = route.endpoints.find(({ params }) => params[name]?.required)?.params[name];
      return [name, param?.grammar.read(segment, () => false).value ?? segment];
    }),
  );

/**
 * Replaces the slug's grammar by one that refuses it, if the slug belongs to no record. It is then reported together
 * with all other invalid parameters.
 */
const withUnknownSlug = (params: Params): Params =>
  params.slug?.required
    ? {
        ...params,
        slug: { ...params.slug, grammar: { ...params.slug.grammar, read: () => ({ fault: { stage: 'value', reason: 'slug-unknown' } }) } },
      }
    : params;

const verdictOf = async (lookUp: LookUp, caller: Caller, { allow }: Endpoint, values: Values): Promise<Verdict> =>
  allow === 'anyone' || allow(lookUp, caller, values);

/**
 * Returns an empty `Allow` if the database is lost. The answer is ready, perhaps to a write, and must not be replaced
 * by a 503.
 */
function emptyIfDatabaseLost(error: unknown): string {
  if (error instanceof DatabaseUnavailable) return '';
  throw error;
}

/** Lists the methods whose permission check passes, in order of registration (WordPress `rest_send_allow_header`). */
async function allowedMethods(lookUp: LookUp, caller: Caller, endpoints: readonly Endpoint[], values: Values): Promise<string> {
  const methods = await Promise.all(
    endpoints.map(async (endpoint) => ((await verdictOf(lookUp, caller, endpoint, values)) === true ? endpoint.methods : [])),
  );
  return methods.flat().join(', ');
}
