/** Schemes whose URLs run code or display their own content instead of opening a page or an app. */
const UNSAFE_SCHEMES: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:', 'view-source:']);
/** Host names of the machine that the browser runs on: requests to them cross no network (RFC 8252, section 7.3). */
const LOCAL_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Host names and IP addresses that may appear in headers. */
const HOST = /^[\w.:[\]-]{1,255}$/;
/** Maximum length. The URL is sent in a header, which browsers and proxies limit to a few kilobytes. */
const MAX_LENGTH = 2000;

/**
 * Returns the URL to which an application wants people redirected with their new password
 * (`wp_is_authorize_application_redirect_url_valid`): an HTTPS URL, a URL on the person's own machine, or one of an app
 * (`myapp://connected`). Undefined for any other URL.
 */
export function applicationAddress(text: string): URL | undefined {
  if (text.length > MAX_LENGTH || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (UNSAFE_SCHEMES.has(url.protocol) || !HOST.test(url.hostname)) return undefined;
  return url.protocol !== 'http:' || LOCAL_HOSTS.has(url.hostname) ? url : undefined;
}
