import http, { type RequestListener } from 'node:http';
import { Writable } from 'node:stream';

/** A request to send; `body` is the content after its head. */
export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
}

/** The response that would have been received over a connection. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/**
 * Whether the HTTP parser would neither refuse nor change a request, and the request has no headers about the
 * connection. All other requests must be sent over a connection.
 */
export function canAnswerInMemory({ method, path, headers, body }: PlainRequest): boolean {
  const pairs = Object.entries(headers);
  const length = pairs.reduce((sum, [name, value]) => sum + name.length + value.length, path.length);
  return (
    METHODS.has(method) &&
    PATH.test(path) &&
    length < MAX_HEAD_BYTES &&
    (body === null || Buffer.byteLength(body) <= MAX_BODY_BYTES) &&
    pairs.every(([name, value]) => NAME.test(name) && !OF_CONNECTION.has(name.toLowerCase()) && VALUE.test(value))
  );
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const PATH = /^\/[!-~]*$/;
const NAME = /^[\w-]+$/;
const VALUE = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
/** Limits in bytes beyond which it matters how much data arrives at once. */
const MAX_HEAD_BYTES = 8000;
const MAX_BODY_BYTES = 60_000;
const OF_CONNECTION = new Set([
  'connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
]); // biome-ignore format: a list

/** Methods whose requests have no Content-Length if they have no body. */
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/**
 * Lets a listener of `createServer` handle a plain request without a connection, which would often cost more than the
 * response. Node writes the head of the response as usual. `host`: the value of the Host header.
 *
 * @throws ECONNRESET if the listener aborts the response
 */
export function answerInMemory(listener: RequestListener, host: string, request: PlainRequest): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const wire = new Wire();
    const message = incomingOf(request, host, wire);
    const response = new http.ServerResponse(message);
    response.shouldKeepAlive = true;
    response.assignSocket(wire as never);
    response.once('finish', () => {
      response.detachSocket(wire as never);
      process.nextTick(() => {
        response.destroyed = true;
        response.emit('close');
        resolve(answerOf(Buffer.concat(wire.sent)));
      });
    });
    wire.once('close', () => reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })));
    // Other pending work runs between two requests, as with a connection.
    setImmediate(listener, message, response);
  });
}

/** The server's end of a connection, which keeps the written data. */
class Wire extends Writable {
  readonly sent: Buffer[] = [];
  readonly remoteAddress = '127.0.0.1';

  constructor() {
    super({ autoDestroy: false });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.sent.push(chunk);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    for (const { chunk } of chunks) this.sent.push(chunk);
    done();
  }

  setTimeout(): this {
    return this;
  }
}

function incomingOf({ method, path, headers, body }: PlainRequest, host: string, wire: Wire): http.IncomingMessage {
  const size = body === null ? (BODILESS.has(method) ? undefined : 0) : Buffer.byteLength(body);
  const message = withHead(new http.IncomingMessage(wire as never), [
    ...Object.entries(headers).flat(),
    ...(size === undefined ? [] : ['Content-Length', String(size)]),
    ...['Host', host, 'Connection', 'keep-alive'],
  ]);
  Object.assign(message, { method, url: path, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true });
  if (size) message.push(body);
  message.push(null);
  return message;
}

/** Sets the headers of a message, as alternating names and values, in the same way as Node's parser. */
function withHead(message: http.IncomingMessage, pairs: readonly string[]): http.IncomingMessage {
  (message as unknown as { _addHeaderLines: (pairs: readonly string[], count: number) => void })._addHeaderLines(pairs, pairs.length);
  return message;
}

const END_OF_HEAD = '\r\n\r\n';

function answerOf(bytes: Buffer): PlainAnswer {
  const end = bytes.indexOf(END_OF_HEAD);
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const pairs = lines.flatMap((line) => {
    const separatorIndex = line.indexOf(': ');
    return [line.slice(0, separatorIndex), line.slice(separatorIndex + 2)];
  });
  const { headers } = withHead(new http.IncomingMessage(null as never), pairs);
  const body = bytes.subarray(end + END_OF_HEAD.length);
  const text = headers['transfer-encoding'] === 'chunked' ? Buffer.concat(chunksOf(body)) : body;
  return { status: Number(statusLine.split(' ')[1]), headers, text: text.toString('utf8') };
}

/** The chunks of a body with chunked encoding. */
function chunksOf(body: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    const line = body.indexOf('\r\n', from);
    const size = Number.parseInt(body.toString('latin1', from, line), 16);
    chunks.push(body.subarray(line + 2, line + 2 + size));
    from = line + 2 + size + 2;
  }
  return chunks;
}
