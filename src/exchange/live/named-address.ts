import { lookup } from 'node:dns/promises';
import { type FetchOptions, FetchRefused, fetchPublic, isPublicAddress } from '../../media/safe-fetch.ts';
import { SourceFault } from '../items/items.ts';
import { refuseCredentials } from './site-client.ts';

const MAX_BYTES = 32 * 2 ** 20;
const TIMEOUT_MS = 60_000;

/**
 * Returns the options for fetching from an address that the user named. Its host may be in a private network, on the
 * port of the address and the default ones; hosts that it refers to may not. A host that also has a public address is
 * in none: whoever owns its name chooses the addresses. The public addresses of the host are allowed on any port.
 *
 * @throws SourceFault `site-address`, `site-credentials`
 */
export async function fetchOptionsFor(url: string, resolve: NonNullable<FetchOptions['resolve']> = resolveAll): Promise<FetchOptions> {
  if (!URL.canParse(url)) throw new SourceFault('site-address', { site: url });
  const named = new URL(url);
  refuseCredentials(named);
  const addresses = await resolve(named.hostname.replace(/^\[|\]$/g, '')).catch(() => []);
  const ips = new Set(addresses.map(({ address }) => address));
  const isPublicHost = [...ips].some(isPublicAddress);
  const isNamed = ({ hostname, port }: URL) => hostname === named.hostname && [named.port, ''].includes(port);
  return {
    // A host may have other public addresses the next time.
    allowAddress: (ip, target) => (isPublicAddress(ip) ? ips.has(ip) || isNamed(target) : !isPublicHost && ips.has(ip) && isNamed(target)),
  };
}

const resolveAll = (host: string) => lookup(host, { all: true });

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
