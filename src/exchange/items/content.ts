import { specialChars } from '../../wordpress/content/entities.ts';
import { ksesPost } from '../../wordpress/content/kses.ts';
import { hasVisibleText, withoutScripts } from '../../wordpress/content/plain-text.ts';

/**
 * Returns the content of an event whose description comes from a third party: HTML is sanitized, whoever imports; plain
 * text is converted to HTML.
 */
export function contentOf(html: string, description: string): string {
  const body = withoutScripts(bodyOf(html)).trim();
  // Some programs write an empty HTML page in addition to the text.
  if (hasVisibleText(body) || /<img\s/i.test(body)) return ksesPost(body);
  const text = description.trim();
  return MARKUP.test(text) ? ksesPost(withoutScripts(text).trim()) : specialChars(text);
}

/** Tags that identify a text as HTML. */
const MARKUP = /<(a|b|br|p|i|u|ul|ol|li|em|strong|span|div|h[1-6]|hr|img|table|blockquote|pre|font|style|html|body)(\s[^<>]*)?\/?>/i;

/** Returns the content of the `body` element, or the whole text if there is none. */
function bodyOf(html: string): string {
  const [, ...pieces] = html.split(/<body[^<>]*>/i);
  const [body, ...closed] = pieces.join('').split(/<\/body>/i);
  return body === undefined || closed.length === 0 ? html : body;
}
