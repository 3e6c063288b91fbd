import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LogDetail, ProblemName } from '../errors.ts';

/** Data collected about a request while the server handles it. */
export interface RequestNotes {
  /** The request id: `X-Request-Id` of the answer, `id` in log entries. */
  readonly id: string;
  /** The URL as it was sent; middleware changes `req.url`. */
  readonly url: string;
  /** The client's address, as seen behind trusted proxies. */
  readonly clientAddress: string | undefined;
  /** Arrival time of the request, in milliseconds of `performance.now`. */
  readonly startedAt: number;
  /** The route that answers, with its parameters in braces; undefined if there is none. */
  route?: string | undefined;
  /** The id of the caller; 0: anonymous; undefined: the caller was not identified. */
  user?: number | undefined;
  /** Whether the answer came from memory; undefined if answers to this request are never kept. */
  memory?: 'hit' | 'miss' | undefined;
  /** Length of the body in bytes, if the headers do not give it. */
  bytes?: number;
  /** Why the request was refused. */
  refusal?: ({ readonly problem: ProblemName } & LogDetail) | undefined;
}

declare module 'node:http' {
  interface IncomingMessage {
    notes?: RequestNotes;
  }
}

/** A finished request. */
export interface FinishedRequest extends Readonly<RequestNotes> {
  readonly method: string;
  /** The `User-Agent` that the client sent. */
  readonly agent: string | undefined;
  /** The header `traceparent`, which makes the request part of a trace. */
  readonly traceparent: string | undefined;
  readonly status: number;
  /** Duration of the answer in milliseconds, until its last byte was handed to the operating system. */
  readonly ms: number;
  /** Bytes of the body as sent: after compression, 0 for a 304. */
  readonly bytes: number;
  /** Whether the whole answer was sent; false if the client disconnected. */
  readonly isComplete: boolean;
}

/**
 * Called after every finished request, whichever part of the server answered it. It must not throw and must be quick.
 */
export type Observer = (request: FinishedRequest) => void;

/**
 * Gives every request its notes, and calls the observers when it is finished. Call it first, and once for each request.
 * `addressOf` returns the client's address.
 */
export function observeRequests(
  observers: readonly Observer[],
  addressOf: (req: IncomingMessage) => string | undefined,
): (req: IncomingMessage, res: ServerResponse) => void {
  function notifyObservers(this: ServerResponse): void {
    const finished = toFinishedRequest(this);
    for (const observe of observers) observe(finished);
  }
  return (req, res) => {
    req.notes = {
      id: requestId(req.headers['x-request-id']),
      url: req.url ?? '',
      clientAddress: addressOf(req),
      startedAt: performance.now(),
    };
    res.on('close', notifyObservers);
  };
}

/** Returns the notes of a request; creates them if `observeRequests` has not. */
export function notesOf(req: IncomingMessage): RequestNotes {
  req.notes ??= { id: requestId(undefined), url: req.url ?? '', clientAddress: req.socket.remoteAddress, startedAt: performance.now() };
  return req.notes;
}

function toFinishedRequest(res: ServerResponse): FinishedRequest {
  const { req } = res;
  const { id, url, clientAddress, startedAt, route, user, memory, bytes, refusal } = notesOf(req);
  return {
    id,
    url,
    clientAddress,
    startedAt,
    route,
    user,
    memory,
    refusal,
    method: req.method ?? '',
    agent: req.headers['user-agent'],
    traceparent: singleValue(req.headers.traceparent),
    status: res.statusCode,
    ms: performance.now() - startedAt,
    bytes: bytes ?? declaredLength(res),
    isComplete: res.writableFinished,
  };
}

/** Returns the length of a body that a library sent. */
function declaredLength(res: ServerResponse): number {
  if (res.req.method === 'HEAD' || res.statusCode === 304) return 0;
  return Number(res.getHeader('content-length') ?? 0) || 0;
}

/** Ids that other servers generate: hexadecimal, UUIDs, trace ids, `Root=1-67891233-abcdef`. */
const SAFE_ID = /^[\w.:+/=@-]{1,128}$/;

/**
 * Returns the id sent with the request, so that the request can be followed across servers, if it is safe in a header
 * and in a log. Otherwise returns a new id.
 */
const requestId = (header: string | string[] | undefined): string =>
  typeof header === 'string' && SAFE_ID.test(header) ? header : randomUUID();

/** Returns a header; undefined if it was sent several times. */
const singleValue = (header: string | string[] | undefined): string | undefined => (typeof header === 'string' ? header : undefined);
