import { type Fault, fail } from '../errors.ts';
import { type BatchedWrite, batchedWrites } from '../kinds/grammars/batch.ts';
import { oneOf } from '../kinds/grammars/grammars.ts';
import { isNewRecord } from '../kinds/grammars/links.ts';
import type { Params, Values, ValuesOf } from '../kinds/param.ts';
import { limitNewTerms } from '../records/new-term-limit.ts';
import { versionTag } from '../records/versions.ts';
import { discardImages } from '../records/writes/prepared-images.ts';
import { type Site, withinTransaction } from '../site.ts';
import { DatabaseUnavailable } from '../storage/engine/database.ts';
import { ANONYMOUS } from '../wordpress/viewer.ts';
import { type AcceptedWrite, acceptWrite, canRunTogether, checkAccepted, runWrite, runWritesTogether } from './accepted-write.ts';
import { splitTarget } from './addressing.ts';
import { warningsAbout } from './answer-route.ts';
import { batchShape } from './answer-shapes.ts';
import type { ServedEndpoint, ServedRoute } from './endpoint.ts';
import type { RequestHead } from './head.ts';
import { isUtf8Form, parseQuery } from './input.ts';
import { pickFields } from './pick-fields.ts';
import { toProblemReply } from './problem.ts';
import { selectedFields } from './protocol.ts';
import type { ReceivedRequest } from './receive.ts';
import { type IncomingRequest, toCaller } from './request.ts';
import type { Reply } from './route.ts';
import type { Router } from './routing.ts';
import { isReplayed } from './write-once.ts';

/*
 * Many writes in one request (`WP_REST_Server::serve_batch_request_v1`). Each is treated as a separate request, with
 * its own path, body and headers, from the caller of the batch. All are checked before the first one runs.
 */

/** With `require-all-validate`, either all writes are carried out or none. */
const VALIDATIONS = ['require-all-validate', 'normal'] as const;

/**
 * Maximum number of venues and organizers that the events of a batch create together, and of categories and tags. The
 * number of terms is known only when the writes run, since names of existing terms do not count.
 */
const [MAX_NEW_LINKS, MAX_NEW_TERMS] = [300, 300];
const TOO_MANY_NEW_IN_BATCH: Fault = { stage: 'value', reason: 'too-many-new-in-batch', values: { most: String(MAX_NEW_LINKS) } };

const PARAMS = {
  validation: { grammar: oneOf(VALIDATIONS, 'enum'), fallback: 'normal' },
  requests: { grammar: batchedWrites, required: true },
} satisfies Params;

/**
 * A write of the batch after its check. `values` are the accepted values, whose files are discarded if the write fails.
 */
interface CheckedWrite {
  readonly request: ReceivedRequest;
  readonly values: Values;
  readonly acceptedWrite?: AcceptedWrite;
  /** The answer, if nothing is left to do because the write was refused or answered before. */
  readonly reply?: Reply;
}

interface PreparedBatch extends Values {
  readonly atomic: boolean;
  readonly writes: readonly CheckedWrite[];
}

/**
 * Creates the route `/batch/v1`, outside all namespaces. `router` returns the router that finds the routes of the
 * writes.
 */
export function batchRoute(router: () => Router): ServedRoute {
  type BatchValues = ValuesOf<typeof PARAMS> & { readonly received: ReceivedRequest };
  const batch: ServedEndpoint<BatchValues, PreparedBatch> = {
    methods: ['POST'],
    summary: 'batch',
    answer: batchShape,
    params: PARAMS,
    mode: 'create',
    success: '207',
    allow: 'anyone',
    getsRequest: true,
    prepare: async (site, _caller, { validation, requests = [], received }) => {
      const writes: CheckedWrite[] = [];
      let room = MAX_NEW_LINKS;
      for (const write of requests) {
        const checkedWrite = await checkWrite(site, innerRequest(site, router(), received, write), room);
        room -= newLinks(checkedWrite.values).length;
        writes.push(checkedWrite);
      }
      return { atomic: validation === 'require-all-validate', writes };
    },
    readyReply: answerWithoutWrites,
    discard: ({ writes }) => discardAll(writes),
    run: (site, _caller, preparedBatch) => (preparedBatch.atomic ? runAtomically : runIndependently)(site, preparedBatch),
  };
  return { pattern: '/batch/v1', texts: 'batch', endpoints: [batch] };
}

