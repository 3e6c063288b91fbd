import type { PostKind, Rows } from '../../kinds/kind.ts';
import { storedText } from '../../wordpress/php/serialized.ts';
import type { Post } from '../../wordpress/rows.ts';
import { unixFromDate } from '../../wordpress/time.ts';

/**
 * Returns the metas that WordPress and the calendar set when a record is deleted into the trash (`wp_trash_post`): its
 * former status, and the time, by which WordPress empties the trash. As in WordPress, a change of the status to `trash`
 * does not set them: such a record is restored as a draft.
 */
export const deletionMetas = ({ trashedStatusMeta }: Kind, { post_status: status }: Post, now: Date): Rows['metas'] => ({
  [FORMER_STATUS]: [storedText(status)],
  [TRASHED_AT]: [storedText(String(unixFromDate(now)))],
  ...(trashedStatusMeta === undefined ? {} : { [trashedStatusMeta]: [storedText(status)] }),
});

/**
 * Returns the other metas of a post that enters or leaves the trash (`wp_insert_post`, `wp_untrash_post`). Whichever
 * way it leaves, nothing of its deletion remains, so that it is not restored with the status of an earlier time.
 */
export function trashMetas({ trashedStatusMeta }: Kind, before: Post, after: Post): Rows['metas'] {
  const [wasInTrash, isInTrash] = [before, after].map(({ post_status: status }) => status === 'trash');
  if (wasInTrash === isInTrash) return {};
  if (isInTrash) return before.post_name === '' ? {} : { [FORMER_SLUG]: [storedText(before.post_name)] };
  const keys = [FORMER_STATUS, TRASHED_AT, FORMER_SLUG, trashedStatusMeta ?? []].flat();
  return Object.fromEntries(keys.map((key) => [key, []]));
}

type Kind = Pick<PostKind, 'trashedStatusMeta'>;

/** The meta with the status that a post in the trash had before. */
export const FORMER_STATUS = '_wp_trash_meta_status';
const TRASHED_AT = '_wp_trash_meta_time';
const FORMER_SLUG = '_wp_desired_post_slug';
