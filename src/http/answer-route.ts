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
  readonly found: EndpointMatch;
  /** The record that the path names. */
  readonly selected: Partial<Selected>;
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
export async function answerRoute(site: Site, received: ReceivedRequest): Promise<LinkedReply> {
  const { incoming, caller } = received;
  const found = isSwitchedOff(site, incoming) ? undefined : incoming.found;
  if (!found) return incoming.method === 'OPTIONS' ? ok([]) : fail('rest_no_route');

  const selected = await select(site, found, caller);
  const lookUp = lookUpOnce(site.db);
  let reply: LinkedReply;
  let refused: Endpoint | undefined;
  try {
    reply = hasEndpoint(found)
      ? await handle(site, { ...received, found, selected, lookUp })
      : descriptionReply(describeRoute(site, caller, found.route, incoming.namespace === undefined ? '' : caller.namespace));
  } catch (error) {
    if (error instanceof ApiError && error.details.notAllowed) refused = found.endpoint;
    reply = toProblemReply(site, incoming.req, caller.language, error);
  }
  // After a write the permissions are looked up again, since the record may be in the trash or gone.
  const after = hasEndpoint(found) && !isReadEndpoint(found.endpoint) ? lookUpOnce(site.db) : lookUp;
  const asked = { ...requestedContext(incoming), ...pathValues(found), ...selected };
  const endpoints = found.route.endpoints.filter((endpoint) => endpoint !== refused);
  const allowed = await allowedMethods(after, caller, endpoints, asked).catch(emptyIfDatabaseLost);
  const warnings =
    hasEndpoint(found) && isOwn(site, incoming)
      ? warningHeader(site, received, found, acceptedParams(found.endpoint, caller.settings))
      : {};
  const { kind: about, indivisible } = found.route;
  const embeds = incoming.namespace === 'wp/v2' ? Object.hasOwn(incoming.query, '_embed') : undefined;
  return {
    ...reply,
    about,
    indivisible,
    embeds,
    headers: { ...reply.headers, ...warnings, ...(allowed === '' ? {} : { Allow: allowed }) },
  };
}

/** Whether the calendar's settings switch off the routes of its own namespaces. */
const isSwitchedOff = (site: Site, incoming: IncomingRequest): boolean => incoming.settings.calendar.restDisabled && isOwn(site, incoming);

/** Whether a request goes to the calendar's own namespaces. */
const isOwn = ({ config }: Site, { namespace = '' }: IncomingRequest): boolean => servedNamespaces(config).includes(namespace);

const isReadEndpoint = ({ methods }: Endpoint): boolean => methods.includes('GET');

/**
 * Runs one endpoint. Checks the body first, then whether the same request was answered before, then everything else.
 */
async function handle(site: Site, asked: EndpointRequest): Promise<LinkedReply> {
  const { caller, found, body } = asked;
  const { query, method } = asked.incoming;
  const { endpoint, pathParams } = found;
  if (body.fault) refuseJson(site, caller, body.fault);
  const raw = mergeParams({ query, body, path: selectingParams(endpoint, pathParams), method });
  const { secret } = endpoint;
  const key = secret === 'never-again' ? undefined : keyOfWrite(asked, found, raw);
  const work = () => checkAndRun(site, { ...asked, raw, key });
  const answered = await (key ? answerOnce(site, key, caller.now, work) : work());
  const reply = isReplayed(answered) && typeof secret === 'object' ? await withSecret(site, caller, answered, secret) : answered;
  const { acknowledgementHeader } = endpoint;
  return acknowledgementHeader === undefined
    ? reply
    : { ...reply, headers: { ...reply.headers, Vary: `${VARY}, ${acknowledgementHeader}` } };
}

/** Checks parameters and permission, then runs the handler. */
async function checkAndRun(site: Site, asked: ParsedRequest): Promise<LinkedReply> {
  const { caller, raw } = asked;
  const { query, path } = asked.incoming;
  const { params, values } = await accept(site, asked);
  const run = (own: Site) => runAllowed(own, asked, values);
  const reply = await withExplainedErrors(params, raw, () =>
    isReadEndpoint(asked.found.endpoint) ? run(site) : withImageCleanup(site, values, run),
  );
  const link = reply.paging && neighbourLinks(caller, path.slice(1), query, values, reply.paging);
  return link === undefined ? reply : { ...reply, headers: { ...reply.headers, Link: link } };
}

