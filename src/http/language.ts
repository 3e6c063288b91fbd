import type { Texts } from '../texts.ts';
import type { Body, Raw } from './input.ts';

/** The parameter that chooses the language, and its synonyms: what WordPress's translation plugins call it. */
export const LANGUAGE_NAMES = ['translation_language', 'wpml_language', 'lang'];

/** Where a request may say in which language it wants to be answered. */
export interface LanguageHints {
  readonly query: Raw;
  readonly body: Body;
  /** The language of the address. */
  readonly segment: string | undefined;
  /** `Accept-Language`. */
  readonly header: string | undefined;
}

/**
 * The language of an answer's texts: parameter, address, `Accept-Language`, the site's own. A parameter naming a
 * language that is not offered is passed over here; for `translation_language` it is refused when parameters are
 * checked.
 */
export function languageOf({ languages, chooseLanguage }: Texts, { query, body, segment, header }: LanguageHints): string {
  const said = LANGUAGE_NAMES.flatMap((name) => [body.json, body.form, query].map((source) => source?.[name]));
  const parameter = said.find((value): value is string => typeof value === 'string' && languages.includes(value));
  return chooseLanguage({ parameter, segment, acceptLanguage: header });
}
