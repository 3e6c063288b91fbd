import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * Nothing here is a page, so nothing may run or be framed. Other sites may use the answers, pictures and scripts (JSONP) included. Whether the site is to
 * be reached by https alone is the affair of the server before this one.
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

/** Gives them to what goes out by itself; `deliver` adds them to answers. */
export const secure: RequestHandler = (_req, res, next) => {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
  next();
};

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
