import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../config/config.ts';
import { fail } from '../errors.ts';
import { codeOf } from '../objects.ts';
import { createSharedQuota } from './shared-quota.ts';

/** Time limits for clients, in milliseconds. Node itself cuts off slower ones (408). */
export const TIME_LIMITS = {
  /** For the head of a request. */
  headersTimeout: 15_000,
  /** For a request with its body. */
  requestTimeout: 60_000,
  /**
   * Idle time between two requests on one connection. Longer than proxies keep their connections, so that none is
   * closed while a proxy uses it.
   */
  keepAliveTimeout: 72_000,
  /** Interval at which the first two limits are checked. */
  connectionsCheckingInterval: 5_000,
} as const;

/** Time that a client may take to read an answer: these milliseconds, plus an amount per kilobyte (32 kB a second). */
const READ_TIMEOUT_MS = 30_000;
const READ_TIMEOUT_MS_PER_KB = 30;
const readTimeout = (bytes: number, timeoutMs: number): number => timeoutMs + (bytes / 1024) * READ_TIMEOUT_MS_PER_KB;
/** Maximum memory for the parts of all answers that clients have not read yet. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024;

/**
 * Ends the connection of a client that reads its answer too slowly, since the answer stays in memory until it has been
 * read. If many clients do, the ones that have waited longest are disconnected earlier. Call it after `end`, or after
 * each part of an answer without end. Does nothing if the operating system has already taken everything.
 *
 * @param timeoutMs milliseconds, in addition to those for the length
 */
export function disconnectSlowReader(
  res: ServerResponse,
  bytes: number,
  { timeoutMs = READ_TIMEOUT_MS, maxUnreadBytes = MAX_UNREAD_BYTES } = {},
): void {
  // Usually the operating system has taken the whole answer by this time.
  if (isRead(res)) return;
  unreadAnswers.add(res);
  const disconnect = (): void => {
    unreadAnswers.delete(res);
    res.destroy();
  };
  const timer = setTimeout(disconnect, readTimeout(bytes, timeoutMs)).unref();
  const stop = (): void => {
    clearTimeout(timer);
    unreadAnswers.delete(res);
    res.off('close', stop).off('drain', stop);
  };
  res.once('close', stop).once('drain', stop);
  limitUnreadAnswers(maxUnreadBytes);
}

/**
 * Ends the connection of a client that reads a file too slowly, or nothing of it for `timeoutMs` milliseconds: the file
 * stays open until the client has read it. Call it before the first byte is sent.
 */
export function disconnectSlowDownload(res: ServerResponse, bytes: number, timeoutMs = READ_TIMEOUT_MS): void {
  const { socket } = res;
  let sentBytes = socket?.bytesWritten;
  const disconnectIdle = (): void => {
    if (socket?.bytesWritten === sentBytes) res.destroy();
    sentBytes = socket?.bytesWritten;
  };
  const timers = [setTimeout(() => res.destroy(), readTimeout(bytes, timeoutMs)).unref(), setInterval(disconnectIdle, timeoutMs).unref()];
  res.once('close', () => timers.forEach(clearTimeout));
}

/** Answers that clients had not read when they were sent, the oldest first. */
const unreadAnswers = new Set<ServerResponse>();

const isRead = (res: ServerResponse): boolean => res.writableFinished || res.destroyed || res.socket?.writableLength === 0;

function limitUnreadAnswers(maxBytes: number): void {
  let bytes = 0;
  for (const res of [...unreadAnswers].reverse()) {
    bytes += isRead(res) ? 0 : res.writableLength;
    if (bytes > maxBytes) res.destroy();
  }
}

/** The longest head of a request, in bytes, its URL included. Node itself refuses longer ones (431). */
export const MAX_HEAD_BYTES = 16_384;

/** The longest body, in bytes, of a request that only reads or deletes, and of a request by an anonymous caller. */
export const SMALL_BODY_BYTES = 65_536;

/**
 * First block of a body without an announced length, in bytes; enough for most. A longer body reserves its maximum, and
 * returns the rest at the end.
 */
const FIRST_BLOCK_BYTES = 4096;

/**
 * Share of the budget that anonymous callers may take together, so that they never lock out signed-in users; below it,
 * the share of one signed-in user, which leaves room for another user's upload.
 */
const ANONYMOUS_SHARE = 0.25;
const USER_SHARE = 2 / 3;

/** In bytes: bodies that announce no more are not counted. */
const TINY_BODY_BYTES = 4096;

const NO_SHARE: BodyShare = { reserve: () => undefined, releaseAllBut: () => undefined, release: () => undefined };

