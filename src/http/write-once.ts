import { createHash } from 'node:crypto';
import { ApiError, fail } from '../errors.ts';
import { isObject } from '../objects.ts';
import type { Caller } from '../records/caller.ts';
import { chosenLanguage } from '../records/record-languages.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/engine/database.ts';
import { type AnswerKey, claimAnswer, findAnswer, type KeptAnswer, keepAnswer, releaseAnswer } from '../storage/rows/kept-answers.ts';
import type { SecretMember } from './endpoint.ts';
import type { RawParams } from './input.ts';
import type { ReceivedRequest } from './receive.ts';
import type { Reply } from './route.ts';
import type { RouteMatch } from './routing.ts';

/*
 * A write with an `Idempotency-Key` is carried out once, however often it is sent (IETF
 * draft-ietf-httpapi-idempotency-key-header). A client that missed the answer sends the request again and gets the
 * stored answer.
 */

/**
 * Returns the key of a write, with a fingerprint of the request; undefined if it has no key. A key is scoped to its
 * user (or to the address, if anonymous) and to the route. The language of the address or host is part of the request,
 * since new records get it.
 *
 * @throws idempotency-key-invalid
 */
export function keyOfWrite(
  { incoming, caller, body }: ReceivedRequest,
  { route, endpoint, pathParams }: RouteMatch,
  raw: RawParams,
): AnswerKey | undefined {
  const { req, method } = incoming;
  const { viewer, namespace } = caller;
  const header = req.get('idempotency-key');
  if (header === undefined || endpoint === undefined || endpoint.methods.includes('GET')) return undefined;
  const key = parseKey(header) ?? fail('idempotency-key-invalid');
  const sender = viewer.id > 0 ? viewer.id : `address ${req.ip}`;
  const { _wpnonce, _jsonp, ...params } = raw;
  const files = [...(body.files ?? [])].map(([field, { name, bytes }]) => [field, name, digest(bytes)]);
  const upload = body.bytes ? [digest(body.bytes), req.get('content-disposition')] : [];
  const language = chosenLanguage(caller);
  const languages = language === undefined ? [] : [language];
  return {
    id: digest(JSON.stringify([sender, namespace, route.pattern, key])),
    fingerprint: digest(JSON.stringify([method, withSortedMembers(pathParams), withSortedMembers(params), files, upload, ...languages])),
  };
}

/**
 * Returns the stored answer if this request was answered within the last day; otherwise does the work.
 *
 * @throws idempotency-key-reused if the key was used for a different request, request-under-way while the first one is
 * running
 */
export async function answerOnce(site: Site, key: AnswerKey, now: Date, work: () => Promise<Reply>): Promise<Reply> {
  const earlierReply = await earlierAnswer(site, key, now);
  if (earlierReply) return earlierReply;
  const underWay = RUNNING_WRITES.get(site) ?? new Map<string, string>();
  RUNNING_WRITES.set(site, underWay);
  const runningFingerprint = underWay.get(key.id);
  if (runningFingerprint !== undefined)
    return fail(runningFingerprint === key.fingerprint ? 'request-under-way' : 'idempotency-key-reused');
  underWay.set(key.id, key.fingerprint);
  try {
    return await unlessAnswered(site, key, now, work);
  } finally {
    underWay.delete(key.id);
  }
}

/**
 * Does the work. If it is refused, the same request may have been carried out in the meantime, so that the record is
 * already deleted or its name is taken. In that case the answer to that request is returned.
 */
export async function unlessAnswered<Result>(
  site: Pick<Site, 'db'>,
  key: AnswerKey,
  now: Date,
  work: () => Promise<Result>,
): Promise<Result | Reply> {
  try {
    return await work();
  } catch (error) {
    const storedAnswer = error instanceof ApiError ? await findAnswer(site.db, key.id, now).catch(() => undefined) : undefined;
    // A row without an answer was left by the refused work itself.
    if (!storedAnswer?.answer || storedAnswer.fingerprint !== key.fingerprint) throw error;
    return replay(storedAnswer, key);
  }
}

/** Returns the answer that this request was given before, if any. Throws idempotency-key-reused. */
export async function earlierAnswer({ db }: Site, key: AnswerKey, now: Date): Promise<Reply | undefined> {
  const storedAnswer = await findAnswer(db, key.id, now);
  return storedAnswer && replay(storedAnswer, key);
}

/** Keyed requests that this process is working on, with their fingerprints. Other processes wait in `claimAnswer`. */
const RUNNING_WRITES = new WeakMap<Site, Map<string, string>>();

/**
 * Does the work in the given transaction and stores its answer there, reduced by `toStored`. If another process has
 * answered the request in the meantime, that answer is returned and nothing is done.
 */
export async function runAndStoreAnswer(
  db: Database,
  key: AnswerKey,
  now: Date,
  { work, toStored }: { readonly work: () => Promise<Reply>; readonly toStored: (reply: Reply) => Reply },
): Promise<Reply> {
  const storedAnswer = await claimAnswer(db, key, now);
  if (storedAnswer) return replay(storedAnswer, key);
  const reply = await work();
  const { status, body, headers, version, nothingWritten } = toStored(reply);
  if (nothingWritten) await releaseAnswer(db, key.id);
  else await keepAnswer(db, key.id, JSON.stringify({ status, body, headers, version }));
  return reply;
}

function replay({ fingerprint, answer }: KeptAnswer, key: AnswerKey): Reply {
  if (fingerprint !== key.fingerprint) fail('idempotency-key-reused');
  const reply: Reply = JSON.parse(answer);
  return { ...reply, headers: { ...reply.headers, [REPLAYED_HEADER]: 'true' } };
}

/** Returns an answer without its secret, as it may be stored. */
export function withoutSecret(reply: Reply, { member }: SecretMember): Reply {
  const { [member]: _, ...body } = bodyOf(reply);
  return { ...reply, body };
}

/** Returns a replayed answer with its secret, or without it if the secret does not exist any more. */
export async function withSecret(site: Site, caller: Caller, reply: Reply, { member, recompute }: SecretMember): Promise<Reply> {
  const body = bodyOf(reply);
  const secret = await recompute(site, caller, body);
  return { ...reply, body: { ...body, ...(secret === undefined ? {} : { [member]: secret }) } };
}

const bodyOf = ({ body }: Reply): Record<string, unknown> => ({ ...(typeof body === 'object' ? body : {}) });

/** The header that marks a replayed answer. */
const REPLAYED_HEADER = 'Idempotency-Replayed';

/** Whether an answer was kept from an earlier request with the same key. */
export const isReplayed = ({ headers }: Reply): boolean => headers?.[REPLAYED_HEADER] !== undefined;

const MAX_KEY_LENGTH = 255;

/**
 * Parses the key in the header: a quoted string (RFC 8941), or the same without quotes, as most clients send it.
 * Undefined if it is invalid.
 */
function parseKey(header: string): string | undefined {
  const [, quoted] = /^\s*"((?:[ !#-[\]-~]|\\["\\])*)"\s*$/.exec(header) ?? [];
  const key = quoted?.replace(/\\(.)/g, '$1') ?? (header.includes('"') ? '' : header.trim());
  return key.length <= MAX_KEY_LENGTH && /^[ -~]+$/.test(key) ? key : undefined;
}

const digest = (text: string | Buffer): string => createHash('sha256').update(text).digest('base64url');

/** Returns the value with the members of every object sorted, for comparison. */
function withSortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedMembers);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
  return members.map(([name, member]) => [name, withSortedMembers(member)]);
}
