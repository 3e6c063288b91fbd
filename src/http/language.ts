import type { Texts } from '../texts.ts';
import type { Body, RawParams } from './input.ts';

/** The parameter that selects the language, and the names that WordPress's translation plugins use for it. */
export const LANGUAGE_NAMES = ['translation_language', 'wpml_language', 'lang'];

/** The parts of a request that may name the language of its answer. */
export interface LanguageHints {
  readonly query: RawParams;
  readonly body: Body;
  /** The language of the address. */
  readonly segment: string | undefined;
  /** `Accept-Language`. */
  readonly header: string | undefined;
}

/**
 * Returns the language of an answer's texts, from the parameter, the address, `Accept-Language`, or the site's default.
 * An unknown language in a parameter is ignored here; in `translation_language` it is refused when parameters are
 * checked.
 */
export function answerLanguage({ languages, chooseLanguage }: Texts, { query, body, segment, header }: LanguageHints): string {
  const candidates = LANGUAGE_NAMES.flatMap((name) => [body.json, body.form, query].map((source) => source?.[name]));
  const parameter = candidates.find((value): value is string => typeof value === 'string' && languages.includes(value));
  return chooseLanguage({ parameter, segment, acceptLanguage: header });
}
