import { type Say, sayIn, type Texts } from '../texts.ts';
import { isLanguageTag } from '../wordpress/language-names.ts';

/** The language of a page, and its sentences by key (`pages:today`). */
export interface I18n {
  readonly language: string;
  /** The language tag for formatting dates and numbers, such as `en-US`. */
  readonly locale: string;
  readonly say: Say;
  /** Returns whether the language itself has a sentence with this key. */
  readonly has: (key: string) => boolean;
}

/**
 * Returns the functions for a language. `tags`: those of the reader and of the site (`en-GB`), of which the first that
 * is of this language determines the regional variety.
 */
export function i18nIn(texts: Pick<Texts, 't' | 'has'>, language: string, ...tags: readonly string[]): I18n {
  return {
    language,
    locale: tags.find((tag) => tag.toLowerCase().startsWith(`${language.toLowerCase()}-`) && isLanguageTag(tag)) ?? language,
    say: sayIn(texts, language),
    has: (key) => texts.has(language, key),
  };
}

/** Returns a comparison of texts that sorts them as readers of the language expect, wherever the server runs. */
export const textOrder = ({ locale }: Pick<I18n, 'locale'>): ((one: string, other: string) => number) => new Intl.Collator(locale).compare;
