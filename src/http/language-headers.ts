import type { Caller } from '../records/caller.ts';
import { type ContentLanguages, isTranslated } from '../wordpress/content-languages.ts';

/** The members of a record that name its language and its translations. */
interface TranslatedRecord {
  readonly language?: string | null;
  readonly translations?: Readonly<Record<string, { readonly url: string }>>;
}

/**
 * Returns headers with the language of a record, and links to its page in each language if there are several. Each page
 * names all of them, itself included
 * (https://developers.google.com/search/docs/specialty/international/localized-versions).
 */
export function languageHeaders(record: unknown, { defaultCode }: ContentLanguages): Record<string, string> {
  const { language, translations = {} } = record as TranslatedRecord;
  const pages = Object.entries(translations);
  const links = pages.flatMap(([code, { url }]) => [
    alternate(url, languageTagOf(code)),
    ...(code === defaultCode ? [alternate(url, 'x-default')] : []),
  ]);
  return {
    ...(language ? { 'Content-Language': languageTagOf(language) } : {}),
    ...(pages.length > 1 ? { Link: links.join(', ') } : {}),
  };
}

/**
 * Returns the language header of a list whose records are all in one language. That is the language of the records,
 * which may differ from the requested one, since an untranslated event is shown as it is. For an empty list it is the
 * requested one. `name`: the type or taxonomy.
 */
export function listLanguage(
  { settings, content: { code } }: Caller,
  name: string,
  records: readonly (TranslatedRecord | readonly [])[],
): Record<string, string> {
  if (code === undefined || !isTranslated(settings.contentLanguages, name)) return {};
  const languages = new Set(records.map((record) => ('language' in record ? record.language : undefined)));
  const [language = null] = languages.size === 0 ? [code] : languages;
  return languages.size > 1 || language === null ? {} : { 'Content-Language': languageTagOf(language) };
}

/** Returns the language tag (BCP 47) of codes such as `zh_tw`, for headers. */
const languageTagOf = (code: string): string => code.replaceAll('_', '-');

const alternate = (url: string, tag: string): string => `<${url}>; rel="alternate"; hreflang="${tag}"`;
