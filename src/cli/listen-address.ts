import { type Config, localAddress } from '../config/config.ts';

/** Returns the address at which programs on this machine reach the server; undefined if the system chooses the port. */
export function listenAddress({ port, host }: Pick<Config, 'port' | 'host'>): string | undefined {
  if (port === 0) return undefined;
  const reachable = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Hosts at which the server is reached as `localhost`. */
const LOCAL_HOSTS: readonly string[] = ['127.0.0.1', 'localhost', '0.0.0.0', '::'];

/** Returns the same address for people to visit, without the number of the usual port. */
export function visitAddress(config: Pick<Config, 'port' | 'host'>): string {
  const address = LOCAL_HOSTS.includes(config.host) ? undefined : listenAddress(config);
  return address === undefined ? localAddress(config) : new URL(address).origin;
}
