/**
 * The languages in which the content of a site is written, according to the rows of Polylang or WPML, and how URLs
 * contain them. The languages of the interface's own texts are independent of these (`LANGUAGES`).
 */
export interface ContentLanguages {
  /** The plugin in whose format the rows store the language of each record. */
  readonly form: 'polylang' | 'wpml';
  /** Whether that plugin is active in a WordPress on this database; otherwise only this program uses the rows. */
  readonly pluginRuns: boolean;
  /** Whether records in different languages may have the same slug, as with WPML and Polylang Pro. */
  readonly sharesSlugs: boolean;
  /** In the site's order. */
  readonly languages: readonly ContentLanguage[];
  /** All languages of the site, if some are hidden from the caller and left out of `languages`. */
  readonly all?: readonly ContentLanguage[];
  /** Code of the default language. */
  readonly defaultCode: string;
  /** Post types and taxonomies whose records have a language. */
  readonly translated: readonly string[];
  /**
   * Post types and taxonomies among these whose lists show a record of the default language if its translation is
   * missing.
   */
  readonly withFallback: readonly string[];
  readonly urls: LanguageUrls;
}

export interface ContentLanguage {
  /** As stored: `en`, `pt-br`, `zh_tw`. Codes are compared case-sensitively. */
  readonly code: string;
  /** WordPress locale, such as `en_US`. */
  readonly locale: string;
  /** Display name, in the language itself if the site has that. */
  readonly name: string;
  /** The id of the row that defines the language: positive and unique. */
  readonly number: number;
  /** Whether only users who may edit posts know of the language. */
  readonly hidden: boolean;
  /** The `term_taxonomy_id`s that represent the language on posts and on terms; 0 if the format has no such rows. */
  readonly onPosts: number;
  readonly onTerms: number;
}

/**
 * The form in which URLs of pages contain the language. `bare`: the language whose URLs do not contain it. `hosts`: the
 * host of each language, including its port if there is one.
 */
export type LanguageUrls =
  | { readonly by: 'nothing' }
  | { readonly by: 'directory'; readonly before: '' | 'language/'; readonly bare: string | undefined }
  | { readonly by: 'subdomain'; readonly bare: string | undefined }
  | { readonly by: 'host'; readonly hosts: readonly (readonly [code: string, host: string])[] }
  | { readonly by: 'parameter'; readonly bare: string | undefined };

/** The language of a record, and the members of its translation group by language, including itself. */
export interface Membership {
  /** Null: the record has no language that the site has. */
  readonly language: string | null;
  /** Ids of posts or of terms. The records may no longer exist. */
  readonly members: ReadonlyMap<string, number>;
}

/** Memberships by post id and by `term_id`. A record without an entry has neither a language nor a group. */
export interface Memberships {
  readonly posts: ReadonlyMap<number, Membership>;
  readonly terms: ReadonlyMap<number, Membership>;
}

/** Returns the language with this code, if the site has it. */
export const languageOfCode = ({ languages }: Pick<ContentLanguages, 'languages'>, code: string | undefined): ContentLanguage | undefined =>
  languages.find((language) => language.code === code);

/** Returns the languages that a caller may know of. `seesHidden`: whether these are all languages. */
export const languagesFor = (languages: ContentLanguages | undefined, seesHidden: boolean): ContentLanguages | undefined =>
  seesHidden || !languages?.languages.some(({ hidden }) => hidden)
    ? languages
    : {
        ...languages,
        languages: languages.languages.filter(({ hidden, code }) => !hidden || code === languages.defaultCode),
        all: languages.all ?? languages.languages,
      };

/** Returns the languages of the site as those know them who may know of all. */
export const withHidden = (languages: ContentLanguages | undefined): ContentLanguages | undefined =>
  languages?.all ? { ...languages, languages: languages.all } : languages;

/** Returns whether records of this post type or taxonomy have languages on the site. */
export const isTranslated = (languages: ContentLanguages | undefined, name: string): languages is ContentLanguages =>
  languages?.translated.includes(name) === true;

/** Returns the language tag of a locale for HTML and JSON-LD (BCP 47): `it-IT` for `it_IT`. */
export const languageTag = ({ locale, code }: Pick<ContentLanguage, 'locale' | 'code'>): string => (locale || code).replaceAll('_', '-');

/**
 * Returns the URL of a page in a language. `make` makes it from the home URL. A page without a language, or on a site
 * without languages, has the URL that `make` returns for `home`.
 */
export function urlIn(
  languages: ContentLanguages | undefined,
  code: string | undefined,
  home: string,
  make: (home: string) => string,
): string {
  if (!languages || !languageOfCode(languages, code) || code === undefined) return make(home);
  const url = make(homeIn(languages.urls, code, home));
  if (languages.urls.by !== 'parameter' || code === languages.urls.bare) return url;
  return `${url}${url.includes('?') ? '&' : '?'}lang=${encodeURIComponent(code)}`;
}

/** Returns the home URL of a language, without trailing slash. */
export function homeIn(urls: LanguageUrls, code: string, home: string): string {
  if (urls.by === 'directory') return code === urls.bare ? home : `${home}/${urls.before}${code}`;
  if (urls.by === 'subdomain') return code === urls.bare ? home : home.replace(/:\/\/(www\.)?/, `://${code}.`);
  if (urls.by !== 'host') return home;
  const host = urls.hosts.find(([of]) => of === code)?.[1];
  return host === undefined ? home : home.replace(/:\/\/[^/]+/, `://${host}`);
}
