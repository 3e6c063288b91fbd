import { stripAllTags } from './plain-text.ts';

/**
 * Number of words in an automatic excerpt, and the suffix if words were left out (`excerpt_length`, `excerpt_more`).
 */
export const EXCERPT_WORDS = 55;
export const EXCERPT_MORE = ' [&hellip;]';

/** Returns the first words of a text without its tags, followed by `more` if there are more words (`wp_trim_words`). */
export function trimWords(text: string, count: number, more = '&hellip;'): string {
  const words = stripAllTags(text)
    .split(/[\n\r\t ]+/)
    .filter((word) => word !== '');
  return words.length > count ? words.slice(0, count).join(' ') + more : words.join(' ');
}
