import { NETWORK_REWRITING, uploadsOfSite } from './network.ts';
import { trimAscii, trimEndOf } from './trim.ts';

/**
 * Returns the URL in an option of a site (`home`, `siteurl`, `upload_url_path`), without trailing slash. WordPress
 * stores any text; a URL that only lacks its scheme gets it. Undefined if the text contains no host.
 */
export function siteAddress(stored: string | undefined): string | undefined {
  const text = trimEndOf(trimAscii(stored ?? ''), '/');
  const address = text.startsWith('//') ? `http:${text}` : NAMES_HOST.test(text) ? `http://${text}` : text;
  return /^https?:\/\/[^/?#]/i.test(address) && !/[\s<>"]/.test(address) && URL.canParse(address) ? address : undefined;
}

/** Matches a host with a dot in its name, or `localhost`, with an optional port and path. */
const NAMES_HOST = /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d+)?(?:\/|$)/i;

/**
 * Returns the URL of a site according to its options; parts that they lack come from `otherwise`, a URL without a path.
 * The host of the request is not used, since an attacker could send one that leads others to another site.
 */
export function homeAddress({ home, siteurl }: { readonly home: string; readonly siteurl: string }, otherwise: string): string {
  const address = siteAddress(home) ?? siteAddress(siteurl);
  const path = /^\/[\w./~-]*$/.test(home) ? trimEndOf(home, '/') : '';
  return address ?? otherwise + path;
}

/**
 * Returns the URL of uploaded files, without a trailing slash (`wp_upload_dir`). It is below the address of WordPress
 * itself, which may differ from that of the site. `home`: the public address of the site; `site`: its number in a
 * network, 1 for the first and for a single site.
 */
export function uploadsAddress(home: string, options: ReadonlyMap<string, string>, site: number): string {
  // A network that began before WordPress 3.5.
  if (site > 1 && !['', '0'].includes(options.get(NETWORK_REWRITING) ?? '')) return `${wordpressAddress(home, options)}/files`;
  const stored = options.get('upload_url_path') ?? '';
  const path = /^\/[^/]/.test(stored) && URL.canParse(home) ? new URL(home).origin + stored : stored;
  return (siteAddress(path) ?? `${wordpressAddress(home, options)}/${uploadsFolder(options)}`) + uploadsOfSite(site);
}

/** Returns the folder of uploads below WordPress. An absolute one has no address of its own. */
function uploadsFolder(options: ReadonlyMap<string, string>): string {
  const folder = trimEndOf(trimAscii(options.get('upload_path') ?? ''), '/');
  return /^[\w.~-]+(?:\/[\w.~-]+)*$/.test(folder) ? folder : 'wp-content/uploads';
}

/**
 * Returns the public address of WordPress itself (`site_url`): as stored, whatever its scheme, while the site is at its
 * stored address; otherwise where WordPress has moved with it. `home`: the public address of the site.
 */
export function publicWordpressAddress(home: string, options: ReadonlyMap<string, string>): string {
  const stored = home === siteAddress(options.get('home')) ? siteAddress(options.get('siteurl')) : undefined;
  return stored ?? wordpressAddress(home, options);
}

/**
 * Returns the address of WordPress itself, below which its files are: that of the site, a folder below it, or a
 * different one. In the first two cases its scheme is that of the site. `home`: the public address of the site, which
 * may differ from the one in its options.
 */
function wordpressAddress(home: string, options: ReadonlyMap<string, string>): string {
  const { site, siteurl, folder } = placesOf(home, options);
  if (site === undefined || siteurl === undefined) return home;
  if (folder !== undefined) return home + folder;
  // If the site has moved, WordPress has moved with it.
  return home === site ? siteurl : home;
}

/**
 * Returns the addresses to be stored for a site that gets this address, a URL without a trailing slash. WordPress moves
 * with it, into the same folder; one with a different address (`siteurl`) stays there. `options`: those before.
 */
export function movedAddresses(home: string, options: ReadonlyMap<string, string>): { readonly home: string; readonly siteurl?: string } {
  const { site, siteurl, folder } = placesOf(home, options);
  const staysElsewhere = site !== undefined && siteurl !== undefined && folder === undefined;
  return staysElsewhere ? { home } : { home, siteurl: home + (folder ?? '') };
}

/** Returns the address of WordPress if it is neither that of the site nor below it; otherwise undefined. */
export function wordpressElsewhere(options: ReadonlyMap<string, string>): string | undefined {
  const { site, siteurl, folder } = placesOf(siteAddress(options.get('home')), options);
  return site !== undefined && folder === undefined ? siteurl : undefined;
}

/** The addresses of a site and of its WordPress; undefined if the options contain none. */
interface Places {
  readonly site: string | undefined;
  readonly siteurl: string | undefined;
  /** The path of WordPress below the site, whatever the scheme: empty, or `/wp`; undefined if it is not below it. */
  readonly folder: string | undefined;
}

/** Returns the places of a site that is to be at `home`. */
function placesOf(home: string | undefined, options: ReadonlyMap<string, string>): Places {
  const [site, siteurl] = [siteAddress(options.get('home')), siteAddress(options.get('siteurl'))];
  // A host with and without `www.` is one place, and moves as one, but each has its own addresses while it stays.
  const start = home === site ? /^https?:\/\//i : /^https?:\/\/(?:www\.)?/i;
  const [place, ownPlace] = [site, siteurl].map((address) => address?.replace(start, ''));
  const isBelow = ownPlace !== undefined && place !== undefined && `${ownPlace}/`.startsWith(`${place}/`);
  return { site, siteurl, folder: isBelow ? ownPlace.slice(place.length) : undefined };
}
