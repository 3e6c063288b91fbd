import type { Database } from '../engine/database.ts';
import { readInParts } from '../engine/pages.ts';

/* Records that many posts refer to: their authors, the posts in their metas, their terms. */

/** Returns the ids of the authors of posts of these types. */
export async function authorsOfTypes(db: Database, types: readonly string[]): Promise<number[]> {
  const rows: { id: number }[] = await db
    .from('posts')
    .whereIn('post_type', [...types])
    .distinct({ id: 'post_author' });
  return rows.map(({ id }) => id);
}

/** Returns the ids of the authors of these posts. */
export async function authorsOfPosts(db: Database, ids: readonly number[]): Promise<Set<number>> {
  const rows: { id: number }[] = await readInParts(ids, (page) => db.from('posts').whereIn('ID', page).distinct({ id: 'post_author' }));
  return new Set(rows.map(({ id }) => id));
}

/** Returns the ids that posts refer to in these metas, with the key of the meta. */
export async function linksOfPosts(db: Database, ids: readonly number[], keys: readonly string[]): Promise<{ key: string; id: number }[]> {
  const rows: { key: string; value: string }[] = await readInParts(ids, (page) =>
    db
      .from('postmeta')
      .whereIn('post_id', page)
      .whereIn('meta_key', [...keys])
      .distinct({ key: 'meta_key', value: 'meta_value' }),
  );
  return rows.flatMap(({ key, value }) => (/^[1-9]\d{0,14}$/.test(value) ? [{ key, id: Number(value) }] : []));
}

/** Returns the ids of the terms of a taxonomy that these posts have. */
export async function termsOfPosts(db: Database, ids: readonly number[], taxonomy: string): Promise<Set<number>> {
  const rows: { id: number }[] = await readInParts(ids, (page) =>
    db
      .from('term_relationships', 'r')
      .join({ tt: db.table('term_taxonomy') }, 'tt.term_taxonomy_id', 'r.term_taxonomy_id')
      .whereIn('r.object_id', page)
      .where('tt.taxonomy', taxonomy)
      .distinct({ id: 'tt.term_id' }),
  );
  return new Set(rows.map(({ id }) => id));
}
