import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../config/config.ts';
import { fail } from '../errors.ts';
import { codeOf } from '../storage/engine/dialect.ts';
import { createRoom } from './room.ts';

/** How long a client may take, in milliseconds; slower ones are cut off by Node itself (408). */
export const TIME_LIMITS = {
  /** For the head of a request. */
  headersTimeout: 15_000,
  /** For a request with its body. */
  requestTimeout: 60_000,
  /**
   * Between two requests on one connection; more than proxies keep theirs, so that none is closed under their hands.
   */
  keepAliveTimeout: 72_000,
  /** How often the first two are looked at. */
  connectionsCheckingInterval: 5_000,
} as const;

/**
 * How long a client may take to read an answer: this many milliseconds, and more for every kilobyte (32 kB a second).
 */
const READING_MS = 30_000;
const READING_MS_PER_KB = 30;

/**
 * Ends the connection of a client that reads its answer too slowly, since the answer stays in memory until it has been
 * read. Call it after `end`; where the system has taken the whole answer already, nothing is to be done.
 *
 * @param patience milliseconds, beside those for its length
 */
export function cutSlowReader(res: ServerResponse, bytes: number, patience: number = READING_MS): void {
  // Mostly the system has taken the whole answer by now.
  if (res.writableFinished || res.destroyed || res.socket?.writableLength === 0) return;
  const timer = setTimeout(() => res.destroy(), patience + (bytes / 1024) * READING_MS_PER_KB).unref();
  res.once('close', () => clearTimeout(timer));
}

/** The longest head of a request, in bytes, its URL included; a longer one is refused by Node itself (431). */
export const LONGEST_HEAD = 16_384;

/** The longest body, in bytes, of a request that only reads or deletes, and of one whose sender has not signed in. */
export const SMALL_BODY = 65_536;

/**
 * A body that does not announce its length is kept in a block of this many bytes, which is enough for most; one that is
 * longer takes as much as it may have, and gives back what it did not need.
 */
const FIRST_BLOCK = 4096;

/**
 * The part of the budget that callers who have not signed in may take together, so that they never keep out those who
 * have, and the part that a user may take who has: an upload of somebody else finds room beside it.
 */
const STRANGERS_BODIES = 0.25;
const BODIES_OF_EACH = 2 / 3;

/** Bodies that announce no more bytes than this are not counted. */
const TINY_BODY = 4096;

const NO_SHARE: Share = { take: () => undefined, keep: () => undefined, release: () => undefined };

/**
 * The memory that the bodies of all requests of a process share, until they are answered. A body takes its announced
 * length before its first byte: nobody sends most of a file only to be refused, and none is kept for nothing.
 */
export interface Budget {
  /** The share of one request, which takes nothing yet. `user`: id of its sender, 0 where nobody has signed in. */
  readonly share: (user: number) => Share;
}

export interface Share {
  /** Takes this many bytes more. Throws server-busy where all bodies, or those of its sender, take too much. */
  readonly take: (bytes: number) => void;
  /** Gives back all but this many bytes. */
  readonly keep: (bytes: number) => void;
  /** Gives everything back. */
  readonly release: () => void;
}

/** A budget of `bodyMemory` bytes, or of as many as the longest single body takes. */
export function createBudget({ bodyMemory, bodyLimit, uploadLimit }: Pick<Config, 'bodyMemory' | 'bodyLimit' | 'uploadLimit'>): Budget {
  const longest = Math.max(bodyLimit, uploadLimit);
  const all = Math.max(bodyMemory, longest);
  const room = createRoom({ all, strangers: all * STRANGERS_BODIES, each: Math.max(all * BODIES_OF_EACH, longest) });
  return {
    share: (user) => {
      let own = 0;
      const count = (more: number) => {
        own += more;
        room.count(user, more);
      };
      return {
        take: (more) => {
          if (!room.has(user, more)) fail('server-busy', { detail: { ...room.state(), user } });
          count(more);
        },
        keep: (bytes) => count(Math.min(bytes, own) - own),
        release: () => count(-own),
      };
    },
  };
}

/**
 * The body of a request, up to `limit` bytes. What is longer is refused at once, by its announced length or as soon as
 * it gets there; the rest is thrown away by Node, so that the error reaches clients that are still sending.
 *
 * @throws body-too-large, server-busy, request-aborted where the client hung up before the end
 */
export async function readBody(req: IncomingMessage, limit: number, share: Share): Promise<Buffer> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > limit) fail('body-too-large', { detail: { limit, announced } });
  // Forms such as that of signing in are never kept out: they take no more than the connection itself.
  const body = collect({ announced, limit }, announced > 0 && announced <= TINY_BODY ? NO_SHARE : share);
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
  return body.whole();
}

/**
 * Puts a body together as it comes, in one block where its length is announced (0 where it is not), else in two. If
 * pieces of a few bytes were kept as they are, each would take a hundred times its size.
 */
function collect(
  { announced, limit }: { readonly announced: number; readonly limit: number },
  share: Share,
): { add: (piece: Buffer) => void; whole: () => Buffer } {
  const blocks: Buffer[] = [];
  let free = Buffer.alloc(0);
  let size = 0;
  const grow = (bytes: number): void => {
    share.take(bytes);
    free = Buffer.allocUnsafeSlow(bytes);
    blocks.push(free);
  };
  const add = (piece: Buffer): void => {
    if (piece.length === 0) return;
    if (free.length === 0) grow(blocks.length === 0 ? Math.min(FIRST_BLOCK, limit) : limit - size);
    const copied = piece.copy(free);
    free = free.subarray(copied);
    size += copied;
    add(piece.subarray(copied));
  };
  if (announced > 0) grow(announced);
  const whole = (): Buffer => {
    share.keep(size);
    const [only = free, ...more] = blocks;
    return more.length === 0 ? only.subarray(0, size) : Buffer.concat(blocks, size);
  };
  return { add, whole };
}
