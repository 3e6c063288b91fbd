import { lookup } from 'node:dns/promises';
import { type FetchOptions, FetchRefused, fetchPublic } from '../../media/safe-fetch.ts';
import { SourceFault } from '../items/items.ts';
import { refuseCredentials } from './site-client.ts';

const MAX_BYTES = 32 * 2 ** 20;
const TIMEOUT_MS = 60_000;

/**
 * Returns the options for fetching from an address that the user named. Its host may be in a private network; hosts
 * that it refers to may not.
 *
 * @throws SourceFault `site-address`, `site-credentials`
 */
export async function fetchOptionsFor(url: string): Promise<FetchOptions> {
  if (!URL.canParse(url)) throw new SourceFault('site-address', { site: url });
  refuseCredentials(new URL(url));
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const addresses = await lookup(host, { all: true }).catch(() => []);
  const hostIps = new Set(addresses.map(({ address }) => address));
  return { allowAddress: (ip) => hostIps.has(ip) };
}

/** Fetches the file at an address. `accept`: its media type. Throws SourceFault `feed-not-fetched`. */
export async function fetchBytes(url: string, accept: string, fetching: FetchOptions): Promise<Buffer> {
  try {
    const { bytes } = await fetchPublic(url, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, headers: { accept }, ...fetching });
    return bytes;
  } catch (error) {
    if (error instanceof FetchRefused) throw new SourceFault('feed-not-fetched', { address: url, what: error.fault }, error);
    throw error;
  }
}
