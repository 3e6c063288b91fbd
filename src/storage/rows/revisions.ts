import type { Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { insertPost, updatePost } from './posts.ts';

const TEXTS = ['post_title', 'post_content', 'post_excerpt'] as const;

/**
 * Stores the texts of a post after a change as a revision (`wp_save_post_revision`): for the first change, and whenever
 * they differ from the last revision. Autosaves do not count as revisions. A revision dated after the change, at the
 * publication of a scheduled post, is older than those with earlier dates.
 */
export async function saveRevision(db: Database, after: Post, author: number, home: string): Promise<void> {
  const last = await db
    .from('posts')
    .where({ post_parent: after.ID, post_type: 'revision' })
    .where('post_name', 'like', `${after.ID}-revision%`)
    .orderByRaw('post_date_gmt > ?', [after.post_modified_gmt])
    .orderBy('post_date', 'desc')
    .orderBy('ID', 'desc')
    .select(...TEXTS)
    .first();
  if (last && TEXTS.every((column) => last[column] === after[column])) return;
  if (after.post_status === 'auto-draft') return;
  const id = await insertPost(db, {
    post_author: author,
    post_date: after.post_modified,
    post_date_gmt: after.post_modified_gmt,
    post_modified: after.post_modified,
    post_modified_gmt: after.post_modified_gmt,
    post_title: after.post_title,
    post_content: after.post_content,
    post_excerpt: after.post_excerpt,
    post_status: 'inherit',
    post_name: `${after.ID}-revision-v1`,
    post_parent: after.ID,
    post_type: 'revision',
  });
  await updatePost(db, id, { guid: `${home}/?p=${id}` });
}

/**
 * Returns the number of revisions of these posts and the id of the last one, by post id; posts without revisions are
 * left out. One query.
 */
export async function countRevisions(db: Database, ids: readonly number[]): Promise<Map<number, { count: number; last: number }>> {
  if (ids.length === 0) return new Map();
  const rows: { post_parent: number; count: number | string; last: number | string }[] = await db
    .from('posts')
    .where('post_type', 'revision')
    .whereIn('post_parent', [...new Set(ids)])
    .groupBy('post_parent')
    .select('post_parent')
    .count({ count: '*' })
    .max({ last: 'ID' });
  return new Map(rows.map(({ post_parent: id, count, last }) => [id, { count: Number(count), last: Number(last) }]));
}
