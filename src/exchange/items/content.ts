import { specialChars } from '../../wordpress/content/entities.ts';
import { ksesPost } from '../../wordpress/content/kses.ts';

/**
 * The content of an event whose description comes from somebody else: HTML is cleaned, whoever imports; a text that is
 * none becomes some.
 */
export function contentOf(html: string, description: string): string {
  const body = bodyOf(html).trim();
  if (body !== '') return ksesPost(body);
  const text = description.trim();
  return /<(a|b|br|p|i|u|ul|ol|li|em|strong|span|div)(\s[^<>]*)?\/?>/i.test(text) ? ksesPost(text) : specialChars(text);
}

/** What is in the `body` element; the whole text where there is none. */
function bodyOf(html: string): string {
  const [, ...opened] = html.split(/<body[^<>]*>/i);
  const [body, ...closed] = opened.join('').split(/<\/body>/i);
  return body === undefined || closed.length === 0 ? html : body;
}