/** Returns the accepted values of a request, and the parameters that accepted them. */
async function accept(site: Site, { caller, found, selected, raw, incoming }: ParsedRequest): Promise<{ params: Params; values: Values }> {
  const { endpoint, pathParams } = found;
  const accepted = acceptedParams(endpoint, caller.settings);
  const params = 'slug' in pathParams && selected.id === 0 ? withUnknownSlug(accepted) : accepted;
  if (isReadEndpoint(endpoint)) await checkRecordPassword(site, raw.password, incoming.req.ip ?? '');
  return { params, values: { ...(await acceptParams(site, caller, params, raw, endpoint.mode)), ...selected } };
}

async function runAllowed(site: Site, asked: ParsedRequest, values: Values): Promise<Reply> {
  const { found, body, incoming } = asked;
  const { upload, getsRequest } = found.endpoint;
  await checkAllowed(asked, values);
  const more = { ...(upload ? { upload: uploadIn(incoming.req, body) } : {}), ...(getsRequest ? { received: asked } : {}) };
  return runHandler(site, asked, { ...values, ...more });
}

/** Refuses the request if the caller may not make it. */
async function checkAllowed({ caller, found: { endpoint }, lookUp, incoming }: ParsedRequest, values: Values): Promise<void> {
  const verdict = await verdictOf(lookUp, caller, endpoint, values);
  if (verdict !== true) refuse(caller.viewer, verdict || undefined, { notAllowed: true });
  if (endpoint.acknowledgementHeader !== undefined && !incoming.req.get(endpoint.acknowledgementHeader))
    fail('missing_experimental_endpoint_acknowledgement');
}

/** Prepares what must happen before the transaction, then runs the handler. */
async function runHandler(site: Site, asked: ParsedRequest, values: Values): Promise<Reply> {
  const { endpoint } = asked.found;
  const prepared = endpoint.prepare ? await endpoint.prepare(site, asked.caller, values) : values;
  const run = (own: Site) => runChecked(own, asked, prepared);
  const reply = await (isReadEndpoint(endpoint) ? run(site) : withImageCleanup(site, prepared, run));
  if (isReplayed(reply)) await discardImages(prepared);
  await reply.afterCommit?.();
  return reply;
}

/**
 * Runs the handler itself. For a write with preconditions or a key, the check of the record, the write and the storing
 * of its answer share one transaction.
 */
function runChecked(site: Site, { incoming, caller, found, key }: ParsedRequest, prepared: Values): Promise<Reply> {
  const { endpoint, route } = found;
  const conditions = isReadEndpoint(endpoint) ? undefined : preconditionsOf(incoming.req.headers);
  const { lockVersion } = route;
  const callerWithConditions = conditions && !lockVersion ? { ...caller, conditions } : caller;
  const run = (inside: Site) => endpoint.run(inside, callerWithConditions, prepared);
  const allowed = (inside: Site) =>
    conditions && lockVersion ? withPreconditions(inside, caller, lockVersion, { id: Number(prepared.id), conditions }, run) : run(inside);
  if (!key) return allowed(site);
  const { secret } = endpoint;
  const kept = (reply: Reply) => (typeof secret === 'object' ? withoutSecret(reply, secret) : reply);
  return site.db.transaction((db) => runAndStoreAnswer(db, key, caller.now, { work: () => allowed({ ...site, db }), kept }));
}

// ------------------------------------------------------------------------------------------------- writes of a batch
/** A write of a batch that was accepted but has not run yet. */
export interface AcceptedWrite {
  readonly asked: ParsedRequest;
  readonly params: Params;
  readonly values: Values;
}

/**
 * Accepts a write of a batch without running it. Returns the stored answer instead if a write with the same key was
 * answered before.
 *
 * @throws rest_no_route, batch-not-allowed, rest_missing_callback_param, rest_invalid_param, idempotency-key-reused
 */
export async function acceptWrite(site: Site, received: ReceivedRequest): Promise<AcceptedWrite | Reply> {
  const { incoming, body } = received;
  const found = isSwitchedOff(site, incoming) ? undefined : incoming.found;
  if (!found || !hasEndpoint(found)) return fail('rest_no_route');
  const { endpoint, pathParams } = found;
  if (isReadEndpoint(endpoint) || endpoint.upload || endpoint.secret || endpoint.getsRequest) fail('batch-not-allowed');
  const raw = mergeParams({ query: incoming.query, body, path: selectingParams(endpoint, pathParams), method: incoming.method });
  const key = keyOfWrite(received, found, raw);
  const earlier = key && (await earlierAnswer(site, key, received.caller.now));
  if (earlier) return earlier;
  const asked: ParsedRequest = {
    ...received,
    found,
    selected: await select(site, found, received.caller),
    lookUp: lookUpOnce(site.db),
    raw,
    key,
  };
  const accepting = async () => ({ asked, ...(await accept(site, asked)) });
  return key ? unlessAnswered(site, key, received.caller.now, accepting) : accepting();
}