/** Builds a separate request for one write of the batch. */
function innerRequest(site: Site, router: Router, { incoming: outer, caller }: ReceivedRequest, write: BatchedWrite): ReceivedRequest {
  const { path, query: text } = splitTarget(write.path);
  const query = parseQuery(text);
  const headers = { 'accept-language': outer.req.get('accept-language'), ...write.headers };
  const req: RequestHead = {
    method: write.method,
    originalUrl: write.path,
    headers,
    secure: outer.req.secure,
    ip: outer.req.ip,
    ...(outer.req.notes ? { notes: { ...outer.req.notes, url: write.path } } : {}),
    get: (name) => (headers as Readonly<Record<string, string | undefined>>)[name.toLowerCase()],
  };
  const incoming: IncomingRequest = {
    ...outer,
    req,
    method: write.method,
    query,
    path,
    namespace: router.namespaceOf(path),
    match: router.find(path, write.method),
  };
  const body = { json: write.body };
  return { incoming, caller: toCaller(site, incoming, body, caller.viewer), nonce: undefined, body, release: () => undefined };
}

/** Checks a write. `room`: how many venues and organizers it may create in its fields. */
async function checkWrite(site: Site, request: ReceivedRequest, room: number): Promise<CheckedWrite> {
  try {
    const { path, req } = request.incoming;
    if (!path.startsWith('/')) fail('parse_path_failed');
    if (!isUtf8Form(splitTarget(req.originalUrl).query)) fail('form-not-utf8');
    const outcome = await acceptWrite(site, request);
    // Anonymous callers are refused before a transaction begins, so that they do not keep writers waiting.
    if ('request' in outcome && request.caller.viewer.id === ANONYMOUS.id) await checkAccepted(outcome);
    if ('request' in outcome) await requireRoom(outcome.values, room);
    return 'request' in outcome ? { request, acceptedWrite: outcome, values: outcome.values } : { request, values: {}, reply: outcome };
  } catch (error) {
    return { request, values: {}, reply: refusalReply(site, request, error) };
  }
}

/** Returns the names of the fields with new venues and organizers, one for each of them. */
const newLinks = (values: Values): string[] =>
  Object.entries(values).flatMap(([name, value]) => (Array.isArray(value) ? value.filter(isNewRecord).map(() => name) : []));

async function requireRoom(values: Values, room: number): Promise<void> {
  const excessLink = newLinks(values)[room];
  if (excessLink === undefined) return;
  await discardImages(values);
  fail('rest_invalid_param', { faults: new Map([[excessLink, TOO_MANY_NEW_IN_BATCH]]) });
}

const refusalReply = (site: Site, { incoming, caller }: ReceivedRequest, error: unknown): Reply =>
  toProblemReply(site, incoming.req, caller.language, error);

/** Thrown when a write is refused while it runs, so that everything it wrote is rolled back. */
class RefusedWriteError extends Error {
  readonly reply: Reply;
  readonly write: CheckedWrite;
  constructor(reply: Reply, write: CheckedWrite) {
    super('a write of a batch was refused');
    this.reply = reply;
    this.write = write;
  }
}

/** Returns the answer to a batch of which nothing is left to do; undefined if there is a write to run. */
function answerWithoutWrites(site: Site, { atomic, writes }: PreparedBatch): Reply | undefined {
  const replies = writes.map(({ reply }) => reply);
  if (atomic && replies.some(isRefusal)) return replyWithoutWrites(site, writes, replies);
  if (replies.some((reply) => reply === undefined)) return undefined;
  return { ...multiStatus({ responses: envelopes(site, writes, replies) }), afterCommit: () => discardAll(writes) };
}

const isRefusal = (reply: Reply | undefined): boolean => reply !== undefined && reply.status >= 400;

/** Runs the writes one after the other. If one is refused, only its changes are rolled back. */
async function runIndependently(site: Site, { writes }: PreparedBatch): Promise<Reply> {
  const replies = await site.db.transaction(async (db) => {
    limitNewTerms(db, MAX_NEW_TERMS);
    const innerSite = withinTransaction(site, db);
    const run = async (groups: readonly Group[]): Promise<Reply[]> => {
      const allReplies: Reply[] = [];
      for (const group of groups) {
        const replies = await db.part((part) => runGroup({ ...innerSite, db: part }, group)).catch(replyOfRefused);
        allReplies.push(...(replies ?? (await run(oneByOne(group)))));
      }
      return allReplies;
    };
    return run(groupsOf(writes));
  });
  return {
    ...multiStatus({ responses: envelopes(site, writes, replies) }),
    nothingWritten: replies.every((reply) => isRefusal(reply) || isReplayed(reply)),
    afterCommit: () => finish(writes, replies),
  };
}

/** Runs all writes, or none if one is refused. */
async function runAtomically(site: Site, { writes }: PreparedBatch): Promise<Reply> {
  try {
    const groups = groupsOf(writes);
    const replies = await site.db.transaction(async (db) => {
      limitNewTerms(db, MAX_NEW_TERMS);
      const runAll = (groupsToRun: readonly Group[]) =>
        db.part(async (part) => {
          const innerSite = withinTransaction(site, part);
          const allReplies: Reply[] = [];
          for (const group of groupsToRun) allReplies.push(...(await runGroup(innerSite, group)));
          return allReplies;
        });
      return (await runAll(groups).catch(undefinedIfGroupRefused)) ?? runAll(groups.flatMap(oneByOne));
    });
    return { ...multiStatus({ responses: envelopes(site, writes, replies) }), afterCommit: () => finish(writes, replies) };
  } catch (error) {
    if (!(error instanceof RefusedWriteError)) throw error;
    const { reply, write } = error;
    return replyWithoutWrites(
      site,
      writes,
      writes.map((one) => (one === write ? reply : undefined)),
    );
  }
}

