import type { Config } from '../config/config.ts';
import { ANY_LANGUAGE, type ContentChoice } from '../records/caller.ts';
import { type ContentLanguage, type ContentLanguages, homeIn, languageOfCode } from '../wordpress/content-languages.ts';
import type { Body, RawParams } from './input.ts';
import { LANGUAGE_NAMES } from './language.ts';

/** The value that requests records in all languages. */
export const EVERY_LANGUAGE = 'all';

/** The parts of a request that may name the language of its records. */
export interface ContentHints {
  readonly query: RawParams;
  readonly body: Body;
  /** The language of the address, from its first segment or its host. */
  readonly address: string | undefined;
}

/**
 * Returns the language in which a request asks for records: from `translation_language`, then its synonyms, each first
 * in the body; then from the address; otherwise from the setting `CONTENT_LANGUAGE_DEFAULT`. Values that are not
 * languages of the site are ignored. Headers and cookies are not considered, since shared caches keep one answer per
 * address.
 */
export function chooseContentLanguage(
  languages: ContentLanguages | undefined,
  { contentLanguageDefault }: Config,
  hints: ContentHints,
): ContentChoice {
  if (!languages) return ANY_LANGUAGE;
  return requestedContentLanguage(languages, hints) ?? { code: defaultContentLanguage(languages, contentLanguageDefault), isChosen: false };
}

/** Returns the language that the request itself names; undefined if it names none. */
function requestedContentLanguage(languages: ContentLanguages, { query, body, address }: ContentHints): ContentChoice | undefined {
  const isKnown = (value: unknown): value is string =>
    typeof value === 'string' && (value === EVERY_LANGUAGE || languageOfCode(languages, value) !== undefined);
  for (const name of LANGUAGE_NAMES) {
    for (const source of [body.json, body.form, query]) {
      const value = source?.[name];
      if (!isKnown(value)) continue;
      const parameter = value === address ? undefined : ([name, value] as const);
      return { code: value === EVERY_LANGUAGE ? undefined : value, isChosen: true, parameter };
    }
  }
  return isKnown(address) ? { code: address, isChosen: true } : undefined;
}

/**
 * Returns the same for a feed of the site's pages. Here the address comes first, and an address without a language
 * means the default language, as on the site's pages.
 */
export function chooseFeedLanguage(languages: ContentLanguages | undefined, hints: ContentHints): ContentChoice {
  if (!languages) return ANY_LANGUAGE;
  const address = languageOfCode(languages, hints.address)?.code;
  return address === undefined
    ? (requestedContentLanguage(languages, hints) ?? { code: languages.defaultCode, isChosen: false })
    : { code: address, isChosen: true };
}

/**
 * Returns the language of lists if the request names none. WordPress with Polylang then lists all languages. Without
 * Polylang, and with WPML, one language is chosen, so that no client gets each event once per language.
 */
function defaultContentLanguage(languages: ContentLanguages, setting: string): string | undefined {
  const { form, pluginRuns, defaultCode } = languages;
  if (setting === EVERY_LANGUAGE) return undefined;
  if (setting === 'default') return defaultCode;
  const code = languageOfCode(languages, setting)?.code;
  return code ?? (form === 'polylang' && pluginRuns ? undefined : defaultCode);
}

/**
 * Returns the language that a host belongs to; undefined if none. If languages have folders, no host has a language.
 * Neither has the host of the language without a subdomain. `host`: the header `Host`. `X-Forwarded-Host` does not
 * count, even from a trusted proxy: most proxies pass it on as the client sent it, and their caches ignore it.
 */
export function languageOfHost(languages: ContentLanguages | undefined, home: string, host: string | undefined): string | undefined {
  if (!languages || host === undefined || !hasHosts(languages)) return undefined;
  const { urls } = languages;
  const name = host.toLowerCase().replace(/:\d+$/, '');
  const hostOf = ({ code }: ContentLanguage): string | undefined => {
    if ('bare' in urls && code === urls.bare) return undefined;
    const root = homeIn(urls, code, home);
    return URL.canParse(root) ? new URL(root).hostname : undefined;
  };
  return languages.languages.find((language) => hostOf(language) === name)?.code;
}

/** Whether languages of this site have hosts. */
export const hasHosts = (languages: ContentLanguages | undefined): boolean =>
  languages !== undefined && (languages.urls.by === 'host' || languages.urls.by === 'subdomain');
