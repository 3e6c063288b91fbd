/**
 * A run of a text: either markup that starts with `<` (an element's tag or a comment, closed or not) or what is
 * between.
 */
export type HtmlPiece = { readonly kind: 'tag' | 'comment' | 'text'; readonly text: string };

/** White space as PCRE without the `u` flag sees it: ASCII only. JavaScript's `\s` also takes the no-break space. */
export const ASCII_SPACE = ' \\t\\n\\r\\f\\v';
/** What `wp_spaces_regexp` names: the blanks of a text, the no-break space and its entity among them. */
export const SPACES = '[\\r\\n\\t ]|\\u00a0|&nbsp;';

/**
 * Splits a text at its tags and comments, as `wp_html_split` does: a comment ends at the first `-->`, a tag at the
 * first `>`; one that is never closed takes all the rest. Joined, the pieces are the text.
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

/**
 * Where the tag or comment that starts at `open` is over (the index behind it); the length of the text when it is never
 * closed.
 */
export function endOfTag(text: string, open: number): number {
  const comment = text.startsWith('<!--', open);
  const close = comment ? text.indexOf('-->', open + 2) : text.indexOf('>', open);
  return close === -1 ? text.length : close + (comment ? 3 : 1);
}

/**
 * A search for one text in another that only ever goes forward and knows when there is nothing left to find, so that
 * asking from every position of a hostile text stays linear.
 */
export function forwardSearch(text: string, needle: string): (from: number) => number {
  let found = -2;
  return (from) => {
    if (found === -1 || found >= from) return found;
    found = text.indexOf(needle, from);
    return found;
  };
}
