import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import type { Freshness, Version } from '../storage/freshness/freshness.ts';
import { corsHeaders } from './cors.ts';
import { cutSlowReader } from './limits.ts';
import { SECURITY_HEADERS } from './security.ts';

/** An answer as it goes out, whole: it can be sent many times. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Until when it holds if nothing is written, in milliseconds since 1970. */
  readonly until: number;
  /** Whether it may be kept for others: no caller's rights or origin went into it. */
  readonly shared: boolean;
}

/** What is remembered of an answer: it holds while the data's version is the same and its time is not up. */
interface Kept {
  readonly answer: Answer;
  readonly version: Version;
  zipped?: Buffer;
  /**
   * The headers that it goes out with to whoever asks from no other origin: as it is, compressed, and where nothing but
   * them is sent.
   */
  readonly heads: Partial<Record<`${'plain' | 'zipped'}${'' | 'Unchanged'}`, Headers>>;
}

type Headers = Readonly<Record<string, string>>;

/** Answers to anonymous callers, in memory. */
export interface Answers {
  /**
   * The answer that is right at this moment, without waiting; undefined: there is none, or it is not known whether it
   * still is.
   */
  readonly recall: (key: string, freshness: Freshness) => Kept | undefined;
  /**
   * The kept answer if it is still right, else a new one; computed once for all who ask at the same time. `freshness`
   * must be that of the database that `compute` reads, or an answer from an older one would be kept under the version
   * of a newer one. `alias`: another name under which it can be recalled from then on.
   */
  readonly answerFor: (key: string, freshness: Freshness, compute: () => Promise<Answer>, alias?: string) => Promise<Answer>;
}

/** What every entry costs besides its body: its key, headers and place. */
const OVERHEAD_BYTES = 2048;
/** Longer bodies are not kept, so that one answer never pushes out all others. */
const LONGEST_BODY = 4 * 1024 * 1024;

export interface AnswersOptions {
  /** How much memory the bodies may take. */
  readonly bytes: number;
  readonly clock: () => Date;
}

/** An answer under its own name, or under another one, which costs no more than its place. */
interface Entry {
  readonly kept: Kept;
  readonly isAlias: boolean;
}

/** A memory of answers that forgets the least used ones, and each as soon as there is another version of the data. */
export function createAnswers({ bytes, clock }: AnswersOptions): Answers {
  const kept = new LRUCache<string, Entry>({
    maxSize: bytes,
    sizeCalculation: ({ kept: { answer, zipped }, isAlias }) => (isAlias ? 0 : answer.body.length + (zipped?.length ?? 0)) + OVERHEAD_BYTES,
  });
  const computing = new Map<string, Promise<Answer>>();

  const current = (key: string, { name, since }: Version): Kept | undefined => {
    const entry = kept.get(key)?.kept;
    if (entry === undefined || entry.version.name !== name || entry.version.at < since) return undefined;
    return entry.answer.until > clock().getTime() ? entry : undefined;
  };

  const keep = (key: string, answer: Answer, version: Version | undefined) => {
    if (version === undefined || !answer.shared || answer.status !== 200 || answer.body.length > LONGEST_BODY) return;
    kept.set(key, { kept: { answer, version, heads: {} }, isAlias: false });
  };

  return {
    recall: (key, freshness) => {
      const version = freshness.known();
      return version === undefined ? undefined : current(key, version);
    },
    answerFor: async (key, freshness, compute, alias) => {
      const version = await freshness.version();
      const entry = version === undefined ? undefined : current(key, version);
      if (entry && alias !== undefined) kept.set(alias, { kept: entry, isAlias: true });
      if (entry) return entry.answer;
      const name = `${version?.name ?? ''} ${key}`;
      const running = version === undefined ? undefined : computing.get(name);
      if (running) return running;
      const work = compute()
        .then((answer) => {
          keep(key, answer, version);
          return answer;
        })
        .finally(() => computing.delete(name));
      if (version !== undefined) computing.set(name, work);
      return work;
    },
  };
}

