import { admitRecordPassword } from '../accounts/record-passwords.ts';
import type { SiteSettings } from '../calendar/settings.ts';
import { servedNamespaces } from '../config/config.ts';
import { ApiError, fail, refuse, type Verdict } from '../errors.ts';
import { LENGTHS } from '../kinds/grammars/grammar.ts';
import type { Params, Selected, Values } from '../kinds/param.ts';
import { memoizeByObject } from '../memo.ts';
import type { Caller } from '../records/caller.ts';
import { explaining } from '../records/explanation.ts';
import { acceptParams } from '../records/input.ts';
import { onlyIf } from '../records/versions.ts';
import { discardImages, discardingImages } from '../records/writes/prepared-images.ts';
import type { Site } from '../site.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import { type LookUp, lookUpOnce } from '../storage/engine/look-up-once.ts';
import type { AnswerKey } from '../storage/rows/kept-answers.ts';
import type { JsonFault } from '../wordpress/json.ts';
import { describeRoute } from './describe.ts';
import type { ServedEndpoint } from './endpoint.ts';
import { mergeParams, type Raw } from './input.ts';
import { neighbourLinks } from './neighbours.ts';
import { preconditionsOf } from './preconditions.ts';
import { problemOf } from './problem.ts';
import { VARY } from './protocol.ts';
import type { Received } from './receive.ts';
import { described, type LinkedReply, ok } from './reply.ts';
import type { Incoming } from './request.ts';
import type { Endpoint, Reply } from './route.ts';
import type { RouteMatch } from './routing.ts';
import { uploadIn } from './upload.ts';
import { warningHeader } from './warnings.ts';
import { answerOnce, earlierAnswer, isReplay, keyOfWrite, orEarlierAnswer, runAndKeep, withoutSecret, withSecret } from './write-once.ts';

/** A request that leads to an endpoint. */
interface Asked extends Received {
  readonly found: Handled;
  /** The record that the path names. */
  readonly selected: Partial<Selected>;
  /** Cached look-ups for the permission checks that run before anything is written. */
  readonly lookUp: LookUp;
}

/** The same request with its parameters merged, and the idempotency key of a write. */
interface Parsed extends Asked {
  readonly raw: Raw;
  readonly key: AnswerKey | undefined;
}

/**
 * Answers a request with the route that it leads to, and adds the methods that this caller may use on it (`Allow`).
 *
 * @throws rest_no_route; all other errors are returned as answers
 */
export async function answerRoute(site: Site, received: Received): Promise<LinkedReply> {
  const { incoming, caller } = received;
  const found = isSwitchedOff(site, incoming) ? undefined : incoming.found;
  if (!found) return incoming.method === 'OPTIONS' ? ok([]) : fail('rest_no_route');

  const selected = await select(site, found, caller);
  const lookUp = lookUpOnce(site.db);
  let reply: LinkedReply;
  let refused: Endpoint | undefined;
  try {
    reply = isHandled(found)
      ? await handle(site, { ...received, found, selected, lookUp })
      : described(describeRoute(site, caller, found.route, incoming.namespace === undefined ? '' : caller.namespace));
  } catch (error) {
    if (error instanceof ApiError && error.details.notAllowed) refused = found.endpoint;
    reply = problemOf(site, incoming.req, caller.language, error);
  }
  // After a write the permissions are looked up again, since the record may be in the trash or gone.
  const after = isHandled(found) && !isReading(found.endpoint) ? lookUpOnce(site.db) : lookUp;
  const asked = { ...askedContext(incoming), ...acceptedPieces(found), ...selected };
  const endpoints = found.route.endpoints.filter((endpoint) => endpoint !== refused);
  const allowed = await allowedMethods(after, caller, endpoints, asked).catch(emptyIfLost);
  const warnings =
    isHandled(found) && isOwn(site, incoming) ? warningHeader(site, received, found, acceptedParams(found.endpoint, caller.settings)) : {};
  const { kind: about, undivided } = found.route;
  const embeds = incoming.namespace === 'wp/v2' ? Object.hasOwn(incoming.query, '_embed') : undefined;
  return { ...reply, about, undivided, embeds, headers: { ...reply.headers, ...warnings, ...(allowed === '' ? {} : { Allow: allowed }) } };
}

/** Whether the calendar's settings switch off the routes of its own namespaces. */
const isSwitchedOff = (site: Site, incoming: Incoming): boolean => incoming.settings.calendar.restDisabled && isOwn(site, incoming);

/** Whether a request goes to the calendar's own namespaces. */
const isOwn = ({ config }: Site, { namespace = '' }: Incoming): boolean => servedNamespaces(config).includes(namespace);

const isReading = ({ methods }: Endpoint): boolean => methods.includes('GET');

/**
 * Runs one endpoint. Checks the body first, then whether the same request was answered before, then everything else.
 */
