import type { IncomingMessage } from 'node:http';
import { fail } from '../errors.ts';
import { codeOf } from '../storage/dialect.ts';

/** How long a client may take, in milliseconds; slower ones are cut off by Node itself (408). */
export const TIME_LIMITS = {
  /** For the head of a request. */
  headersTimeout: 15_000,
  /** For a request with its body. */
  requestTimeout: 60_000,
  /** Between two requests on one connection; more than proxies keep theirs, so that none is closed under their hands. */
  keepAliveTimeout: 72_000,
  /** How often the first two are looked at. */
  connectionsCheckingInterval: 5_000,
} as const;

/** The longest head of a request, in bytes, its URL included; a longer one is refused by Node itself (431). */
export const LONGEST_HEAD = 16_384;

const NO_BODY = Buffer.alloc(0);

/**
 * The body of a request, up to `limit` bytes. What is longer is refused at once, by its announced length or as soon as it gets there; the rest is
 * thrown away by Node, so that the refusal reaches clients that are still sending.
 *
 * @throws body-too-large, request-aborted where the client hung up before the end
 */
export async function readBody(req: IncomingMessage, limit: number): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
  // A request that announces no body has none (RFC 9112, 6.3).
  if (length === undefined && encoding === undefined) return NO_BODY;
  if (Number(length ?? 0) > limit) fail('body-too-large');
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) fail('body-too-large');
      chunks.push(chunk);
    }
  } catch (error) {
    if (codeOf(error) === 'ECONNRESET') fail('request-aborted', { cause: error });
    throw error;
  }
  return Buffer.concat(chunks);
}