/**
 * Under which name an answer to this request is remembered; undefined: never. Only what anonymous callers ask for
 * without a body is; `asked`: what that is, if not its address. The language they prefer is part of it, their origin is
 * repeated in headers that are added when it goes out.
 */
export function keyOf(req: Request, language: (acceptLanguage: string | undefined) => string, asked = req.originalUrl): string | undefined {
  const { method, headers, originalUrl } = req;
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (headers.authorization !== undefined || headers['x-wp-nonce'] !== undefined || headers['transfer-encoding'] !== undefined)
    return undefined;
  if (headers['content-length'] !== undefined && headers['content-length'] !== '0') return undefined;
  if (headers.cookie?.includes('wordpress_logged_in_') || originalUrl.length > LONGEST_KEY || originalUrl.includes('_wpnonce'))
    return undefined;
  const acknowledged = headers['x-tec-eea'] === undefined ? '' : '+';
  return `${language(headers['accept-language'])}${acknowledged} ${asked}`;
}

const LONGEST_KEY = 2000;

// ------------------------------------------------------------------------------------------------- going out
const zip = promisify(gzip);
const ZIPPED = { 'Content-Encoding': 'gzip' };
/** Shorter bodies are not worth the work. */
const WORTH_ZIPPING = 1024;

/**
 * Sends an answer: as 304 where the caller has it already, without body on HEAD, compressed for those who take it. A
 * compressed body has a validator of its own, since a strong one names the bytes (RFC 9110, 8.8.3).
 */
export async function deliver(req: Request, res: ServerResponse, answer: Answer, entry?: Kept): Promise<void> {
  const { status, headers, body } = answer;
  const { origin } = req.headers;
  const zipped = body.length >= WORTH_ZIPPING && takesGzip(req);
  const etag = headers.ETag === undefined ? undefined : zipped ? `${headers.ETag.slice(0, -1)}-gzip"` : headers.ETag;
  // All in one object: headers that are set one by one cost as much as the rest of sending.
  const head = (): Record<string, string> => {
    const sent: Record<string, string> = { ...SECURITY_HEADERS, ...headers, ...corsHeaders(origin) };
    if (req.id !== undefined) sent['X-Request-Id'] = req.id;
    if (etag !== undefined) sent.ETag = etag;
    return sent;
  };
  const heads = (origin === undefined && entry?.heads) || {};
  const form = zipped ? 'zipped' : 'plain';
  if (status === 200 && isKnown(req, etag, headers['Last-Modified'])) {
    heads[`${form}Unchanged`] ??= withoutType(head());
    res.writeHead(304, heads[`${form}Unchanged`]).end();
    return;
  }
  const content = zipped ? (entry?.zipped ?? (await zip(body))) : body;
  if (entry && zipped) entry.zipped = content;
  heads[form] ??= { ...head(), ...(zipped ? ZIPPED : {}), 'Content-Length': String(content.length) };
  const sent = heads[form];
  res.writeHead(status, sent).end(req.method === 'HEAD' ? undefined : content);
  cutSlowReader(res, content.length);
}

const withoutType = ({ 'Content-Type': _, ...others }: Headers): Headers => others;

/** Whether a validator says that the caller has these very bytes (RFC 9110, 13.2.2): a tag counts before a date. */
function isKnown({ headers, method }: Request, etag: string | undefined, lastModified: string | undefined): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined)
    return etag !== undefined && (tags.trim() === '*' || tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
  return since !== undefined && lastModified !== undefined && Date.parse(since) >= Date.parse(lastModified);
}

const takesGzip = ({ headers }: Request): boolean => /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(headers['accept-encoding'] ?? '');

/**
 * The strong validator of a body. `version` is the version of the record that the body represents: `If-Match` compares
 * it, so a tag can be used for a write in whatever language or form the record was read.
 */
export const tagOf = (body: Buffer, version?: string): string =>
  `"${version === undefined ? '' : `${version}.`}${hash('sha1', body, 'base64url')}"`;
