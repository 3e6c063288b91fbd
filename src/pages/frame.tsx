import type { ComponentChildren, JSX } from 'preact';
import type { I18n } from '../html/i18n.ts';
import { Link } from '../html/links.tsx';
import type { NamedLink, Picture } from './models.ts';
import type { Subscription } from './urls.ts';

/** The data around the content of every page. */
export interface FrameProps {
  readonly i18n: I18n;
  readonly siteName: string;
  readonly home: string;
  readonly logo: Picture | undefined;
  /** The main parts of the site; `current`: the one being shown. */
  readonly menu: readonly (NamedLink & { readonly current: boolean })[];
  /** The same page in other languages. */
  readonly languages: readonly (NamedLink & { readonly code: string; readonly current: boolean })[];
  readonly links: readonly NamedLink[];
  readonly children?: ComponentChildren;
}

/** A page of the calendar: header with menu and languages, content, footer. */
export function Frame({ i18n, siteName, home, logo, menu, languages, links, children }: FrameProps): JSX.Element {
  const { say } = i18n;
  return (
    <>
      <header class="site-header">
        <Link href={home} class="site-name" rel="home">
          {logo ? <img src={logo.src} alt={siteName} class="site-logo" /> : siteName}
        </Link>
        <nav aria-label={say('pages:main')}>
          <Menu items={menu} />
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer class="site-footer">
        <Menu items={links} />
        {languages.length > 1 && (
          <nav aria-label={say('pages:languages')}>
            <ul class="menu">
              {languages.map(({ name, href, code, current }) => (
                <li key={code} lang={code}>
                  <Link href={href} hreflang={code} current={current ? 'page' : undefined}>
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
        )}
      </footer>
    </>
  );
}

/** A list of links, of which one may be the current page. `class`: in addition to `menu`. */
export const Menu = ({ items, class: extraClass }: { readonly items: readonly MenuItem[]; readonly class?: string }): JSX.Element => (
  <ul class={extraClass === undefined ? 'menu' : `menu ${extraClass}`}>
    {items.map(({ name, href, current }) => (
      <li key={href}>
        <Link href={href} current={current ? 'page' : undefined}>
          {name}
        </Link>
      </li>
    ))}
  </ul>
);

interface MenuItem extends NamedLink {
  readonly current?: boolean;
}

/** Buttons for subscribing to the calendar or adding an event to a personal one. */
export function Subscribe({ i18n, ways }: { readonly i18n: I18n; readonly ways: readonly Subscription[] }): JSX.Element {
  const { say } = i18n;
  return (
    <details class="subscribe">
      <summary>{say('pages:subscribe')}</summary>
      <p class="quiet">{say('pages:subscribe-about')}</p>
      <ul>
        {ways.map(({ name, href }) => (
          <li key={name}>
            <Link href={href}>{say(`pages:subscribe-to.${name}`)}</Link>
          </li>
        ))}
      </ul>
    </details>
  );
}
