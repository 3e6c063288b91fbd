import { lookup as dnsLookup } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { fetchableUrl } from '../wordpress/web-url.ts';
import { type ImageType, imageType } from './image-type.ts';

/** Why nothing was fetched. `address`: the URL leads to a place that is not public. */
export type FetchFault = 'url' | 'address' | 'unreachable' | 'time' | 'status' | 'redirects' | 'size' | 'type';

/** The one error of this file. The message is for the log: callers do not learn what is behind an address. */
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

/** What a fetch may cost, and what tests put in the place of the network. */
export interface FetchOptions {
  /** Bytes of the body; 20 MB if not given. */
  readonly maxBytes?: number;
  /** For all of it, redirects and body included, in milliseconds; 15 s if not given. */
  readonly timeoutMs?: number;
  /** How many redirects are followed; 3 if not given. */
  readonly redirects?: number;
  /** Request headers. `authorization` and `cookie` are not carried to another origin. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Addresses that are let through although they are not public, on any port: for tests and for sites within one
   * network.
   */
  readonly allowAddress?: ((ip: string) => boolean) | undefined;
  /** All addresses of a host; the system's resolver if not given. */
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
}

export interface Fetched {
  /** Where the body came from, after redirects. */
  readonly url: string;
  readonly bytes: Buffer;
  readonly headers: IncomingMessage['headers'];
}

/**
 * Gets what an http or https URL leads to, never from a place that is not public (A7): the host is resolved once, each
 * of its addresses is checked, and the connection goes to one of these very addresses; every redirect is checked the
 * same way. No proxy is used, no cookie kept, no credentials taken from the URL. Ports are those of WordPress's
 * `wp_http_validate_url`.
 *
 * @throws FetchRefused for everything but a 200 within the limits
 */
export async function fetchPublic(address: string, options: FetchOptions = {}): Promise<Fetched> {
  const { timeoutMs = 15_000, redirects = 3 } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    let url = parseUrl(address);
    let headers = { ...options.headers };
    for (let hop = 0; hop <= redirects; hop += 1) {
      const addresses = await checkedAddresses(url, options, deadline);
      const { response, isCut } = await ask(url, headers, addresses, deadline);
      const next = REDIRECTS.has(response.statusCode ?? 0) ? response.headers.location : undefined;
      if (next === undefined)
        return { url: url.href, bytes: await body(response, options.maxBytes ?? MAX_BYTES, isCut), headers: response.headers };
      response.destroy();
      const target = parseUrl(next, url);
      if (target.origin !== url.origin) headers = withoutSecrets(headers);
      url = target;
    }
    throw new FetchRefused('redirects');
  } catch (error) {
    if (error instanceof FetchRefused) throw error;
    throw new FetchRefused(deadline.aborted ? 'time' : 'unreachable', error);
  }
}

/**
 * Posts a body to where an http or https URL leads, under the rules of `fetchPublic`. Redirects are not followed, and
 * the answer is not read.
 *
 * @returns the status of the answer
 * @throws FetchRefused where there is none
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
    const { response } = await ask(url, headers, await checkedAddresses(url, options, deadline), deadline, body);
    response.destroy();
    return response.statusCode ?? 0;
  } catch (error) {
    if (error instanceof FetchRefused) throw error;
    throw new FetchRefused(deadline.aborted ? 'time' : 'unreachable', error);
  }
}

/**
 * Gets an image: as `fetchPublic`, and what comes must begin like a JPEG, PNG, GIF, WebP or AVIF, whatever the server
 * calls it.
 *
 * @throws FetchRefused
 */
export async function fetchImage(address: string, options: FetchOptions = {}): Promise<Fetched & { readonly type: ImageType }> {
  const fetched = await fetchPublic(address, options);
  const type = imageType(fetched.bytes);
  if (!type) throw new FetchRefused('type');
  return { ...fetched, type };
}

/**
 * Whether an address (v4 or v6, as text) belongs to the public internet. Everything with a purpose of its own is not:
 * private, loopback, link-local, carrier-grade NAT, documentation, multicast, tunnels and translations that carry a v4
 * address inside a v6 one.
 */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0 || !ipaddr.isValid(ip)) return false;
  const parsed = ipaddr.parse(ip);
  if (parsed.range() !== 'unicast' || NEVER.has(parsed.toString())) return false;
  // Of IPv6 only 2000::/3 has been given out.
  return parsed.kind() === 'ipv4' || (parsed.toByteArray()[0]! & 0xe0) === 0x20;
}

const MAX_BYTES = 20 * 2 ** 20;
const LONGEST_URL = 4096;
const PORTS = new Set(['', '80', '443', '8080']);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Public by its number, but the metadata service of a cloud (Azure). */
const NEVER = new Set(['168.63.129.16']);

function parseUrl(text: string, base?: URL): URL {
  const url = text.length > LONGEST_URL ? undefined : fetchableUrl(text, base);
  if (!url) throw new FetchRefused('url');
  return url;
}

/**
 * The host's addresses, each of them fit to be connected to. One that is not spoils all: nobody needs such a name for
 * an image.
 */
async function checkedAddresses(
  url: URL,
  { allowAddress, resolve = systemResolver }: FetchOptions,
  deadline: AbortSignal,
): Promise<readonly Address[]> {
  const host = hostOf(url);
  const family = isIP(host);
  const addresses = family > 0 ? [{ address: host, family }] : await beforeDeadline(resolve(host), deadline);
  const fits = ({ address }: Address) => allowAddress?.(address) || (PORTS.has(url.port) && isPublicAddress(address));
  if (addresses.length === 0 || !addresses.every(fits)) throw new FetchRefused('address');
  return addresses;
}

/** The URL parser has turned decimal, octal, hexadecimal and full-width spellings into the usual one. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

const systemResolver = (host: string): Promise<readonly Address[]> => dnsLookup(host, { all: true });

function beforeDeadline<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new FetchRefused('time'));
    if (deadline.aborted) late();
    deadline.addEventListener('abort', late, { once: true });
    work.then(resolve, reject).finally(() => deadline.removeEventListener('abort', late));
  });
}

interface Answer {
  readonly response: IncomingMessage;
  /**
   * Whether its body ended before its time. A body that says neither its length nor its end looks the same when it is
   * cut off.
   */
  readonly isCut: () => boolean;
}

/** Sends a request: POST if there is a body. */
function ask(
  url: URL,
  headers: Record<string, string>,
  addresses: readonly Address[],
  signal: AbortSignal,
  sent?: Buffer,
): Promise<Answer> {
  // The name is not resolved again: a second answer could be another one.
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
        method: sent === undefined ? 'GET' : 'POST',
        headers: { accept: '*/*', 'user-agent': 'Fasti', ...headers, 'accept-encoding': 'identity', host: url.host },
        // A connection of its own, never one that was opened for another fetch.
        agent: false,
        lookup,
        signal,
      },
      (response) => resolve({ response, isCut: () => failed || !response.complete }),
    );
    let failed = false;
    request.on('error', (error) => {
      failed = true;
      reject(error);
    });
    request.end(sent);
  });
}

async function body(response: IncomingMessage, maxBytes: number, isCut: () => boolean): Promise<Buffer> {
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
    if (isCut()) throw new Error('the body was cut off');
    return Buffer.concat(chunks);
  } finally {
    response.destroy();
  }
}

const withoutSecrets = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name)));
