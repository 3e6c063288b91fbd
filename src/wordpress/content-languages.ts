/**
 * The languages that the content of a site is written in, as Polylang's or WPML's rows say it, and what follows from
 * that for addresses. The languages of the interface's own texts are another matter (`LANGUAGES`).
 */
export interface ContentLanguages {
  /** Whose rows say which record is in which language. */
  readonly form: 'polylang' | 'wpml';
  /** Whether that plugin runs in a WordPress on this database; otherwise the rows are ours alone. */
  readonly pluginRuns: boolean;
  /** In the order of the site. */
  readonly languages: readonly ContentLanguage[];
  /** Code of the default language. */
  readonly defaultCode: string;
  /** Post types and taxonomies whose records have a language. */
  readonly translated: readonly string[];
  /** Those of them whose lists show a record of the default language where its translation is missing. */
  readonly withFallback: readonly string[];
  readonly urls: LanguageUrls;
}

export interface ContentLanguage {
  /** As stored: `en`, `pt-br`, `zh_tw`. Codes are compared case-sensitively. */
  readonly code: string;
  /** WordPress's name of it: `en_US`. */
  readonly locale: string;
  /** Its name for people, in its own language as far as the site says it. */
  readonly name: string;
  /** The id of the row that says it: above zero, another one for each language. */
  readonly number: number;
  /** Known only to people who may edit posts. */
  readonly hidden: boolean;
  /** The `term_taxonomy_id`s that stand for it on posts and on terms; 0 where the form has no such rows. */
  readonly onPosts: number;
  readonly onTerms: number;
}

/**
 * How addresses of pages say their language. `bare`: the language whose addresses say nothing. `hosts`: the host of
 * each language, with its port where there is one.
 */
export type LanguageUrls =
  | { readonly by: 'nothing' }
  | { readonly by: 'directory'; readonly before: '' | 'language/'; readonly bare: string | undefined }
  | { readonly by: 'subdomain'; readonly bare: string | undefined }
  | { readonly by: 'host'; readonly hosts: readonly (readonly [code: string, host: string])[] }
  | { readonly by: 'parameter'; readonly bare: string | undefined };

/** The language of a record, and the members of its group by their language, itself included. */
export interface Membership {
  /** Null: the record has no language that the site knows. */
  readonly language: string | null;
  /** Ids of posts, or of terms. Whether they still exist is for the rows to say. */
  readonly members: ReadonlyMap<string, number>;
}

/** By the id of the post, and the `term_id` of the term. A record that is not there has neither language nor group. */
export interface Memberships {
  readonly posts: ReadonlyMap<number, Membership>;
  readonly terms: ReadonlyMap<number, Membership>;
}

/** The language of this code, if the site has it. */
export const languageOfCode = ({ languages }: Pick<ContentLanguages, 'languages'>, code: string | undefined): ContentLanguage | undefined =>
  languages.find((language) => language.code === code);

/** The languages that a caller may know of. `seesHidden`: whether that is all of them. */
export const languagesFor = (languages: ContentLanguages | undefined, seesHidden: boolean): ContentLanguages | undefined =>
  seesHidden || !languages?.languages.some(({ hidden }) => hidden)
    ? languages
    : { ...languages, languages: languages.languages.filter(({ hidden, code }) => !hidden || code === languages.defaultCode) };

/** Whether records of this post type or taxonomy have languages on the site. */
export const isTranslated = (languages: ContentLanguages | undefined, name: string): languages is ContentLanguages =>
  languages?.translated.includes(name) === true;

/** The tag of a locale for HTML and JSON-LD (BCP 47): `it-IT` for `it_IT`. */
export const languageTag = ({ locale, code }: Pick<ContentLanguage, 'locale' | 'code'>): string => (locale || code).replaceAll('_', '-');

/**
 * The address of a page in a language. `make` makes it from the address that pages begin with. A page without a
 * language, or of a site without languages, has the address that it would have anyway.
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

/** Where the pages of a language begin; no trailing slash. */
export function homeIn(urls: LanguageUrls, code: string, home: string): string {
  if (urls.by === 'directory') return code === urls.bare ? home : `${home}/${urls.before}${code}`;
  if (urls.by === 'subdomain') return code === urls.bare ? home : home.replace(/:\/\/(www\.)?/, `://${code}.`);
  if (urls.by !== 'host') return home;
  const host = urls.hosts.find(([of]) => of === code)?.[1];
  return host === undefined ? home : home.replace(/:\/\/[^/]+/, `://${host}`);
}
