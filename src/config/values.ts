import { z } from 'zod';

/** Returns the setting for one of WordPress's keys and salts. */
export function keySetting<const Name extends string>(env: Name) {
  return {
    env,
    type: 'text',
    fallback: undefined,
    allowed: ['wordpress-key'],
    meaning: `\`${env}\` of \`wp-config.php\`. With all four keys and salts, people signed in to WordPress are recognised by their cookie and nonce. Without, those stored in the database are used: WordPress makes them if its configuration has none, and Fasti with its first sign-in.`,
    schema: z.string(),
    secret: true,
    exact: true,
  } as const;
}

/** Returns the setting for a number of bytes. */
export function sizeSetting<const Name extends string, const Fallback extends string>(env: Name, fallback: Fallback, meaning: string) {
  return {
    env,
    type: 'size',
    fallback,
    allowed: ['size'],
    meaning,
    schema: z
      .string()
      .regex(/^[1-9]\d{0,9}( ?[kmg]?b)?$/i)
      .transform(parseBytes)
      .refine((value) => value <= 2 ** 40),
  } as const;
}

/** Returns a schema for whole numbers from `minimum` to `maximum`. */
export function wholeNumber(minimum: number, maximum: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum));
}

/** Returns a schema for language codes such as `en` or `pt-BR`. */
export function languageCode() {
  return z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/);
}

/** Splits a text at commas and trims the parts. */
export function splitAtCommas(value: string): string[] {
  return value.split(',').map((item) => item.trim());
}

/**
 * Whether a text is the URL of a site: without query, fragment, user name and password. Since addresses are made by
 * appending to it, it must not be one that only the URL parser corrects (`https:example.org`, blanks, backslashes).
 */
export function isSiteUrl(value: string): boolean {
  if (!/^https?:\/\/[^\s\\/][^\s\\]*$/i.test(value) || !URL.canParse(value)) return false;
  const { protocol, search, hash, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && `${search}${hash}${username}${password}` === '';
}

/** Whether a text is a URL template for map tiles, with placeholders for zoom, column and row. */
export const isTileUrlTemplate = (value: string): boolean => isUrlTemplateWith(value, ['{z}', '{x}', '{y}']);

/** Whether a text is a URL template for a geocoder, with a placeholder for the address. */
export const isGeocoderUrlTemplate = (value: string): boolean => isUrlTemplateWith(value, ['{address}']);

/** Whether a text is a URL with each of these placeholders, and no others. */
function isUrlTemplateWith(value: string, placeholders: readonly string[]): boolean {
  const address = placeholders.reduce((text, placeholder) => text.replace(placeholder, '0'), value);
  return (
    placeholders.every((placeholder) => value.includes(placeholder)) &&
    !/[{}\s]/.test(address) &&
    URL.canParse(address) &&
    /^https?:/.test(address)
  );
}

const PROXY_ADDRESS = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6(), z.enum(['loopback', 'linklocal', 'uniquelocal'])]);

/** Returns a schema for IP addresses. Those of version 6 get their usual form, in which the system names them. */
export function ipAddress() {
  return z.union([z.ipv4(), z.ipv6().transform((value) => new URL(`http://[${value}]`).hostname.slice(1, -1))]);
}

/** Whether a text names the proxies whose `X-Forwarded-*` headers are trusted. */
export function isProxyTrust(value: string): boolean {
  return /^(on|off|\d{1,3})$/.test(value) || splitAtCommas(value).every((address) => PROXY_ADDRESS.safeParse(address).success);
}

/** Returns the value for Express's `trust proxy`. */
export function proxyTrust(value: string): boolean | number | string {
  if (value === 'on' || value === 'off') return value === 'on';
  return /^\d+$/.test(value) ? Number(value) : splitAtCommas(value).join(',');
}

function parseBytes(value: string): number {
  const exponent = { k: 10, m: 20, g: 30 }[/[kmg]/i.exec(value)?.[0].toLowerCase() ?? ''] ?? 0;
  return Number.parseInt(value, 10) * 2 ** exponent;
}

/** The namespace in which clients of the calendar plugin look for the API; it is always served. */
export const PLUGIN_NAMESPACE = 'tribe/events/v1';

/** Namespaces of other APIs that are served; a calendar namespace of the same name would hide them. */
const OTHER_NAMESPACES: readonly string[] = ['wp/v2', 'tec/v1', 'batch/v1'];

/** Whether a namespace is not equal to, an ancestor or a descendant of another one that is served. */
export const isFreeNamespace = (namespace: string): boolean =>
  namespace === PLUGIN_NAMESPACE ||
  ![PLUGIN_NAMESPACE, ...OTHER_NAMESPACES].some(
    (other) => namespace === other || `${namespace}/`.startsWith(`${other}/`) || other.startsWith(`${namespace}/`),
  );
