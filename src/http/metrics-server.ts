import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { handlePortErrors, type PortErrors } from '../host/port.ts';
import { splitTarget } from './addressing.ts';
import { METRICS_TYPE } from './metrics.ts';

/** The path of the metrics. */
const PATH = '/metrics';

/**
 * Answers `GET /metrics`. `token`: the bearer token (RFC 6750) that requests must have; undefined: none is needed.
 * `read` returns the metrics of all processes.
 */
export function metricsListener(token: string | undefined, read: () => Promise<string>): RequestListener {
  return (req, res) => {
    const answer = (status: number, text: string, type = 'text/plain; charset=utf-8'): void => {
      res.writeHead(status, {
        'Content-Type': type,
        'Cache-Control': 'no-store',
        ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
        ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
      });
      res.end(req.method === 'HEAD' ? undefined : text);
    };
    if (!isMetricsRequest(req.url)) return answer(404, 'Not found\n');
    if (req.method !== 'GET' && req.method !== 'HEAD') return answer(405, 'Method not allowed\n');
    if (token !== undefined && !isToken(token, req.headers.authorization)) return answer(401, 'Unauthorized\n');
    read().then(
      (page) => answer(200, page, METRICS_TYPE),
      () => answer(503, 'The metrics cannot be read now\n'),
    );
  };
}

/** Whether this is a request for the metrics. */
export const isMetricsRequest = (url = ''): boolean => splitTarget(url).path === PATH;

/** Serves the metrics on a separate port. */
export function openMetricsPort(
  { host, port }: { readonly host: string; readonly port: number },
  listener: RequestListener,
  listeners: PortErrors & { readonly onOpen: (port: number) => void },
): Server {
  const server = createServer(listener);
  handlePortErrors(server, listeners);
  server.listen(port, host, () => {
    const address = server.address();
    listeners.onOpen(typeof address === 'object' && address ? address.port : port);
  });
  server.unref();
  return server;
}

/** Compares the token in constant time. The name of the scheme is case-insensitive (RFC 9110, 11.1). */
function isToken(token: string, header = ''): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(`Bearer ${token}`), digest(header.replace(/^bearer +/i, 'Bearer ')));
}
