import type { RequestHead } from './head.ts';

type Head = Pick<RequestHead, 'get'> & { readonly host?: string | undefined };

/** Whether a request comes from a page of another site, according to the browser. */
export const isForeignPage = (req: Head, home: string): boolean => !isSameOrigin(req, home);

/**
 * Whether a request comes from a page of this site, according to the browser: by `Sec-Fetch-Site`, otherwise by
 * `Origin`, which every browser sends with a form. Programs send neither and are accepted.
 */
export function isSameOrigin(req: Head, home: string): boolean {
  const site = req.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = req.get('origin');
  if (origin === undefined) return true;
  const hosts = [req.host, req.get('host'), URL.canParse(home) ? new URL(home).host : undefined];
  return URL.canParse(origin) && hosts.includes(new URL(origin).host);
}
