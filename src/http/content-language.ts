import type { Config } from '../config/config.ts';
import { ANY_LANGUAGE, type ContentChoice } from '../records/caller.ts';
import { type ContentLanguage, type ContentLanguages, homeIn, languageOfCode } from '../wordpress/content-languages.ts';
import type { Body, Raw } from './input.ts';
import { LANGUAGE_NAMES } from './language.ts';

/** The value that asks for records of all languages. */
export const EVERY_LANGUAGE = 'all';

/** Where a request may say in which language it wants records. */
export interface ContentHints {
  readonly query: Raw;
  readonly body: Body;
  /** The language of the address: its first segment, or its host. */
  readonly address: string | undefined;
}

/**
 * In which language a request asks for records: `translation_language`, then its synonyms, each first in the body;
 * then the address; else what the setting `CONTENT_LANGUAGE_DEFAULT` says. Values that are no language of the site are
 * passed over. Headers and cookies have no say: shared caches keep one answer for each address.
 */
export function contentChoice(
  languages: ContentLanguages | undefined,
  { contentLanguageDefault }: Config,
  hints: ContentHints,
): ContentChoice {
  if (!languages) return ANY_LANGUAGE;
  return choiceOfRequest(languages, hints) ?? { code: choiceWithoutRequest(languages, contentLanguageDefault), chosen: false };
}

/** What a request says itself; undefined: nothing. */
function choiceOfRequest(languages: ContentLanguages, { query, body, address }: ContentHints): ContentChoice | undefined {
  const known = (value: unknown): value is string =>
    typeof value === 'string' && (value === EVERY_LANGUAGE || languageOfCode(languages, value) !== undefined);
  for (const name of LANGUAGE_NAMES) {
    for (const source of [body.json, body.form, query]) {
      const value = source?.[name];
      if (!known(value)) continue;
      const parameter = value === address ? undefined : ([name, value] as const);
      return { code: value === EVERY_LANGUAGE ? undefined : value, chosen: true, parameter };
    }
  }
  return known(address) ? { code: address, chosen: true } : undefined;
}

/**
 * The same for a feed of the site's pages: the address counts first, and one without a language is in the default one,
 * as those of the site are.
 */
export function feedChoice(languages: ContentLanguages | undefined, hints: ContentHints): ContentChoice {
  if (!languages) return ANY_LANGUAGE;
  const address = languageOfCode(languages, hints.address)?.code;
  return address === undefined
    ? (choiceOfRequest(languages, hints) ?? { code: languages.defaultCode, chosen: false })
    : { code: address, chosen: true };
}

/**
 * The language of lists for which none is chosen. WordPress with Polylang lists all of them then; without it, and with
 * WPML, no client shall get each event once in every language.
 */
function choiceWithoutRequest(languages: ContentLanguages, setting: string): string | undefined {
  const { form, pluginRuns, defaultCode } = languages;
  if (setting === EVERY_LANGUAGE) return undefined;
  if (setting === 'default') return defaultCode;
  const named = languageOfCode(languages, setting)?.code;
  return named ?? (form === 'polylang' && pluginRuns ? undefined : defaultCode);
}

/**
 * The language that a host stands for; undefined: none. Where languages have folders no host does, and neither does the
 * host of the language that needs no subdomain.
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

/** Whether the host of a request may say a language. */
export const hasHosts = (languages: ContentLanguages | undefined): boolean =>
  languages !== undefined && (languages.urls.by === 'host' || languages.urls.by === 'subdomain');
