import { specialChars } from '../../wordpress/content/entities.ts';
import { ksesPost } from '../../wordpress/content/kses.ts';
import { hasVisibleText, withoutScripts } from '../../wordpress/content/plain-text.ts';

/**
 * The content of an event whose description comes from somebody else: HTML is cleaned, whoever imports; a text that is
 * none becomes some.
 */
export function contentOf(html: string, description: string): string {
  const body = withoutScripts(bodyOf(html)).trim();
  // Some programs write an empty page beside the text.
  if (hasVisibleText(body) || /<img\s/i.test(body)) return ksesPost(body);
  const text = description.trim();
  return MARKUP.test(text) ? ksesPost(withoutScripts(text).trim()) : specialChars(text);
}

/** Tags by which a text shows that it is HTML. */
const MARKUP = /<(a|b|br|p|i|u|ul|ol|li|em|strong|span|div|h[1-6]|hr|img|table|blockquote|pre|font|style|html|body)(\s[^<>]*)?\/?>/i;

/** What is in the `body` element; the whole text where there is none. */
function bodyOf(html: string): string {
  const [, ...opened] = html.split(/<body[^<>]*>/i);
  const [body, ...closed] = opened.join('').split(/<\/body>/i);
  return body === undefined || closed.length === 0 ? html : body;
}
