import { postKind } from '../../kinds/index.ts';
import { type ContentLanguages, isTranslated, languageTag } from '../../wordpress/content-languages.ts';

/**
 * Returns the code of the events' language that a language tag means (BCP 47: `it`, `it-IT`). Undefined if the site
 * does not have that language, or its events have no languages.
 */
export function languageOfTag(languages: ContentLanguages | undefined, tag: string): string | undefined {
  if (tag === '' || !isTranslated(languages, postKind('event').postType)) return undefined;
  const [plainTag, base] = [normalizeTag(tag), baseOf(tag)];
  const match = languages.languages.find((one) => normalizeTag(one.code) === plainTag || normalizeTag(languageTag(one)) === plainTag);
  return (match ?? languages.languages.find(({ code }) => baseOf(code) === base))?.code;
}

const normalizeTag = (tag: string): string => tag.toLowerCase().replaceAll('_', '-');
const baseOf = (tag: string): string => normalizeTag(tag).split('-', 1)[0]!;
