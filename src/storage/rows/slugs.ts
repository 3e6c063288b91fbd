import type { Post } from '../../wordpress/rows.ts';
import type { Database } from '../engine/database.ts';
import { either, isSlugLike } from '../engine/expressions.ts';
import { Piece } from '../engine/statement.ts';

/** A post with its slug. */
export type SluggedPost = Pick<Post, 'ID' | 'post_type' | 'post_name'>;

/** Returns all posts of any type that have one of these slugs. */
export async function postsWithSlugs(db: Database, slugs: readonly string[]): Promise<SluggedPost[]> {
  if (slugs.length === 0) return [];
  return db.rows<SluggedPost>`SELECT ID, post_type, post_name FROM {posts} WHERE post_name IN (${[...new Set(slugs)]})`;
}

/** Also returns posts whose slug is one of these with a number appended. */
export async function postsWithSlugsLike(db: Database, slugs: readonly string[]): Promise<SluggedPost[]> {
  if (slugs.length === 0) return [];
  const like = [...new Set(slugs)].map((slug) => isSlugLike(db, 'post_name', slug));
  return db.rows<SluggedPost>`SELECT ID, post_type, post_name FROM {posts} WHERE ${new Piece(either(like))}`;
}