async function handle(site: Site, asked: Asked): Promise<LinkedReply> {
  const { caller, found, body } = asked;
  const { query, method } = asked.incoming;
  const { endpoint, pieces } = found;
  if (body.fault) refuseJson(site, caller, body.fault);
  const raw = mergeParams({ query, body, path: selectors(endpoint, pieces), method });
  const { secret } = endpoint;
  const key = secret === 'never-again' ? undefined : keyOfWrite(asked, found, raw);
  const work = () => checkAndRun(site, { ...asked, raw, key });
  const answered = await (key ? answerOnce(site, key, caller.now, work) : work());
  const reply = isReplay(answered) && typeof secret === 'object' ? await withSecret(site, caller, answered, secret) : answered;
  const { acknowledged } = endpoint;
  return acknowledged === undefined ? reply : { ...reply, headers: { ...reply.headers, Vary: `${VARY}, ${acknowledged}` } };
}

/** Checks parameters and permission, then runs the handler. */
async function checkAndRun(site: Site, asked: Parsed): Promise<LinkedReply> {
  const { caller, raw } = asked;
  const { query, path } = asked.incoming;
  const { params, values } = await accept(site, asked);
  const run = (own: Site) => runAllowed(own, asked, values);
  const reply = await explaining(params, raw, () => (isReading(asked.found.endpoint) ? run(site) : discardingImages(site, values, run)));
  const link = reply.paging && neighbourLinks(caller, path.slice(1), query, values, reply.paging);
  return link === undefined ? reply : { ...reply, headers: { ...reply.headers, Link: link } };
}

/** Returns the accepted values of a request, and the parameters that accepted them. */
async function accept(site: Site, { caller, found, selected, raw, incoming }: Parsed): Promise<{ params: Params; values: Values }> {
  const { endpoint, pieces } = found;
  const accepted = acceptedParams(endpoint, caller.settings);
  const params = 'slug' in pieces && selected.id === 0 ? withUnknownSlug(accepted) : accepted;
  if (isReading(endpoint)) await admitRecordPassword(site, raw.password, incoming.req.ip ?? '');
  return { params, values: { ...(await acceptParams(site, caller, params, raw, endpoint.mode)), ...selected } };
}

async function runAllowed(site: Site, asked: Parsed, values: Values): Promise<Reply> {
  const { found, body, incoming } = asked;
  const { upload, forwards } = found.endpoint;
  await checkAllowed(asked, values);
  const more = { ...(upload ? { upload: uploadIn(incoming.req, body) } : {}), ...(forwards ? { received: asked } : {}) };
  return runHandler(site, asked, { ...values, ...more });
}

/** Refuses the request if the caller may not make it. */
async function checkAllowed({ caller, found: { endpoint }, lookUp, incoming }: Parsed, values: Values): Promise<void> {
  const verdict = await verdictOf(lookUp, caller, endpoint, values);
  if (verdict !== true) refuse(caller.viewer, verdict || undefined, { notAllowed: true });
  if (endpoint.acknowledged !== undefined && !incoming.req.get(endpoint.acknowledged))
    fail('missing_experimental_endpoint_acknowledgement');
}

/** Prepares what must happen before the transaction, then runs the handler. */
async function runHandler(site: Site, asked: Parsed, values: Values): Promise<Reply> {
  const { endpoint } = asked.found;
  const prepared = endpoint.prepare ? await endpoint.prepare(site, asked.caller, values) : values;
  const run = (own: Site) => runSafely(own, asked, prepared);
  const reply = await (isReading(endpoint) ? run(site) : discardingImages(site, prepared, run));
  if (isReplay(reply)) await discardImages(prepared);
  await reply.afterwards?.();
  return reply;
}

/**
 * Runs the handler itself. For a write with preconditions or a key, the check of the record, the write and the storing
 * of its answer share one transaction.
 */
function runSafely(site: Site, { incoming, caller, found, key }: Parsed, prepared: Values): Promise<Reply> {
  const { endpoint, route } = found;
  const conditions = isReading(endpoint) ? undefined : preconditionsOf(incoming.req.headers);
  const { lockVersion } = route;
  const asking = conditions && !lockVersion ? { ...caller, conditions } : caller;
  const run = (inside: Site) => endpoint.run(inside, asking, prepared);
  const allowed = (inside: Site) =>
    conditions && lockVersion ? onlyIf(inside, caller, lockVersion, { id: Number(prepared.id), conditions }, run) : run(inside);
  if (!key) return allowed(site);
  const { secret } = endpoint;
  const kept = (reply: Reply) => (typeof secret === 'object' ? withoutSecret(reply, secret) : reply);
  return site.db.transaction((db) => runAndKeep(db, key, caller.now, { work: () => allowed({ ...site, db }), kept }));
}

// ------------------------------------------------------------------------------------------------- writes of a batch
/** A write of a batch that was accepted but has not run yet. */
export interface Accepted {
  readonly asked: Parsed;
  readonly params: Params;
  readonly values: Values;
}

/**
 * Accepts a write of a batch without running it. Returns the stored answer instead if a write with the same key was
 * answered before.
 *
 * @throws rest_no_route, batch-not-allowed, rest_missing_callback_param, rest_invalid_param, idempotency-key-reused
 */
