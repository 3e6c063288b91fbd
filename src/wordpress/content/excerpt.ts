import { stripAllTags } from './plain-text.ts';

/**
 * How many words an excerpt has that nobody wrote, and what follows where words were left out (`excerpt_length`,
 * `excerpt_more`).
 */
export const EXCERPT_WORDS = 55;
export const EXCERPT_MORE = ' [&hellip;]';

/** The first words of a text without its tags, followed by `more` when there are others (`wp_trim_words`). */
export function trimWords(text: string, count: number, more = '&hellip;'): string {
  const words = stripAllTags(text)
    .split(/[\n\r\t ]+/)
    .filter((word) => word !== '');
  return words.length > count ? words.slice(0, count).join(' ') + more : words.join(' ');
}
