import { trimAscii, trimEndOf } from './trim.ts';

/**
 * The address that an option of a site names (`home`, `siteurl`, `upload_url_path`), without a slash at its end:
 * WordPress stores whatever it is given. One that only lacks its scheme gets it; undefined for what names no host.
 */
export function siteAddress(stored: string | undefined): string | undefined {
  const text = trimEndOf(trimAscii(stored ?? ''), '/');
  const full = text.startsWith('//') ? `http:${text}` : NAMES_HOST.test(text) ? `http://${text}` : text;
  return /^https?:\/\/[^/?#]/i.test(full) && !/[\s<>"]/.test(full) && URL.canParse(full) ? full : undefined;
}

/** A host with a dot in it, or `localhost`, and what may follow. */
const NAMES_HOST = /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d+)?(?:\/|$)/i;

/**
 * Where a site is, by its options; what they do not name comes from `otherwise`, an address without a path. The host
 * of a request is not asked: whoever sends one could have others led anywhere.
 */
export function homeAddress({ home, siteurl }: { readonly home: string; readonly siteurl: string }, otherwise: string): string {
  const known = siteAddress(home) ?? siteAddress(siteurl);
  const path = /^\/[\w./~-]*$/.test(home) ? trimEndOf(home, '/') : '';
  return known ?? otherwise + path;
}
