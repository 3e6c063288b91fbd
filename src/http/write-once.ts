import { createHash } from 'node:crypto';
import { fail } from '../errors.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';
import type { Database } from '../storage/database.ts';
import { type AnswerKey, claimAnswer, findAnswer, type KeptAnswer, keepAnswer } from '../storage/kept-answers.ts';
import type { Body, Raw } from './input.ts';
import type { Incoming } from './request.ts';
import type { Reply } from './route.ts';
import type { Found } from './routing.ts';

/*
 * A write that comes with a key (`Idempotency-Key`, the IETF's draft-ietf-httpapi-idempotency-key-header) takes place once, however often it is sent: whoever got
 * no answer sends it again and gets the one that he missed.
 */

/**
 * The key of a write and what it asks for; undefined: it came without one. Keys belong to whoever sends them, anonymous callers being told apart by their
 * addresses, and to one route.
 *
 * @throws idempotency-key-invalid
 */
export function keyOfWrite(
  { req, method }: Incoming,
  { viewer, namespace }: Caller,
  { route, endpoint }: Found,
  { raw, body }: { readonly raw: Raw; readonly body: Body },
): AnswerKey | undefined {
  const header = req.get('idempotency-key');
  if (header === undefined || endpoint === undefined || endpoint.methods.includes('GET')) return undefined;
  const key = keyIn(header) ?? fail('idempotency-key-invalid');
  const who = viewer.id > 0 ? viewer.id : `address ${req.ip}`;
  const { _wpnonce, _jsonp, ...params } = raw;
  const files = [...(body.files ?? [])].map(([field, { name, bytes }]) => [field, name, digest(bytes)]);
  const upload = body.bytes ? [digest(body.bytes), req.get('content-disposition')] : [];
  return {
    id: digest(JSON.stringify([who, namespace, route.pattern, key])),
    fingerprint: digest(JSON.stringify([method, sorted(params), files, upload])),
  };
}

/**
 * Answers as before, if this request was answered within the last day; else does the work, once at a time.
 *
 * @throws idempotency-key-reused for another request of this key, request-under-way while the first is being answered
 */
export async function answeredOnce(site: Site, key: AnswerKey, now: Date, work: () => Promise<Reply>): Promise<Reply> {
  const earlier = await findAnswer(site.db, key.id, now);
  if (earlier) return replayed(earlier, key);
  const underWay = UNDER_WAY.get(site) ?? new Map<string, string>();
  UNDER_WAY.set(site, underWay);
  const running = underWay.get(key.id);
  if (running !== undefined) return fail(running === key.fingerprint ? 'request-under-way' : 'idempotency-key-reused');
  underWay.set(key.id, key.fingerprint);
  try {
    return await work();
  } finally {
    underWay.delete(key.id);
  }
}

/** Requests with a key that this process works on: their fingerprints. Other processes wait in `claimAnswer`. */
const UNDER_WAY = new WeakMap<Site, Map<string, string>>();

/**
 * Does the work of a request in the transaction that is given, and keeps its answer there. Another process may have answered it in the meantime: then there is
 * nothing to do.
 */
export async function keptWith(db: Database, key: AnswerKey, now: Date, work: () => Promise<Reply>): Promise<Reply> {
  const earlier = await claimAnswer(db, key, now);
  if (earlier) return replayed(earlier, key);
  const reply = await work();
  const { status, body, headers, version } = reply;
  await keepAnswer(db, key.id, JSON.stringify({ status, body, headers, version }));
  return reply;
}

function replayed({ fingerprint, answer }: KeptAnswer, key: AnswerKey): Reply {
  if (fingerprint !== key.fingerprint) fail('idempotency-key-reused');
  const reply = JSON.parse(answer) as Reply;
  return { ...reply, headers: { ...reply.headers, [REPLAYED]: 'true' } };
}

/** Says that an answer was given before. */
const REPLAYED = 'Idempotency-Replayed';
export const isReplay = ({ headers }: Reply): boolean => headers?.[REPLAYED] !== undefined;

const LONGEST_KEY = 255;

/** The key in the header: a string of RFC 8941 in quotes, or the same without them, as most clients send it. Undefined: it is none. */
export function keyIn(header: string): string | undefined {
  const [, quoted] = /^\s*"((?:[ !#-[\]-~]|\\["\\])*)"\s*$/.exec(header) ?? [];
  const key = quoted?.replace(/\\(.)/g, '$1') ?? (header.includes('"') ? '' : header.trim());
  return key.length <= LONGEST_KEY && /^[ -~]+$/.test(key) ? key : undefined;
}

const digest = (text: string | Buffer): string => createHash('sha256').update(text).digest('base64url');

/** The same value with the members of all objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
  return members.map(([name, member]) => [name, sorted(member)]);
}
