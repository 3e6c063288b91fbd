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
  /**
   * Language ranges for a request that names no language itself: `Accept-Language` for texts about the request, such as
   * refusals; the language of the content for texts within records, which must not depend on the reader.
   */
  readonly ranges: string | undefined;
}

/**
 * Returns the language of an answer's texts, from the parameter, the address, `ranges`, or the site's default. An
 * unknown language in a parameter is ignored here; in `translation_language` it is refused when parameters are checked.
 */
export function answerLanguage({ languages, chooseLanguage }: Texts, { query, body, segment, ranges }: LanguageHints): string {
  const candidates = LANGUAGE_NAMES.flatMap((name) => [body.json, body.form, query].map((source) => source?.[name]));
  const parameter = candidates.find((value): value is string => typeof value === 'string' && languages.includes(value));
  return chooseLanguage({ parameter, segment, acceptLanguage: ranges });
}