export async function acceptWrite(site: Site, received: Received): Promise<Accepted | Reply> {
  const { incoming, body } = received;
  const found = isSwitchedOff(site, incoming) ? undefined : incoming.found;
  if (!found || !isHandled(found)) return fail('rest_no_route');
  const { endpoint, pieces } = found;
  if (isReading(endpoint) || endpoint.upload || endpoint.secret || endpoint.forwards) fail('batch-not-allowed');
  const raw = mergeParams({ query: incoming.query, body, path: selectors(endpoint, pieces), method: incoming.method });
  const key = keyOfWrite(received, found, raw);
  const earlier = key && (await earlierAnswer(site, key, received.caller.now));
  if (earlier) return earlier;
  const asked: Parsed = { ...received, found, selected: await select(site, found, received.caller), lookUp: lookUpOnce(site.db), raw, key };
  const accepting = async () => ({ asked, ...(await accept(site, asked)) });
  return key ? orEarlierAnswer(site, key, received.caller.now, accepting) : accepting();
}

/**
 * Runs an accepted write in the transaction of `site`. The caller has to discard fetched files if the transaction
 * fails.
 *
 * @throws any error that the write alone would be refused with
 */
export const runWrite = (site: Site, { asked, params, values }: Accepted): Promise<Reply> =>
  explaining(params, asked.raw, async () => {
    const inside = { ...asked, lookUp: lookUpOnce(site.db) };
    const work = async () => {
      await checkAllowed(inside, values);
      return runSafely(site, inside, values);
    };
    const { key, caller } = asked;
    return key ? orEarlierAnswer(site, key, caller.now, work) : work();
  });

/** Whether two consecutive writes of a batch can be carried out together. */
export const canRunAtOnce = (one: Accepted, next: Accepted): boolean =>
  one.asked.found.endpoint === next.asked.found.endpoint &&
  [one, next].every(joinsOthers) &&
  isSameCaller(one.asked.caller, next.asked.caller);

const joinsOthers = ({ asked: { found, key }, values }: Accepted): boolean =>
  key === undefined && found.route.lockVersion === undefined && found.endpoint.together?.takes(values) === true;

/** Whether two requests of a batch have callers that get the same answers. */
const isSameCaller = (one: Caller, other: Caller): boolean => {
  const asked = ({ home, namespace, language, content }: Caller) => JSON.stringify([home, namespace, language, content]);
  return one.viewer === other.viewer && asked(one) === asked(other);
};

/**
 * Runs writes that `canRunAtOnce` accepted, in the transaction of `site`.
 *
 * @throws Error if one of them would be refused
 */
export async function runAtOnce(site: Site, writes: readonly Accepted[]): Promise<Reply[]> {
  const lookUp = lookUpOnce(site.db);
  for (const { asked, values } of writes) await checkAllowed({ ...asked, lookUp }, values);
  const [{ asked }] = writes as readonly [Accepted];
  return asked.found.endpoint.together!.run(
    site,
    asked.caller,
    writes.map(({ values }) => values),
  );
}

/** Returns all parameters that an endpoint accepts on a site, whether they are described or not. */
export function acceptedParams(endpoint: ServedEndpoint, settings: SiteSettings): Params {
  const added = endpoint.onSite?.(settings) ?? {};
  // Most sites add no parameters, and the merged parameters of an endpoint are computed once.
  return Object.keys(added).length === 0 ? everywhere(endpoint) : { ...everywhere(endpoint), ...added };
}

const everywhere = memoizeByObject(({ params, unlisted }: ServedEndpoint): Params => ({ ...params, ...unlisted }));

/** Returns the requested context, since permissions may depend on it. */
const askedContext = ({ query: { context } }: Incoming): Values => (context === 'edit' ? { context } : {});

function refuseJson({ texts }: Site, { language }: Caller, { code, reason }: JsonFault): never {
  const message = texts.t(language, [`reasons:${reason}`, 'problems:rest_invalid_json']);
  return fail('rest_invalid_json', { data: { json_error_code: code, json_error_message: message } });
}

/**
 * Returns the id of the record that the path names, 0 if there is no such record, or nothing for routes that name no
 * record.
 */
async function select(site: Site, { route, pieces: { id, slug } }: RouteMatch, caller: Caller): Promise<Partial<Selected>> {
  if (slug !== undefined) return { id: slug.length > LENGTHS.slug ? 0 : ((await route.select?.(site, slug, caller)) ?? 0) };
  return id === undefined ? {} : { id: Number.isSafeInteger(Number(id)) ? Number(id) : 0 };
}

type Handled = RouteMatch & { readonly endpoint: ServedEndpoint };
const isHandled = (found: RouteMatch): found is Handled => found.endpoint !== undefined;

/**
 * Returns the parts of the path that select the record, which are those that the handler requires. A parameter of the
 * same name that the handler does not require is a field.
 */
const selectors = ({ params }: Endpoint, pieces: RouteMatch['pieces']): Raw =>
  Object.fromEntries(Object.entries(pieces).filter(([name]) => params[name]?.required));

/** Returns the parts of the path as the handlers accept them, with numeric parts as numbers. */
const acceptedPieces = ({ route, pieces }: RouteMatch): Values =>
  Object.fromEntries(
    Object.entries(pieces).map(([name, piece]) => {
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
function emptyIfLost(error: unknown): string {
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
