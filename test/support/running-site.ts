import { mkdtempSync, readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config.ts';
import { createApp } from '../../src/http/app.ts';
import { answerRawAddresses } from '../../src/http/raw-address.ts';
import type { Turns } from '../../src/http/turns.ts';
import type { Log } from '../../src/log.ts';
import { openSite, type Site } from '../../src/site.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { urlOf } from './databases.ts';
import { answerInMemory, canAnswerInMemory, type PlainAnswer, type PlainRequest } from './in-memory.ts';

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body, or undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

export interface RunningSite {
  readonly site: Site;
  readonly base: string;
  /**
   * Sends a request exactly as written: the path is not touched. Requests to `tec/v1` get the header that they must
   * have, unless `headers` names it: `UNACKNOWLEDGED` leaves it out.
   */
  readonly send: (
    method: string,
    path: string,
    options?: { headers?: Record<string, string>; body?: string | Buffer | object | null; as?: string },
  ) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

const credentials = JSON.parse(readFileSync(new URL('../fixtures/credentials.json', import.meta.url), 'utf8')) as Record<
  string,
  { application_password: string }
>;

/** The application password of one of the fixture's users. */
export const passwordOf = (user: string): string => credentials[user]?.application_password ?? '';

/** The Authorization header of one of the fixture's users. */
export const basic = (user: string): string => `Basic ${Buffer.from(`${user}:${passwordOf(user)}`).toString('base64')}`;

const ACKNOWLEDGEMENT = 'X-TEC-EEA';

/** Headers of a request to `tec/v1` that does not acknowledge that this interface is experimental. */
export const UNACKNOWLEDGED = { [ACKNOWLEDGEMENT]: '' };

/** The headers of a request, with the acknowledgement if it needs one: every request without it is refused. */
function acknowledged(path: string, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const name = Object.keys(headers).find((name) => name.toLowerCase() === ACKNOWLEDGEMENT.toLowerCase());
  if (name === undefined) return /(\/|%2f)tec(\/|%2f)v1\b/i.test(path) ? { ...headers, [ACKNOWLEDGEMENT]: 'yes' } : headers;
  const { [name]: value, ...rest } = headers;
  return value === '' ? rest : headers;
}

export interface ServeOptions {
  readonly env?: Record<string, string>;
  readonly clock?: () => Date;
  readonly log?: Log;
  /**
   * Disables compression regardless of the request: `fetch` always asks for it, which is expensive when thousands of
   * responses are compared.
   */
  readonly uncompressed?: boolean;
  /** Replaces the turns of requests that read. */
  readonly turns?: Turns;
}

/** Serves a database that `describeDatabases` created, on a new port. */
export async function serveDatabase(
  db: Database,
  { env = {}, clock, log, uncompressed = false, turns }: ServeOptions = {},
): Promise<RunningSite> {
  const config = readConfig({
    DATABASE_URL: urlOf(db),
    UPLOADS_DIR: mkdtempSync(join(tmpdir(), 'fasti-uploads-')),
    BACKUPS_DIR: mkdtempSync(join(tmpdir(), 'fasti-backups-')),
    LOG_LEVEL: 'silent',
    CACHE_FRESHNESS_MS: '0',
    TABLE_PREFIX: db.prefix,
    ...env,
  });
  const site = await openSite(config, { watched: true, ...(clock ? { clock } : {}), ...(log ? { log } : {}) });
  const app = createApp(site, undefined, undefined, undefined, turns);
  const listener: http.RequestListener = (request, response) => {
    if (uncompressed) delete request.headers['accept-encoding'];
    app(request, response);
  };
  const server = http.createServer(listener);
  answerRawAddresses(server, site, []);
  // The server must not close an idle connection just as a request arrives: the test would fail.
  server.keepAliveTimeout = 0;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const agent = new http.Agent({ keepAlive: true });
  return {
    site,
    base: `http://127.0.0.1:${port}`,
    send: async (method, path, { headers: ownHeaders = {}, body = null, as } = {}) => {
      const headers = acknowledged(path, ownHeaders);
      const isJson = body !== null && typeof body === 'object' && !Buffer.isBuffer(body);
      const request = {
        method,
        path,
        headers: { ...(isJson ? { 'Content-Type': 'application/json' } : {}), ...(as ? { Authorization: basic(as) } : {}), ...headers },
        body: isJson ? JSON.stringify(body) : (body as string | Buffer | null),
      };
      const answer = canAnswerInMemory(request)
        ? await answerInMemory(listener, `127.0.0.1:${port}`, request)
        : await answerByConnection(agent, port, request);
      return withBody(answer);
    },
    close: async () => {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await site.close();
    },
  };
}

function answerByConnection(agent: http.Agent, port: number, { method, path, headers, body }: PlainRequest): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const request = http.request({ agent, host: '127.0.0.1', port, method, path, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    request.on('error', reject);
    request.end(body ?? undefined);
  });
}

/** Adds a body that is parsed only when it is read, since many tests compare only texts. */
function withBody(answer: PlainAnswer): Answer {
  let body: { readonly parsed: unknown } | undefined;
  return Object.defineProperty({ ...answer, body: undefined }, 'body', {
    enumerable: true,
    get: () => {
      body ??= { parsed: parsed(answer.text) };
      return body.parsed;
    },
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
