import type { Config } from '../config/config.ts';

/** The address at which the server listens, for programs on this machine; undefined: any free port. */
export function listeningAt({ port, host }: Pick<Config, 'port' | 'host'>): string | undefined {
  if (port === 0) return undefined;
  const reachable = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
