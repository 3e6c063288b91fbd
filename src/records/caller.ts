import type { SiteSettings } from '../calendar/settings.ts';
import type { Config } from '../config/config.ts';
import type { RenderContext } from '../kinds/rendering.ts';
import { memoize, memoizeByObject } from '../memo.ts';
import type { Site } from '../site.ts';
import type { BundleOptions } from '../storage/rows/bundle.ts';
import { languageOfCode, languagesFor, languageTag } from '../wordpress/content-languages.ts';
import type { Preconditions } from '../wordpress/record-version.ts';
import { uploadsAddress } from '../wordpress/site-address.ts';
import type { Viewer } from '../wordpress/viewer.ts';
import { mayReadFile } from './visibility.ts';

/** Everything that `records/` needs to know about one request: its sender, time, language and address. */
export interface Caller {
  /** The language in which records are requested. */
  readonly content: ContentChoice;
  readonly viewer: Viewer;
  readonly settings: SiteSettings;
  readonly now: Date;
  /** Arrival time of the request, in milliseconds of `performance.now()`. */
  readonly receivedAt: number;
  /** The language of texts for the reader, such as refusals and descriptions. */
  readonly language: string;
  /**
   * The language of texts within records, such as the word for a price of zero and the names of types. In the API it
   * does not depend on `Accept-Language`, which WordPress ignores.
   */
  readonly recordLanguage: string;
  /** Home address with the language segment of the request, without a trailing slash. */
  readonly home: string;
  /** Namespace of the request, e.g. `calendar/events/v1`: URLs in the answer use it. */
  readonly namespace: string;
  /** Address of uploaded files, without a trailing slash. */
  readonly uploads: string;
  /** The word for a price of zero, in `recordLanguage`. */
  readonly freeLabel: string;
  /** Preconditions of a write that identifies its record by its values, so that the route cannot check them. */
  readonly conditions?: Preconditions;
}

/** The language in which a request asks for records. */
export interface ContentChoice {
  /** The language of the records in lists; undefined: all languages. */
  readonly code: string | undefined;
  /** Whether the request itself names the language; otherwise it is the site's choice for requests without one. */
  readonly isChosen: boolean;
  /** The parameter that names the language, to be repeated in the URLs of a list. */
  readonly parameter?: readonly [name: string, value: string] | undefined;
}

/** The choice if the content has no languages, or if all languages are requested. */
export const ANY_LANGUAGE: ContentChoice = { code: undefined, isChosen: false };

/**
 * Returns the part of a caller that rendering uses. `rights`: what the caller may read, and which protected records the
 * request opens.
 */
export function renderContext(caller: Caller, rights: Pick<RenderContext, 'mayRead' | 'isOpen'>): RenderContext {
  const { settings, now, home, namespace, uploads, freeLabel } = caller;
  return {
    settings,
    now,
    home,
    namespace,
    uploads,
    freeLabel,
    translatesLinks: caller.content.code !== undefined,
    mayReadFile: (row, parent) => mayReadFile(caller.viewer, row, parent),
    ...rights,
  };
}

/** Options for loading the rows of records for this caller. */
export const bundleOptions = ({ settings, content }: Caller): BundleOptions => ({
  base: settings.recurrence?.base,
  languages: settings.contentLanguages,
  translatesLinks: content.code !== undefined,
});

/**
 * Returns the language tag of the content that this caller requests, or that of the site if it is not in a single
 * language.
 */
export function contentTag({ settings, content }: Pick<Caller, 'settings' | 'content'>): string {
  const language = settings.contentLanguages && languageOfCode(settings.contentLanguages, content.code);
  return language ? languageTag(language) : settings.contentLanguage;
}

/** The language of a viewer, and further data that a request may supply. */
type CallerOptions = Pick<Caller, 'language'> &
  Partial<Pick<Caller, 'recordLanguage' | 'home' | 'namespace' | 'now' | 'receivedAt' | 'content'>>;

/** Returns the settings of the site as a caller may see them, since some languages are only visible to editors. */
export function settingsFor(settings: SiteSettings, viewer: Viewer): SiteSettings {
  const contentLanguages = languagesFor(settings.contentLanguages, viewer.can('edit_posts'));
  return contentLanguages === settings.contentLanguages ? settings : { ...settings, contentLanguages };
}

/** Returns the URL of uploaded files by the site's home. Kept as long as the options: it takes parsing of URLs. */
const uploadsUrlBySite = memoizeByObject((settings: Pick<SiteSettings, 'home' | 'raw'>) =>
  memoize((site) => uploadsAddress(settings.home, settings.raw, Number(site))),
);

/** Returns the URL of the uploaded files of a site. */
export const uploadsUrl = (settings: Pick<SiteSettings, 'home' | 'raw'>, { networkSite }: Pick<Config, 'networkSite'>): string =>
  uploadsUrlBySite(settings)(String(networkSite));

/**
 * Makes a caller of a viewer. Defaults are the current time, the site's home, our namespace, and records in the
 * viewer's language, as on pages and in the editors' desk.
 */
export function callerFor(site: Site, siteSettings: SiteSettings, viewer: Viewer, options: CallerOptions): Caller {
  const settings = settingsFor(siteSettings, viewer);
  const { language, recordLanguage = language, home = settings.home, namespace = site.config.restNamespace } = options;
  const { now = site.clock(), receivedAt = performance.now(), content = ANY_LANGUAGE } = options;
  return {
    content,
    viewer,
    settings,
    now,
    receivedAt,
    language,
    recordLanguage,
    home,
    namespace,
    uploads: uploadsUrl(siteSettings, site.config),
    freeLabel: site.texts.t(recordLanguage, 'site:free'),
  };
}
