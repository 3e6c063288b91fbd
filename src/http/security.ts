import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { fail } from '../errors.ts';
import { notesOf } from './request-notes.ts';

/**
 * API answers are not pages, so nothing in them may run or be framed. Other sites may use the answers, including
 * pictures and scripts (JSONP). Whether the site requires https is decided by the server in front of this one.
 */
const helmetMiddleware = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: false,
});

/** The headers that helmet sets on every answer. They never change, so they are computed once. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = headersOf(helmetMiddleware);

/** Sets these headers and the request id on responses that bypass `deliver`, which adds them to answers. */
export const setSecurityHeaders: RequestHandler = (req, res, next) => {
  res.setHeader('X-Request-Id', notesOf(req).id);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
  next();
};

/**
 * Refuses a request with more than one `Host` header (RFC 9112, 3.2), since a server in front of this one may have used
 * a different one.
 *
 * @throws several-hosts
 */
export const requireSingleHost: RequestHandler = (req, _res, next) => {
  const hosts = countHostHeaders(req);
  if (hosts > 1) fail('several-hosts', { detail: { hosts } });
  next();
};

/** Counts the `Host` headers of a request. */
export function countHostHeaders({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') hosts += 1;
  return hosts;
}

function headersOf(middleware: typeof helmetMiddleware): Record<string, string> {
  const headers: Record<string, string> = {};
  const answer = {
    setHeader: (name: string, value: string) => {
      headers[name] = value;
    },
    removeHeader: () => undefined,
  };
  middleware({} as never, answer as never, (error) => {
    if (error) throw error;
  });
  return headers;
}
