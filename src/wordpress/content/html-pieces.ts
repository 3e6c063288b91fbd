/** A piece of a text: markup that starts with `<` (a tag or a comment, complete or not) or the text between. */
export type HtmlPiece = { readonly kind: 'tag' | 'comment' | 'text'; readonly text: string };

/** White space as PCRE without the `u` flag sees it: ASCII only. JavaScript's `\s` also takes the no-break space. */
export const ASCII_SPACE = ' \\t\\n\\r\\f\\v';
/** The pattern of `wp_spaces_regexp`: white space, including the no-break space and its entity. */
export const SPACES = '[\\r\\n\\t ]|\\u00a0|&nbsp;';

/**
 * Splits a text at its tags and comments, as `wp_html_split` does: a comment ends at the first `-->`, a tag at the
 * first `>`; an unclosed one extends to the end of the text. The concatenated pieces are the text.
 */
export function htmlPieces(text: string): HtmlPiece[] {
  const pieces: HtmlPiece[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('<', at);
    if (open !== at) pieces.push({ kind: 'text', text: text.slice(at, open === -1 ? undefined : open) });
    if (open === -1) break;
    const end = endOfTag(text, open);
    pieces.push({ kind: text.startsWith('<!--', open) ? 'comment' : 'tag', text: text.slice(open, end) });
    at = end;
  }
  return pieces;
}

/** Returns the index after the tag or comment that starts at `open`; the length of the text if it is never closed. */
export function endOfTag(text: string, open: number): number {
  const comment = text.startsWith('<!--', open);
  const close = comment ? text.indexOf('-->', open + 2) : text.indexOf('>', open);
  return close === -1 ? text.length : close + (comment ? 3 : 1);
}

/**
 * Returns a function that finds the next occurrence of one text in another. It must be called with increasing
 * positions; it remembers the last result, so that the total time is linear even for hostile texts.
 */
export function forwardSearch(text: string, needle: string): (from: number) => number {
  let index = -2;
  return (from) => {
    if (index === -1 || index >= from) return index;
    index = text.indexOf(needle, from);
    return index;
  };
}
