import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import type { LogDetail, ProblemName } from '../errors.ts';
import { type Log, loggedUrl } from '../log.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** What the answer carries as `X-Request-Id` and entries of the log as `req.id`. */
    id?: string;
    /** Why the request was refused. */
    refusal?: { readonly problem: ProblemName } & LogDetail;
  }
}

/**
 * Writes one entry for each request, under an id that the answer carries, and why it was refused if it was. Headers and
 * bodies are not written.
 */
export function requestLog(log: Log): RequestHandler {
  return (req, res, next) => {
    req.id = randomUUID();
    if (req.url.startsWith('/health/')) return next();
    const [begun, { ip }] = [performance.now(), req];
    res.once('close', () => {
      const { statusCode, writableFinished } = res;
      const level = statusCode >= 500 ? 'error' : 'info';
      if (!log.isLevelEnabled(level)) return;
      log[level](
        {
          ...requestEntry(req, ip),
          res: { statusCode },
          ...(req.refusal ? { refusal: req.refusal } : {}),
          responseTime: Math.round(performance.now() - begun),
        },
        writableFinished ? 'request completed' : 'request aborted',
      );
    });
    next();
  };
}

/** A request as entries of the log tell of it. `from`: its address, which is not known any more when it is over. */
export const requestEntry = ({ id, method, originalUrl }: Pick<Request, 'id' | 'method' | 'originalUrl'>, from: string | undefined) => ({
  req: { id, method, url: loggedUrl(originalUrl), from },
});
