import { domainToASCII } from 'node:url';
import { normalizeEntities } from './content/entities.ts';
import { trimAscii } from './trim.ts';

/** Allowed schemes of URLs (`wp_allowed_protocols`). */
const ALLOWED_PROTOCOLS: readonly string[] =
  'http https ftp ftps mailto news irc irc6 ircs gopher nntp feed telnet mms rtsp sms svn tel fax xmpp webcal urn'.split(' ');

/**
 * Returns a URL escaped for HTML (`esc_url`): invalid characters are removed, `&` becomes `&#038;` and `'` `&#039;`; ""
 * if its scheme is not allowed.
 */
export function escUrl(raw: string): string {
  if (raw === '') return '';
  let url = raw
    .replace(/^[ \t\n\r\0\v]+/, '')
    .replaceAll(' ', '%20')
    .replace(/[^a-z0-9\-~+_.?#=!&;,/:%@$|*'()[\]\x80-\u{10ffff}]/giu, '');
  if (url === '') return '';
  if (!/^mailto:/i.test(url)) url = withoutEncodedLineBreaks(url);
  url = url.replaceAll(';//', '://');
  if (!url.includes(':') && !/^[/#?]/.test(url) && !/^[a-z0-9-]+?\.php/i.test(url)) url = `http://${url}`;
  url = encodeBrackets(shownInHtml(url));
  if (url.startsWith('/')) return url;
  const safeUrl = withoutBadProtocol(url);
  return safeUrl.toLowerCase() === url.toLowerCase() ? safeUrl : '';
}

/**
 * Returns the stored form of a web address, or null if it is invalid (decision D38): `http`, `https` and `ftp` with a
 * valid host, `mailto`, `tel`. A host with non-ASCII letters is converted to punycode, non-ASCII letters elsewhere are
 * percent-encoded, characters not allowed in URLs are removed, and a single quote, which could end an HTML attribute,
 * is percent-encoded; everything else stays as sent.
 */
export function normalizeWebUrl(raw: string): string | null {
  // White space and control characters make a URL invalid, as in PHP's FILTER_VALIDATE_URL.
  if (/[\0-\x20\x7f]/.test(raw) || /\p{Surrogate}/u.test(raw)) return null;
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(raw) ?? [];
  const kind = scheme.toLowerCase();
  if (kind === 'mailto' || kind === 'tel') return rest === '' ? null : toStoredUrl(`${scheme}:${rest}`);
  if (kind !== 'http' && kind !== 'https' && kind !== 'ftp') return null;
  const [, userInfo = '', host = '', port = '', tail = ''] =
    /^\/\/(?:([^/?#@]*)@)?(\[[^\]]*\]|[^/?#@:]*)(:\d*)?((?:[/?#].*)?)$/s.exec(rest) ?? [];
  if (Number(port.slice(1)) > 65535 || !isUserInfo(encoded(userInfo))) return null;
  const ascii = /[^\0-\x7f]/.test(host) ? domainToASCII(host) : host;
  if (!isHost(ascii)) return null;
  return toStoredUrl(`${scheme}://${userInfo === '' ? '' : `${userInfo}@`}${ascii}${port}${tail}`);
}

/**
 * Returns a text with the URLs in it in a form allowed in headers (RFC 9110, 5.5): non-ASCII hosts as punycode,
 * non-ASCII letters elsewhere percent-encoded.
 */
export function withAsciiAddresses(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text;
  return encoded(text.replace(/(:\/\/)([^/?#:\s<>]+)/g, (_, before: string, host: string) => before + (domainToASCII(host) || host)));
}

/**
 * Returns a URL that a program may fetch: http or https, without user name and password, since everybody who sees the
 * URL would see them. Undefined for any other. `base`: the URL to which a redirect is relative.
 */
export function fetchableUrl(text: string, base?: URL): URL | undefined {
  if (!URL.canParse(text, base?.href)) return undefined;
  const url = new URL(text, base);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : undefined;
}

/**
 * Removes the scheme of a URL if it is not allowed, repeatedly until nothing changes ("" if it never settles)
 * (`wp_kses_bad_protocol`). Entities in the scheme or for the colon are decoded.
 */
export function withoutBadProtocol(url: string): string {
  let current = url.replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, '');
  if (current.startsWith('https://') || current.startsWith('http://')) return current;
  for (let round = 0; round < 6; round++) {
    const next = checkProtocolOnce(current);
    if (next === current) return current;
    current = next;
  }
  return '';
}

const encoded = (text: string) => text.replace(/[^\0-\x7f]+/gu, (letters) => encodeURIComponent(letters));
const toStoredUrl = (url: string) =>
  encoded(url)
    .replace(/[<>"{}\\^`]/g, '')
    .replaceAll("'", '%27');

const isUserInfo = (text: string) => /^(?:[\w.~!$&'()*+,;=:-]|%[a-f0-9]{2})*$/i.test(text);

/**
 * Returns whether a host name or IP address is valid for PHP's FILTER_VALIDATE_URL: labels of letters, digits and inner
 * hyphens.
 */
function isHost(host: string): boolean {
  if (host.startsWith('[')) return URL.canParse(`http://${host}/`);
  const name = host.replace(/\.$/, '');
  return name.length <= 253 && name.split('.').every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label));
}

const shownInHtml = (url: string): string => normalizeEntities(url).replaceAll('&amp;', '&#038;').replaceAll("'", '&#039;');

/** Removes `%0d` and `%0a`, including those that result from removing others (`_deep_replace`). */
function withoutEncodedLineBreaks(url: string): string {
  const characters: string[] = [];
  for (const char of url) {
    characters.push(char);
    const [percent, zero, letter] = characters.slice(-3);
    if (percent === '%' && zero === '0' && /^[ad]$/i.test(letter ?? '')) characters.length -= 3;
  }
  return characters.join('');
}

/** Encodes brackets everywhere except in the authority, where they enclose an IPv6 address. */
function encodeBrackets(url: string): string {
  if (!/[[\]]/.test(url)) return url;
  const front = /^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i.exec(url)?.[0] ?? '';
  return front + url.slice(front.length).replaceAll('[', '%5B').replaceAll(']', '%5D');
}

function checkProtocolOnce(url: string): string {
  const text = url.replace(/(&#0*58(?![;0-9])|&#x0*3a(?![;a-f0-9]))/gi, '$1;');
  const colon = /:|&#0*58;|&#x0*3a;|&colon;/i.exec(text);
  if (colon === null || text.slice(0, colon.index).includes('/?')) return text;
  const scheme = decodeNumericEntities(text.slice(0, colon.index))
    .replace(/[ \t\n\r\f\v\0-\x1f]/g, '')
    .toLowerCase();
  const rest = trimAscii(text.slice(colon.index + colon[0].length));
  return ALLOWED_PROTOCOLS.includes(scheme) ? `${scheme}:${rest}` : rest;
}

const decodeNumericEntities = (text: string) =>
  text.replace(/&#(?:([0-9]+)|[Xx]([0-9A-Fa-f]+));/g, (match, decimal?: string, hex?: string) => {
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : match;
  });

/** Returns the text with its percent-encoded characters decoded; unchanged if the encoding is invalid. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** PHP's `urlencode`: as in forms, spaces become `+`, and only letters, digits, `-`, `_` and `.` stay. */
export const urlEncode = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
