import { checkRecordPassword } from '../accounts/record-passwords.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { servedNamespaces } from '../config/config.ts';
import { ApiError, fail, refuse, type Verdict } from '../errors.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import type { Params, Selected, Values } from '../kinds/param.ts';
import { memoizeByObject } from '../memo.ts';
import type { Caller } from '../records/caller.ts';
import { withExplainedErrors } from '../records/explanation.ts';
import { acceptParams } from '../records/input.ts';
import { postOfRecord } from '../records/occurrences.ts';
import { withPreconditions } from '../records/versions.ts';
import { discardImages, withFileCleanup, withImageCleanup } from '../records/writes/prepared-images.ts';
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
import { isForeignPage } from './same-origin.ts';
import { uploadIn } from './upload.ts';
import { warningHeader } from './warnings.ts';
import { answerOnce, isReplayed, keyOfWrite, runAndStoreAnswer, withoutSecret, withSecret } from './write-once.ts';

/** A request that leads to an endpoint. */
interface EndpointRequest extends ReceivedRequest {
  readonly match: EndpointMatch;
  /** The record that the path names. */
  readonly selection: Partial<Selected>;
  /** Cached look-ups for the permission checks that run before anything is written. */
  readonly lookUp: LookUp;
}

/** The same request with its parameters merged, and the idempotency key of a write. */
export interface ParsedRequest extends EndpointRequest {
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
export const isSwitchedOff = (site: Site, incoming: IncomingRequest): boolean =>
  incoming.settings.calendar.restDisabled && isOwn(site, incoming);

/** Whether a request goes to the calendar's own namespaces. */
const isOwn = ({ config }: Site, { namespace = '' }: IncomingRequest): boolean => servedNamespaces(config).includes(namespace);

/** Whether an endpoint only reads. */
export const isReadEndpoint = ({ methods }: Endpoint): boolean => methods.includes('GET');

/**
 * Runs one endpoint. Checks the body first, then whether the same request was answered before, then everything else.
 */
async function handle(site: Site, request: EndpointRequest): Promise<LinkedReply> {
  const { caller, match, body } = request;
  if (body.fault) refuseJson(site, caller, body.fault);
  const parts = parsed(request, match);
  const { key } = parts;
  const work = () => checkAndRun(site, { ...request, ...parts });
  const { secret, acknowledgementHeader } = match.endpoint;
  const outcome = await (key ? answerOnce(site, key, caller.now, work) : work());
  const reply = isReplayed(outcome) && typeof secret === 'object' ? await withSecret(site, caller, outcome, secret) : outcome;
  return acknowledgementHeader === undefined
    ? reply
    : { ...reply, headers: { ...reply.headers, Vary: `${VARY}, ${acknowledgementHeader}` } };
}

/** Returns the merged parameters of a request, and its idempotency key if it is a write whose answer may be stored. */
export function parsed(request: ReceivedRequest, match: EndpointMatch): Pick<ParsedRequest, 'raw' | 'key'> {
  const { endpoint, pathParams } = match;
  const { query, method } = request.incoming;
  const raw = mergeParams({ query, body: request.body, path: selectingParams(endpoint, pathParams), method });
  return { raw, key: endpoint.secret === 'never-again' ? undefined : keyOfWrite(request, match, raw) };
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
export async function accept(site: Site, request: ParsedRequest): Promise<{ params: Params; values: Values }> {
  const { caller, match, selection, raw, incoming } = request;
  const { endpoint, pathParams } = match;
  const endpointParams = acceptedParams(endpoint, caller.settings);
  const params = 'slug' in pathParams && selection.id === 0 ? withUnknownSlug(endpointParams) : endpointParams;
  if (isReadEndpoint(endpoint))
    await checkRecordPassword(site, raw.password, {
      address: incoming.req.ip ?? '',
      isForeignPage: isForeignPage(incoming.req, incoming.settings.home),
      findNamedPost: () => findNamedPost(request),
    });
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
export async function checkAllowed({ caller, match: { endpoint }, lookUp, incoming }: ParsedRequest, values: Values): Promise<void> {
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
  const discard = () => endpoint.discard?.(preparedValues) ?? discardImages(preparedValues);
  const reply =
    endpoint.readyReply?.(site, preparedValues) ?? (await (isReadEndpoint(endpoint) ? run(site) : withFileCleanup(site, run, discard)));
  if (isReplayed(reply)) await discard();
  await reply.afterCommit?.();
  return reply;
}

/**
 * Runs the handler itself. For a write with preconditions or a key, the check of the record, the write and the storing
 * of its answer share one transaction.
 */
export function runChecked(site: Site, { incoming, caller, match, key }: ParsedRequest, preparedValues: Values): Promise<Reply> {
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
export async function select(site: Site, { route, pathParams: { id, slug } }: RouteMatch, caller: Caller): Promise<Partial<Selected>> {
  if (slug !== undefined) return { id: slug.length > MAX_BYTES.slug ? 0 : ((await route.select?.(site, slug, caller)) ?? 0) };
  return id === undefined ? {} : { id: Number.isSafeInteger(Number(id)) ? Number(id) : 0 };
}

type EndpointMatch = RouteMatch & { readonly endpoint: ServedEndpoint };

/** Whether a route has an endpoint for the method of the request. */
export const hasEndpoint = (match: RouteMatch): match is EndpointMatch => match.endpoint !== undefined;

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
