import type { ComponentChildren, JSX } from 'preact';
import { isHiddenFromSearch } from '../calendar/settings.ts';
import { PLUGIN_NAMESPACE } from '../config/values.ts';
import { documentOf } from '../html/document.tsx';
import type { I18n } from '../html/i18n.ts';
import { siteNameOf } from '../html/site-name.ts';
import type { Timeliness } from '../kinds/timeliness.ts';
import type { Caller } from '../records/caller.ts';
import type { Site } from '../site.ts';
import { languageOfCode, languageTag } from '../wordpress/content-languages.ts';
import { knownLanguage } from '../wordpress/language-names.ts';
import { restUrl } from '../wordpress/links.ts';
import { calendarFeedUrl, newsFeedUrl } from './feed-urls.ts';
import type { FrameProps } from './frame.tsx';
import { headElements } from './head.ts';
import { i18nFor } from './i18n-for.ts';
import type { Picture } from './models.ts';
import { apiRoutesOf, type PageSubject, shortlinkOf } from './page-subject.ts';
import { ProblemView } from './record-views.tsx';
import type { LoadedTheme } from './theme.ts';
import { calendarUrl, listUrlInLanguage, type QueryPairs, suggestUrl, withLanguage, withoutLanguage } from './urls.ts';

/** A complete page. */
export interface Page {
  readonly status: number;
  readonly html: string;
  /** Whether pages of other sites may show it in a frame. */
  readonly framable: boolean;
  readonly timeliness: Timeliness;
  /** The records on the page, from which the caller determines when a cached page becomes invalid. */
  readonly records: readonly unknown[];
  readonly subject: PageSubject;
}

/** The context that all pages of a site share. */
export interface PageContext extends LoadedTheme {
  readonly site: Site;
}

/** The language and translations of a record. `isOneWay`: the page in that language does not link back. */
export interface WithTranslations {
  readonly language?: string | null | undefined;
  readonly translations?: Readonly<Record<string, { readonly url: string; readonly isOneWay?: boolean }>> | undefined;
}

/** The content of a page, and the data for its head. */
export interface PageContent {
  readonly body: ComponentChildren;
  /** A name for use in stylesheets. */
  readonly name: string;
  /** Without the name of the site. */
  readonly title: string;
  readonly description: string;
  /** The URL of the page, in the caller's language. */
  readonly address: string;
  /** The URL by which the menu knows the page, if this is another one: that of the view, without month or day. */
  readonly menuAddress?: string | undefined;
  /** The URL of the first of several pages, if this is another one, since other languages may have fewer pages. */
  readonly first?: string | undefined;
  /** For the page of a record or a term: its language and its translations, if content has languages. */
  readonly record?: WithTranslations | undefined;
  readonly picture?: Picture | undefined;
  /** Whether search engines should not index it. */
  readonly unlisted?: boolean;
  readonly previous?: string | undefined;
  readonly next?: string | undefined;
  readonly data?: readonly object[];
  /** Names of additional stylesheets and scripts. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  readonly records: readonly unknown[];
  readonly subject: PageSubject;
  /** Parameters that restrict the calendar to the events of the page. */
  readonly narrowing?: QueryPairs | undefined;
  readonly timeliness: Timeliness;
  /**
   * Whether pages of other sites may show it in a frame: only if it has no forms but those that search. Others could
   * have visitors fill in a form that they do not see.
   */
  readonly framable?: boolean;
}

/**
 * Returns the locale of a page's texts in Open Graph's form (`it_IT`): that of the content, else that of the interface.
 */
function openGraphLocale({ language, locale }: I18n, { settings, content }: Caller): string {
  const contentLanguage = settings.contentLanguages && languageOfCode(settings.contentLanguages, content.code);
  const fullLocale = (contentLanguage?.locale || locale).replaceAll('-', '_');
  // WordPress locales may have a suffix that is not a region: `de_DE_formal`.
  return /^[a-z]{2,3}_[A-Z]{2}/.exec(fullLocale)?.[0] ?? knownLanguage(contentLanguage?.code ?? language)?.locale ?? fullLocale;
}

