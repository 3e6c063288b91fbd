import { lookup as dnsLookup } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { fetchableUrl } from '../wordpress/web-url.ts';
import { type ImageType, imageType } from './image-type.ts';

/** The reason why nothing was fetched. `address`: the host has an IP address that is not public. */
export type FetchFault = 'url' | 'address' | 'unreachable' | 'time' | 'status' | 'redirects' | 'size' | 'type';

/**
 * The only error thrown in this file. Its message is for the log: callers of the API do not get it, since it would
 * reveal what is at a URL.
 */
export class FetchRefused extends Error {
  override readonly name = 'FetchRefused';
  readonly fault: FetchFault;

  constructor(fault: FetchFault, cause?: unknown) {
    super(`not fetched: ${fault}`, { cause });
    this.fault = fault;
  }
}

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Limits of a fetch, and replacements for the network in tests. */
export interface FetchOptions {
  /** Maximum length of the body in bytes; 20 MB by default. */
  readonly maxBytes?: number;
  /** Timeout of the whole fetch, including redirects and body, in milliseconds; 15 s by default. */
  readonly timeoutMs?: number;
  /** Maximum number of redirects; 3 by default. */
  readonly redirects?: number;
  /** Request headers. `authorization` and `cookie` are not sent to another origin. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Returns whether an IP address is allowed for a URL although it is not public, or the port not a usual one: for
   * tests and for sites within one network.
   */
  readonly allowAddress?: ((ip: string, url: URL) => boolean) | undefined;
  /** Returns all IP addresses of a host; the system's resolver by default. */
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
}

export interface FetchedBody {
  /** The URL of the body, after redirects. */
  readonly url: string;
  readonly bytes: Buffer;
  readonly headers: IncomingMessage['headers'];
}

/**
 * Fetches an http or https URL, never from an IP address that is not public (A7). The host is resolved once, each of
 * its addresses is checked, and the connection is made to one of these addresses; every redirect is checked in the same
 * way. No proxy and no cookies are used, and no credentials from the URL. Allowed ports are those of WordPress's
 * `wp_http_validate_url`.
 *
 * @throws FetchRefused for everything but a 200 within the limits
 */
export async function fetchPublic(address: string, options: FetchOptions = {}): Promise<FetchedBody> {
  const { timeoutMs = 15_000, redirects = 3 } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    let url = parseUrl(address);
    let headers = { ...options.headers };
    for (let hop = 0; hop <= redirects; hop += 1) {
      const addresses = await resolveAllowed(url, options, deadline);
      const { response, isTruncated } = await sendRequest(url, headers, addresses, deadline);
      const next = REDIRECT_STATUSES.has(response.statusCode ?? 0) ? response.headers.location : undefined;
      if (next === undefined)
        return { url: url.href, bytes: await readBody(response, options.maxBytes ?? MAX_BYTES, isTruncated), headers: response.headers };
      response.destroy();
      const target = parseUrl(next, url);
      if (target.origin !== url.origin) headers = withoutCredentials(headers);
      url = target;
    }
    throw new FetchRefused('redirects');
  } catch (error) {
    if (error instanceof FetchRefused) throw error;
    throw new FetchRefused(deadline.aborted ? 'time' : 'unreachable', error);
  }
}

/**
 * Posts a body to an http or https URL, under the rules of `fetchPublic`. Redirects are not followed, and the body of
 * the response is not read.
 *
 * @returns the status of the response
 * @throws FetchRefused if there is no response
 */
export async function postPublic(
  address: string,
  body: Buffer,
  options: Omit<FetchOptions, 'maxBytes' | 'redirects'> = {},
): Promise<number> {
  const deadline = AbortSignal.timeout(options.timeoutMs ?? 15_000);
  try {
    const url = parseUrl(address);
    const headers = { ...options.headers, 'content-length': String(body.length) };
    const { response } = await sendRequest(url, headers, await resolveAllowed(url, options, deadline), deadline, body);
    response.destroy();
    return response.statusCode ?? 0;
  } catch (error) {
    if (error instanceof FetchRefused) throw error;
    throw new FetchRefused(deadline.aborted ? 'time' : 'unreachable', error);
  }
}

/**
 * Fetches an image like `fetchPublic`. The body must start like a JPEG, PNG, GIF, WebP or AVIF file, independent of its
 * content type.
 *
 * @throws FetchRefused
 */
export async function fetchImage(address: string, options: FetchOptions = {}): Promise<FetchedBody & { readonly type: ImageType }> {
  const fetched = await fetchPublic(address, options);
  const type = imageType(fetched.bytes);
  if (!type) throw new FetchRefused('type');
  return { ...fetched, type };
}

