/** What runs or shows its own text instead of leading anywhere. */
const NO_PLACES: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:', 'view-source:']);
/** Names of the machine that the browser runs on: what is sent there crosses no network (RFC 8252, section 7.3). */
const OWN_MACHINE: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Names and numbers of hosts, as they may stand in headers. */
const HOST = /^[\w.:[\]-]{1,255}$/;
/** It becomes a header, which browsers and proxies take only up to some kilobytes. */
const LONGEST = 2000;

/**
 * Where a program wants people to be led with their new password (`wp_is_authorize_application_redirect_url_valid`): an
 * address of the web that is encrypted, one of the person's own machine, or one of an app (`myapp://connected`).
 * Undefined for any other.
 */
export function applicationAddress(text: string): URL | undefined {
  if (text.length > LONGEST || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (NO_PLACES.has(url.protocol) || !HOST.test(url.hostname)) return undefined;
  return url.protocol !== 'http:' || OWN_MACHINE.has(url.hostname) ? url : undefined;
}