/** Returns the whole page for its content. */
export function toPage({ site, assets, theme }: PageContext, caller: Caller, content: PageContent, status = 200): Page {
  const { settings, home } = caller;
  const i18n = i18nFor(site, caller);
  const siteName = siteNameOf(settings, i18n);
  const base = basePathOf(settings.home);
  const title = content.title === '' ? siteName : i18n.say('pages:titled', { title: content.title, of: siteName });
  const languages = languageLinks(site, caller, content);
  const isThere = status === 200;
  const { route, query } = apiRoutesOf(content.subject);
  const head = headElements({
    place: caller,
    siteName,
    title,
    description: content.description,
    canonical: isThere
      ? caller.settings.contentLanguages
        ? content.address
        : urlInLanguage(caller, undefined, content.address)
      : undefined,
    shortlink: shortlinkOf(settings, content.subject),
    picture: content.picture,
    robots: isHiddenFromSearch(settings) ? 'noindex, nofollow' : content.unlisted ? 'noindex, follow' : undefined,
    isRecord: content.subject.event !== undefined,
    alternates:
      isThere && caller.settings.contentLanguages && content.first === undefined
        ? languages.filter(({ isOneWay }) => !isOneWay).map(({ code, href }) => ({ language: code, href }))
        : [],
    previous: content.previous,
    next: content.next,
    calendar: calendarFeedUrl(caller, content.narrowing),
    news: newsFeedUrl(caller),
    api: restUrl(caller, `${PLUGIN_NAMESPACE}/${route}`, query),
    icon: assets.urlOf(base, theme.icon),
    locale: openGraphLocale(i18n, caller),
  });
  const html = documentOf({
    i18n,
    title,
    styles: ['base.css', 'pages.css', ...(content.styles ?? []), ...theme.styles].map((name) => assets.urlOf(base, name)),
    scripts: (content.scripts ?? []).map((name) => assets.urlOf(base, name)),
    ...head,
    data: content.data ?? [],
    name: `page page-${content.name}`,
    children: theme.views.frame({
      i18n,
      siteName,
      home: withLanguage(caller, `${home}/`),
      logo: theme.logo === undefined ? undefined : { src: assets.urlOf(base, theme.logo), text: siteName },
      menu: menuLinks(i18n, caller, content.menuAddress ?? content.address),
      languages,
      links: [
        { name: i18n.say('pages:rss'), href: newsFeedUrl(caller) },
        { name: i18n.say('pages:api'), href: `${home}/doc` },
      ],
      children: content.body,
    }),
  });
  const { framable = false, timeliness, records, subject } = content;
  return { status, html, framable, timeliness, records, subject };
}

/** Returns the path of a home URL, without trailing slash. */
const basePathOf = (home: string): string => (URL.canParse(home) ? new URL(home).pathname.replace(/\/$/, '') : '');

/** A link to the page in a language. Search engines ignore pages that do not link back; the head leaves them out. */
type LanguageLink = FrameProps['languages'][number] & Pick<NonNullable<WithTranslations['translations']>[string], 'isOneWay'>;

/**
 * Returns the links to the same page in other languages: if content has languages, those in which the page exists;
 * otherwise those of the interface.
 */
function languageLinks({ texts }: Site, caller: Caller, { address, first = address, record }: PageContent): LanguageLink[] {
  const { home, settings, content, language } = caller;
  const { contentLanguages: languages } = settings;
  if (languages === undefined) {
    return texts.languages.map((code) => ({
      code,
      name: languageName(code),
      href: urlInLanguage(caller, code, address),
      current: code === language,
    }));
  }
  const ownCode = record ? record.language : (content.code ?? languages.defaultCode);
  const path = first.startsWith(home) ? withoutLanguage(caller, first.slice(home.length)) : '/';
  return languages.languages.flatMap((contentLanguage) => {
    const { code, name } = contentLanguage;
    const { url: translation, isOneWay = false } = record?.translations?.[code] ?? {};
    const href = code === ownCode ? address : record ? translation : listUrlInLanguage(caller, code, (root) => root + path);
    return href === undefined ? [] : [{ code: languageTag(contentLanguage), name, href, current: code === ownCode, isOneWay }];
  });
}

/**
 * Returns a URL of the site in another language of the interface; undefined: in the language that the visitor prefers.
 */
function urlInLanguage({ home, settings }: Pick<Caller, 'home' | 'settings'>, code: string | undefined, address: string): string {
  const path = address.startsWith(home) ? address.slice(home.length) : '/';
  return settings.home + (code === undefined ? '' : `/${code}`) + path;
}

const languageName = (code: string): string => new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;

function menuLinks({ say }: I18n, place: Caller, address: string) {
  const suggest = suggestUrl(place);
  const entries = [
    { name: say('pages:events'), href: calendarUrl(place, { view: 'list' }) },
    { name: say('pages:month'), href: calendarUrl(place, { view: 'month' }) },
    ...(suggest === undefined ? [] : [{ name: say('pages:suggest.link'), href: suggest }]),
  ];
  return entries.map((entry) => ({ ...entry, current: entry.href === address }));
}

/** Keys of the headings of error pages by status; every other error of the visitor means that there is no such page. */
const HEADINGS: ReadonlyMap<number, string> = new Map([
  [400, 'not-understood'],
  [403, 'not-taken'],
  [410, 'closed'],
  [413, 'too-long'],
  [429, 'failed'],
]);

/** An error, for its page. */
interface ShownProblem {
  readonly status: number;
  /** The id by which an administrator finds the request in the log. */
  readonly request: string | undefined;
  /** The sentence about the failure of a form, which says more than that of a page. */
  readonly aboutForm?: string | undefined;
}

/** Returns an error page. */
export function problemPage(context: PageContext, caller: Caller, { status, request, aboutForm }: ShownProblem): Page {
  const i18n = i18nFor(context.site, caller);
  const heading = HEADINGS.get(status) ?? (status >= 500 ? 'failed' : 'not-found');
  const view: JSX.Element = ProblemView({
    i18n,
    heading: i18n.say(`pages:${heading}`),
    about: (heading === 'failed' ? aboutForm : undefined) ?? i18n.say(`pages:${heading}-about`),
    request: status >= 500 ? request : undefined,
    back: calendarUrl(caller, { view: 'list' }),
  });
  const content: PageContent = {
    body: view,
    name: 'problem',
    title: i18n.say(`pages:${heading}`),
    description: '',
    address: `${caller.home}/`,
    unlisted: true,
    records: [],
    subject: {},
    timeliness: 'always',
  };
  return toPage(context, caller, content, status);
}
