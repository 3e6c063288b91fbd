import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LogDetail, ProblemName } from '../errors.ts';

/** What is noted of a request on its way through the server. */
export interface Notes {
  /** What the answer carries as `X-Request-Id` and entries of the log as `id`. */
  readonly id: string;
  /** The address as it was sent: middleware changes that of the request. */
  readonly url: string;
  /** The address of the client, behind proxies that are trusted. */
  readonly from: string | undefined;
  /** When the request came in, in milliseconds of `performance.now`. */
  readonly begun: number;
  /** The route that answers, with its parameters in braces; undefined: none. */
  route?: string | undefined;
  /** The id of the caller; 0: anonymous; undefined: it was not asked who calls. */
  user?: number | undefined;
  /** Whether the answer came from memory; undefined: this request has no answer that could be kept. */
  memory?: 'hit' | 'miss' | undefined;
  /** How many bytes the body has, where the headers do not say so. */
  bytes?: number;
  /** Why the request was refused. */
  refusal?: ({ readonly problem: ProblemName } & LogDetail) | undefined;
}

declare module 'node:http' {
  interface IncomingMessage {
    notes?: Notes;
  }
}

/** A request that is over. */
export interface Answered extends Readonly<Notes> {
  readonly method: string;
  /** What the client said it is. */
  readonly agent: string | undefined;
  /** The header `traceparent`, by which the request is part of a trace. */
  readonly traceparent: string | undefined;
  readonly status: number;
  /** How long the answer took, until its last byte was handed to the system. */
  readonly ms: number;
  /** Bytes of the body, as they were sent: compressed, none with a 304. */
  readonly bytes: number;
  /** Whether the whole answer went out; else the client hung up. */
  readonly whole: boolean;
}

/** Is told of every request that is over, whoever answered it. It must not throw, and must be quick. */
export type Observer = (answered: Answered) => void;

/**
 * Gives every request its notes, and tells the observers when it is over. To be called first, once for each request.
 * `addressOf`: where it comes from.
 */
export function observed(
  observers: readonly Observer[],
  addressOf: (req: IncomingMessage) => string | undefined,
): (req: IncomingMessage, res: ServerResponse) => void {
  function tell(this: ServerResponse): void {
    const answered = answeredBy(this);
    for (const observe of observers) observe(answered);
  }
  return (req, res) => {
    req.notes = { id: requestId(req.headers['x-request-id']), url: req.url ?? '', from: addressOf(req), begun: performance.now() };
    res.on('close', tell);
  };
}

/** The notes of a request; without `observed`, new ones. */
export function notesOf(req: IncomingMessage): Notes {
  req.notes ??= { id: requestId(undefined), url: req.url ?? '', from: req.socket.remoteAddress, begun: performance.now() };
  return req.notes;
}

function answeredBy(res: ServerResponse): Answered {
  const { req } = res;
  const { id, url, from, begun, route, user, memory, bytes, refusal } = notesOf(req);
  return {
    id,
    url,
    from,
    begun,
    route,
    user,
    memory,
    refusal,
    method: req.method ?? '',
    agent: req.headers['user-agent'],
    traceparent: oneOf(req.headers.traceparent),
    status: res.statusCode,
    ms: performance.now() - begun,
    bytes: bytes ?? announcedBytes(res),
    whole: res.writableFinished,
  };
}

/** The length of a body that was sent by a library. */
function announcedBytes(res: ServerResponse): number {
  if (res.req.method === 'HEAD' || res.statusCode === 304) return 0;
  return Number(res.getHeader('content-length') ?? 0) || 0;
}

/** Ids that other servers make: hexadecimal, UUIDs, trace ids, `Root=1-67891233-abcdef`. */
const SOUND_ID = /^[\w.:+/=@-]{1,128}$/;

/**
 * The id that came with the request, so that it can be followed from one server to the next, if it can stand in a
 * header and in a log as it is; else a new one.
 */
const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && SOUND_ID.test(given) ? given : randomUUID();

/** A header that is sent several times says nothing. */
const oneOf = (header: string | string[] | undefined): string | undefined => (typeof header === 'string' ? header : undefined);
