import { groupedBy } from '../../grouped-by.ts';
import type { Database } from '../engine/database.ts';
import { pagesOf } from '../engine/pages.ts';

/** The status of the comments of a post that WordPress has put into the trash. */
const TRASHED_WITH_POST = 'post-trashed';
const COMMENTS_PER_STATEMENT = 1000;

/**
 * Gives the comments of a post that were trashed with it their former statuses (`wp_untrash_post_comments`). Answers do
 * not show comments, so this is not a change of the post. `statuses`: by the ids of the comments.
 */
export async function restoreComments(db: Database, post: number, statuses: ReadonlyMap<number, string>): Promise<void> {
  const groups = groupedBy(
    statuses,
    ([, status]) => status,
    ([id]) => id,
  );
  for (const [status, ids] of groups)
    for (const batch of pagesOf(ids, COMMENTS_PER_STATEMENT))
      await db
        .from('comments')
        .whereIn('comment_ID', batch)
        .where({ comment_post_ID: post, comment_approved: TRASHED_WITH_POST })
        .update({ comment_approved: status === TRASHED_WITH_POST ? '0' : status });
}