// ------------------------------------------------------------------------------------------------- writes at once
/** Consecutive writes that are carried out together. Usually there is only one. */
type Group = readonly CheckedWrite[];

function groupsOf(writes: readonly CheckedWrite[]): Group[] {
  const groups: CheckedWrite[][] = [];
  for (const write of writes) {
    const lastGroup = groups.at(-1);
    const firstWrite = lastGroup?.[0]?.acceptedWrite;
    if (lastGroup && firstWrite && write.acceptedWrite && canRunTogether(firstWrite, write.acceptedWrite)) lastGroup.push(write);
    else groups.push([write]);
  }
  return groups;
}

const oneByOne = (group: Group): Group[] => group.map((write) => [write]);

/** Thrown if a write of a group fails: its writes must then be carried out one by one. */
class GroupRefusedError extends Error {}

function undefinedIfGroupRefused(error: unknown): undefined {
  if (!(error instanceof GroupRefusedError)) throw error;
}

/** Runs the writes of a group. Throws GroupRefusedError, or RefusedWriteError if the group has only one write. */
async function runGroup(site: Site, group: Group): Promise<Reply[]> {
  const acceptedWrites = group.flatMap((write) => write.acceptedWrite ?? []);
  try {
    if (acceptedWrites.length > 1) return await runWritesTogether(site, acceptedWrites);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    throw new GroupRefusedError();
  }
  const replies: Reply[] = [];
  for (const write of group) replies.push(write.reply ?? (await runSingle(site, write)));
  return replies;
}

/**
 * Runs one checked write. Throws RefusedWriteError. A lost database affects all writes, so its errors are not the
 * answer to one of them.
 */
async function runSingle(site: Site, write: CheckedWrite): Promise<Reply> {
  try {
    return await runWrite(site, write.acceptedWrite!);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    throw new RefusedWriteError(refusalReply(site, write.request, error), write);
  }
}

/** Returns the reply of a refused write; undefined if a group was refused. */
const replyOfRefused = (error: unknown): [Reply] | undefined =>
  error instanceof RefusedWriteError ? [error.reply] : undefinedIfGroupRefused(error);

// ------------------------------------------------------------------------------------------------- the answer
const multiStatus = (body: object): Reply => ({ status: 207, body });

/** Answers a batch that wrote nothing. Writes without an error have no answer. */
const replyWithoutWrites = (site: Site, writes: readonly CheckedWrite[], replies: readonly (Reply | undefined)[]): Reply => ({
  ...multiStatus({
    failed: 'validation',
    responses: envelopes(
      site,
      writes,
      replies.map((reply) => (isRefusal(reply) ? reply : undefined)),
    ),
  }),
  nothingWritten: true,
  afterCommit: () => discardAll(writes),
});

const discardAll = async (writes: readonly CheckedWrite[]): Promise<void> =>
  void (await Promise.all(writes.map(({ values }) => discardImages(values))));

/** Finishes the batch after the transaction: deletes files that no record refers to. */
async function finish(writes: readonly CheckedWrite[], replies: readonly Reply[]): Promise<void> {
  for (const [index, reply] of replies.entries()) {
    if (isRefusal(reply) || isReplayed(reply)) await discardImages(writes[index]!.values);
    await reply.afterCommit?.();
  }
}

/**
 * Wraps answers as members of the answer to the batch (WordPress `WP_REST_Server::envelope_response`), with their own
 * warnings. `Allow` is left out, because it takes further queries for each member.
 */
const envelopes = (site: Site, writes: readonly CheckedWrite[], replies: readonly (Reply | undefined)[]): unknown[] =>
  replies.map((reply, index) => (reply === undefined ? null : envelope(site, reply, writes[index]!.request)));

function envelope(site: Site, reply: Reply, request: ReceivedRequest): object {
  const { status, body, version, headers = {} } = reply;
  const fields = selectedFields(request.incoming.method, request.incoming.query, request.body);
  const allHeaders = {
    ...headers,
    ...warningsAbout(site, request, reply),
    ...(version === undefined ? {} : { ETag: versionTag(version) }),
  };
  return {
    body: fields.length > 0 && status < 400 ? pickFields(body, fields) : body,
    status,
    // PHP writes an empty object as an empty list.
    headers: Object.keys(allHeaders).length > 0 ? allHeaders : [],
  };
}
