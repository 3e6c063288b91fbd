/** Locale and name of a language. */
export interface KnownLanguage {
  /** In WordPress's form: `pt_BR`. */
  readonly locale: string;
  /** Name in the language itself: `Italiano`. */
  readonly name: string;
}

/** Returns whether a text can be a language code in URLs, in Polylang's form: `it`, `pt-br`, `zh_tw`. */
export const isLanguageCode = (code: string): boolean => /^[a-z]{2,3}([-_][a-z0-9]{2,8})*$/.test(code);

/** Returns whether a text has the form of a WordPress locale: `it_IT`, `de_DE_formal`. */
export const isLocale = (locale: string): boolean => /^[a-z]{2,3}(_[A-Z]{2})?(_[a-z0-9]+)?$/.test(locale);

/** Returns the locale of a language and its name in the language itself; undefined if the code is unknown. */
export function knownLanguage(code: string): KnownLanguage | undefined {
  const tag = code.replaceAll('_', '-');
  try {
    const { language, region } = new Intl.Locale(tag).maximize();
    const name = new Intl.DisplayNames([tag], { type: 'language', fallback: 'none' }).of(tag);
    const locale = region === undefined ? language : `${language}_${region}`;
    return name === undefined ? undefined : { locale, name: name.charAt(0).toLocaleUpperCase(tag) + name.slice(1) };
  } catch {
    // Not a language tag.
    return undefined;
  }
}

/** Languages into which WordPress is translated, but whose names JavaScript does not know. */
const OTHER_LANGUAGES: ReadonlySet<string> = new Set(['art', 'azb', 'gax', 'haz', 'me', 'skr', 'twd']);

/** Returns whether a text is the locale of a real language, with any variant: `it_IT`, `eo`, `de_DE_formal`. */
export function isKnownLocale(locale: string): boolean {
  const [, language = '', region = ''] = /^([a-z]+)(_[A-Z]{2})?/.exec(locale) ?? [];
  return isLocale(locale) && (OTHER_LANGUAGES.has(language) || knownLanguage(language + region) !== undefined);
}

/**
 * Returns whether a language is written from right to left. Codes and locales of WordPress need not be language tags
 * (`pt-ao90`, `de_DE_formal`): of others, only the language before the first separator counts.
 */
export function isRightToLeft(code: string): boolean {
  const tag = code.replaceAll('_', '-');
  const { script } = new Intl.Locale(isLanguageTag(tag) ? tag : tag.replace(/-.*/, '')).maximize();
  return ['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa'].includes(script ?? '');
}

/** Returns whether a text is a language tag of BCP 47: `it-IT`. */
export function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
