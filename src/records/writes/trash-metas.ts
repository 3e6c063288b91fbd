import type { PostKind, Rows } from '../../kinds/kind.ts';
import type { Post } from '../../wordpress/rows.ts';
import { unixFromDate } from '../../wordpress/time.ts';

/**
 * Returns the metas that WordPress and the calendar set when a post is moved to the trash, and remove when it leaves it
 * (`wp_trash_post`, `wp_untrash_post`, `wp_insert_post`): its former status and slug, and the time, by which WordPress
 * empties the trash. A change of the status sets all of them, too; in WordPress, it only notes the slug, so that the
 * post could be restored with the status of an earlier time.
 */
export function trashMetas(
  { trashedStatusMeta }: Pick<PostKind, 'trashedStatusMeta'>,
  before: Post,
  after: Post,
  now: Date,
): Rows['metas'] {
  const [wasInTrash, isInTrash] = [before, after].map(({ post_status: status }) => status === 'trash');
  if (wasInTrash === isInTrash) return {};
  const statusKeys = [FORMER_STATUS, trashedStatusMeta ?? []].flat();
  if (!isInTrash) return Object.fromEntries([...statusKeys, TRASHED_AT, FORMER_SLUG].map((key) => [key, []]));
  return {
    ...Object.fromEntries(statusKeys.map((key) => [key, [before.post_status]])),
    [TRASHED_AT]: [String(unixFromDate(now))],
    ...(before.post_name === '' ? {} : { [FORMER_SLUG]: [before.post_name] }),
  };
}

/** The meta with the status that a post in the trash had before. */
export const FORMER_STATUS = '_wp_trash_meta_status';
const TRASHED_AT = '_wp_trash_meta_time';
const FORMER_SLUG = '_wp_desired_post_slug';
