import { failParam } from '../errors.ts';
import { ksesPost, ksesTitle, storedContent } from '../wordpress/content/kses.ts';
import { stripControlCharacters } from '../wordpress/content/plain-text.ts';
import type { PostColumn } from '../wordpress/rows.ts';
import { tableOf } from '../wordpress/table.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/** Whether the caller may write any HTML; for others, scripts and the like are removed. */
export interface HtmlTrust {
  readonly isTrusted: boolean;
}

/** Whether WordPress lets the viewer write any HTML. */
export const trustOf = (viewer: Viewer): HtmlTrust => ({ isTrusted: viewer.can('unfiltered_html') });

/**
 * Size of WordPress's columns of these names, in bytes (`TEXT`). MySQL would silently truncate longer texts; `wpdb`
 * refuses such a row.
 */
const COLUMN_BYTES: ReadonlyMap<string, number> = tableOf({ post_title: 65_535, post_excerpt: 65_535 });

/**
 * Returns a text as a column of a post stores it: scripts and other active content are removed unless the caller may
 * write unfiltered HTML. `param`: the parameter that contains the text.
 *
 * @throws rest_invalid_param for a text that is longer than its column: cleaning may have made it longer
 */
export function columnText(param: string, column: PostColumn, text: string, { isTrusted }: HtmlTrust): string {
  const filtered = filterHtml(column, stripControlCharacters(text), isTrusted);
  return Buffer.byteLength(filtered) > (COLUMN_BYTES.get(column) ?? Number.POSITIVE_INFINITY) ? failParam(param, 'too-long') : filtered;
}

function filterHtml(column: PostColumn, text: string, isTrusted: boolean): string {
  if (column === 'post_title') return (isTrusted ? text : ksesTitle(text)).trim();
  return storedContent(isTrusted ? text : ksesPost(text));
}