/**
 * The memory that the bodies of all requests of a process share until they are answered. A body reserves its announced
 * length before its first byte is read, so that no client sends most of a file only to be refused.
 */
export interface BodyBudget {
  /** Creates the share of one request, initially empty. `user`: id of its sender, 0 if anonymous. */
  readonly share: (user: number) => BodyShare;
}

export interface BodyShare {
  /** Reserves this many more bytes. Throws server-busy if all bodies, or those of this sender, take too much. */
  readonly reserve: (bytes: number) => void;
  /** Releases all but this many bytes. */
  readonly releaseAllBut: (bytes: number) => void;
  /** Releases everything. */
  readonly release: () => void;
}

/**
 * Creates a budget of `bodyMemory` bytes, or of the longest single body if that is more. Its shares throw server-busy.
 */
export function createBudget({ bodyMemory, bodyLimit, uploadLimit }: Pick<Config, 'bodyMemory' | 'bodyLimit' | 'uploadLimit'>): BodyBudget {
  const maxBody = Math.max(bodyLimit, uploadLimit);
  const total = Math.max(bodyMemory, maxBody);
  const quota = createSharedQuota({ total, anonymousTotal: total * ANONYMOUS_SHARE, perUser: Math.max(total * USER_SHARE, maxBody) });
  return {
    share: (user) => {
      let shareBytes = 0;
      const addBytes = (bytes: number) => {
        shareBytes += bytes;
        quota.add(user, bytes);
      };
      return {
        reserve: (bytes) => {
          if (!quota.hasRoom(user, bytes)) fail('server-busy', { detail: { ...quota.usage(), user } });
          addBytes(bytes);
        },
        releaseAllBut: (bytes) => addBytes(Math.min(bytes, shareBytes) - shareBytes),
        release: () => addBytes(-shareBytes),
      };
    },
  };
}

/**
 * Reads the body of a request, up to `limit` bytes. A longer body is refused at once, by its announced length or when
 * it passes the limit. Node discards the rest, so that clients that are still sending receive the error.
 *
 * @throws body-too-large, server-busy, request-aborted if the client disconnected before the end
 */
export async function readBody(req: IncomingMessage, limit: number, share: BodyShare): Promise<Buffer> {
  const announcedBytes = Number(req.headers['content-length'] ?? 0);
  if (announcedBytes > limit) fail('body-too-large', { detail: { limit, announced: announcedBytes } });
  // Small forms such as the sign-in form are never locked out: they take no more memory than the connection itself.
  const body = collect({ announcedBytes, limit }, announcedBytes > 0 && announcedBytes <= TINY_BODY_BYTES ? NO_SHARE : share);
  let size = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) fail('body-too-large', { detail: { limit } });
      body.add(chunk);
    }
  } catch (error) {
    if (codeOf(error) === 'ECONNRESET') fail('request-aborted', { cause: error });
    throw error;
  }
  return body.toBuffer();
}

/** Reads a body of at most `TINY_BODY_BYTES` bytes, such as a form with a single field. Throws as `readBody`. */
export const readTinyBody = (req: IncomingMessage): Promise<Buffer> => readBody(req, TINY_BODY_BYTES, NO_SHARE);

/**
 * Assembles a body from its chunks, in one block if its length is announced (`announcedBytes` is 0 if not), otherwise
 * in two. If chunks of a few bytes were kept separately, each would take a hundred times its size.
 */
function collect(
  { announcedBytes, limit }: { readonly announcedBytes: number; readonly limit: number },
  share: BodyShare,
): { add: (chunk: Buffer) => void; toBuffer: () => Buffer } {
  const blocks: Buffer[] = [];
  let freeBlock = Buffer.alloc(0);
  let size = 0;
  const grow = (bytes: number): void => {
    share.reserve(bytes);
    freeBlock = Buffer.allocUnsafeSlow(bytes);
    blocks.push(freeBlock);
  };
  const add = (chunk: Buffer): void => {
    if (chunk.length === 0) return;
    if (freeBlock.length === 0) grow(blocks.length === 0 ? Math.min(FIRST_BLOCK_BYTES, limit) : limit - size);
    const copied = chunk.copy(freeBlock);
    freeBlock = freeBlock.subarray(copied);
    size += copied;
    add(chunk.subarray(copied));
  };
  if (announcedBytes > 0) grow(announcedBytes);
  const toBuffer = (): Buffer => {
    share.releaseAllBut(size);
    const [firstBlock = freeBlock, ...otherBlocks] = blocks;
    return otherBlocks.length === 0 ? firstBlock.subarray(0, size) : Buffer.concat(blocks, size);
  };
  return { add, toBuffer };
}
