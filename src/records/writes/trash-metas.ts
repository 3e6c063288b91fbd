import type { PostKind, Rows, StoredPost } from '../../kinds/kind.ts';
import { serializedMembers, storedText } from '../../wordpress/php/serialized.ts';
import { metaOf, type Post } from '../../wordpress/rows.ts';
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
  const keys = [FORMER_STATUS, TRASHED_AT, FORMER_SLUG, COMMENT_STATUSES, trashedStatusMeta ?? []].flat();
  return Object.fromEntries(keys.map((key) => [key, []]));
}

/**
 * Returns the former statuses of the comments that WordPress trashed with a post, by their ids, if the post leaves the
 * trash (`wp_trash_post_comments`). Statuses that do not fit into the column, and keys that
 * are no ids, are left out.
 */
export function commentStatuses(before: Pick<StoredPost, 'row' | 'metas'>, { post_status: status }: Post): ReadonlyMap<number, string> {
  if (before.row.post_status !== 'trash' || status === 'trash') return new Map();
  const statuses = Object.entries(serializedMembers(metaOf(before.metas, COMMENT_STATUSES)));
  return new Map(
    statuses.flatMap(([id, stored]): [number, string][] => {
      const text = String(stored);
      return text.length <= MAX_COMMENT_STATUS_LENGTH && /^\d{1,15}$/.test(id) ? [[Number(id), text]] : [];
    }),
  );
}

type Kind = Pick<PostKind, 'trashedStatusMeta'>;

/** The meta with the status that a post in the trash had before. */
export const FORMER_STATUS = '_wp_trash_meta_status';
const TRASHED_AT = '_wp_trash_meta_time';
const FORMER_SLUG = '_wp_desired_post_slug';
const COMMENT_STATUSES = '_wp_trash_meta_comments_status';
/** Length of the column `comment_approved`. */
const MAX_COMMENT_STATUS_LENGTH = 20;
