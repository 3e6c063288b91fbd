import { isObject } from '../../objects.ts';
import { ksesPost } from '../../wordpress/content/kses.ts';
import { stripControlCharacters } from '../../wordpress/content/plain-text.ts';
import { JSON_DEPTH, jsonExcess } from '../../wordpress/json.ts';

/** WordPress's meta with the footnotes of a text that is edited as blocks: a list in JSON. */
export const FOOTNOTES = 'footnotes';

/**
 * Returns footnotes as they are stored: as sent or, from users who may not write any HTML, without active content
 * (`_wp_filter_post_meta_footnotes`). Text that is not a list is then removed.
 */
export function storedFootnotes(sent: string, isTrusted: boolean): string {
  const text = stripControlCharacters(sent);
  if (isTrusted || text === '') return text;
  const list = parsed(text);
  if (!isObject(list)) return '';
  return phpJson(Object.values(list).flatMap(cleanFootnote));
}

function cleanFootnote(footnote: unknown): { id: string; content: string }[] {
  if (!isObject(footnote) || !('id' in footnote) || !('content' in footnote)) return [];
  const { id, content } = footnote;
  if (typeof id !== 'string' || typeof content !== 'string' || isEmpty(id) || isEmpty(content)) return [];
  return [{ id: id.toLowerCase().replace(/[^a-z0-9_-]/g, ''), content: ksesPost(stripControlCharacters(content)) }];
}

/** Whether PHP takes a text for empty. */
const isEmpty = (text: string): boolean => text === '' || text === '0';

/** Maximum number of values in the footnotes of users whose footnotes are read: two in each. */
const MAX_VALUES = 20_000;

function parsed(text: string): unknown {
  if (jsonExcess(text, { depth: JSON_DEPTH, values: MAX_VALUES })) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a value as `wp_json_encode` writes it: in ASCII, with escaped slashes. */
const phpJson = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
