import type { Config } from '../config/config.ts';

/** Returns the address at which programs on this machine reach the server; undefined if the system chooses the port. */
export function listenAddress({ port, host }: Pick<Config, 'port' | 'host'>): string | undefined {
  if (port === 0) return undefined;
  const reachable = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
