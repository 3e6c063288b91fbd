import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { fail } from '../errors.ts';
import { notesOf } from './answered.ts';

/**
 * Nothing here is a page, so nothing may run or be framed. Other sites may use the answers, pictures and scripts
 * (JSONP) included. Whether the site is to be reached by https alone is for the server in front of this one to decide.
 */
const helmeted = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: false,
});

/** The headers that helmet gives every answer. They are the same each time, so it is asked once. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = headersOf(helmeted);

/** Gives them, and the id of the request, to what goes out by itself; `deliver` adds them to answers. */
export const secure: RequestHandler = (req, res, next) => {
  res.setHeader('X-Request-Id', notesOf(req).id);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
  next();
};

/**
 * Refuses a request that names its host more than once (RFC 9112, 3.2): a server in front of this one may have gone by
 * another of the names.
 */
export const oneHost: RequestHandler = (req, _res, next) => {
  const hosts = hostsOf(req);
  if (hosts > 1) fail('several-hosts', { detail: { hosts } });
  next();
};

/** How often a request names its host. */
export function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') hosts += 1;
  return hosts;
}

function headersOf(middleware: typeof helmeted): Record<string, string> {
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
