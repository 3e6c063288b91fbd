import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from './site-client.ts';

/** A message as it arrived. */
export interface Got {
  readonly path: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly body: Json;
}

/**
 * Starts a receiver of webhooks on this machine. `receive` is called with each message and returns the status of the
 * answer. Returns the URL of the receiver, and a function that ends it.
 */
export async function startReceiver(
  receive: (message: Got) => number | Promise<number>,
): Promise<{ readonly url: string; readonly close: () => Promise<unknown> }> {
  const server = http.createServer((req, res) => {
    let text = '';
    req.setEncoding('utf8');
    req.on('data', (piece) => {
      text += piece;
    });
    req.on('end', () => {
      const answer = receive({ path: req.url, headers: req.headers, text, body: JSON.parse(text) });
      void Promise.resolve(answer).then((status) => res.writeHead(status).end());
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return { url, close: () => new Promise((closed) => server.close(closed)) };
}
