import { createHash } from 'node:crypto';
import { tableOf } from './table.ts';

/** The site's options about pictures of people. */
export interface AvatarOptions {
  /** `avatar_default`: the picture of people without one. */
  readonly defaultPicture: string;
  /** `avatar_rating`: the highest rating of pictures that are shown. */
  readonly rating: string;
}

const SIZES = [24, 48, 96] as const;
/** Names that the avatar service uses for pictures with another name in WordPress. */
const DEFAULT_PICTURES: ReadonlyMap<string, string> = tableOf({ mystery: 'mm', mm: 'mm', gravatar_default: '' });

/** Returns the URLs of a person's picture by size in pixels (WordPress `rest_get_avatar_urls`). */
export function avatarUrls(email: string, { defaultPicture, rating }: AvatarOptions): Record<string, string> {
  const hash = createHash('sha256').update(email.trim().toLowerCase()).digest('hex');
  const picture = encodeURIComponent(DEFAULT_PICTURES.get(defaultPicture) ?? defaultPicture);
  return Object.fromEntries(
    SIZES.map((size) => [
      String(size),
      `https://secure.gravatar.com/avatar/${hash}?s=${size}${picture === '' ? '' : `&d=${picture}`}&r=${rating.toLowerCase()}`,
    ]),
  );
}
