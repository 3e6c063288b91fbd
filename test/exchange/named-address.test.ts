import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fetchOptionsFor } from '../../src/exchange/live/named-address.ts';
import { fetchPublic } from '../../src/media/safe-fetch.ts';

describe('an address that a user has named', () => {
  let port: number;
  const server = http.createServer((request, response) => {
    if (request.url === '/away') response.writeHead(302, { location: `http://127.0.0.1:${port}/secret` });
    response.end('body');
  });
  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => void server.close());

  const resolverOf =
    (...ips: string[]) =>
    async () =>
      ips.map((address) => ({ address, family: 4 }));
  /** Fetches an address with the options for another one, whose host has these IP addresses. */
  const fetched = async (named: string, address: string, ...ips: string[]) => {
    const resolve = resolverOf(...ips);
    const options = { ...(await fetchOptionsFor(named, resolve)), resolve };
    return fetchPublic(address, options).then(
      ({ bytes }) => bytes.toString(),
      ({ fault }) => fault as string,
    );
  };

  it('may be in a private network, on its port', async () => {
    const own = `http://intranet.example:${port}/a.ics`;
    expect(await fetched(own, own, '127.0.0.1')).toBe('body');
    expect(await fetched('http://intranet.example:1/a.ics', own, '127.0.0.1')).toBe('address');
  });

  it('may be reached on the usual ports as well, for the other protocol', async () => {
    const { allowAddress } = await fetchOptionsFor('http://intranet.example:8000/', resolverOf('192.168.0.9'));
    const isAllowed = (ip: string, url: string) => allowAddress?.(ip, new URL(url));
    expect(isAllowed('192.168.0.9', 'https://intranet.example/')).toBe(true);
    expect(isAllowed('192.168.0.8', 'https://intranet.example/')).toBe(false);
  });

  it('may be public, on any port', async () => {
    const { allowAddress } = await fetchOptionsFor('https://cloud.example:8443/a.ics', resolverOf('93.184.215.14'));
    const isAllowed = (ip: string, url: string) => allowAddress?.(ip, new URL(url));
    expect(isAllowed('93.184.215.14', 'https://cloud.example:8443/a.ics')).toBe(true);
    expect(isAllowed('93.184.215.14', 'https://www.cloud.example:9443/a.ics')).toBe(true);
    expect(isAllowed('93.184.215.15', 'https://cloud.example:8443/a.ics')).toBe(true);
    expect(isAllowed('93.184.215.15', 'https://other.example:8443/a.ics')).toBe(false);
    expect(isAllowed('10.0.0.1', 'https://cloud.example:8443/a.ics')).toBe(false);
  });

  it('does not open the network to a host that has a public address, too', async () => {
    const named = `http://evil.example:${port}/c.ics`;
    expect(await fetched(named, named, '203.0.113.9', '93.184.215.14', '127.0.0.1')).toBe('address');
  });

  it('does not open its IP address to other names and to redirects', async () => {
    const named = `http://evil.example:${port}/away`;
    expect(await fetched(named, named, '127.0.0.1')).toBe('address');
    expect(await fetched(named, `http://127.0.0.1:${port}/x.png`, '127.0.0.1')).toBe('address');
  });
});
