import http from 'node:http';
import type { Json } from './site-client.ts';

/** A stream of server-sent events. */
export interface EventStream {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Resolves with the next event as soon as it arrives. */
  readonly next: () => Promise<{ id: string; event: string; data: Json }>;
  /** Received data that `next` has not returned. */
  readonly rest: () => string;
  readonly ended: Promise<void>;
  readonly close: () => void;
}

/** Opens the stream at a URL. */
export const openEventStream = (url: string, headers: Record<string, string> = {}): Promise<EventStream> =>
  new Promise((resolve, reject) => {
    const request = http.get(url, { headers, agent: false }, (response) => {
      let text = '';
      let wake = () => {};
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
        wake();
      });
      const next: EventStream['next'] = async () => {
        for (;;) {
          const end = text.indexOf('\n\n');
          if (end < 0) {
            await new Promise<void>((resolveArrival) => {
              wake = resolveArrival;
            });
            continue;
          }
          const lines = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? '';
          if (field('data') !== '') return { id: field('id'), event: field('event'), data: JSON.parse(field('data')) };
        }
      };
      const ended = new Promise<void>((resolveEnd) => response.once('close', resolveEnd));
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        next,
        rest: () => text,
        ended,
        close: () => request.destroy(),
      });
    });
    request.on('error', reject);
  });
