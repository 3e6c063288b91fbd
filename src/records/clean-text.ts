import { ksesPost, storedContent } from '../wordpress/content/kses.ts';
import { stripControlCharacters } from '../wordpress/content/plain-text.ts';
import type { Viewer } from '../wordpress/viewer.ts';

/** A text as it may be stored: what runs in browsers is taken out for those who may not write it. */
export const cleanText = (text: string, viewer: Viewer): string => {
  const plain = stripControlCharacters(text);
  return storedContent(viewer.can('unfiltered_html') ? plain : ksesPost(plain));
};
