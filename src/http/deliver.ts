import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { textBytes } from '../memo.ts';
import { withAsciiAddresses } from '../wordpress/web-url.ts';
import { corsHeaders } from './cors.ts';
import { fitHead } from './fit-head.ts';
import { disconnectSlowReader } from './limits.ts';
import { notesOf } from './request-notes.ts';
import { SECURITY_HEADERS } from './security.ts';

/** A complete answer, which can be sent many times. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Expiry if nothing is written, in milliseconds since 1970. */
  readonly expiresAt: number;
  /**
   * Whether other callers may get it: it depends on no caller's rights or origin, and repeats nothing of the request
   * that its cache key leaves out.
   */
  readonly isShareable: boolean;
  /** Compressed body and header lists, kept from the first time it was sent. */
  encodings?: Encodings;
  /** Called when `encodings` has grown, by the cache that holds the answer. */
  onGrowth?: () => void;
}

interface Encodings {
  /** The compressed body, once it is ready. */
  gzipped?: Buffer;
  gzipping?: Promise<Buffer>;
  /** Header lists by the name of the form. Their last values are set for each request (`headFor`). */
  readonly heads: Map<string, string[]>;
}

const zip = promisify(gzip);
/** Shorter bodies are not worth compressing. */
const MIN_GZIP_BYTES = 1024;
/** Longest origin, in characters, that a kept header list may contain: longer than those of browsers. */
const MAX_ORIGIN_LENGTH = 300;
/** Bytes of one header list, with the values that are made for it. */
const HEAD_BYTES = 1024;

/**
 * Sends an answer: as 304 if the client has it already, without a body for HEAD, compressed if the client accepts that.
 * A compressed body has a separate validator, since a strong one identifies the bytes (RFC 9110, 8.8.3).
 */
export async function deliver(req: IncomingMessage, res: ServerResponse, answer: Answer): Promise<void> {
  if (deliverSync(req, res, answer)) return;
  const encodings = encodingsOf(answer);
  encodings.gzipping ??= zip(answer.body)
    .then(inOwnBlock)
    .finally(() => {
      // A failure, for lack of memory, must not stay with a cached answer.
      delete encodings.gzipping;
    });
  encodings.gzipped = await encodings.gzipping;
  answer.onGrowth?.();
  deliverSync(req, res, answer);
}

/** Sends an answer synchronously. Returns false, without sending anything, if the answer must be compressed first. */
export function deliverSync(req: IncomingMessage, res: ServerResponse, answer: Answer): boolean {
  const { status, headers, body } = answer;
  const isGzipped = body.length >= MIN_GZIP_BYTES && acceptsGzip(req);
  const tag = isGzipped ? gzipTag(headers.ETag) : headers.ETag;
  const notes = notesOf(req);
  if (status === 200 && isNotModified(req, tag, headers['Last-Modified'])) {
    notes.bytes = 0;
    res.writeHead(304, headFor(req, notes.id, answer, { isGzipped, tag })).end();
    return true;
  }
  const content = isGzipped ? answer.encodings?.gzipped : body;
  if (content === undefined) return false;
  notes.bytes = req.method === 'HEAD' ? 0 : content.length;
  res.writeHead(status, headFor(req, notes.id, answer, { isGzipped, tag, length: content.length }));
  res.end(req.method === 'HEAD' ? undefined : content);
  disconnectSlowReader(res, content.length);
  return true;
}

/** Returns the bytes that an answer takes in memory, including its compressed body. */
export const sizeOf = ({ body, headers, encodings }: Answer): number =>
  body.length +
  (encodings?.gzipped?.length ?? 0) +
  (encodings?.heads.size ?? 0) * HEAD_BYTES +
  Object.values(headers).reduce((sum, value) => sum + textBytes(value), 0);

/** Returns an answer that can be kept without other memory than its own. */
export const withOwnBody = (answer: Answer): Answer => ({ ...answer, body: inOwnBlock(answer.body) });

/**
 * Copies bytes that are part of a larger block, all of which would be kept with them: Node cuts small buffers from
 * blocks of 8 kB.
 */
function inOwnBlock(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const ownBytes = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(ownBytes);
  return ownBytes;
}

