import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { pinoHttp } from 'pino-http';
import { type Log, loggedUrl } from '../log.ts';

/** Writes one entry for each request, under an id that the answer carries as `X-Request-Id`. Headers and bodies are not written. */
export function requestLog(log: Log): RequestHandler {
  return pinoHttp({
    logger: log,
    genReqId: (_req, res) => {
      const id = randomUUID();
      res.setHeader('X-Request-Id', id);
      return id;
    },
    autoLogging: { ignore: (req) => req.url?.startsWith('/health/') ?? false },
    customLogLevel: (_req, res, error) => (error || res.statusCode >= 500 ? 'error' : 'info'),
    serializers: {
      req: ({ id, method, url, raw }: { id: string; method: string; url: string; raw: IncomingMessage & { ip?: string } }) => ({
        id,
        method,
        url: loggedUrl(url),
        from: raw.ip,
      }),
      res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
    },
  });
}
