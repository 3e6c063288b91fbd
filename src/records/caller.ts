import type { SiteSettings } from '../calendar/settings.ts';
import type { RenderContext } from '../kinds/rendering.ts';
import type { Site } from '../site.ts';
import type { BundleOptions } from '../storage/rows/bundle.ts';
import { languageOfCode, languagesFor, languageTag } from '../wordpress/content-languages.ts';
import type { Preconditions } from '../wordpress/record-version.ts';
import { siteAddress } from '../wordpress/site-address.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/** What `records/` needs to know about one request: who sent it, when, in which language and under which address. */
export interface Caller {
  /** In which language records are asked for. */
  readonly content: ContentChoice;
  readonly viewer: Viewer;
  readonly settings: SiteSettings;
  readonly now: Date;
  /** When the request came, in milliseconds of `performance.now()`. */
  readonly arrived: number;
  readonly language: string;
  /** Home address with the language segment of the request, without trailing slash. */
  readonly home: string;
  /** Namespace of the request, e.g. `calendar/events/v1`: URLs in the answer use it. */
  readonly namespace: string;
  /** Address of uploaded files, without trailing slash. */
  readonly uploads: string;
  /** The word for a price of nothing, in the caller's language. */
  readonly free: string;
  /** What a write asks of the version of a record that it names by its values alone. */
  readonly conditions?: Preconditions;
}

/** In which language a request asks for records. */
export interface ContentChoice {
  /** The language that lists hold; undefined: all of them. */
  readonly code: string | undefined;
  /** Whether the request itself says so; otherwise it is what the site has for those that do not. */
  readonly chosen: boolean;
  /** The parameter that says it, as the URLs of a list carry it on. */
  readonly parameter?: readonly [name: string, value: string] | undefined;
}

/** The choice where content has no languages, and where all of it is asked for. */
export const ANY_LANGUAGE: ContentChoice = { code: undefined, chosen: false };

/**
 * What rendering may know of this caller. `rights`: what the caller may read, and which protected records the request
 * opens.
 */
export function renderContext(caller: Caller, rights: Pick<RenderContext, 'mayRead' | 'opens'>): RenderContext {
  const { settings, now, home, namespace, uploads, free } = caller;
  return { settings, now, home, namespace, uploads, free, translatesLinks: caller.content.code !== undefined, ...rights };
}

/** What the rows of records are loaded with for this caller. */
export const bundleOptions = ({ settings, content }: Caller): BundleOptions => ({
  base: settings.recurrence?.base,
  languages: settings.contentLanguages,
  translatesLinks: content.code !== undefined,
});

/** Where uploaded files are, without a slash at the end. */
function uploadsAddress(stored: string, home: string): string {
  const path = /^\/[^/]/.test(stored) ? new URL(home).origin + stored : stored;
  return siteAddress(path) ?? `${home}/wp-content/uploads`;
}

/** The language tag of the content that this caller asks for; where that is in no one language, that of the site. */
export function contentTag({ settings, content }: Caller): string {
  const language = settings.contentLanguages && languageOfCode(settings.contentLanguages, content.code);
  return language ? languageTag(language) : settings.contentLanguage;
}

/** How a viewer asks: in which language, and what else is known where it is by a request. */
type CallerOptions = Pick<Caller, 'language'> & Partial<Pick<Caller, 'home' | 'namespace' | 'now' | 'arrived' | 'content'>>;

/** The settings of the site as a caller may know them: some languages are for those alone who write in them. */
export function settingsFor(settings: SiteSettings, viewer: Viewer): SiteSettings {
  const contentLanguages = languagesFor(settings.contentLanguages, viewer.can('edit_posts'));
  return contentLanguages === settings.contentLanguages ? settings : { ...settings, contentLanguages };
}

/** A viewer as a caller. Unless the options say otherwise: at this moment, under the site's home, in our namespace. */
export function callerFor(site: Site, known: SiteSettings, viewer: Viewer, options: CallerOptions): Caller {
  const settings = settingsFor(known, viewer);
  const { language, home = settings.home, namespace = site.config.restNamespace } = options;
  const { now = site.clock(), arrived = performance.now(), content = ANY_LANGUAGE } = options;
  return {
    content,
    viewer,
    settings,
    now,
    arrived,
    language,
    home,
    namespace,
    uploads: uploadsAddress(settings.raw.get('upload_url_path') ?? '', settings.home),
    free: site.texts.t(language, 'site:free'),
  };
}
