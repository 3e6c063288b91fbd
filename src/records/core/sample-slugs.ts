import type { Database } from '../../storage/engine/database.ts';
import { postsWithSlugs, postsWithSlugsLike, type SluggedPost } from '../../storage/rows/slugs.ts';
import type { Post } from '../../wordpress/rows.ts';
import { sanitizeTitle, uniqueSlug } from '../../wordpress/slug.ts';

/**
 * The slug that each post would get from its title today (`get_sample_permalink` with the title as the name): what the
 * form for editing proposes. By id, in two queries at most. As everywhere in WordPress, slugs are shared with other
 * types, but not those of files.
 */
export async function sampleSlugs(db: Database, rows: readonly Post[]): Promise<Map<number, string>> {
  const wanted = rows.map((row) => ({ row, base: sanitizeTitle(row.post_title) || String(row.ID) }));
  const holders = await postsWithSlugs(
    db,
    wanted.map(({ base }) => base),
  );
  const crowded = wanted.filter(({ row, base }) => isTaken(row, holders)(base));
  const others = await postsWithSlugsLike(
    db,
    crowded.map(({ base }) => base),
  );
  return new Map(wanted.map(({ row, base }) => [row.ID, uniqueSlug(base, isTaken(row, [...holders, ...others]))]));
}

const isTaken =
  ({ ID, post_type: type }: Post, holders: readonly SluggedPost[]) =>
  (slug: string): boolean =>
    holders.some((other) => other.post_name === slug && other.ID !== ID && (type === 'attachment' || other.post_type === type));
