import { specialChars } from '../../wordpress/content/entities.ts';
import { filteredGuid } from './clean.ts';
import type { PostItem } from './items.ts';

const IMAGE = /\.(jpe?g|png|gif|webp|avif)(?:[?#]|$)/i;

/** Whether a URL ends in the extension of an image. */
export const isImageUrl = (url: string): boolean => IMAGE.test(url);

/**
 * Returns an attachment for an image that a source references by URL. `type`: its media type; empty if the source does
 * not state it.
 */
export function imageItem(url: string, type: string, place: string): PostItem {
  const name = (url.split(/[?#]/, 1)[0]?.split('/').at(-1) || 'image').replace(/\.[^.]+$/, '');
  const guessed = `image/${(IMAGE.exec(url)?.[1] ?? 'jpeg').toLowerCase().replace('jpg', 'jpeg')}`;
  return {
    kind: 'attachment',
    sourceId: url,
    place,
    columns: {
      post_title: specialChars(name),
      post_mime_type: type.startsWith('image/') ? type : guessed,
      post_status: 'inherit',
      guid: filteredGuid(url),
    },
    metas: [],
    links: [],
    complete: false,
    url,
  };
}