function encodingsOf(answer: Answer): Encodings {
  answer.encodings ??= { heads: new Map() };
  return answer.encodings;
}

// ------------------------------------------------------------------------------------------------- headers
/** One way of sending an answer. `length` is that of the body; undefined for a 304. */
interface Encoding {
  readonly isGzipped: boolean;
  readonly tag: string | undefined;
  readonly length?: number;
}

/**
 * Returns the headers as one flat list of names and values, which Node writes without copying. Most values are the same
 * each time. Those that differ are set at the end of the shared list, so the list must be used at once.
 */
function headFor({ headers: { origin } }: IncomingMessage, id: string, answer: Answer, encoding: Encoding): string[] {
  const { heads } = encodingsOf(answer);
  const name = `${encoding.isGzipped ? 'zipped' : 'plain'}${encoding.length === undefined ? ' 304' : ''}${origin === undefined ? '' : ' elsewhere'}`;
  const isKept = (origin ?? '').length <= MAX_ORIGIN_LENGTH;
  let head = isKept ? heads.get(name) : undefined;
  if (head === undefined) {
    head = headOf(answer, encoding, origin);
    if (isKept) {
      heads.set(name, head);
      answer.onGrowth?.();
    }
  }
  head[head.length - 1] = id;
  if (origin !== undefined) head[head.length - 3] = origin;
  return head;
}

const ORIGIN = 'Access-Control-Allow-Origin';
const REQUEST_ID = 'X-Request-Id';
const ADDRESS_HEADERS: ReadonlySet<string> = new Set(['Link', 'Location', 'X-TEC-API-ROOT', 'X-TEC-API-ORIGIN']);
const SECURITY = new Map(Object.entries(SECURITY_HEADERS));

/** Builds the list of headers. Uses a map, because merging objects with this many names takes thirty times as long. */
function headOf({ headers }: Answer, { isGzipped, tag, length }: Encoding, origin: string | undefined): string[] {
  const { [ORIGIN]: allowedOrigin, ...cors } = corsHeaders(origin);
  const head = new Map(SECURITY);
  // The home of a site may contain characters that are not allowed in headers.
  for (const [name, value] of Object.entries(headers)) head.set(name, ADDRESS_HEADERS.has(name) ? withAsciiAddresses(value) : value);
  // Browsers that know the policy ignore the older header, and others must not be stricter.
  if (!head.get('Content-Security-Policy')?.includes('frame-ancestors')) head.delete('X-Frame-Options');
  for (const [name, value] of Object.entries(cors)) head.set(name, value);
  if (tag !== undefined) head.set('ETag', tag);
  if (length === undefined) head.delete('Content-Type');
  else head.set('Content-Length', String(length));
  if (isGzipped && length !== undefined) head.set('Content-Encoding', 'gzip');
  // `headFor` sets the last values by their position, so headers of these names in the answer are dropped.
  head.delete(ORIGIN);
  if (allowedOrigin !== undefined) head.set(ORIGIN, '');
  head.delete(REQUEST_ID);
  head.set(REQUEST_ID, '');
  fitHead(head);
  return [...head].flat();
}

const gzipTag = (etag: string | undefined): string | undefined => (etag === undefined ? undefined : `${etag.slice(0, -1)}-gzip"`);

/**
 * Whether the client already has exactly these bytes (RFC 9110, 13.2.2). `If-None-Match` takes precedence over
 * `If-Modified-Since`, which must be the very date that was sent: after the clock of the server was set back, changes
 * have earlier dates than what clients have.
 */
function isNotModified({ headers, method }: IncomingMessage, etag: string | undefined, lastModified: string | undefined): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined)
    return etag !== undefined && (tags.trim() === '*' || tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
  return since !== undefined && lastModified !== undefined && Date.parse(since) === Date.parse(lastModified);
}

const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(headers['accept-encoding'] ?? '');

/**
 * Returns the strong validator of a body. `version` is the version of the record in the body. `If-Match` compares only
 * the version, so a tag can be used for a write in whatever language or form the record was read.
 */
export const etagOf = (body: Buffer, version?: string): string =>
  `"${version === undefined ? '' : `${version}.`}${hash('sha1', body, 'base64url')}"`;
