import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors.ts';
import { codeOf } from '../objects.ts';
import type { Site } from '../site.ts';
import { tableOf } from '../wordpress/table.ts';
import { basePath, pathBelow, splitTarget } from './addressing.ts';
import { type Answer, deliver } from './deliver.ts';
import { problemReply } from './problem.ts';
import { NO_WRAPPING, toAnswer } from './protocol.ts';
import { requestLog } from './request-log.ts';
import { notesOf, type Observer, observeRequests } from './request-notes.ts';

/**
 * Longest address, in characters, to which a client is redirected: proxies refuse answers with a longer head
 * (`fitHead`).
 */
const MAX_LOCATION_LENGTH = 2500;

/** Time for reading what a client still sends, in milliseconds: closed at once, a connection may lose the answer. */
const LINGER_MS = 1000;

/** A request line in Latin-1. A second slash or a backslash would begin the name of another host in `Location`. */
const REQUEST_LINE = /^([A-Z]{1,20}) (\/(?![/\\])[\x21-\x7e\x80-\xff]*|\/) HTTP\/1\.[01]\r?$/;

/** Statuses that Node answers requests with which its parser refuses, by the code of the error; for others 400. */
const PARSER_STATUSES = tableOf({
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
});

/** A request whose address is not percent-encoded. */
interface RawRequest {
  readonly method: string;
  /** The address with its other bytes percent-encoded. */
  readonly target: string;
}

/**
 * Redirects reading requests with bytes in their address that must be percent-encoded, as curl and PHP send them, to
 * the encoded address. Node's parser refuses them before there is a request, but WordPress answers them. Other requests
 * with such addresses are refused, and so are, as by Node itself, all others that its parser refuses. In each case the
 * connection ends: where the next request begins on it is unknown.
 */
export function answerRawAddresses(server: Server, site: Site, observers: readonly Observer[]): void {
  const latest = new WeakMap<Socket, ServerResponse>();
  /** Connections on which requests have not waited for the answers to those before. */
  const impatient = new WeakSet<Socket>();
  /** Connections that have got their last answer. The parser reports what it reads after its first error, too. */
  const answered = new WeakSet<Socket>();
  server.prependListener('request', ({ socket }, res) => {
    if (isUnderWay(latest.get(socket))) impatient.add(socket);
    latest.set(socket, res);
  });
  const observe = observeRequests([requestLog(site.log), ...observers], ({ socket }) =>
    site.config.trustProxy ? undefined : socket.remoteAddress,
  );

  server.on('clientError', (error: Error, stream) => {
    const socket = stream as Socket;
    if (answered.has(socket)) return;
    answered.add(socket);
    const request = rawRequestOf(error);
    const previous = latest.get(socket);
    // The client would take the answer for that to an earlier request. Other errors may be in the body of this one.
    const isTaken = isUnderWay(previous) && (request !== undefined || previous.headersSent || impatient.has(socket));
    if (!socket.writable || isTaken) return void socket.destroy(error);
    if (request === undefined) return refuse(socket, error);
    const req = Object.assign(new IncomingMessage(socket), { method: request.method, url: request.target });
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    if (!isAssigned(res, socket)) return void socket.destroy(error);
    res.once('finish', () => {
      // As a server does: the log waits for it.
      res.detachSocket(socket);
      res.emit('close');
      socket.end();
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    });
    observe(req, res);
    deliver(req, res, answerTo(site, req, request)).catch(() => socket.destroy());
  });
}

const isUnderWay = (res: ServerResponse | undefined): res is ServerResponse => res !== undefined && !res.writableFinished;

/** Gives a connection to an answer. False if Node itself answers an earlier request on it (one without a host). */
function isAssigned(res: ServerResponse, socket: Socket): boolean {
  try {
    res.assignSocket(socket);
    return true;
  } catch {
    return false;
  }
}

/** Answers as Node does without a listener. */
function refuse(socket: Socket, error: Error): void {
  socket.write(`HTTP/1.1 ${PARSER_STATUSES.get(codeOf(error)) ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
  socket.destroy(error);
}

/** Returns the request whose address the parser refused; undefined if it is not known whole, or not to be followed. */
function rawRequestOf(error: Error): RawRequest | undefined {
  if (codeOf(error) !== 'HPE_INVALID_URL' || !('rawPacket' in error) || !('bytesParsed' in error)) return undefined;
  const { rawPacket, bytesParsed } = error;
  if (!Buffer.isBuffer(rawPacket) || typeof bytesParsed !== 'number') return undefined;
  const text = rawPacket.toString('latin1');
  const start = text.lastIndexOf('\n', bytesParsed - 1) + 1;
  const end = text.indexOf('\n', start);
  const [, method, address] = (end < 0 ? undefined : REQUEST_LINE.exec(text.slice(start, end))) ?? [];
  if (method === undefined || address === undefined) return undefined;
  const target = address.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return target === address || target.length > MAX_LOCATION_LENGTH ? undefined : { method, target };
}

function answerTo(site: Site, req: IncomingMessage, { method, target }: RawRequest): Answer {
  const context = { wrapping: NO_WRAPPING, method, sentMethod: method, isPersonal: false };
  const isRead = method === 'GET' || method === 'HEAD';
  const problem = 'address-not-encoded';
  const refusal = new ApiError(problem, isRead ? { data: { status: 308 } } : {});
  const reply = problemReply(site.texts, site.texts.chooseLanguage({}), refusal);
  if (!isRead) {
    notesOf(req).refusal = { problem };
    return toAnswer(reply, context);
  }
  // A proxy may have removed the path of the home.
  const base = basePath(site.latestSettings()?.home ?? '');
  const { path, query } = splitTarget(target);
  return toAnswer({ ...reply, status: 308, headers: { Location: base + pathBelow(base, path) + (query && `?${query}`) } }, context);
}
