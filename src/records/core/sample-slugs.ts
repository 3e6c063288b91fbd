import { groupedBy } from '../../grouped-by.ts';
import type { Database } from '../../storage/engine/database.ts';
import { postsWithSlugs, postsWithSlugsLike, type SluggedPost } from '../../storage/rows/slugs.ts';
import type { Post } from '../../wordpress/rows.ts';
import { sanitizeTitle, uniqueSlug } from '../../wordpress/slug.ts';

/**
 * Returns the slug that each post would get from its title now (`get_sample_permalink` with the title as the name), as
 * a proposal for editors. By id, in two queries at most. As everywhere in WordPress, posts of two types may have the
 * same slug, but the slug of a file is unique among all posts.
 */
export async function sampleSlugs(db: Database, rows: readonly Post[]): Promise<Map<number, string>> {
  const candidates = rows.map((row) => ({ row, base: sanitizeTitle(row.post_title) || String(row.ID) }));
  const holders = await postsWithSlugs(
    db,
    candidates.map(({ base }) => base),
  );
  const isHeld = takenAmong(holders);
  const takenCandidates = candidates.filter(({ row, base }) => isHeld(row, base));
  const similarHolders = await postsWithSlugsLike(
    db,
    takenCandidates.map(({ base }) => base),
  );
  const isTaken = takenAmong([...holders, ...similarHolders]);
  return new Map(candidates.map(({ row, base }) => [row.ID, uniqueSlug(base, (slug) => isTaken(row, slug))]));
}

/** Returns a function that tells whether one of these posts has a slug that another post wants. */
function takenAmong(holders: readonly SluggedPost[]): (post: Post, slug: string) => boolean {
  const bySlug = groupedBy(holders, ({ post_name: slug }) => slug);
  return ({ ID, post_type: type }, slug) =>
    bySlug.get(slug)?.some((other) => other.ID !== ID && (type === 'attachment' || other.post_type === type)) ?? false;
}
