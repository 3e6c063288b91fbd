import type { ComponentChildren, JSX } from 'preact';

/** What a link may lead to; anything else could run in the page (`javascript:`). */
const SAFE: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:', 'webcal:']);

/** Whether a browser that follows this address only goes somewhere. An address without a scheme stays on the site. */
export function isSafeAddress(href: string): boolean {
  const base = 'https://site.invalid/';
  return URL.canParse(href, base) && SAFE.has(new URL(href, base).protocol);
}

/** An address without its host, for what has to stay at the host that the page came from: forms, logins. */
export function onThisHost(url: string): string {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Where to write to somebody: an e-mail address may hold `?`, behind which others would be written to as well. */
export const mailUrl = (email: string): string => `mailto:${encodeURIComponent(email).replace('%40', '@')}`;

export interface LinkProps {
  readonly href: string;
  readonly children?: ComponentChildren;
  readonly class?: string | undefined;
  readonly rel?: string | undefined;
  readonly hreflang?: string | undefined;
  readonly download?: boolean | undefined;
  /** What the link is called, where its text alone does not say it. */
  readonly label?: string | undefined;
  /** Whether it leads to what is being shown. */
  readonly current?: 'page' | 'date' | undefined;
}

/** A link. Pages make all of theirs with it: an address that could run something becomes plain text. */
export function Link({ href, children, label, current, ...rest }: LinkProps): JSX.Element {
  if (!isSafeAddress(href)) return <span class={rest.class}>{children}</span>;
  return (
    <a href={href} aria-label={label} aria-current={current} {...rest}>
      {children}
    </a>
  );
}
