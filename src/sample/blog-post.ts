import type { Caller } from '../records/caller.ts';
import type { Database } from '../storage/engine/database.ts';
import { insertPost, updatePost } from '../storage/rows/posts.ts';
import { recount, setTermsOf } from '../storage/rows/term-links.ts';
import { sanitizeTitle } from '../wordpress/slug.ts';
import { toUtc } from '../wordpress/zones.ts';

/** A post of the blog. */
export interface NewBlogPost {
  readonly title: string;
  readonly text: string;
  /** Publication date in the site's local time. */
  readonly date: string;
  /** Ids of tags. */
  readonly tags: readonly number[];
}

/**
 * Publishes a post of the blog with tags, which posts and events share. The API cannot create posts. Must be called in
 * a transaction.
 */
export async function createBlogPost(db: Database, { viewer, settings }: Caller, post: NewBlogPost): Promise<void> {
  const [local, utc] = [post.date, toUtc(post.date, settings.zone)];
  const id = await insertPost(db, {
    post_date: local,
    post_date_gmt: utc,
    post_modified: local,
    post_modified_gmt: utc,
    post_author: viewer.id,
    post_title: post.title,
    post_content: post.text,
    post_name: sanitizeTitle(post.title),
    post_status: 'publish',
    post_type: 'post',
  });
  await updatePost(db, id, { guid: `${settings.home}/?p=${id}` });
  await recount(db, await setTermsOf(db, id, 'post_tag', post.tags));
}
