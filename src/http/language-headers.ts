import type { Caller } from '../records/caller.ts';
import { type ContentLanguages, isTranslated } from '../wordpress/content-languages.ts';

/** The members of a record that say its language and where its translations are. */
interface Spoken {
  readonly language?: string | null;
  readonly translations?: Readonly<Record<string, { readonly url: string }>>;
}

/**
 * The language of a record, and links to its page in each language, where there are several: each page names all of
 * them, itself included (https://developers.google.com/search/docs/specialty/international/localized-versions).
 */
export function languageHeaders(record: unknown, { defaultCode }: ContentLanguages): Record<string, string> {
  const { language, translations = {} } = record as Spoken;
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
 * The language of a list that holds records of one alone: that of the records, which is not always the one asked for,
 * since an event shows what is not translated as it is; of an empty list the one asked for. `name`: of the type or
 * taxonomy.
 */
export function listLanguage({ settings, content: { code } }: Caller, name: string, records: readonly Spoken[]): Record<string, string> {
  if (code === undefined || !isTranslated(settings.contentLanguages, name)) return {};
  const shown = new Set(records.map(({ language }) => language));
  const [only = null] = shown.size === 0 ? [code] : shown;
  return shown.size > 1 || only === null ? {} : { 'Content-Language': languageTagOf(only) };
}

/** Codes such as `zh_tw` as headers write them (BCP 47). */
const languageTagOf = (code: string): string => code.replaceAll('_', '-');

const alternate = (url: string, tag: string): string => `<${url}>; rel="alternate"; hreflang="${tag}"`;
