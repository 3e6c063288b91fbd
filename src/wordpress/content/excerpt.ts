import { forwardSearch } from './html-pieces.ts';
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

const PAGE_BREAK = '<!--nextpage-->';
const MORE = '<!--more';

/**
 * Returns the part of a content that stands for the whole: its first page (`<!--nextpage-->`), up to the mark at which
 * the author divided it (`<!--more-->`), as `get_the_content` does. A page break at the start does not count.
 */
export function teaserOf(content: string): string {
  const page = firstPage(content);
  const end = moreMark(page);
  return end === -1 ? page : page.slice(0, end);
}

function firstPage(content: string): string {
  if (!content.includes(PAGE_BREAK)) return content;
  const text = content.replace(/\n?<!--nextpage-->\n?/g, PAGE_BREAK).replace(/<!-- \/?wp:nextpage -->/g, '');
  const start = text.startsWith(PAGE_BREAK) ? PAGE_BREAK.length : 0;
  const end = text.indexOf(PAGE_BREAK, start);
  return text.slice(start, end === -1 ? undefined : end);
}

/** Returns the position of the first `<!--more-->` or `<!--more Go on-->`, or -1. The mark must end on its line. */
function moreMark(text: string): number {
  const lineEnd = forwardSearch(text, '\n');
  const commentEnd = forwardSearch(text, '-->');
  for (let at = text.indexOf(MORE); at !== -1; at = text.indexOf(MORE, at + 1)) {
    const end = commentEnd(at + MORE.length);
    if (end === -1) return -1;
    const line = lineEnd(at);
    if (line === -1 || end < line) return at;
  }
  return -1;
}
