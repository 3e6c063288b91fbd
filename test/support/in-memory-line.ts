import { AsyncResource } from 'node:async_hooks';
import { type IncomingHttpHeaders, type Server, validateHeaderName, validateHeaderValue } from 'node:http';
import { Duplex } from 'node:stream';

/**
 * HTTP with a server of this process, without the network: it reads and writes the same bytes as ever, and neither the
 * operating system nor a client that is made for more has a part in it. Light requests take a quarter less
 * processor time so.
 */

/** A request as it is sent; `Host`, `Connection` and the length are added to its headers. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string | Buffer | null;
}

/** What came back. `text`: the body. */
export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** As many connections to a server as there are requests at a time; each serves for many. */
export interface Line {
  /** @throws if the request cannot be written as HTTP, or the connection ends before the answer does. */
  readonly ask: (sent: Sent) => Promise<Received>;
  readonly close: () => void;
}

/** As much as a socket gives at once. */
const PIECE = 65_536;
const HEAD_END = '\r\n\r\n';
/** Without a body, requests of these methods say no length. */
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** `host`: to whom requests are addressed. */
export function lineTo(server: Server, host: string): Line {
  // What the server does must not belong to the test that asks, such as to a transaction that it is in.
  const apart = new AsyncResource('Line');
  const all = new Set<Connection>();
  const idle: Connection[] = [];
  const connect = () => {
    const connection = new Connection();
    all.add(connection);
    connection.once('close', () => all.delete(connection));
    apart.runInAsyncScope(() => server.emit('connection', connection));
    return connection;
  };
  return {
    ask: async (sent) => {
      const head = headOf(sent, host);
      const open = idle.pop();
      const connection = open && !open.destroyed ? open : connect();
      const { received, stays } = await connection.exchange(head, sent, apart);
      if (stays) idle.push(connection);
      return received;
    },
    close: () => {
      for (const connection of all) connection.destroy();
    },
  };
}

/** The lines before the body, as Node's own client writes them. */
function headOf({ method, path, headers, payload }: Sent, host: string): Buffer {
  if (/[^\u0021-\u00ff]/.test(path)) throw new TypeError('a path holds characters that must be encoded');
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const length = payload !== null ? Buffer.byteLength(payload) : BODILESS.has(method) || given.has('transfer-encoding') ? undefined : 0;
  const usual = { Host: host, Connection: 'keep-alive', ...(length === undefined ? {} : { 'Content-Length': String(length) }) };
  const lines = [`${method} ${path} HTTP/1.1`];
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    lines.push(`${name}: ${value}`);
  }
  for (const [name, value] of Object.entries(usual)) if (!given.has(name.toLowerCase())) lines.push(`${name}: ${value}`);
  return Buffer.from(lines.join('\r\n') + HEAD_END, 'latin1');
}

interface Exchange {
  readonly received: Received;
  /** Whether the connection can be used again. */
  readonly stays: boolean;
}

/** What the server takes for a socket. */
class Connection extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  private written: Buffer = Buffer.alloc(0);
  private method = '';
  private settle: { resolve: (exchange: Exchange) => void; reject: (error: Error) => void } | undefined;

  constructor() {
    super({ allowHalfOpen: false });
  }

  /** Sends a request and waits for the answer to it; one at a time. */
  exchange(head: Buffer, { method, payload }: Sent, apart: AsyncResource): Promise<Exchange> {
    this.method = method;
    this.written = Buffer.alloc(0);
    const body = payload === null ? Buffer.alloc(0) : Buffer.from(payload);
    setImmediate(() =>
      apart.runInAsyncScope(() => {
        this.push(head);
        for (let at = 0; at < body.length && !this.destroyed; at += PIECE) this.push(body.subarray(at, at + PIECE));
      }),
    );
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
  }

  override _read(): void {
    // Everything is pushed as soon as it is there.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.collect([chunk]);
    done();
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.collect(chunks.map(({ chunk }) => chunk));
    done();
  }

  override _final(done: () => void): void {
    this.look(true);
    done();
  }

  override _destroy(_error: Error | null, done: (error: Error | null) => void): void {
    this.look(true);
    this.settle?.reject(Object.assign(new Error('the connection has ended without an answer'), { code: 'ECONNRESET' }));
    this.settle = undefined;
    done(null);
  }

  private collect(chunks: readonly Buffer[]): void {
    this.written = this.written.length === 0 && chunks.length === 1 ? chunks[0]! : Buffer.concat([this.written, ...chunks]);
    this.look(false);
  }

  /** `ended`: nothing more will be written. */
  private look(ended: boolean): void {
    if (!this.settle) return;
    const exchange = answerIn(this.written, this.method, ended);
    if (!exchange) return;
    const { resolve } = this.settle;
    this.settle = undefined;
    // First the server is done with it.
    setImmediate(() => resolve(exchange));
  }
}

/** The answer, once it is complete. */
function answerIn(bytes: Buffer, method: string, ended: boolean): Exchange | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(first.split(' ')[1]);
  const rest = bytes.subarray(end + HEAD_END.length);
  if (status < 200) return answerIn(rest, method, ended);
  const headers = headersOf(lines);
  const body = bodyIn(rest, headers, method === 'HEAD' || status === 204 || status === 304, ended);
  return body && { received: { status, headers, text: body.toString('utf8') }, stays: !ended && headers.connection !== 'close' };
}

/** The body, once it is complete. */
function bodyIn(rest: Buffer, headers: IncomingHttpHeaders, isEmpty: boolean, ended: boolean): Buffer | undefined {
  if (isEmpty) return rest.subarray(0, 0);
  if (headers['transfer-encoding'] === 'chunked') return unchunked(rest);
  const length = headers['content-length'];
  if (length === undefined) return ended ? rest : undefined;
  return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : undefined;
}

/** What the pieces of a body say whose length was not known before; undefined as long as the last one is missing. */
function unchunked(rest: Buffer): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(rest.toString('latin1', at, line), 16);
    if (size === 0) return rest.indexOf('\r\n', line + 2) < 0 ? undefined : Buffer.concat(pieces);
    const from = line + 2;
    if (rest.length < from + size + 2) return undefined;
    pieces.push(rest.subarray(from, from + size));
    at = from + size + 2;
  }
}

/** As Node's client gives them: names in lower case, what stands there several times joined. */
function headersOf(lines: readonly string[]): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'set-cookie') headers[name] = [...(headers[name] ?? []), value];
    else headers[name] = headers[name] === undefined ? value : `${String(headers[name])}, ${value}`;
  }
  return headers;
}