/**
 * Runs an accepted write in the transaction of `site`. The caller has to discard fetched files if the transaction
 * fails.
 *
 * @throws any error that the write alone would be refused with
 */
export const runWrite = (site: Site, { asked, params, values }: AcceptedWrite): Promise<Reply> =>
  withExplainedErrors(params, asked.raw, async () => {
    const inside = { ...asked, lookUp: lookUpOnce(site.db) };
    const work = async () => {
      await checkAllowed(inside, values);
      return runChecked(site, inside, values);
    };
    const { key, caller } = asked;
    return key ? unlessAnswered(site, key, caller.now, work) : work();
  });

/** Whether two consecutive writes of a batch can be carried out together. */
export const canRunTogether = (one: AcceptedWrite, next: AcceptedWrite): boolean =>
  one.asked.found.endpoint === next.asked.found.endpoint &&
  [one, next].every(canJoinOthers) &&
  isSameCaller(one.asked.caller, next.asked.caller);

const canJoinOthers = ({ asked: { found, key }, values }: AcceptedWrite): boolean =>
  key === undefined && found.route.lockVersion === undefined && found.endpoint.runTogether?.accepts(values) === true;

/** Whether two requests of a batch have callers that get the same answers. */
const isSameCaller = (one: Caller, other: Caller): boolean => {
  const asked = ({ home, namespace, language, content }: Caller) => JSON.stringify([home, namespace, language, content]);
  return one.viewer === other.viewer && asked(one) === asked(other);
};

/**
 * Runs writes that `canRunTogether` accepted, in the transaction of `site`.
 *
 * @throws Error if one of them would be refused
 */
export async function runWritesTogether(site: Site, writes: readonly AcceptedWrite[]): Promise<Reply[]> {
  const lookUp = lookUpOnce(site.db);
  for (const { asked, values } of writes) await checkAllowed({ ...asked, lookUp }, values);
  const [{ asked }] = writes as readonly [AcceptedWrite];
  return asked.found.endpoint.runTogether!.run(
    site,
    asked.caller,
    writes.map(({ values }) => values),
  );
}

/** Returns all parameters that an endpoint accepts on a site, whether they are described or not. */
export function acceptedParams(endpoint: ServedEndpoint, settings: SiteSettings): Params {
  const added = endpoint.onSite?.(settings) ?? {};
  // Most sites add no parameters, and the merged parameters of an endpoint are computed once.
  return Object.keys(added).length === 0 ? siteIndependentParams(endpoint) : { ...siteIndependentParams(endpoint), ...added };
}

const siteIndependentParams = memoizeByObject(({ params, unlisted }: ServedEndpoint): Params => ({ ...params, ...unlisted }));

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
const hasEndpoint = (found: RouteMatch): found is EndpointMatch => found.endpoint !== undefined;

/**
 * Returns the parts of the path that select the record, which are those that the handler requires. A parameter of the
 * same name that the handler does not require is a field.
 */
const selectingParams = ({ params }: Endpoint, pathParams: RouteMatch['pathParams']): RawParams =>
  Object.fromEntries(Object.entries(pathParams).filter(([name]) => params[name]?.required));

/** Returns the parts of the path as the handlers accept them, with numeric parts as numbers. */
const pathValues = ({ route, pathParams }: RouteMatch): Values =>
  Object.fromEntries(
    Object.entries(pathParams).map(([name, piece]) => {
      const declared = route.endpoints.find(({ params }) => params[name]?.required)?.params[name];
      return [name, declared?.grammar.read(piece, () => false).value ?? piece];
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
async function allowedMethods(lookUp: LookUp, caller: Caller, endpoints: readonly Endpoint[], selected: Values): Promise<string> {
  const allowed = await Promise.all(
    endpoints.map(async (endpoint) => ((await verdictOf(lookUp, caller, endpoint, selected)) === true ? endpoint.methods : [])),
  );
  return allowed.flat().join(', ');
}