/**
 * Returns whether an IP address (v4 or v6, as text) is on the public internet. Special-purpose ranges are not: private,
 * loopback, link-local, carrier-grade NAT, documentation, multicast, tunnels and translations that embed a v4 address
 * in a v6 one.
 */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0 || !ipaddr.isValid(ip)) return false;
  const parsed = ipaddr.parse(ip);
  if (parsed.range() !== 'unicast' || BLOCKED_ADDRESSES.has(parsed.toString())) return false;
  // Of IPv6, only 2000::/3 has been allocated.
  return parsed.kind() === 'ipv4' || (parsed.toByteArray()[0]! & 0xe0) === 0x20;
}

const MAX_BYTES = 20 * 2 ** 20;
/** Longest URL of an image, in characters. */
export const MAX_URL_LENGTH = 4096;
const ALLOWED_PORTS = new Set(['', '80', '443', '8080']);
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
/** A public IP address at which a cloud (Azure) has its metadata service. */
const BLOCKED_ADDRESSES = new Set(['168.63.129.16']);

function parseUrl(text: string, base?: URL): URL {
  const url = text.length > MAX_URL_LENGTH ? undefined : fetchableUrl(text, base);
  if (!url) throw new FetchRefused('url');
  return url;
}

/**
 * Returns the host's IP addresses, if a connection to each of them is allowed. A single one that is not makes the fetch
 * fail, since no legitimate host has such an address.
 */
async function resolveAllowed(
  url: URL,
  { allowAddress, resolve = systemResolver }: FetchOptions,
  deadline: AbortSignal,
): Promise<readonly Address[]> {
  const host = hostOf(url);
  const family = isIP(host);
  const addresses = family > 0 ? [{ address: host, family }] : await beforeDeadline(resolve(host), deadline);
  const isAllowed = ({ address }: Address) => allowAddress?.(address, url) || (ALLOWED_PORTS.has(url.port) && isPublicAddress(address));
  if (addresses.length === 0 || !addresses.every(isAllowed)) throw new FetchRefused('address');
  return addresses;
}

/**
 * Returns the host without brackets. The URL parser has normalized decimal, octal, hexadecimal and full-width forms.
 */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

const systemResolver = (host: string): Promise<readonly Address[]> => dnsLookup(host, { all: true });

function beforeDeadline<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const rejectLate = () => reject(new FetchRefused('time'));
    if (deadline.aborted) rejectLate();
    deadline.addEventListener('abort', rejectLate, { once: true });
    work.then(resolve, reject).finally(() => deadline.removeEventListener('abort', rejectLate));
  });
}

interface OpenResponse {
  readonly response: IncomingMessage;
  /**
   * Returns whether the body was cut off. A body with neither a length nor an end mark looks the same in both cases.
   */
  readonly isTruncated: () => boolean;
}

/** Sends a request: POST if there is a body. */
function sendRequest(
  url: URL,
  headers: Record<string, string>,
  addresses: readonly Address[],
  signal: AbortSignal,
  body?: Buffer,
): Promise<OpenResponse> {
  // The name is not resolved again, since the result could differ from the checked one.
  const lookup: LookupFunction = (_host, { all }, done) => {
    const [first] = addresses as [Address];
    if (all) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(
      {
        host: hostOf(url),
        port: url.port || (url.protocol === 'https:' ? 443 : 80),
        path: url.pathname + url.search,
        method: body === undefined ? 'GET' : 'POST',
        headers: { accept: '*/*', 'user-agent': 'Fasti', ...headers, 'accept-encoding': 'identity', host: url.host },
        // A new connection, not one that was opened for another fetch.
        agent: false,
        lookup,
        signal,
      },
      (response) => resolve({ response, isTruncated: () => hasFailed || !response.complete }),
    );
    let hasFailed = false;
    request.on('error', (error) => {
      hasFailed = true;
      reject(error);
    });
    // Node ends a connection that switches to another protocol (101) without a response or an error.
    request.on('close', () => reject(new Error('the connection was closed without a response')));
    request.end(body);
  });
}

async function readBody(response: IncomingMessage, maxBytes: number, isTruncated: () => boolean): Promise<Buffer> {
  try {
    if (response.statusCode !== 200) throw new FetchRefused('status');
    if (!/^(identity)?$/i.test(response.headers['content-encoding'] ?? '')) throw new FetchRefused('type');
    if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw new FetchRefused('size');
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) throw new FetchRefused('size');
      chunks.push(chunk);
    }
    if (isTruncated()) throw new Error('the body was cut off');
    return Buffer.concat(chunks);
  } finally {
    response.destroy();
  }
}

const withoutCredentials = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name)));
