import { fail } from '../errors.ts';
import type { Params, Values } from '../kinds/param.ts';
import { keyText } from '../memo.ts';
import type { Caller } from '../records/caller.ts';
import { withExplainedErrors } from '../records/explanation.ts';
import type { Site } from '../site.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import {
  accept,
  checkAllowed,
  hasEndpoint,
  isReadEndpoint,
  isSwitchedOff,
  type ParsedRequest,
  parsed,
  runChecked,
  select,
} from './answer-route.ts';
import type { ReceivedRequest } from './receive.ts';
import type { Reply } from './route.ts';
import { earlierAnswer, unlessAnswered } from './write-once.ts';

/*
 * Writes of a batch: all of them are accepted before the first one runs.
 */

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
  const { incoming, caller } = receivedRequest;
  const match = isSwitchedOff(site, incoming) ? undefined : incoming.match;
  if (!match || !hasEndpoint(match)) return fail('rest_no_route');
  const { endpoint } = match;
  if (isReadEndpoint(endpoint) || endpoint.upload || endpoint.secret || endpoint.getsRequest) fail('batch-not-allowed');
  const parts = parsed(receivedRequest, match);
  const { key } = parts;
  const earlierReply = key && (await earlierAnswer(site, key, caller.now));
  if (earlierReply) return earlierReply;
  const selection = await select(site, match, caller);
  const request: ParsedRequest = { ...receivedRequest, ...parts, match, selection, lookUp: lookUpOnce(site.db) };
  const work = async () => ({ request, ...(await accept(site, request)) });
  return key ? unlessAnswered(site, key, caller.now, work) : work();
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
