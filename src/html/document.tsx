import type { ComponentChildren, JSX } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { I18n } from './i18n.ts';
import { StructuredData } from './rendered.tsx';

/** The attributes of an element in a page's head: `<link>` or `<meta>`. */
export type Attributes = Readonly<Record<string, string>>;

export interface DocumentProps {
  readonly i18n: I18n;
  readonly title: string;
  /** URLs of stylesheets, in order, and of scripts (ES modules). */
  readonly styles: readonly string[];
  readonly scripts?: readonly string[];
  readonly links?: readonly Attributes[];
  readonly metas?: readonly Attributes[];
  /** Structured data for programs. */
  readonly data?: readonly object[];
  /** A name by which stylesheets can select the page. */
  readonly name: string;
  readonly children: ComponentChildren;
}

/** Returns a whole HTML page. Its content is escaped, except for HTML in `Rendered`. */
export const documentOf = (props: DocumentProps): string => `<!doctype html>${renderToString(<Page {...props} />)}\n`;

function Page({ i18n, title, styles, scripts = [], links = [], metas = [], data = [], name, children }: DocumentProps): JSX.Element {
  return (
    <html lang={i18n.language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        {metas.map((attributes) => (
          <meta key={attributes.name ?? attributes.property} {...attributes} />
        ))}
        {styles.map((href) => (
          <link key={href} rel="stylesheet" href={href} />
        ))}
        {links.map((attributes) => (
          <link key={attributes.href} {...attributes} />
        ))}
        {scripts.map((src) => (
          <script key={src} type="module" src={src} />
        ))}
        {data.map((item) => StructuredData({ data: item }))}
      </head>
      <body class={name}>
        <a class="skip" href="#content">
          {i18n.say('pages:skip')}
        </a>
        {children}
      </body>
    </html>
  );
}

/**
 * Returns the Content-Security-Policy of a page: stylesheets, scripts and fonts only from this server, pictures, audio
 * and video from these sources, no inline scripts, no frames in it. Other pages may not show it in a frame either,
 * unless it is `framable`.
 */
const contentSecurityPolicy = (
  images: readonly string[],
  media: readonly string[],
  { forms = [], framable = false }: { readonly forms?: readonly string[]; readonly framable?: boolean } = {},
): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "font-src 'self'",
    `img-src ${["'self'", ...images, 'data:'].join(' ')}`,
    `media-src ${["'self'", ...media].join(' ')}`,
    "connect-src 'self'",
    `form-action ${["'self'", ...forms].join(' ')}`,
    "base-uri 'none'",
    ...(framable ? [] : ["frame-ancestors 'none'"]),
  ].join('; ');

const ANYWHERE = ['https:', 'http:'];

/** Policy of pages that show texts: their pictures may be from any host, like those in the library. */
export const PAGE_POLICY = contentSecurityPolicy(ANYWHERE, ANYWHERE);

/** The same for pages that pages of other sites may show in a frame. */
export const FRAMABLE_PAGE_POLICY = contentSecurityPolicy(ANYWHERE, ANYWHERE, { framable: true });

/**
 * Returns the policy of a page with known pictures: only their hosts are allowed. `redirectTargets`: URLs outside this
 * site to which a form of the page may redirect, including app schemes.
 */
export const policyWithImages = (addresses: readonly string[], redirectTargets: readonly URL[] = []): string =>
  contentSecurityPolicy([...new Set(addresses.flatMap((address) => (URL.canParse(address) ? [new URL(address).origin] : [])))], [], {
    forms: [...new Set(redirectTargets.map(({ protocol, origin }) => (origin === 'null' ? protocol : origin)))],
  });
