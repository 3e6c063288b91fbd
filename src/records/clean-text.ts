import { ksesPost, storedContent } from '../wordpress/content/kses.ts';
import { stripControlCharacters } from '../wordpress/content/plain-text.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/**
 * Prepares a text for storage: scripts and other active content are removed unless the viewer may write unfiltered
 * HTML.
 */
export const cleanText = (text: string, viewer: Viewer): string => {
  const plainText = stripControlCharacters(text);
  return storedContent(viewer.can('unfiltered_html') ? plainText : ksesPost(plainText));
};
