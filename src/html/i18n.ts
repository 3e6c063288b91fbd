import type { Texts, Words } from '../texts.ts';

/** The language of a page, and its sentences by their keys (`pages:today`). */
export interface I18n {
  readonly language: string;
  /** The language tag by which dates and numbers are written, such as `en-US`. */
  readonly locale: string;
  readonly say: (key: string, values?: Words) => string;
  /** Whether the language itself has a sentence of this key. */
  readonly has: (key: string) => boolean;
}

/** The same for a language. `contentLanguage`: that of the site (`en-US`), which says which variety is meant. */
export function i18nIn({ t, has }: Pick<Texts, 't' | 'has'>, language: string, contentLanguage: string): I18n {
  const isVariety = contentLanguage.toLowerCase().startsWith(`${language.toLowerCase()}-`) && isLocale(contentLanguage);
  return {
    language,
    locale: isVariety ? contentLanguage : language,
    say: (key, values) => t(language, key, values),
    has: (key) => has(language, key),
  };
}

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
