import type { Attributes, DocumentProps } from '../html/document.tsx';
import { restUrl } from '../wordpress/links.ts';
import type { Picture } from './models.ts';
import type { UrlContext } from './urls.ts';

/** Metadata of a page for programs. */
export interface HeadProps {
  readonly place: UrlContext;
  readonly siteName: string;
  readonly title: string;
  readonly description: string;
  /** The URL of the page; undefined if the page does not exist. */
  readonly canonical: string | undefined;
  /** The short URL of an event. */
  readonly shortlink: string | undefined;
  readonly picture?: Picture | undefined;
  /** Instructions for search engines. */
  readonly robots: 'noindex, follow' | 'noindex, nofollow' | undefined;
  readonly isRecord: boolean;
  /** The same page in other content languages. */
  readonly alternates: readonly { readonly language: string; readonly href: string }[];
  readonly previous?: string | undefined;
  readonly next?: string | undefined;
  /** The feeds of the page: as a calendar and as news. */
  readonly calendar: string;
  readonly news: string;
  /** The URL of the same content in the API. */
  readonly api: string;
  readonly icon: string;
  /** In Open Graph's form: `it_IT`. */
  readonly locale: string;
}

/** Returns the elements of a page's head for search engines, for sharing the page, and for programs. */
export function headElements(head: HeadProps): Required<Pick<DocumentProps, 'links' | 'metas'>> {
  const { place, siteName, title, description, canonical, picture, robots, isRecord, locale } = head;
  const graph: readonly (readonly [string, string])[] = [
    ['og:title', title],
    ['og:type', isRecord ? 'article' : 'website'],
    ...(canonical === undefined ? [] : [['og:url', canonical] as const]),
    ['og:site_name', siteName],
    ['og:locale', locale],
    ...(description === '' ? [] : [['og:description', description] as const]),
    ...(picture ? [['og:image', picture.src] as const] : []),
  ];
  const metas: Attributes[] = [
    ...(description === '' ? [] : [{ name: 'description', content: description }]),
    ...(robots === undefined ? [] : [{ name: 'robots', content: robots }]),
    ...graph.map(([property, content]) => ({ property, content })),
    { name: 'twitter:card', content: picture ? 'summary_large_image' : 'summary' },
    { name: 'tec-api-version', content: 'v1' },
    { name: 'tec-api-origin', content: place.settings.home },
  ];
  return { metas, links: headLinks(head) };
}

function headLinks({
  place,
  siteName,
  canonical,
  shortlink,
  alternates,
  previous,
  next,
  calendar,
  news,
  api,
  icon,
}: HeadProps): Attributes[] {
  return [
    ...(canonical === undefined ? [] : [{ rel: 'canonical', href: canonical }]),
    ...(shortlink === undefined ? [] : [{ rel: 'shortlink', href: shortlink }]),
    ...alternates.map(({ language, href }) => ({ rel: 'alternate', hreflang: language, href })),
    ...(previous === undefined ? [] : [{ rel: 'prev', href: previous }]),
    ...(next === undefined ? [] : [{ rel: 'next', href: next }]),
    { rel: 'alternate', type: 'text/calendar', title: siteName, href: calendar },
    { rel: 'alternate', type: 'application/rss+xml', title: siteName, href: news },
    { rel: 'alternate', type: 'application/json', href: api },
    { rel: 'https://api.w.org/', href: restUrl({ home: place.home, settings: place.settings }, '') },
    { rel: 'icon', href: icon },
  ];
}
