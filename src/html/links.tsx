import type { ComponentChildren, JSX } from 'preact';

/** Allowed schemes of links; others could run code in the page (`javascript:`). */
const SAFE_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:', 'webcal:']);

/** Returns whether a URL is safe to follow. A URL without a scheme stays on the site. */
export function isSafeUrl(href: string): boolean {
  const base = 'https://site.invalid/';
  return URL.canParse(href, base) && SAFE_SCHEMES.has(new URL(href, base).protocol);
}

/** Returns a URL without its host, for forms and logins, which must stay on the host of the page. */
export function withoutHost(url: string): string {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/**
 * Returns the `mailto:` URL of an e-mail address. A `?` in the address is encoded, since further recipients could
 * follow it.
 */
export const mailUrl = (email: string): string => `mailto:${encodeURIComponent(email).replace('%40', '@')}`;

export interface LinkProps {
  readonly href: string;
  readonly children?: ComponentChildren;
  readonly class?: string | undefined;
  readonly rel?: string | undefined;
  readonly hreflang?: string | undefined;
  readonly download?: boolean | undefined;
  /** The accessible name of the link, if its text is not sufficient. */
  readonly label?: string | undefined;
  /** Whether it leads to the current page or date. */
  readonly current?: 'page' | 'date' | undefined;
}

/** A link. Pages only create links with this component: a URL that could run code is shown as plain text. */
export function Link({ href, children, label, current, ...rest }: LinkProps): JSX.Element {
  if (!isSafeUrl(href)) return <span class={rest.class}>{children}</span>;
  return (
    <a href={href} aria-label={label} aria-current={current} {...rest}>
      {children}
    </a>
  );
}
